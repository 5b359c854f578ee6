"""Output functions that commands share."""

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
from textwrap import TextWrapper, fill
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from shortlist.errors import NotWrittenError, ShortlistError, UnwritableFileError

if TYPE_CHECKING:
    import pandas as pd
    import typer

    from shortlist.report.page import Parts


_translate: ContextVar[Callable[[str | BaseException], str]] = ContextVar("translate")
"""Function of the running command that puts options in place of arguments."""


@contextlib.contextmanager
def speaking(translate: Callable[[str | BaseException], str]) -> Iterator[None]:
    """Let :func:`as_typed` use a translation while a command runs."""
    token = _translate.set(translate)
    try:
        yield
    finally:
        _translate.reset(token)


def as_typed(said: str | BaseException) -> str:
    """Return a sentence with the running command's options in place of arguments.

    A text without backticks is returned unchanged.
    """
    translate = _translate.get(None)
    return str(said) if translate is None or (isinstance(said, str) and "`" not in said) else translate(said)


noted: list[str] = []
"""Notes that were printed so far; the JSON has them under ``notes``."""

warned: list[str] = []
"""Warnings of the run so far, each once; the JSON has them after the notes."""


def warn(message: str) -> None:
    """Print a warning of the library as a note, once per run."""
    note = as_typed(message)
    if note not in warned:
        warned.append(note)
        complain(f"note: {note}")


def print_json(facts: dict[str, Any]) -> None:
    """Print one JSON object on stdout, with paths as texts.

    The caller must have replaced infinity and NaN, which JSON lacks, by None.
    """
    if "notes" in facts:
        facts |= {"notes": list(dict.fromkeys([*map(as_typed, facts["notes"]), *noted, *warned]))}
    print(json.dumps(facts, indent=2, allow_nan=False, default=_path_text))


def _path_text(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} is no type of JSON")


def print_notes(notes: Sequence[str]) -> None:
    """Print notes on the answer, a line each on stderr.

    A command's JSON has the same sentences under ``notes``.
    """
    for note in map(as_typed, notes):
        noted.append(note)
        complain(f"note: {note}")


def finite(number: float) -> float | None:
    """Return a number, or None for infinity and NaN, which JSON lacks."""
    return number if math.isfinite(number) else None


def json_records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the rows of a table for JSON, which has no NaN."""
    return [
        {name: value if value == value else None for name, value in row.items()}  # noqa: PLR0124  # not NaN
        for row in frame.to_dict("records")
    ]


def run_facts(context: "typer.Context") -> dict[str, Any]:
    """Return the facts of the run for the JSON of a command: version, seed and the value of every option."""
    from shortlist import __version__
    from shortlist.cli.options.settings import options_of, read_settings, settings_of

    given = read_settings(context.params.get("settings"), settings_of(context.command))
    hidden = {one.name for one in context.command.params if getattr(one, "hidden", False)}
    named = options_of(context.command)
    options = {
        named.get(name, name).removeprefix("--set ").lstrip("-"): _typed_value(value)
        for name, value in (given | context.params).items()
        if name not in {"json", "settings"} and name not in hidden
    }
    return {"version": __version__, "seed": context.params.get("seed"), "options": options}


def _typed_value(value: Any) -> Any:
    """Return an option's value in a form for JSON, with paths as texts."""
    if isinstance(value, list | tuple):
        return [_typed_value(one) for one in value]
    return str(value) if isinstance(value, Path) else value


def save_page(path: Path | None, title: str, parts: "Callable[[], Parts]") -> Path | None:
    """Write a page if a path is given; return the path of the written page."""
    if path is None:
        return None
    from shortlist.report.page import page, write_page

    text = page(title, parts())
    return save(path, lambda place: write_page(place, text))


STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Pattern of characters that control a terminal, change the direction of writing, or stand for invalid bytes.
"""

Place = TypeVar("Place", Path, Path | None)

unwritten: list[str] = []
"""Files that this run of the command could not write, one sentence each."""


def save(path: Place, write: Callable[[Path], object]) -> Place:
    """Write a result if a path is given, and return the path of the written file.

    If writing fails, the result goes to the temporary folder, and the command ends with a special exit code.
    Raises NotWrittenError if the temporary folder fails as well.

    `path`: path that the user gave, or None. `write`: function that writes the result to a path, completely
    or not at all.
    """
    if path is None:
        return path
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
        raise NotWrittenError(
            f"{reason}; the temporary folder cannot be written either: {_reason(error)}."
        ) from None
    unwritten.append(f"{reason}. It is in {place} instead.")
    return place


class Held(io.StringIO):
    """Output of a command so far, which goes to `target` when the command ends."""

    def __init__(self, target: TextIO) -> None:
        super().__init__()
        self.target = target


def deliver_now() -> None:
    """Write the output so far at once, as a dialogue needs; do nothing outside of a command."""
    held = sys.stdout
    if isinstance(held, Held):
        text = held.getvalue()
        held.seek(0)
        held.truncate()
        with contextlib.redirect_stdout(held.target):
            deliver(text)


def deliver(text: str) -> None:
    """Write the output of a command to stdout; if that fails, keep it in a file in the temporary folder.

    If the reader has closed the pipe, as ``head`` does, the rest is dropped without an error.
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
    """Print a sentence, or a page of help, on stderr; do nothing if stderr cannot be written."""
    text = sentence if "\n" in sentence else f"shortlist: {sentence}"
    with contextlib.suppress(OSError, AttributeError):  # full, closed or None
        print(wrapped(written_out(text), sys.stderr), file=sys.stderr, flush=True)


