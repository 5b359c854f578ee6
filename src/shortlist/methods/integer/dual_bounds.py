"""Bounds proved by multipliers of the rows, in integers, and the resulting bounds of the columns.

For any multipliers y of the rows, ``c @ x = (c - y @ A) @ x + y @ (A @ x)``: the first summand is least if
each column is at one of its bounds, the second summand if each row is at one of its limits. So every y gives
a bound on c, and the duals of a linear program give a good one. A solver in floating point has rounded these
duals. Here the duals are rounded once more, to multiples of ``1 / scale``, and all further sums are in
integers: the bound holds whatever the solver did.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Floats, Mask

FINEST_SCALE = 2.0**24
LARGEST = 2.0**60
"""Upper limit of all sums; 64-bit integers end at 2^63, and the sizes are estimated in floating point."""

Integers = NDArray[np.int64]


Interval: TypeAlias = tuple[Floats, Floats]
"""Least and largest values for every row or column, infinite without a limit."""


@dataclass(frozen=True, eq=False)
class IntegerRows:
    """Rows of integers, ``(n_rows, n_columns)``."""

    matrix: sparse.csr_array

    @cached_property
    def turned(self) -> sparse.csr_array:
        """Transposed rows: the columns as rows."""
        return sparse.csr_array(self.matrix.T)

    @cached_property
    def sizes(self) -> sparse.csr_array:
        """Absolute values of the transposed rows."""
        return abs(self.turned).astype(np.float64)


@dataclass(frozen=True, eq=False)
class DualBound:
    """Bound that multipliers prove, with the reduced costs.

    `bound`: ``scale * (costs @ x)`` is at least this. `reduced`, ``(n_columns,)``: least increment per step
    of each column away from its best bound, which is the lower bound for a positive reduced cost and the
    upper bound for a negative one. `scale`: common factor of `bound` and `reduced`.
    """

    bound: int
    reduced: Integers
    scale: int

    def bounds_within(self, most: int, bounds: Interval, integer: Mask) -> Interval | None:
        """Return the bounds of the columns of all solutions with costs of at most `most`.

        Returns None if there are no such solutions.

        `bounds`: bounds of the columns for which this bound was computed, integers in the `integer` columns.
        All other columns keep their bounds.
        """
        room = self.scale * most - self.bound
        if room < 0:
            return None
        lower, upper = bounds[0].copy(), bounds[1].copy()
        steps = room // np.maximum(np.abs(self.reduced), 1)
        up, down = integer & (self.reduced > 0), integer & (self.reduced < 0)
        upper[up] = np.minimum(upper[up], lower[up] + steps[up])
        lower[down] = np.maximum(lower[down], bounds[1][down] - steps[down])
        return lower, upper


def dual_bound(
    costs: Integers, rows: IntegerRows, limits: Interval, bounds: Interval, duals: Floats
) -> DualBound | None:
    """Return the bound that `duals` prove for ``costs @ x``; None if it is minus infinity.

    `costs`, ``(n_columns,)``: costs to minimise. `rows`: rows of the program. `limits`, ``(n_rows,)``:
    limits of the rows, integers or infinite. `bounds`, ``(n_columns,)``: bounds of the columns; integers or
    infinite if the cost is not 0. `duals`, ``(n_rows,)``: multipliers of the rows. A multiplier that needs
    an infinite limit becomes 0.

    >>> rows = IntegerRows(sparse.csr_array(np.array([[2, 3]])))
    >>> limits, bounds = (np.array([4.0]), np.array([np.inf])), (np.zeros(2), np.ones(2))
    >>> found = dual_bound(np.array([2, 4]), rows, limits, bounds, np.array([1.0]))
    >>> found.bound / found.scale, (found.reduced / found.scale).tolist()
    (4.0, [0.0, 1.0])
    """
    there = np.where(duals > 0, np.isfinite(limits[0]), np.isfinite(limits[1]))
    multipliers = np.where(there & np.isfinite(duals), duals, 0.0)
    scale = _scale(costs, rows, limits, bounds, multipliers)
    if scale is None:
        return None
    whole = np.rint(multipliers * scale).astype(np.int64)
    reduced: Integers = scale * costs - rows.turned @ whole
    used, charged = np.flatnonzero(whole), np.flatnonzero(reduced)
    row_ends = np.where(whole[used] > 0, limits[0][used], limits[1][used]).astype(np.int64)
    column_ends = np.where(reduced[charged] > 0, bounds[0][charged], bounds[1][charged])
    if not np.isfinite(column_ends).all():
        return None
    bound = int(whole[used] @ row_ends) + int(reduced[charged] @ column_ends.astype(np.int64))
    return DualBound(bound, reduced, scale)


def prove_empty(rows: IntegerRows, limits: Interval, bounds: Interval, duals: Floats) -> bool:
    """Whether `duals` prove that nothing satisfies the rows, by 0 > 0 (Farkas' lemma)."""
    size = np.abs(duals).max(initial=0.0)
    if not 0 < size < math.inf:
        return False
    nothing = np.zeros(len(bounds[0]), dtype=np.int64)
    found = dual_bound(nothing, rows, limits, bounds, duals / size)
    return found is not None and found.bound > 0


def _scale(
    costs: Integers, rows: IntegerRows, limits: Interval, bounds: Interval, multipliers: Floats
) -> int | None:
    """Return the largest power of two that 64-bit integers allow; None if not even 1 fits."""
    sizes = np.abs(multipliers) + 1.0  # sizes of the rounded multipliers too
    terms = np.abs(costs) + rows.sizes @ sizes
    total = float(terms @ np.maximum(_finite_sizes(bounds), 1.0) + sizes @ _finite_sizes(limits)) + 1.0
    room = min(LARGEST / total, FINEST_SCALE)
    return int(2.0 ** math.floor(math.log2(room))) if room >= 1 else None


def _finite_sizes(interval: Interval) -> Floats:
    """Return the larger absolute value of the two limits; infinite limits do not count."""
    lower, upper = (np.where(np.isfinite(limit), np.abs(limit), 0.0) for limit in interval)
    sizes: Floats = np.maximum(lower, upper)
    return sizes
