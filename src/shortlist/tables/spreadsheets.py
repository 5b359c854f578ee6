"""Rows of texts and numbers as CSV or as an Excel workbook, in which no text is ever a formula."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.files import whole_file, write_text

if TYPE_CHECKING:
    import pandas as pd


Cell: TypeAlias = str | bool | int | float | Decimal | None
"""A text, a truth value, a number, or nothing."""

WORKBOOK = ".xlsx"
SPREADSHEET_ENDINGS = (".csv", WORKBOOK)
"""Endings of the files that :func:`save_rows` can write."""

MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 1_048_576, 16_384, 32_767
"""What a sheet of Excel holds, and a cell of it."""


def save_rows(path: str | Path, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """Write a table as CSV, or as the only sheet of a workbook for a path that ends in ``.xlsx``.

    Whole or not at all. In CSV a text that a spreadsheet would take for a formula has ``'`` before it; in a
    workbook it is a text by its type. A number that Excel, which keeps 15 digits, could not hold is written
    there as text. Truth values are the texts ``true`` and ``false``. Raises BadInputError if the ending is
    another one, or the table is larger than a sheet of Excel. Raises MissingDependencyError if it is to be a
    workbook, and the package that writes those is not installed.
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
"""How a text begins that is guarded, or that spreadsheets take for a formula, which may call programs."""

HARMLESS = re.compile(r"[=+\-@]|[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""A sign alone, or a number: spreadsheets show it as it is."""


def guarded(text: str) -> str:
    """Return a text for a cell, with ``'`` before it where a spreadsheet would take it for a formula.

    >>> guarded("GPS"), guarded("=1+1"), guarded("-1.5"), unguarded(guarded("-Xmx")), guarded("'=1")
    ('GPS', "'=1+1", '-1.5', '-Xmx', "''=1")
    """
    return f"'{text}" if FORMULA.match(text) and not HARMLESS.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """Undo :func:`guarded`."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell[1:]) else cell


def guarded_csv(table: "pd.DataFrame") -> str:
    """Return a table as CSV, in which no text is a formula."""
    header = [guarded(str(name)) for name in table.columns]
    texts = table.map(lambda cell: guarded(cell) if isinstance(cell, str) else cell)
    text: str = texts.to_csv(index=False, header=header, lineterminator="\n")
    return text
