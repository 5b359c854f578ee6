"""The table of a study, what is taken over from older ones, and what is read of damaged ones."""

import contextlib
import itertools
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from shortlist._words import counted

APPLICATION = 0x53484C53
"""SQLite's ``application_id`` of a study, by which it is told from other databases: the letters SHLS."""

VERSION = 3
"""SQLite's ``user_version`` of the studies that are written now; 0.2.0 wrote 1, and 0.3.0 wrote 2."""

TABLE = """CREATE TABLE rows (
    kind TEXT NOT NULL CHECK (kind IN ('fact', 'setting', 'done', 'failed', 'state', 'stage')),
    part TEXT NOT NULL, key TEXT NOT NULL, seconds REAL NOT NULL, machine TEXT NOT NULL, saved REAL NOT NULL,
    value NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (kind, part, key)
) WITHOUT ROWID"""
"""Facts about the whole study, settings, units that are done or failed, states of units that go on, and how
far stages are. Seconds stand before values, so that units are counted without reading long values."""

ADD = "INSERT OR {} INTO rows VALUES (?1, ?2, ?3, ?5, ?6, ?7, ?4, checksum(?1, ?2, ?3, ?4))"
"""The statement that adds kind, part, key, value, seconds, machine and time of a row, with what happens if
it is there."""


class Row(NamedTuple):
    """A row of a study; its kind is fact, setting, done, failed, state or stage."""

    kind: str
    part: str
    key: str
    value: str | bytes
    seconds: float = 0.0
    machine: str = ""


def checksum(*cells: object) -> int:
    """Return the CRC-32 of cells, as the function of that name within SQL.

    SQLite itself has none, so that it reads a figure of which one bit has turned over as another figure.
    """
    found = 0
    for cell in cells:
        content = cell if isinstance(cell, bytes) else str(cell).encode()
        found = zlib.crc32(content, zlib.crc32(b"%d " % len(content), found))
    return found


def as_written(cells: str = "kind, part, key, value") -> str:
    """Return the condition that is true of rows whose cells are as they were written."""
    summed = ", ".join(f"CAST({name} AS BLOB)" for name in cells.split(", "))  # text may be none any more
    return f"checksum IS checksum({summed})"


PART = "(SELECT name FROM parts WHERE id = part)"
MACHINE = "(SELECT name FROM machines WHERE id = machine)"
OLDER = {
    "asked": ("'fact', '', name, value, 0, '', 0", "name", ""),
    "settings": (f"'setting', {PART}, name, value, 0, '', 0", "part, name", "part, name, value"),
    "units": (
        f"state, {PART}, key, result, seconds, {MACHINE}, finished", "part, key", "part, key, state, result",
    ),
    "checkpoints": (f"'state', {PART}, key, state, 0, '', saved", "part, key", "part, key, state"),
    "stages": (
        f"'stage', {PART}, name, json_array(total, done, running, CAST(best AS TEXT)), 0, '', updated",
        "part, name", "",
    ),
}  # fmt: skip
"""The tables of versions 1 and 2: what becomes of their rows, their keys, and what version 2 has sums of."""


def _sources(version: int) -> Iterator[tuple[str, str, str]]:
    """Yield for each table of a version the query of its rows, the condition of whole ones, and the key."""
    if version == VERSION:
        query = "SELECT kind, part, key, value, seconds, machine, saved FROM rows"
        yield query, as_written(), "kind, part, key"
        return
    for table, (cells, key, summed) in OLDER.items():
        whole = as_written(summed) if summed and version > 1 else "1"
        yield f"SELECT {cells} FROM {table}", whole, key  # noqa: S608  # ours


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a study to the version of today, all of it or nothing; a new file is at version 0."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if found < VERSION:
            connection.execute(TABLE)
        if 0 < found < VERSION:
            _take_over(connection, found)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        foreign = getattr(error, "sqlite_errorname", "") == "SQLITE_ERROR"  # tables are not as they were
        if foreign or isinstance(error, sqlite3.IntegrityError):
            raise sqlite3.DatabaseError(str(error)) from None
        raise


def _take_over(connection: sqlite3.Connection, version: int) -> None:
    """Move the rows of the older tables; one that is not as it was written is damage."""
    for query, whole, _ in _sources(version):
        if connection.execute(f"{query} WHERE NOT ({whole})").fetchone():
            raise sqlite3.DatabaseError("checksum")
        connection.executemany(ADD.format("ABORT"), connection.execute(query))
    for table in ("counts", *OLDER, "parts", "machines"):
        connection.execute(f"DROP TABLE {table}")


DAMAGE = (sqlite3.Error, UnicodeDecodeError)
"""What damaged studies make SQLite raise; its own messages quote bytes of the file, which may be no text."""


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
                _rescue_rows(source, target)
            (n_units,) = target.execute("SELECT count(*) FROM rows WHERE kind = 'done'").fetchone()
    except (*DAMAGE, OSError) as error:
        place.unlink(missing_ok=True)
        return f"What it holds could not be saved ({error}). Name another file."
    if not n_units:
        place.unlink()
        return "No finished unit could be read from it. Name another file."
    units = counted(n_units, "finished unit")
    return f"{units} of it could be read and {'is' if n_units == 1 else 'are'} in {place}: go on with that."


def _rescue_rows(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Copy the rows that can be read, from the front of each table and, past a damage, from its back."""
    (version,) = source.execute("PRAGMA user_version").fetchone()
    target.execute("BEGIN")
    for query, whole, key in _sources(version):
        for order in ("ASC", "DESC"):
            keys = ", ".join(f"{name} {order}" for name in key.split(", "))
            with contextlib.suppress(*DAMAGE):
                for row in source.execute(f"{query} WHERE {whole} ORDER BY {keys}"):
                    target.execute(ADD.format("IGNORE"), row)
                break
    target.execute("COMMIT")


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
