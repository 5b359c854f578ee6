"""Small tables of HTML, which notebooks show in place of a ``repr``."""

from collections.abc import Iterable, Sequence
from html import escape

MOST_ROWS = 10
"""How many rows a notebook sees before the rest is counted."""


def html_table(
    caption: str, header: Sequence[object], rows: Iterable[Sequence[object]], *, n_rows: int
) -> str:
    """Return a table of the first rows, with every text escaped.

    `caption`: what stands above the table. `header`: one entry per column; empty for a table without a
    header. `rows`: cells as ``str`` writes them; floats with six digits. Only the first :data:`MOST_ROWS` are
    taken. `n_rows`: how many rows there are in all.

    >>> html_table("a < b", [], [["size", 3]], n_rows=1)
    '<table><caption>a &lt; b</caption><tr><td>size</td><td>3</td></tr></table>'
    """
    head = f"<tr>{''.join(f'<th>{escape(str(name))}</th>' for name in header)}</tr>" if header else ""
    shown = [row for row, _ in zip(rows, range(MOST_ROWS), strict=False)]
    body = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in shown)
    more = f"<p>and {n_rows - len(shown):,} more</p>" if n_rows > len(shown) else ""
    return f"<table><caption>{escape(caption)}</caption>{head}{body}</table>{more}"


def _cell(value: object) -> str:
    return escape(f"{value:.6g}" if isinstance(value, float) else str(value))
