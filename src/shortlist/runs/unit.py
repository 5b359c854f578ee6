"""One call that depends on no other, as workers run it, and what it came to."""

import functools
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Unit:
    """One call that depends on no other unit.

    Parameters
    ----------
    key : str
        Names it in studies and messages.
    call : callable
        What is called; with `whole` it takes a keyword `budget` besides.
    arguments : tuple
        By position.
    kind : str
        Units of one kind take as long as their sizes say; one of each kind is run first, so that the time
        left is known early.
    size : float, default=1
        Expected work, in any measure that is the same for all units, such as rows times classifiers. A unit
        of size 0 takes next to no time, and says nothing of others.
    whole : bool, default=False
        Whether a result counts only if the unit was not stopped: see :mod:`shortlist.runs.whole_units`.
        Such units end some seconds after a cancellation.
    """

    key: str
    call: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    kind: str = ""
    size: float = 1.0
    whole: bool = False


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
    result: Any = None
    seconds: float = 0.0
    machine: str = ""
    error: Exception | None = None


def run_here(index: int, call: Callable[..., Any], arguments: tuple[Any, ...]) -> Completed:
    """Run a unit in this thread; an error is kept and not raised."""
    start = time.perf_counter()
    result, error = None, None
    try:
        result = call(*arguments)
    except Exception as raised:  # noqa: BLE001  # raised again when the turn of the unit comes
        error = raised
    return Completed(index, result, time.perf_counter() - start, machine_name(), error)


@functools.cache
def machine_name() -> str:
    """Return what this machine is called."""
    return socket.gethostname()
