"""Solution of a solve, and an independent check of it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays import Costs
from shortlist.errors import BadInputError, SolverError
from shortlist.milp.current import Change, CurrentProgram
from shortlist.milp.program import Program
from shortlist.results.proof import Status, relative_gap
from shortlist.runs.budget import Budget, seconds_now
from shortlist.runs.cancellation import Cancellation

FEASIBILITY_TOLERANCE = 1e-6
"""Tolerance on the limits of a row with fractions, relative to its terms: doubles cannot do better."""

CONTRADICTION = 1e-4
"""Relative excess of a bound over the cost of a verified answer that counts as an error, if costs are
fractional.
"""

Post: TypeAlias = Callable[[float, float], None]
"""Function that sends (objective or NaN or inf, bound or -inf) to the waiting thread; cheap, callable from
any thread.
"""

OnBound: TypeAlias = Callable[[float, float], None]
"""Function called during a solve with (objective of the incumbent or NaN, bound), both to minimise."""


@dataclass(frozen=True)
class Limits:
    """Limits that end a solve.

    Parameters
    ----------
    seconds : float, default=inf
        Limit of one solve; 0 stops at once.
    nodes : int or None, default=None
        Limit of the search, independent of the clock: thousandths of deterministic time for CP-SAT,
        branch-and-bound nodes for other solvers.
    absolute_gap : float, default=0
        Gap to the bound at which the solve stops. With integer objective values 1 - 1e-6 still proves
        the optimum.
    clock : callable, default=seconds_now
        Clock of `seconds`. On another clock the solver has no limit, and is ordered to stop when time
        is up.

    Raises
    ------
    BadInputError
        If a limit is negative or NaN.
    """

    seconds: float = math.inf
    nodes: int | None = None
    absolute_gap: float = 0.0
    clock: Callable[[], float] = seconds_now

    def __post_init__(self) -> None:
        for name in ("seconds", "absolute_gap", "nodes"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise BadInputError(name, "must be at least 0", value)

    def within(self, budget: Budget) -> "Limits":
        """Return these limits, shortened to the rest of a budget."""
        return replace(self, seconds=min(self.seconds, budget.left))


NO_LIMITS = Limits()
"""No limits: a solve continues until it is proved."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Answer of one solve, all values to minimise.

    Attributes
    ----------
    status : Status
        OPTIMAL means within the absolute gap of the limits (and 1e-6, if costs are not integers).
    values : ndarray of float, shape (n_columns,), or None
        The columns, integer ones exactly integer; None without an answer.
    objective : float
        Cost of `values`, computed from them and not by the solver; NaN without an answer.
    bound : float
        Solver's lower bound on the cost of all solutions, cutoff included; -inf if unknown, inf if
        infeasible. The bound is an integer if every cost is an integer and belongs to an integer column.
    seconds : float
        Wall-clock time of this solve.
    nodes : int
        Number of branch-and-bound nodes, as the solver counts them.
    limit : str
        Reason for a weaker claim, or "" if nothing stopped the solve. "seconds", "nodes" and
        "interrupted" are limits; with "solver" the solver gave up by itself; with "precision" the answer
        failed the check and was dropped; with "size" the numbers are too large for a solver to resolve
        one unit of a sum.
    handed_over : bool
        Whether CP-SAT solved the program, because the numbers are too large for the session's solver.
    """

    status: Status
    values: NDArray[np.float64] | None
    objective: float
    bound: float
    seconds: float
    nodes: int = 0
    limit: str = ""
    handed_over: bool = False

    @property
    def gap(self) -> float:
        """Relative distance of the objective to the bound; NaN without an answer."""
        return math.nan if self.values is None else relative_gap(self.objective, self.bound)


@dataclass(frozen=True, eq=False)
class Claim:
    """Claim of a solver; the objective value is always recomputed.

    `status`: verdict; UNBOUNDED means unbounded or infeasible. `values`: best solution, ``(n_columns,)``.
    `bound`: bound on the objective; -inf without one. `nodes`: number of nodes. `limit`: as in
    :class:`Solution`.
    """

    status: Status
    values: NDArray[np.float64] | None = None
    bound: float = -math.inf
    nodes: int = 0
    limit: str = ""

    def lowered(self) -> "Claim":
        """Return the weaker claim that holds for numbers too large for the solver."""
        if self.status is Status.UNBOUNDED:
            return self
        status = Status.UNKNOWN if self.values is None else Status.FEASIBLE
        return replace(self, status=status, bound=-math.inf, limit=self.limit or "size")


def largest_violation(program: Program, values: NDArray[np.float64]) -> float:
    """Return the largest amount by which `values` misses a row or a bound.

    A row of integer coefficients at integer columns is measured in absolute terms, which is exact below
    2^53. In any other row the amount is relative to the size of its terms (at least 1).
    """
    activity = program.rows @ values
    size = np.maximum(1.0, abs(program.rows) @ np.abs(values))
    size[program.integral_rows()] = 1.0
    misses = np.concatenate(
        [
            np.maximum(program.row_lower - activity, activity - program.row_upper) / size,
            np.maximum(program.column_lower - values, values - program.column_upper),
        ]
    )
    return float(max(0.0, misses.max(initial=0.0)))


def is_answer(current: CurrentProgram, values: NDArray[np.float64]) -> bool:
    """Return whether `values` meets the rows, bounds, integrality and cutoff of the current program."""
    program = current.program
    if values.shape != (program.n_columns,) or not np.isfinite(values).all():
        return False
    if (values[program.integer] != np.rint(values[program.integer])).any():
        return False
    slack = 0.0 if current.integral_costs else FEASIBILITY_TOLERANCE * current.cost_size(values)
    return (
        largest_violation(program, values) <= FEASIBILITY_TOLERANCE
        and current.objective(values) <= current.tight_cutoff + slack
    )


def _is_answer_beyond_doubt(current: CurrentProgram, values: NDArray[np.float64]) -> bool:
    """Return whether `values` is an answer without any tolerance, with its cost summed in fractions.

    A miss of a row or the cutoff by a rounding error does not contradict an exact solver.
    """
    if not is_answer(current, values) or largest_violation(current.program, values) > 0:
        return False
    charged = np.flatnonzero(current.costs * values)
    terms = zip(current.costs[charged].tolist(), values[charged].tolist(), strict=True)
    return sum(Fraction(cost) * Fraction(value) for cost, value in terms) <= current.tight_cutoff


def checked_solution(
    current: CurrentProgram, claim: Claim, limits: Limits, *, seconds: float = 0.0
) -> Solution:
    """Convert a solver's claim to a solution that the data supports.

    Integer columns are rounded, and continuous columns are moved into their bounds. Then rows, bounds and
    cutoff are checked on the program and the objective is recomputed. Values that fail are dropped, and the
    status falls to UNKNOWN with the limit "precision": a rounded column with a huge coefficient can cause
    this even with a correct solver. The status follows from the numbers: OPTIMAL if and only if the verified
    objective is within the absolute gap of the bound. The bound itself and the verdict INFEASIBLE are taken
    from the solver; only a contradiction disproves the two.

    Raises SolverError if the bound exceeds the objective of a verified answer, or the program is called
    infeasible although the offered start satisfies it, without any tolerance: no claim of the solver can
    then be used.
    """
    bound = _bound(current, claim.bound)
    nothing = Solution(
        claim.status, None, math.nan, bound, seconds=seconds, nodes=claim.nodes, limit=claim.limit
    )
    if claim.status is Status.INFEASIBLE:
        if current.start is not None and _is_answer_beyond_doubt(current, current.start):
            raise SolverError(
                "the solver says that nothing satisfies the program, but the given start does. Use another "
                "solver."
            )
        return replace(nothing, bound=math.inf, limit="")
    if claim.status is Status.UNBOUNDED:
        return replace(nothing, bound=-math.inf, limit="")
    if claim.values is None:
        return replace(nothing, status=Status.UNKNOWN, limit=claim.limit or "solver")
    values = _tidied(current.program, claim.values)
    if not is_answer(current, values):
        limit = "size" if claim.limit == "size" else "precision"
        return replace(nothing, status=Status.UNKNOWN, limit=limit)
    objective, size = current.objective(values), current.cost_size(values)
    allowed = _bound_error(objective) if current.integral_costs else CONTRADICTION * size
    if claim.bound - objective > allowed:
        raise SolverError(
            f"the solver says that nothing costs less than {claim.bound}, but its own answer costs "
            f"{objective}. Use another solver."
        )
    bound = min(bound, objective)
    slack = 0.0 if current.integral_costs else FEASIBILITY_TOLERANCE * size
    proved = objective - bound <= limits.absolute_gap + slack
    return Solution(
        status=Status.OPTIMAL if proved else Status.FEASIBLE,
        values=values,
        objective=objective,
        bound=bound,
        seconds=seconds,
        nodes=claim.nodes,
        limit="" if proved else claim.limit or "precision",
    )


def _tidied(program: Program, values: NDArray[np.float64]) -> NDArray[np.float64]:
    if values.shape != (program.n_columns,):
        return values
    inside = np.clip(values, program.column_lower, program.column_upper)
    return np.where(program.integer, np.rint(values), inside) + 0.0  # adding 0 removes negative zeros


def _bound(current: CurrentProgram, bound: float) -> float:
    """Raise a bound to the next possible value of an integer objective."""
    if math.isnan(bound):
        return -math.inf
    if not current.integral_costs or not math.isfinite(bound):
        return bound
    return float(math.ceil((bound - _bound_error(bound)) / current.step) * current.step)


def _bound_error(bound: float) -> float:
    """Return the tolerance on a bound on integers; the rule on sizes keeps it below a half."""
    return 1e-6 + min(1e-9 * abs(bound), 0.25)


class Session(Protocol):
    """One program in a solver's memory.

    Rows and columns are numbered as in the program; costs are minimised.
    """

    def set_costs(self, costs: ArrayLike) -> None:
        """Set the costs: minimise ``costs @ x``, ``(n_columns,)``, from now on."""

    def set_column_bounds(self, columns: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Replace the bounds of `columns`."""

    def set_row_bounds(self, rows: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Replace the limits of `rows`."""

    def set_cutoff(self, cutoff: float | None) -> None:
        """Admit only solutions that cost at most `cutoff`; None removes this limit."""

    def set_start(self, values: ArrayLike | None) -> None:
        """Offer a solution as the start of the next solve; an infeasible start does no harm."""

    def solve(
        self,
        limits: Limits = NO_LIMITS,
        *,
        on_bound: OnBound | None = None,
        cancellation: Cancellation | None = None,
    ) -> Solution:
        """Solve the current program.

        A cancellation stops the solve within about a second, with the best solution found. `on_bound` is
        called in the caller's thread after improvements of the objective or the bound, and once more at the
        end. In the main thread Ctrl-C interrupts the solve.

        Raises
        ------
        SolverError
            If the solver fails, or contradicts itself.
        """


class Solver(Protocol):
    """Backend; `seed` and `threads` are fixed per session. One thread is deterministic under node limits.

    `tolerance`: largest accepted distance from an integer or a limit; 0 if the arithmetic is exact.
    """

    name: str
    handles_continuous: bool
    tolerance: float

    def open(self, program: Program, *, seed: int = 0, threads: int = 1) -> Session:
        """Load `program`; its first objective, if any, gives the costs."""


class SolverEngine(Protocol):
    """Program in a solver's memory, with checked arrays as input; it may be changed only between runs."""

    def change_costs(self, costs: Costs) -> None:
        """Replace the costs: minimise ``costs @ x`` from now on."""

    def change_column_bounds(self, change: Change) -> None:
        """Replace bounds of columns; no interval is empty."""

    def change_row_bounds(self, change: Change) -> None:
        """Replace limits of rows; no interval is empty."""

    def change_cutoff(self, cutoff: float) -> None:
        """Admit only solutions that cost at most `cutoff`; inf admits all."""

    def offer_start(self, values: NDArray[np.float64]) -> None:
        """Start the next run from the solution `values`."""

    def run(self, limits: Limits, post: Post, *, size: float) -> Claim:
        """Solve in another thread than the caller's, and post objectives and bounds during the run.

        `size`: largest sum of integers; the solver must tell it from the sum one unit lower.
        """

    def stop(self) -> None:
        """Make the run end soon; called from another thread, perhaps early, late or more than once."""
