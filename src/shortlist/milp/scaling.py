"""Decimals turned into integers, row by row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.errors import BadInputError

MOST_DECIMALS = 9
LARGEST_INTEGER = 2.0**53


def nearest_integers(values: NDArray[np.float64], scales: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Return ``values * scales``, as the integer where a value is an integer over its scale but for the last two bits."""
    product: NDArray[np.float64] = values * scales
    whole = np.rint(product)
    near = np.abs(whole / scales - values) <= 2 * np.spacing(np.abs(values))
    return np.where(near, whole, product)


def decimal_steps(
    values: NDArray[np.float64], starts: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Mask]:
    """Multiply each row by the smallest power of ten that makes all its values integers below 2^53, where there is one.

    Parameters
    ----------
    values : ndarray of float, shape (n_values,)
        The values of all rows, one row after the other.
    starts : ndarray of int, shape (n_rows + 1,)
        Row i is ``values[starts[i]:starts[i + 1]]``.

    Returns
    -------
    scaled : ndarray of int, shape (n_values,)
        The integers; 0 in rows that no power up to 10^9 makes integers.
    scales : ndarray of int, shape (n_rows,)
        The power of ten of every row; 1 for an empty one.
    decimal : ndarray of bool, shape (n_rows,)
        Marks the rows that have one.

    Examples
    --------
    >>> decimal_steps(np.array([1.0, 2.0, 0.25, 3.0, 1 / 3]), np.array([0, 2, 4, 5]))
    (array([  1,   2,  25, 300,   0]), array([  1, 100,   1]), array([ True,  True, False]))
    """
    lengths = np.diff(starts)
    scaled = np.zeros(len(values), dtype=np.int64)
    scales = np.ones(len(lengths), dtype=np.int64)
    open_rows = lengths > 0
    for decimals in range(MOST_DECIMALS + 1):
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


def scaled_to_integers(
    values: NDArray[np.float64], starts: NDArray[np.integer[Any]], what: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the integers and the power of ten of each row, as :func:`decimal_steps` does, but only if all rows have one.

    `what` says what the values are, for the message.

    Raises
    ------
    BadInputError
        If a value has more than nine decimals, or is no integer below 2^53 after scaling.

    Examples
    --------
    >>> scaled_to_integers(np.array([1.0, 2.0, 0.25, 3.0]), np.array([0, 2, 4]), "rows")
    (array([  1,   2,  25, 300]), array([  1, 100]))
    """
    scaled, scales, decimal = decimal_steps(values, starts)
    if decimal.all():
        return scaled, scales
    row = int(np.argmin(decimal))
    shown = ", ".join(f"{value:g}" for value in values[starts[row] : starts[row + 1]][:5].tolist())
    raise BadInputError(
        f"CP-SAT needs {what} of decimals with at most {MOST_DECIMALS} places and "
        f"{int(np.log10(LARGEST_INTEGER))} digits, got {shown} in row {row}. Round them, or use "
        "solver='highs'."
    )
