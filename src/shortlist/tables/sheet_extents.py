"""How far a sheet reaches, told from its XML before a reader lays out all its cells."""

import re
from typing import IO
from xml.parsers import expat

from shortlist.errors import BadFileError

MOST_CELLS = 2**25
"""Cells from the first to the last that holds something; more would not fit into a part of 512 MB."""

SHEET_MARK = b"sheetData"
"""The element that every sheet holds."""

_PLACE = re.compile(r"([A-Za-z]{1,7})([0-9]{1,10})")


def check_extent(name: str, stream: IO[bytes], *, most: int = MOST_CELLS) -> None:
    """Refuse a sheet whose last cell is so far out that the cells up to it cannot be laid out.

    Only cells that hold something count; what a sheet says of its own dimension does not. It is read as a
    stream, and takes about a microsecond per cell.

    Parameters
    ----------
    name : str
        What messages call the workbook.
    stream : file
        The part of the workbook.
    most : int, default=2**25
        Cells that the sheet may have.

    Raises
    ------
    BadFileError
        If it has more, or is damaged.
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
