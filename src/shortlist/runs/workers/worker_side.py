"""What runs in a worker process: it opens parcels, runs their calls, and sends back what they came to."""

import functools
import mmap
import os
import pickle
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.errors import ShortlistError
from shortlist.runs.cancellation import Cancellation
from shortlist.runs.workers.completed import Completed, machine_name
from shortlist.runs.workers.shipping import Parcel, restored, unpack_call
from shortlist.runs.workers.versions import refusal, versions

STOP_FILE = "stop"
"""File of one byte, in the folder of a run, which is 1 once the run is cancelled."""

MOST_RUNS = 4
"""Runs whose shipped values a worker keeps at a time; the oldest go."""

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""What linear algebra, OpenMP and numba read when they are loaded."""


@dataclass(frozen=True)
class Setting:
    """What a worker has to know of a run.

    Attributes
    ----------
    run : str
        Tells runs apart.
    n_threads : int
        How many threads a unit may use.
    wanted : mapping of str to str or None
        The versions of the process that asks; None where worker and process are of one installation.
    folder : str
        Where the shipped values lie on this machine; empty where they come with the calls.
    """

    run: str
    n_threads: int
    wanted: Mapping[str, str] | None = None
    folder: str = ""


@dataclass(frozen=True)
class Answer:
    """What a call came to, as bytes; `skipped` if it was not begun because the run was cancelled."""

    index: int
    seconds: float
    machine: str
    result: bytes = b""
    error: bytes = b""
    refused: str = ""
    skipped: bool = False

    def completed(self) -> Completed:
        """Return it for the caller."""
        result = pickle.loads(self.result) if self.result else None  # noqa: S301  # from our own worker
        error = pickle.loads(self.error) if self.error else None  # noqa: S301  # from our own worker
        return Completed(self.index, result, self.seconds, self.machine, error)


class FlaggedCancellation(Cancellation):
    """A cancellation that another process sets by a byte of a file."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        with path.open("rb") as file:
            self._byte = mmap.mmap(file.fileno(), 1, access=mmap.ACCESS_READ)

    @property
    def cancelled(self) -> bool:
        """Whether the byte is set."""
        return self._byte[0] != 0


@dataclass(eq=False)
class _Run:
    cancellation: Cancellation
    values: dict[str, Any] = field(default_factory=dict)


_runs: OrderedDict[str, _Run] = OrderedDict()
_lock = threading.Lock()


def run_parcels(
    setting: Setting, parcels: Sequence[Parcel], digests: Sequence[str] = (), values: Sequence[Any] = ()
) -> list[Answer]:
    """Run the calls of some parcels, one after the other.

    Parameters
    ----------
    setting : Setting
    parcels : sequence of Parcel
    digests, values : sequences
        What was shipped once, where it comes with the calls.
    """
    if setting.wanted is not None:
        refused = refusal("", versions(), setting.wanted)
        if refused:
            return [Answer(one.index, 0.0, machine_name(), refused=refused.strip()) for one in parcels]
    limit_threads(setting.n_threads)
    run = _run_of(setting)
    with _lock:
        for digest, value in zip(digests, values, strict=True):
            if digest not in run.values:
                run.values[digest] = restored(value, run.cancellation)
        for digest in set().union(*(parcel.digests for parcel in parcels)) - set(run.values):
            run.values[digest] = restored(_read_value(Path(setting.folder, digest)), run.cancellation)
    return [_answer(parcel, run) for parcel in parcels]


def stop_run(run: str) -> None:
    """Cancel a run in this worker process: what is running may end early, and nothing more is begun."""
    _run_of(Setting(run, 1)).cancellation.cancel()


def forget_run(run: str) -> None:
    """Drop what was shipped for a run."""
    with _lock:
        _runs.pop(run, None)


def write_value(path: Path, value: Any) -> None:
    """Write a value that is shipped once, an array or bytes, to be mapped into the memory of workers."""
    if isinstance(value, np.ndarray):
        with path.open("wb") as file:
            np.save(file, value, allow_pickle=False)
    else:
        path.write_bytes(value)


def _read_value(path: Path) -> Any:
    """Map an array, each worker with its own copies of the pages that it changes; read bytes."""
    with path.open("rb") as file:
        is_array = file.read(len(_NPY)) == _NPY
    if is_array:
        return np.load(path, mmap_mode="c", allow_pickle=False).view(np.ndarray)
    return path.read_bytes()


_NPY = b"\x93NUMPY"


def _run_of(setting: Setting) -> _Run:
    with _lock:
        if setting.run not in _runs:
            flag = Path(setting.folder, STOP_FILE)
            _runs[setting.run] = _Run(FlaggedCancellation(flag) if setting.folder else Cancellation())
            while len(_runs) > MOST_RUNS:
                _runs.popitem(last=False)
        return _runs[setting.run]


def _answer(parcel: Parcel, run: _Run) -> Answer:
    """Run one call; whatever it raises comes back as bytes that the caller can read."""
    if run.cancellation.cancelled:
        return Answer(parcel.index, 0.0, machine_name(), skipped=True)
    start = time.perf_counter()
    result, error = b"", b""
    try:
        call, arguments = unpack_call(parcel, run.values, run.cancellation)
        start = time.perf_counter()
        found = call(*arguments)
        seconds = time.perf_counter() - start
        result = _dumped(found)
    except Exception as raised:  # noqa: BLE001  # raised again where the caller is
        seconds = time.perf_counter() - start
        error = _dumped_error(raised)
    return Answer(parcel.index, seconds, machine_name(), result, error)


def _dumped(value: Any) -> bytes:
    import cloudpickle

    return bytes(cloudpickle.dumps(value))


def _dumped_error(error: Exception) -> bytes:
    """Pickle an error, or one that says the same where it cannot be read again."""
    try:
        content = _dumped(error)
        pickle.loads(content)  # noqa: S301  # just written
    except Exception:  # noqa: BLE001  # errors of other libraries fail to pickle in every way
        return _dumped(ShortlistError(f"{type(error).__name__}: {error}"))
    return content


@functools.cache
def limit_threads(n_threads: int) -> None:
    """Let libraries of this process use so many threads, those that are loaded and those that will be."""
    from threadpoolctl import threadpool_limits

    for name in THREAD_VARIABLES:
        os.environ.setdefault(name, str(n_threads))
    threadpool_limits(limits=n_threads)
