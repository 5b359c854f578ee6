"""Stored rows of papers, and a check whether today's code reproduces them."""

import ast
import math
import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist._words import all_of, counted
from shortlist.errors import BadInputError
from shortlist.runs import Budget, Cancellation, Unit
from shortlist.runs.budget import processor_seconds

if TYPE_CHECKING:
    import pandas as pd

KEYS = (
    "kind", "dataset", "set", "system", "number", "repeat", "fold", "classifiers", "method", "split",
    "reference_points", "seed", "objectives", "part", "order", "stages",
    "rules", "trial", "feature", "level", "place",
)  # fmt: skip
"""Columns that identify a row."""
TIMES = ("seconds", "processor_s", "clock", "limit_s", "timings", "plane_s")
"""Columns of times and time limits."""
CHECK_SECONDS = 60.0
"""Processor seconds for which a check runs units."""
WITHIN = 1e-6
"""Largest relative difference of equal numbers, as last digits depend on the processor."""

ROWS_HOLD_SINCE = {"pruning": "0.3.0", "emsco": "0.3.0", "products": "0.3.0", "evolution": "0.3.0"}
"""First version of each paper whose rows equal those of today's code.

Since version 0.3.0 the values, bounds and fronts of ``tests/test_golden_answers.py`` are the same. A later
change that alters the rows of a paper must set the paper's version here.
"""

AGAIN, OTHERWISE, BY_TIME, NOT_STORED = "as stored", "otherwise", "ended by a time limit", "not stored"
OLDER = "of an older version"
"""Verdict on a differing stored row from a version whose rows are no longer valid."""
EQUAL = "another of equal best"
"""Verdict on a selection with other members than the stored one, if both have the same value and are proved
best.
"""
ADDED = "as stored but for newer columns"
"""Verdict on a row that differs only in columns that were added after the row was stored."""
VERDICTS = (AGAIN, ADDED, EQUAL, OTHERWISE, BY_TIME, OLDER, NOT_STORED)
SELDOM = {ADDED, OLDER}
"""Verdicts that are printed only if some row has them."""

OF_MEMBERS = frozenset({
    "selection", "members", "pfc", "accuracy", "balanced_accuracy", "validation_accuracy",
})  # fmt: skip
"""Columns in which equally good selections may differ."""


def stored_rows(path: Path) -> "pd.DataFrame":
    """Return the rows of a CSV file, in the form in which units returned them.

    Raises BadInputError if the file has no such rows.
    """
    import pandas as pd

    try:
        rows = pd.read_csv(path, low_memory=False)
    except (OSError, ValueError) as error:
        raise BadInputError(f"{path} must be rows of a reproduction as CSV: {error}.") from None
    for column in rows.select_dtypes(["object", "string"]):
        values = rows[column].dropna().astype(str)
        if values.isin(["True", "False"]).all():
            rows[column] = (
                rows[column].astype(object).map({True: True, "True": True, False: False, "False": False})
            )
        elif values.str.startswith("[").all():
            read = [ast.literal_eval(one) if isinstance(one, str) else None for one in rows[column]]
            rows[column] = pd.Series(read, index=rows.index, dtype=object)
    return rows


def versions_of(rows: "pd.DataFrame") -> list[str]:
    """Return the version of this library behind each row; empty for the present version."""
    if "versions" not in rows:
        return [""] * len(rows)
    return [_version(told) for told in rows["versions"]]


def _version(told: Any) -> str:
    found = re.match(r"shortlist ([^;]+)", str(told))
    return found[1] if found else ""


def _is_older(paper: str, version: str) -> bool:
    """Return whether a version is older than those with valid rows; false for the present version, ""."""
    return bool(version) and _numbers(version) < _numbers(ROWS_HOLD_SINCE[paper])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(one) for one in re.findall(r"\d+", version))


def of_older_versions(paper: str, *parts: "pd.DataFrame") -> str:
    """Return words, after a semicolon, on the number of rows from versions that are no longer valid.

    Empty if all rows are valid.

    >>> import pandas as pd
    >>> rows = pd.DataFrame({"versions": ["shortlist 0.3.0; x", "shortlist 0.10.0; x", "shortlist 0.2.0; x"]})
    >>> of_older_versions("emsco", rows), of_older_versions("emsco", rows[:2])
    ('; 1 of 3 rows are of version 0.2.0', '')
    """
    versions = [version for part in parts for version in versions_of(part)]
    told = [
        f"{versions.count(one):,} of {counted(len(versions), 'row')} are of version {one}"
        for one in sorted(set(versions), key=_numbers)
        if _is_older(paper, one)
    ]
    return f"; {all_of(told)}" if told else ""


def drawn_units(units: Sequence[Unit], seed: int = 0, seconds: float = CHECK_SECONDS) -> list[Unit]:
    """Return units for a check in random order: each expected to take at most a quarter of `seconds`.

    One unit of each kind comes first, the shortest kinds before longer ones.
    """
    cheap = [unit for unit in units if 0 < unit.size <= seconds / 4]
    mixed = [cheap[place] for place in np.random.default_rng(seed).permutation(len(cheap))]
    first = {unit.kind: unit for unit in reversed(mixed)}
    return sorted(mixed, key=lambda unit: unit.size if first[unit.kind] is unit else seconds)


