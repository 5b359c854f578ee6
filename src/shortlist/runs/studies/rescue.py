"""What can still be read of a damaged study goes to a new one beside it."""

import contextlib
import itertools
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shortlist._words import counted
from shortlist.runs.studies.schema import SUMMED, checksum, migrate, wrong_sums

DAMAGE = (sqlite3.Error, UnicodeDecodeError)
"""What damaged studies make SQLite raise; its own messages quote bytes of the file, which may be no text."""

RESCUED_TABLES = ("asked", "parts", "machines", "settings", "units", "checkpoints", "stages")
"""Tables in an order in which none refers to a later one; the counts are made by triggers."""


def rescue(path: Path) -> str:
    """Write what can be read of a damaged study to a new file beside it; return a sentence that says so.

    A file that was written so after the study's last change is named, and not written again.
    """
    last, place = _places(path)
    if last is not None and last.stat().st_mtime >= path.stat().st_mtime:
        return f"What of it could be read is in {last}: go on with that."
    try:
        target = sqlite3.connect(place, isolation_level=None)
        with contextlib.closing(target):
            target.create_function("checksum", -1, checksum)
            migrate(target)
            with contextlib.closing(
                sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
            ) as source:
                source.create_function("checksum", -1, checksum)
                for table in RESCUED_TABLES:
                    _copy(source, target, table)
            (n_units,) = target.execute("SELECT count(*) FROM units").fetchone()
    except (*DAMAGE, OSError) as error:
        place.unlink(missing_ok=True)
        return f"What it holds could not be saved ({error}). Name another file."
    if not n_units:
        place.unlink()
        return "No finished unit could be read from it. Name another file."
    units = counted(n_units, "finished unit")
    return f"{units} of it could be read and {'is' if n_units == 1 else 'are'} in {place}: go on with that."


def _copy(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> None:
    """Copy the rows of a table that can be read, from the front and, past a damage, from the back."""
    target.execute("BEGIN")
    for order in ("", " DESC"):
        whole = False
        with contextlib.suppress(*DAMAGE):
            key = ", ".join(
                f"{row[1]}{order}" for row in source.execute(f"PRAGMA table_info({table})") if row[5]
            )
            whole_rows = f"WHERE NOT ({wrong_sums(table)})" if table in SUMMED else ""
            query = f"SELECT * FROM {table} {whole_rows} ORDER BY {key}"  # noqa: S608  # names are ours
            for row in _rows(source, query):
                marks = ", ".join("?" * len(row))
                with contextlib.suppress(sqlite3.IntegrityError):
                    insert = f"INSERT OR IGNORE INTO {table} VALUES ({marks})"  # noqa: S608  # likewise
                    target.execute(insert, row)
            whole = True
        if whole:
            break
    target.execute("COMMIT")


def _rows(source: sqlite3.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    cursor = source.execute(query)
    while (row := cursor.fetchone()) is not None:
        yield row


def _places(path: Path) -> tuple[Path | None, Path]:
    """Return the last file that was written beside a study, if there is one, and the next one."""
    last = None
    for number in itertools.count(1):
        end = "" if number == 1 else f"-{number}"
        place = path.with_name(f"{path.stem}.rescued{end}{path.suffix or '.db'}")
        if not place.exists():
            break
        last = place
    return last, place
