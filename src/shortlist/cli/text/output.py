"""What commands print alike."""

import contextlib
import io
import json
import math
import os
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from shortlist.errors import NotWrittenError, ShortlistError, UnwritableFileError

if TYPE_CHECKING:
    import pandas as pd
    import typer

    from shortlist.report.parts import Parts


_translate: ContextVar[Callable[[str | BaseException], str]] = ContextVar("translate")
"""What calls arguments by the options of the command that runs."""


@contextlib.contextmanager
def speaking(translate: Callable[[str | BaseException], str]) -> Iterator[None]:
    """Let :func:`as_typed` use this translation while a command runs."""
    token = _translate.set(translate)
    try:
        yield
    finally:
        _translate.reset(token)


def as_typed(said: str | BaseException) -> str:
    """Call arguments by the options of the running command; text without backticks names none."""
    translate = _translate.get(None)
    return str(said) if translate is None or (isinstance(said, str) and "`" not in said) else translate(said)


warned: list[str] = []
"""Warnings of the run so far, each once, which JSON has under ``notes``."""


def warn(message: str) -> None:
    """Say a warning of the library as a note, once."""
    note = as_typed(message)
    if note not in warned:
        warned.append(note)
        complain(f"note: {note}")


def print_json(facts: dict[str, Any]) -> None:
    """Print one JSON object on stdout; infinity and NaN do not exist in JSON and must be None by now."""
    if "notes" in facts:
        facts |= {"notes": list(dict.fromkeys([*map(as_typed, facts["notes"]), *warned]))}
    print(json.dumps(facts, indent=2, allow_nan=False))


def print_notes(notes: Sequence[str]) -> None:
    """Print notes on the answer, a line each on stderr.

    A command's JSON has the same sentences under ``notes``.
    """
    for note in notes:
        complain(f"note: {as_typed(note)}")


def finite(number: float) -> float | None:
    """Return the number, or None for what JSON cannot say."""
    return number if math.isfinite(number) else None


def json_records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the rows of a table for JSON, which has no NaN."""
    return [
        {name: value if value == value else None for name, value in row.items()}  # noqa: PLR0124  # not NaN
        for row in frame.to_dict("records")
    ]


def run_facts(context: "typer.Context") -> dict[str, Any]:
    """Return what a command's JSON says of the run: version, seed and every option as it was used."""
    from shortlist import __version__
    from shortlist.cli.options.groups import typed_name
    from shortlist.cli.options.settings import read_settings, settings_of

    given = read_settings(context.params.get("settings"), settings_of(context.command))
    hidden = {one.name for one in context.command.params if getattr(one, "hidden", False)}
    options = {
        typed_name(context, name).removeprefix("--set ").lstrip("-"): _typed_value(value)
        for name, value in (given | context.params).items()
        if name not in {"json", "settings"} and name not in hidden
    }
    return {"version": __version__, "seed": context.params.get("seed"), "options": options}


def _typed_value(value: Any) -> Any:
    """Return an option's value as JSON can have it: paths as texts."""
    if isinstance(value, list | tuple):
        return [_typed_value(one) for one in value]
    return str(value) if isinstance(value, Path) else value


def save_page(path: Path | None, title: str, parts: "Callable[[], Parts]") -> Path | None:
    """Write a page where one was asked for, and return where it is."""
    if path is None:
        return None
    from shortlist.report.page import page, write_page

    text = page(title, parts())
    return save(path, lambda place: write_page(place, text))


def tell_page(path: Path | None) -> None:
    """Say where the page is, if there is one."""
    if path is not None:
        print(f"Report in {path}.")


def page_path(path: Path | None) -> dict[str, str | None]:
    """Return what a command's JSON says of its page."""
    return {"report": None if path is None else str(path)}


STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that steer a terminal, turn the direction of writing, or stand for bytes that are no text."""

unwritten: list[str] = []
"""What this run of the command could not write where it should, a sentence each."""


def save(path: Path, write: Callable[[Path], object]) -> Path:
    """Write a result, or where that fails, write it to the temporary folder.

    The command ends with its own exit code. Raises NotWrittenError if it could not be written anywhere.

    `path`: where the user wants the result. `write`: writes it to the path that it gets, whole or not at all.

    Where the result is.
    """
    try:
        write(path)
    except (OSError, UnwritableFileError) as error:
        reason = _reason(error, f"{path} cannot be written: ")
    else:
        return path
    try:
        place = Path(tempfile.mkdtemp(prefix="shortlist-")) / path.name
        write(place)
    except (OSError, UnwritableFileError) as error:
        raise NotWrittenError(f"{reason}; nor can the temporary folder: {_reason(error)}.") from None
    unwritten.append(f"{reason}. It is in {place} instead.")
    return place


class Held(io.StringIO):
    """What a command has printed so far; it goes to `target` when the command ends."""

    def __init__(self, target: TextIO) -> None:
        super().__init__()
        self.target = target


def deliver_now() -> None:
    """Deliver at once what was printed so far, as a dialogue has to; nothing outside of a command."""
    held = sys.stdout
    if isinstance(held, Held):
        text = held.getvalue()
        held.seek(0)
        held.truncate()
        with contextlib.redirect_stdout(held.target):
            deliver(text)


def deliver(text: str) -> None:
    """Write all that a command prints to stdout; where that fails, keep it in a file in the temporary folder.

    A reader that has closed the pipe, as ``head`` does, has what it wanted: the rest is dropped without a
    word.
    """
    if sys.stdout is None:  # closed by the caller
        return
    try:
        sys.stdout.write(wrapped(written_out(text), sys.stdout))
        sys.stdout.flush()
    except OSError as error:
        _forget_stdout()
        if not isinstance(error, BrokenPipeError):
            message = f"stdout cannot be written: {error.strerror}"
            unwritten.append(f"{message}. {_kept_text(text)}")


def complain(sentence: str) -> None:
    """Print a sentence, or a whole page of help, on stderr, wherever that can be written."""
    text = sentence if "\n" in sentence else f"shortlist: {sentence}"
    with contextlib.suppress(OSError, AttributeError):  # full, closed or None
        print(wrapped(written_out(text), sys.stderr), file=sys.stderr, flush=True)


def written_out(text: str) -> str:
    r"""Write out the characters by which a name from a file could steer the terminal; see :data:`STEERING`.

    Everything that the command prints goes through here. Files get names as they are.

    >>> print(written_out("\x1b]0;gotcha\x07 plain"))
    \x1b]0;gotcha\x07 plain
    """
    return STEERING.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def wrapped(text: str, stream: TextIO) -> str:
    """Break the sentences of a text at words where `stream` is a terminal.

    Tables and JSON stay as they are.
    """
    if not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "".join(_broken(line, width) for line in text.splitlines(keepends=True))


def _broken(line: str, width: int) -> str:
    """Break a line that is too long and reads like a sentence: no columns, but a full stop or commas."""
    body = line.rstrip("\n")
    is_prose = "  " not in body.strip() and (body.endswith((".", "?")) or ", " in body)
    if len(body) <= width or not is_prose or body.lstrip().startswith(('"', "{", "[")):
        return line
    indent = body[: len(body) - len(body.lstrip())]
    broken = textwrap.fill(
        body, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return broken + line[len(body) :]


def _kept_text(text: str) -> str:
    try:
        handle, name = tempfile.mkstemp(prefix="shortlist-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        return f"Nor can the temporary folder: {error.strerror}."
    return f"What was to be printed is in {name} instead."


def _forget_stdout() -> None:
    """Send what is left in Python's buffer nowhere, so that nothing fails again at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _reason(error: Exception, before: str = "") -> str:
    if isinstance(error, UnwritableFileError):
        return str(error).rstrip(".")
    if isinstance(error, ShortlistError) or not isinstance(error, OSError):
        raise error
    return f"{before}{error.strerror or error}"
