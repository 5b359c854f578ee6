"""Units of work, and their runners on this machine: this process, other processes, or a joblib context."""

import contextlib
import os
import pickle
import re
import signal
import socket
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import TimeoutError as NothingCameError
from typing import Any, TypeAlias

import numpy as np

from shortlist.errors import BadInputError, ShortlistError, WorkerError
from shortlist.runs.budget import seconds_now
from shortlist.runs.cancellation import Cancellation, undisturbed

Where: TypeAlias = int | str | None
"""Number of workers of this machine, -1 for every core, None for the enclosing joblib context, or the address
of a Dask scheduler.
"""

EVERY_CORE = -1
"""Number that stands for one worker per core."""

_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://([^\s/:]+|\[[0-9a-f:.%]+\]):[0-9]{1,5}", re.IGNORECASE)
"""Pattern of a scheduler's address with its port; Dask itself takes 20 s to refuse an address without a port.
"""


def as_where(value: Where, argument: str) -> Where:
    """Return workers in the form of :func:`~shortlist.runs.units.open_workers`.

    Raises BadInputError for a value that is no positive number, -1, address or None.
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


LARGE = 1 << 16
"""Size in bytes from which an array is mapped into the memory of processes. A shared argument of this size
goes to each worker of a cluster once.
"""


@dataclass(frozen=True)
class Unit:
    """Call that does not depend on any other unit."""

    key: str
    """Key of the unit in studies and messages."""
    call: Callable[..., Any]
    """Function to call; with `whole` it also takes a keyword `budget`."""
    arguments: tuple[Any, ...] = ()
    """Arguments by position."""
    kind: str = ""
    """Kind of the unit. Within a kind, times are proportional to sizes. One unit of each kind is run first,
    so that the remaining time is known early.
    """
    size: float = 1.0
    """Expected work, in any measure common to all units, such as rows times classifiers. A unit of size 0
    takes hardly any time, and is not used for estimates.
    """
    whole: bool = False
    """Whether a result counts only if the unit was not stopped: see
    :func:`~shortlist.runs.units.run_whole`. Such units end some seconds after a cancellation.
    """


@dataclass(frozen=True)
class Completed:
    """Result of a unit that has ended, or its error."""

    index: int
    """Index among the given units."""
    result: Any = None
    """Result of the call; None if it raised an error."""
    seconds: float = 0.0
    """Wall-clock seconds of the call, without the compilation of kernels."""
    machine: str = ""
    """Name of the machine that ran it."""
    error: Exception | None = None
    """Exception of the call, or the reason for a missing result."""


def run_here(index: int, call: Callable[..., Any], arguments: tuple[Any, ...]) -> Completed:
    """Run a unit in this thread; return an error as part of the result, and do not raise it."""
    start = seconds_now()
    result, error = None, None
    try:
        result = call(*arguments)
    except Exception as raised:  # noqa: BLE001  # raised again when the turn of the unit comes
        error = raised
    return Completed(index, result, seconds_now() - start, socket.gethostname(), error)


def run_away(
    stop: Cancellation, index: int, call: Callable[..., Any], arguments: tuple[Any, ...]
) -> bytes | None:
    """Run a unit in a worker; return its pickled result, or None if the cancellation was set before."""
    if stop.cancelled:
        return None
    plain = tuple(each.view(np.ndarray) if isinstance(each, np.memmap) else each for each in arguments)
    return packed(run_here(index, call, plain))


def packed(completed: Completed) -> bytes:
    """Return a pickle that can be loaded; an error that does not pickle is replaced by one with its text."""
    import cloudpickle

    try:
        content = bytes(cloudpickle.dumps(completed))
        if completed.error is not None:
            pickle.loads(content)  # noqa: S301  # just written
    except Exception as raised:  # noqa: BLE001  # libraries fail in any way while pickling
        error = completed.error or raised
        told = ShortlistError(f"{type(error).__name__}: {error}")
        return packed(Completed(completed.index, None, completed.seconds, completed.machine, told))
    return content


def killed(key: str) -> WorkerError:
    """Return the error of a unit whose worker died twice, the second time with this unit alone."""
    return WorkerError(
        f"unit {key} ended its worker each time that it ran. Most often memory is short: use fewer workers."
    )


def unsendable(key: str, error: Exception) -> WorkerError:
    """Return the error of a unit that does not pickle."""
    return WorkerError(f"unit {key} cannot be sent to a worker: {error}. Use one worker.")


def one_by_one(units: Sequence[Unit], stop: Cancellation) -> Iterator[Completed]:
    """Run units here, one after the other."""
    for index, unit in enumerate(units):
        if stop.cancelled:
            return
        yield run_here(index, unit.call, unit.arguments)


def in_context(n_workers: int, units: Sequence[Unit], stop: Cancellation) -> Iterator[Completed]:
    """Run units in the backend of the enclosing joblib context, such as threads.

    A caller that leaves early waits for the running units; no other unit starts.
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


