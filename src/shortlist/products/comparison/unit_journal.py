"""Finished units of work in an append-only file of JSON lines, so that a killed run loses none of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shortlist.runs.journal import append_line, open_lines

MARK = "shortlist_comparison"
"""Key of the header by which a journal is told from other files."""


@dataclass(frozen=True)
class UnitJournal:
    """Where records go; None as path keeps nothing. Pickles, so that workers append by themselves."""

    path: str | None

    def append(self, unit: str, record: Mapping[str, Any]) -> None:
        """Write one record in a single system call, so that lines of several workers do not mix."""
        if self.path is not None:
            append_line(self.path, {"unit": unit, **record})


def open_units(
    path: str | Path | None, header: Mapping[str, Any]
) -> tuple[UnitJournal, dict[str, dict[str, Any]]]:
    """Open or start a journal, and return the records that it already has, by unit.

    Raises
    ------
    BadInputError
        As :func:`shortlist.runs.journal.open_lines` does.
    """
    if path is None:
        return UnitJournal(None), {}
    lines = open_lines(str(path), header, mark=MARK, argument="study")
    return UnitJournal(str(path)), {line["unit"]: line for line in lines if "unit" in line}
