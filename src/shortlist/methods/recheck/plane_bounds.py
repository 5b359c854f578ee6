"""Bounds on weighted objectives that hold by adding up integers, whatever a solver said.

With any multipliers λ of the rows, and weights w of the objectives that are at least 0, every solution x
has ``w f(x) = λ A x + (w C - λ A) x``. That is at least what the limits of the rows and the bounds of the
columns leave to each term, by weak duality. Neumaier & Shcherbina (2004) make such bounds safe against
rounding in the same way. A linear program proposes the multipliers. They are rounded to integers, and the
bound is added up in integers, so nothing rests on the solver: bad multipliers give a weak bound, never a
wrong one.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Floats, Mask, Points
from shortlist.exact import LARGEST_INTEGER
from shortlist.methods.integer.integer_objectives import IntegerObjectives
from shortlist.milp.program import Program
from shortlist.milp.whole_rows import whole_rows

FINEST, LARGEST_SIZE = 30, 52
"""Powers of two: multipliers are rounded to this part of the largest weight, or so that sums stay exact."""


@dataclass(frozen=True, eq=False)
class PlaneBound:
    """Every solution has ``weights @ f >= least``, in steps of the objectives.

    Attributes
    ----------
    weights : At least 0, one for each objective.
    """

    weights: tuple[int, ...]
    least: int

    def excludes(self, corners: Points) -> Mask:
        """Mark the corners to which no solution is equal or better in every objective."""
        most = max(map(abs, self.weights)) * len(self.weights) * int(np.abs(corners).max(initial=0))
        kind = np.int64 if max(most, abs(self.least)) < 2**63 else object
        sums = corners.astype(kind) @ np.array(self.weights, dtype=kind)
        excluded: Mask = np.asarray(sums < self.least, dtype=bool)
        return excluded


class BoundRows:
    """The rows of a program in integers, for bounds; those that are not whole take no part."""

    def __init__(self, program: Program, integers: IntegerObjectives) -> None:
        made = whole_rows(program)
        kept = np.flatnonzero(made.whole)
        self.rows: sparse.csr_array = sparse.csr_array(made.program.rows[kept])
        self.lower, self.upper = made.program.row_lower[kept], made.program.row_upper[kept]
        self.column_lower, self.column_upper = program.column_lower, program.column_upper
        whole = np.ceil(program.column_lower), np.floor(program.column_upper)
        self.column_lower = np.where(program.integer, whole[0], program.column_lower)
        self.column_upper = np.where(program.integer, whole[1], program.column_upper)
        self.costs = integers.costs
        self._transposed = sparse.csr_array(self.rows.T)
        self._integer_bounds = _whole(self.column_lower) & _whole(self.column_upper)

    def bound(self, multipliers: Floats, weights: Floats) -> PlaneBound | None:
        """Return the bound that multipliers of the rows and weights of the objectives prove, or None.

        There is none where a column without a bound could lower the sum for ever, or numbers pass 2^53.
        """
        weights = np.maximum(weights, 0.0)
        largest = float(weights.max(initial=0.0) or np.abs(multipliers).max(initial=0.0))
        if not largest:
            return None
        weights, multipliers = weights / largest, multipliers / largest
        multipliers[(multipliers > 0) & np.isinf(self.lower) | (multipliers < 0) & np.isinf(self.upper)] = 0.0
        size = np.abs(self._transposed) @ np.abs(multipliers) + weights @ np.abs(self.costs)
        power = min(FINEST, LARGEST_SIZE - math.ceil(math.log2(max(1.0, size.max(initial=0.0)))))
        whole_weights, factors = np.rint(weights * 2.0**power), np.rint(multipliers * 2.0**power)
        size = np.abs(self._transposed) @ np.abs(factors) + whole_weights @ np.abs(self.costs)
        if power < 1 or size.max(initial=0.0) >= LARGEST_INTEGER:
            return None
        left = whole_weights @ self.costs - self._transposed @ factors
        ends = np.where(left > 0, self.column_lower, np.where(left < 0, self.column_upper, 0.0))
        if not (np.isfinite(ends) & (self._integer_bounds | (left == 0))).all():
            return None
        limits = np.where(factors > 0, self.lower, np.where(factors < 0, self.upper, 0.0))
        least = _exact_sum(factors, limits) + _exact_sum(left, ends)
        return PlaneBound(tuple(int(weight) for weight in whole_weights.tolist()), least)


def _whole(values: NDArray[np.float64]) -> Mask:
    """Mark integers that doubles hold exactly, and infinities, which are looked at where they count."""
    marks: Mask = np.isinf(values) | ((values == np.rint(values)) & (np.abs(values) < LARGEST_INTEGER))
    return marks


def _exact_sum(left: NDArray[np.float64], right: NDArray[np.float64]) -> int:
    """Add up products of integers, however large."""
    used = np.flatnonzero((left != 0) & (right != 0))
    pairs = zip(left[used].tolist(), right[used].tolist(), strict=True)
    return sum(int(one) * int(other) for one, other in pairs)
