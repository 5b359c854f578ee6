"""Dask cluster given by the address of its scheduler; units of lost workers run on other workers."""

import contextlib
import functools
import itertools
import math
import os
import pickle
import queue
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from typing import Any

import numpy as np

from shortlist.errors import BadInputError, MissingDependencyError, WorkerError
from shortlist.runs.cancellation import Cancellation, cancel_copies, undisturbed
from shortlist.runs.records import versions
from shortlist.runs.workers import LARGE, Completed, Unit, killed, packed, run_away, unsendable

CONNECT_S = 8.0
"""Longest time in seconds for connecting to a scheduler."""

FIRST_WORKER_S = 30.0
"""Longest wait in seconds for the first worker of a scheduler."""

WITHOUT_WORKERS_S = 30.0
"""Longest wait in seconds for a worker after the last worker has gone."""

CHECK_S = 1.0
"""Seconds without a result after which the scheduler is checked for workers."""

IN_FLIGHT = 32
"""Number of units per thread of a worker that are with the scheduler at a time; all other units wait here."""

KEPT = "What was finished before is kept where a study was named."


class Cluster:
    """Runner of units on the workers of a cluster; shared arguments are sent to each worker once.

    Each thread of a worker runs one unit at a time, on one core.

    Raises WorkerError if the scheduler cannot be reached, has no workers, or a worker has other versions of
    packages. Raises MissingDependencyError if Dask is not installed.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.client = connect(address)
        try:
            workers = self._first_workers()
            check_workers(self.client.run(compared_versions, on_error="return"), compared_versions())
        except BaseException:
            self.client.close()
            raise
        self.n_workers = sum(worker["nthreads"] for worker in workers.values())
        self._alone_since: float | None = None

    def close(self) -> None:
        """Leave the cluster."""
        self.client.close()

    def completed(self, units: Sequence[Unit], stop: Cancellation) -> Iterator[Completed]:
        """Yield the result of each unit: see :class:`shortlist.runs.units.Workers`.

        Dask reports a unit whose workers died several times. As another unit on the same worker may be the
        cause, the reported unit runs once more, alone.
        """
        flight = _Flight(self, units, stop)
        with stop.telling(flight.wake):
            try:
                while flight.fill():
                    yield from flight.landed()
            finally:
                if flight.flying and self.client.status == "running":
                    with undisturbed(), contextlib.suppress(OSError):  # it may be lost now
                        self.stop(stop)
                        self.client.cancel(list(flight.flying))

    def answer(self, future: Any) -> bytes | None:
        """Return the pickled result of a unit.

        Raises WorkerError if the scheduler is lost, or a worker cannot run units.
        """
        try:
            answer: bytes | None = future.result()
        except ModuleNotFoundError as error:
            raise WorkerError(_no_package(f"a worker of {self.address}", error)) from None
        except OSError as error:
            from distributed.comm.core import CommClosedError

            self.check_scheduler()
            if isinstance(error, CommClosedError | ConnectionError):  # the client has not noticed yet
                raise self._lost() from error
            raise
        return answer

    def stop(self, stop: Cancellation) -> None:
        """Set the copies of a cancellation in every worker."""
        self.client.run(cancel_copies, stop.name, on_error="ignore")

    def check(self) -> None:
        """Raise WorkerError if the scheduler or the last worker has gone."""
        self.check_scheduler()
        if self.client.scheduler_info()["workers"]:
            self._alone_since = None
            return
        now = time.monotonic()
        self._alone_since = self._alone_since or now
        if now - self._alone_since > WITHOUT_WORKERS_S:
            raise WorkerError(f"the scheduler at {self.address} has no workers any more. {KEPT}")

    def check_scheduler(self) -> None:
        """Raise WorkerError if the scheduler has gone."""
        if self.client.status != "running":
            raise self._lost()

    def _lost(self) -> WorkerError:
        return WorkerError(f"the scheduler at {self.address} was lost during the run. {KEPT}")

    def _first_workers(self) -> Mapping[str, Any]:
        try:
            self.client.wait_for_workers(1, timeout=FIRST_WORKER_S)
        except TimeoutError:
            raise WorkerError(
                f"the scheduler at {self.address} has no workers. Start one: dask worker {self.address}"
            ) from None
        return dict(self.client.scheduler_info(n_workers=-1)["workers"])


class _Flight:
    """Units that are with the scheduler, and units to run alone because their workers died."""

    def __init__(self, cluster: Cluster, units: Sequence[Unit], stop: Cancellation) -> None:
        self.cluster, self.units, self.stop = cluster, units, stop
        self.flying: dict[Any, int] = {}
        self._fresh: Iterator[int] = iter(range(len(units)))
        self._alone: deque[int] = deque()
        self._uses = Counter(id(argument) for unit in units for argument in unit.arguments)
        self._sent: dict[int, Any] = {}
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._given_up_at: float | None = None

    def wake(self) -> None:
        """Check the cancellation; called within a signal handler."""
        self._ended.put(None)

    def fill(self) -> bool:
        """Send units while there is room; return whether any unit is with the scheduler."""
        if self.stop.cancelled:
            if self._given_up_at is None:
                grace_s = self.stop.grace_s if all(unit.whole for unit in self.units) else math.inf
                self._given_up_at = time.monotonic() + grace_s
                self.cluster.stop(self.stop)
            return bool(self.flying) and time.monotonic() < self._given_up_at
        for index in itertools.islice(
            self._fresh, max(0, IN_FLIGHT * self.cluster.n_workers - len(self.flying))
        ):
            self._send(index)
        if self._alone and not self.flying:
            self._send(self._alone[0])
        return bool(self.flying)

    def landed(self) -> Iterator[Completed]:
        """Wait for a unit to end, and yield its result; yield nothing if no unit has ended."""
        from distributed import CancelledError, KilledWorker

        try:
            future = self._ended.get(timeout=CHECK_S)
        except queue.Empty:
            self.cluster.check()
            return
        index = self.flying.pop(future, None)
        if index is None:
            return
        was_alone = index in self._alone
        try:
            answer = self.cluster.answer(future)
        except KilledWorker:
            if not was_alone:
                self._alone.append(index)
                return
            answer = packed(Completed(index, error=killed(self.units[index].key)))
        except CancelledError:  # the unit's data were only on workers that died
            self.cluster.check_scheduler()
            self._sent.clear()
            self._fresh = itertools.chain([] if was_alone else [index], self._fresh)
            return
        if was_alone:
            self._alone.remove(index)
        if answer is not None:
            yield pickle.loads(answer)  # noqa: S301  # from our own worker

    def _send(self, index: int) -> None:
        unit = self.units[index]
        sent = [compared_versions(), self.stop, index, unit.call, *map(self._shared, unit.arguments)]
        try:
            future = self.cluster.client.submit(run_on_cluster, *sent, pure=False)
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            raise unsendable(unit.key, error) from error
        self.flying[future] = index
        future.add_done_callback(self._ended.put)

    def _shared(self, argument: Any) -> Any:
        """Return the reference to a large shared argument, or the argument itself."""
        key = id(argument)
        if self._uses[key] < 2:
            return argument
        if key not in self._sent:
            is_large = _size(argument) >= LARGE
            scatter = self.cluster.client.scatter
            self._sent[key] = scatter([argument], broadcast=True, hash=False)[0] if is_large else argument
        return self._sent[key]


def _size(value: Any) -> int:
    import cloudpickle

    return value.nbytes if type(value) is np.ndarray else len(cloudpickle.dumps(value))


def run_on_cluster(
    wanted: Mapping[str, str], stop: Cancellation, index: int, call: Callable[..., Any], *arguments: Any
) -> bytes | None:
    """Run a unit on one core, if this worker has the required versions."""
    refused = refusal(f"a worker on {socket.gethostname()}", compared_versions(), wanted)
    if refused:
        return packed(Completed(index, error=WorkerError(refused)))
    _use_one_thread()
    return run_away(stop, index, call, arguments)


@functools.cache
def _use_one_thread() -> None:
    """Limit libraries of this process to one thread, including libraries loaded later."""
    from threadpoolctl import threadpool_limits

    for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "NUMBA"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    threadpool_limits(limits=1)


def connect(address: str) -> Any:
    """Return a client of the scheduler at an address."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingDependencyError(
            "a scheduler's address needs the package distributed. Install it: pip install 'shortlist[dask]'"
        ) from None
    try:
        options = {"timeout": CONNECT_S, "set_as_default": False}
        return Client(address, **options)  # type: ignore[no-untyped-call]  # Dask has no types
    except OSError as error:
        raise WorkerError(
            f"no Dask scheduler answers at {address}. "
            "Start one with `dask scheduler`, or correct the address."
        ) from error
    except ValueError as error:
        raise BadInputError(
            "workers", "must be an address that Dask knows", f"{address!r}: {error}"
        ) from None


