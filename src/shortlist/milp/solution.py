"""Solution of a solve, and the check that trusts nothing."""

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
"""A row with fractions may miss its limit by this much, relative to its terms: doubles cannot do better."""

CONTRADICTION = 1e-4
"""With fractional costs, a bound above a verified answer by more than this, relative to the terms, is an
error.
"""

Post: TypeAlias = Callable[[float, float], None]
"""Tells the waiting thread (objective or NaN or inf, bound or -inf); cheap, callable from any thread."""

OnBound: TypeAlias = Callable[[float, float], None]
"""Called during a solve with (objective of the incumbent or NaN, bound), both to minimise."""


@dataclass(frozen=True)
class Limits:
    """Limits that end a solve.

    Parameters
    ----------
    seconds : float, default=inf
        Limit of one solve; 0 stops at once.
    nodes : int or None, default=None
        Limit on the search that does not depend on the clock: thousandths of deterministic time for
        CP-SAT, branch-and-bound nodes for the others.
    absolute_gap : float, default=0
        Stop when the objective is this near to the bound. With integer objective values 1 - 1e-6 still proves
        the optimum.
    clock : callable, default=seconds_now
        What `seconds` are of. On another clock the solver knows no limit, and is told to stop when it is
        over.

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
        """Return these limits, shortened to what is left of a budget."""
        return replace(self, seconds=min(self.seconds, budget.left))


NO_LIMITS = Limits()
"""A solve goes on until it is proved."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The answer of one solve; everything is to minimise.

    Attributes
    ----------
    status : Status
        OPTIMAL means within the absolute gap of the limits (and 1e-6, if costs are not integers).
    values : ndarray of float, shape (n_columns,), or None
        The columns, integer ones exactly integer; None without an answer.
    objective : float
        Cost of `values`, computed from them and not by the solver; NaN without an answer.
    bound : float
        The solver says that no solution of the program, cutoff included, costs less; -inf if unknown, inf if
        infeasible. It is an integer if every cost is one and belongs to an integer column.
    seconds : float
        Wall-clock time of this solve.
    nodes : int
        Branch-and-bound nodes of this solve, as the solver counts them.
    limit : str
        Why the claim is not stronger, or "" if nothing stopped the solve. "seconds", "nodes" and
        "interrupted" are limits; with "solver" the solver gave up by itself; with "precision" the answer
        failed the check and was dropped; with "size" the numbers are so large that no solver can tell
        neighbouring sums apart.
    handed_over : bool
        Whether CP-SAT solved it, because the numbers are too large for the session's solver.
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
    """Claim of a solver; without its objective value, which is always recomputed.

    `status`: its verdict, in our words; UNBOUNDED also when it cannot tell unbounded from infeasible.
    `values`: its best solution, ``(n_columns,)``. `bound`: its bound on the objective; -inf when it has none.
    `nodes`: nodes it searched. `limit`: as in :class:`Solution`.
    """

    status: Status
    values: NDArray[np.float64] | None = None
    bound: float = -math.inf
    nodes: int = 0
    limit: str = ""

    def lowered(self) -> "Claim":
        """Return the weaker claim that holds where numbers are too large for the solver."""
        if self.status is Status.UNBOUNDED:
            return self
        status = Status.UNKNOWN if self.values is None else Status.FEASIBLE
        return replace(self, status=status, bound=-math.inf, limit=self.limit or "size")


