"""Independent units of work, run by one or many workers.

Each result is recorded at the end of its unit, and results are yielded in the order of the units.
"""

import contextlib
import dataclasses
import functools
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, TypeAlias

from shortlist.runs.budget import Budget, Progress, Report, silent
from shortlist.runs.cancellation import Cancellation, undisturbed
from shortlist.runs.study import NO_STUDY, Finished, StageNote, Study
from shortlist.runs.workers import (
    Completed,
    Unit,
    Where,
    as_where,
    in_context,
    in_processes,
    one_by_one,
)


@dataclass(frozen=True)
class Workers:
    """Runner of units, opened by :func:`open_workers`."""

    n_workers: int
    """Number of units that run at a time."""
    completed: Callable[[Sequence[Unit], Cancellation], Iterator[Completed]]
    """Function of units and a cancellation that yields the result of each unit, in the order in which they
    end. Calls and arguments must pickle unless they run in this process. An error of a unit is part of its
    :class:`Completed`; a :class:`~shortlist.errors.WorkerError` is raised if a unit cannot be sent, or no
    worker is left. Once the cancellation is set, no further unit starts, and the iteration ends with the
    running units. Copies of the cancellation in the arguments of a unit are set too, wherever the unit runs;
    units without partial results are abandoned a few seconds later.
    """


@contextlib.contextmanager
def open_workers(where: Where = 1) -> Iterator[Workers]:
    """Yield workers, and release them at the end.

    `where`: 1 runs units in this process; another number is the number of processes on this machine, and -1
    is one process per core. An enclosing ``joblib.parallel_config`` with a backend replaces processes by
    other workers, such as threads; with None it also determines the number of workers. An address such as
    ``tcp://host:8786`` is that of a Dask scheduler.

    Raises BadInputError for other values of `where`. Raises WorkerError if the scheduler cannot be reached
    within ten seconds, has no workers, or a worker has another version of Shortlist, of Python or of a
    package that decides answers. Raises MissingDependencyError if an address is given and Dask is not
    installed.

    Processes and clusters exchange pickles, so the owner of a scheduler can run code here and on its workers:
    name only a scheduler that you trust. Processes are kept for the next run, and end with this process.
    """
    if where == 1:
        yield Workers(1, one_by_one)
        return
    where = as_where(where, "workers")
    if isinstance(where, str):
        from shortlist.runs.cluster import Cluster

        with contextlib.closing(Cluster(where)) as cluster:
            yield Workers(cluster.n_workers, cluster.completed)
        return
    from joblib.parallel import get_active_backend

    backend, n_configured = get_active_backend()
    wanted = n_configured if where is None else where
    n_workers = int(backend.effective_n_jobs(1 if wanted is None else wanted))
    if n_workers == 1:
        yield Workers(1, one_by_one)
        return
    run = in_processes if type(backend).__name__ == "LokyBackend" else in_context
    yield Workers(n_workers, functools.partial(run, n_workers))


FinishedParts: TypeAlias = Callable[[str, Any], Iterable[Finished]]
"""Function that splits the result of a unit, by its key, into its records."""


@dataclass(frozen=True)
class Work:
    """Settings of a run that change no results: workers, study, report and cancellation."""

    workers: Where = 1
    """Workers as :func:`open_workers` takes them: a number of workers of this machine, -1 for
    every core, None for the enclosing joblib context, or the address of a scheduler.
    """
    study: Study = NO_STUDY
    """Study that stores finished units, and supplies results that were stored before."""
    report: Report = silent
    """Receiver of progress."""
    cancellation: Cancellation = field(default_factory=Cancellation)
    """Cancellation that stops the work with the answer so far."""


def run_units(
    units: Sequence[Unit],
    work: Work | None = None,
    *,
    stage: str = "",
    parts: FinishedParts | None = None,
    known: Mapping[str, Any] | None = None,
) -> Iterator[tuple[str, Any]]:
    """Yield ``(key, result)`` for every unit, in the order of `units`, for any number of workers.

    With a study, results must be JSON values or bytes. Recorded units are not run again. A new unit is
    recorded as soon as it ends, even if a unit before it in `units` still runs. The result None means that
    the unit was stopped; such a result is not recorded. A unit that fails is noted.

    Parameters
    ----------
    units : sequence of Unit
        Units to run. Calls and arguments must pickle if workers are processes.
    work : Work, optional
        Workers, study, report and cancellation. The cancellation is checked before every unit; once it is
        set, nothing more is started and the iteration ends early. The report gets one event at the start and
        one after every unit, with the expected time left, if the seconds of a unit are known from this run or
        the study.
    stage : str
        Activity that progress events name.
    parts : callable, optional
        Splits the result of a unit into records with separate keys; the result of an unfinished unit
        is split too.
    known : mapping of str to object, optional
        Results of units that are not run; by default the results in the study; with `parts`, by default no
        results.

    Raises
    ------
    Exception
        The error of a unit, when its turn comes.
    NotWrittenError
        If the study cannot be written.
    """
    work = Work() if work is None else work
    if known is None:
        known = work.study.results() if work.study.keeps and parts is None else {}
    return _Run(list(units), work, stage, parts, known).results()


