"""Long work of a command: its progress is shown, and it can be stopped with what it has found."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from shortlist.cli.failures import FAILED, NothingKeptError
from shortlist.cli.signals import NOTHING_WRITTEN, end_at_once
from shortlist.cli.text.progress import shown_progress
from shortlist.errors import ShortlistError
from shortlist.runs import Cancellation, Report, cancel_on_interrupt
from shortlist.runs.budget import Budget, seconds_now

STILL_AT_WORK_S = 60.0
"""Seconds after its limit that a search may still be at work, to check and write what it found."""


@contextlib.contextmanager
def long_work(keeps: Path | None = None) -> Iterator[tuple[Cancellation, Report]]:
    """Yield the cancellation that the first Ctrl-C or SIGTERM sets, and a report that shows progress.

    `keeps`: the study to which finished parts are added, so that the same command goes on from there.

    Raises NothingKeptError after the second signal, and where a method that was stopped by the first has no
    answer.
    """
    with shown_progress() as display, cancel_on_interrupt(display.say) as cancellation:
        try:
            yield cancellation, display.report
        except KeyboardInterrupt:
            raise NothingKeptError(NOTHING_WRITTEN + _kept(keeps)) from None
        except ShortlistError as error:
            if cancellation.cancelled:
                raise NothingKeptError(f"interrupted: {error}{_kept(keeps)}") from None
            raise


@contextlib.contextmanager
def within(seconds: float) -> Iterator[Budget]:
    """Yield a budget of seconds that the first Ctrl-C ends, for work that shows no progress."""
    with cancel_on_interrupt() as cancellation, last_resort(seconds):
        yield Budget(seconds, cancellation=cancellation)


@contextlib.contextmanager
def last_resort(
    seconds: float | None,
    *,
    clock: Callable[[], float] = seconds_now,
    wait: Callable[[threading.Event], bool] = lambda over: over.wait(1.0),
    end: Callable[[str], None] = lambda sentence: end_at_once(sentence, FAILED)(signal.SIGTERM, None),
) -> Iterator[None]:
    """End the process with a sentence if a block goes on for :data:`STILL_AT_WORK_S` after its limit.

    Every search looks at its limit by itself, so this is the last resort against unforeseen cases.

    `clock`, `wait`, `end`: what tells the time, waits between two looks at it until the block is over, and
    ends the process.
    """
    over, start = threading.Event(), clock()

    def watch() -> None:
        while not wait(over):
            if seconds is not None and clock() - start > seconds + STILL_AT_WORK_S:
                late = f"{STILL_AT_WORK_S:g} s after the limit of {seconds:g} s"
                end(f"still at work {late}; nothing was written.")
                return

    watching = threading.Thread(target=watch, daemon=True)
    if seconds is not None:
        watching.start()
    try:
        yield
    finally:
        over.set()


def check_found(found: bool, cancellation: Cancellation) -> None:
    """Raise within :func:`long_work` if the work was stopped before there was anything to keep."""
    if cancellation.cancelled and not found:
        raise ShortlistError("nothing had been found yet, so nothing was written.")


def _kept(keeps: Path | None) -> str:
    if keeps is None or not keeps.exists():
        return ""
    return f" What had been finished is in {keeps}; the same command goes on from there."
