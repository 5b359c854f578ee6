"""Excel workbooks, read as the text that saving their first sheet as CSV would give."""

import contextlib
import csv
import datetime as dt
import io
import lzma
import re
import struct
import zipfile
import zlib
from typing import IO
from xml.parsers import expat

from shortlist._words import all_of
from shortlist.errors import BadFileError, MissingDependencyError

WORKBOOK, BINARY_WORKBOOK = "xl/workbook.xml", "xl/workbook.bin"
"""The parts that tell a workbook, and one in the binary format, from another zip archive."""

ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xltx", ".xltm")
"""Of names of workbooks."""

DAMAGED = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
    ValueError, NotImplementedError, RuntimeError, EOFError, OSError,
)  # fmt: skip
"""What may come of a compressed file that is damaged."""

MOST_UNPACKED = 2**29
"""Bytes that a compressed table may unpack to, and all parts of a workbook together."""


def is_workbook(name: str, content: bytes) -> bool:
    """Whether a zip archive is an Excel workbook.

    Raises BadFileError if it is none, though it is called one, or is in the binary format.
    """
    parts: list[str] = []
    with contextlib.suppress(*DAMAGED), zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.namelist()
    if BINARY_WORKBOOK in parts:
        raise BadFileError(
            f"{name} must be an Excel workbook in the format .xlsx, got one in the binary format .xlsb. Save "
            "it as .xlsx, or as CSV."
        )
    found = WORKBOOK in parts
    if not found and name.casefold().endswith(ENDINGS):
        raise BadFileError(
            f"{name} must be an Excel workbook, but is an archive without one, or damaged. Save it again, or "
            "as CSV."
        )
    return found


def check_size(name: str, content: bytes, most: int = MOST_UNPACKED) -> None:
    """Refuse a workbook that unpacks to more than it may, whatever it says of its size, or that is damaged.

    A few cells far apart are too much as well (:mod:`shortlist.tables.workbooks`). Raises BadFileError if it
    does.
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
    """Return the first sheet as text with commas; formulas count by the value that was saved with them.

    Nothing is calculated, and no file that the workbook links to is looked at. Row k of the sheet is line k
    of the text as long as no cell holds a line break. Raises MissingDependencyError if python-calamine is not
    installed. Raises BadFileError if the workbook cannot be read, or unpacks to more than
    :data:`MOST_UNPACKED` bytes.
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
    cells = [[_cell(cell) for cell in row] for row in rows]
    width = max((at for row in cells for at, cell in enumerate(row, 1) if cell), default=0)
    for row in cells:
        writer.writerow(row[:width] if any(row) else [])
    return text.getvalue()


def _cell(value: object) -> str:
    """Write a cell as CSV has it; whole numbers, which Excel keeps as fractions, without a point."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return "" if value is None else str(value)


MOST_CELLS = 2**25
"""Cells from the first to the last that holds something; more would not fit into a part of 512 MB."""

SHEET_MARK = b"sheetData"
"""The element that every sheet holds."""

_PLACE = re.compile(r"([A-Za-z]{1,7})([0-9]{1,10})")


def check_extent(name: str, stream: IO[bytes], *, most: int = MOST_CELLS) -> None:
    """Refuse a sheet whose last cell is so far out that the cells up to it cannot be laid out.

    Only cells that hold something count; what a sheet says of its own dimension does not. It is read as a
    stream, and takes about a microsecond per cell. Raises BadFileError if it has more, or is damaged.

    `most`: cells that the sheet may have.
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
    """Return how many rows and columns reach the last cells with a value; places may be left out."""
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
