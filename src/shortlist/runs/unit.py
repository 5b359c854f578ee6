"""One call that depends on no other, as workers run it, and what it came to."""

import functools
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Unit:
    """One call that depends on no other unit."""

    key: str
    """Names it in studies and messages."""
    call: Callable[..., Any]
    """What is called; with `whole` it takes a keyword `budget` besides."""
    arguments: tuple[Any, ...] = ()
    """By position."""
    kind: str = ""
    """Units of one kind take as long as their sizes say; one of each kind is run first, so that the time left
    is known early.
    """
    size: float = 1.0
    """Expected work, in any measure that is the same for all units, such as rows times classifiers. A unit of
    size 0 takes next to no time, and says nothing of others.
    """
    whole: bool = False
    """Whether a result counts only if the unit was not stopped: see :mod:`shortlist.runs.whole_units`. Such
    units end some seconds after a cancellation.
    """


@dataclass(frozen=True)
class Completed:
    """A unit that has ended."""

    index: int
    """Its place among the units that were given."""
    result: Any = None
    """What its call returned; None where it raised."""
    seconds: float = 0.0
    """Wall-clock time of the call alone."""
    machine: str = ""
    """Name of the machine that ran it."""
    error: Exception | None = None
    """What its call raised, or why it has no result."""


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
