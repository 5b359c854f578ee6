"""The session around a solver: it checks every input and every answer."""

import functools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from shortlist.arrays import Costs
from shortlist.errors import BadInputError
from shortlist.milp.current import Change, CurrentProgram, empty_intervals, without_empty_intervals
from shortlist.milp.program import Program
from shortlist.milp.solution import (
    NO_LIMITS,
    Claim,
    Limits,
    Solution,
    SolverEngine,
    checked_solution,
    is_answer,
)
from shortlist.milp.watch import PATIENCE, NotStoppedError, OnBound, Patience, run_watched
from shortlist.milp.whole_rows import tells_apart
from shortlist.results.proof import Status
from shortlist.runs.budget import seconds_now
from shortlist.runs.cancellation import Cancellation


class CheckedSession:
    """A :class:`~shortlist.milp.solution.Session` over any engine: checks what goes in and what comes out.

    The engine runs in a thread of its own (:mod:`shortlist.milp.watch`). A session is for one thread at a
    time; different sessions are independent.

    Where the sums of integers in a row, or in the costs, are so large that the engine's tolerance hides the
    next integer (:func:`shortlist.milp.whole_rows.tells_apart`), CP-SAT solves the program, in integers.
    Where it cannot hold the program either, the claim is lowered, with the limit "size". `tolerance` is by
    how much the engine may miss an integer or a limit, 0 if its arithmetic is exact.
    """

    def __init__(
        self,
        program: Program,
        load: Callable[[Program, Costs], SolverEngine],
        *,
        tolerance: float,
        seed: int = 0,
        threads: int = 1,
        patience: Patience = PATIENCE,
    ) -> None:
        self._current = CurrentProgram(program)
        exact = functools.partial(_exact_engine, seed=seed, threads=threads)
        self._loaders: dict[bool, Callable[[Program, Costs], SolverEngine]] = {False: load, True: exact}
        self._engines: dict[
            bool, SolverEngine
        ] = {}  # by whether it is CP-SAT in place of the solver asked for
        self._told: dict[bool, float] = {}
        self._tolerance, self._patience = tolerance, patience
        if not tolerance or tells_apart(self._current.size, tolerance):
            self._engine(handed_over=False)

    def set_costs(self, costs: ArrayLike) -> None:
        """Minimise ``costs @ x`` from now on, shape (n_columns,)."""
        new = self._current.set_costs(costs)
        for engine in self._engines.values():
            engine.change_costs(new)

    def set_column_bounds(self, columns: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Replace the bounds of `columns`."""
        change = _possible(self._current.set_column_bounds(columns, lower, upper))
        for engine in self._engines.values():
            engine.change_column_bounds(change)

    def set_row_bounds(self, rows: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Replace the limits of `rows`."""
        change = _possible(self._current.set_row_bounds(rows, lower, upper))
        for engine in self._engines.values():
            engine.change_row_bounds(change)

    def set_cutoff(self, cutoff: float | None) -> None:
        """Look only for solutions that cost at most `cutoff`; None removes this limit."""
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
        begin = seconds_now()
        claim = self._plain_claim(limits, cancellation)
        handed_over = False
        if claim is None:
            handed_over, decides = self._who_decides()
            try:
                claim = self._claim(handed_over, limits, on_bound if decides else None, cancellation)
            except BadInputError:  # CP-SAT's sums are of 64 bits, idle rows included
                if not handed_over:
                    raise
                claim = Claim(Status.UNKNOWN, limit="size")
            if claim.status is Status.UNBOUNDED:
                claim = self._really_unbounded(handed_over, limits, claim, cancellation)
            if not decides:
                claim = claim.lowered()
        claim = self._or_start(claim)
        solution = checked_solution(self._current, claim, limits, seconds=seconds_now() - begin)
        solution = replace(solution, handed_over=handed_over)
        self._current.start = None
        if on_bound is not None:
            on_bound(solution.objective, solution.bound)
        return solution

    def _engine(self, *, handed_over: bool) -> SolverEngine:
        """Return the engine asked for, or CP-SAT in its place, with the program as it stands."""
        if handed_over not in self._engines:
            program = without_empty_intervals(self._current.program)
            self._engines[handed_over] = self._loaders[handed_over](program, self._current.costs)
        return self._engines[handed_over]

    def _who_decides(self) -> tuple[bool, bool]:
        """Return whether the program goes to CP-SAT, and whether the claims of who has it count."""
        size = self._current.size
        if tells_apart(size, self._tolerance):
            return False, True
        if not self._tolerance:
            return False, False
        try:
            self._engine(handed_over=True)
        except BadInputError:  # continuous columns, columns without bounds, or rows of no decimals
            return False, False
        return True, True

    def _or_start(self, claim: Claim) -> Claim:
        """Return the offered start as the solution where a limit left nothing better."""
        current, start = self._current, self._current.start
        if start is None or claim.status not in {Status.UNKNOWN, Status.FEASIBLE}:
            return claim
        if not is_answer(current, start):
            return claim
        values = claim.values
        if values is not None and current.objective(values) <= current.objective(start):
            return claim
        return replace(claim, status=Status.FEASIBLE, values=start)

    def _plain_claim(self, limits: Limits, cancellation: Cancellation | None) -> Claim | None:
        current = self._current
        if current.empty:
            return Claim(Status.INFEASIBLE)
        if cancellation is not None and cancellation.cancelled:
            return Claim(Status.UNKNOWN, limit="interrupted")
        if limits.seconds == 0:
            return Claim(Status.UNKNOWN, limit="seconds")
        if current.program.n_columns == 0:
            return _without_columns(current)
        return None if tells_apart(current.size, 0.0) else Claim(Status.UNKNOWN, limit="size")

    def _claim(
        self, handed_over: bool, limits: Limits, on_bound: OnBound | None, cancellation: Cancellation | None
    ) -> Claim:
        current, engine = self._current, self._engine(handed_over=handed_over)
        if current.tight_cutoff != self._told.get(handed_over, math.inf):
            self._told[handed_over] = current.tight_cutoff
            engine.change_cutoff(current.tight_cutoff)
        if current.start is not None and is_answer(current, current.start):
            engine.offer_start(current.start)
        return self._run(handed_over, limits, on_bound, cancellation)

    def _run(
        self, handed_over: bool, limits: Limits, on_bound: OnBound | None, cancellation: Cancellation | None
    ) -> Claim:
        """Let an engine run; one that does not stop is left alone, and loaded afresh for the next solve."""
        engine = self._engine(handed_over=handed_over)
        own = limits.clock is seconds_now
        told = limits if own else replace(limits, seconds=math.inf)

        def left_alone() -> None:
            self._engines.pop(handed_over)
            self._told.pop(handed_over, None)

        try:
            claim = run_watched(
                lambda post: engine.run(told, post, size=self._current.size),
                engine.stop,
                seconds=limits.seconds,
                on_bound=on_bound,
                cancellation=cancellation,
                left_alone=left_alone,
                patience=self._patience if own else replace(self._patience, late_s=0.0),
                clock=limits.clock,
            )
        except NotStoppedError:
            claim = Claim(Status.UNKNOWN, limit="interrupted")
        stopped = cancellation is not None and cancellation.cancelled
        late = claim.limit == "interrupted" and math.isfinite(limits.seconds) and not stopped
        return replace(claim, limit="seconds") if late else claim

    def _really_unbounded(
        self, handed_over: bool, limits: Limits, claim: Claim, cancellation: Cancellation | None
    ) -> Claim:
        """Find out whether a program that is called unbounded has a solution at all."""
        costs, engine = self._current.costs, self._engine(handed_over=handed_over)
        engine.change_cutoff(math.inf)
        engine.change_costs(np.zeros_like(costs))
        try:
            found = self._run(handed_over, limits, None, cancellation)
        finally:
            if handed_over in self._engines:
                engine.change_costs(costs)
                engine.change_cutoff(self._told.get(handed_over, math.inf))
        if found.status in {Status.OPTIMAL, Status.FEASIBLE}:
            return claim
        return Claim(found.status, nodes=claim.nodes + found.nodes, limit=found.limit)


def _exact_engine(program: Program, costs: Costs, *, seed: int, threads: int) -> SolverEngine:
    """Load a program into CP-SAT, which is imported only now."""
    from shortlist.milp.backends.cpsat_engine import exact_engine

    return exact_engine(program, costs, seed=seed, threads=threads)


def _possible(change: Change) -> Change:
    which, lower, upper = change
    kept = ~empty_intervals(lower, upper)
    return which[kept], lower[kept], upper[kept]


def _without_columns(current: CurrentProgram) -> Claim:
    program = current.program
    fits = (program.row_lower <= 0).all() and (program.row_upper >= 0).all() and current.cutoff >= 0
    return Claim(Status.OPTIMAL, values=np.zeros(0), bound=0.0) if fits else Claim(Status.INFEASIBLE)
