"""Cancellation of long work, which then returns its results so far."""

import contextlib
import os
import secrets
import signal
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

STOPPING = "Stopping; writing the best so far. Press again if it takes too long."
STILL_STOPPING = (
    "Still stopping, which takes some seconds; what is finished is kept. Press again to give it up."
)
STDERR = 2
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Cancellation:
    """Flag that long methods check between steps; once set it stays set.

    Copies in other processes are set together with the flag. Processes of this machine look for a file that
    exists once the flag is set. For other machines the sender of the copies has to call
    :func:`cancel_copies`.

    Parameters
    ----------
    grace_s : float, default=2.5
        Seconds until a running unit without partial results is abandoned.
    """

    def __init__(self, grace_s: float = 2.5) -> None:
        self.grace_s = grace_s
        self.name = secrets.token_hex(16)
        self._sent = False
        self._event = threading.Event()
        self._told: list[Callable[[], None]] = []
        self._patience = 0

    def __reduce__(self) -> tuple[Callable[..., "Cancellation"], tuple[str, str, bool]]:
        self._sent = True  # first, so that another caller meanwhile finds the flag set
        return CopiedCancellation, (self.name, str(_flag(self.name)), self.cancelled)

    def cancel(self) -> None:
        """Request that the method stops at its next step and returns its answer so far."""
        self._event.set()
        if self._sent:
            self._tell_copies()
        for tell in tuple(self._told):
            tell()

    def _tell_copies(self) -> None:
        path = _flag(self.name)
        with contextlib.suppress(OSError):  # the file exists already
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            weakref.finalize(self, path.unlink, missing_ok=True)

    @contextlib.contextmanager
    def telling(self, tell: Callable[[], None]) -> Iterator[None]:
        """Call `tell` when the flag is set within the block; `tell` may run within a signal handler."""
        self._told.append(tell)
        try:
            yield
        finally:
            self._told.remove(tell)

    @contextlib.contextmanager
    def patient(self) -> Iterator[None]:
        """Let a second signal wait too, within a block that ends a few seconds after the first signal."""
        self._patience = 1
        try:
            yield
        finally:
            self._patience = 0

    def waits(self) -> bool:
        """Return whether the present further signal may wait; return true once only."""
        waits, self._patience = self._patience > 0, 0
        return waits

    @property
    def cancelled(self) -> bool:
        """Whether :meth:`cancel` was called."""
        return self._event.is_set()


class CopiedCancellation(Cancellation):
    """Copy of a cancellation in another process, which checks the file of the original."""

    def __init__(self, name: str, flag: str, cancelled: bool) -> None:
        super().__init__()
        self.name, self._path = name, flag
        if cancelled or name in _cancelled:
            self._event.set()
        _copies.add(self)

    def __reduce__(self) -> tuple[Callable[..., Cancellation], tuple[str, str, bool]]:
        return CopiedCancellation, (self.name, self._path, self.cancelled)

    @property
    def cancelled(self) -> bool:
        """Whether the copy or its original is set."""
        return self._event.is_set() or os.access(self._path, os.F_OK)


_copies: weakref.WeakSet[CopiedCancellation] = weakref.WeakSet()
_cancelled: set[str] = set()


def cancel_copies(name: str) -> None:
    """Set all copies of the named cancellation in this process, including copies made later."""
    _cancelled.add(name)
    for copy in tuple(_copies):
        if copy.name == name:
            copy.cancel()


def _flag(name: str) -> Path:
    return Path(tempfile.gettempdir(), f"shortlist-stop-{name}")


def say_on_stderr(sentence: str) -> None:
    """Write a line to stderr without Python's buffers, which a signal may have interrupted."""
    with contextlib.suppress(OSError):
        os.write(STDERR, f"shortlist: {sentence}\n".encode())


@contextlib.contextmanager
def cancel_on_interrupt(say: Callable[[str], None] = say_on_stderr) -> Iterator[Cancellation]:
    """Yield a cancellation that the first Ctrl-C or SIGTERM sets; the second raises KeyboardInterrupt.

    If the cancellation is patient, only the third signal raises. Outside the main thread signals cannot be
    caught, and keep their usual meaning. Signals that come before the response to the first signal are
    dropped.

    Parameters
    ----------
    say : callable, optional
        Receives the sentence in response to the first signal, at once and within the signal handler; by
        default it goes to stderr.
    """
    cancellation = Cancellation()
    if threading.current_thread() is not threading.main_thread():
        yield cancellation
        return

    answering = False

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal answering
        if answering:  # signals without a pause interrupt this function, and would nest without end
            return
        answering = True
        if cancellation.cancelled and cancellation.waits():
            answering = False
            say(STILL_STOPPING)
            return
        if cancellation.cancelled:
            restore()  # a third one is for what follows, as the work is abandoned
            raise KeyboardInterrupt
        cancellation.cancel()
        answering = False  # the user may press again once the sentence is there
        say(STOPPING)

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number in before:
        signal.signal(number, interrupt)
    try:
        yield cancellation
    finally:
        restore()


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Defer Ctrl-C and SIGTERM to the end of a block that must not be interrupted.

    Blocking signals in the main thread is not enough: another thread may receive a signal, and Python then
    handles it in the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number in before:
        signal.signal(number, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in came:
            signal.raise_signal(late)
