"""The file of a study: its table, opened, checked, locked, and every failure as one sentence."""

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


WAIT_S = 0.2
"""From one look at a lock that another process holds to the next."""


class FileLock:
    """The lock of a file, on the file itself, so that nothing is left beside it.

    The file must stay open until SQLite has closed it, since closing a file of a process drops SQLite's own
    locks on it. Systems without ``flock`` have no lock; there only the unique keys of units keep a study
    whole.

    `path`: the file, made if it is not there. `busy`: called once when another process holds the lock, before
    the first wait.
    """

    def __init__(self, path: Path, busy: Callable[[], None]) -> None:
        self._handle = -1
        told = False
        while not self._try(path):
            if not told:
                busy()
                told = True
            time.sleep(WAIT_S)

    def close(self) -> None:
        """Give the lock back."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _try(self, path: Path) -> bool:
        """Take the lock; false if another one has it, or has put another file in its place meanwhile."""
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise BadFileError(
                f"{path} cannot be written: {error.strerror}. Choose a folder that exists."
            ) from None
        try:
            import fcntl
        except ImportError:  # no flock on this system
            self._handle = handle
            return True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), os.stat(path)):  # noqa: PTH116  # the pair of fstat
                self._handle = handle
                return True
        except (BlockingIOError, FileNotFoundError):
            pass
        os.close(handle)
        return False


def is_held(path: Path) -> bool:
    """Whether a process works on a study; false on systems without ``flock``."""
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


GO_ON = "What was finished before is kept, if anything was: make room, and run the same again to go on."
BEGINNING = b"SQLite format 3\x00"


class StudyFile:
    """An open study, for one process and all of its threads; every change is a transaction.

    The journal is written ahead (WAL), so that others read while this process writes, and a change is with
    the operating system before :meth:`write` returns: killing the process loses nothing. A power cut may lose
    the last moments, and never leaves a study that cannot be read.

    Raises BadFileError if the file is none of a study, of another version, damaged, or cannot be written.

    `path`: the file, made if it is not there or empty. `busy`: receives a sentence when another process works
    on the study, before this one waits.
    """

    def __init__(self, path: Path, busy: Callable[[str], None]) -> None:
        self.path = path
        self._threads = threading.RLock()
        if not (self.path.is_file() and os.access(self.path, os.W_OK)):
            check_writable(self.path, "study")
        check_kind(self.path)
        made = not self.path.exists()
        self._lock = FileLock(self.path, lambda: busy(_holder(self.path)))
        made = made and not self.path.stat().st_size  # another process may have been faster
        try:
            with told(self.path):
                self._connection = _connected(self.path)
                try:
                    _prepare(self.path, self._connection)
                except BaseException:
                    self._connection.close()
                    raise
        except BaseException:
            if made:
                remove_study(self.path)
            self._lock.close()
            raise

    def read(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a query."""
        with self._threads, told(self.path):
            return self._connection.execute(query, values).fetchall()

    def change(
        self, put: Iterable[Row] = (), *, once: Iterable[Row] = (), drop: Iterable[tuple[str, str, str]] = ()
    ) -> None:
        """Drop rows by kind, part and key, add those of `once` that are not there, and put rows in place.

        All is recorded together or not at all.
        """
        now = time.time()
        with self._threads, told(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                change = self._connection.executemany
                change("DELETE FROM rows WHERE kind = ? AND part = ? AND key = ?", drop)
                change(ADD.format("IGNORE"), ((*row, now) for row in once))
                change(ADD.format("REPLACE"), ((*row, now) for row in put))
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Move all that was recorded into the file itself, and let others have it."""
        with self._threads:
            with contextlib.suppress(sqlite3.Error):  # what was recorded is in the journal beside the file
                self._connection.execute("DELETE FROM rows WHERE kind = 'fact' AND key = 'driver'")
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._lock.close()


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Raise what SQLite raises, or what comes of values that are no JSON any more, as a sentence."""
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError, json.JSONDecodeError) as error:
        if isinstance(error, sqlite3.OperationalError) and (reason := _reason(error)) is not None:
            raise NotWrittenError(f"{path} cannot be written: {reason}. {GO_ON}") from None
        damage = ("UTF-8", "no such column", "no such table")  # the names are ours, and were there
        ours = isinstance(error, sqlite3.OperationalError) and not any(word in str(error) for word in damage)
        if ours or isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
            raise
        raise BadFileError(f"the study {path} is damaged. Name another file, or restore this one.") from None


def reader(path: Path) -> sqlite3.Connection:
    """Return a connection that only reads, for those who look at a study while another process writes it."""
    with told(path):
        mode = "rw" if os.access(path, os.W_OK) else "ro"  # who may only read leaves files of SQLite behind
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=5.0)
        connection.execute("PRAGMA query_only = ON")
        return connection


def remove_study(path: Path) -> None:
    """Remove a study and what SQLite may have left beside it."""
    for end in ("", "-wal", "-shm"):
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)


def check_kind(path: Path) -> None:
    """Refuse a file that is no study; raises BadFileError if it holds something else."""
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except FileNotFoundError:
        return
    except OSError as error:
        raise BadFileError(f"{path} cannot be read: {error.strerror}. Check the path.") from None
    own = head.startswith(BEGINNING) and int.from_bytes(head[68:72], "big") in {0, APPLICATION}
    if head and not own:
        raise BadFileError(
            f"the study {path} must be a file of an earlier run, got something else. Name another file."
        )


def check_version(path: Path, found: int) -> None:
    """Refuse a study of another version.

    Raises BadFileError with both versions.
    """
    if found != VERSION:
        raise BadFileError(
            f"the study {path} has version {found} of the format, and this Shortlist knows version {VERSION}."
            " Install the Shortlist that wrote it, or name another file."
        )


def _prepare(path: Path, one: sqlite3.Connection) -> None:
    """Check the content of a study, make the table of a new one, and say who works on it."""
    found = one.execute("PRAGMA user_version").fetchone()[0]
    if found:
        check_version(path, found)
    if found and [row[0] for row in one.execute("PRAGMA integrity_check(1)")] != ["ok"]:
        raise sqlite3.DatabaseError("integrity_check")
    one.execute("PRAGMA journal_mode = WAL")
    one.execute("PRAGMA synchronous = NORMAL")
    make_table(one)
    if (
        _tables(one) != _tables(_memory())
        or one.execute(
            f"SELECT 1 FROM rows WHERE NOT ({as_written()})"  # noqa: S608  # ours
        ).fetchone()
    ):
        raise sqlite3.DatabaseError("checksum")
    driver = json.dumps(f"{os.getpid()} on {platform.node()}")
    one.execute(ADD.format("REPLACE"), ("fact", "", "driver", driver, 0, "", time.time()))


def _memory() -> sqlite3.Connection:
    connection = _connected(Path(":memory:"))
    make_table(connection)
    return connection


def _tables(one: sqlite3.Connection) -> list[tuple[str, str]]:
    return one.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY 1").fetchall()


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30.0, isolation_level=None, check_same_thread=False)
    connection.create_function("checksum", -1, checksum, deterministic=True)
    return connection


def _holder(path: Path) -> str:
    with contextlib.suppress(sqlite3.Error), contextlib.closing(reader(path)) as connection:
        row = connection.execute("SELECT value FROM rows WHERE kind = 'fact' AND key = 'driver'").fetchone()
        if row is not None:
            return f"the study {path} is in use by process {json.loads(row[0])}."
    return f"the study {path} is in use by another process."


def _reason(error: sqlite3.OperationalError) -> str | None:
    """Say why a file could not be written; None where the error is one of ours."""
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
