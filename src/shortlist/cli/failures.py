"""How the command ends when there is no answer: one sentence on stderr and an exit code."""

from collections.abc import Callable

from shortlist.cli.signals import INTERRUPTED, NOTHING_WRITTEN
from shortlist.errors import FetchError, NotWrittenError, ShortlistError, SolverError

BAD_INPUT = 2
FAILED = 70
NOT_WRITTEN = 74


class NothingKeptError(Exception):
    """Work was interrupted before there was anything to keep; the message is a sentence for people."""


def ended(error: BaseException, translate: Callable[[str | BaseException], str]) -> tuple[str, int]:
    """Return what to say of an error, and the exit code.

    `error`: what came out of the command. `translate`: calls the library's arguments by the names of the
    command's options.
    """
    if isinstance(error, KeyboardInterrupt):
        return NOTHING_WRITTEN, INTERRUPTED
    if isinstance(error, NothingKeptError):
        return translate(error), INTERRUPTED
    if isinstance(error, ShortlistError):
        codes = {NotWrittenError: NOT_WRITTEN, FetchError: NOT_WRITTEN, SolverError: FAILED}
        code = codes.get(type(error), BAD_INPUT)
        return translate(error), code
    if isinstance(error, OSError):
        reason = error.strerror or str(error) or type(error).__name__
        place = f"{error.filename} cannot be read or written" if error.filename else "a file failed"
        return f"{place}: {reason}.", NOT_WRITTEN
    if _came_of_an_interruption(error):
        return NOTHING_WRITTEN, INTERRUPTED
    return _unexpected(error), FAILED


def _came_of_an_interruption(error: BaseException) -> bool:
    """Whether an error was raised while an interruption was on its way out, as a second signal may."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__context__
    return cause is not None


def _unexpected(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory for this. Try a smaller input or smaller limits."
    if isinstance(error, RecursionError):
        return "the input is nested more deeply than can be followed. Make it flatter."
    first = ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])
    advice = "Run it again as shortlist --debug ... for the details, and please report them."
    return f"something went wrong that should not ({first}). {advice}"
