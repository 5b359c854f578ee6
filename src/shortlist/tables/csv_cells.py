"""Texts in the cells of CSV files, which a spreadsheet may open."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""How a text begins that is guarded, or that spreadsheets take for a formula, which may call programs."""

HARMLESS = re.compile(r"[=+\-@]|[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""A sign alone, or a number: spreadsheets show it as it is."""


def guarded(text: str) -> str:
    """Return a text for a cell, with ``'`` before it where a spreadsheet would take it for a formula.

    Examples
    --------
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
