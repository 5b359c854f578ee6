"""Rows that were stored, and whether today's code gives them again."""

import ast
import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

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
"""Columns that say how long something took or may take."""
CHECK_SECONDS = 60.0
"""Seconds of the processor that a check runs units for."""
WITHIN = 1e-6
"""Relative difference of numbers that count as the same: last digits depend on the processor."""

AGAIN, OTHERWISE, BY_TIME, NOT_STORED = "as stored", "otherwise", "ended by a time limit", "not stored"


def stored_rows(path: Path) -> "pd.DataFrame":
    """Read rows as CSV, as units returned them.

    Raises BadInputError if it is no file of rows.
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


def drawn_units(units: Sequence[Unit], seed: int = 0, seconds: float = CHECK_SECONDS) -> list[Unit]:
    """Return the units that a check runs: those that should take at most a quarter of its time, mixed.

    One of each kind comes before the others, the shortest ones first.
    """
    cheap = [unit for unit in units if 0 < unit.size <= seconds / 4]
    mixed = [cheap[place] for place in np.random.default_rng(seed).permutation(len(cheap))]
    first = {unit.kind: unit for unit in reversed(mixed)}
    return sorted(mixed, key=lambda unit: unit.size if first[unit.kind] is unit else seconds)


def checked_rows(
    rows: "pd.DataFrame",
    units: Sequence[Unit],
    cancellation: Cancellation,
    seconds: float = CHECK_SECONDS,
) -> tuple[int, list[dict[str, Any]]]:
    """Run some units again, and count which of their rows are as stored.

    Returns the number of units that were begun within `seconds` of the processor, and, for each kind or
    method, how many of their rows are as stored, otherwise, or not stored. A row of a search that a time
    limit ended, then or now, is counted apart: it depends on the machine. Seconds are not compared.

    `rows`: as :func:`stored_rows` reads them. `units`: as :func:`drawn_units` draws them.
    """
    columns = [name for name in KEYS if name in rows]
    stored = {_key(row, columns): row for row in rows.to_dict("records")}
    counts: dict[str, Counter[str]] = {}
    begun, n_units = processor_seconds(), 0
    for unit in units:
        found = unit.call(*unit.arguments, budget=Budget(cancellation=cancellation))
        if cancellation.cancelled:
            break
        n_units += 1
        for row in found:
            name = str(row.get("method", row.get("kind")))
            counts.setdefault(name, Counter())[_verdict(row, stored.get(_key(row, columns)))] += 1
        if processor_seconds() - begun > seconds:
            break
    verdicts = (AGAIN, OTHERWISE, BY_TIME, NOT_STORED)
    return n_units, [{"rows of": name, **{one: counts[name][one] for one in verdicts}} for name in counts]


def _key(row: Mapping[Hashable, Any], columns: Sequence[str]) -> tuple[Any, ...]:
    return tuple(None if _missing(row.get(name)) else row[name] for name in columns)


def _verdict(row: Mapping[str, Any], stored: Mapping[Hashable, Any] | None) -> str:
    if stored is None:
        return NOT_STORED
    if all(_same(value, stored.get(name)) for name, value in row.items() if name not in TIMES):
        return AGAIN
    limited = any((one.get("gap") or 0) > 0 or one.get("ended") is False for one in (row, stored))
    return BY_TIME if limited else OTHERWISE


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
