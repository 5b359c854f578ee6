"""How far a step of the walk may go: line 9 of Algorithm 3 of :cite:t:`Xue2018`, two linear programs."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.methods.integer.bounded_solves import LimitReachedError
from shortlist.methods.integer.integer_objectives import Vector, integer_objectives
from shortlist.milp.backends.highs_linear import LinearProgram
from shortlist.milp.program import Program
from shortlist.milp.whole_rows import FINEST_TOLERANCE, RowSizes, largest_sum, tells_apart, whole_rows
from shortlist.runs.budget import Budget

LENGTH_STEP = 2.0**-20
"""Limits of a jump are multiples of this inside the true ones, in ranges of the anchors.

An optimum of a linear program depends in its last digits on the basis that the solver started from, and on
the machine. What such digits decide is cut off, so that a walk that is repeated takes the same steps. The
largest multiple below the limit is not it: limits are often round numbers, and a last digit would decide.
"""


class JumpLimits:
    """The constraints of a program without integrality, and a line of objective space, in HiGHS's memory.

    The columns are those of the program, and the length l of the jump. One row per objective says that the
    objectives, measured from `origin` in `scales`, are ``place + l * direction``. A step changes the limits
    of these rows, the coefficients of l and its cost; both programs start from the last basis.

    HiGHS whatever solves the integer programs: not every backend takes continuous columns.

    `program`: objectives are exact integers after scaling. `origin`: where objectives are measured from, in
    steps, ``(n_objectives,)``. `scales`: the unit of each objective, in steps, above 0, ``(n_objectives,)``.

    >>> from shortlist.results.objective import Objective
    >>> from shortlist.milp.program import LinearObjective, make_program
    >>> price = LinearObjective(Objective("price"), np.array([1.0, 0.0]))
    >>> weight = LinearObjective(Objective("weight"), np.array([0.0, 1.0]))
    >>> shop = make_program(
    ...     [[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True,
    ...     objectives=[price, weight]
    ... )
    >>> limits = JumpLimits(shop, np.array([0, 0]), np.ones(2), Budget())
    >>> [round(end, 5) for end in limits.between(np.array([0.5, 0.5]), np.array([1.0, 0.0]))]
    [0.0, 0.5]
    """

    def __init__(self, program: Program, origin: Vector, scales: NDArray[np.float64], budget: Budget) -> None:
        integers = integer_objectives(program)
        costs = integers.costs / scales[:, None]
        self._origin = origin / scales
        self._budget = budget
        n, m = program.n_columns, program.n_rows
        size = float((np.abs(costs) @ RowSizes(whole_rows(program)).reach + np.abs(self._origin)).max())
        self._decides = all(tells_apart(each, FINEST_TOLERANCE) for each in (largest_sum(program), size))
        if not self._decides:
            return
        self._costs = np.zeros(n + 1)
        self._linear = LinearProgram(
            self._costs, np.append(program.column_lower, -math.inf), np.append(program.column_upper, math.inf)
        )
        rows = sparse.vstack([program.rows, sparse.csr_array(costs)])
        free = np.full(len(costs), math.inf)
        self._linear.add_matrix(
            sparse.hstack([rows, sparse.csr_array((m + len(costs), 1))], format="csr"),
            np.concatenate([program.row_lower, -free]),
            np.concatenate([program.row_upper, free]),
        )
        self._rows = np.arange(m, m + len(costs))

    def between(self, place: NDArray[np.float64], direction: NDArray[np.float64]) -> tuple[float, float]:
        """Return the least and the greatest l, at most 0 and at least 0, up to :data:`LENGTH_STEP`.

        An end is 0 where its program has no optimum, as in the authors' program, and where the numbers are
        too large for the solver's tolerance.

        Raises LimitReachedError if the budget ends, or is cancelled.
        """
        if not self._decides:
            return 0.0, 0.0
        here = self._origin + place
        self._linear.set_row_bounds(self._rows, here, here)
        self._linear.set_column(len(self._costs) - 1, self._rows, -direction)
        return 0.0 - self._farthest(1.0), self._farthest(-1.0)

    def _farthest(self, cost: float) -> float:
        """Return how far the jump may go, forwards for a cost of -1 and backwards for 1."""
        if self._budget.stopped:
            raise LimitReachedError(self._budget.limit_text)
        self._costs[-1] = cost
        self._linear.set_costs(self._costs)
        solution = self._linear.solve(self._budget)
        if not solution.optimal:
            if self._budget.stopped:
                raise LimitReachedError(self._budget.limit_text)
            return 0.0
        steps = math.floor(-cost * float(solution.values[-1]) / LENGTH_STEP + 0.25) - 1
        return max(0, steps) * LENGTH_STEP
