"""Search for a solution in many boxes of objective space, by sums of integers, then by a solver.

For any multipliers λ of the rows and any weights w of the objectives, none below 0, every solution x has
``w f(x) = λ A x + (w C - λ A) x``. By weak duality the limits of the rows and the bounds of the columns
give a lower bound on each term. Neumaier & Shcherbina (2004) make such bounds safe against rounding in the
same way. A linear program proposes the multipliers, which are rounded to integers, and the bound is summed
in integers: bad multipliers give a weak bound, never a wrong one.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Floats, Mask, Points
from shortlist.errors import RefusedProgramError
from shortlist.exact import LARGEST_INTEGER
from shortlist.methods.integer.bounded_solves import BoundedSolves, LimitReachedError
from shortlist.methods.integer.integer_objectives import UNLIMITED, IntegerObjectives, Vector
from shortlist.milp.program import Program
from shortlist.milp.whole_rows import whole_rows
from shortlist.runs.budget import Budget, Progress

if TYPE_CHECKING:
    from shortlist.milp.backends.highs_linear import LinearProgram


FINEST, LARGEST_SIZE = 30, 52
"""Exponents of two: of the finest step of multipliers, relative to the largest weight, and of the largest
exact sum.
"""


@dataclass(frozen=True, eq=False)
class PlaneBound:
    """Bound on all solutions, ``weights @ f >= least``, in steps of the objectives.

    `weights`: one for each objective, none below 0.
    """

    weights: tuple[int, ...]
    least: int

    def excludes(self, corners: Points) -> Mask:
        """Mark the corners that no solution equals or improves on in every objective."""
        most = max(map(abs, self.weights)) * len(self.weights) * int(np.abs(corners).max(initial=0))
        kind = np.int64 if max(most, abs(self.least)) < 2**63 else object
        sums = corners.astype(kind) @ np.array(self.weights, dtype=kind)
        excluded: Mask = np.asarray(sums < self.least, dtype=bool)
        return excluded


class BoundRows:
    """Integer rows of a program, for bounds; rows with other numbers are left out."""

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
        """Return the bound proved by multipliers of the rows and weights of the objectives.

        Returns None if an unbounded column could lower the sum without end, or numbers exceed 2^53.
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
    """Mark integers and infinities; callers check whether doubles hold the integers exactly."""
    marks: Mask = np.isinf(values) | ((values == np.rint(values)) & (np.abs(values) < LARGEST_INTEGER))
    return marks


def _exact_sum(left: NDArray[np.float64], right: NDArray[np.float64]) -> int:
    """Return the sum of products of integers, exact for any size."""
    used = np.flatnonzero((left != 0) & (right != 0))
    pairs = zip(left[used].tolist(), right[used].tolist(), strict=True)
    return sum(int(one) * int(other) for one, other in pairs)


STAGE = "asking again"


@dataclass(frozen=True, eq=False)
class BoxSearch:
    """Results of a search through boxes ``{x : f(x) <= corner}``.

    `n_boxes`: number of boxes. `n_by_sums`: number proved empty by sums of integers, independent of any
    solver. `n_by_solver`: number that is empty according to `solver`. `n_open`: number left open because of
    a limit. `n_programs`: number of integer programs solved. `found`: objectives of a solution in a box, in
    steps. `columns`: integer columns of that solution. `limit`: limit that ended the search, or "".
    """

    n_boxes: int
    n_by_sums: int
    n_by_solver: int
    n_open: int
    solver: str
    n_programs: int = 0
    found: Vector | None = None
    columns: NDArray[np.int64] | None = None
    limit: str = ""


