"""A study: finished units of work by key, each recorded once, and states of units that go on inside."""

import contextlib
import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shortlist.errors import BadFileError, BadInputError
from shortlist.runs.records import KeptState, opened_state, signed_words, versions
from shortlist.runs.study_file import Row, StudyFile, packed, unpacked


@dataclass(frozen=True)
class KeepSettings:
    """Times and sizes that decide when states of unfinished units are kept."""

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


@dataclass(frozen=True)
class StageNote:
    """Progress of a stage: units in all, done and running, and the best so far in words."""

    name: str
    total: int
    done: int
    running: int = 0
    best: str = ""


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
        self, file: StudyFile | None = None, part: str = "", keeping: KeepSettings = KEEP_SETTINGS
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

    def ask(self, command: str, words: Sequence[str]) -> None:
        """Note what is asked of the study now; the first command decides which studies it goes with.

        Raises BadInputError if the study belongs to another command.
        """
        self.bind({"the command": command})
        try:
            folder = str(Path.cwd())
        except OSError:  # it was removed
            folder = os.sep
        begun = self.noted("begun")
        self.note(
            {
                "command": command,
                "words": list(words),
                "folder": folder,
                "signature": signed_words(words, folder),
                "versions": versions(),
                "begun": time.time() if begun is None else begun,
            }
        )

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
                    f"the study {self.path} belongs to another question: {name} was {_shown(known[name])} "
                    f"there and is {_shown(value)} now. Name another file, or ask the same again."
                )
        new = [Row("setting", self.name, name, packed(wanted[name])) for name in wanted if name not in known]
        if new:
            self._change(new)

    def settings(self) -> dict[str, Any]:
        """Return the settings that this part is bound to."""
        return self._values("setting")

    def note(self, facts: Mapping[str, Any]) -> None:
        """Note facts about the whole study, in place of earlier ones of the same name."""
        self._change(Row("fact", "", name, packed(value)) for name, value in facts.items())

    def noted(self, name: str) -> Any:
        """Return a fact about the whole study; None if it was not noted."""
        return None if self._file is None else self._file.values("fact", "", name).get(name)

    @property
    def n_finished(self) -> int:
        """Number of finished units of all parts."""
        return self._count("done")

    @property
    def is_empty(self) -> bool:
        """Whether no unit is finished, and no state of one is kept."""
        return not self._count("done") and not self._count("state")

    def results(self) -> dict[str, Any]:
        """Return the results of the finished units of this part by key, in the order of the keys."""
        return self._values("done")

    def seconds(self) -> dict[str, float]:
        """Return the seconds of each finished unit of this part, by key."""
        query = "SELECT key, seconds FROM rows WHERE kind = 'done' AND part = ?"
        return {} if self._file is None else dict(self._file.read(query, (self.name,)))

    def record(self, *units: Finished, stage: StageNote | None = None) -> Any:
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
        done = [
            Row("done", self.name, one.key, packed(one.result), one.seconds, one.machine) for one in units
        ]
        gone = [(kind, self.name, one.key) for one in units for kind in ("failed", "state")]
        self._file.change(self._stage_rows(stage), once=done, drop=gone)
        return unpacked(done[-1].value) if done else None

    def fail(self, key: str, error: BaseException, *, seconds: float = 0.0) -> None:
        """Note that a unit failed and why; it runs again when the study continues."""
        if not self._values("done", key):
            reason = ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])
            self._change([Row("failed", self.name, key, packed(reason), seconds)])

    def tell(self, stage: StageNote) -> None:
        """Note the progress of a stage, for those who look at the study."""
        self._change(self._stage_rows(stage))

    def keep(
        self,
        key: str,
        state: Callable[[], Any],
        *,
        now: bool = False,
        stage: Callable[[], StageNote] | None = None,
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
        content = packed(state())
        if len(content) > self.keeping.most_bytes:
            self._due[key] = math.inf
            return
        rows = self._stage_rows(None if stage is None else stage())
        self._file.change([Row("state", self.name, key, content), *rows])
        end = time.perf_counter()
        self._due[key] = end + max(self.keeping.every_s, (end - start) / self.keeping.share)

    def drop(self, keys: Iterable[str]) -> None:
        """Drop the states from which no unit can continue any more."""
        if self._file is not None:
            self._file.change(drop=[("state", self.name, key) for key in keys])

    def kept(self, key: str) -> Any:
        """Return the last state of a unit that was kept; None if there is none."""
        return self._values("state", key).get(key)

    def last(self, key: str) -> Any:
        """Return the result of a unit if it is finished, otherwise its last state; None without one."""
        return self._values("done", key).get(key, self.kept(key))

    def _values(self, kind: str, key: str | None = None) -> dict[str, Any]:
        return {} if self._file is None else self._file.values(kind, self.name, key)

    def _count(self, kind: str) -> int:
        query = "SELECT count(*) FROM rows WHERE kind = ?"
        return 0 if self._file is None else int(self._file.read(query, (kind,))[0][0])

    def _change(self, rows: Iterable[Row]) -> None:
        if self._file is not None:
            self._file.change(rows)

    def _stage_rows(self, stage: StageNote | None) -> list[Row]:
        if stage is None:
            return []
        note = packed([stage.total, stage.done, stage.running, stage.best])
        return [Row("stage", self.name, stage.name, note)]


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


NO_STUDY = Study()
"""A study without a file."""


@dataclass(frozen=True)
class Checkpoint:
    """The state of one unit of a study that goes on inside, such as a generation."""

    key: str
    """The unit."""
    study: Study = NO_STUDY
    """Study that keeps the state; the default keeps nothing."""

    def last(self) -> KeptState | None:
        """Return the last state that was kept, that of its end if the unit is finished; None without one.

        Raises BadFileError if it cannot be read.
        """
        content = self.study.last(self.key)
        if content is None:
            return None
        try:
            return opened_state(content)
        except ValueError:
            raise BadFileError(
                f"the study {self.study.path} holds a state of {self.key} that cannot be read. Name another "
                "file, or delete it."
            ) from None

    def keep(
        self,
        state: Callable[[], KeptState],
        *,
        now: bool = False,
        stage: Callable[[], StageNote] | None = None,
    ) -> None:
        """Keep a state if it is time to, or `now`: see :meth:`Study.keep`."""
        self.study.keep(self.key, lambda: state().packed(), now=now, stage=stage)

    def finish(
        self, state: Callable[[], KeptState], seconds: float, *, stage: StageNote | None = None
    ) -> None:
        """Record the unit as finished, with the state of its end."""
        if self.study.keeps:
            self.study.record(Finished(self.key, state().packed(), seconds), stage=stage)


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

    def busy(sentence: str) -> None:
        if say is not None:
            say(f"{sentence} Waiting until it has ended.")

    with contextlib.closing(StudyFile(Path(path), busy)) as file:
        yield Study(file, keeping=keeping)