def largest_violation(program: Program, values: NDArray[np.float64]) -> float:
    """Return by how much `values` misses a row or a bound at most.

    A row of integer coefficients at integer columns is measured as it is, which is exact below 2^53. In any
    other row the miss is relative to the size of its terms (at least 1).
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
    """Tell whether `values` keeps the rows, bounds, integrality and cutoff of the current program."""
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
    """Tell whether `values` is an answer without any tolerance, its cost added up in fractions.

    What misses a row or the cutoff by a rounding error does not contradict a solver that computes exactly.
    """
    if not is_answer(current, values) or largest_violation(current.program, values) > 0:
        return False
    charged = np.flatnonzero(current.costs * values)
    terms = zip(current.costs[charged].tolist(), values[charged].tolist(), strict=True)
    return sum(Fraction(cost) * Fraction(value) for cost, value in terms) <= current.tight_cutoff


def checked_solution(
    current: CurrentProgram, claim: Claim, limits: Limits, *, seconds: float = 0.0
) -> Solution:
    """Turn a solver's claim into a solution that the data supports.

    Integer columns are rounded and continuous ones moved into their bounds; then rows, bounds and cutoff are
    checked on the program and the objective is computed anew. Values that fail are dropped, and the status
    falls to UNKNOWN with the limit "precision": a rounded column with a huge coefficient can do that to an
    honest solver. The status follows from the numbers: OPTIMAL if and only if the verified objective is
    within the absolute gap of the bound. The bound itself and the verdict INFEASIBLE are the solver's word,
    and cannot be checked but by contradiction.

    Raises SolverError if the bound exceeds the objective of a verified answer, or the program is called
    infeasible although the offered start satisfies it, without any tolerance: then nothing that the solver
    says can be used.
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
    return np.where(program.integer, np.rint(values), inside) + 0.0  # no negative zeros


def _bound(current: CurrentProgram, bound: float) -> float:
    """Raise a bound to the next integer when the objective can be nothing else."""
    if math.isnan(bound):
        return -math.inf
    if not current.integral_costs or not math.isfinite(bound):
        return bound
    return float(math.ceil((bound - _bound_error(bound)) / current.step) * current.step)


def _bound_error(bound: float) -> float:
    """Return the tolerance on a bound on integers: the rule of sizes keeps it below a half."""
    return 1e-6 + min(1e-9 * abs(bound), 0.25)


class Session(Protocol):
    """One program in a solver's memory.

    Rows and columns are numbered as in the program; costs are to minimise.
    """

    def set_costs(self, costs: ArrayLike) -> None:
        """Minimise ``costs @ x`` from now on, shape (n_columns,)."""

    def set_column_bounds(self, columns: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Replace the bounds of `columns`."""

    def set_row_bounds(self, rows: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Replace the limits of `rows`."""

    def set_cutoff(self, cutoff: float | None) -> None:
        """Look only for solutions that cost at most `cutoff`; None removes this limit."""

    def set_start(self, values: ArrayLike | None) -> None:
        """Offer a solution to start the next solve from; an infeasible one does no harm."""

    def solve(
        self,
        limits: Limits = NO_LIMITS,
        *,
        on_bound: OnBound | None = None,
        cancellation: Cancellation | None = None,
    ) -> Solution:
        """Solve as the model now stands.

        A cancellation stops it within about a second, with the best solution found. `on_bound` is called in
        the caller's thread whenever objective or bound has improved, and once more at the end. In the main
        thread Ctrl-C interrupts it.

        Raises
        ------
        SolverError
            If the solver fails, or contradicts itself.
        """


class Solver(Protocol):
    """A backend. `seed` and `threads` are fixed per session; one thread is deterministic under node limits.

    `tolerance` is the largest distance from an integer or a limit that it accepts; 0 if its arithmetic is
    exact.
    """

    name: str
    handles_continuous: bool
    tolerance: float

    def open(self, program: Program, *, seed: int = 0, threads: int = 1) -> Session:
        """Load `program`; its first objective, if any, gives the costs."""


class SolverEngine(Protocol):
    """One program in a solver's memory, fed with checked arrays; it may be changed only between runs."""

    def change_costs(self, costs: Costs) -> None:
        """Minimise ``costs @ x`` from now on."""

    def change_column_bounds(self, change: Change) -> None:
        """Replace bounds of columns; none is empty."""

    def change_row_bounds(self, change: Change) -> None:
        """Replace limits of rows; none is empty."""

    def change_cutoff(self, cutoff: float) -> None:
        """Admit only solutions that cost at most `cutoff`, inf for all."""

    def offer_start(self, values: NDArray[np.float64]) -> None:
        """Start the next run from `values`, which are a solution."""

    def run(self, limits: Limits, post: Post, *, size: float) -> Claim:
        """Solve, in a thread that is not the caller's, posting objectives and bounds on the way.

        `size` is the largest sum of integers to be told from the next.
        """

    def stop(self) -> None:
        """Make the run end soon; called from another thread, perhaps early, late or more than once."""
