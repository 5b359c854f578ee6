"""Search for a model's recorded rows in a table, and comparison of new answers with the recorded answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.ensembles.committees.chosen import Chosen, RecordedRows, member_answers
from shortlist.ensembles.pools.answers import class_answers, class_shares, positive_votes
from shortlist.ensembles.pools.judges import columns_asked, silences
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool, out_of_fold
from shortlist.ensembles.votes.soft_votes import Shares
from shortlist.errors import BadInputError
from shortlist.tables.fingerprints import match_rows, table_fingerprint

MOST_DIFFERENCE = 1
"""Tolerance on a probability in parts of 2^15 - 1, as another machine may round differently."""


MOST_NAMED = 5
"""Largest number of rows that a sentence names; further rows are only counted."""


PRUNED_ON = "rows that it was pruned on"
"""Name of the recorded rows if the pool was also fitted on them, and answered them out of fold."""


@dataclass(frozen=True, eq=False)
class FoundRows:
    """Recorded rows as found in a table."""

    places: NDArray[np.intp] | None
    """Indices of the recorded rows in the table, ``(n_recorded,)``; None if some recorded rows are not in the
    table.
    """
    difference: str = ""
    """Text on the difference of the table from the table that the model was made from; empty without a
    difference.
    """
    n_changed: int = 0
    """Number of recorded rows with other values in this table."""


def find_recorded_rows(record: RecordedRows, X: Any, y: Any, *, called: str) -> FoundRows:
    """Return the indices of recorded rows in a table.

    Rows are first compared at their recorded indices. If they differ there, they are searched by value, or
    taken by index in a table with the same number of rows. `called`: name of the recorded rows in sentences.
    """
    now = table_fingerprint(X, y)
    if now == record.table:
        return FoundRows(record.rows)
    if np.array_equal(now.rows, record.table.rows):
        return FoundRows(None, "the names of its columns, or what is recorded of the table, differ")
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


def _other_table(missing: NDArray[np.intp], extra: NDArray[np.intp]) -> str:
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


def unusable_answers(classifiers: Sequence[Any], X: Any) -> list[str]:
    """Return a list with a sentence on an impossible answer of judges in a table; empty without one.

    An impossible answer is, for example, an unknown class.

    Judges answer the whole table, so that the sentence names a row of the table.

    `classifiers`: members to check; unless all are judges, nothing is checked. `X`: the table, ``(n_samples,
    n_features)``; a table that lacks columns of the judges is not checked.
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


def votes_of(chosen: Chosen, rows: Any, pool: Pool | CrossFittedPool | None) -> NDArray[np.uint8]:
    """Return the answers of all candidates on the recorded rows, ``(n_rows, n_candidates)``."""
    record = chosen.record
    if record.packed_votes is not None:
        return np.unpackbits(record.packed_votes, axis=1, count=len(chosen.copies))
    if record.codes is not None:
        return record.codes
    if pool is None:
        raise BadInputError("the model has no record of the answers. Pass the whole pool as `pool=POOL`.")
    return out_of_fold(pool, rows, class_answers)


def other_votes(
    chosen: Chosen, votes: NDArray[np.uint8], rows: Any, pool: Pool | CrossFittedPool | None
) -> list[str]:
    """Return sentences on new votes of the members, or of the whole pool, that differ from the record.

    `votes`: recorded votes of all candidates.
    """
    asked, recorded = (chosen.as_chosen, votes[:, chosen.selection]) if pool is None else (pool, votes)
    again, positive = recorded, chosen.terms.positive
    if len(asked):
        ask = class_answers if positive is None else partial(positive_votes, positive=positive)
        again = out_of_fold(asked, rows, ask)
    changed = int((again != recorded).any(axis=1).sum())
    called = PRUNED_ON if chosen.out_of_fold else "selection rows"
    return [f"on {changed:,} of {len(votes):,} {called} the classifiers vote otherwise"] if changed else []


def other_probabilities(
    chosen: Chosen, shares: Shares, rows: Any, pool: Pool | CrossFittedPool | None
) -> list[str]:
    """Return sentences on new answers of the members, or of the whole pool, that differ from the record.

    `shares`: recorded probabilities.
    """
    places = np.repeat(np.arange(shares.shape[1]), chosen.copies)
    asked, recorded = (chosen.as_chosen, shares[:, places]) if pool is None else (pool, shares)
    if len(asked) != recorded.shape[1]:
        return [f"the model has {len(asked)} members, and says that it has {recorded.shape[1]}"]
    again = out_of_fold(asked, rows, class_shares).astype(np.int64)
    silent = out_of_fold(asked, rows, lambda members, table: silences(members.classifiers, table))
    known = member_answers(chosen.record, np.ones(shares.shape[1], dtype=bool), None).silent
    known = np.zeros(shares.shape[:2], dtype=bool) if known is None else known
    was_silent = known[:, places] if pool is None else known
    other = (np.abs(again - recorded) > MOST_DIFFERENCE).any(axis=2) | (silent != was_silent)
    changed = int(other.any(axis=1).sum())
    called = PRUNED_ON if chosen.out_of_fold else "selection rows"
    said = f"on {changed:,} of {len(shares):,} {called} the classifiers find other probabilities"
    return [said] if changed else []
