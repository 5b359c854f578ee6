"""One call that depends on no other, as workers run it, and what it came to."""

import contextlib
import functools
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from shortlist.runs.budget import Budget
from shortlist.runs.cancellation import Cancellation
from shortlist.runs.studies import Study


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
    """Whether a result counts only if the unit was not stopped: see :mod:`shortlist.runs.unit`. Such
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


class UnitGivenUp(BaseException):
    """Raised within a unit that does not look at its cancellation, and no error, as KeyboardInterrupt."""


class WatchedCancellation(Cancellation):
    """Another cancellation, which remembers whether somebody has found it set.

    Nobody who has not can have stopped early, so that what they return is whole.

    `seen`: whether somebody has.
    """

    def __init__(self, watched: Cancellation) -> None:
        super().__init__()
        self._watched = watched
        self.seen = False

    def __reduce__(self) -> Any:
        return self._watched.__reduce__()

    def cancel(self) -> None:
        """Set the other one."""
        self.seen = True
        self._watched.cancel()

    @contextlib.contextmanager
    def telling(self, tell: Callable[[], None]) -> Iterator[None]:
        """Call `tell` when the other one is set."""

        def tell_and_note() -> None:
            self.seen = True
            tell()

        with self._watched.telling(tell_and_note):
            yield

    @property
    def cancelled(self) -> bool:
        """Whether the other one is set."""
        self.seen = self.seen or self._watched.cancelled
        return self.seen


@dataclass(frozen=True)
class Unfinished:
    """What a unit returns that was stopped, or has more to do, where what it has is recorded in parts."""

    result: Any


def run_whole(cancellation: Cancellation, study: Study, call: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a call returns that takes a keyword `budget`; None if it was stopped in the middle.

    The call is stopped by the cancellation of that budget, which has no limit of its own, and may keep in its
    study from where it goes on, if it runs in the process that drives the study. It counts as
    stopped if anything in it has found the cancellation set, whatever it returned or raised then, unless it
    returned :class:`Unfinished`. In the main thread, where there are alarms, a call that goes on for
    the grace of the cancellation gets :class:`UnitGivenUp`, as soon as it is back in Python.
    """
    watched = WatchedCancellation(cancellation)
    try:
        with _given_up_after_grace(cancellation):
            found = call(*arguments, budget=Budget(cancellation=watched, study=study))
    except UnitGivenUp:
        return None
    except Exception:
        if watched.seen:
            return None
        raise
    return None if watched.seen and not isinstance(found, Unfinished) else found


@contextlib.contextmanager
def _given_up_after_grace(cancellation: Cancellation) -> Iterator[None]:
    """Raise in a block that goes on too long after a cancellation."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    inside = True

    def give_up(_number: int, _frame: FrameType | None) -> None:
        if inside:
            raise UnitGivenUp

    before = signal.signal(signal.SIGALRM, give_up)
    try:
        with cancellation.telling(lambda: _alarm(cancellation.grace_s)):
            yield
    finally:
        inside = False
        _alarm(0.0)
        signal.signal(signal.SIGALRM, before)


def _alarm(after_s: float) -> None:
    """Ring after some seconds and again and again, as a library may swallow the exception; 0 ends it."""
    signal.setitimer(signal.ITIMER_REAL, after_s, after_s)
