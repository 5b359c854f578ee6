"""Answers and truths that are numbers are compared as numbers, cell by cell, whatever else a column holds."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shortlist._words import all_of
from shortlist.errors import BadFileError
from shortlist.tables.numbers import (
    AGREED,
    COMMA,
    DECIMALS,
    POINT,
    CellRules,
    agreed_notation,
    as_plain,
    told_numbers,
)

if TYPE_CHECKING:
    import pandas as pd

BESIDE_NUMBERS = "beside numbers"
"""Attribute of a table: whether another file tells its truths or answers, and these are numbers."""


def with_plain_cells(name: str, table: "pd.DataFrame", notes: list[str], rules: CellRules) -> "pd.DataFrame":
    """Return a table of JSON or Parquet in which columns of numbers as people write them are plain numbers.

    Texts that are plain numbers already stay texts, as they may be names. Raises BadFileError if a column may
    be read in two ways.
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
    """Return the different texts of a column that has no truth values, lists or objects."""
    cells = column.dropna().tolist()
    if not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in cells):
        return []
    return [*dict.fromkeys(one for one in cells if isinstance(one, str))]


def holds_numbers(table: "pd.DataFrame", names: Sequence[str]) -> bool:
    """Whether at least half of the different labels of one of some columns are numbers."""
    for name in names:
        told = table[name].dropna()
        different, numbers = _different(told)
        is_number = told.dtype.kind in "iuf" and not told.empty
        if is_number or (numbers and 2 * len(numbers) >= len(different)):
            return True
    return False


def _different(told: "pd.Series[Any]") -> tuple[list[str], list[str]]:
    """Return the different texts of a column, and those that are numbers."""
    if told.dtype.kind in "iuf":
        return [], []
    different = [*dict.fromkeys(one for one in told.tolist() if isinstance(one, str) and one.strip())]
    return different, [one for one in different if any(as_plain(one, each) for each in DECIMALS)]


def with_number_labels(
    source: str, table: "pd.DataFrame", names: Sequence[str], notes: list[str]
) -> "pd.DataFrame":
    """Return a table in which every number among answers and truths is a number.

    Columns of numbers alone were read as such before. Without this, one word among the answers of a judge
    would leave ``"1,200"`` a word that no truth of 1200 equals. Nothing is changed unless at least half of
    the different labels of one of the columns are numbers, or labels of another file are.

    Raises BadFileError if a cell may be read in two ways.
    """
    if not table.attrs.get(BESIDE_NUMBERS) and not holds_numbers(table, names):
        return table
    mixed = {name: _different(table[name].dropna())[1] for name in dict.fromkeys(names)}
    agreed = table.attrs.get(AGREED) or _told_by_cells(mixed)
    changed: dict[str, dict[str, Any]] = {}
    for name, numbers in mixed.items():
        plain = {one: _number(source, name, one, agreed) for one in numbers}
        changed[name] = {one: number for one, number in plain.items() if number is not None}
    changed = {name: cells for name, cells in changed.items() if cells}
    if not changed:
        return table
    for name in changed:
        notes[:] = [one for one in notes if not ("is taken for words" in one and f"column {name!r}" in one)]
    notes.append(
        f"{source}: numbers among the words of {all_of(map(repr, changed), most=8)} are compared as numbers."
    )
    return table.assign(**{name: _replaced(table[name], cells) for name, cells in changed.items()})


def _told_by_cells(mixed: Mapping[str, Sequence[str]]) -> str | None:
    """Return the notation that cells with both marks tell, such as ``1.300,50``; None if none or both are."""
    told = {
        notation
        for numbers in mixed.values()
        for one in numbers
        for notation in DECIMALS
        if "." in one and "," in one and as_plain(one, notation)
    }
    return told.pop() if len(told) == 1 else None


def _replaced(column: "pd.Series[Any]", cells: dict[str, Any]) -> "pd.Series[Any]":
    return column.astype(object).map(lambda one: cells.get(one, one) if isinstance(one, str) else one)


def _number(source: str, name: str, cell: str, agreed: str | None) -> int | float | None:
    """Return the number of a cell in the notation of its table; None if it is none in that."""
    by_point, by_comma = as_plain(cell, POINT), as_plain(cell, COMMA)
    if agreed is None and by_point and by_comma and by_point[0] not in {by_comma[0], cell.strip()}:
        raise BadFileError(
            f"{source} has numbers such as {cell!r} in column {name!r}, which is {by_point[0]} or "
            f"{by_comma[0]}. Say which by `decimal='point'` or `decimal='comma'`, or write numbers without "
            "marks between thousands."
        )
    is_plain = by_point is not None and by_point[0] == cell.strip()
    found = by_comma or (by_point if is_plain else None) if agreed == COMMA else by_point
    return None if found is None or len(found[0]) > MOST_DIGITS else _value(found[0])


MOST_DIGITS = 300
"""Longer numbers among labels stay texts."""


def _value(plain: str) -> int | float:
    is_whole = plain.lstrip("-").isdecimal() and len(plain) <= MOST_DIGITS
    return int(plain) if is_whole else float(plain)
