"""File of a study: its table, opening, checks, lock and summary; errors are one sentence."""

import contextlib
import json
import os
import platform
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from shortlist.errors import BadFileError, NotWrittenError
from shortlist.files import check_writable

APPLICATION = 0x53484C53
"""SQLite's ``application_id`` of a study, which tells studies from other databases: the letters SHLS."""

VERSION = 3
"""SQLite's ``user_version`` of new studies; 0.2.0 wrote 1, and 0.3.0 wrote 2."""

TABLE = """CREATE TABLE rows (
    kind TEXT NOT NULL CHECK (kind IN ('fact', 'setting', 'done', 'failed', 'state', 'stage')),
    part TEXT NOT NULL, key TEXT NOT NULL, seconds REAL NOT NULL, machine TEXT NOT NULL, saved REAL NOT NULL,
    value NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (kind, part, key)
) WITHOUT ROWID"""
"""Table of a study, with kinds of rows: facts about the whole study, settings, units done or failed, states
of unfinished units, and progress of stages. Seconds stand before values, so that units are counted without
reading long values.
"""

ADD = """INSERT OR {} INTO rows VALUES (
    :kind, :part, :key, :seconds, :machine, :saved, :value, checksum(:kind, :part, :key, :value))"""
"""Statement that adds a row and the time of saving; its gap takes the action for a row that exists already.
"""

# Cells are compared as bytes, as damaged text may not decode.
CHANGED = """SELECT 1 FROM rows WHERE checksum IS NOT checksum(
    CAST(kind AS BLOB), CAST(part AS BLOB), CAST(key AS BLOB), CAST(value AS BLOB))"""
"""Query for rows that were damaged since they were written."""

WAIT_S = 0.2
"""Seconds between two attempts to get a lock that another process holds."""

GO_ON = "What was finished before is kept, if anything was: make room, and run the same again to go on."


class Row(NamedTuple):
    """A row of a study; its kind is fact, setting, done, failed, state or stage."""

    kind: str
    part: str
    key: str
    value: str | bytes
    seconds: float = 0.0
    machine: str = ""


def packed(value: Any) -> str | bytes:
    """Return a value in its recorded form: bytes unchanged, any other value as JSON."""
    return value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":"))


def unpacked(recorded: str | bytes) -> Any:
    """Undo :func:`packed`."""
    return recorded if isinstance(recorded, bytes) else json.loads(recorded)


def checksum(*cells: object) -> int:
    """Return the CRC-32 of cells; SQL statements call it as ``checksum``.

    SQLite has no checksums: without one, a number with a changed bit would be read as another number.
    """
    found = 0
    for cell in cells:
        content = cell if isinstance(cell, bytes) else str(cell).encode()
        found = zlib.crc32(content, zlib.crc32(b"%d " % len(content), found))
    return found


