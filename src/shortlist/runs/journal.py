"""An append-only file of JSON lines, so that a killed run loses nothing that it had finished."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shortlist.errors import BadFileError, BadInputError, NotWrittenError
from shortlist.files import read_bytes

GO_ON = "What was finished before is in it: make room, and run the same again to go on from there."


def open_lines(path: str, header: Mapping[str, Any], *, mark: str, argument: str) -> list[dict[str, Any]]:
    """Start a journal, or return the lines after the header of one that is there.

    A line that was cut off is dropped.

    Parameters
    ----------
    path : str
        The file.
    header : mapping
        What binds a journal to its question; JSON must hold it.
    mark : str
        Key by which a journal of this kind is told from other files.
    argument : str
        What the caller calls the file.

    Raises
    ------
    BadFileError
        If the file is no such journal.
    BadInputError
        If it belongs to another question or other settings.
    """
    first = {mark: 1, **header}
    if not Path(path).exists() or not Path(path).stat().st_size:
        append_line(path, first)
        return []
    content = read_bytes(path)
    if b"\n" not in content and _line(first).startswith(content):  # cut off in its first line
        Path(path).unlink()
        append_line(path, first)
        return []
    lines = [line for line in map(_parsed, content.splitlines()) if line is not None]
    if not lines or lines[0].get(mark) != 1:
        raise BadFileError(
            f"{argument} {path} must be a file of an earlier run, got something else. Name another file."
        )
    if lines[0] != json.loads(json.dumps(first)):
        raise BadInputError(
            f"{argument} {path} belongs to another problem or to other settings. Name another file, or "
            "delete it."
        )
    if not content.endswith(b"\n"):
        _write(path, b"\n")
    return lines[1:]


def append_line(path: str, record: Mapping[str, Any]) -> None:
    """Write one record in a single system call, so that lines of several workers do not mix."""
    _write(path, _line(record))


def _line(record: Mapping[str, Any]) -> bytes:
    return (json.dumps(record, separators=(",", ":")) + "\n").encode()


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return a line, or None for one that was cut off."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _write(path: str, content: bytes) -> None:
    """Append bytes in one call and leave them with the system, so that killing the process loses nothing."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    except OSError as error:
        raise BadFileError(
            f"{path} cannot be written: {error.strerror}. Choose a folder that exists."
        ) from None
    try:
        written = os.write(handle, content)
    except OSError as error:
        raise NotWrittenError(f"{path} cannot be written: {error.strerror}. {GO_ON}") from None
    finally:
        os.close(handle)
    if written < len(content):
        raise NotWrittenError(f"{path} cannot be written: No space left on device. {GO_ON}")
