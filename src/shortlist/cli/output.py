"""What commands print alike."""

import contextlib
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.errors import NotWrittenError, ShortlistError, UnwritableFileError

if TYPE_CHECKING:
    import typer

unwritten: list[str] = []
"""What this run of the command could not write where it should, a sentence each."""


def save(path: Path, write: Callable[[Path], object]) -> Path:
    """Write a result, or where that fails, write it to the temporary folder; the command ends with its own exit code.

    Parameters
    ----------
    path : Path
        Where the user wants the result.
    write : callable
        Writes it to the path that it gets, whole or not at all.

    Returns
    -------
    Path
        Where the result is.

    Raises
    ------
    NotWrittenError
        If it could not be written anywhere.
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


def deliver(text: str) -> None:
    """Write all that a command prints to stdout; where that fails, keep it in a file in the temporary folder.

    A reader that has closed the pipe, as ``head`` does, has what it wanted: the rest is dropped without a word.
    """
    if sys.stdout is None:  # closed by the caller
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        _forget_stdout()
        if not isinstance(error, BrokenPipeError):
            message = f"stdout cannot be written: {error.strerror}"
            unwritten.append(f"{message}. {_kept_text(text)}")


def _kept_text(text: str) -> str:
    """Keep what was printed, and say where."""
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
    """Say why a file could not be written; an error of another kind goes on."""
    if isinstance(error, UnwritableFileError):
        return str(error).rstrip(".")
    if isinstance(error, ShortlistError) or not isinstance(error, OSError):
        raise error
    return f"{before}{error.strerror or error}"


def print_json(facts: dict[str, Any]) -> None:
    """Print one JSON object on stdout; infinity and NaN do not exist in JSON and must be None by now."""
    print(json.dumps(facts, indent=2, allow_nan=False))


def print_notes(notes: Sequence[str]) -> None:
    """Print what a user should know beside the answer, a line each on stderr.

    A command's JSON has the same sentences under ``notes``.
    """
    for note in notes:
        print(f"shortlist: note: {note}", file=sys.stderr)


def finite(number: float) -> float | None:
    """Return the number, or None for what JSON cannot say."""
    return number if math.isfinite(number) else None


def stopped_by(limit: str) -> str:
    """Say what ended a search.

    Examples
    --------
    >>> stopped_by("60 s"), stopped_by("interrupted")
    ('stopped by the limit of 60 s', 'interrupted')
    """
    return limit if limit == "interrupted" else f"stopped by the limit of {limit}"


def run_facts(context: "typer.Context") -> dict[str, Any]:
    """Return what a command's JSON says of the run itself: the version, the seed and every option as it was used."""
    from shortlist import __version__
    from shortlist.cli.unused import typed_name

    options = {
        typed_name(context, name).lstrip("-"): str(value) if isinstance(value, Path) else value
        for name, value in context.params.items()
        if name != "json"
    }
    return {"version": __version__, "seed": context.params.get("seed"), "options": options}
