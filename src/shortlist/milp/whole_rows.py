"""Rows of integers, and the size up to which a solver tells a sum from the sum one unit lower.

A row of decimals at integer columns has values that are a step apart. The row is multiplied by a power of ten
and divided by the greatest common divisor of its coefficients. Its values are then integers, and its limits
can be rounded to integers too. A solver in floating point may miss an integer, or a limit, by its tolerance.
A row of coefficients a is then off by no more than the sum of ``|a_j| max(1, |x_j|)`` times the tolerance.
While this error is below a half, the solver's solutions become exact by rounding their columns, and its
verdicts optimal and infeasible are right. Beyond a half the claims of the solver do not count.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.exact import LARGEST_INTEGER, MOST_DECIMALS, decimal_steps, nearest_integers
from shortlist.milp.program import Program


def implied_bounds(program: Program) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return bounds of the columns; infinite bounds are replaced by bounds that the rows imply.

    In the row ``lower <= a @ x <= upper``, the other terms together are at least m, so ``a_j x_j <= upper -
    m``, and likewise from below. New bounds imply further ones until nothing changes; finite bounds stay as
    they are. A bound that no row implies stays infinite. Every point that satisfies rows and bounds stays
    within the result.

    Takes O(n_entries) per round, and at most one round per infinite bound.

    Returns the bounds `lower` and `upper`, ``(n_columns,)``, as new arrays.

    >>> from shortlist.milp import make_program
    >>> budget = make_program(
    ...     [[2, 1]], row_lower=-np.inf, row_upper=7, column_lower=0, column_upper=np.inf, integer=True
    ... )
    >>> implied_bounds(budget)
    (array([0., 0.]), array([3.5, 7. ]))
    """
    lower, upper = program.column_lower.copy(), program.column_upper.copy()
    if np.isfinite(lower).all() and np.isfinite(upper).all():
        return lower, upper
    entries = program.rows.tocoo()
    rows, columns = entries.coords
    kept = entries.data != 0
    rows, columns, coefficients = rows[kept], columns[kept], entries.data[kept]
    while True:
        ends = coefficients * lower[columns], coefficients * upper[columns]
        least = _others(np.minimum(*ends), rows, program.n_rows)
        most = -_others(-np.maximum(*ends), rows, program.n_rows)
        one_side = (program.row_upper[rows] - least) / coefficients
        other_side = (program.row_lower[rows] - most) / coefficients
        positive = coefficients > 0
        above, below = upper.copy(), lower.copy()
        np.minimum.at(above, columns, np.where(positive, one_side, other_side))
        np.maximum.at(below, columns, np.where(positive, other_side, one_side))
        new_above = np.isinf(upper) & np.isfinite(above)
        new_below = np.isinf(lower) & np.isfinite(below)
        if not new_above.any() and not new_below.any():
            return lower, upper
        upper[new_above] = above[new_above]
        lower[new_below] = below[new_below]


def _others(terms: NDArray[np.float64], rows: NDArray[np.integer[Any]], n_rows: int) -> NDArray[np.float64]:
    endless = np.isinf(terms)
    n_endless = np.bincount(rows[endless], minlength=n_rows)[rows]
    finite = np.where(endless, 0.0, terms)
    sums = np.bincount(rows, weights=finite, minlength=n_rows)[rows] - finite
    return np.where(n_endless - endless > 0, -math.inf, sums)


TOLERANCE, FINEST_TOLERANCE = 1e-7, 7e-8
"""Tolerance of solvers in floating point on integers and limits, and the finest one, for larger numbers.

Measured with HiGHS on 3,000 reference programs of uClinux, presolve off, which strains HiGHS most (decision
11): HiGHS called dominated points optimal 8 times at 1e-9, twice at 5e-8, and never at 7e-8, 1e-7 and 1e-6.
HiGHS takes a tenth of the tolerance for reduced costs; near the rounding errors of the solver's own sums a
tolerance cuts off solutions that are within it. The finest tolerance is for the cost of compact Linux, which
adds up to 6.7 million steps.
"""

FORGIVEN = 1e-6
"""Distance below an integer, in steps, at which a limit still means the integer: callers compute limits in
floating point. Limits written by people are read exactly (:func:`exact_program`).
"""

