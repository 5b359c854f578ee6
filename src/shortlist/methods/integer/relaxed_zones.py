"""Bounds on the columns of a zone by reduced costs of a linear relaxation."""

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

    `bounds`: bounds of the columns. `duals`: multipliers of the rows, the rows of the objectives last; None
    if the linear program has no optimum.
    """

    bounds: Interval
    duals: Floats | None = None

    @property
    def n_free(self) -> int:
        """Number of columns that are not fixed."""
        return int((self.bounds[0] < self.bounds[1]).sum())


@dataclass(frozen=True, eq=False)
class Relaxed:
    """Bound, proved by multipliers, on the weight of solutions in a zone.

    `weights`, ``(n_objectives,)``: weights of the objectives. `found`: the bound and the reduced costs, None
    without a proof. `bounds`: bounds of the columns for which `found` holds. `integer`: mask of the integer
    columns. `duals`: multipliers of the rows.
    """

    weights: Vector
    found: DualBound | None
    bounds: Interval
    integer: Mask
    duals: Floats | None = None

    @property
    def least(self) -> int | None:
        """Least possible weight of a solution in the zone, None if nothing is proved."""
        return None if self.found is None else -(-self.found.bound // self.found.scale)

    def within(self, most: int) -> Narrowed | None:
        """Return the bounds of the columns implied by a weight of at most `most`.

        Returns None if no weight is so low.
        """
        if self.found is None:
            return Narrowed(self.bounds, self.duals)
        left = self.found.bounds_within(most, self.bounds, self.integer)
        return None if left is None else Narrowed(left, self.duals)


class RelaxedZones:
    """Linear relaxation of a program in HiGHS's memory, with its objectives as rows.

    Each zone changes costs and limits of the objectives, and starts from the last basis. HiGHS only
    proposes multipliers. The bounds that they prove are computed in integers
    (:mod:`shortlist.methods.integer.dual_bounds`), from the integer rows; the other rows are left out of
    the proof.

    `bounds`: bounds of the columns, integers for integer columns, implied by the rows for columns without a
    bound.
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
        except SolverError:  # as in _solve: limits that cannot be met
            self._linear = None
        self._objective_rows = program.n_rows + np.arange(len(integers))

    def narrow(
        self, weights: Vector, upper: Vector, most: int, bounds: Interval | None = None
    ) -> Narrowed | None:
        """Return bounds of the columns for the solutions with ``f <= upper`` of weight up to `most`.

        Returns None if integers prove that there is no such solution. `bounds`: bounds of the columns known
        before.
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
        """Return the bound of a linear program on the solutions with ``lower <= f <= upper``.

        Returns None if there is no such solution. Limits `lower` do not help reduced costs: these costs are 0
        if the linear program meets every limit.

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
        """Return the solution of least weight, up to `most`, within the bounds `left` of a zone.

        Returns None if a search in integers does not suit the program, or these bounds.
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

        The result does not depend on earlier solves. None if a search in integers does not suit the
        program.
        """
        costs = weights @ self._integers.costs
        if self._linear is None or not self._told_apart(costs):
            return None
        program = CountedProgram(costs, self._rows, self._limits_with(upper), self.bounds)
        try:
            return best_by_branching(program, most=most, max_nodes=max_nodes, budget=self._budget)
        except SolverError:  # HiGHS refuses some numbers even if all sums are small
            return None

    def _told_apart(self, costs: Vector) -> bool:
        """Whether floats hold every bound, and every sum of a row or of the costs, exactly."""
        if not self._countable or (self.bounds[0] > self.bounds[1]).any():
            return False
        reach = np.maximum(*np.abs(self.bounds))
        sums = np.append(abs(self._rows.matrix) @ reach, np.abs(costs) @ reach)
        return bool(reach.max(initial=0) < LARGEST_INTEGER and sums.max() < LARGEST_INTEGER)

    def greatest(self) -> Vector:
        """Return the greatest values of the objectives, :data:`UNLIMITED` if nothing is proved."""
        found = []
        for unit in -np.eye(len(self._integers), dtype=np.int64):
            relaxed = self.relax(unit, self._integers.upper)
            found.append(UNLIMITED if relaxed is None or relaxed.least is None else -relaxed.least)
        return np.minimum(self._integers.upper, np.array(found, dtype=np.int64))

    def least(self, lower: Vector, upper: Vector) -> Vector | None:
        """Return the least value of each objective over the vectors y with ``lower <= y <= upper``.

        Returns None if there is no such vector. If no value is proved, or the budget ends, the least values
        are `lower`.

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
        """Return the multipliers of the rows at the minimum of ``weights @ f``; None without a minimum."""
        solution = self._solve(weights @ self._integers.costs, self._limits_with(upper))
        return solution.duals if solution is not None and solution.optimal else None

    def _limits_with(self, upper: Vector, lower: Vector | None = None) -> Interval:
        """Return the limits of the rows; the rows of the objectives come last."""
        least = np.full(len(upper), -math.inf) if lower is None else -_as_limits(-lower)
        return np.append(self._limits[0], least), np.append(self._limits[1], _as_limits(upper))

    def _solve(self, costs: Vector, limits: Interval) -> LinearSolution | None:
        """Solve the linear program; None if HiGHS fails, after which no further attempt is made."""
        if self._budget.stopped:
            raise LimitReachedError(self._budget.limit_text)
        if self._linear is None:
            return None
        unit, rows = cost_unit(costs), self._objective_rows
        try:
            self._linear.set_row_bounds(rows, limits[0][rows], limits[1][rows])
            self._linear.set_costs(costs / unit)
            solution = self._linear.solve(self._budget)
        except SolverError:  # numbers beyond its arithmetic; this only costs proofs
            self._linear = None
            return None
        return dataclasses.replace(solution, duals=solution.duals * unit)

    def _bound(self, costs: Vector, limits: Interval, bounds: Interval, duals: Floats) -> DualBound | None:
        return dual_bound(costs, self._rows, limits, bounds, np.where(self._whole, duals, 0.0))


def relaxation(program: Program, costs: NDArray[Any], *, n_more: int = 0) -> LinearProgram:
    """Return a linear relaxation in HiGHS's memory, with a row without limits for each of `costs`.

    `n_more`: number of columns, without bounds or entries, that follow the columns of the program.
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
    """Whether all sums of a row within the bounds fit into 64-bit integers."""
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
