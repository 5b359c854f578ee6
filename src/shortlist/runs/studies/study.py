"""A study: finished units of work by key, each recorded once, and states of units that go on inside."""

import contextlib
import dataclasses
import hashlib
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadInputError
from shortlist.runs.studies.study_file import Row

if TYPE_CHECKING:
    from shortlist.runs.studies.study_file import StudyFile


def as_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as a study is bound to them, whatever their types are.

    >>> as_settings({"weights": {0: 1.5}, "prices": np.array([1, 2])})
    {'weights': [[0, 1.5]], 'prices': [1, 2]}
    """
    return {name: _plain(value) for name, value in parameters.items()}


def _plain(value: Any) -> Any:
    """Return what JSON holds of a value; of what it cannot hold, the text."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return [[_plain(name), _plain(each)] for name, each in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | None) else repr(value)


def digest_of_arrays(arrays: Iterable[NDArray[Any]]) -> str:
    """Return a digest of arrays of numbers, with their shapes and types."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class KeepSettings:
    """When states of unfinished units are kept."""

    every_s: float = 1.0
    """Seconds from one kept state of a unit to the next, at least."""
    share: float = 0.02
    """Share of the time, at most, that keeping states may take."""
    most_bytes: int = 500_000_000
    """Size of a state, at most; a unit with larger ones keeps none. SQLite ends at twice as much."""


KEEP_SETTINGS = KeepSettings()


@dataclass(frozen=True)
class Finished:
    """A finished unit as it is recorded: a result that JSON holds or bytes, its seconds, and where it ran."""

    key: str
    result: Any
    seconds: float = 0.0
    machine: str = ""


class Study:
    """A store of finished units; without a file it keeps nothing.

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
        self.keeping = keeping
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
        if self._file is None:
            return self
        return Study(self._file, f"{self.name}/{name}" if self.name else name, self.keeping)

    def bind(self, settings: Mapping[str, Any]) -> None:
        """Bind this part to settings that decide its results; new ones are noted, and known ones compared.

        Parameters
        ----------
        settings : mapping of str to object
            Values that JSON holds, by the names that users know them by.

        Raises
        ------
        BadInputError
            If the study was made with another value; the message names the setting and both values.
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
            self._file.change(Row("setting", self.name, name, _text(value)) for name, value in new.items())

    def settings(self) -> dict[str, Any]:
        """Return what this part is bound to."""
        return {name: self._read(json.loads, value) for name, value in self._rows("setting")}

    def note(self, facts: Mapping[str, Any]) -> None:
        """Note facts about the whole study, in place of earlier ones of the same name."""
        if self._file is not None:
            self._file.change(Row("fact", "", name, _text(value)) for name, value in facts.items())

    def noted(self, name: str) -> Any:
        """Return a fact about the whole study; None if it was not noted."""
        if self._file is None:
            return None
        rows = self._file.read("SELECT value FROM rows WHERE kind = 'fact' AND key = ?", (name,))
        return self._read(json.loads, rows[0][0]) if rows else None

    @property
    def n_finished(self) -> int:
        """How many units of all parts are finished."""
        if self._file is None:
            return 0
        return int(self._file.read("SELECT count(*) FROM rows WHERE kind = 'done'")[0][0])

    @property
    def is_empty(self) -> bool:
        """Whether no unit is finished, and no state of one is kept."""
        rows = "SELECT count(*) FROM rows WHERE kind IN ('done', 'state')"
        return self._file is None or not self._file.read(rows, ())[0][0]

    def results(self) -> dict[str, Any]:
        """Return the results of the finished units of this part by key, in the order of the keys."""
        return {key: self._read(_value, result) for key, result in self._rows("done")}

    def seconds(self) -> dict[str, float]:
        """Return how long each finished unit of this part took, by key."""
        return dict(self._rows("done", "seconds"))

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
        self._file.change(
            self._stage_rows(stage),
            once=[
                Row("done", self.name, one.key, result, one.seconds, one.machine)
                for one, result in zip(units, packed, strict=True)
            ],
            drop=[(kind, self.name, one.key) for one in units for kind in ("failed", "state")],
        )
        return _value(packed[-1]) if packed else None

    def fail(self, key: str, error: BaseException, *, seconds: float = 0.0) -> None:
        """Note that a unit failed and why; it runs again when the study continues."""
        if self._file is not None and not self._rows("done", "key", key):
            reason = ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])
            self._file.change([Row("failed", self.name, key, _text(reason), seconds)])

    def tell(self, stage: "StageNote") -> None:
        """Note the progress of a stage, for those who look at the study."""
        if self._file is not None:
            self._file.change(self._stage_rows(stage))

    def keep(
        self,
        key: str,
        state: Callable[[], Any],
        *,
        now: bool = False,
        stage: "Callable[[], StageNote] | None" = None,
    ) -> None:
        """Keep the state of an unfinished unit in place of its last one, if it is time to do so.

        Parameters
        ----------
        key : str
            The unit; recording it drops the state.
        state : callable
            Returns what JSON holds exactly, or bytes. Called only when :class:`KeepSettings` allow it; one
            that is larger than they allow is not kept.
        now : bool, default=False
            Keep it at any time.
        stage : callable, optional
            Returns the progress of the stage, which is noted with the state.
        """
        start, due = time.perf_counter(), self._due.get(key, 0.0)
        if self._file is None or (start < due and not now) or due == math.inf:
            return
        packed = _packed(state())
        if len(packed) > self.keeping.most_bytes:
            self._due[key] = math.inf
            return
        rows = self._stage_rows(None if stage is None else stage())
        self._file.change([Row("state", self.name, key, packed), *rows])
        end = time.perf_counter()
        self._due[key] = end + max(self.keeping.every_s, (end - start) / self.keeping.share)

    def drop(self, keys: Iterable[str]) -> None:
        """Drop the states from which no unit can continue any more."""
        if self._file is not None:
            self._file.change(drop=[("state", self.name, key) for key in keys])

    def kept(self, key: str) -> Any:
        """Return the last state of a unit that was kept; None if there is none."""
        rows = self._rows("state", key=key)
        return self._read(_value, rows[0][1]) if rows else None

    def _read(self, read: Callable[[Any], Any], recorded: Any) -> Any:
        """Return what was recorded; what cannot be read is damage."""
        from shortlist.runs.studies.study_file import told

        assert self._file is not None, "only a study with a file has anything recorded"
        with told(self._file.path):
            return read(recorded)

    def _rows(self, kind: str, cell: str = "value", key: str | None = None) -> list[tuple[str, Any]]:
        if self._file is None:
            return []
        query = f"SELECT key, {cell} FROM rows WHERE kind = ? AND part = ?"  # noqa: S608  # the cell is ours
        values = (kind, self.name)
        return (
            self._file.read(query, values)
            if key is None
            else self._file.read(f"{query} AND key = ?", (*values, key))
        )

    def _stage_rows(self, stage: "StageNote | None") -> list[Row]:
        if stage is None:
            return []
        note = _text([stage.total, stage.done, stage.running, stage.best])
        return [Row("stage", self.name, stage.name, note)]


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
    say: Callable[[str], None] | None = None,
    keeping: KeepSettings = KEEP_SETTINGS,
) -> Iterator[Study]:
    """Yield the study of a file, which is made if it does not exist, when no other process works on it.

    Parameters
    ----------
    path : str or Path
        The file.
    say : callable, optional
        Receives a sentence before the wait.
    keeping : KeepSettings, optional
        When states of unfinished units are kept.

    Raises
    ------
    BadFileError
        If the file is no study, is of another version, is damaged, or cannot be written.

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
        if say is not None:
            say(f"{sentence} Waiting until it has ended.")

    file = StudyFile(Path(path), busy)
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
