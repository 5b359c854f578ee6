"""A study: finished units of work by key, each recorded once, and states of units that go on inside."""

import contextlib
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.errors import BadInputError

if TYPE_CHECKING:
    from shortlist.runs.studies.study_file import StudyFile


@dataclass(frozen=True)
class KeepSettings:
    """When states of units that go on are kept.

    Parameters
    ----------
    every_s : float, default=1
        Seconds from one kept state of a unit to the next, at least.
    share : float, default=0.02
        Share of the time, at most, that keeping states may take.
    most_bytes : int, default=500,000,000
        Size of a state, at most; a unit with larger ones keeps none. SQLite ends at twice as much.
    """

    every_s: float = 1.0
    share: float = 0.02
    most_bytes: int = 500_000_000


KEEP_SETTINGS = KeepSettings()


@dataclass(frozen=True)
class Finished:
    """A finished unit as it is recorded: a result that JSON holds or bytes, its seconds, and where it ran."""

    key: str
    result: Any
    seconds: float = 0.0
    machine: str = ""


class Study:
    """Where finished units are kept; one without a file keeps nothing.

    Results are what JSON holds exactly (numbers, text, lists, mappings with text as keys), or bytes. A copy
    in another process keeps nothing: only the process that drives a study writes to it.

    Parameters
    ----------
    file : StudyFile, optional
        The open file.
    part : str
        Units of different parts may have the same key; ``""`` is the whole study.
    keeping : KeepSettings, optional
        When states are kept.

    Examples
    --------
    >>> study = Study()
    >>> study.record(Finished("a", [1, 2])), study.results(), study.keeps
    ([1, 2], {}, False)
    """

    def __init__(
        self, file: "StudyFile | None" = None, part: str = "", keeping: KeepSettings = KEEP_SETTINGS
    ) -> None:
        self._keeping = keeping
        self._file = file
        self.name = part
        self._due: dict[str, float] = {}

    def __reduce__(self) -> tuple[type["Study"], tuple[()]]:
        return Study, ()

    @property
    def keeps(self) -> bool:
        """Whether there is a file."""
        return self._file is not None

    @property
    def path(self) -> Path | None:
        """The file."""
        return None if self._file is None else self._file.path

    def part(self, name: str) -> "Study":
        """Return the part of this study that has this name, with keys and settings of its own."""
        return Study(self._file, f"{self.name}/{name}" if self.name else name, self._keeping)

    def bind(self, settings: Mapping[str, Any]) -> None:
        """Bind this part to what decides its results: those not named before are noted, the others compared.

        Parameters
        ----------
        settings : mapping of str to object
            Values that JSON holds, by the names that users know them by.

        Raises
        ------
        BadInputError
            If the study was made with another value; the sentence says which, with both.
        """
        if self._file is None:
            return
        known = self.settings()
        wanted = {name: json.loads(json.dumps(value)) for name, value in settings.items()}
        for name, value in wanted.items():
            if name in known and known[name] != value:
                raise BadInputError(
                    f"the study {self._file.path} belongs to another question: "
                    f"{name} was {_shown(known[name])} "
                    f"there and is {_shown(value)} now. Name another file, or ask the same again."
                )
        new = {name: value for name, value in wanted.items() if name not in known}
        if new:
            with self._write() as connection:
                part = self._id(connection, "parts", self.name)
                connection.executemany(
                    "INSERT INTO settings VALUES (?1, ?2, ?3, checksum(?1, ?2, ?3))",
                    [(part, name, _text(value)) for name, value in new.items()],
                )

    def settings(self) -> dict[str, Any]:
        """Return what this part is bound to."""
        rows = self._rows("SELECT settings.name, value", "settings")
        return {name: self._read(json.loads, value) for name, value in rows}

    def note(self, facts: Mapping[str, Any]) -> None:
        """Note facts about the whole study, in place of earlier ones of the same name."""
        if self._file is not None:
            with self._write() as connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO asked VALUES (?, ?)",
                    [(name, _text(value)) for name, value in facts.items()],
                )

    def noted(self, name: str) -> Any:
        """Return a fact about the whole study; None if it was not noted."""
        if self._file is None:
            return None
        rows = self._file.read("SELECT value FROM asked WHERE name = ?", (name,))
        return self._read(json.loads, rows[0][0]) if rows else None

    @property
    def n_finished(self) -> int:
        """How many units of all parts are finished."""
        if self._file is None:
            return 0
        rows = self._file.read("SELECT coalesce(sum(units), 0) FROM counts WHERE state = 'done'")
        return int(rows[0][0])

    def results(self) -> dict[str, Any]:
        """Return the results of the finished units of this part by key, in the order of the keys."""
        rows = self._rows("SELECT key, result", "units", "AND state = 'done'")
        return {key: self._read(_value, result) for key, result in rows}

    def seconds(self) -> dict[str, float]:
        """Return how long each finished unit of this part took, by key."""
        return dict(self._rows("SELECT key, seconds", "units", "AND state = 'done'"))

    def record(self, *units: Finished, stage: "StageNote | None" = None) -> Any:
        """Record finished units, all in one step; one that is recorded already stays as it is.

        Returns
        -------
        result
            That of the last unit as a later reading gives it, where there is a file.

        Raises
        ------
        NotWrittenError
            If the disk is full; what was recorded before stays.
        """
        if self._file is None:
            return units[-1].result if units else None
        packed = [_packed(one.result) for one in units]
        with self._write() as connection:
            part = self._id(connection, "parts", self.name)
            for one, result in zip(units, packed, strict=True):
                machine = self._id(connection, "machines", one.machine)
                connection.execute(
                    "DELETE FROM units WHERE part = ? AND key = ? AND state = 'failed'", (part, one.key)
                )
                connection.execute(
                    "INSERT OR IGNORE INTO units "
                    "VALUES (?1, ?2, 'done', ?3, ?4, ?5, ?6, checksum(?1, ?2, 'done', ?3))",
                    (part, one.key, result, one.seconds, machine, time.time()),
                )
                connection.execute("DELETE FROM checkpoints WHERE part = ? AND key = ?", (part, one.key))
            if stage is not None:
                self._note(connection, part, stage)
        return _value(packed[-1]) if packed else None

    def fail(self, key: str, error: BaseException, *, seconds: float = 0.0) -> None:
        """Note that a unit failed and why; it is run again when the study goes on."""
        if self._file is None:
            return
        reason = ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])
        with self._write() as connection:
            part, machine = self._id(connection, "parts", self.name), self._id(connection, "machines", "")
            connection.execute(
                "DELETE FROM units WHERE part = ? AND key = ? AND state = 'failed'", (part, key)
            )
            connection.execute(
                "INSERT OR IGNORE INTO units "
                "VALUES (?1, ?2, 'failed', ?3, ?4, ?5, ?6, checksum(?1, ?2, 'failed', ?3))",
                (part, key, _text(reason), seconds, machine, time.time()),
            )

    def tell(self, stage: "StageNote") -> None:
        """Note how far a stage is, for those who look at the study."""
        if self._file is not None:
            with self._write() as connection:
                self._note(connection, self._id(connection, "parts", self.name), stage)

    def keep(
        self,
        key: str,
        state: Callable[[], Any],
        *,
        now: bool = False,
        stage: "Callable[[], StageNote] | None" = None,
    ) -> None:
        """Keep the state of a unit that goes on, in place of its last one, if it is time to.

        Parameters
        ----------
        key : str
            The unit; recording it drops the state.
        state : callable
            Returns what JSON holds exactly, or bytes. Called only when :class:`KeepSettings` allow it; one
            that is larger than they allow is not kept.
        now : bool, default=False
            Keep it whatever the time.
        stage : callable, optional
            Returns how far the stage is, which is noted with the state.
        """
        start, due = time.perf_counter(), self._due.get(key, 0.0)
        if self._file is None or (start < due and not now) or due == math.inf:
            return
        packed = _packed(state())
        if len(packed) > self._keeping.most_bytes:
            self._due[key] = math.inf
            return
        with self._write() as connection:
            part = self._id(connection, "parts", self.name)
            connection.execute(
                "INSERT OR REPLACE INTO checkpoints VALUES (?1, ?2, ?3, ?4, checksum(?1, ?2, ?3))",
                (part, key, packed, time.time()),
            )
            if stage is not None:
                self._note(connection, part, stage())
        end = time.perf_counter()
        self._due[key] = end + max(self._keeping.every_s, (end - start) / self._keeping.share)

    def drop(self, keys: Iterable[str]) -> None:
        """Drop the states of units that no unit goes on from any more."""
        if self._file is not None:
            with self._write() as connection:
                part = self._id(connection, "parts", self.name)
                connection.executemany(
                    "DELETE FROM checkpoints WHERE part = ? AND key = ?", [(part, key) for key in keys]
                )

    def kept(self, key: str) -> Any:
        """Return the state of a unit that was kept last; None without one."""
        rows = self._rows("SELECT checkpoints.state", "checkpoints", "AND key = ?", (key,))
        return self._read(_value, rows[0][0]) if rows else None

    def _read(self, read: Callable[[Any], Any], recorded: Any) -> Any:
        """Return what was recorded; what cannot be read is damage."""
        from shortlist.runs.studies.study_file import told

        assert self._file is not None, "only a study with a file has anything recorded"
        with told(self._file.path):
            return read(recorded)

    def _rows(self, what: str, table: str, more: str = "", values: tuple[Any, ...] = ()) -> list[Any]:
        if self._file is None:
            return []
        query = f"{what} FROM {table} JOIN parts ON part = parts.id WHERE parts.name = ? {more}"
        return self._file.read(query, (self.name, *values))

    def _write(self) -> contextlib.AbstractContextManager[Any]:
        """Return what gives the connection for changes that are recorded all together or not at all."""
        assert self._file is not None, "only a study with a file is written to"
        return self._file.write()

    def _id(self, connection: Any, table: str, name: str) -> int:
        """Return the number of a part or a machine, within a transaction."""
        find = f"SELECT id FROM {table} WHERE name = ?"  # noqa: S608  # the table is ours
        found = connection.execute(find, (name,)).fetchone()
        if found is None:
            insert = f"INSERT INTO {table} (name) VALUES (?)"  # noqa: S608  # likewise
            return int(connection.execute(insert, (name,)).lastrowid)
        return int(found[0])

    def _note(self, connection: Any, part: int, stage: "StageNote") -> None:
        connection.execute(
            "INSERT OR REPLACE INTO stages VALUES (?, ?, ?, ?, ?, ?, ?)",
            (part, stage.name, stage.total, stage.done, stage.running, stage.best, time.time()),
        )