def written_out(text: str) -> str:
    r"""Return a text with escapes in place of characters that control a terminal; see :data:`STEERING`.

    All output of a command goes through this function. Files get the unchanged text.

    >>> print(written_out("\x1b]0;gotcha\x07 plain"))
    \x1b]0;gotcha\x07 plain
    """
    return STEERING.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def wrapped(text: str, stream: TextIO) -> str:
    """Return a text whose sentences are broken into lines at words, if `stream` is a terminal.

    Tables and JSON stay unchanged.
    """
    if not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "".join(_broken(line, width) for line in text.splitlines(keepends=True))


def _broken(line: str, width: int) -> str:
    """Return a long line broken at words if it is a sentence: a full stop or commas, and no columns."""
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
    """Discard Python's buffer of stdout, so that writing does not fail again at exit."""
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


WIDTH, LINES = 100, 24
"""Numbers of columns and lines of a screen."""

MOST_LETTERS = 40
"""Largest number of letters of a name in a list; files and --json have the whole name."""


def print_lines(lines: Sequence[str]) -> None:
    """Print sentences in lines of at most :data:`WIDTH` columns."""
    for line in _parted(lines):
        print(line)


def print_fitted(
    first: Sequence[str],
    rest: Sequence[str],
    last: Sequence[str],
    *,
    most: int = LINES,
    follow: int = 0,
    details: bool = False,
) -> None:
    """Print sentences before and after as many lines as fit on the screen; with details print all lines.

    `first`, `last`: sentences before and after the lines `rest`. `most`: largest number of lines of `rest`
    without details. `follow`: number of lines that the caller prints afterwards.
    """
    before, after = _parted(first), _parted(last)
    room = min(most, LINES - len(before) - len(after) - follow)
    between = rest if details else cut(_parted(rest), room, "--details has all")
    print("\n".join([*before, *between, *after]))


def _parted(lines: Sequence[str]) -> list[str]:
    parts = [(_filled(line) if len(line) > WIDTH else line).splitlines() or [""] for line in lines]
    return [part for lines in parts for part in lines]


def _filled(line: str) -> str:
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return fill(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


@contextlib.contextmanager
def first_screen(*, details: bool) -> Iterator[None]:
    """Break lines printed within a block at :data:`WIDTH` columns.

    Without details, only :data:`LINES` lines are printed.
    """
    with contextlib.redirect_stdout(io.StringIO()) as held:
        yield
    lines = _parted(held.getvalue().splitlines())
    print("\n".join(lines if details else cut(lines, LINES, "--details has all")))


def shortened(name: str) -> str:
    """Return a name, shortened to at most :data:`MOST_LETTERS` letters."""
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 3]}..."


def listed(head: str, names: Sequence[str], *, most_lines: int = 3, details: bool = False) -> str:
    """Return names after a heading, as many as fit in `most_lines` lines; with details all names.

    >>> listed("2 of 3: ", ["GPS", "Camera"])
    '2 of 3: GPS, Camera'
    >>> listed("In it: ", [f"feature-{i}" for i in range(40)], most_lines=1)[-45:]
    'ture-3, feature-4, and 35 more with --details'
    """
    if details:
        return head + ", ".join(names)
    short = [shortened(name) for name in names]
    wrapper = TextWrapper(WIDTH - 2, subsequent_indent="    ", break_long_words=False)
    for kept in range(len(short), 0, -1):
        left = len(short) - kept
        more = f", and {left:,} more with --details" if left else ""
        line = f"{head}{', '.join(short[:kept])}{more}"
        if len(line) <= most_lines * WIDTH and len(wrapper.wrap(line)) <= most_lines:
            return line
    return f"{head}{len(short):,} with --details" if short else head


def cut(lines: Sequence[str], most: int, more: str) -> list[str]:
    """Return the first lines, at most `most`; if lines are left out, one more line has their number.

    >>> cut(["a", "b", "c"], 2, "--details has all")
    ['a', '... and 2 more; --details has all']
    """
    if len(lines) <= most:
        return list(lines)
    kept = max(0, most - 1)
    return [*lines[:kept], f"... and {len(lines) - kept:,} more; {more}"]
