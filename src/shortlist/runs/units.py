"""Independent units of work: run by one or many workers, recorded as they come back, yielded in order."""

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
    """Gets units and a cancellation, and yields the result of each unit, in the order in which they end.
    Calls and arguments must pickle unless they run in this process. An error that a unit raises comes with
    its :class:`Completed`; a :class:`~shortlist.errors.WorkerError` is raised if a unit cannot be sent, or no
    worker is left that could go on. Once the cancellation is set, no unit is begun any more, and the
    iteration ends with those that run. Copies of it in the arguments of a unit are set along with it,
    wherever it runs; units that count only whole are given up some seconds later.
    """


@contextlib.contextmanager
def open_workers(where: Where = 1) -> Iterator[Workers]:
    """Yield workers, and let them go at the end.

    `where`: 1 runs units in this process; other numbers take that many processes of this machine, -1 one for
    every core. An enclosing ``joblib.parallel_config`` that names a backend decides instead what they are,
    such as threads; with None it says how many, too. An address such as ``tcp://host:8786`` is that of a Dask
    scheduler.

    Raises BadInputError if `where` is something else. Raises WorkerError if the scheduler cannot be reached
    within ten seconds, has no workers, or a worker has another version of Shortlist, of Python or of a
    package that decides answers. Raises MissingDependencyError if an address is given and Dask is not
    installed.

    Processes and clusters exchange pickles, so whoever controls a scheduler can run code here and on its
    workers: name one that you trust. Processes are kept for the next run, and end with this process.
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
"""Splits the result of a unit, by its key, into its records."""


@dataclass(frozen=True)
class Work:
    """Circumstances of a run: its workers, study, report and cancellation, none of which changes results."""

    workers: Where = 1
    """Workers as :func:`open_workers` takes them: a number of workers of this machine, -1 for
    every core, None for the enclosing joblib context, or the address of a scheduler.
    """
    study: Study = NO_STUDY
    """Study that keeps finished units, and from which they are taken."""
    report: Report = silent
    """Receives progress."""
    cancellation: Cancellation = field(default_factory=Cancellation)
    """Stops the work with the answer so far."""


def run_units(
    units: Sequence[Unit],
    work: Work | None = None,
    *,
    stage: str = "",
    parts: FinishedParts | None = None,
    known: Mapping[str, Any] | None = None,
) -> Iterator[tuple[str, Any]]:
    """Yield ``(key, result)`` for every unit, in the order of `units`, whatever the number of workers.

    With a study, results are what JSON holds or bytes; those that are recorded are not run again, and each
    of the others is recorded as soon as it has come back, before those that come earlier in order. A result
    that is None says that the unit was stopped; it is not recorded. A unit that fails is noted.

    Parameters
    ----------
    units : sequence of Unit
        What to run. Calls and arguments must pickle where workers are processes.
    work : Work, optional
        Workers, study, report and cancellation. The cancellation is checked before every unit; once it is
        set, nothing more is started and the iteration ends early. The report gets one event at the start and
        one after every unit, with the time that is left as soon as one unit was measured, now or in the
        study.
    stage : str
        What the progress events say is being done.
    parts : callable, optional
        For units whose results are recorded in parts, under keys of their own, also for an
        ``Unfinished`` unit.
    known : mapping of str to object, optional
        Results of units that are not run; by default those in the study. With `parts` all are run by default.

    Raises
    ------
    Exception
        Whatever a unit raises, when its turn comes.
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
        # a unit of each kind comes before all others, so that each is measured early
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
        for place in sorted(self.ended):  # a cancellation left out some before them
            yield self._opened(place)

    def _completed(self) -> Iterator[None]:
        """Run the units that are not known, and record each when it has come back."""
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
        """Record the result of a unit, and return it with the result that a study gives back."""
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
            share = completed.seconds / max(1, len(found))  # of a part that does not say how long it took
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
        """Return key and result, or raise the unit's error with its key."""
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
        """Note how long one of the units took."""
        self.measured(unit, seconds)
        self._sizes[unit.kind] -= unit.size

    def seconds(self, n_workers: int) -> float | None:
        """Return the seconds that the other units will take; None before the first was measured."""
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
    """Return a unit that counts only whole as one that returns None if stopped."""
    arguments = (work.cancellation, work.study.part(unit.key), unit.call, *unit.arguments)
    return dataclasses.replace(unit, call=run_whole, arguments=arguments)


class UnitGivenUp(BaseException):
    """Raised within a unit that does not look at its cancellation, and no error, as KeyboardInterrupt."""


class WatchedCancellation(Cancellation):
    """Another cancellation, which remembers whether somebody has found it set.

    A unit that has not found it set cannot have stopped early: its result is whole.

    `seen`: whether somebody has.
    """

    def __init__(self, watched: Cancellation) -> None:
        super().__init__()
        self._watched = watched
        self.seen = False

    def __reduce__(self) -> Any:
        return self._watched.__reduce__()

    def cancel(self) -> None:
        """Set the other one."""
        self.seen = True
        self._watched.cancel()

    @contextlib.contextmanager
    def telling(self, tell: Callable[[], None]) -> Iterator[None]:
        """Call `tell` when the other one is set."""

        def tell_and_note() -> None:
            self.seen = True
            tell()

        with self._watched.telling(tell_and_note):
            yield

    @property
    def cancelled(self) -> bool:
        """Whether the other one is set."""
        self.seen = self.seen or self._watched.cancelled
        return self.seen


@dataclass(frozen=True)
class Unfinished:
    """Result of a unit that was stopped, or has more to do, where finished parts are recorded."""

    result: Any


def run_whole(cancellation: Cancellation, study: Study, call: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a call that takes a keyword `budget`; None if it was stopped in the middle.

    The call is stopped by the cancellation of that budget, which has no limit of its own, and may keep in its
    study from where it goes on, if it runs in the process that drives the study. It counts as
    stopped if anything in it has found the cancellation set, whatever it returned or raised then, unless it
    returned :class:`Unfinished`. In the main thread, where there are alarms, a call that goes on for
    the grace of the cancellation gets :class:`UnitGivenUp`, as soon as it is back in Python.
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
    """Raise in a block that goes on too long after a cancellation."""
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
    """Ring after some seconds and again and again, as a library may swallow the exception; 0 ends it."""
    signal.setitimer(signal.ITIMER_REAL, after_s, after_s)
