"""Bounds on the columns of a zone by reduced costs of a linear program without integrality."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Floats, Mask
from shortlist.errors import SolverError
from shortlist.exact import LARGEST_INTEGER
from shortlist.methods.integer.bounded_solves import LARGEST_COEFFICIENT, LimitReachedError, max_coefficient
from shortlist.methods.integer.branching import (
    CountedProgram,
    PartBounds,
    SearchedPart,
    best_by_branching,
    best_of_part,
)
from shortlist.methods.integer.dual_bounds import DualBound, IntegerRows, Interval, dual_bound, prove_empty
from shortlist.methods.integer.integer_objectives import UNLIMITED, IntegerObjectives, Vector
from shortlist.milp.backends.highs_linear import LinearProgram, LinearSolution, cost_unit
from shortlist.milp.program import Program
from shortlist.milp.whole_rows import implied_bounds, whole_rows
from shortlist.runs.budget import Budget

LARGEST_SUM = 2.0**59


@dataclass(frozen=True, eq=False)
class Narrowed:
    """Bounds on the columns that remain in a zone.

    `bounds`: bounds of the columns. `duals`: multipliers of the rows, those of the objectives last, where the
    linear program has an optimum.
    """

    bounds: Interval
    duals: Floats | None = None

    @property
    def n_free(self) -> int:
        """Number of columns that still have a choice."""
        return int((self.bounds[0] < self.bounds[1]).sum())


@dataclass(frozen=True, eq=False)
class Relaxed:
    """Proof by multipliers on the weight of solutions in a zone.

    `weights`, ``(n_objectives,)``: what the objectives are multiplied by. `found`: the bound and the reduced
    costs, None where there is nothing to prove them with. `bounds`: bounds of the columns that it holds for.
    `integer`: which columns take integers only. `duals`: multipliers of the rows.
    """

    weights: Vector
    found: DualBound | None
    bounds: Interval
    integer: Mask
    duals: Floats | None = None

    @property
    def least(self) -> int | None:
        """Least weight that a solution in the zone can have, None if nothing is proved."""
        return None if self.found is None else -(-self.found.bound // self.found.scale)

    def within(self, most: int) -> Narrowed | None:
        """Return column bounds implied by a weight of at most `most`; None if infeasible."""
        if self.found is None:
            return Narrowed(self.bounds, self.duals)
        left = self.found.bounds_within(most, self.bounds, self.integer)
        return None if left is None else Narrowed(left, self.duals)


class RelaxedZones:
    """A program without integrality in HiGHS's memory, its objectives as rows.

    Each zone changes costs and limits of the objectives, and starts from the last basis. HiGHS only proposes
    multipliers: what they prove is computed in integers (:mod:`shortlist.methods.integer.dual_bounds`), on
    the rows that add integers; the other rows are left out of the proof.

    `bounds`: bounds of the columns, integers where the columns are, from the rows where a column has none.
    """

    def __init__(self, program: Program, integers: IntegerObjectives, budget: Budget) -> None:
        whole = whole_rows(program)
        exact = whole.program
        costs = sparse.csr_array(integers.costs)
        kept = sparse.diags_array(whole.whole.astype(np.float64))
        proving = sparse.csr_array(np.rint(kept @ exact.rows).astype(np.int64))
        self._rows = IntegerRows(sparse.csr_array(sparse.vstack([proving, costs])))
        self._limits = exact.row_lower, exact.row_upper
        self._whole = np.append(whole.whole, np.ones(len(integers), dtype=bool))
        self._integers, self._integer, self._budget = integers, program.integer, budget
        self.bounds = _whole_bounds(exact)
        self._countable = bool(whole.whole.all() and program.integer.all()) and _adds_up(
            self._rows, self.bounds
        )
        largest = max(max_coefficient(exact), float(np.abs(integers.costs).max(initial=0)))
        try:
            self._linear = relaxation(exact, integers.costs) if largest < LARGEST_COEFFICIENT else None
        except SolverError:  # as in _solve: limits that nothing can meet
            self._linear = None
        self._objective_rows = program.n_rows + np.arange(len(integers))

    def narrow(
        self, weights: Vector, upper: Vector, most: int, bounds: Interval | None = None
    ) -> Narrowed | None:
        """Return bounds of the columns for the solutions with ``f <= upper`` of weight up to `most`.

        None if there is no such solution, which is then proved in integers. `bounds` are what is known of
        them before.
        """
        relaxed = self.relax(weights, upper, bounds)
        return None if relaxed is None else relaxed.within(most)

    def relax(
        self,
        weights: Vector,
        upper: Vector,
        bounds: Interval | None = None,
        *,
        lower: Vector | None = None,
    ) -> Relaxed | None:
        """Return the proof of a linear program on the solutions with ``lower <= f <= upper``.

        None if there is no such solution. For reduced costs least values of the objectives are of no use:
        where the linear program is at all of them, they are 0.

        Raises LimitReachedError if the budget ends, or is cancelled.
        """
        known = self.bounds if bounds is None else bounds
        costs = weights @ self._integers.costs
        limits = self._limits_with(upper, lower)
        solution = self._solve(costs, limits)
        if solution is None:
            return Relaxed(weights, None, known, self._integer)
        if solution.ray is not None:
            ray = np.where(self._whole, solution.ray, 0.0)
            if prove_empty(self._rows, limits, known, ray):
                return None
        if not solution.optimal:
            return Relaxed(weights, None, known, self._integer)
        found = self._bound(costs, limits, known, solution.duals)
        return Relaxed(weights, found, known, self._integer, solution.duals)

    def best_within(
        self, relaxed: Relaxed, left: Narrowed, upper: Vector, most: int, *, max_nodes: int
    ) -> SearchedPart | None:
        """Return the solution of least weight in what is `left` of a zone, up to the weight `most`.

        None where a search in integers is not for this program, or for what is left of it.
        """
        if not self._countable or relaxed.found is None:
            return None
        part = PartBounds(self._limits_with(upper), left.bounds, relaxed.bounds)
        costs = relaxed.weights @ self._integers.costs
        return best_of_part(self._rows, part, costs, relaxed.found, most, max_nodes=max_nodes)

    def best_by_branching(
        self, weights: Vector, upper: Vector, most: int | None, *, max_nodes: int
    ) -> SearchedPart | None:
        """Return the solution of least weight with ``f <= upper``, up to the weight `most` if it is given.

        Depends on nothing that was solved before. None where a search in integers is not for this program.
        """
        costs = weights @ self._integers.costs
        if self._linear is None or not self._told_apart(costs):
            return None
        program = CountedProgram(costs, self._rows, self._limits_with(upper), self.bounds)
        try:
            return best_by_branching(program, most=most, max_nodes=max_nodes, budget=self._budget)
        except SolverError:  # numbers that HiGHS refuses, though all sums are small enough
            return None

    def _told_apart(self, costs: Vector) -> bool:
        """Whether floats hold every bound, and every sum of a row or of the costs, without rounding."""
        if not self._countable or (self.bounds[0] > self.bounds[1]).any():
            return False
        reach = np.maximum(*np.abs(self.bounds))
        sums = np.append(abs(self._rows.matrix) @ reach, np.abs(costs) @ reach)
        return bool(reach.max(initial=0) < LARGEST_INTEGER and sums.max() < LARGEST_INTEGER)

    def greatest(self) -> Vector:
        """Return the greatest values of the objectives, :data:`UNLIMITED` where nothing is proved."""
        found = []
        for unit in -np.eye(len(self._integers), dtype=np.int64):
            relaxed = self.relax(unit, self._integers.upper)
            found.append(UNLIMITED if relaxed is None or relaxed.least is None else -relaxed.least)
        return np.minimum(self._integers.upper, np.array(found, dtype=np.int64))

    def least(self, lower: Vector, upper: Vector) -> Vector | None:
        """Return the least values of the objectives of the vectors y with ``lower <= y <= upper``.

        None if there is no such vector. Where nothing is proved, or the budget ends, it is as in `lower`.

        >>> from shortlist.methods.integer.integer_objectives import integer_objectives
        >>> from shortlist.milp.program import LinearObjective, make_program
        >>> from shortlist.results.objective import Objective
        >>> price = LinearObjective(Objective("price"), np.array([3.0, 5.0]))
        >>> weight = LinearObjective(Objective("weight"), np.array([4.0, 1.0]))
        >>> shop = make_program(
        ...     [[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True,
        ...     objectives=[price, weight]
        ... )
        >>> relaxed = RelaxedZones(shop, integer_objectives(shop), Budget())
        >>> [relaxed.least(np.array([0, 0]), np.array(most)) for most in ([8, 2], [2, 2])]
        [array([5, 1]), None]
        """
        found = lower.copy()
        for index, unit in enumerate(np.eye(len(found), dtype=np.int64)):
            try:
                relaxed = self.relax(unit, upper, lower=found)
            except LimitReachedError:
                break
            if relaxed is None:
                return None
            if relaxed.least is not None:
                found[index] = max(int(found[index]), relaxed.least)
            if found[index] > upper[index]:
                return None
        return found

    def duals(self, weights: Vector, upper: Vector) -> Floats | None:
        """Return the multipliers of the rows where ``weights @ f`` is least, None if it is least nowhere."""
        solution = self._solve(weights @ self._integers.costs, self._limits_with(upper))
        return solution.duals if solution is not None and solution.optimal else None

    def _limits_with(self, upper: Vector, lower: Vector | None = None) -> Interval:
        """Return the limits of the rows, those of the objectives last."""
        least = np.full(len(upper), -math.inf) if lower is None else -_as_limits(-lower)
        return np.append(self._limits[0], least), np.append(self._limits[1], _as_limits(upper))

    def _solve(self, costs: Vector, limits: Interval) -> LinearSolution | None:
        """Solve the linear program; None where HiGHS does not, which ends all attempts."""
        if self._budget.stopped:
            raise LimitReachedError(self._budget.limit_text)
        if self._linear is None:
            return None
        unit, rows = cost_unit(costs), self._objective_rows
        try:
            self._linear.set_row_bounds(rows, limits[0][rows], limits[1][rows])
            self._linear.set_costs(costs / unit)
            solution = self._linear.solve(self._budget)
        except SolverError:  # numbers too large for its arithmetic; without it nothing is proved, or lost
            self._linear = None
            return None
        return dataclasses.replace(solution, duals=solution.duals * unit)

    def _bound(self, costs: Vector, limits: Interval, bounds: Interval, duals: Floats) -> DualBound | None:
        return dual_bound(costs, self._rows, limits, bounds, np.where(self._whole, duals, 0.0))


def relaxation(program: Program, costs: NDArray[Any], *, n_more: int = 0) -> LinearProgram:
    """Return a program without integrality in HiGHS's memory, with a row without limits for each of `costs`.

    `n_more`: columns without bounds or entries that follow those of the program.
    """
    free, more = np.full(len(costs), math.inf), np.full(n_more, math.inf)
    linear = LinearProgram(
        np.zeros(program.n_columns + n_more),
        np.concatenate([program.column_lower, -more]),
        np.concatenate([program.column_upper, more]),
    )
    rows = sparse.vstack([program.rows, sparse.csr_array(costs.astype(np.float64))])
    linear.add_matrix(
        sparse.hstack([rows, sparse.csr_array((rows.shape[0], n_more))], format="csr"),
        np.concatenate([program.row_lower, -free]),
        np.concatenate([program.row_upper, free]),
    )
    return linear


def _adds_up(rows: IntegerRows, bounds: Interval) -> bool:
    """Whether no sum of a row within the bounds is too large for 64-bit integers."""
    reach = np.maximum(*np.abs(bounds))
    return bool(np.isfinite(reach).all()) and float((abs(rows.matrix) @ reach).max(initial=0.0)) < LARGEST_SUM


def _whole_bounds(program: Program) -> Interval:
    lower, upper = implied_bounds(program)
    integer = program.integer
    with np.errstate(invalid="ignore"):
        lower[integer], upper[integer] = np.ceil(lower[integer] - 1e-6), np.floor(upper[integer] + 1e-6)
    return lower, upper


def _as_limits(upper: Vector) -> Floats:
    return np.where(upper >= UNLIMITED, math.inf, upper.astype(np.float64))
