"""Numbers written by people as exact decimals, and as integers over a scale.

A person who writes 0.1 means a tenth, not the nearest double. A cost of 0.1 becomes the fraction 1/10, and
costs of 0.1 and 0.25 become 2 and 5 over a scale of 20. Sums of these costs are compared as integers; divided
by the scale, they are in the user's unit again. The functions here return None or a mask for bad values;
their callers raise the errors.
"""

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask

MOST_DECIMALS = 9
"""Most decimals of numbers that are scaled to integers; users may round numbers with more."""

LARGEST_INTEGER = 2**53
"""Size below which integers are exact as doubles too; sums of integers stay below this size."""

LARGEST_EXPONENT = 18
"""Largest exponent: numbers of 10^19 and more are refused, as no value can be that large and exact."""

MOST_PLACES = 1100
"""Most decimals of a number: no double needs more, and a fraction with more could fill the memory."""


def as_decimal(text: str) -> Decimal | None:
    """Return a finite number below 10^19 in size with at most 1,100 decimals; None for any other text.

    >>> as_decimal(" 12.50 "), as_decimal("12,50"), as_decimal("1e300")
    (Decimal('12.50'), None, None)
    """
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -MOST_PLACES:
        return None
    if number.adjusted() > LARGEST_EXPONENT or "_" in text:
        return None
    return number


def as_fraction(value: Any, *, only_numbers: bool = False) -> Fraction | None:
    """Return a finite number as the decimal that people see, not the nearest double; None if not finite.

    `only_numbers`: whether text and truth values are no numbers.

    >>> as_fraction(0.1), as_fraction("2"), as_fraction(float("nan"))
    (Fraction(1, 10), Fraction(2, 1), None)
    """
    if only_numbers and (isinstance(value, bool) or not isinstance(value, Real)):
        return None
    if isinstance(value, int):
        return Fraction(value)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return seen(number) if math.isfinite(number) else None


def seen(number: float) -> Fraction:
    """Return a finite double as its shortest decimal, which is the decimal that people see.

    >>> seen(0.1) + seen(0.2) == seen(0.3)
    True
    """
    return Fraction(repr(float(number)))


def as_integers(numbers: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return numbers times the least common denominator, and that denominator.

    >>> as_integers([Fraction(1, 10), Fraction(1, 4)])
    ([2, 5], 20)
    """
    scale = math.lcm(*(number.denominator for number in numbers))
    return [int(number * scale) for number in numbers], scale


def digits_of(number: int) -> str:
    """Return the decimal digits of an integer, even one that is too long for Python to show.

    >>> len(digits_of(10**5000))
    5001
    """
    return str(Decimal(number))


def n_decimals(numbers: Iterable[Decimal]) -> int:
    """Return the number of decimals that the numbers need, without trailing zeros.

    Multiplied by ten to this power, all numbers are integers.

    >>> n_decimals([Decimal("1.50"), Decimal("3")]), n_decimals([])
    (1, 0)
    """
    most = 0
    for number in numbers:
        _, digits, exponent = number.as_tuple()
        if isinstance(exponent, int) and exponent < 0 and any(digits):
            zeros = next(place for place, digit in enumerate(reversed(digits)) if digit)
            most = max(most, -exponent - zeros)
    return most


def are_integers_over(values: NDArray[np.float64], scales: NDArray[np.float64] | float) -> NDArray[np.bool_]:
    """Mark the values that are an integer divided by the scale, up to an error in the last two bits.

    >>> are_integers_over(np.array([0.1 + 0.2, 1 / 3]), 10).tolist()
    [True, False]
    """
    nearest = np.rint(values * scales) / scales
    return np.asarray(np.abs(nearest - values) <= 2 * np.spacing(np.abs(values)))


def nearest_integers(values: NDArray[np.float64], scales: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Return ``values * scales``, rounded for the values that :func:`are_integers_over` marks."""
    product: NDArray[np.float64] = values * scales
    return np.where(are_integers_over(values, scales), np.rint(product), product)


def decimal_steps(
    values: NDArray[np.float64], starts: NDArray[np.integer[Any]], most: int = MOST_DECIMALS
) -> tuple[NDArray[np.int64], NDArray[np.int64], Mask]:
    """Multiply each row by the smallest power of ten that makes all its values integers below 2^53.

    `values`, ``(n_values,)``: the values of all rows, one row after the other. `starts`, ``(n_rows + 1,)``:
    row i is ``values[starts[i]:starts[i + 1]]``. `most`: the largest power, at most 18. Three arrays are
    returned. `scaled`, ``(n_values,)``: the integers; 0 in rows that no power makes integers. `scales`,
    ``(n_rows,)``: the power of ten of every row; 1 for an empty row. `decimal`, ``(n_rows,)``: mask of the
    rows that have such a power.

    >>> decimal_steps(np.array([1.0, 2.0, 0.25, 3.0, 1 / 3]), np.array([0, 2, 4, 5]))
    (array([  1,   2,  25, 300,   0]), array([  1, 100,   1]), array([ True,  True, False]))
    """
    lengths = np.diff(starts)
    scaled = np.zeros(len(values), dtype=np.int64)
    scales = np.ones(len(lengths), dtype=np.int64)
    open_rows = lengths > 0
    for decimals in range(most + 1):
        if not open_rows.any():
            break
        steps = nearest_integers(values, 10.0**decimals)
        bad = (steps != np.rint(steps)) | (np.abs(steps) >= LARGEST_INTEGER)
        before = np.concatenate([[0], np.cumsum(bad)])
        fits = open_rows & (before[starts[1:]] == before[starts[:-1]])
        mine = np.repeat(fits, lengths)
        scaled[mine] = steps[mine].astype(np.int64)
        scales[fits] = 10**decimals
        open_rows &= ~fits
    return scaled, scales, ~open_rows