MOST_PLACES_WRITTEN = 16
"""Largest power of ten that scales rows written by people, as far as their sums stay below 2^53."""


@dataclass(frozen=True, eq=False)
class WholeRows:
    """Program with rows in whole steps, and the conversion of limits of the original rows.

    `program`: the program; integer rows are in whole steps, all other rows unchanged. `whole`: mask of the
    integer rows, ``(n_rows,)``. `scales`, `divisors`: an original row, times its scale and divided by its
    divisor, is the row of `program`, ``(n_rows,)``. `forgiven`: distance below an integer, in steps, at which
    a limit still means the integer.
    """

    program: Program
    whole: Mask
    scales: NDArray[np.float64]
    divisors: NDArray[np.float64]
    forgiven: float = FORGIVEN

    def limits(
        self, rows: NDArray[np.integer], lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Convert limits of the original rows to limits of the same rows in whole steps."""
        whole, scales, divisors = self.whole[rows], self.scales[rows], self.divisors[rows]
        low = -_floor(-lower, scales, divisors, self.forgiven)
        high = _floor(upper, scales, divisors, self.forgiven)
        return np.where(whole, low, lower), np.where(whole, high, upper)


def whole_rows(program: Program, *, written: bool = False) -> WholeRows:
    """Return the rows of a program in whole steps, where this is possible.

    `written`: whether people wrote the limits, so that no limit is below an integer by a rounding error.
    """
    rows = program.rows
    most = MOST_PLACES_WRITTEN if written else MOST_DECIMALS
    scaled, scales, decimal = decimal_steps(rows.data, rows.indptr, most)
    continuous = np.concatenate([[0], np.cumsum(~program.integer[rows.indices] & (rows.data != 0))])
    whole = decimal & (continuous[rows.indptr[1:]] == continuous[rows.indptr[:-1]])
    divisors = np.ones(program.n_rows, dtype=np.int64)
    filled = np.flatnonzero(np.diff(rows.indptr))
    if len(filled):
        divisors[filled] = np.gcd.reduceat(np.abs(scaled), rows.indptr[filled])
    divisors[divisors == 0] = 1
    fine = whole & (scales > 10**MOST_DECIMALS)
    if fine.any():
        whole &= ~fine | (
            _largest_sums(program, scaled // np.repeat(divisors, np.diff(rows.indptr))) < LARGEST_INTEGER
        )
    divisors, scales = np.where(whole, divisors, 1), np.where(whole, scales, 1)
    forgiven = 0.0 if written else FORGIVEN
    made = WholeRows(program, whole, scales.astype(np.float64), divisors.astype(np.float64), forgiven)
    lower, upper = made.limits(np.arange(program.n_rows), program.row_lower, program.row_upper)
    changed = (scales != 1) | (divisors != 1)
    if changed.any():
        lengths = np.diff(rows.indptr)
        data = np.where(np.repeat(changed, lengths), scaled // np.repeat(divisors, lengths), rows.data)
        rows = rows.copy()
        rows.data = data
    smaller = dataclasses.replace(program, rows=rows, row_lower=lower, row_upper=upper)
    return dataclasses.replace(made, program=smaller)


def exact_program(program: Program) -> Program:
    """Return a program written by people, with bounds and rows in integers where this is possible.

    Bounds of integer columns, and limits of rows of integers, are rounded to integers without tolerance: a
    limit below an integer excludes the integer.

    >>> from shortlist.milp import make_program
    >>> written = make_program(
    ...     [[1e-10, 2e-10]], row_lower=-np.inf, row_upper=2.9999999e-10, column_lower=0, column_upper=1.5,
    ...     integer=True,
    ... )
    >>> exact = exact_program(written)
    >>> exact.rows.toarray().tolist(), exact.row_upper.tolist(), exact.column_upper.tolist()
    ([[1.0, 2.0]], [2.0], [1.0, 1.0])
    """
    whole, lower, upper = program.integer, program.column_lower, program.column_upper
    bounded = dataclasses.replace(
        program,
        column_lower=np.where(whole, np.ceil(lower), lower),
        column_upper=np.where(whole, np.floor(upper), upper),
    )
    return whole_rows(bounded, written=True).program


def _largest_sums(program: Program, coefficients: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the largest sums of rows with these coefficients, infinite without bounds."""
    reach = np.maximum(*map(np.abs, _bounds(program)))
    sizes = program.rows.copy()
    sizes.data = np.abs(coefficients).astype(np.float64)
    with np.errstate(invalid="ignore"):  # 0 times infinity
        sums: NDArray[np.float64] = np.nan_to_num(sizes @ np.maximum(reach, 1.0), nan=math.inf)
    return sums


def _floor(
    limits: NDArray[np.float64], scales: NDArray[np.float64], divisors: NDArray[np.float64], forgiven: float
) -> NDArray[np.float64]:
    """Return the largest integers whose multiples by the divisor are at most the scaled limits.

    Infinite limits stay.
    """
    finite = np.isfinite(limits)
    known = np.where(finite, limits, 0.0)
    steps = nearest_integers(known, scales)
    below: NDArray[np.float64] = np.floor_divide(np.floor(steps + forgiven), divisors)
    return np.where(finite, below, limits)


class RowSizes:
    """Largest values of integer rows within the bounds of the columns.

    If bounds are narrowed later, the sizes stay, and so may be too large, but not too small.
    """

    def __init__(self, rows: WholeRows) -> None:
        self._rows = rows
        self.update(rows.program)

    def update(self, program: Program) -> None:
        """Update the sizes to the bounds of `program` if a column's range may have grown.

        The rows of `program` are those of the current sizes.
        """
        self._lower, self._upper = _bounds(program)
        reach = np.maximum(np.abs(self._lower), np.abs(self._upper))
        self.reach = np.where(np.isfinite(reach), np.maximum(reach, 1.0), 1.0)
        matrix = program.rows
        self._sizes = abs(matrix) @ self.reach
        positive, negative = matrix.maximum(0), matrix.minimum(0)
        with np.errstate(invalid="ignore"):
            self._least = positive @ self._lower + negative @ self._upper
            self._most = positive @ self._upper + negative @ self._lower

    def widened(
        self, columns: NDArray[np.integer], lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> bool:
        """Whether new bounds of `columns` exceed the bounds for which the sizes hold."""
        return bool((lower < self._lower[columns]).any() or (upper > self._upper[columns]).any())

    def largest(self, program: Program) -> float:
        """Return the largest size of an integer row whose limits exclude some of its sums."""
        with np.errstate(invalid="ignore"):
            idle = (self._least >= program.row_lower) & (self._most <= program.row_upper)
        counted = self._rows.whole & ~idle
        return float(self._sizes[counted].max(initial=0.0))

    def of(self, costs: NDArray[np.float64]) -> float:
        """Return the largest absolute value of ``costs @ x``."""
        return float(np.abs(costs) @ self.reach)


def largest_sum(program: Program) -> float:
    """Return the largest sum of an integer row of the program, whatever its limits."""
    rows = whole_rows(program)
    endless = dataclasses.replace(
        rows.program,
        row_lower=np.full(program.n_rows, -math.inf),
        row_upper=np.full(program.n_rows, -math.inf),
    )
    return RowSizes(rows).largest(endless)


def _bounds(program: Program) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if np.isfinite(program.column_lower).all() and np.isfinite(program.column_upper).all():
        return program.column_lower.copy(), program.column_upper.copy()
    return implied_bounds(program)


def tells_apart(size: float, tolerance: float) -> bool:
    """Whether a solver tells a sum of this size from the sum one unit lower.

    The tolerance is 0 for an exact solver.

    Beyond 2^53 no claim can be checked, as programs are kept in floating point.

    >>> tells_apart(4e6, 1e-7), tells_apart(4e9, 1e-7), tells_apart(4e9, 0.0), tells_apart(1e16, 0.0)
    (True, False, True, False)
    """
    return size < LARGEST_INTEGER and size * tolerance < 0.5


def tolerance_for(size: float) -> float:
    """Return the tolerance for a program with this largest sum of integers."""
    return TOLERANCE if tells_apart(size, TOLERANCE) else FINEST_TOLERANCE


def common_step(costs: NDArray[np.float64]) -> float:
    """Return the greatest common divisor of integers; 1 if all are 0."""
    return (
        float(math.gcd(*costs.astype(np.int64).tolist()) or 1)
        if np.abs(costs).max(initial=0) < 2**62
        else 1.0
    )