class StudyFile:
    """Open study, for one process and all of its threads; every change is a transaction.

    The journal is written ahead (WAL), so that other processes can read while this process writes. The
    operating system has a change before :meth:`change` returns, so killing the process loses nothing. A power
    cut may lose the latest changes, but leaves the study readable.

    Raises BadFileError if the file is no study, is of another version or damaged, or cannot be written.

    `path`: the file, made if it does not exist or is empty. `busy`: receives a sentence before the wait for
    another process that works on the study.
    """

    def __init__(self, path: Path, busy: Callable[[str], None]) -> None:
        self.path = path
        self._threads = threading.RLock()
        if not (path.is_file() and os.access(path, os.W_OK)):
            check_writable(path, "study")
        _check_kind(path)
        is_new = not path.exists()
        self._lock = _locked(path, busy)
        with contextlib.ExitStack() as undo, told(path):
            undo.callback(os.close, self._lock)
            if is_new and not path.stat().st_size:  # another process may have been faster
                undo.callback(_remove, path)
            self._connection = _connected(path)
            undo.callback(self._connection.close)
            _prepare(path, self._connection)
            undo.pop_all()

    def read(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a query."""
        with self._threads, told(self.path):
            return self._connection.execute(query, values).fetchall()

    def values(self, kind: str, part: str, key: str | None = None) -> dict[str, Any]:
        """Return the values of one kind and part by key, in the order of keys; `key` selects one value."""
        given = (kind, part) if key is None else (kind, part, key)
        query = "SELECT key, value FROM rows WHERE kind = ? AND part = ?" + " AND key = ?" * (len(given) - 2)
        found = self.read(query, given)
        with told(self.path):
            return {name: unpacked(value) for name, value in found}

    def change(
        self, put: Iterable[Row] = (), *, once: Iterable[Row] = (), drop: Iterable[tuple[str, str, str]] = ()
    ) -> None:
        """Drop rows by kind, part and key; add rows of `once` that are new; put or replace rows of `put`.

        All changes are recorded together or not at all.
        """
        now = time.time()
        with self._threads, told(self.path), self._connection as one:
            one.execute("BEGIN IMMEDIATE")
            one.executemany("DELETE FROM rows WHERE kind = ? AND part = ? AND key = ?", drop)
            one.executemany(ADD.format("IGNORE"), (row._asdict() | {"saved": now} for row in once))
            one.executemany(ADD.format("REPLACE"), (row._asdict() | {"saved": now} for row in put))

    def close(self) -> None:
        """Move all recorded rows into the file itself, and release it for others."""
        with self._threads:
            with contextlib.suppress(sqlite3.Error):  # records are still in the journal beside the file
                self._connection.execute("DELETE FROM rows WHERE kind = 'fact' AND key = 'driver'")
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            os.close(self._lock)


def _locked(path: Path, busy: Callable[[str], None]) -> int:
    """Return the handle of a file, once this process alone holds its lock; a missing file is made.

    The file itself is locked, so that no lock file is left beside it. The handle must stay open until SQLite
    has closed the file, since closing one handle of a file drops all locks that the process has on the file,
    SQLite's too. Systems without ``flock`` have no lock; on such systems only the unique keys of units keep a
    study consistent.
    """
    is_told = False
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise BadFileError(
                f"{path} cannot be written: {error.strerror}. Choose a folder that exists."
            ) from None
        try:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), os.stat(path)):  # noqa: PTH116  # the pair of fstat
                return handle
        except ImportError:
            return handle
        except (BlockingIOError, FileNotFoundError):  # another process has it, or has removed the file
            pass
        os.close(handle)
        if not is_told:
            busy(_holder(path))
            is_told = True
        time.sleep(WAIT_S)


def _is_locked(path: Path) -> bool:
    """Return whether a process works on a study; false on systems without ``flock``."""
    try:
        import fcntl
    except ImportError:
        return False
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _remove(path: Path) -> None:
    """Remove a study and the files that SQLite may have left beside it."""
    for end in ("", "-wal", "-shm"):
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn errors of SQLite, and of values that are no JSON, within a block into errors of one sentence."""
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError, json.JSONDecodeError) as error:
        if isinstance(error, sqlite3.OperationalError) and (reason := _reason(error)) is not None:
            raise NotWrittenError(f"{path} cannot be written: {reason}. {GO_ON}") from None
        damage = ("UTF-8", "no such column", "no such table")  # the names are ours, and existed before
        ours = isinstance(error, sqlite3.OperationalError) and not any(word in str(error) for word in damage)
        if ours or isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
            raise
        raise BadFileError(f"the study {path} is damaged. Name another file, or restore this one.") from None


def _reason(error: sqlite3.OperationalError) -> str | None:
    """Return the reason why a file could not be written; None for an error of Shortlist itself."""
    name = getattr(error, "sqlite_errorname", "")
    reasons = {
        "SQLITE_FULL": "No space left on device",
        "SQLITE_READONLY": "it is protected",
        "SQLITE_CANTOPEN": "Permission denied",
        "SQLITE_BUSY": "another program holds it",
    }
    if name.startswith("SQLITE_IOERR"):
        return "No space left on device" if "WRITE" in name or "TRUNCATE" in name else "the disk failed"
    return next((reason for start, reason in reasons.items() if name.startswith(start)), None)


def _check_kind(path: Path) -> None:
    """Raise BadFileError for a file that is no study."""
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except FileNotFoundError:
        return
    except OSError as error:
        raise BadFileError(f"{path} cannot be read: {error.strerror}. Check the path.") from None
    is_database = head.startswith(b"SQLite format 3\x00")
    if head and not (is_database and int.from_bytes(head[68:72], "big") in {0, APPLICATION}):
        raise BadFileError(
            f"the study {path} must be a file of an earlier run, got something else. Name another file."
        )


def _version(path: Path, one: sqlite3.Connection) -> int:
    """Return the version of a study, 0 for an empty study; raise BadFileError for an unknown version."""
    found = int(one.execute("PRAGMA user_version").fetchone()[0])
    if found not in {0, VERSION}:
        raise BadFileError(
            f"the study {path} has version {found} of the format, and this Shortlist knows version {VERSION}."
            " Install the Shortlist that wrote it, or name another file."
        )
    return found


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30.0, isolation_level=None, check_same_thread=False)
    connection.create_function("checksum", -1, checksum, deterministic=True)
    return connection


def _prepare(path: Path, one: sqlite3.Connection) -> None:
    """Check the content of a study, make the table of a new one, and record this process."""
    found = _version(path, one)
    if found and one.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
        raise sqlite3.DatabaseError("integrity_check")
    if one.execute("SELECT sql FROM sqlite_master").fetchall() != ([(TABLE,)] if found else []):
        raise sqlite3.DatabaseError("it has other tables")
    one.execute("PRAGMA journal_mode = WAL")
    one.execute("PRAGMA synchronous = NORMAL")
    with one:
        one.execute("BEGIN IMMEDIATE")
        if not found:
            one.execute(TABLE)
            one.execute(f"PRAGMA application_id = {APPLICATION}")
            one.execute(f"PRAGMA user_version = {VERSION}")
        elif one.execute(CHANGED).fetchone():
            raise sqlite3.DatabaseError("checksum")
        driver = packed(f"{os.getpid()} on {platform.node()}")
        one.execute(
            ADD.format("REPLACE"), Row("fact", "", "driver", driver)._asdict() | {"saved": time.time()}
        )


