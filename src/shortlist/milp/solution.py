"""What a solve answers, and the check that trusts nothing."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.front import Status, relative_gap
from shortlist.milp.program import Program

FEASIBILITY_TOLERANCE = 1e-6
"""A row may miss its limit by this much, relative to its largest term: doubles cannot do better."""


@dataclass(frozen=True)
class Limits:
    """When to stop.

    Parameters
    ----------
    seconds : float, default=inf
        Wall-clock limit of one solve.
    nodes : int or None, default=None
        Limit on the search that does not depend on the clock: branch-and-bound nodes for HiGHS and SCIP, thousandths
        of deterministic time for CP-SAT.
    absolute_gap : float, default=0
        Stop when the objective is within this of the bound. With integer objective values 1 - 1e-6 loses nothing.
    """

    seconds: float = math.inf
    nodes: int | None = None
    absolute_gap: float = 0.0


@dataclass(frozen=True, eq=False)
class Solution:
    """The answer of one solve; everything is to minimise.

    Attributes
    ----------
    status : Status
        OPTIMAL is within the absolute gap of the limits.
    values : ndarray of float, shape (n_columns,), or None
        The columns, integer ones exactly integer; None without an answer.
    objective : float
        Cost of `values`, computed from them and not by the solver; NaN without an answer.
    bound : float
        No solution costs less (by the solver's word); -inf when unknown, inf when infeasible.
    seconds : float
        Wall-clock time of this solve.
    nodes : int
        Branch-and-bound nodes of this solve, as the solver counts them.
    limit : str
        The limit that was hit: "seconds", "nodes", "interrupted" or "".
    """

    status: Status
    values: NDArray[np.float64] | None
    objective: float
    bound: float
    seconds: float
    nodes: int = 0
    limit: str = ""

    @property
    def gap(self) -> float:
        """Relative distance of the objective to the bound; NaN without an answer."""
        return math.nan if self.values is None else relative_gap(self.objective, self.bound)


def largest_violation(program: Program, values: NDArray[np.float64]) -> float:
    """Return by how much `values` misses a row or bound at most, relative to the size of its terms (at least 1)."""
    activity = program.rows @ values
    size = np.maximum(1.0, abs(program.rows) @ np.abs(values))
    misses = np.concatenate(
        [
            np.maximum(program.row_lower - activity, activity - program.row_upper) / size,
            np.maximum(program.column_lower - values, values - program.column_upper),
        ]
    )
    return float(max(0.0, misses.max(initial=0.0)))