def search_boxes(
    program: Program, integers: IntegerObjectives, corners: Points, *, solver: str, budget: Budget
) -> BoxSearch:
    """Search the boxes below `corners`, ``(n_boxes, n_objectives)`` in steps, for a solution.

    A linear program for a box proposes a bound on weighted objectives. The bound is summed in integers and
    may exclude many boxes at once (:mod:`shortlist.methods.boxes`). For each remaining box the solver
    solves an integer program.
    """
    corners = np.unique(corners, axis=0)
    outside = (corners < integers.lower).any(axis=1)  # the bounds of the columns exclude these
    left, limit = _by_sums(program, integers, corners[~outside], budget)
    n_by_sums = len(corners) - len(left)
    if limit:
        return BoxSearch(len(corners), n_by_sums, 0, len(left), solver, limit=limit)
    solves = BoundedSolves(program, solver=solver, budget=budget, stage=STAGE)
    ones = np.ones(len(integers), dtype=np.int64)
    found, n_empty = None, 0
    try:
        for corner in left:
            found = solves.minimise(ones, np.where(corner >= UNLIMITED - 1, UNLIMITED, corner))
            if found is not None:
                break
            n_empty += 1
    except LimitReachedError as stop:
        limit = stop.limit
    except RefusedProgramError:
        limit = f"the size of numbers that {solves.solver_name} takes"
    return BoxSearch(
        n_boxes=len(corners),
        n_by_sums=n_by_sums,
        n_by_solver=n_empty,
        n_open=len(left) - n_empty,
        solver=solves.solver_name,
        n_programs=solves.n_programs,
        found=found,
        columns=None if found is None else solves.columns_of(found),
        limit=limit,
    )


def _by_sums(
    program: Program, integers: IntegerObjectives, corners: Points, budget: Budget
) -> tuple[Points, str]:
    """Return the corners not excluded by bounds, and the limit that ended the search for bounds."""
    if not len(corners):
        return corners, ""
    try:
        bounds = _PlaneSearch(program, integers, corners, budget)
    except RefusedProgramError:  # a solver in integers may accept it all the same
        return corners, ""
    opened: Mask = np.ones(len(corners), dtype=bool)
    failed: Mask = np.zeros(len(corners), dtype=bool)
    sides = np.clip(corners - np.maximum(integers.lower, -UNLIMITED) + 1.0, 1.0, 2.0**40)
    order = np.argsort(-np.log(sides).sum(axis=1), kind="stable")  # large boxes first
    for number in order.tolist():
        if not opened[number] or failed[number]:
            continue
        if budget.stopped:
            return corners[opened], budget.limit_text
        for plane in bounds.planes(corners[number]):
            opened &= ~plane.excludes(corners)
        failed[number] = opened[number]
        budget.report(Progress(STAGE, int((~opened | failed).sum()), len(corners)))
    return corners[opened], ""


class _PlaneSearch:
    """Linear programs that propose bounds; each minimises one objective, with a corner as upper limit."""

    def __init__(
        self, program: Program, integers: IntegerObjectives, corners: Points, budget: Budget
    ) -> None:
        self._rows = BoundRows(program, integers)
        self._first = int(np.argmax(np.ptp(corners.astype(np.float64), axis=0)))
        self._others = np.flatnonzero(np.arange(len(integers)) != self._first)
        self._n_objectives = len(integers)
        self._budget = budget
        self._linear = self._loaded(integers)

    def _loaded(self, integers: IntegerObjectives) -> "LinearProgram":
        from shortlist.milp.backends.highs_linear import LinearProgram

        rows = self._rows
        linear = LinearProgram(
            integers.costs[self._first].astype(np.float64), rows.column_lower, rows.column_upper
        )
        free = np.full(len(self._others), np.inf)
        matrix = sparse.vstack([rows.rows, sparse.csr_array(integers.costs[self._others])], format="csr")
        linear.add_matrix(matrix, np.r_[rows.lower, -free], np.r_[rows.upper, free])
        return linear

    def planes(self, corner: Vector) -> list[PlaneBound]:
        """Return bounds that may exclude a corner; none if the linear program has no answer."""
        n_rows = len(self._rows.lower)
        limits = np.where(corner[self._others] >= UNLIMITED - 1, np.inf, corner[self._others].astype(float))
        self._linear.set_row_bounds(
            n_rows + np.arange(len(self._others)), np.full(len(self._others), -np.inf), limits
        )
        answer = self._linear.solve(self._budget)
        if answer.optimal:
            return self._proved(answer.duals, 1.0)
        if answer.ray is None:
            return []
        return [*self._proved(answer.ray, 0.0), *self._proved(-answer.ray, 0.0)]

    def _proved(self, duals: Floats, first: float) -> list[PlaneBound]:
        n_rows = len(self._rows.lower)
        weights = np.zeros(self._n_objectives)
        weights[self._first] = first
        weights[self._others] = -duals[n_rows:]
        found = self._rows.bound(duals[:n_rows].copy(), weights)
        return [] if found is None else [found]
