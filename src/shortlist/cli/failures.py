"""How the command ends when there is no answer: one sentence on stderr and an exit code."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import typer

from shortlist._words import did_you_mean
from shortlist.cli.signals import INTERRUPTED, NOTHING_WRITTEN
from shortlist.errors import FetchError, NotWrittenError, ShortlistError, SolverError

BAD_INPUT = 2
FAILED = 70
NOT_WRITTEN = 74

UsageError: Any = typer.BadParameter.__base__
"""What typer raises of a command line that it cannot read; it exports no other name for it."""


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


def misread(error: Any, words: Sequence[str]) -> str:
    """Return what to say of a command line that cannot be read, or the help where nothing was asked."""
    message = str(error.format_message())
    context, parameter = error.ctx, getattr(error, "param", None)
    if context is None or "\n" in message:
        return message
    option = getattr(error, "option_name", None)
    if option is not None and type(error).__name__ == "NoSuchOption":
        known = [name for one in context.command.params for name in one.opts]
        message = f"no such option: {option}.{did_you_mean(option, known)}"
    elif parameter is not None and type(error) is typer.BadParameter:
        message = _wrong_kind(parameter, words) or message
    end = "" if message.endswith((".", "?")) else "."
    return f"{message[:1].lower()}{message[1:]}{end} See: {context.command_path} --help"


def _wrong_kind(parameter: Any, words: Sequence[str]) -> str:
    """Say which kind of number an option takes, and what came."""
    annotation = str(parameter.type_descriptor.annotation)
    kind = next((text for name, text in _KINDS.items() if name in annotation), None)
    option = parameter.opts[-1]
    if kind is None or not option.startswith("--"):
        return ""
    given = [word.partition("=")[2] for word in words if word.startswith(f"{option}=")]
    given += [after for word, after in itertools.pairwise(words) if word == option]
    return f"{option} must be {kind}" + (f", got {given[-1]!r}." if given else ".")


_KINDS = {"int": "a whole number", "float": "a number"}
