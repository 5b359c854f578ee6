"""The tables of a study, and the steps from one version of them to the next."""

import sqlite3
import zlib
from collections.abc import Callable, Sequence

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
