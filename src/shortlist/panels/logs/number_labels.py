"""Conversion of answers and truths in logs to numbers, so that they are compared as numbers."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadInputError
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.logs.json_content import listed
from shortlist.tables.learning import MOST_NUMBERS, ROWS_PER_NUMBER
from shortlist.tables.numbers import (
    AGREED,
    CellRules,
    agreed_by_cells,
    agreed_notation,
    number_in_table,
    readings,
    told_numbers,
)

if TYPE_CHECKING:
    import pandas as pd


BESIDE_NUMBERS = "beside numbers"
"""Attribute of a table: whether the truths or answers of another file are numbers."""


def with_plain_cells(name: str, table: "pd.DataFrame", notes: list[str], rules: CellRules) -> "pd.DataFrame":
    """Return a table of JSON or Parquet in which numbers in words, such as "1,200", became plain numbers.

    Texts that are plain numbers already stay texts, as they may be names. Raises BadFileError if a column has
    two readings.
    """
    texts = {str(column): _texts(table[column]) for column in table if table[column].dtype.kind in "OTU"}
    texts = {column: cells for column, cells in texts.items() if cells}
    found = told_numbers(name, texts, notes, rules=rules, separator=" ")
    agreed = agreed_notation(texts, rules=rules, separator=" ")
    for column, plain in found.items():
        if any(number != text.strip() for text, number in plain.items()):
            numbers = {text: _value(number) if number else None for text, number in plain.items()}
            table = table.assign(**{column: _replaced(table[column], numbers)})
    table.attrs[AGREED] = agreed
    return table


def _texts(column: "pd.Series[Any]") -> list[str]:
    """Return the different texts of a column; empty if it has truth values, lists or objects."""
    cells = column.dropna().tolist()
    if not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in cells):
        return []
    return [*dict.fromkeys(one for one in cells if isinstance(one, str))]


def holds_numbers(table: "pd.DataFrame", names: Sequence[str]) -> bool:
    """Return whether at least half of the different labels in one of the columns are numbers."""
    for name in names:
        told = table[name].dropna()
        different, numbers = _different(told)
        is_number = told.dtype.kind in "iuf" and not told.empty
        if is_number or (numbers and 2 * len(numbers) >= len(different)):
            return True
    return False


def _different(told: "pd.Series[Any]") -> tuple[list[str], list[str]]:
    """Return the different texts of a column, and the texts among them that are numbers."""
    if told.dtype.kind in "iuf":
        return [], []
    different = [*dict.fromkeys(one for one in told.tolist() if isinstance(one, str) and one.strip())]
    return different, [one for one in different if readings(one)]


def with_number_labels(
    source: str, table: "pd.DataFrame", names: Sequence[str], notes: list[str]
) -> "pd.DataFrame":
    """Return a table in which every number among answers and truths is a number.

    Columns with numbers alone are numbers already. In a column with a word among its cells, ``"1,200"`` would
    stay a text that never equals a truth of 1200. The table changes only if numbers are at least half of the
    different labels of one column, or of another file's labels.

    Raises BadFileError if a cell has two readings.
    """
    if not table.attrs.get(BESIDE_NUMBERS) and not holds_numbers(table, names):
        return table
    mixed = {name: _different(table[name].dropna())[1] for name in dict.fromkeys(names)}
    agreed = table.attrs.get(AGREED) or agreed_by_cells(one for numbers in mixed.values() for one in numbers)
    changed: dict[str, dict[str, Any]] = {}
    for name, numbers in mixed.items():
        plain = {one: _number(source, name, one, agreed) for one in numbers}
        changed[name] = {one: number for one, number in plain.items() if number is not None}
    changed = {name: cells for name, cells in changed.items() if cells}
    if not changed:
        return table
    for name in changed:
        notes[:] = [one for one in notes if not ("is taken for words" in one and f"column {name!r}" in one)]
    notes.append(f"{source}: numbers among the words of {listed(changed, most=8)} are compared as numbers.")
    return table.assign(**{name: _replaced(table[name], cells) for name, cells in changed.items()})


def _replaced(column: "pd.Series[Any]", cells: dict[str, Any]) -> "pd.Series[Any]":
    return column.astype(object).map(lambda one: cells.get(one, one) if isinstance(one, str) else one)


def _number(source: str, name: str, cell: str, agreed: str | None) -> int | float | None:
    """Return the number of a cell in the notation of its table; None for other cells, or long numbers."""
    plain = number_in_table(source, name, cell, agreed)
    return None if plain is None or len(plain) > MOST_DIGITS else _value(plain)


MOST_DIGITS = 300
"""Largest number of digits of a number among labels; longer numbers stay texts."""


def _value(plain: str) -> int | float:
    is_whole = plain.lstrip("-").isdecimal() and len(plain) <= MOST_DIGITS
    return int(plain) if is_whole else float(plain)


FARTHEST = 100
"""Largest absolute value of a rating."""
FEWEST_MISSES = 10
NEAR = 0.5
"""Share of the distance between the truths of two cases. A judge's answers come near if half of its wrong
answers miss by less than this share.
"""


def refuse_ratings(source: str, log: AnswerLog) -> None:
    """Raise BadInputError for a log of ratings.

    The truths of such a log have many different values, and few answers are exactly right.

    The limit on different values is the same as in `prune`. Numbers that most answers hit exactly, as in
    problems of mathematics, count as classes or free text.
    """
    if log.right is not None:
        return  # the log says itself what is right
    values = np.array([_as_float(label) for label in log.classes])
    known = log.truth >= 0
    truths = values[log.truth[known]]
    n_cases = len(truths)
    if not n_cases or not np.isfinite(truths).all() or np.abs(truths).max() > FARTHEST:
        return
    different, are_whole = len(np.unique(truths)), bool((truths % 1 == 0).all())
    if different <= MOST_NUMBERS or (n_cases >= ROWS_PER_NUMBER * different and are_whole):
        return
    some = truths[:: -(-n_cases // MOST_PAIRED)]
    apart = np.median(np.abs(some[:, None] - some)[np.triu_indices(len(some), 1)])
    answers = np.where(log.answers[known] >= 0, values[log.answers[known]], np.nan)
    misses = np.abs(answers - truths[:, None])
    if not any(_comes_near(one[~np.isnan(one)], NEAR * apart) for one in misses.T):
        return
    raise BadInputError(
        source,
        "must have classes as truths",
        f"{different:,} different numbers in {n_cases:,} cases, to which answers come near without being "
        "equal: these look like ratings",
        "Write them as few classes, such as low and high, or name a column of a table that says whether each "
        "answer is right by `score='NAME'`.",
    )


MOST_PAIRED = 500


def _comes_near(misses: NDArray[np.float64], near: float) -> bool:
    """Return whether a judge is wrong in most cases, and mostly by less than `near`."""
    wrong = misses[misses > 0]
    return 2 * len(wrong) > len(misses) and len(wrong) >= FEWEST_MISSES and bool(np.median(wrong) < near)


def _as_float(label: str) -> float:
    try:
        return float(label)
    except ValueError:
        return math.nan
