"""Finished units of work in an append-only file of JSON lines, so that a killed run loses none of them."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shortlist.errors import BadFileError, BadInputError
from shortlist.files import read_bytes

MARK = "shortlist_comparison"
"""Key of the header by which a journal is told from other files."""


@dataclass(frozen=True)
class UnitJournal:
    """Where records go; None as path keeps nothing. Pickles, so that workers append by themselves."""

    path: str | None

    def append(self, unit: str, record: Mapping[str, Any]) -> None:
        """Write one record in a single system call, so that lines of several workers do not mix."""
        if self.path is not None:
            _write(self.path, _line({"unit": unit, **record}))


def open_units(
    path: str | Path | None, header: Mapping[str, Any]
) -> tuple[UnitJournal, dict[str, dict[str, Any]]]:
    """Open or start a journal, and return the records that it already has, by unit.

    A last line that a kill cut off is dropped.

    Raises
    ------
    BadInputError
        If the file belongs to another question or other settings, or is no journal.
    """
    if path is None:
        return UnitJournal(None), {}
    target, first = str(path), {MARK: 1, **header}
    if not Path(target).exists() or not Path(target).stat().st_size:
        _write(target, _line(first))
        return UnitJournal(target), {}
    content = read_bytes(target)
    lines = [line for line in map(_parsed, content.splitlines()) if line is not None]
    if not lines or lines[0].get(MARK) != 1:
        raise BadFileError(
            f"{target} must be the study of an earlier comparison, got something else. Name another file."
        )
    if lines[0] != json.loads(_line(first)):
        raise BadInputError(
            f"{target} belongs to another question or to other settings. Name another file, or delete it."
        )
    if not content.endswith(b"\n"):
        _write(target, b"\n")
    return UnitJournal(target), {line["unit"]: line for line in lines[1:] if "unit" in line}


def _line(record: Mapping[str, Any]) -> bytes:
    """Return a record as one line."""
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
        os.write(handle, content)
    finally:
        os.close(handle)
