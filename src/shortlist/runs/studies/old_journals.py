"""Files of JSON lines that earlier versions kept finished work in, taken over into a study once."""

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from shortlist.errors import BadFileError
from shortlist.files import read_bytes
from shortlist.runs.studies.study import Finished, Study

PROGRAMS, RUNS = "shortlist_journal", "shortlist_comparison"
"""Keys by which the first lines of two kinds are told: programs of solrep, and runs of a comparison."""


def is_old_journal(path: Path) -> bool:
    """Whether a file is of an earlier version: its first line is JSON of one of the three kinds."""
    with path.open("rb") as file:
        first = file.readline(1_000_000)
    line = _parsed(first)
    return line is not None and (PROGRAMS in line or RUNS in line or {"unit", "described"} <= set(line))


def take_over(path: Path, study: Study) -> int:
    """Record what an old file holds in a study that is bound to nothing yet; return how many units that are.

    A line that was cut off is left out, as it was then.

    Raises
    ------
    BadFileError
        If the file is none of an earlier version.
    """
    lines = [line for line in map(_parsed, read_bytes(path).splitlines()) if line is not None]
    head = lines[0] if lines else {}
    try:
        if PROGRAMS in head:
            return _programs(head, lines[1:], study)
        if RUNS in head:
            settings = head["settings"]
            study.bind(
                {"the question": head["question"], "time_limit_s": settings["time_limit_s"]}
                | settings["options"]
            )
            _inner_programs(path, study)
            return _recorded(study, ((line.pop("unit"), line) for line in lines[1:]))
        if "unit" in head:
            return _folds(lines, study)
    except (KeyError, TypeError) as error:
        raise BadFileError(f"{path} must be a file of an earlier run, but it lacks {error}.") from None
    raise BadFileError(f"{path} must be a file of an earlier run, got something else. Name another file.")


def _programs(head: Mapping[str, Any], lines: Iterable[dict[str, Any]], study: Study) -> int:
    """Take the programs of a search over."""
    study.bind({"the program": head["program"]} | head["settings"])
    return _recorded(study, ((line.pop("key"), line) for line in lines))


def _inner_programs(path: Path, study: Study) -> None:
    """Take the programs over that a comparison kept in a file beside its own while solrep ran."""
    beside = Path(f"{path}.solrep")
    if beside.is_file():
        lines = [line for line in map(_parsed, read_bytes(beside).splitlines()) if line is not None]
        if lines and PROGRAMS in lines[0]:
            _programs(lines[0], lines[1:], study.part(f"solrep {lines[0]['settings']['seed']}"))


def _folds(lines: Iterable[dict[str, Any]], study: Study) -> int:
    """Take the folds of a comparison of pruning methods over, a line for each method."""
    units = []
    for line in lines:
        study.bind({f"the table {line['dataset']}": line.pop("settings")})
        study.bind({f"the method {line['method']}": line.pop("described")})
        row = {name: line[name] for name in ("method", "accuracy", "balanced_accuracy", "size", "seconds")}
        row["size"] = math.nan if row["size"] is None else row["size"]
        units.append((f"{line['unit']}/{line['method']}", row))
    return _recorded(study, units)


def _recorded(study: Study, units: Iterable[tuple[str, dict[str, Any]]]) -> int:
    """Record all units in one step."""
    found = [Finished(key, result, float(result.get("seconds", 0.0))) for key, result in units]
    study.record(*found)
    return len(found)


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return a line, or None for one that was cut off or is no JSON."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
