"""What a unit came to: its result or its error, how long it took, and where."""

import functools
import socket
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shortlist.runs.unit import Unit


@dataclass(frozen=True)
class Completed:
    """A unit that has ended.

    Attributes
    ----------
    index : int
        Its place among the units that were given.
    result : object
        What its call returned; None where it raised.
    seconds : float
        Wall-clock time of the call alone.
    machine : str
        Name of the machine that ran it.
    error : Exception or None
        What its call raised, or why it has no result.
    """

    index: int
    result: Any
    seconds: float
    machine: str
    error: Exception | None = None


def run_here(index: int, unit: "Unit") -> Completed:
    """Run a unit in this thread; an error is kept and not raised."""
    start = time.perf_counter()
    result, error = None, None
    try:
        result = unit.call(*unit.arguments)
    except Exception as raised:  # noqa: BLE001  # raised again when the turn of the unit comes
        error = raised
    return Completed(index, result, time.perf_counter() - start, machine_name(), error)


@functools.cache
def machine_name() -> str:
    """Return what this machine is called."""
    return socket.gethostname()
