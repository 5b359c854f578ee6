"""What a backend implements, and the session around it that checks everything it says."""

import math
import time
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays import Costs
from shortlist.front import Status
from shortlist.milp.current import Change, CurrentProgram, empty_intervals, without_empty_intervals
from shortlist.milp.program import Program
from shortlist.milp.solution import Claim, Limits, Solution, checked_solution
from shortlist.milp.watch import OnBound, Post, run_watched
from shortlist.runs.cancellation import Cancellation

NO_LIMITS = Limits()


class Engine(Protocol):
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
        """Start the next run from `values` if they are of use."""

    def run(self, limits: Limits, post: Post) -> Claim:
        """Solve, in a thread that is not the caller's, posting objectives and bounds on the way."""

    def stop(self) -> None:
        """Make the run end soon; called from another thread, perhaps early, late or more than once."""


class CheckedSession:
    """A :class:`~shortlist.milp.session.Session` over any engine: checks what goes in and what comes out.

    The engine runs in a thread of its own (:mod:`shortlist.milp.watch`). A session is for one thread at a time;
    different sessions are independent.
    """

    def __init__(self, program: Program, load: Callable[[Program, Costs], Engine]) -> None:
        self._current = CurrentProgram(program)
        self._engine = load(without_empty_intervals(program), self._current.costs)
        self._told_cutoff = math.inf

    def set_costs(self, costs: ArrayLike) -> None:
        """Minimise ``costs @ x`` from now on, shape (n_columns,)."""
        self._engine.change_costs(self._current.set_costs(costs))

    def set_column_bounds(self, columns: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Replace the bounds of `columns`."""
        self._engine.change_column_bounds(_possible(self._current.set_column_bounds(columns, lower, upper)))

    def set_row_bounds(self, rows: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Replace the limits of `rows`."""
        self._engine.change_row_bounds(_possible(self._current.set_row_bounds(rows, lower, upper)))

    def set_cutoff(self, cutoff: float | None) -> None:
        """Look only for solutions that cost at most `cutoff`; None lifts it."""
        self._current.set_cutoff(cutoff)

    def set_start(self, values: ArrayLike | None) -> None:
        """Offer a solution to start the next solve from; an infeasible one does no harm."""
        self._current.set_start(values)

    def solve(
        self,
        limits: Limits = NO_LIMITS,
        *,
        on_bound: OnBound | None = None,
        cancellation: Cancellation | None = None,
    ) -> Solution:
        """Solve as the model now stands."""
        begin = time.perf_counter()
        claim = self._claim(limits, on_bound, cancellation)
        if claim.status is Status.UNBOUNDED:
            claim = self._really_unbounded(limits, claim, cancellation)
        solution = checked_solution(self._current, claim, limits, seconds=time.perf_counter() - begin)
        self._current.start = None
        if on_bound is not None:
            on_bound(solution.objective, solution.bound)
        return solution

    def _claim(self, limits: Limits, on_bound: OnBound | None, cancellation: Cancellation | None) -> Claim:
        """Let the engine run, unless the answer is plain without it."""
        current = self._current
        if current.empty:
            return Claim(Status.INFEASIBLE)
        if cancellation is not None and cancellation.cancelled:
            return Claim(Status.UNKNOWN, limit="interrupted")
        if limits.seconds == 0:
            return Claim(Status.UNKNOWN, limit="seconds")
        if current.program.n_columns == 0:
            return _without_columns(current)
        if current.tight_cutoff != self._told_cutoff:
            self._told_cutoff = current.tight_cutoff
            self._engine.change_cutoff(self._told_cutoff)
        if current.start is not None:
            self._engine.offer_start(current.start)
        return run_watched(
            lambda post: self._engine.run(limits, post),
            self._engine.stop,
            on_bound=on_bound,
            cancellation=cancellation,
        )

    def _really_unbounded(self, limits: Limits, claim: Claim, cancellation: Cancellation | None) -> Claim:
        """Find out whether a program that is called unbounded has a solution at all."""
        costs = self._current.costs
        self._engine.change_cutoff(math.inf)
        self._engine.change_costs(np.zeros_like(costs))
        try:
            found = run_watched(
                lambda post: self._engine.run(limits, post), self._engine.stop, cancellation=cancellation
            )
        finally:
            self._engine.change_costs(costs)
            self._engine.change_cutoff(self._told_cutoff)
        if found.status in {Status.OPTIMAL, Status.FEASIBLE}:
            return claim
        return Claim(found.status, nodes=claim.nodes + found.nodes, limit=found.limit)


def _possible(change: Change) -> Change:
    """Leave out empty intervals: while there is one, the session answers without the engine."""
    which, lower, upper = change
    kept = ~empty_intervals(lower, upper)
    return which[kept], lower[kept], upper[kept]


def _without_columns(current: CurrentProgram) -> Claim:
    """Answer for a program that has nothing to decide."""
    program = current.program
    fits = (program.row_lower <= 0).all() and (program.row_upper >= 0).all() and current.cutoff >= 0
    return Claim(Status.OPTIMAL, values=np.zeros(0), bound=0.0) if fits else Claim(Status.INFEASIBLE)
