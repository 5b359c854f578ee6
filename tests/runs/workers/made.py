"""Units for tests of workers; workers import them by name."""

import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.runs import Cancellation, Unit

ROWS = np.arange(20_000, dtype=np.float64)


def total(rows: NDArray[np.float64], factor: int) -> float:
    return float(rows.sum()) * factor


def place_in_memory(rows: NDArray[np.float64], _number: int) -> tuple[int, int]:
    return os.getpid(), rows.__array_interface__["data"][0]


def die_once(mark: Path) -> str:
    """End the process, unless one did so before."""
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return "alive"
    os._exit(3)


def fail(words: str) -> None:
    raise ValueError(words)


def fail_with_lock() -> None:
    error = OSError("held")
    error.lock = threading.Lock()  # type: ignore[attr-defined]  # as libraries attach what does not pickle
    raise error


def result_with_lock() -> Any:
    return threading.Lock()


def written_within(given: dict[str, NDArray[np.float64]], number: int) -> float:
    """Write to an array that other calls have, too, and return what is there then."""
    given["rows"][0] += number
    return float(given["rows"][0])


def until_cancelled(cancellation: Cancellation, mark: Path) -> str:
    """Say that it runs, and end when it is cancelled."""
    mark.touch()
    while not cancellation.cancelled:
        time.sleep(0.01)
    return "cancelled"


def totals(n: int = 12) -> list[Unit]:
    return [Unit(f"total {i}", total, (ROWS, i)) for i in range(n)]


_held: list[bytes] = []


def grow_to(n_bytes: int) -> int:
    """Keep so many bytes in place of those before, for longer than loky waits; return the process."""
    _held[:] = [b"x" * n_bytes]
    time.sleep(1.1)
    return os.getpid()
