"""Lower bounds on objectives from the linear relaxation of a program, in a few milliseconds."""

import dataclasses
import math

import numpy as np

from shortlist.methods.integer.integer_objectives import Vector, integer_objectives
from shortlist.milp.program import Program
from shortlist.milp.session import open_solver
from shortlist.milp.solution import NO_LIMITS, Limits
from shortlist.milp.whole_rows import largest_sum, tells_apart
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget

ROUNDING = 1e-6
"""What an optimum of a linear program may be too large by, relative to its size."""


class RelaxedBounds:
    """A program without integrality in HiGHS's memory; it starts each solve from the basis of the last one.

    HiGHS whatever solves the integer programs: not every backend takes continuous columns.

    Examples
    --------
    >>> from shortlist.results.objective import Objective
    >>> from shortlist.milp.program import LinearObjective, make_program
    >>> price = LinearObjective(Objective("price"), np.array([3.0, 5.0]))
    >>> weight = LinearObjective(Objective("weight"), np.array([4.0, 1.0]))
    >>> shop = make_program(
    ...     [[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True,
    ...     objectives=[price, weight]
    ... )
    >>> relaxed = RelaxedBounds(shop, Budget())
    >>> relaxed.least(np.array([0, 0]), np.array([8, 2])), relaxed.least(np.array([0, 0]), np.array([2, 2]))
    (array([5, 1]), None)
    """

    def __init__(self, program: Program, budget: Budget) -> None:
        integers = integer_objectives(program)
        top = np.full(len(integers), math.inf)
        rows = program.with_rows(integers.costs.astype(np.float64), -top, top)
        relaxed = dataclasses.replace(rows, integer=np.zeros(program.n_columns, dtype=bool))
        self._costs = integers.costs.astype(np.float64)
        self._rows = program.n_rows + np.arange(len(integers))
        solver = open_solver("highs")
        self._decides = tells_apart(largest_sum(rows), solver.tolerance)
        self._session = solver.open(relaxed, seed=budget.seed)
        self._budget = budget

    def least(self, lower: Vector, upper: Vector, each: Limits = NO_LIMITS) -> Vector | None:
        """Return lower bounds on each objective of the feasible vectors y with ``lower <= y <= upper``.

        None if there is no such vector even without integrality. Bounds that are not found within the limits
        of `each` program stay as in `lower`; all do where the budget has ended, or the numbers are too large
        for the solver's tolerance.
        """
        found = lower.copy()
        if not self._decides or self._budget.stopped:
            return found
        for index, costs in enumerate(self._costs):
            self._session.set_row_bounds(self._rows, found.astype(np.float64), upper.astype(np.float64))
            self._session.set_costs(costs)
            solution = self._session.solve(each.within(self._budget), cancellation=self._budget.cancellation)
            if solution.status is Status.INFEASIBLE:
                return None
            if solution.status is Status.OPTIMAL:
                slack = ROUNDING * max(1.0, abs(solution.bound))
                found[index] = max(int(found[index]), math.ceil(solution.bound - slack))
            if found[index] > upper[index]:
                return None
        return found
