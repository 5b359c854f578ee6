"""Whether a table holds the rows that a model was made from, where, and which of them differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.ensembles.committees.chosen import RecordedRows
from shortlist.ensembles.pools.judges import columns_asked
from shortlist.errors import BadInputError
from shortlist.tables.fingerprints import match_rows, table_fingerprint

MOST_NAMED = 5
"""How many rows a sentence names before it counts the rest."""


@dataclass(frozen=True, eq=False)
class FoundRows:
    """Where the recorded rows are in a table."""

    places: NDArray[np.intp] | None
    """Their places in the table, ``(n_recorded,)``; None where some of them cannot be told."""
    difference: str = ""
    """What is different about the table; empty if it is the one that the model was made from."""
    n_changed: int = 0
    """How many recorded rows have other values in this table."""


def find_recorded_rows(record: RecordedRows, X: Any, y: Any, *, called: str) -> FoundRows:
    """Find recorded rows in a table.

    They are where they were, or found by value, or, in a table of as many rows, in the same place.
    """
    now = table_fingerprint(X, y)
    if now == record.table:
        return FoundRows(record.rows)
    match = match_rows(record.table, now)
    places = match.places[record.rows]
    lost = np.sort(record.rows[places < 0])
    n_before, n_now = len(record.table.rows), len(now.rows)
    if not len(lost):
        return FoundRows(
            places,
            f"{_other_table(match.missing, match.extra)}; all {len(places):,} {called} are in it, and were "
            "found by their values",
        )
    which = f"{len(lost):,} of the {len(places):,} {called}"
    if n_now == n_before and np.isin(lost, match.extra).all():
        places = np.where(places < 0, record.rows, places)
        return FoundRows(
            places, f"{which} have other values in this table ({_named(lost)}, counted from 1)", len(lost)
        )
    rows = "" if n_now == n_before else f"the table has {n_now:,} rows in place of {n_before:,}, and "
    return FoundRows(None, f"{rows}{which} are not in it ({_named(lost)} of the table that it was made from)")


def unusable_answers(classifiers: Sequence[Any], X: Any) -> list[str]:
    """Say which answer of judges in a table cannot be one, such as a class that there is not.

    Judges are asked about the table as it stands, so that the sentence names a row of the table.

    `classifiers`: of those who are no judges, nothing is said. `X`: the table, ``(n_samples, n_features)``;
    one that lacks columns of the judges is passed over.
    """
    columns = columns_asked(classifiers)
    if not columns or not set(columns) <= set(getattr(X, "columns", ())):
        return []
    try:
        for judge in classifiers:
            judge.class_codes(X)
    except BadInputError as error:
        return [str(error).rpartition(". ")[0]]  # what to do about it comes last
    return []


def _other_table(missing: NDArray[np.intp], extra: NDArray[np.intp]) -> str:
    """Say how a table differs that has all recorded rows."""
    if not len(missing) and not len(extra):
        return "the rows of the table are in another order"
    if np.array_equal(missing, extra):
        return (
            f"{_counted(missing, 'has', 'have')} other values in this table ({_named(missing)}, counted "
            "from 1)"
        )
    parts = []
    if len(missing):
        parts.append(f"{_counted(missing, 'is', 'are')} missing ({_named(missing)} of the old table)")
    if len(extra):
        parts.append(f"{_counted(extra, 'is', 'are')} new ({_named(extra)} of this one)")
    return "in this table " + " and ".join(parts)


def _counted(rows: NDArray[np.intp], one: str, several: str) -> str:
    return f"1 row {one}" if len(rows) == 1 else f"{len(rows):,} rows {several}"


def _named(rows: NDArray[np.intp]) -> str:
    return f"row{'s' if len(rows) > 1 else ''} {all_of((rows + 1).tolist(), most=MOST_NAMED)}"