@dataclass(frozen=True)
class CheckedRows:
    """Result of a check."""

    n_units: int
    """Number of units that were begun."""
    counts: list[dict[str, Any]]
    """Number of rows by verdict, for each kind or method."""
    differing: list[dict[str, Any]]
    """Rows that differ: their identifying columns, and each differing column, as stored and now."""


def checked_rows(
    paper: str,
    rows: "pd.DataFrame",
    units: Sequence[Unit],
    cancellation: Cancellation,
    seconds: float = CHECK_SECONDS,
) -> CheckedRows:
    """Run some units again, and compare their rows with the stored rows.

    A row of a search that a time limit ended, then or now, is counted separately, as it depends on the
    machine. A different selection with the stored value that is proved best too is counted separately, as the
    paper does not say which of several best selections is taken. A row of a version before
    :data:`ROWS_HOLD_SINCE` is counted separately, too. Seconds are not compared, and columns that no stored
    row of the method has are not compared either.

    `rows`: result of :func:`stored_rows`. `units`: result of :func:`drawn_units`; they are begun within
    `seconds` of the processor.
    """
    columns = [name for name in KEYS if name in rows]
    stored = {_key(row, columns): row for row in rows.to_dict("records")}
    known: dict[str, set[str]] = {}
    for row in stored.values():
        known.setdefault(_name(row), set()).update(
            str(column) for column, value in row.items() if not _missing(value)
        )
    counts: dict[str, Counter[str]] = {}
    differing: list[dict[str, Any]] = []
    begun, n_units = processor_seconds(), 0
    for unit in units:
        found = unit.call(*unit.arguments, budget=Budget(cancellation=cancellation))
        if cancellation.cancelled:
            break
        n_units += 1
        for row in found:
            name, old = _name(row), stored.get(_key(row, columns))
            others = _other_columns(row, old or {}, known.get(name, set()))
            verdict = _verdict(paper, row, old, others)
            counts.setdefault(name, Counter())[verdict] += 1
            if verdict == OTHERWISE:
                where = {key: row[key] for key in columns if not _missing(row.get(key))}
                assert old is not None
                differing.append(
                    {
                        "row": ", ".join(f"{key} {value}" for key, value in where.items()),
                        "differs": {one: [old.get(one), row.get(one)] for one in others},
                    }
                )
        if processor_seconds() - begun > seconds:
            break
    shown = [one for one in VERDICTS if one not in SELDOM or any(count[one] for count in counts.values())]
    told = [{"rows of": name, **{one: count[one] for one in shown}} for name, count in counts.items()]
    return CheckedRows(n_units, told, differing)


def _name(row: Mapping[Any, Any]) -> str:
    method = row.get("method")
    return str(row.get("kind") if _missing(method) else method)


def _key(row: Mapping[Hashable, Any], columns: Sequence[str]) -> tuple[Any, ...]:
    return tuple(None if _missing(row.get(name)) else row[name] for name in columns)


def _other_columns(row: Mapping[str, Any], stored: Mapping[Hashable, Any], known: set[str]) -> list[str]:
    return [
        name
        for name, value in row.items()
        if name not in TIMES and name in known and not _same(value, stored.get(name))
    ]


def _verdict(
    paper: str, row: Mapping[str, Any], stored: Mapping[Hashable, Any] | None, others: Sequence[str]
) -> str:
    if stored is None:
        return NOT_STORED
    if not others:
        return AGAIN
    if all(_missing(stored.get(one)) for one in others):
        return ADDED
    if any((one.get("gap") or 0) > 0 or one.get("ended") is False for one in (row, stored)):
        return BY_TIME
    proved = all(not _missing(one.get("gap")) and one["gap"] == 0 for one in (row, stored))
    if proved and _same_value(row, stored) and OF_MEMBERS.issuperset(others):
        return EQUAL
    return OLDER if _is_older(paper, _version(stored.get("versions"))) else OTHERWISE


def _same_value(row: Mapping[str, Any], stored: Mapping[Hashable, Any]) -> bool:
    """Return whether two selections have the same value, or the same accuracy if no value is stored."""
    name = "value" if not _missing(stored.get("value")) else "validation_accuracy"
    return not _missing(stored.get(name)) and _same(row.get(name), stored[name])


def _same(value: Any, stored: Any) -> bool:
    if _missing(value) or _missing(stored):
        return _missing(value) and _missing(stored)
    if isinstance(value, list | tuple):
        return bool(np.array_equal(value, stored))
    if isinstance(value, int | float | np.number) and isinstance(stored, int | float | np.number):
        return math.isclose(value, stored, rel_tol=WITHIN, abs_tol=1e-12)
    return str(value) == str(stored)


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value)) or value == []
