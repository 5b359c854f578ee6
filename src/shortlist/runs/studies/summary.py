"""What a study holds, read at once however many units it has, while another process may write it."""

import contextlib
import json
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shortlist.errors import BadFileError
from shortlist.runs.studies.study_file import check_kind, check_version, is_held, reader, told


@dataclass(frozen=True)
class StageSummary:
    """One stage of the work."""

    part: str
    name: str
    """The part of the study that it belongs to, "" for the whole, and what is done."""
    total: int
    done: int
    running: int
    """Units."""
    seconds: float
    """Of the finished units, together."""
    best: str
    """The best so far, in words."""

    @property
    def left_s(self) -> float | None:
        """Seconds left, reckoned from the measured units; None before the first."""
        if self.done == self.total:
            return 0.0
        return (
            self.seconds / self.done * (self.total - self.done) / max(1, self.running) if self.done else None
        )


@dataclass(frozen=True)
class Summary:
    """What a study holds."""

    path: Path
    """The file."""
    asked: dict[str, Any]
    """The command, its words, the folder, versions, and when it was begun."""
    driver: str
    """The process and machine that work on it now; empty if none does."""
    n_done: int
    n_failed: int
    """Units of all parts."""
    seconds: float
    """Of the finished units, together."""
    stages: tuple[StageSummary, ...]
    """In the order of parts and names."""
    failures: tuple[str, ...]
    """Why the latest units failed, ten at most."""
    checkpoints: tuple[tuple[str, float], ...]
    """Units that go on from a kept state, and when it was kept."""
    size: int
    """Bytes on the disk."""


def summary(path: Path) -> Summary:
    """Return what a study holds.

    Raises BadFileError if the file is not there, is none of a study, or is damaged.
    """
    if not path.is_file():
        raise BadFileError(f"the study {path} cannot be read: No such file. Check the path.")
    check_kind(path)
    held = is_held(path)
    with contextlib.closing(reader(path)) as connection, told(path):
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if not version:
            raise BadFileError(f"the study {path} is empty. Run the command that makes it, or name another.")
        check_version(path, version)
        return _summary(path, connection, held=held)


def _summary(path: Path, connection: sqlite3.Connection, *, held: bool) -> Summary:
    def rows(query: str) -> list[Any]:
        return connection.execute(query).fetchall()

    asked = {key: json.loads(value) for key, value in rows("SELECT key, value FROM rows WHERE kind = 'fact'")}
    driver = asked.pop("driver", "")
    units = rows("SELECT part, count(*), sum(seconds) FROM rows WHERE kind = 'done' GROUP BY 1")
    seconds = {part: each for part, _, each in units}
    latest = "SELECT key, {} FROM rows WHERE kind = '{}' ORDER BY saved DESC LIMIT 10"
    try:
        return Summary(
            path,
            asked,
            str(driver) if held else "",
            sum(n for _, n, _ in units),
            rows("SELECT count(*) FROM rows WHERE kind = 'failed'")[0][0],
            sum(seconds.values()),
            tuple(
                StageSummary(part, key, total, done, running if held else 0, seconds.get(part, 0.0), best)
                for part, key, value in rows("SELECT part, key, value FROM rows WHERE kind = 'stage'")
                for total, done, running, best in [json.loads(value)]
            ),
            tuple(f"{key}: {json.loads(reason)}" for key, reason in rows(latest.format("value", "failed"))),
            tuple(rows(latest.format("saved", "state"))),
            sum(file.stat().st_size for file in (path, path.with_name(f"{path.name}-wal")) if file.exists()),
        )
    except (TypeError, ValueError) as error:  # values of another shape
        raise sqlite3.DatabaseError(str(error)) from None


def age_text(then: float) -> str:
    """Say when something was, in the clock of this machine."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(then))
