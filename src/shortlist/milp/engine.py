"""Session around a solver, which checks every input and every answer.

A solver's loop seldom returns to Python, and Python runs its signal handlers only in the main thread. So the
solver runs in a worker thread without the interpreter's lock, while the caller's thread waits. The caller's
thread receives the bounds that the solver posts, checks the cancellation, and reacts to Ctrl-C at once.
"""

import contextlib
import math
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

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
    OnBound,
    Post,
    Solution,
    SolverEngine,
    checked_solution,
    is_answer,
)
from shortlist.milp.whole_rows import tells_apart
from shortlist.results.proof import Status
from shortlist.runs.budget import seconds_now
from shortlist.runs.cancellation import Cancellation

Watched = TypeVar("Watched")

Loader: TypeAlias = Callable[[Program, Costs], SolverEngine]
"""Function that returns an engine with a program and its costs."""

POLL_S = 0.05


@dataclass(frozen=True)
class Patience:
    """Seconds of waiting for a solver that does not stop.

    `late_s`: seconds after its limit at which a running solver is ordered to stop. `told_s`: seconds that a
    solver may still run after the first order to stop; SCIP sometimes checks neither clock nor flag for
    minutes.
    """

    late_s: float = 1.0
    told_s: float = 10.0


PATIENCE = Patience()


class NotStoppedError(Exception):
    """Error about a solver that did not stop on order, and was abandoned in its thread."""


class CheckedSession:
    """:class:`~shortlist.milp.solution.Session` over any engine, which checks input and output.

    The engine runs in a thread of its own (:func:`run_watched`). A session is for one thread at a time;
    different sessions are independent.

    The engine's tolerance may hide one unit in sums of integers of a row, or of the costs
    (:func:`shortlist.milp.whole_rows.tells_apart`). CP-SAT then solves the program, in integers. If CP-SAT
    cannot hold the program either, the claim is lowered, with the limit "size". `tolerance`: largest distance
    from an integer or a limit that the engine accepts, 0 if its arithmetic is exact. `load_exactly`: loads a
    program into CP-SAT.
    """

    def __init__(
        self,
        program: Program,
        load: Loader,
        *,
        tolerance: float,
        load_exactly: Loader | None = None,
        patience: Patience = PATIENCE,
    ) -> None:
        self._current = CurrentProgram(program)
        self._load, self._load_exactly = load, load_exactly
        # by whether it is CP-SAT in place of the requested solver
        self._engines: dict[bool, SolverEngine] = {}
        self._told: dict[bool, float] = {}
        self._tolerance, self._patience = tolerance, patience
        if not tolerance or tells_apart(self._current.size, tolerance):
            self._engine(handed_over=False)

    def set_costs(self, costs: ArrayLike) -> None:
        """Set the costs: minimise ``costs @ x``, ``(n_columns,)``, from now on."""
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
        """Admit only solutions that cost at most `cutoff`; None removes this limit."""
        self._current.set_cutoff(cutoff)

    def set_start(self, values: ArrayLike | None) -> None:
        """Offer a solution as the start of the next solve; an infeasible start does no harm."""
        self._current.set_start(values)

    def solve(
        self,
        limits: Limits = NO_LIMITS,
        *,
        on_bound: OnBound | None = None,
        cancellation: Cancellation | None = None,
    ) -> Solution:
        """Solve the current program."""
        begin = seconds_now()
        claim = self._plain_claim(limits, cancellation)
        handed_over = False
        if claim is None:
            handed_over, decides = self._who_decides()
            try:
                claim = self._claim(handed_over, limits, on_bound if decides else None, cancellation)
            except BadInputError:  # CP-SAT's sums have 64 bits, those of idle rows too
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
        """Return the engine requested, or CP-SAT in its place, with the current program."""
        if handed_over not in self._engines:
            load = self._load_exactly if handed_over and self._load_exactly else self._load
            program = without_empty_intervals(self._current.program)
            self._engines[handed_over] = load(program, self._current.costs)
        return self._engines[handed_over]

    def _who_decides(self) -> tuple[bool, bool]:
        """Return whether CP-SAT solves the program, and whether the claims of the chosen solver count."""
        size = self._current.size
        if tells_apart(size, self._tolerance):
            return False, True
        if not self._tolerance or self._load_exactly is None:
            return False, False
        try:
            self._engine(handed_over=True)
        except BadInputError:  # continuous or unbounded columns, or rows without decimals
            return False, False
        return True, True

    def _or_start(self, claim: Claim) -> Claim:
        """Return the claim, with the offered start as its solution if a limit left nothing better."""
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
        """Run an engine; an engine that does not stop is abandoned, and loaded anew for the next solve."""
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
        """Check whether a program that is called unbounded has a solution at all."""
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


