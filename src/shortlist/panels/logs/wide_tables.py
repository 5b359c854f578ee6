"""Wide tables, read by their columns: a row for each case, and columns for each judge."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.errors import BadFileError
from shortlist.panels.log_checks import FOLDS, folded
from shortlist.panels.logs.assembly import Wide, coded
from shortlist.panels.logs.long_roles import has_fractions, words_of
from shortlist.panels.logs.number_labels import with_number_labels
from shortlist.panels.logs.records import (
    LogColumns,
    Records,
    as_text,
    numbers_of,
    records_of,
    scores_of,
    seconds_of,
)
from shortlist.panels.logs.table_forms import FEWEST_ROWS, long_columns, told_roles
from shortlist.panels.logs.wide_layout import LABEL, Layout, layout_of
from shortlist.panels.logs.wide_parts import RIGHT_WORDS, TableHints

if TYPE_CHECKING:
    import pandas as pd


def wide_records(
    source: str, table: "pd.DataFrame", columns: LogColumns, notes: list[str], hints: TableHints
) -> Records | Wide:
    """Return a wide table by its columns, or its records if judges have probabilities or scores alone.

    Raises BadFileError if no column surely holds the truth, or columns are no answers.
    """
    layout = layout_of(source, table, columns, hints)
    names = [str(name) for name in table.columns]
    if not layout.judges:
        raise BadFileError(
            source,
            "must have a column of answers for each judge, or columns of the case, the judge and the answer",
            all_of(names, most=8),
            "Write a column of answers for each judge.",
        )
    target = layout.target
    table = with_number_labels(source, table, [*layout.labels.values(), *([target] if target else [])], notes)
    are_suffixed = any(column != judge and column.endswith(LABEL) for judge, column in layout.labels.items())
    if target is not None and hints.form is None and not (are_suffixed or layout.is_of_one):
        _check_words(source, table, target, layout)
        layout = _without_features(table, layout, target, hints)
    _tell(source, layout, notes)
    if layout.scored:
        return _score_records(source, table, columns, layout)
    probable = {judge: _shares_of(source, table, found) for judge, found in layout.shares.items()}
    said = table.assign(**{judge: answers for judge, (answers, _) in probable.items()})
    wide = Wide(
        source, _cases_of(table, layout.ids), layout.judges,
        coded(said, [*layout.labels.values(), *layout.shares]),
        truth=table[target].to_numpy(dtype=object) if target else None,
        content=table[columns.content].to_numpy(dtype=object) if columns.content else None,
        measures=_measures(source, table, layout),
        features=table[list(columns.features)], numbered=not layout.ids, columns=tuple(names),
    )  # fmt: skip
    told_shares = [None if judge in layout.labels else probable[judge][1] for judge in layout.judges]
    return wide.records(told_shares) if layout.shares else wide


def _tell(source: str, layout: Layout, notes: list[str]) -> None:
    told = {"case": " and ".join(layout.ids)} if layout.ids else {}
    told |= {} if layout.target is None else {"target": layout.target}
    roles = told_roles(told, judges=layout.judges)
    if layout.is_of_one:
        judge, answer = next(iter(layout.labels.items()))
        told["answer"] = answer
        roles = f"judge {judge!r}, as the file is called, {told_roles(told)}"
    elif layout.scored:
        roles = f"whether answers are right, {roles}"
    numbered = "" if layout.ids else ", case = number of the row"
    tell_first(notes, f"{source}: read as one row a case: {roles.removesuffix(', ')}{numbered}.")
    for part, found in layout.parts.items():
        own = [name for judge, name in found.items() if name not in {judge, f"{judge}.{part}"}]
        if own:
            those = all_of(map(repr, own), most=8)
            notes.append(f"{source}: {those} read as the {part.replace('_', ' ')} of answers.")
    if layout.copies:  # a copy of the truth would be the best judge of all
        notes.append(
            f"{source}: {all_of(map(repr, layout.copies))} not taken for answers of a judge. Pass "
            "`form='wide'` if they are."
        )
    note_unused(source, layout.unused, notes)


def tell_first(notes: list[str], form: str) -> None:
    """Add a note on the form of a file: after such notes on other files, but before all further notes."""
    notes.insert(sum(": read as one row " in note for note in notes), form)


def note_unused(source: str, names: Sequence[str], notes: list[str]) -> None:
    """Add a note with the names of unused columns."""
    if names:
        listed = all_of(map(repr, names), most=8)
        notes.append(
            f"{source}: {listed} not used. Pass columns that are known before the first call as `router`, "
            "if they may help."
        )


MOST_WORDS = 20
"""Largest number of different words in a column of answers that has no word of the truth."""


def _check_words(source: str, table: "pd.DataFrame", target: str, layout: Layout) -> None:
    """Raise BadFileError for columns that are no answers: no word of the truth, and fractions or many words.

    Words for right and wrong are no answers either, if other columns have words of the truth. If no column
    has a word of the truth in any spelling, no column holds answers.
    """
    truths, names = words_of(table[target]), [*layout.labels.values()]
    is_open = 2 * len(truths) > len(table)
    alike = _with_words(table, names, truths)
    apart = dict[str, set[str]]()
    for name in names:
        words = words_of(table[name])
        if not words & truths and (
            has_fractions(table[name]) or (len(words) > MOST_WORDS and not is_open) or words <= RIGHT_WORDS
        ):
            apart[name] = words
    found = [name for name, words in apart.items() if alike or not words <= RIGHT_WORDS]
    if not alike and not layout.parts.get("score") and not layout.shares and any(map(bool, truths)):
        found = [name for name in names if words_of(table[name])] or found
    if not found:
        return
    columns = long_columns(table, found, names, target)
    first = (
        "If each row is one answer, name "
        + all_of(f"`{role}={name!r}`" for role, name in columns.items())
        + ". Otherwise leave columns"
        if columns
        else "Leave columns"
    )
    raise BadFileError(
        source,
        f"must have answers with words of the truth {target!r}",
        f"none of them in {all_of(map(repr, found), most=6)}",
        f"{first} out by `drop={','.join(found)!r}`, or pass `form='wide'` if they are answers."
        if alike or columns
        else "Name the truth by `target`, or pass `form='wide'` if these are answers.",
    )


def _with_words(table: "pd.DataFrame", names: Sequence[str], words: set[str]) -> list[str]:
    """Return the columns that have some of the words, in any spelling."""
    known = {folded(word, FOLDS) for word in words}
    return [name for name in names if known & {folded(word, FOLDS) for word in words_of(table[name])}]


def _without_features(table: "pd.DataFrame", layout: Layout, target: str, hints: TableHints) -> Layout:
    """Return a layout without features: columns with no word of the truth, if other columns have one.

    A word that differs from a word of the truth only in spelling counts as this word.
    """
    alike = _with_words(table, [*layout.labels.values()], words_of(table[target]))
    apart = {judge for judge, name in layout.labels.items() if name not in alike} - {*hints.priced}
    if not apart or not alike or len(table) < FEWEST_ROWS:
        return layout
    labels = {judge: name for judge, name in layout.labels.items() if judge not in apart}
    parts = {
        part: {judge: name for judge, name in found.items() if judge in labels or judge in layout.shares}
        for part, found in layout.parts.items()
    }
    used = {*labels.values(), *(name for found in parts.values() for name in found.values())}
    before = [*layout.labels.values(), *(name for found in layout.parts.values() for name in found.values())]
    unused = (*layout.unused, *(name for name in before if name not in used))
    return replace(layout, labels=labels, parts=parts, unused=unused)


def _score_records(source: str, table: "pd.DataFrame", columns: LogColumns, layout: Layout) -> Records:
    """Return a record for each score."""
    import pandas as pd

    cases, judges, n_judges = _cases_of(table, layout.ids), layout.judges, len(layout.judges)
    again = pd.Series(cases).groupby(cases).cumcount().to_numpy()
    given: dict[str, Any] = {
        "judge": np.repeat(np.array(judges, dtype=object), len(table)),
        "case": np.tile(cases, n_judges),
        "epoch": np.tile(again, n_judges) if again.any() else None,
        "content": np.tile(table[columns.content].to_numpy(dtype=object), n_judges)
        if columns.content
        else None,
        "score": pd.concat(
            [table[layout.scored[judge]].astype(object) for judge in judges], ignore_index=True
        ),
    }
    given |= {
        name: numbers.T.ravel()
        for name, numbers in _measures(source, table, layout).items()
        if name != "score"
    }
    features = pd.concat([table[list(columns.features)]] * n_judges, ignore_index=True)
    made = records_of(source, given, features, len(given["judge"]))
    return replace(made, numbered=not layout.ids, columns=tuple(map(str, table.columns)))


def _measures(source: str, table: "pd.DataFrame", layout: Layout) -> dict[str, NDArray[np.float64]]:
    """Return the confidences, prices and the like of the judges by name, ``(n_rows, n_judges)``."""
    return {
        part: np.column_stack([_part(source, table, found.get(judge), part) for judge in layout.judges])
        for part, found in layout.parts.items()
        if found
    }


def _part(source: str, table: "pd.DataFrame", name: str | None, part: str) -> Any:
    if name is None:
        return np.full(len(table), np.nan)
    if part == "score":
        return scores_of(source, table[name])
    return (
        seconds_of(source, name, table[name]) if part == "latency" else numbers_of(source, part, table[name])
    )


def _cases_of(table: "pd.DataFrame", ids: Sequence[str]) -> Any:
    if not ids:
        return np.arange(1, len(table) + 1).astype(str).astype(object)
    texts = [as_text(table[name]).fillna("").to_numpy(dtype=object) for name in ids]
    joined = texts[0]
    for more in texts[1:]:
        joined = joined + "/" + more
    return joined


def _shares_of(source: str, table: "pd.DataFrame", found: Mapping[str, str]) -> tuple[Any, Any]:
    """Return the most probable class of each row, None for a tie, and the probabilities by class."""
    names = list(found)
    shares = np.column_stack([numbers_of(source, "probability", table[name]) for name in found.values()])
    said = np.full(len(shares), None, dtype=object)
    told = np.full(len(shares), None, dtype=object)
    for row, numbers in enumerate(shares.tolist()):
        if not np.isnan(numbers).any():
            told[row] = dict(zip(names, numbers, strict=True))
            said[row] = most_probable(told[row])
    return said, told


def most_probable(shares: Mapping[str, float]) -> str | None:
    """Return the most probable label; None for a tie.

    >>> most_probable({"a": 0.2, "b": 0.8}), most_probable({"a": 0.5, "b": 0.5})
    ('b', None)
    """
    most = max(shares.values())
    best = [label for label, share in shares.items() if share == most]
    return best[0] if len(best) == 1 else None