@functools.cache
def compared_versions() -> dict[str, str]:
    """Return the versions of packages that affect answers, and of pandas, whose tables workers receive."""
    return versions() | {"pandas": metadata.version("pandas")}


def refusal(worker: str, theirs: Mapping[str, str], ours: Mapping[str, str]) -> str:
    """Return a sentence about the reason why a worker cannot be used; empty if the worker can be used.

    >>> refusal("worker tcp://h:1", {"shortlist": "0.1.0"}, {"shortlist": "0.2.0"})
    'worker tcp://h:1 has shortlist 0.1.0, this is 0.2.0. Install the same version on both.'
    >>> refusal("worker tcp://h:1", {"shortlist": "0.2.0"}, {"shortlist": "0.2.0"})
    ''
    """
    different = [name for name in ours if theirs.get(name) != ours[name]]
    if not different:
        return ""
    listed = ", ".join(f"{name} {theirs.get(name, 'none')}, this is {ours[name]}" for name in different)
    return f"{worker} has {listed}. Install the same version{'s' * (len(different) > 1)} on both."


def check_workers(answers: Mapping[str, Any], ours: Mapping[str, str]) -> None:
    """Refuse a worker that cannot run units.

    Raises WorkerError for the first worker that lacks the package, or has other versions.

    `answers`: by address of the worker, its versions, or the error that the worker raised instead.
    """
    for worker in sorted(answers):
        found = answers[worker]
        # Dask passes some errors on as text in another one
        if isinstance(found, ImportError | AttributeError) or "ModuleNotFoundError" in str(found):
            raise WorkerError(_no_package(f"worker {worker}", found))
        if isinstance(found, BaseException):
            raise WorkerError(f"worker {worker} cannot be used: {found}")
        refused = refusal(f"worker {worker}", found, ours)
        if refused:
            raise WorkerError(refused)


def _no_package(worker: str, error: BaseException) -> str:
    return f"{worker} cannot run this version of Shortlist: {error}. Install Shortlist where it runs."
