"""The tables of a study, the steps from one version of them to the next, and what is read of damaged ones."""

import contextlib
import itertools
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from shortlist._words import counted

APPLICATION = 0x53484C53
"""SQLite's ``application_id`` of a study, by which it is told from other databases: the letters SHLS."""

FIRST = """
CREATE TABLE asked (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE parts (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE machines (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE settings (
    part INTEGER NOT NULL REFERENCES parts, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (part, name)
) WITHOUT ROWID;
CREATE TABLE units (
    part INTEGER NOT NULL REFERENCES parts, key TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('done', 'failed')), result,
    seconds REAL NOT NULL, machine INTEGER NOT NULL REFERENCES machines, finished REAL NOT NULL,
    PRIMARY KEY (part, key)
) WITHOUT ROWID;
CREATE TABLE checkpoints (
    part INTEGER NOT NULL REFERENCES parts, key TEXT NOT NULL, state NOT NULL, saved REAL NOT NULL,
    PRIMARY KEY (part, key)
) WITHOUT ROWID;
CREATE TABLE stages (
    part INTEGER NOT NULL REFERENCES parts, name TEXT NOT NULL, total INTEGER NOT NULL, done INTEGER NOT NULL,
    running INTEGER NOT NULL, best TEXT NOT NULL, updated REAL NOT NULL, PRIMARY KEY (part, name)
) WITHOUT ROWID;
CREATE TABLE counts (
    part INTEGER NOT NULL REFERENCES parts, state TEXT NOT NULL, units INTEGER NOT NULL,
    seconds REAL NOT NULL, PRIMARY KEY (part, state)
) WITHOUT ROWID;
CREATE TRIGGER unit_added AFTER INSERT ON units BEGIN
    INSERT INTO counts VALUES (new.part, new.state, 1, new.seconds)
    ON CONFLICT DO UPDATE SET units = units + 1, seconds = seconds + new.seconds;
END;
CREATE TRIGGER unit_removed AFTER DELETE ON units BEGIN
    UPDATE counts SET units = units - 1, seconds = seconds - old.seconds
    WHERE part = old.part AND state = old.state;
END;
"""
"""Version 1. Units are counted by triggers, so that a million of them are told of at once."""


def _create(connection: sqlite3.Connection) -> None:
    """Make the tables of version 1."""
    for statement in _statements(FIRST):
        connection.execute(statement)


SUMMED = {
    "settings": ("part", "name", "value"),
    "units": ("part", "key", "state", "result"),
    "checkpoints": ("part", "key", "state"),
}
"""Tables on which answers depend, and what the checksum of a row is of: SQLite itself has none, so that it
reads a figure of which one bit has turned over as another figure."""


def checksum(*cells: object) -> int:
    """Return the CRC-32 of cells, as the function of that name within SQL."""
    found = 0
    for cell in cells:
        content = cell if isinstance(cell, bytes) else str(cell).encode()
        found = zlib.crc32(content, zlib.crc32(b"%d " % len(content), found))
    return found


def wrong_sums(table: str) -> str:
    """Return the condition that is true of rows of a table that are not as they were written."""
    cells = ", ".join(f"CAST({name} AS BLOB)" for name in SUMMED[table])  # as text may be none any more
    return f"checksum IS NOT checksum({cells})"


def _sum(connection: sqlite3.Connection) -> None:
    """Give the rows checksums, of version 2."""
    for table, names in SUMMED.items():
        connection.execute(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER")
        cells = ", ".join(names)
        connection.execute(f"UPDATE {table} SET checksum = checksum({cells})")  # noqa: S608  # ours


MIGRATIONS: Sequence[Callable[[sqlite3.Connection], None]] = (_create, _sum)
"""Each takes a study from the version of its place to the next one, within one transaction."""

VERSION = len(MIGRATIONS)
"""SQLite's ``user_version`` of the studies that are written now."""


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a study to the version of today; a new file is at version 0. All steps are done or none is."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        for step in MIGRATIONS[found:]:
            step(connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _statements(script: str) -> list[str]:
    """Split a script, as SQLite's own runner of scripts would end the transaction."""
    statements, begun = [], ""
    for line in script.strip().splitlines():
        begun += line + "\n"
        if sqlite3.complete_statement(begun):
            statements.append(begun)
            begun = ""
    return statements


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
