"""Calls that run in another process or on another machine, and what comes back of them."""

import functools
import pickle
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from shortlist.errors import ShortlistError, WorkerError
from shortlist.runs.budget import seconds_now
from shortlist.runs.cancellation import Cancellation

LARGE = 1 << 16
"""Bytes from which on an array is mapped into the memory of processes, and an argument that units have in
common goes to each worker of a cluster once.
"""


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
    """Whether a result counts only if the unit was not stopped: see :func:`~shortlist.runs.units.run_whole`.
    Such units end some seconds after a cancellation.
    """


@dataclass(frozen=True)
class Completed:
    """A unit that has ended."""

    index: int
    """Its place among the units that were given."""
    result: Any = None
    """What its call returned; None where it raised."""
    seconds: float = 0.0
    """Wall-clock time of the call alone, without that of compiling kernels."""
    machine: str = ""
    """Name of the machine that ran it."""
    error: Exception | None = None
    """What its call raised, or why it has no result."""


def run_here(index: int, call: Callable[..., Any], arguments: tuple[Any, ...]) -> Completed:
    """Run a unit in this thread; an error is kept and not raised."""
    start = seconds_now()
    result, error = None, None
    try:
        result = call(*arguments)
    except Exception as raised:  # noqa: BLE001  # raised again when the turn of the unit comes
        error = raised
    return Completed(index, result, seconds_now() - start, machine_name(), error)


@functools.cache
def machine_name() -> str:
    """Return what this machine is called."""
    return socket.gethostname()


def run_away(
    stop: Cancellation, index: int, call: Callable[..., Any], arguments: tuple[Any, ...]
) -> bytes | None:
    """Run a unit in a worker; return its pickled result, or None if the run was cancelled before."""
    if stop.cancelled:
        return None
    plain = tuple(each.view(np.ndarray) if isinstance(each, np.memmap) else each for each in arguments)
    return packed(run_here(index, call, plain))


def packed(completed: Completed) -> bytes:
    """Return a pickle that the caller can read: of an error that cannot be, of one that says the same."""
    import cloudpickle

    try:
        content = bytes(cloudpickle.dumps(completed))
        if completed.error is not None:
            pickle.loads(content)  # noqa: S301  # just written
    except Exception as raised:  # noqa: BLE001  # what libraries return and raise fails in every way
        error = completed.error or raised
        told = ShortlistError(f"{type(error).__name__}: {error}")
        return packed(Completed(completed.index, None, completed.seconds, completed.machine, told))
    return content


def killed(key: str) -> WorkerError:
    """Return the error of a unit whose worker died, alone with it and before."""
    return WorkerError(
        f"unit {key} ended its worker each time that it ran. Most often memory is short: use fewer workers."
    )


def unsendable(key: str, error: Exception) -> WorkerError:
    """Return the error of a unit that does not pickle."""
    return WorkerError(f"unit {key} cannot be sent to a worker: {error}. Use one worker.")
