"""The file of a study: opened, checked, locked, and every failure of it told as one sentence."""

import contextlib
import json
import os
import platform
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from shortlist.errors import BadFileError, NotWrittenError, ShortlistError
from shortlist.files import check_writable
from shortlist.runs.studies.schema import (
    ADD,
    APPLICATION,
    VERSION,
    Row,
    as_written,
    checksum,
    migrate,
    rescue,
)

WAIT_S = 0.2
"""From one look at a lock that another process holds to the next."""


class FileLock:
    """The lock of a file, on the file itself, so that nothing is left beside it.

    The file must stay open until SQLite has closed it, since closing a file of a process drops SQLite's own
    locks on it. Systems without ``flock`` have no lock; there only the unique keys of units keep a study
    whole.

    `path`: the file, made if it is not there. `busy`: called once when another process holds the lock, before
    the first wait; it may raise.
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
FAILURES = (ShortlistError, OSError, sqlite3.Error)
"""What opening a file may raise."""


class StudyFile:
    """An open study, for one process and all of its threads; every change is a transaction.

    The journal is written ahead (WAL), so that others read while this process writes, and a change is with
    the operating system before :meth:`write` returns: killing the process loses nothing. A power cut may lose
    the last moments, and never leaves a study that cannot be read.

    Raises BadFileError if a file that was asked for is none of a study, of a later version, damaged, or
    cannot be written.

    `path`: the file, made if it is not there or empty. `busy`: receives a sentence when another process works
    on the study, before this one waits; it may raise. `after_s`: above 0 nobody has asked for the file, so
    that it ends no work: one that is not there is made by the first change after so many seconds, and until
    then, and from the first failure on, all is kept in memory. `say`: receives a note when such a file fails.
    """

    def __init__(
        self,
        path: Path,
        busy: Callable[[str], None],
        *,
        after_s: float = 0.0,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.path = path
        self._busy, self._say, self._asked = busy, say, not after_s
        self._threads = threading.RLock()
        self._lock: FileLock | None = None
        self._due = time.monotonic() + after_s if after_s and not path.exists() else 0.0
        if self._due:
            self._connection = _memory()
            return
        try:
            self._connection = self._opened()
        except FAILURES as error:
            self._connection = self._without_file(error)

    def _opened(self, content: sqlite3.Connection | None = None) -> sqlite3.Connection:
        """Lock and open the file, which gets this content if it has none."""
        if not (self.path.is_file() and os.access(self.path, os.W_OK)):
            check_writable(self.path, "study")
        check_kind(self.path)
        made = not self.path.exists()
        self._lock = FileLock(self.path, lambda: self._busy(_holder(self.path)))
        made = made and not self.path.stat().st_size  # another process may have been faster
        try:
            with told(self.path):
                connection = _connected(self.path)
                try:
                    if content is not None:
                        _check_new(self.path, connection)
                        content.backup(connection)
                    _prepare(self.path, connection)
                except BaseException:
                    connection.close()
                    raise
        except BaseException:
            if made:
                remove_study(self.path)
            self._lock.close()
            self._lock = None
            raise
        return connection

    def _move(self) -> None:
        """Put what was kept in memory into the file, if it is time to."""
        if not self._due or time.monotonic() < self._due:
            return
        memory, self._due = self._connection, 0.0
        try:
            self._connection = self._opened(memory)
        except FAILURES as error:
            self._connection = self._without_file(error, memory)
        else:
            memory.close()

    def _without_file(self, error: Exception, memory: sqlite3.Connection | None = None) -> sqlite3.Connection:
        """Return a connection to memory where a file failed that nobody asked for, and say so; else raise."""
        if self._asked:
            raise error
        self._asked = True  # of memory, which has no file to fail
        reason = str(error).partition(". ")[0].rstrip(".")
        self._say(f"note: nothing more of this run is kept for a later one: {reason}.")
        return _memory() if memory is None else memory

    def _leave_file(self, error: Exception) -> None:
        """Go on in memory with what can be read of a file that nobody asked for; else raise the error."""
        memory = self._without_file(error)
        with contextlib.suppress(sqlite3.Error):
            self._connection.backup(memory)
        file, self._connection = self._connection, memory
        with contextlib.suppress(sqlite3.Error):
            file.close()
        if self._lock is not None:
            self._lock.close()

    def read(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a query."""
        with self._threads, told(self.path):
            return self._connection.execute(query, values).fetchall()

    def change(
        self, put: Iterable[Row] = (), *, once: Iterable[Row] = (), drop: Iterable[tuple[str, str, str]] = ()
    ) -> None:
        """Drop rows by kind, part and key, add those of `once` that are not there, and put rows in place.

        All is recorded together or not at all. Changes with which a file fails that nobody asked for are
        lost.
        """
        now = time.time()
        with self._threads:
            self._move()
            try:
                with told(self.path):
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
            except (NotWrittenError, BadFileError) as error:
                self._leave_file(error)

    def close(self) -> None:
        """Move all that was recorded into the file itself, and let others have it."""
        with self._threads:
            with contextlib.suppress(sqlite3.Error):  # what was recorded is in the journal beside the file
                self._connection.execute("DELETE FROM rows WHERE kind = 'fact' AND key = 'driver'")
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            if self._lock is not None:
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
        raise BadFileError(f"the study {path} is damaged. {rescue(path)}") from None


def reader(path: Path) -> sqlite3.Connection:
    """Return a connection that only reads, for those who look at a study while another process writes it."""
    with told(path):
        mode = "rw" if os.access(path, os.W_OK) else "ro"  # who may only read leaves files of SQLite behind
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=5.0)
        connection.execute("PRAGMA query_only = ON")
        return connection


def taken_over(older: sqlite3.Connection) -> sqlite3.Connection:
    """Return a copy in memory of a study of an older version, as one of today's."""
    memory = _connected(Path(":memory:"))
    older.backup(memory)
    migrate(memory)
    return memory


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
    """Refuse a study of a later version.

    Raises BadFileError with both versions.
    """
    if found > VERSION:
        raise BadFileError(
            f"the study {path} has version {found} of the format, "
            f"and this Shortlist knows {VERSION} and before. "
            "Install the Shortlist that wrote it, or name another file."
        )


def _check_new(path: Path, one: sqlite3.Connection) -> None:
    """Refuse a study that another process has made meanwhile."""
    if one.execute("PRAGMA user_version").fetchone()[0]:
        raise BadFileError(f"the study {path} was made meanwhile.")


def _prepare(path: Path, one: sqlite3.Connection) -> None:
    """Check the content of a study, bring it to the version of today, and say who works on it."""
    found = one.execute("PRAGMA user_version").fetchone()[0]
    check_version(path, found)
    if found and [row[0] for row in one.execute("PRAGMA integrity_check(1)")] != ["ok"]:
        raise sqlite3.DatabaseError("integrity_check")
    one.execute("PRAGMA journal_mode = WAL")
    one.execute("PRAGMA synchronous = NORMAL")
    migrate(one)
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
    migrate(connection)
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
