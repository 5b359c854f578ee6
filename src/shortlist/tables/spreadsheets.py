"""Rows written as CSV or an Excel workbook in which no text is a formula, and workbooks read as text."""

import contextlib
import csv
import datetime as dt
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias
from xml.parsers import expat

from shortlist._words import all_of
from shortlist.errors import BadFileError, BadInputError, MissingDependencyError
from shortlist.files import whole_file, write_text

if TYPE_CHECKING:
    import pandas as pd


Cell: TypeAlias = str | bool | int | float | Decimal | None
"""Content of a cell: a text, a truth value, a number, or None for an empty cell."""

WORKBOOK = ".xlsx"
SPREADSHEET_ENDINGS = (".csv", WORKBOOK)
"""Endings of the files that :func:`save_rows` writes."""

MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 1_048_576, 16_384, 32_767
"""Limits of Excel: rows and columns of a sheet, and characters of a cell."""


def save_rows(path: str | Path, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """Write a table as CSV, or as the only sheet of a workbook for a path that ends in ``.xlsx``.

    The file is written whole or not at all. In CSV a text that a spreadsheet would take for a formula begins
    with ``'``; in a workbook its type is text. In a workbook a number of more than Excel's 15 digits is text.
    Truth values are the texts ``true`` and ``false``. Raises BadInputError for any other ending, or a table
    larger than a sheet of Excel. Raises MissingDependencyError for a workbook if the package that writes it
    is not installed.
    """
    ending = Path(path).suffix.casefold()
    if ending not in SPREADSHEET_ENDINGS:
        raise BadInputError(f"a table must be written to a file ending in .csv or .xlsx, got {str(path)!r}.")
    cells: list[list[Cell]] = [list(header), *(list(row) for row in rows)]
    if ending == WORKBOOK:
        _save_workbook(path, cells)
        return
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_csv_cell(cell) for cell in row] for row in cells)
    write_text(path, text.getvalue())


def _csv_cell(cell: Cell) -> Any:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, Decimal):
        return f"{cell:f}"
    return guarded(cell) if isinstance(cell, str) else cell


def _save_workbook(path: str | Path, cells: list[list[Cell]]) -> None:
    try:
        import xlsxwriter
    except ImportError:
        raise MissingDependencyError(
            f"{path} is to be an Excel workbook, which needs the xlsxwriter package. Install it: "
            "pip install 'shortlist[excel]', or write a .csv file."
        ) from None
    widest = max(map(len, cells))
    if len(cells) > MOST_ROWS or widest > MOST_COLUMNS:
        raise BadInputError(
            f"a sheet of Excel must have at most {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns, got "
            f"{len(cells):,} and {widest:,}. Write a .csv file."
        )
    longest = max((len(cell) for row in cells for cell in row if isinstance(cell, str)), default=0)
    if longest > MOST_CHARACTERS:
        raise BadInputError(
            f"a cell of Excel must have at most {MOST_CHARACTERS:,} characters, got {longest:,}. Write "
            "a .csv file."
        )
    with whole_file(path) as temporary:
        plain = {"strings_to_formulas": False, "strings_to_urls": False, "in_memory": True}
        workbook = xlsxwriter.Workbook(str(temporary), plain)
        sheet = workbook.add_worksheet("Shortlist")
        sheet.freeze_panes(1, 0)
        for at, row in enumerate(cells):
            for column, cell in enumerate(row):
                shown = _workbook_cell(cell)
                if isinstance(shown, str):
                    sheet.write_string(at, column, shown)
                elif shown is not None:
                    sheet.write_number(at, column, shown)
        workbook.close()


def _workbook_cell(cell: Cell) -> str | float | None:
    if cell is None or isinstance(cell, str):
        return cell or None
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        return cell
    text = f"{cell:f}" if isinstance(cell, Decimal) else str(cell)
    digits = text.lstrip("-0.").replace(".", "").rstrip("0")
    return float(cell) if len(digits) <= 15 and len(text) < 300 else text


FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""Pattern of the beginning of a text that is guarded already, or that spreadsheets take for a formula; a
formula may call programs.
"""

HARMLESS = re.compile(r"[=+\-@]|[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""Pattern of a single sign, or of a number; spreadsheets show such a text unchanged."""


def guarded(text: str) -> str:
    """Return a text for a cell, with a leading ``'`` if a spreadsheet would take it for a formula.

    >>> guarded("GPS"), guarded("=1+1"), guarded("-1.5"), unguarded(guarded("-Xmx")), guarded("'=1")
    ('GPS', "'=1+1", '-1.5', '-Xmx', "''=1")
    """
    return f"'{text}" if FORMULA.match(text) and not HARMLESS.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """Undo :func:`guarded`."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell[1:]) else cell


def guarded_csv(table: "pd.DataFrame") -> str:
    """Return a table as CSV in which no text is a formula."""
    header = [guarded(str(name)) for name in table.columns]
    texts = table.map(lambda cell: guarded(cell) if isinstance(cell, str) else cell)
    text: str = texts.to_csv(index=False, header=header, lineterminator="\n")
    return text


WORKBOOK_PART, BINARY_PART = "xl/workbook.xml", "xl/workbook.bin"
"""Parts of a zip archive that mark a workbook, and a workbook in the binary format."""

WORKBOOK_ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xltx", ".xltm")
"""Endings of workbooks."""

DAMAGED = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
    ValueError, NotImplementedError, RuntimeError, EOFError, OSError,
)  # fmt: skip
"""Exceptions that a damaged compressed file may raise."""

MOST_UNPACKED = 2**29
"""Largest number of bytes of an unpacked table, and of all parts of a workbook together."""


def is_workbook(name: str, content: bytes) -> bool:
    """Return whether a zip archive is an Excel workbook.

    Raises BadFileError if the archive has the name of a workbook but is no workbook, or is a workbook in the
    binary format.
    """
    parts: list[str] = []
    with contextlib.suppress(*DAMAGED), zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.namelist()
    if BINARY_PART in parts:
        raise BadFileError(
            f"{name} must be an Excel workbook in the format .xlsx, got one in the binary format .xlsb. Save "
            "it as .xlsx, or as CSV."
        )
    found = WORKBOOK_PART in parts
    if not found and name.casefold().endswith(WORKBOOK_ENDINGS):
        raise BadFileError(
            f"{name} must be an Excel workbook, but is an archive without one, or damaged. Save it again, or "
            "as CSV."
        )
    return found


def check_size(name: str, content: bytes, most: int = MOST_UNPACKED) -> None:
    """Refuse a workbook that is damaged or unpacks to too much, whatever its headers state.

    A sheet with a few cells far apart is too large as well (:func:`check_extent`). Raises BadFileError.
    """
    left = most
    sheets: list[zipfile.ZipInfo] = []
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for part in archive.infolist():
                end, is_sheet = b"", False
                with archive.open(part) as stream:
                    while left >= 0 and (block := stream.read(1 << 20)):
                        left -= len(block)
                        is_sheet = is_sheet or SHEET_MARK in end + block
                        end = block[-len(SHEET_MARK) :]
                if left >= 0 and is_sheet:
                    sheets.append(part)
            for part in sheets if left >= 0 else ():
                with archive.open(part) as stream:
                    check_extent(name, stream)
    except BadFileError:
        raise
    except DAMAGED as error:
        raise BadFileError(f"{name} is a damaged workbook: {error}. Save it again, or as CSV.") from None
    if left < 0:
        raise BadFileError(
            f"{name} unpacks to more than {most:,} bytes. Save the sheet as CSV if you trust it."
        )


def workbook_as_text(name: str, content: bytes, notes: list[str]) -> str:
    """Return the first sheet as text with commas; a formula is read as its saved value.

    Nothing is calculated, and no linked file is read. Row k of the sheet is line k of the text as long as
    no cell holds a line break. Raises MissingDependencyError if python-calamine is not installed. Raises
    BadFileError if the workbook cannot be read, or unpacks to more than :data:`MOST_UNPACKED` bytes.
    """
    try:
        import python_calamine
    except ImportError:
        raise MissingDependencyError(
            f"{name} is an Excel workbook, which needs the python-calamine package. Install it: "
            "pip install 'shortlist[excel]', or save the sheet as CSV."
        ) from None
    check_size(name, content)
    try:
        with python_calamine.load_workbook(io.BytesIO(content)) as workbook:
            names = workbook.sheet_names
            rows = workbook.get_sheet_by_index(0).to_python(skip_empty_area=False)
    except (python_calamine.CalamineError, ValueError, OSError) as error:
        first_line = next(iter(str(error).splitlines()), type(error).__name__)
        raise BadFileError(
            f"{name} is an Excel workbook, but reading it failed: {first_line}. Save the sheet as CSV."
        ) from None
    if len(names) > 1:
        notes.append(
            f"{name}: the sheet {names[0]!r} is read; {all_of(map(repr, names[1:]), most=4)} left out."
        )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    cells = [[_text_of_cell(cell) for cell in row] for row in rows]
    width = max((at for row in cells for at, cell in enumerate(row, 1) if cell), default=0)
    for row in cells:
        writer.writerow(row[:width] if any(row) else [])
    return text.getvalue()


def _text_of_cell(value: object) -> str:
    """Return a cell as CSV text; whole numbers, which Excel stores as floats, are written without a point."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return "" if value is None else str(value)


