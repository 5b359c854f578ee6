"""Whether a solution lies in one of many boxes of objective space: by sums of integers, then by a solver."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask, Points
from shortlist.methods.integer.bounded_solves import BoundedSolves, LimitReachedError
from shortlist.methods.integer.integer_objectives import UNLIMITED, IntegerObjectives, Vector
from shortlist.methods.recheck.plane_bounds import BoundRows, PlaneBound
from shortlist.milp.program import Program
from shortlist.runs.budget import Budget
from shortlist.runs.progress import Progress

if TYPE_CHECKING:
    from shortlist.milp.backends.highs_linear import LinearProgram

STAGE = "asking again"


@dataclass(frozen=True, eq=False)
class BoxSearch:
    """What is known of boxes ``{x : f(x) <= corner}``.

    Attributes
    ----------
    n_boxes : How many there are.
    n_by_sums : Proved empty by sums of integers, which rest on no solver.
    n_by_solver : Empty by the word of `solver`.
    n_open : Not answered, because a limit came first.
    solver : Who was asked.
    n_programs : Integer programs that it solved.
    found : The objectives of a solution in a box, in steps.
    columns : The integer columns of that solution.
    limit : The limit that ended the search, or "".
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
    """Look for a solution in any of the boxes below `corners`, ``(n_boxes, n_objectives)``, in steps.

    A linear program for a box proposes a bound on weighted objectives, which is added up in integers and may
    exclude many boxes at once (:mod:`shortlist.methods.recheck.plane_bounds`). What is left is asked of the
    solver, a program for each box.
    """
    corners = np.unique(corners, axis=0)
    outside = (corners < integers.lower).any(axis=1)  # the bounds of the columns leave nothing there
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
    """Return the corners that no bound excludes, and the limit that ended the search for bounds."""
    if not len(corners):
        return corners, ""
    bounds = _PlaneSearch(program, integers, corners, budget)
    opened: Mask = np.ones(len(corners), dtype=bool)
    failed: Mask = np.zeros(len(corners), dtype=bool)
    sides = np.clip(corners - np.maximum(integers.lower, -UNLIMITED) + 1.0, 1.0, 2.0**40)
    order = np.argsort(-np.log(sides).sum(axis=1), kind="stable")  # large boxes first: they exclude others
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
    """Linear programs that propose bounds: one objective is minimised, the others are limited by a corner."""

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
        matrix = rows.rows
        parts = [slice(*matrix.indptr[row : row + 2]) for row in range(matrix.shape[0])]
        own = [(matrix.indices[part].astype(np.int32), matrix.data[part]) for part in parts]
        for number in self._others:
            used = np.flatnonzero(integers.costs[number]).astype(np.int32)
            own.append((used, integers.costs[number][used].astype(np.float64)))
        free = np.full(len(self._others), np.inf)
        linear.add_rows(own, np.r_[rows.lower, -free], np.r_[rows.upper, free])
        return linear

    def planes(self, corner: Vector) -> list[PlaneBound]:
        """Return bounds that may exclude a corner; none where the linear program has no answer."""
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
