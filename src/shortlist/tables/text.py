"""Tables as text: how it is encoded, what parts its columns, and whether rows have all cells."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from shortlist._words import all_of, counted
from shortlist.errors import BadFileError

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
"""What may part columns, and what it is called."""

MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",  # begins with the mark of UTF-16, so it stands before that
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""The encoding that each byte-order mark stands for."""

COMMA_NUMBER = re.compile(r"\s*[-+]?\d+(,\d+)?([eE][-+]?\d+)?\s*")
GROUPED_NUMBER = re.compile(r"\s*[-+]?\d{1,3}([. ]\d{3})+(,\d+)?\s*")
"""Numbers as much of Europe writes them: 1,5 and 1.234,5."""

POINT_NUMBER = re.compile(r"\s*[-+]?\d*\.\d+([eE][-+]?\d+)?\s*")
"""Numbers with a decimal point."""

ROWS_TO_TELL = 1000
"""Number of rows that decide between two separators that both stand in the header."""


def decoded(name: str, content: bytes) -> str:
    """Return the text of a file that is UTF-8, or has a byte-order mark.

    Raises BadFileError if it is neither; the sentence says what to do.
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
) -> "pd.DataFrame":
    """Read a table from text; see :func:`shortlist.tables.files.read_table_file`.

    `separator` None: told from the header. `place` is what a row of the text is called. Raises BadFileError
    if a name is there twice, or a row has more or fewer cells than the header.
    """
    import pandas as pd

    if separator is None:
        separator = told_separator(name, text, notes)
    header = _checked_header(name, text, separator, place)
    try:
        table = pd.read_csv(
            io.BytesIO(text.encode()), sep=separator, index_col=False, low_memory=False,
            dtype=dict.fromkeys(set(words).intersection(header), str),
        )  # fmt: skip
    except (ValueError, OverflowError) as error:  # pandas' own errors of parsing are ValueErrors
        first_line = next(iter(str(error).splitlines()), type(error).__name__)
        raise BadFileError(f"{name} must be a table, but reading it failed: {first_line}.") from None
    table.columns = [str(column) for column in table.columns]
    if separator != ",":
        _read_decimal_commas(name, table, notes, words)
    _note_words_among_numbers(
        name, table, text_records(text, separator), notes, words=words, marker=marker, place=place
    )
    return table


def _note_words_among_numbers(
    name: str,
    table: "pd.DataFrame",
    records: Iterator[tuple[int, list[str]]],
    notes: list[str],
    *,
    words: Sequence[str],
    marker: str | None,
    place: str,
) -> None:
    """Note each column of words of which at least half are numbers, and where its first word is.

    Cells with the marker are no words.
    """
    import numpy as np
    import pandas as pd

    wrong: dict[str, tuple[int, int]] = {}
    for column in _columns_of_words(table, words):
        known = table[column].dropna()
        if marker is not None:
            known = known[known.astype(str) != marker]
        codes, different = pd.factorize(known)  # a long log has few different names and labels
        numbers = np.array([*_are_numbers(different)], dtype=bool)[codes]
        if not numbers.all() and 2 * int(numbers.sum()) >= len(known):
            wrong[column] = (int(known.index[~numbers][0]), int(numbers.sum()))
    if not wrong:
        return
    lines = [line for line, _ in records][1:]
    for column, (row, n_numbers) in wrong.items():
        notes.append(
            f"{name}, {place} {lines[row]}: column {column!r} holds {str(table[column][row])!r} among "
            f"{counted(n_numbers, 'number')}, so all of it is taken for words. Correct the cell, or empty it."
        )


def _are_numbers(values: Any) -> Any:
    """Mark the values that are numbers, or text that is one."""
    import pandas as pd

    try:
        return pd.to_numeric(pd.Series(values), errors="coerce").notna()
    except OverflowError:  # an integer beyond every float, which others need not be
        return [pd.notna(pd.to_numeric(str(value)[:300], errors="coerce")) for value in values]


def _columns_of_words(table: "pd.DataFrame", words: Sequence[str]) -> list[str]:
    """Return the columns that were not read as numbers and need not be words, without a look into any."""
    from pandas.api.types import is_numeric_dtype

    named = set(words)
    return [
        name
        for name, kind in zip(table.columns, table.dtypes, strict=True)
        if not is_numeric_dtype(kind) and name not in named
    ]


def told_separator(name: str, text: str, notes: list[str]) -> str:
    """Return what parts the columns, and note it where it is no comma."""
    separator = _separator(name, text)
    if separator != ",":
        notes.append(f"{name}: its columns are separated by {SEPARATORS[separator]}.")
    return separator


def with_decimal_points(
    name: str, rows: list[tuple[int, list[str]]], notes: list[str]
) -> list[tuple[int, list[str]]]:
    """Write decimal commas as points in columns of nothing else, if the file has no decimal points."""
    if any(POINT_NUMBER.fullmatch(cell) for _, cells in rows[1:] for cell in cells):
        return rows
    header = rows[0][1]
    columns = []
    for place in range(len(header)):
        cells = [row[place] for _, row in rows[1:] if place < len(row) and row[place].strip()]
        if any("," in cell for cell in cells) and all(COMMA_NUMBER.fullmatch(cell) for cell in cells):
            columns.append(place)
    if not columns:
        return rows
    listed = all_of((repr(header[place]) for place in columns), most=8)
    notes.append(f"{name}: decimal commas in {listed} were read as decimal points.")
    return rows[:1] + [
        (line, [cell.replace(",", ".") if at in columns else cell for at, cell in enumerate(row)])
        for line, row in rows[1:]
    ]


def _separator(name: str, text: str) -> str:
    """Tell what parts the columns: what stands in the header, and makes every row as long as that."""
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
    """Whether the first rows all have as many cells as the header."""
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
            # the reader gives up on a cell beyond its limit: mostly an open quote
            yield reader.line_num, []
            return
        if cells is None:
            return
        if len(cells) > 1 or (cells and cells[0].strip()):
            yield reader.line_num, cells


def _checked_header(name: str, text: str, separator: str, place: str) -> list[str]:
    records = text_records(text, separator)
    _, header = next(records, (0, []))
    repeated = first_repeated(header)
    if repeated is not None:
        places = all_of(at for at, one in enumerate(header, 1) if one == repeated)
        raise BadFileError(
            f"{name} has the column {repeated!r} more than once, as columns {places}. Rename or drop one."
        )
    for line, cells in records:
        if not cells:
            raise BadFileError(f"{name}, {place} {line}: a quote that opened before is not closed.")
        if len(cells) != len(header):
            raise BadFileError(
                f"{name}, {place} {line}: expected {counted(len(header), 'cell')} as in the header, got "
                f"{len(cells)}. Mend the row, or put cells that hold a separator in quotes."
            )
    return header


def first_repeated(names: Sequence[str]) -> str | None:
    """Return the first of several names that is there again; empty ones do not count."""
    times = Counter(names)
    return next((name for name in names if name and times[name] > 1), None)


def _read_decimal_commas(name: str, table: "pd.DataFrame", notes: list[str], words: Sequence[str]) -> None:
    """Turn columns of decimal commas into numbers, in place, if the file has no decimal points."""
    import pandas as pd

    commas = []
    for column in _columns_of_words(table, words):
        cells = table[column].dropna()
        grouped = next(
            (cell for cell in cells if isinstance(cell, str) and GROUPED_NUMBER.fullmatch(cell)), None
        )
        if all(isinstance(cell, str) and _is_european(cell) for cell in cells) and len(cells):
            if grouped is not None:
                raise BadFileError(
                    f"{name} has the number {grouped!r} in column {column!r}, which may be read in two "
                    "ways. Write numbers without marks between thousands."
                )
            commas.append(column)
    if not commas:
        return
    points = [column for column in table.columns if _has_fractions(table[column])]
    if points:
        raise BadFileError(
            f"{name} has numbers with decimal commas in column {commas[0]!r} and with decimal points in "
            f"column {points[0]!r}. Write them alike."
        )
    for column in commas:
        table[column] = pd.to_numeric(table[column].str.strip().str.replace(",", ".", regex=False))
    notes.append(
        f"{name}: decimal commas in {all_of(map(repr, commas), most=8)} were read as decimal points."
    )


def _is_european(cell: str) -> bool:
    return bool(COMMA_NUMBER.fullmatch(cell) or GROUPED_NUMBER.fullmatch(cell))


def _has_fractions(column: "pd.Series[Any]") -> bool:
    if column.dtype.kind != "f":
        return False
    known = column.dropna()
    return bool((known % 1 != 0).any())
