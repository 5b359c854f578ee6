"""The command `shortlist`."""

import contextlib
import functools
import os
import re
import shlex
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated

import typer

from shortlist import __version__
from shortlist.cli.command_line import (
    AS_TYPED,
    COMMANDS,
    Commands,
    UsageError,
    asked,
    command_named,
    misread,
    refuse_left,
)
from shortlist.cli.options.settings import options_of
from shortlist.cli.options.shared import Details, Json
from shortlist.cli.signals import (
    BAD_INPUT,
    FAILED,
    INTERRUPTED,
    NOT_WRITTEN,
    NOTHING_WRITTEN,
    NothingKeptError,
    end_at_once,
    handled,
    interrupting,
    set_handler,
)
from shortlist.cli.text.output import Held, complain, deliver, noted, speaking, unwritten, warn, warned
from shortlist.errors import FetchError, MissingDependencyError, NotWrittenError, ShortlistError, SolverError

PAIR = r"\{('[^']*'|\"[^\"]*\"): ([\w.+-]+)\}"
MARKED = re.compile(r"`(\w+)(?:=([^`]*))?`")
"""Pattern of an argument in a sentence of the library, with or without a value."""


def in_options(said: str | BaseException, names: Mapping[str, str]) -> str:
    """Return a sentence with options in place of arguments, without values that cannot be typed.

    `said`: a sentence of the library, or an error. `names`: option of the command for each argument, such as
    ``--max-size`` for ``max_size``.

    >>> from shortlist.errors import BadInputError
    >>> names = {"n_folds": "--set folds", "method": "--method", "defaults": "--set default"}
    >>> in_options(BadInputError("n_folds", "must be at least 2", 1), names)
    '--set folds must be at least 2, got 1.'
    >>> in_options("Use `method='windows'`, or a lower `max_size`.", names)
    'Use --method windows, or a lower max_size.'
    >>> in_options("Pass `defaults={'Cost (EUR)': 0}`.", names)
    "Pass --set 'default=Cost (EUR)=0'."
    >>> in_options("Name it by `answer`.", {"answer": "--columns answer"})
    'Name it by --columns answer=NAME.'
    """
    sentence = said.sentence(names) if isinstance(said, ShortlistError) else str(said)
    return MARKED.sub(functools.partial(_typed, names), sentence).replace(" or None,", ",")


def _typed(names: Mapping[str, str], found: re.Match[str]) -> str:
    argument, value = found[1], found[2]
    option = names.get(argument, argument)
    if value is None:
        return f"{option}=NAME" if option.startswith("--columns ") else option
    if not option.startswith("--"):
        return f"{option}={value}"
    pair = re.fullmatch(PAIR, value)
    plain = f"{pair[1][1:-1]}={pair[2]}" if pair else value.strip("'\"")
    flag, _, setting = option.partition(" ")
    if setting:
        sign = "<=" if flag == "--limit" else "="
        plain = f"{setting}{sign}{ {'True': 'yes', 'False': 'no'}.get(plain, plain) }"
    return flag if plain in {"True", "None"} else f"{flag} {shlex.quote(plain)}"


app = typer.Typer(
    name="shortlist",
    cls=Commands,
    no_args_is_help=True,
    help="Choose well when several things matter at once, with proof.",
    pretty_exceptions_enable=False,
    **AS_TYPED,
)
DEBUG = "--debug"
COMPLETION = "_SHORTLIST_COMPLETE"
"""Name of the environment variable by which a shell requests completions."""
PRINTING = "interrupted while the answer was printed."


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"shortlist {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit."),
    ] = False,
    details: Details = False,
    json: Json = False,
    debug: Annotated[
        bool, typer.Option(DEBUG, help="Show where in the program an error comes from.")
    ] = False,
) -> None:
    """Choose well when several things matter at once, with proof."""


def run_command() -> None:
    """Run the command line.

    The answer goes to stdout. An error goes to stderr as one sentence, and sets the exit code. After all
    output, a pending signal ends the process with this code.
    """
    words = [word for word in sys.argv[1:] if word != DEBUG]
    unwritten.clear()
    noted.clear()
    warned.clear()
    printed = Held(sys.stdout)
    said, program = "", "shortlist"
    name, rest = asked(words)
    alone = name in COMMANDS and COMPLETION not in os.environ
    translate = functools.partial(_translated, name=name)
    try:
        with (
            speaking(translate),
            handled(interrupting()),
            _warnings_as_notes(),
            contextlib.redirect_stdout(printed),
        ):
            command = command_named(name) if alone else typer.main.get_command(app)
            if alone:
                words, program = rest, f"shortlist {name}"
                refuse_left(name, rest)
            code = int(command.main(words, program, standalone_mode=False, obj=run_command) or 0)
        if code == INTERRUPTED:  # typer has caught the interruption
            said, code = ended(KeyboardInterrupt(), translate)
    except UsageError as error:
        said, code = misread(error, words), BAD_INPUT
    except SystemExit as error:  # how the printing of a shell's completion ends
        code = int(error.code or 0)
    except BaseException as error:  # noqa: BLE001  # the last resort: no traceback without --debug
        said, code = ended(error, translate)
        if DEBUG in sys.argv:
            traceback.print_exception(error)
    set_handler(end_at_once(said if code == INTERRUPTED else PRINTING))
    deliver(printed.getvalue())
    set_handler(signal.SIG_IGN)  # the last sentence is said once, however many signals come
    for sentence in filter(None, [said, *unwritten]):
        complain(sentence)
    code = code or (NOT_WRITTEN if unwritten else 0)
    set_handler(end_at_once("", code))
    if code:
        sys.exit(code)


def _translated(said: str | BaseException, name: str) -> str:
    """Return a sentence with the options of the named command in place of arguments."""
    try:
        return in_options(said, options_of(command_named(name)) if name in COMMANDS else {})
    except MissingDependencyError:
        return str(said)


@contextlib.contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Show warnings of the library, and of its dependencies, as sentences without lines of code."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: warn(str(message))
        yield


def ended(error: BaseException, translate: Callable[[str | BaseException], str]) -> tuple[str, int]:
    """Return the message on an error, and the exit code.

    `error`: exception that the command raised. `translate`: returns a sentence with options in place of
    arguments.
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
    """Return whether an error was raised while an interruption was handled, as a second signal may do."""
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