@dataclass(frozen=True)
class StageNote:
    """How far a stage is: units in all, done and running, and the best so far in words."""

    name: str
    total: int
    done: int
    running: int = 0
    best: str = ""


NO_STUDY = Study()
"""A study without a file."""


@contextlib.contextmanager
def open_study(
    path: str | Path,
    *,
    wait: bool = True,
    say: Callable[[str], None] | None = None,
    after_s: float = 0.0,
    keeping: KeepSettings = KEEP_SETTINGS,
) -> Iterator[Study]:
    """Yield the study of a file, made if it is not there; nobody else can write to it meanwhile.

    Parameters
    ----------
    path : str or Path
        The file.
    wait : bool, default=True
        Whether to wait while another process works on it.
    say : callable, optional
        Receives a sentence before the wait, and the note.
    after_s : float, default=0
        Above 0 nobody has asked for the file. One that is not there is made after so many seconds of work,
        and not at all by shorter work. Where it cannot be read or written, or another process works on it,
        `say` gets a note, and the work goes on in memory.
    keeping : KeepSettings, optional
        When states of units that go on are kept.

    Raises
    ------
    BadFileError
        If the file is none of a study, of a later version, damaged, or cannot be written.
    BadInputError
        Without `wait`, if another process works on it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, open_study(Path(folder, "s.db")) as study:
    ...     study.record(Finished("a", {"points": [[1, 2]]}))
    ...     study.results()
    {'points': [[1, 2]]}
    {'a': {'points': [[1, 2]]}}
    """
    from shortlist.runs.studies.study_file import StudyFile

    def busy(sentence: str) -> None:
        if not wait:
            raise BadInputError(f"{sentence} Wait until it has ended, or name another file.")
        tell(f"{sentence} Waiting until it has ended.")

    def tell(sentence: str) -> None:
        if say is not None:
            say(sentence)

    file = StudyFile(Path(path), busy, after_s=after_s, say=tell)
    try:
        yield Study(file, keeping=keeping)
    finally:
        file.close()


def _packed(value: Any) -> str | bytes:
    """Return a result as it is recorded: text for JSON, or bytes."""
    return value if isinstance(value, bytes) else _text(value)


def _value(recorded: Any) -> Any:
    """Undo :func:`_packed`."""
    return recorded if isinstance(recorded, bytes) else json.loads(recorded)


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
