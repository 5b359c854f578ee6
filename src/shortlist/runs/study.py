"""Study: finished units of work by key, each recorded once, and saved states of unfinished units."""

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
    """Times and sizes that limit the saving of states of unfinished units."""

    every_s: float = 1.0
    """Least seconds between two saved states of a unit."""
    share: float = 0.02
    """Largest share of the running time that is spent on saving states."""
    most_bytes: int = 500_000_000
    """Largest size of a state in bytes; a larger state is not saved. SQLite's limit is twice as much."""


KEEP_SETTINGS = KeepSettings()


@dataclass(frozen=True)
class Finished:
    """Finished unit: its result (JSON or bytes), its seconds, and the machine that ran it."""

    key: str
    result: Any
    seconds: float = 0.0
    machine: str = ""


@dataclass(frozen=True)
class StageNote:
    """Progress of a stage: numbers of all, finished and running units, and a text on the best result."""

    name: str
    total: int
    done: int
    running: int = 0
    best: str = ""


class Study:
    """Store of finished units; without a file it stores nothing.

    Results are bytes, or values that JSON represents exactly (numbers, text, lists, mappings with text as
    keys). A copy in another process stores nothing: only the process that drives a study writes to it.

    Parameters
    ----------
    file : StudyFile, optional
        The open file.
    part : str
        Name of a part, as keys are unique within a part only; ``""`` is the whole study.
    keeping : KeepSettings, optional
        Limits on the saving of states.

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
        """Path of the file."""
        return None if self._file is None else self._file.path

    def part(self, name: str) -> "Study":
        """Return the part of this study with this name, which has its own keys and settings."""
        if self._file is None:
            return self
        return Study(self._file, f"{self.name}/{name}" if self.name else name, self.keeping)

    def ask(self, command: str, words: Sequence[str]) -> None:
        """Note the command line of a run.

        The first command decides which commands may continue the study. Raises BadInputError if the study
        belongs to another command.
        """
        self.bind({"the command": command})
        try:
            folder = str(Path.cwd())
        except OSError:  # the folder was removed
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
        """Bind this part to the settings that decide its results: note new settings, compare known settings.

        Parameters
        ----------
        settings : mapping of str to object
            JSON values, by the names that users know.

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
        """Return the settings of this part."""
        return self._values("setting")

    def note(self, facts: Mapping[str, Any]) -> None:
        """Note facts about the whole study; a fact replaces an earlier fact of the same name."""
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
        """Whether no unit is finished, and no state is saved."""
        return not self._count("done") and not self._count("state")

    def results(self) -> dict[str, Any]:
        """Return the results of the finished units of this part by key, in the order of the keys."""
        return self._values("done")

    def seconds(self) -> dict[str, float]:
        """Return the seconds that each finished unit of this part took, by key."""
        query = "SELECT key, seconds FROM rows WHERE kind = 'done' AND part = ?"
        return {} if self._file is None else dict(self._file.read(query, (self.name,)))

    def record(self, *units: Finished, stage: StageNote | None = None) -> Any:
        """Record finished units, all in one step; a unit that is already recorded stays unchanged.

        Returns
        -------
        result
            Result of the last unit; with a file, in the form in which the file returns results.

        Raises
        ------
        NotWrittenError
            If the disk is full; earlier records stay.
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
        """Note that a unit failed, and why; the unit runs again when the study continues."""
        if not self._values("done", key):
            reason = ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])
            self._change([Row("failed", self.name, key, packed(reason), seconds)])

    def tell(self, stage: StageNote) -> None:
        """Note the progress of a stage, for users who look at the study."""
        self._change(self._stage_rows(stage))

    def keep(
        self,
        key: str,
        state: Callable[[], Any],
        *,
        now: bool = False,
        stage: Callable[[], StageNote] | None = None,
    ) -> None:
        """Save the state of an unfinished unit in place of its last state, if it is time.

        Parameters
        ----------
        key : str
            Key of the unit; recording it drops the state.
        state : callable
            Returns an exact JSON value, or bytes. Called only when :class:`KeepSettings` allow a save; a
            state larger than they allow is not saved.
        now : bool, default=False
            Save the state whatever the time.
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
        """Drop states from which no unit can continue any more."""
        if self._file is not None:
            self._file.change(drop=[("state", self.name, key) for key in keys])

    def kept(self, key: str) -> Any:
        """Return the last saved state of a unit; None if there is none."""
        return self._values("state", key).get(key)

    def last(self, key: str) -> Any:
        """Return the result of a finished unit, else its last state; None without result and state."""
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
    """Saved state of one unit of a study, for a unit that continues from states, such as generations."""

    key: str
    """Key of the unit."""
    study: Study = NO_STUDY
    """Study that saves the state; the default saves nothing."""

    def last(self) -> KeptState | None:
        """Return the last saved state; for a finished unit the final state; None if there is no state.

        Raises BadFileError if the state cannot be read.
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
        """Save a state if it is time, or if `now`: see :meth:`Study.keep`."""
        self.study.keep(self.key, lambda: state().packed(), now=now, stage=stage)

    def finish(
        self, state: Callable[[], KeptState], seconds: float, *, stage: StageNote | None = None
    ) -> None:
        """Record the unit as finished, with its final state."""
        if self.study.keeps:
            self.study.record(Finished(self.key, state().packed(), seconds), stage=stage)


@contextlib.contextmanager
def open_study(
    path: str | Path,
    *,
    say: Callable[[str], None] | None = None,
    keeping: KeepSettings = KEEP_SETTINGS,
) -> Iterator[Study]:
    """Yield the study of a file, once no other process works on it; a missing file is made.

    Parameters
    ----------
    path : str or Path
        File of the study.
    say : callable, optional
        Receives a sentence before the wait.
    keeping : KeepSettings, optional
        Limits on the saving of states of unfinished units.

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
