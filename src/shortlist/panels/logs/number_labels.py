"""Answers and truths that are numbers are compared as numbers, cell by cell, whatever else a column holds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shortlist._words import all_of
from shortlist.errors import BadFileError
from shortlist.tables.numbers import AGREED, COMMA, DECIMALS, POINT, as_plain

if TYPE_CHECKING:
    import pandas as pd


def with_number_labels(
    source: str, table: "pd.DataFrame", names: Sequence[str], notes: list[str]
) -> "pd.DataFrame":
    """Return a table in whose columns of answers and truths each cell that is a number is one.

    Columns of numbers alone were read as such before. Without this, one word among the answers of a judge
    would leave ``"1,200"`` a word that no truth of 1200 equals. Nothing is changed unless at least half of
    the different labels of one of the columns are numbers.

    Raises BadFileError if a cell may be read in two ways.
    """
    agreed = table.attrs.get(AGREED)
    mixed: dict[str, list[str]] = {}
    has_numbers = False
    for name in dict.fromkeys(names):
        told = table[name].dropna()
        if told.dtype.kind in "iuf":
            has_numbers |= not told.empty
            continue
        different = [*dict.fromkeys(one for one in told.tolist() if isinstance(one, str) and one.strip())]
        numbers = [one for one in different if any(as_plain(one, each) for each in DECIMALS)]
        has_numbers |= bool(numbers) and 2 * len(numbers) >= len(different)
        if numbers:
            mixed[name] = numbers
    if not has_numbers:
        return table
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
    found = by_comma if agreed == COMMA else by_point
    if found is None:
        return None
    return int(found[0]) if found[0].lstrip("-").isdecimal() else float(found[0])
