"""Stopping long work with what it has found."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class Cancellation:
    """A flag that long methods look at between steps; once set it stays set."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the method to stop at its next step and to return what it has."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether :meth:`cancel` was called."""
        return self._event.is_set()


@contextlib.contextmanager
def cancel_on_interrupt() -> Iterator[Cancellation]:
    """Yield a cancellation that the first Ctrl-C sets; a second one raises KeyboardInterrupt as usual.

    Outside the main thread, where signals cannot be caught, Ctrl-C keeps its usual meaning.
    """
    cancellation = Cancellation()
    if threading.current_thread() is not threading.main_thread():
        yield cancellation
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        if cancellation.cancelled:
            raise KeyboardInterrupt
        cancellation.cancel()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield cancellation
    finally:
        signal.signal(signal.SIGINT, before)