def _possible(change: Change) -> Change:
    which, lower, upper = change
    kept = ~empty_intervals(lower, upper)
    return which[kept], lower[kept], upper[kept]


def _without_columns(current: CurrentProgram) -> Claim:
    program = current.program
    fits = (program.row_lower <= 0).all() and (program.row_upper >= 0).all() and current.cutoff >= 0
    return Claim(Status.OPTIMAL, values=np.zeros(0), bound=0.0) if fits else Claim(Status.INFEASIBLE)


def run_watched(
    run: Callable[[Post], Watched],
    stop: Callable[[], None],
    *,
    seconds: float = math.inf,
    on_bound: OnBound | None = None,
    cancellation: Cancellation | None = None,
    left_alone: Callable[[], object] = lambda: None,
    patience: Patience = PATIENCE,
    clock: Callable[[], float] = seconds_now,
) -> Watched:
    """Return ``run(post)``, computed in another thread.

    `on_bound` is called in this thread, whenever the objective or the bound improves. `stop` is called,
    repeatedly, once the cancellation is set or an exception (KeyboardInterrupt included) is raised here; the
    exception continues when the solver has stopped. An exception in `run` is raised here. A solver knows its
    own limit, `seconds` on `clock`. It is ordered to stop if it runs later than `patience` allows.

    Raises NotStoppedError if the solver runs for longer than `patience` allows after the first order to
    stop. `left_alone` is then called first, as the abandoned thread may still use the solver's data.
    """
    inbox: queue.SimpleQueue[tuple[float, float]] = queue.SimpleQueue()
    results: list[Watched] = []
    failures: list[BaseException] = []
    wake = (math.nan, math.nan)

    def work() -> None:
        try:
            results.append(run(lambda objective, bound: inbox.put((objective, bound))))
        except BaseException as error:  # noqa: BLE001  # raised again in the waiting thread
            failures.append(error)
        finally:
            inbox.put(wake)

    worker = threading.Thread(target=work, daemon=True)
    tell = _Stop(stop, left_alone, patience.told_s)
    deadline = clock() + seconds + patience.late_s
    worker.start()
    best, bound = math.inf, -math.inf
    try:
        while not results and not failures:
            if clock() > deadline or (cancellation is not None and cancellation.cancelled):
                tell()
            try:
                news = inbox.get(timeout=POLL_S)
            except queue.Empty:
                continue
            better = (min(best, _or(news[0], math.inf)), max(bound, _or(news[1], -math.inf)))
            if better != (best, bound) and on_bound is not None:
                best, bound = better
                on_bound(best if math.isfinite(best) else math.nan, bound)
        worker.join()
    except NotStoppedError:
        raise
    except BaseException:
        tell.until_over(worker)
        raise
    if failures:
        raise failures[0]
    return results[0]


class _Stop:
    def __init__(self, stop: Callable[[], None], left_alone: Callable[[], object], told_s: float) -> None:
        self._stop, self._left_alone, self._told_s = stop, left_alone, told_s
        self._first = math.inf

    def __call__(self) -> None:
        now = seconds_now()
        self._first = min(self._first, now)
        self._stop()
        if now - self._first > self._told_s:
            self._left_alone()
            raise NotStoppedError

    def until_over(self, worker: threading.Thread) -> None:
        with contextlib.suppress(NotStoppedError):
            while worker.is_alive():
                self()
                worker.join(POLL_S)


def _or(value: float, default: float) -> float:
    return default if math.isnan(value) else value
