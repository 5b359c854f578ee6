"""Tables of answers: wide, with columns for each judge, and long, with a row for each answer."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, counted, did_you_mean
from shortlist.errors import BadFileError, BadInputError
from shortlist.panels.answer_log import label_of
from shortlist.panels.logs.assembly import Wide, coded
from shortlist.panels.logs.numbers import with_number_labels
from shortlist.panels.logs.records import (
    KNOWN_COLUMNS,
    SUFFIXES,
    LogColumns,
    Records,
    as_text,
    numbers_of,
    records_of,
)
from shortlist.panels.logs.table_forms import (
    IDENTIFIER,
    LONG_ROLES,
    TableForm,
    long_columns,
    may_be_truth,
    told_form,
    told_roles,
    with_case,
    with_chosen,
    with_price,
    without_rejected,
)

if TYPE_CHECKING:
    import pandas as pd

LABEL = SUFFIXES["label"]
MILLISECONDS = re.compile(r"(.*[^A-Za-z])?ms|.*Ms", re.DOTALL)
"""Names of columns of milliseconds."""


def table_records(
    source: str,
    table: "pd.DataFrame",
    columns: LogColumns,
    notes: list[str],
    *,
    form: str | None = None,
    truth_elsewhere: bool = False,
) -> Records | Wide:
    """Return the records of a table, or the table by its columns, of the form that its structure tells.

    `source`: what messages call the file. `notes`: first gets a sentence on how the table is read. `form`,
    one of ``"wide"`` and ``"long"``: of the table, if it shall not be found. `truth_elsewhere`: whether the
    truth comes from another file, so that no column has to hold it.

    Raises BadFileError if it may have both forms.
    """
    table = with_chosen(table)
    names = tuple(map(str, table.columns))
    named = list(columns.features)
    told = (columns.content, *(getattr(columns, role) for role in LONG_ROLES))
    named += [one for one in told if one is not None]
    _check_named(source, table, named)
    if twice := [name for name in columns.features if name in columns.drop]:
        raise BadInputError(
            f"column {twice[0]!r} is to be dropped, and a router is to read it. Leave it out of one of them."
        )
    table = _without_empty_rows(source, table, notes)
    table = table.drop(columns=[name for name in columns.drop if name in names])
    table = with_case(without_rejected(source, table, notes))
    found = told_form(source, table, columns, form)
    if found.is_long:
        return replace(_long_records(source, table, columns, notes, found), columns=names)
    wide = _wide_records(
        source, table, columns, notes, truth_elsewhere=truth_elsewhere, is_sure=form is not None
    )
    return replace(wide, columns=names)  # also of columns that are left out


def _without_empty_rows(source: str, table: "pd.DataFrame", notes: list[str]) -> "pd.DataFrame":
    """Return a table without the rows that hold nothing, such as Toloka writes between pages of tasks."""
    kept = table.dropna(how="all")
    if 0 < len(kept) < len(table):
        notes.append(f"{source}: {counted(len(table) - len(kept), 'empty row')} left out.")
        return kept.reset_index(drop=True).infer_objects()
    return table


def _check_named(source: str, table: "pd.DataFrame", names: Sequence[str]) -> None:
    names_of_table = list(map(str, table.columns))
    for name in names:
        if name not in names_of_table:
            advice = did_you_mean(name, names_of_table) or f" It has {all_of(names_of_table, most=8)}."
            raise BadInputError(source, f"must have the column {name!r}", "none of that name", advice)


def _long_records(
    source: str, table: "pd.DataFrame", columns: LogColumns, notes: list[str], found: TableForm
) -> Records:
    roles = found.roles
    _check_named(source, table, list(roles.values()))
    missing = [role for role in ("case", "judge", "answer") if role not in roles]
    if (missing and missing != ["answer"]) or (missing and "score" not in roles):
        names = any_name(KNOWN_COLUMNS[missing[0]])
        raise BadFileError(
            source,
            f"must have a column of the {missing[0]} of each answer, such as {names}",
            f"{all_of(table.columns, most=8)}",
            "Name the column.",
        )
    roles, unsure = with_price(table, columns, roles)
    table = with_number_labels(
        source, table, [roles[one] for one in ("answer", "target") if one in roles], notes
    )
    of_tool = f", as a table of {found.tool}" if found.tool else ""
    _tell_first(notes, f"{source}: read as one row an answer{of_tool}: {told_roles(roles)}.")
    used = {*roles.values(), *columns.features, columns.content}
    rest = [str(name) for name in table.columns if str(name) not in {*used, *unsure}]
    truths = may_be_truth(table, roles, rest)
    _note_unused(source, [name for name in rest if name not in truths], notes)
    if unsure:
        notes.append(
            f"{source}: {all_of(map(repr, unsure))} not used. If one is the price, name it by `price`."
        )
    if truths:
        notes.append(
            f"{source}: column {truths[0]!r} is not used, but has the words of the answers. If it "
            f"is the truth, pass `target={truths[0]!r}`."
        )
    given: dict[str, Any] = {role: table[name] for role, name in roles.items() if role != "target"}
    given["truth"] = table[roles["target"]] if "target" in roles else None
    given["content"] = table[columns.content] if columns.content else None
    if "latency" in roles:
        given["latency"] = seconds_of(source, roles["latency"], given["latency"])
    features = table[list(columns.features)]
    return records_of(source, given, features, len(table), repeats=columns.repeats)


def _tell_first(notes: list[str], form: str) -> None:
    """Add what form a file has before all else that was noted, but after the forms of other files."""
    notes.insert(sum(": read as one row " in note for note in notes), form)


def any_name(names: Sequence[str]) -> str:
    """Return the first few of the names that a column may have."""
    return ", ".join(names[:4])


def _note_unused(source: str, names: Sequence[str], notes: list[str]) -> None:
    if names:
        listed = all_of(map(repr, names), most=8)
        notes.append(
            f"{source}: {listed} not used. Pass columns that are known before the first call as `router`, "
            "if they may help."
        )


def seconds_of(source: str, name: str, values: Any) -> Any:
    """Return a column of latencies in seconds; its name tells whether it is in milliseconds."""
    numbers = numbers_of(source, "latency", values)
    return numbers / 1000 if MILLISECONDS.fullmatch(name) else numbers


def _wide_records(
    source: str,
    table: "pd.DataFrame",
    columns: LogColumns,
    notes: list[str],
    *,
    truth_elsewhere: bool,
    is_sure: bool,
) -> Records | Wide:
    names = [str(name) for name in table.columns]
    target = None if truth_elsewhere and columns.target is None else _target_of(source, names, columns, notes)
    ids = [columns.case] if columns.case else [name for name in names if _names_case(name) and name != target]
    truths = [name for name in names if name.strip().casefold() in KNOWN_COLUMNS["target"] and name != target]
    if truths:  # a copy of the truth would be the best judge of all
        notes.append(f"{source}: {all_of(map(repr, truths))} not taken for answers of a judge.")
    others = {target, columns.content, *columns.features, *ids, *truths}
    rest = [name for name in names if name not in others]
    labels = {name.removesuffix(LABEL): name for name in rest if _ends(name, LABEL)}
    shares: dict[str, dict[str, str]] = {}
    if labels:
        parts = {f"{judge}{suffix}" for judge in labels for suffix in SUFFIXES.values()}
        _note_unused(source, [name for name in rest if name not in parts], notes)
    else:
        measures = [name for name in rest if _is_measure(name, rest)]
        labels, shares = _judges_of(table, [name for name in rest if name not in measures], target)
    if not labels and not shares:
        raise BadFileError(
            source,
            "must have a column of answers for each judge, or columns of the case, the judge and the answer",
            all_of(names, most=8),
            "Name the columns.",
        )
    table = with_number_labels(source, table, [*labels.values(), *([target] if target else [])], notes)
    if target is not None and not is_sure and not _ends(rest[0] if rest else "", LABEL):
        known = columns.target is not None or target.strip().casefold() in KNOWN_COLUMNS["target"]
        _check_words(source, table, target, [*labels.values()], is_known=known or bool(shares))
    told = {"case": " and ".join(ids)} if ids else {}
    told |= {} if target is None else {"target": target}
    numbered = "" if ids else ", case = number of the row"
    judges = told_roles(told, judges=[*labels, *shares])
    _tell_first(notes, f"{source}: read as one row a case: {judges}{numbered}.")
    probable = {judge: _shares_of(source, table, found) for judge, found in shares.items()}
    table = table.assign(**{judge: said for judge, (said, _) in probable.items()})
    every = (*labels, *shares)
    wide = Wide(
        source, _cases_of(table, ids), every, coded(table, [*labels.values(), *shares]),
        truth=table[target].to_numpy(dtype=object) if target else None,
        content=table[columns.content].to_numpy(dtype=object) if columns.content else None,
        measures=_measures(source, table, every),
        features=table[list(columns.features)], numbered=not ids, columns=tuple(names),
    )  # fmt: skip
    told_shares = [None if judge in labels else probable[judge][1] for judge in every]
    return wide.records(told_shares) if shares else wide


MOST_WORDS = 20
"""A column without any word of the truth that has more different ones than these holds no answers."""


def _check_words(
    source: str, table: "pd.DataFrame", target: str, names: Sequence[str], *, is_known: bool
) -> None:
    """Refuse a table with columns that are no answers: many words, and none of the truth.

    Refuse it too if the last column was taken for the truth only by its place, and has fewer than two words,
    none of a judge, or fractions, or makes no answer right. `is_known`: whether the truth is named, or has a
    usual name.
    """
    truths = {label_of(one) for one in table[target].unique().tolist()} - {""}
    is_open = 2 * len(truths) > len(table)
    apart, shared = [], False
    for name in names:
        words = {label_of(one) for one in table[name].unique().tolist()} - {""}
        shared |= bool(words & truths)
        numbers = table[name].dtype.kind == "f" and len(words) > MOST_WORDS
        if not words & truths and (numbers or (len(words) > MOST_WORDS and not is_open)):
            apart.append(name)
    if not is_known and (len(truths) < 2 or not shared or not _is_truth(table, target, names)):
        got = "none with those of" if len(truths) < 2 or not shared else "none that fits"
        raise BadFileError(
            source,
            "must have columns of answers with the words of the truth",
            f"{got} the last column, {target!r}",
            "Name the truth by `target`, or the columns of an answer in each row by `case`, `judge` and "
            "`answer`.",
        )
    if apart:
        found = long_columns(table, apart, names, target)
        first = (
            "If each row is one answer, name "
            + all_of(f"`{role}={name!r}`" for role, name in found.items())
            + ". Otherwise leave columns"
            if found
            else "Leave columns"
        )
        raise BadFileError(
            source,
            f"must have answers with words of the truth {target!r}",
            f"none of them in {all_of(map(repr, apart), most=6)}",
            f"{first} out by `drop={','.join(apart[:6])!r}`, or pass `form='wide'` if they are answers.",
        )


def _is_truth(table: "pd.DataFrame", target: str, names: Sequence[str]) -> bool:
    """Whether the last column may be the truth: it has no fractions, and makes some answer right."""
    column = table[target]
    if column.dtype.kind == "f" and (column.dropna() % 1 != 0).any():
        return False
    truths = column.map(label_of)
    return any(((table[name].map(label_of) == truths) & (truths != "")).any() for name in names)


def _names_case(name: str) -> bool:
    return bool(IDENTIFIER.fullmatch(name)) or name.strip().casefold() in KNOWN_COLUMNS["case"]


def _is_measure(name: str, names: Sequence[str]) -> bool:
    """Whether a column is the confidence, price or latency of a judge that has a column of the bare name."""
    suffixes = [suffix for part, suffix in SUFFIXES.items() if part != "label"]
    return any(_ends(name, suffix) and name.removesuffix(suffix) in names for suffix in suffixes)


def _ends(name: str, suffix: str) -> bool:
    return name.endswith(suffix) and name != suffix


def _target_of(source: str, names: Sequence[str], columns: LogColumns, notes: list[str]) -> str:
    """Return the column of the truth: named, of a usual name, or else the last one."""
    if columns.target is not None:
        return columns.target
    small = {name.strip().casefold(): name for name in names}
    found = [small[one] for one in KNOWN_COLUMNS["target"] if one in small]
    if found:
        return found[0]
    last = names[-1]
    if _ends(last, LABEL) or _ends(last, SUFFIXES["confidence"]):
        raise BadFileError(
            source,
            "must have a column of the truth, such as target or truth",
            all_of(names, most=8),
            "Name it, or give the truth in a file of its own.",
        )
    notes.append(
        f"{source}: the last column, {last!r}, is taken for the truth. Name another one if it is not."
    )
    return last


def _judges_of(
    table: "pd.DataFrame", names: Sequence[str], target: str | None
) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return judges with a column of labels, and those with one of probabilities for each class.

    The latter's columns are called ``judge:class``, and there are at least two of them.
    """
    classes = {label_of(label) for label in table[target].unique().tolist()} - {""} if target else set()
    shares: dict[str, dict[str, str]] = {}
    for name in names:
        judge, _, label = name.rpartition(":")
        if judge and label_of(label) in classes and table[name].dtype.kind in "iuf":
            shares.setdefault(judge, {})[label_of(label)] = name
    shares = {judge: found for judge, found in shares.items() if set(found) == classes and len(found) > 1}
    taken = {name for found in shares.values() for name in found.values()}
    return {name: name for name in names if name not in taken}, shares


def _measures(source: str, table: "pd.DataFrame", judges: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Return the confidences, prices and latencies that follow the judges' names, ``(n_rows, n_judges)``."""
    told: dict[str, NDArray[np.float64]] = {}
    for part, suffix in SUFFIXES.items():
        found = {judge: f"{judge}{suffix}" for judge in judges if f"{judge}{suffix}" in table}
        if part != "label" and found:
            told[part] = np.column_stack([_part(source, table, found.get(judge), part) for judge in judges])
    return told


def _part(source: str, table: "pd.DataFrame", name: str | None, part: str) -> Any:
    if name is None:
        return np.full(len(table), np.nan)
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
    """Return the most probable label, or None if two are equally so.

    >>> most_probable({"a": 0.2, "b": 0.8}), most_probable({"a": 0.5, "b": 0.5})
    ('b', None)
    """
    most = max(shares.values())
    best = [label for label, share in shares.items() if share == most]
    return best[0] if len(best) == 1 else None
