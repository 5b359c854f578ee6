"""Processes of this machine, started by joblib's loky."""

import contextlib
import shutil
import signal
import sys
import tempfile
import uuid
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from shortlist.errors import WorkerError
from shortlist.runs.workers.shipping import Parcel, Shelf
from shortlist.runs.workers.worker_side import (
    STOP_FILE,
    THREAD_VARIABLES,
    Answer,
    Setting,
    run_parcels,
    write_value,
)

IDLE_S = 300
"""Seconds after which a worker without work ends itself."""

_pools: dict[int, Any] = {}
"""The pool of so many processes, kept for the next run, because starting and importing takes seconds."""


class ProcessEngine:
    """Runs parcels in processes; what calls have in common lies in a folder that they map into memory."""

    def __init__(self, n_workers: int) -> None:
        from joblib import cpu_count

        self.n_workers = n_workers
        self.n_bytes = 0
        self._folder = Path(tempfile.mkdtemp(prefix="shortlist-"))
        (self._folder / STOP_FILE).write_bytes(b"\0")
        self._written: set[str] = set()
        self._n_threads = max(1, cpu_count() // n_workers)
        self._setting = Setting(uuid.uuid4().hex, self._n_threads, folder=str(self._folder))

    def submit(self, batch: Sequence[Parcel], shelf: Shelf) -> Any:
        """Send a batch to the pool, which is started if there is none."""
        for digest in set().union(*(parcel.digests for parcel in batch)) - self._written:
            write_value(self._folder / digest, shelf.values[digest])
            self._written.add(digest)
        self.n_bytes += sum(parcel.n_bytes for parcel in batch)
        with _no_interrupt():
            return _pool(self.n_workers, self._n_threads).submit(run_parcels, self._setting, list(batch))

    def outcome(self, future: Any) -> list[Answer] | None:
        """Return what a batch came to, or None if a process died."""
        from concurrent.futures.process import BrokenProcessPool

        try:
            answers: list[Answer] = future.result()
        except BrokenProcessPool:
            return None
        return answers

    def mend(self) -> bool:
        """Throw the pool away; all that was in flight is lost with it."""
        _end_pool(self.n_workers)
        return True

    def check(self) -> None:
        """Raise WorkerError if the thread that hears from the processes has ended."""
        pool = _pools.get(self.n_workers)
        hearing = getattr(pool, "_executor_manager_thread", None)
        if hearing is not None and not hearing.is_alive():
            for process in list(getattr(pool, "_processes", {}).values()):  # nobody else ends them now
                process.kill()
            _pools.pop(self.n_workers)
            raise WorkerError(
                "the thread that hears from the worker processes has ended, which should not happen. Run it "
                "again, or with one worker."
            )

    def stop(self) -> None:
        """Set the byte that all copies of the cancellation look at."""
        with (self._folder / STOP_FILE).open("r+b") as file:  # in place: it is mapped, and never shorter
            file.write(b"\1")

    def abandon(self, _futures: Sequence[Any]) -> None:
        """End the processes: left to themselves, each would take seconds at the end of this one."""
        _end_pool(self.n_workers)

    def close(self) -> None:
        """Delete the folder; processes keep what they have mapped until they forget the run."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _pool(n_workers: int, n_threads: int) -> Any:
    from joblib.externals.loky import ProcessPoolExecutor

    if n_workers not in _pools:
        variables = dict.fromkeys(THREAD_VARIABLES, str(n_threads))
        _pools[n_workers] = ProcessPoolExecutor(
            n_workers, timeout=IDLE_S, env=variables, initializer=_keep_growing_processes
        )
    # Said in the thread that hears from the processes, which would end where warnings are errors.
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)
    return _pools[n_workers]


def _keep_growing_processes() -> None:
    """Let a process grow: loky takes 300 MB for a leak, and solvers and kernels with their data are as large.

    It would end the process after its unit and start another one, which loads all of them again.
    """
    from joblib.externals.loky import process_executor

    vars(process_executor)["_MAX_MEMORY_LEAK_SIZE"] = sys.maxsize


def _end_pool(n_workers: int) -> None:
    pool = _pools.pop(n_workers, None)
    if pool is not None:
        pool.shutdown(wait=True, kill_workers=True)


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

    resource_tracker.ensure_running()  # both unblock the signal when they start
    loky_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