class _Run:
    """One pass over units: known units, finished units, and the progress to report."""

    def __init__(
        self, units: list[Unit], work: Work, stage: str, parts: FinishedParts | None, known: Mapping[str, Any]
    ) -> None:
        self.units, self.work, self.stage, self.parts = units, work, stage, parts
        self.ended = {
            place: Completed(place, known[unit.key], 0.0, "")
            for place, unit in enumerate(units)
            if unit.key in known
        }
        pending = [place for place in range(len(units)) if place not in self.ended]
        # one unit of each kind comes first, so that each kind is measured early
        first: dict[str, int] = {}
        for place in pending:
            first.setdefault(units[place].kind, place)
        self.pending = list(dict.fromkeys([*first.values(), *pending]))
        self.n_done = len(self.ended)
        self.n_workers = 1
        self.left = _TimeLeft([units[place] for place in self.pending])
        measured = work.study.seconds() if self.pending and self.ended else {}
        for place in self.ended:
            if units[place].key in measured:
                self.left.measured(units[place], measured[units[place].key])

    def results(self) -> Iterator[tuple[str, Any]]:
        """Yield the known and the finished results, in order."""
        self._report()
        turn = 0
        for _ in self._completed():
            while turn in self.ended:
                yield self._opened(turn)
                turn += 1
        for place in sorted(self.ended):  # units before them may be missing after a cancellation
            yield self._opened(place)

    def _completed(self) -> Iterator[None]:
        """Run the units without a known result, and record each unit when it ends."""
        yield
        if not self.pending:
            return
        stop = self.work.cancellation
        units = [self.units[place] for place in self.pending]
        units = [_stoppable(unit, self.work) if unit.whole else unit for unit in units]
        with contextlib.ExitStack() as stack:
            if all(unit.whole for unit in units):
                stack.enter_context(stop.patient())
            workers = stack.enter_context(open_workers(self.work.workers))
            self.n_workers = workers.n_workers
            if self.work.study.keeps:
                self.work.study.tell(self._note())
            for completed in workers.completed(units, stop):
                place = self.pending[completed.index]
                with undisturbed():
                    self.ended[place] = self._recorded(self.units[place], completed)
                self._report()
                yield

    def _recorded(self, unit: Unit, completed: Completed) -> Completed:
        """Record the result of a unit, and return it in the form that a study returns."""
        study, result = self.work.study, completed.result
        if isinstance(result, Unfinished):
            result = result.result
            completed = dataclasses.replace(completed, result=result)
        elif result is not None or completed.error is not None:
            self.left.ended(unit, completed.seconds)
            self.n_done += completed.error is None
        if not study.keeps:
            return completed
        if completed.error is not None:
            study.fail(unit.key, completed.error, seconds=completed.seconds)
            return completed
        if self.parts is not None and result is not None:
            found = list(self.parts(unit.key, result))
            share = completed.seconds / max(1, len(found))  # for a part without a time of its own
            measured = [
                dataclasses.replace(one, machine=completed.machine, seconds=one.seconds or share)
                for one in found
            ]
            study.record(*measured, stage=self._note())
        elif result is not None:
            finished = Finished(unit.key, result, completed.seconds, completed.machine)
            return dataclasses.replace(completed, result=study.record(finished, stage=self._note()))
        return completed

    def _opened(self, place: int) -> tuple[str, Any]:
        """Return key and result of a unit; raise its error, with the key, if it failed."""
        key, completed = self.units[place].key, self.ended.pop(place)
        if completed.error is not None:
            completed.error.add_note(f"in unit {key}")
            raise completed.error
        return key, completed.result

    def _note(self) -> StageNote:
        running = min(len(self.units) - self.n_done, self.n_workers)
        return StageNote(self.stage, len(self.units), self.n_done, running)

    def _report(self) -> None:
        left = self.left.seconds(self.n_workers)
        self.work.report(Progress(self.stage, self.n_done, len(self.units), outer=True, left_s=left))


