"""The exit codes of the command, and what Ctrl-C and SIGTERM do while there is nothing to keep.

Imported before anything heavy, so nothing but the standard library belongs here.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

BAD_INPUT = 2
FAILED = 70
NOT_WRITTEN = 74
INTERRUPTED = 130
"""Exit code of a command that was interrupted before there was anything to keep."""

NOTHING_WRITTEN = "interrupted; nothing was written."
SIGNALS = (signal.SIGINT, signal.SIGTERM)

_last_word = threading.Lock()
"""Taken by the handler that ends the process; after it no other may end it or print."""


class NothingKeptError(Exception):
    """Work was interrupted before there was anything to keep; the message is a sentence for people."""


Handler = Callable[[int, FrameType | None], None]


def end_at_once(sentence: str, code: int = INTERRUPTED) -> Handler:
    """Return a handler that says a sentence on stderr, if there is one, and ends the process.

    Signals without a pause interrupt their own handler. It therefore begins with the one step after which
    all that come later have nothing to do; else they would pile up until Python's stack is full.
    """

    def end(_number: int, _frame: FrameType | None) -> None:
        if not _last_word.acquire(blocking=False):
            return
        if sentence:
            with contextlib.suppress(OSError):
                os.write(2, f"shortlist: {sentence}\n".encode())
        os._exit(code)

    return end


def set_handler(handler: Handler | signal.Handlers) -> None:
    """Let both signals do the same from now on; outside the main thread they keep their handlers."""
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            signal.signal(number, handler)


@contextlib.contextmanager
def handled(handler: Handler) -> Iterator[None]:
    """Let both signals do the same within a block, or what else is set there; then what they did before."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    set_handler(handler)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, old in before.items():
                signal.signal(number, old)


def interrupting() -> Handler:
    """Return a handler that raises KeyboardInterrupt at the first signal; the next one ends the process."""
    raised = False

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal raised
        if raised:
            return
        raised = True
        set_handler(end_at_once(NOTHING_WRITTEN))
        raise KeyboardInterrupt

    return interrupt