def _reader(path: Path) -> sqlite3.Connection:
    """Return a read-only connection, usable while another process writes the study."""
    with told(path):
        mode = "rw" if os.access(path, os.W_OK) else "ro"  # read-only users leave files of SQLite behind
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=5.0)
        connection.execute("PRAGMA query_only = ON")
        return connection


def _holder(path: Path) -> str:
    with contextlib.suppress(sqlite3.Error), contextlib.closing(_reader(path)) as connection:
        row = connection.execute("SELECT value FROM rows WHERE kind = 'fact' AND key = 'driver'").fetchone()
        if row is not None:
            return f"the study {path} is in use by process {json.loads(row[0])}."
    return f"the study {path} is in use by another process."


def summary(path: Path) -> dict[str, Any]:
    """Return a summary of a study in one reading, even while another process writes it.

    Returns
    -------
    dict
        ``study``: the file. ``asked``: the command, its words, the folder, versions, and the time of its
        beginning. ``running_in``: the process and machine that work on the study now, or None. ``n_done``,
        ``n_failed``: numbers of finished and of failed units of all parts. ``seconds``: seconds of the
        finished units. ``bytes``: size on the disk. ``stages``: by part and name, the numbers of units
        ``done``, in ``total`` and ``running``, ``seconds_left`` (None before the first unit) and ``best`` in
        words. ``failures``: reasons of the latest failures, ten at most. ``checkpoints``: units that continue
        from a saved state, and the time of saving.

    Raises
    ------
    BadFileError
        If the file does not exist, is no study, or is damaged.
    """
    if not path.is_file():
        raise BadFileError(f"the study {path} cannot be read: No such file. Check the path.")
    _check_kind(path)
    is_held = _is_locked(path)
    with contextlib.closing(_reader(path)) as connection, told(path):
        if not _version(path, connection):
            raise BadFileError(f"the study {path} is empty. Run the command that makes it, or name another.")
        try:
            return _summary(path, connection, is_held=is_held)
        except (TypeError, ValueError) as error:  # values of another shape
            raise sqlite3.DatabaseError(str(error)) from None


def _summary(path: Path, connection: sqlite3.Connection, *, is_held: bool) -> dict[str, Any]:
    def rows(query: str) -> list[Any]:
        return connection.execute(query).fetchall()

    asked = {key: json.loads(value) for key, value in rows("SELECT key, value FROM rows WHERE kind = 'fact'")}
    driver = asked.pop("driver", None)
    units = rows("SELECT part, count(*), sum(seconds) FROM rows WHERE kind = 'done' GROUP BY 1")
    seconds = {part: each for part, _, each in units}
    stages = []
    for part, name, value in rows("SELECT part, key, value FROM rows WHERE kind = 'stage'"):
        total, done, running, best = json.loads(value)
        running = running if is_held else 0
        left = seconds_left(total, done, running, seconds.get(part, 0.0))
        stages.append(
            {
                "part": part, "stage": name, "done": done, "total": total, "running": running,
                "seconds_left": left, "best": best or None,
            }
        )  # fmt: skip
    latest = "SELECT key, {} FROM rows WHERE kind = '{}' ORDER BY saved DESC LIMIT 10"
    files = (path, path.with_name(f"{path.name}-wal"))
    return {
        "study": str(path),
        "asked": asked,
        "running_in": driver if is_held else None,
        "n_done": sum(n for _, n, _ in units),
        "n_failed": rows("SELECT count(*) FROM rows WHERE kind = 'failed'")[0][0],
        "seconds": sum(seconds.values()),
        "bytes": sum(file.stat().st_size for file in files if file.exists()),
        "stages": stages,
        "failures": [
            f"{key}: {json.loads(reason)}" for key, reason in rows(latest.format("value", "failed"))
        ],
        "checkpoints": [
            {"unit": key, "saved": saved} for key, saved in rows(latest.format("saved", "state"))
        ],
    }


def seconds_left(total: int, done: int, running: int, seconds: float) -> float | None:
    """Return the expected seconds of the remaining units; None before the first finished unit.

    `seconds`: seconds that the finished units took together.

    >>> seconds_left(8, 2, 4, 4.0)
    3.0
    """
    if done == total:
        return 0.0
    return seconds / done * (total - done) / max(1, running) if done else None


def clock_text(then: float) -> str:
    """Return a time of this machine's clock in words."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(then))
