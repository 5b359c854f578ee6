"""Units, and where they run: this process, processes or threads of this machine, or a Dask cluster."""

import contextlib
import functools
import os
import pickle
import re
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import TimeoutError as NothingCameError
from typing import Any, TypeAlias

from shortlist.errors import BadInputError, WorkerError
from shortlist.runs.calls import LARGE, Completed, Unit, killed, run_away, run_here, unsendable
from shortlist.runs.cancellation import Cancellation, undisturbed

Where: TypeAlias = int | str | None
"""A number of workers of this machine, -1 for every core, None for the enclosing joblib context, or the
address of a Dask scheduler.
"""

EVERY_CORE = -1
"""Stands for as many workers as there are cores."""

_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://([^\s/:]+|\[[0-9a-f:.%]+\]):[0-9]{1,5}", re.IGNORECASE)
"""A scheduler's, with the port at which it listens; Dask takes 20 s to find out that there is none."""


def as_where(value: Where, argument: str) -> Where:
    """Return workers as :func:`open_workers` takes them.

    Raises BadInputError if they are no number from 1 on and not -1, no address, and not None.
    """
    if isinstance(value, str) and _ADDRESS.fullmatch(value):
        return value
    if value is None or (isinstance(value, int) and (value > 0 or value == EVERY_CORE)):
        return value
    raise BadInputError(
        argument,
        "must be a number of workers, -1 for every core, or a scheduler's address such as tcp://host:8786",
        repr(value),
    )


@dataclass(frozen=True)
class Workers:
    """What runs units, opened by :func:`open_workers`."""

    n_workers: int
    """How many units run at a time."""
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
        yield Workers(1, _one_by_one)
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
        yield Workers(1, _one_by_one)
        return
    in_processes = type(backend).__name__ == "LokyBackend"
    yield Workers(n_workers, functools.partial(_in_processes if in_processes else _in_context, n_workers))


def _one_by_one(units: Sequence[Unit], stop: Cancellation) -> Iterator[Completed]:
    for index, unit in enumerate(units):
        if stop.cancelled:
            return
        yield run_here(index, unit.call, unit.arguments)


def _in_context(n_workers: int, units: Sequence[Unit], stop: Cancellation) -> Iterator[Completed]:
    """Run units in the backend of the enclosing joblib context, such as threads.

    Whoever leaves before all have come back waits for those that run; no other begins.
    """
    from joblib import Parallel, delayed

    left = Cancellation()
    calls = (delayed(_unless_cancelled)((stop, left), index, unit) for index, unit in enumerate(units))
    running = Parallel(n_jobs=n_workers, return_as="generator_unordered")(calls)
    try:
        yield from (done for done in running if done is not None)
    finally:
        left.cancel()
        for _ in running:
            pass


def _unless_cancelled(stops: tuple[Cancellation, ...], index: int, unit: Unit) -> Completed | None:
    return None if any(stop.cancelled for stop in stops) else run_here(index, unit.call, unit.arguments)


def _in_processes(n_workers: int, units: Sequence[Unit], stop: Cancellation) -> Iterator[Completed]:
    """Run units in the processes of joblib's loky; what has not come back from those that died runs again.

    joblib does not say which unit a dead process had. The second time units are sent one by one, and those
    that were under way when a process dies again run alone. Units are sent once more if none of them fails to
    pickle by itself: a thread of joblib pickles them, while this one may cache a value in what they hold.
    """
    left = dict.fromkeys(range(len(units)))
    alone: list[int] = []
    careful = sent_again = False
    while left and not stop.cancelled:
        begun: dict[int, None] = {}
        sent = _Sending(n_workers, units, alone[:1] or tuple(left), begun, careful=careful)
        try:
            for done in sent.completed(stop):
                del left[done.index]
                yield done
            alone = alone[1:]
        except NothingCameError:
            return
        except BrokenProcessPool as error:
            if alone:
                del left[alone[0]]
                yield Completed(alone[0], error=_killed(units[alone.pop(0)].key, error))
            elif careful:
                alone = [index for index in begun if index in left]
            careful = True
        except pickle.PicklingError as error:
            under_way = [units[index] for index in begun if index in left]
            refused = _unsendable(under_way)
            if refused is None and not sent_again:
                sent_again = True
                continue
            raise refused or unsendable(under_way[0].key if under_way else "", error) from error


@dataclass(frozen=True)
class _Sending:
    """Units that go to processes in one call of joblib; those that it took are in `begun`."""

    n_workers: int
    units: Sequence[Unit]
    places: Sequence[int]
    begun: dict[int, None]
    careful: bool

    def completed(self, stop: Cancellation) -> Iterator[Completed]:
        """Yield what has come back; who leaves early ends the processes.

        Raises BrokenProcessPool if a process died. Raises NothingCameError if units that count only whole go
        on for the grace of the cancellation.
        """
        from joblib import Parallel

        is_whole = all(unit.whole for unit in self.units)
        alike = len({unit.kind for unit in self.units}) == 1 and not is_whole
        parallel = Parallel(
            n_jobs=self.n_workers, return_as="generator_unordered", max_nbytes=LARGE, mmap_mode="c",
            batch_size="auto" if alike and not self.careful else 1,
            pre_dispatch="n_jobs" if self.careful else "2 * n_jobs",
        )  # fmt: skip

        def give_up() -> None:
            if is_whole:
                parallel.timeout = stop.grace_s  # from one unit that comes back to the next

        # Said in joblib's own thread, which would end where warnings are errors.
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)
        with stop.telling(give_up), contextlib.ExitStack() as stack:
            with undisturbed(), _no_interrupt():  # or processes that were just started would be left over
                running = parallel(self._calls(stop))
                stack.callback(_end, running)
            if stop.cancelled:
                give_up()
            for answer in running:
                if answer is not None:
                    yield pickle.loads(answer)  # noqa: S301  # from our own worker

    def _calls(self, stop: Cancellation) -> Iterator[Any]:
        from joblib import delayed

        for index in self.places:
            if stop.cancelled:
                return
            self.begun[index] = None
            unit = self.units[index]
            yield delayed(run_away)(stop, index, unit.call, unit.arguments)


def _end(running: Any) -> None:
    """End a call of joblib, and its processes if units are under way, without the warning that they are."""
    with undisturbed(), warnings.catch_warnings(action="ignore"):
        running.close()


@contextlib.contextmanager
def _no_interrupt() -> Iterator[None]:
    """Keep Ctrl-C from processes that are started here: a terminal sends it to them too.

    They inherit the mask, and this process gets the signal at the end.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    with _quiet():
        resource_tracker.ensure_running()  # both unblock the signal when they start
        loky_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Let a tracker that is started here not warn of what it finds removed after an interrupted run.

    It writes to stderr at any moment, also within the sentences of this process.
    """
    name, ignored = "PYTHONWARNINGS", "ignore:resource_tracker:UserWarning"
    before = os.environ.get(name)
    os.environ[name] = f"{before},{ignored}" if before else ignored
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _killed(key: str, error: BrokenProcessPool) -> WorkerError:
    if error.__cause__ is not None and "un-serialize" in str(error):
        return WorkerError(f"unit {key} cannot be read by a worker. Use one worker.")
    return killed(key)


def _unsendable(units: Sequence[Unit]) -> WorkerError | None:
    """Return the error that names the first of the units that does not pickle; None if all do."""
    import cloudpickle

    for unit in units:
        try:
            cloudpickle.dumps((unit.call, unit.arguments))
        except Exception as raised:  # noqa: BLE001  # what does not pickle raises anything
            return unsendable(unit.key, raised)
    return None