class _TimeLeft:
    """Estimate of the time left from the seconds of finished units, by kind and size."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._sizes: dict[str, float] = {}
        self._largest: dict[str, float] = {}
        for unit in units:
            self._sizes[unit.kind] = self._sizes.get(unit.kind, 0.0) + unit.size
            self._largest[unit.kind] = max(unit.size, self._largest.get(unit.kind, 0.0))
        self._seen: dict[str, tuple[float, float]] = {}

    def measured(self, unit: Unit, seconds: float) -> None:
        if not unit.size:
            return
        before_s, size = self._seen.get(unit.kind, (0.0, 0.0))
        self._seen[unit.kind] = (before_s + seconds, size + unit.size)

    def ended(self, unit: Unit, seconds: float) -> None:
        """Add the measured seconds of a unit."""
        self.measured(unit, seconds)
        self._sizes[unit.kind] -= unit.size

    def seconds(self, n_workers: int) -> float | None:
        """Return the expected seconds of the remaining units; None before the first unit was measured."""
        if not self._seen:
            return None
        rates = {kind: seconds / size for kind, (seconds, size) in self._seen.items()}
        usual = sum(seconds for seconds, _ in self._seen.values()) / sum(
            size for _, size in self._seen.values()
        )
        waits = {kind: size * rates.get(kind, usual) for kind, size in self._sizes.items() if size > 1e-9}
        longest = max((self._largest[kind] * rates.get(kind, usual) for kind in waits), default=0.0)
        return max(longest, sum(waits.values()) / max(1, n_workers))


def _stoppable(unit: Unit, work: Work) -> Unit:
    """Return a unit that returns None if it is stopped, for a unit whose result counts only as a whole."""
    arguments = (work.cancellation, work.study.part(unit.key), unit.call, *unit.arguments)
    return dataclasses.replace(unit, call=run_whole, arguments=arguments)


class UnitGivenUp(BaseException):
    """Raised within a unit that ignores its cancellation; like KeyboardInterrupt, a BaseException only."""


class WatchedCancellation(Cancellation):
    """Wrapper of a cancellation that remembers whether any code has found it set.

    A unit that has not found the cancellation set cannot have stopped early, so its result is complete.

    `seen`: whether any code has found the cancellation set.
    """

    def __init__(self, watched: Cancellation) -> None:
        super().__init__()
        self._watched = watched
        self.seen = False

    def __reduce__(self) -> Any:
        return self._watched.__reduce__()

    def cancel(self) -> None:
        """Set the wrapped cancellation."""
        self.seen = True
        self._watched.cancel()

    @contextlib.contextmanager
    def telling(self, tell: Callable[[], None]) -> Iterator[None]:
        """Call `tell` when the wrapped cancellation is set."""

        def tell_and_note() -> None:
            self.seen = True
            tell()

        with self._watched.telling(tell_and_note):
            yield

    @property
    def cancelled(self) -> bool:
        """Whether the wrapped cancellation is set."""
        self.seen = self.seen or self._watched.cancelled
        return self.seen


@dataclass(frozen=True)
class Unfinished:
    """Result of a unit that was stopped, or has more to do, with its finished parts recorded."""

    result: Any


def run_whole(cancellation: Cancellation, study: Study, call: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a call with a keyword `budget`; None if the call was stopped.

    The budget has no limit; only its cancellation stops the call. In the process that drives the study, the
    call may save states in the study, from which a later call continues. The call counts as stopped if any
    code in it has found the cancellation set, whatever the call then returned or raised; only a result of
    :class:`Unfinished` is returned. In the main thread, a call that outlasts the grace of the cancellation
    gets :class:`UnitGivenUp` from an alarm, as soon as Python code runs again.
    """
    watched = WatchedCancellation(cancellation)
    try:
        with _given_up_after_grace(cancellation):
            found = call(*arguments, budget=Budget(cancellation=watched, study=study))
    except UnitGivenUp:
        return None
    except Exception:
        if watched.seen:
            return None
        raise
    return None if watched.seen and not isinstance(found, Unfinished) else found


@contextlib.contextmanager
def _given_up_after_grace(cancellation: Cancellation) -> Iterator[None]:
    """Raise :class:`UnitGivenUp` in a block that continues too long after a cancellation."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    inside = True

    def give_up(_number: int, _frame: FrameType | None) -> None:
        if inside:
            raise UnitGivenUp

    before = signal.signal(signal.SIGALRM, give_up)
    try:
        with cancellation.telling(lambda: _alarm(cancellation.grace_s)):
            yield
    finally:
        inside = False
        _alarm(0.0)
        signal.signal(signal.SIGALRM, before)


def _alarm(after_s: float) -> None:
    """Set an alarm after some seconds; 0 removes it.

    The alarm repeats, as a library may swallow the exception.
    """
    signal.setitimer(signal.ITIMER_REAL, after_s, after_s)
