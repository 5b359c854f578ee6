"""The table of a study, and the checksums of its rows."""

import sqlite3
import zlib
from typing import NamedTuple

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


def make_table(connection: sqlite3.Connection) -> None:
    """Make the table in a new file, which is at version 0, all of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if not found:
            connection.execute(TABLE)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if getattr(error, "sqlite_errorname", "") == "SQLITE_ERROR":  # another table of this name
            raise sqlite3.DatabaseError(str(error)) from None
        raise