MOST_CELLS = 2**25
"""Largest number of cells from the first to the last filled cell; more cells would not fit into a part of 512
MB.
"""

SHEET_MARK = b"sheetData"
"""Element of every sheet."""

_PLACE = re.compile(r"([A-Za-z]{1,7})([0-9]{1,10})")


def check_extent(name: str, stream: IO[bytes], *, most: int = MOST_CELLS) -> None:
    """Refuse a sheet with too many cells up to its last filled one.

    Only filled cells count, not the dimension stated by the sheet. The sheet is read as a stream, in about a
    microsecond per cell. Raises BadFileError if the sheet has more cells, or is damaged.

    `most`: largest number of cells up to the last filled one.
    """
    try:
        n_rows, n_columns = _xml_extent(stream)
    except (expat.ExpatError, ValueError) as error:
        raise BadFileError(f"{name} is a damaged workbook: {error}. Save it again, or as CSV.") from None
    if n_rows * n_columns > most:
        raise BadFileError(
            f"{name} must have sheets of at most {most:,} cells, got a cell in row {n_rows:,} and one in "
            f"column {n_columns:,}. Delete what is far from the table, or save the sheet as CSV."
        )


def _xml_extent(stream: IO[bytes]) -> tuple[int, int]:
    """Return the numbers of rows and columns up to the last filled cells.

    References of cells may be missing.
    """
    row = column = n_rows = n_columns = 0
    at_row = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal row, column, at_row, n_rows, n_columns
        kind = tag.rpartition(":")[2]
        if kind == "c":
            place = attributes.get("r")
            if place is None:
                column, at_row = column + 1, row
                return
            found = _PLACE.fullmatch(place)
            if found is None:
                raise ValueError(f"a cell is at {place[:20]!r}")
            column, at_row = _column(found[1]), int(found[2])
        elif kind in {"v", "is"}:
            n_rows, n_columns = max(n_rows, at_row), max(n_columns, column)
        elif kind == "row":
            number = attributes.get("r", str(row + 1))
            if not re.fullmatch("[0-9]{1,10}", number):
                raise ValueError(f"a row is at {number[:20]!r}")
            row, column = int(number), 0

    def refuse(*_declared: object) -> None:
        raise ValueError("it declares entities")

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EntityDeclHandler = refuse
    parser.ParseFile(stream)
    return n_rows, n_columns


def _column(letters: str) -> int:
    """Return the number of a column, from 1 for A."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
