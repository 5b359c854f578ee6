"""How far the sheets of a workbook reach, told from its parts before a reader lays out all their cells."""

import re
from typing import IO
from xml.parsers import expat

from shortlist.errors import BadFileError

MOST_CELLS = 2**25
"""Cells from the first to the last that holds something; more would not fit into a part of 512 MB."""

SHEET_MARKS = (b"sheetData", b"\x91\x01")
"""What every sheet holds: an element in XML, the record BrtBeginSheetData in a binary workbook."""

_PLACE = re.compile(r"([A-Za-z]{1,7})([0-9]{1,10})")
_ROW, _EMPTY_CELL, _LAST_CELL, _BEGIN, _END = 0, 1, 11, 145, 146


def check_extent(name: str, stream: IO[bytes], *, binary: bool, most: int = MOST_CELLS) -> None:
    """Refuse a sheet whose last cell is so far out that the cells up to it cannot be laid out.

    Only cells that hold something count; what a sheet says of its own dimension does not. A sheet in XML is
    read as a stream, and takes about a microsecond per cell.

    Parameters
    ----------
    name : str
        What messages call the workbook.
    stream : file
        The part of the workbook.
    binary : bool
        Whether it holds records (MS-XLSB, Sec. 2.1.4) instead of XML.
    most : int, default=2**25
        Cells that the sheet may have.

    Raises
    ------
    BadFileError
        If it has more, or is damaged.
    """
    try:
        n_rows, n_columns = _binary_extent(stream.read()) if binary else _xml_extent(stream)
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


def _binary_extent(content: bytes) -> tuple[int, int]:
    """Return the same of records, each of them a kind and a length of seven bits a byte, and its bytes."""
    place = row = n_rows = n_columns = 0
    inside = False

    def number(most_bytes: int) -> int:
        nonlocal place
        value = 0
        for k in range(most_bytes):
            value |= (content[place] & 127) << 7 * k
            place += 1
            if content[place - 1] < 128:
                break
        return value

    try:
        while place < len(content):
            kind = number(2)
            length = number(4)
            if inside and kind == _END:
                break
            if inside and kind <= _LAST_CELL and kind != _EMPTY_CELL:
                first = int.from_bytes(content[place : place + 4], "little")
                if kind == _ROW:
                    row = first
                else:
                    n_rows, n_columns = max(n_rows, row + 1), max(n_columns, first + 1)
            inside = inside or kind == _BEGIN
            place += length
    except IndexError:
        pass  # it ends within a record
    return n_rows, n_columns