def in_processes(n_workers: int, units: Sequence[Unit], stop: Cancellation) -> Iterator[Completed]:
    """Run units in the processes of joblib's loky; units of processes that died run again.

    joblib does not report which unit a dead process had. After a first death units are sent one by one; after
    a second death the units under way run alone. After an error of pickling, units are sent once more if
    every unit pickles by itself: joblib pickles in a thread, while this thread may change a cache in the
    arguments.
    """
    left = dict.fromkeys(range(len(units)))
    alone: list[int] = []
    careful = sent_again = False
    while left and not stop.cancelled:
        begun: dict[int, None] = {}
        places = alone[:1] or tuple(left)
        try:
            for done in _sent(n_workers, units, places, begun, stop, careful=careful):
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


def _sent(
    n_workers: int,
    units: Sequence[Unit],
    places: Sequence[int],
    begun: dict[int, None],
    stop: Cancellation,
    *,
    careful: bool,
) -> Iterator[Completed]:
    """Send the units at `places` to processes in one joblib call, and yield finished units.

    `begun` receives the started units. A caller that leaves early ends the processes. Raises
    BrokenProcessPool if a process died. Raises NothingCameError if units without partial results outlast the
    grace of the cancellation.
    """
    from joblib import Parallel, delayed

    is_whole = all(unit.whole for unit in units)
    alike = len({unit.kind for unit in units}) == 1 and not is_whole
    parallel = Parallel(
        n_jobs=n_workers, return_as="generator_unordered", max_nbytes=LARGE, mmap_mode="c",
        batch_size="auto" if alike and not careful else 1,
        pre_dispatch="n_jobs" if careful else "2 * n_jobs",
    )  # fmt: skip

    def calls() -> Iterator[Any]:
        for index in places:
            if stop.cancelled:
                return
            begun[index] = None
            yield delayed(run_away)(stop, index, units[index].call, units[index].arguments)

    def give_up() -> None:
        if is_whole:
            parallel.timeout = stop.grace_s  # from the end of one unit to the next

    # Set in joblib's own thread, which would end where warnings are errors.
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)
    with stop.telling(give_up), contextlib.ExitStack() as stack:
        with undisturbed(), _no_interrupt():  # otherwise processes that were just started would be left over
            running = parallel(calls())
            stack.callback(_end, running)
        if stop.cancelled:
            give_up()
        for answer in running:
            if answer is not None:
                yield pickle.loads(answer)  # noqa: S301  # from our own worker


def _end(running: Any) -> None:
    """End a joblib call, and its processes if units are under way, without joblib's warning."""
    with undisturbed(), warnings.catch_warnings(action="ignore"):
        running.close()


@contextlib.contextmanager
def _no_interrupt() -> Iterator[None]:
    """Keep Ctrl-C from processes that are started here, as a terminal sends it to them too.

    The new processes inherit the signal mask; this process gets the signal at the end of the block.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    with _quiet():
        resource_tracker.ensure_running()  # both unblock the signal at their start
        loky_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence a resource tracker started within the block about files that an interrupted run removed.

    The tracker writes to stderr at any moment, even within the sentences of this process.
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
    """Return the error of the first unit that does not pickle; None if all units pickle."""
    import cloudpickle

    for unit in units:
        try:
            cloudpickle.dumps((unit.call, unit.arguments))
        except Exception as raised:  # noqa: BLE001  # pickling may raise anything
            return unsendable(unit.key, raised)
    return None
