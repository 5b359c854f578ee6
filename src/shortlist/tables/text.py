"""Tables as text: encoding, separator of columns, and number of cells per row."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shortlist._words import all_of, counted
from shortlist.errors import BadFileError
from shortlist.tables.numbers import (
    AGREED,
    COMMA,
    TRUTHS,
    USUAL,
    CellRules,
    agreed_notation,
    as_written,
    readings,
    told_numbers,
)

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
"""Separators of columns, and their names."""

MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",  # begins with the mark of UTF-16, so it comes before it
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""Encoding by byte-order mark."""

ROWS_TO_TELL = 1000
"""Number of rows that decide on the separator if the header contains two."""


def decoded(name: str, content: bytes) -> str:
    """Return the text of a file in UTF-8, or with a byte-order mark.

    Raises BadFileError for other encodings; the message gives advice.
    """
    mark = next((one for one in MARKS if content.startswith(one)), b"")
    encoding = MARKS.get(mark, "utf-8")
    try:
        text = content[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        place = content[: len(mark) + error.start].count(b"\n") + 1
        found = f"byte 0x{content[len(mark) + error.start]:02x} in line {place}"
        raise BadFileError(
            f"{name} must be UTF-8 text, Parquet or an Excel workbook, but {found} is not "
            f"{encoding.upper()}. Save it as UTF-8, or convert it: iconv -f WINDOWS-1252 -t UTF-8 OLD.csv > "
            "NEW.csv."
        ) from None
    if "\0" in text:
        raise BadFileError(
            f"{name} must be UTF-8 text, Parquet or an Excel workbook, but it holds zero bytes, as other "
            "files and UTF-16 without its mark do. Save it as UTF-8."
        )
    return text


def parsed(
    name: str,
    text: str,
    notes: list[str],
    *,
    separator: str | None = None,
    words: Sequence[str] = (),
    marker: str | None = None,
    place: str = "line",
    rules: CellRules = USUAL,
) -> "pd.DataFrame":
    """Read a table from text; see :func:`shortlist.tables.files.read_table_file`.

    `separator`: separator of columns; None finds it from the header. `place`: word for a row in messages.
    Raises BadFileError if a name repeats, or a row has more or fewer cells than the header.
    """
    import pandas as pd

    if separator is None:
        text, separator = parted(name, text, notes)
    header = _checked_header(name, text, separator, place)
    try:
        table = pd.read_csv(
            io.BytesIO(text.encode()), sep=separator, index_col=False, low_memory=False,
            dtype=dict.fromkeys(set(words).intersection(header), str),
            keep_default_na=False, na_values=["", *(rules.gaps or ())],
        )  # fmt: skip
    except (ValueError, OverflowError) as error:  # pandas' own errors of parsing are ValueErrors
        first_line = next(iter(str(error).splitlines()), type(error).__name__)
        raise BadFileError(f"{name} must be a table, but reading it failed: {first_line}.") from None
    table.columns = [str(column) for column in table.columns]
    found = _columns_of_words(table, words)
    different = {column: _different(table[column], marker) for column in found}
    texts = {column: told for column, (_, told) in different.items() if {*map(type, told)} == {str}}
    points = [column for column in table.columns if _has_fractions(table[column])]
    has_commas = any(COMMA in one.plain for one in map(as_written, texts.values()) if one)
    if points and (rules.decimal == COMMA or has_commas):
        texts |= _cells_as_written(text, separator, points)
    numbers = told_numbers(name, texts, notes, rules=rules, separator=separator, has_points=bool(points))
    for column, plain in numbers.items():
        table[column] = _as_numbers(table[column], plain, marker)
    for column in set(texts) - set(numbers):
        table[column] = _as_truths(table[column], texts[column], rules)
    _note_words_among_numbers(
        name, table, text_records(text, separator), notes,
        different={column: different[column] for column in found if column not in numbers},
        rules=rules, place=place,
    )  # fmt: skip
    table.attrs[AGREED] = agreed_notation(texts, rules=rules, separator=separator, has_points=bool(points))
    return table


def _different(column: "pd.Series[Any]", marker: str | None) -> tuple[Any, list[Any]]:
    """Return the code of each cell, -1 for gaps and the marker, and the different cells by code."""
    import pandas as pd

    if marker is not None:
        column = column.mask(column.astype(str) == marker)
    codes, different = pd.factorize(column)  # a long log has few different names and labels
    return codes, different.tolist()


def _cells_as_written(text: str, separator: str, columns: Sequence[str]) -> dict[str, list[str]]:
    records = text_records(text, separator)
    _, header = next(records)
    places = {column: header.index(column) for column in columns if column in header}
    found: dict[str, dict[str, None]] = {column: {} for column in places}
    for _, cells in records:
        for column, place in places.items():
            found[column][cells[place]] = None
    return {column: list(cells) for column, cells in found.items()}


def _as_numbers(column: "pd.Series[Any]", plain: Mapping[str, str], marker: str | None) -> "pd.Series[Any]":
    """Convert a column of written numbers to numbers, or to plain text if it contains the marker."""
    import pandas as pd

    if column.dtype.kind == "f":  # read by its points, which were all thousands separators
        values = {float(text): float(one) for text, one in plain.items() if one}
        return column.map(values)
    texts = column.astype(object).where(column.isna() | (column == marker), column.map(plain))
    texts = texts.where(texts != "", None)
    if marker is not None and (column == marker).any():
        return texts
    try:
        return pd.to_numeric(texts)
    except (OverflowError, ValueError):  # one integer too large for a float; the others need not be
        return column


def _as_truths(column: "pd.Series[Any]", texts: Sequence[str], rules: CellRules) -> "pd.Series[Any]":
    """Replace words for gaps by gaps in a column of truth values; leave any other column unchanged."""
    gaps = [text for text in texts if rules.is_gap(text)]
    if (
        not gaps
        or len(gaps) == len(texts)
        or not {one.casefold() for one in texts if one not in gaps} <= TRUTHS
    ):
        return column
    return column.map({one: one.casefold() == "true" for one in texts if one not in gaps}).astype(object)


def _note_words_among_numbers(
    name: str,
    table: "pd.DataFrame",
    records: Iterator[tuple[int, list[str]]],
    notes: list[str],
    *,
    different: Mapping[str, tuple[Any, list[Any]]],
    rules: CellRules,
    place: str,
) -> None:
    """Note each column of words of which at least half are numbers, with its first word.

    `different`: for each column of words the codes and the different cells from :func:`_different`.
    """
    import numpy as np

    wrong: dict[str, tuple[int, int]] = {}
    for column, (codes, told) in different.items():
        is_number = np.array([bool(readings(str(one))) for one in told], dtype=bool)
        is_gap = np.array([rules.is_gap(str(one)) for one in told], dtype=bool)
        known = np.flatnonzero((codes >= 0) & ~np.append(is_gap, True)[codes])
        numbers = np.append(is_number, False)[codes[known]]
        if not numbers.all() and 2 * int(numbers.sum()) >= len(known):
            wrong[column] = (int(known[~numbers][0]), int(numbers.sum()))
    if not wrong:
        return
    lines = [line for line, _ in records][1:]
    for column, (row, n_numbers) in wrong.items():
        notes.append(
            f"{name}, {place} {lines[row]}: column {column!r} holds {str(table[column][row])!r} among "
            f"{counted(n_numbers, 'number')}, so all of it is taken for words. Correct the cell, or empty it."
        )


def _columns_of_words(table: "pd.DataFrame", words: Sequence[str]) -> list[str]:
    """Return the columns that are not numeric so far, except for `words`."""
    from pandas.api.types import is_numeric_dtype

    named = set(words)
    return [
        name
        for name, kind in zip(table.columns, table.dtypes, strict=True)
        if not is_numeric_dtype(kind) and name not in named
    ]


SEP_LINE = re.compile(r"\ufeff?\"?sep=(.)\"?[^\S\n]*(?=\n|\Z)", re.IGNORECASE)
"""Pattern of Excel's line with the separator, before the header."""


def parted(name: str, text: str, notes: list[str]) -> tuple[str, str]:
    """Return the text without a line ``sep=;``, and the separator; a separator other than the comma is noted.

    The line becomes blank, so that other lines keep their numbers.
    """
    told = SEP_LINE.match(text)
    if told:
        text, separator = text[told.end() :], told[1]
        text = f"\n{text.removeprefix(chr(10))}"
    else:
        separator = _separator(name, text)
    if separator != ",":
        notes.append(f"{name}: its columns are separated by {SEPARATORS.get(separator, repr(separator))}.")
    return text, separator


def with_plain_numbers(
    name: str, rows: list[tuple[int, list[str]]], notes: list[str], separator: str
) -> list[tuple[int, list[str]]]:
    """Replace numbers with decimal commas, currencies or thousands separators by plain numbers, by column."""
    if not rows:
        return rows
    header = rows[0][1]
    columns = {
        title: [*dict.fromkeys(row[place] for _, row in rows[1:] if place < len(row))]
        for place, title in enumerate(header)
    }
    found = told_numbers(name, columns, notes, separator=separator)
    changed = {
        place: {text: plain for text, plain in found[title].items() if plain}
        for place, title in enumerate(header)
        if title in found
    }
    if not changed:
        return rows
    return rows[:1] + [
        (line, [changed.get(at, {}).get(cell, cell) for at, cell in enumerate(row)]) for line, row in rows[1:]
    ]


def _separator(name: str, text: str) -> str:
    """Return the separator: the sign in the header at which every row has as many cells as the header."""
    found = [one for one in SEPARATORS if len(next(text_records(text, one), (0, [""]))[1]) > 1]
    if len(found) > 1:
        found = [one for one in found if _is_even(text, one)] or found[:1]
    if len(found) > 1:
        ways = all_of(SEPARATORS[one] for one in found)
        raise BadFileError(
            f"{name} has an ambiguous separator: {ways} all fit the header. Quote the column "
            "names that contain one."
        )
    return found[0] if found else ","


def _is_even(text: str, separator: str) -> bool:
    """Return whether the first rows have as many cells as the header."""
    lengths = {
        len(cells) for _, (_, cells) in zip(range(ROWS_TO_TELL), text_records(text, separator), strict=False)
    }
    return len(lengths) == 1


def text_records(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the last line and the cells of every row that is not blank."""
    # text in bytes, as a StringIO takes four for each character
    lines = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8", newline="")
    reader = csv.reader(lines, delimiter=separator)
    while True:
        try:
            cells = next(reader, None)
        except csv.Error:
            # the reader refuses a cell beyond its limit: mostly an open quote
            yield reader.line_num, []
            return
        if cells is None:
            return
        if len(cells) > 1 or (cells and cells[0].strip()):
            yield reader.line_num, cells


TO_FILL_IN = ("Approve", "Reject")
"""Headings of the last columns in results of Mechanical Turk, for which rows have no cells."""


def _checked_header(name: str, text: str, separator: str, place: str) -> list[str]:
    first = text.lstrip().split("\n", 1)[0]
    if first.strip() and not first.replace('"', "").strip():
        raise BadFileError(
            f"{name} must begin with the names of its columns, but its first row is an empty cell. Remove it."
        )
    records = text_records(text, separator)
    _, header = next(records, (0, []))
    repeated = first_repeated(header)
    if repeated is not None:
        places = all_of(at for at, one in enumerate(header, 1) if one == repeated)
        raise BadFileError(
            f"{name} has the column {repeated!r} more than once, as columns {places}. Rename or drop one."
        )
    n_to_fill_in = len(TO_FILL_IN) if tuple(header[-len(TO_FILL_IN) :]) == TO_FILL_IN else 0
    for line, cells in records:
        if not cells:
            raise BadFileError(f"{name}, {place} {line}: a quote that opened before is not closed.")
        if len(cells) not in {len(header), len(header) - n_to_fill_in}:
            raise BadFileError(
                f"{name}, {place} {line}: expected {counted(len(header), 'cell')} as in the header, got "
                f"{len(cells)}. Mend the row, or put cells that hold a separator in quotes."
            )
    return header


def first_repeated(names: Sequence[str]) -> str | None:
    """Return the first name that repeats; empty names do not count."""
    times = Counter(names)
    return next((name for name in names if name and times[name] > 1), None)


def _has_fractions(column: "pd.Series[Any]") -> bool:
    if column.dtype.kind != "f":
        return False
    known = column.dropna()
    return bool((known % 1 != 0).any())
