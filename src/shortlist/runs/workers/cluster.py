"""A Dask cluster, by the address of its scheduler."""

import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from shortlist.errors import BadInputError, MissingDependencyError, WorkerError
from shortlist.runs.workers.shipping import Parcel, Shelf
from shortlist.runs.workers.versions import refusal, versions
from shortlist.runs.workers.worker_side import Answer, Setting, forget_run, run_parcels, stop_run

CONNECT_S = 8.0
"""Seconds for reaching a scheduler."""

FIRST_WORKER_S = 30.0
"""Seconds that a scheduler without workers is given to get its first one."""

WITHOUT_WORKERS_S = 30.0
"""Seconds that a run waits for a worker after the last one has gone."""

KEPT = "What was finished before is kept where a study was named."


class ClusterEngine:
    """Runs parcels on the workers of a cluster; what calls have in common is sent to each worker once.

    Each thread of a worker is a place for one unit, which takes one core, as Dask means it.

    Raises
    ------
    WorkerError
        If the scheduler cannot be reached, has no workers, or a worker has other packages.
    MissingDependencyError
        If Dask is not installed.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.n_bytes = 0
        self._client = connect(address)
        try:
            workers = self._first_workers()
            check_workers(self._client.run(versions, on_error="return"), versions())
        except BaseException:
            self._client.close()
            raise
        self.n_workers = sum(worker["nthreads"] for worker in workers.values())
        self._setting = Setting(uuid.uuid4().hex, 1, versions())
        self._shipped: dict[str, Any] = {}
        self._alone_since: float | None = None

    def submit(self, batch: Sequence[Parcel], shelf: Shelf) -> Any:
        """Send a batch, after what it needs has gone to every worker."""
        digests = sorted(set().union(*(parcel.digests for parcel in batch)))
        for digest in digests:
            if digest not in self._shipped:
                value = shelf.values[digest]
                self._shipped[digest] = self._client.scatter([value], broadcast=True, hash=False)[0]
        self.n_bytes += sum(parcel.n_bytes for parcel in batch)
        values = [self._shipped[digest] for digest in digests]
        return self._client.submit(
            run_parcels, self._setting, list(batch), digests, values,
            key=f"shortlist-{uuid.uuid4().hex}", pure=False,
        )  # fmt: skip

    def outcome(self, future: Any) -> list[Answer] | None:
        """Return what a batch came to, or None if it has to be run again."""
        from distributed import CancelledError, KilledWorker

        try:
            answers: list[Answer] = future.result()
        except KilledWorker:
            return None
        except CancelledError:
            self._check_scheduler()
            return None
        except ModuleNotFoundError as error:
            raise WorkerError(_no_package(f"a worker of {self.address}", error)) from None
        except OSError:
            self._check_scheduler()
            raise
        return answers

    def mend(self) -> bool:
        """Ship again what is needed; the scheduler itself runs the other batches elsewhere."""
        self._shipped.clear()
        return False

    def check(self) -> None:
        """Raise if the scheduler or the last worker has gone."""
        self._check_scheduler()
        if self._client.scheduler_info()["workers"]:
            self._alone_since = None
            return
        now = time.monotonic()
        self._alone_since = self._alone_since or now
        if now - self._alone_since > WITHOUT_WORKERS_S:
            raise WorkerError(f"the scheduler at {self.address} has no workers any more. {KEPT}")

    def stop(self) -> None:
        """Cancel the run in every worker process."""
        self._client.run(stop_run, self._setting.run, on_error="ignore")

    def abandon(self, futures: Sequence[Any]) -> None:
        """Cancel what has not begun; what runs goes on to its end, or until it sees the cancellation."""
        if futures and self._client.status == "running":
            self.stop()
            self._client.cancel(list(futures))

    def close(self) -> None:
        """Let the workers forget the run, and leave the cluster."""
        self._shipped.clear()
        if self._client.status == "running":
            self._client.run(forget_run, self._setting.run, on_error="ignore")
        self._client.close()

    def _first_workers(self) -> Mapping[str, Any]:
        try:
            self._client.wait_for_workers(1, timeout=FIRST_WORKER_S)
        except TimeoutError:
            raise WorkerError(
                f"the scheduler at {self.address} has no workers. Start one: dask worker {self.address}"
            ) from None
        return dict(self._client.scheduler_info(n_workers=-1)["workers"])

    def _check_scheduler(self) -> None:
        if self._client.status != "running":
            raise WorkerError(f"the scheduler at {self.address} was lost during the run. {KEPT}")


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


def check_workers(answers: Mapping[str, Any], ours: Mapping[str, str]) -> None:
    """Refuse a worker that cannot run units.

    Parameters
    ----------
    answers : mapping of str to object
        By the worker's address its versions, or the error that asking for them raised there.
    ours : mapping of str to str
        The versions of this process.

    Raises
    ------
    WorkerError
        For the first worker that lacks the package, or has other versions.
    """
    for worker in sorted(answers):
        found = answers[worker]
        # Dask hands some errors on as text in another one
        if isinstance(found, ImportError | AttributeError) or "ModuleNotFoundError" in str(found):
            raise WorkerError(_no_package(f"worker {worker}", found))
        if isinstance(found, BaseException):
            raise WorkerError(f"worker {worker} cannot be used: {found}")
        refused = refusal(f"worker {worker}", found, ours)
        if refused:
            raise WorkerError(refused)


def _no_package(worker: str, error: BaseException) -> str:
    return f"{worker} cannot run this version of Shortlist: {error}. Install Shortlist where it runs."
