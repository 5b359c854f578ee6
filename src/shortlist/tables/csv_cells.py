"""Texts in the cells of CSV files."""

FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
"""What spreadsheets take for the beginning of a formula, which may call other programs."""


def guarded(text: str) -> str:
    """Return a name for a cell, with ``'`` before it where a spreadsheet would take it for a formula.

    Examples
    --------
    >>> guarded("GPS"), guarded("=1+1"), unguarded(guarded("-Xmx"))
    ('GPS', "'=1+1", '-Xmx')
    """
    return f"'{text}" if text.startswith(FORMULA_SIGNS) else text


def unguarded(cell: str) -> str:
    """Undo :func:`guarded`."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA_SIGNS) else cell
