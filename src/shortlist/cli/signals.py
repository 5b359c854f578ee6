"""Exit codes of the command, and the handling of Ctrl-C and SIGTERM while there is no result to keep.

This module is imported before anything heavy, so it uses the standard library only.
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
"""Exit code of a command that was interrupted before there was a result to keep."""

NOTHING_WRITTEN = "interrupted; nothing was written."
SIGNALS = (signal.SIGINT, signal.SIGTERM)

_last_word = threading.Lock()
"""Lock that the handler takes before it ends the process; no other handler may then print or end the process.
"""


class NothingKeptError(Exception):
    """Raised if work was interrupted before there was a result to keep; its message is for people."""


Handler = Callable[[int, FrameType | None], None]


def end_at_once(sentence: str, code: int = INTERRUPTED) -> Handler:
    """Return a handler that prints a sentence on stderr, if not empty, and ends the process.

    Signals in quick succession interrupt their own handler. So the handler first takes a lock, after which
    later signals return at once; otherwise handlers would pile up until Python's stack is full.
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
    """Set a handler for both signals; outside the main thread the handlers stay unchanged."""
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            signal.signal(number, handler)


@contextlib.contextmanager
def handled(handler: Handler) -> Iterator[None]:
    """Handle both signals by a handler within a block, and restore the former handlers at its end.

    Another handler set within the block replaces this one.
    """
    before = {number: signal.getsignal(number) for number in SIGNALS}
    set_handler(handler)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, old in before.items():
                signal.signal(number, old)


def interrupting() -> Handler:
    """Return a handler that raises KeyboardInterrupt at the first signal; the second ends the process."""
    raised = False

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal raised
        if raised:
            return
        raised = True
        set_handler(end_at_once(NOTHING_WRITTEN))
        raise KeyboardInterrupt

    return interrupt
