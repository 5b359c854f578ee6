"""Long work of a command: its progress is shown, and it can be stopped with what it has found."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from shortlist.cli.failures import NothingKeptError
from shortlist.cli.signals import NOTHING_WRITTEN
from shortlist.cli.studies import unfinished
from shortlist.cli.text.progress import shown_progress
from shortlist.errors import ShortlistError
from shortlist.runs import Cancellation, Report, cancel_on_interrupt


@contextlib.contextmanager
def long_work(keeps: Path | None = None) -> Iterator[tuple[Cancellation, Report]]:
    """Yield the cancellation that the first Ctrl-C or SIGTERM sets, and a report that shows progress.

    Parameters
    ----------
    keeps : Path, optional
        The study to which finished parts are added, so that the same command goes on from there.

    Raises
    ------
    NothingKeptError
        After the second signal, and where a method that was stopped by the first has no answer.
    """
    with shown_progress() as display, cancel_on_interrupt(display.say) as cancellation:
        try:
            yield cancellation, display.report
            if keeps is not None and cancellation.cancelled:
                unfinished.add(keeps)
        except KeyboardInterrupt:
            raise NothingKeptError(NOTHING_WRITTEN + _kept(keeps)) from None
        except ShortlistError as error:
            if cancellation.cancelled:
                raise NothingKeptError(f"interrupted: {error}{_kept(keeps)}") from None
            raise


def check_found(found: bool, cancellation: Cancellation) -> None:
    """Raise within :func:`long_work` if the work was stopped before there was anything to keep."""
    if cancellation.cancelled and not found:
        raise ShortlistError("nothing had been found yet, so nothing was written.")


def _kept(keeps: Path | None) -> str:
    """Say where finished parts lie."""
    if keeps is None or not keeps.exists():
        return ""
    return f" What had been finished is in {keeps}; the same command goes on from there."
