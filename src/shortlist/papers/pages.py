"""A paper run again as a page: its tables, its figures as pictures, and where this is not what it did."""

from typing import Any

from shortlist.papers.paper import Line, Paper, Reproduction, ResultTable
from shortlist.papers.tables import columns_of, shown
from shortlist.report.parts import Chart, Heading, Parts, Table, Text


def paper_parts(paper: Paper, found: Reproduction) -> Parts:
    """Return the parts of a page with every table and figure that was made, and the paper's deviations."""
    parts: list[Any] = [
        Text(
            f"{found.n_done:,} of {found.n_wanted:,} units are finished, which took "
            f"{found.unit_seconds:,.0f} s of work."
        )
    ]
    for table in found.tables:
        parts += [Heading(table.title), *([_chart(table)] if table.picture else [_table(table)])]
    parts.append(Heading("Where this is not what the paper did"))
    return [*parts, *(Text(sentence) for sentence in paper.deviations)]


def _table(table: ResultTable) -> Table:
    columns = tuple(columns_of(table.rows))
    rows = tuple(tuple(shown(row.get(column)) for column in columns) for row in table.rows)
    return Table(table.title, columns, rows, tuple(text for text in (table.differs, table.note) if text))


def _chart(table: ResultTable) -> Chart:
    picture = table.picture
    assert picture is not None
    return Chart(
        table.title,
        picture.text,
        {"kind": "line", "x": {"label": picture.x}, "y": {"label": picture.y}, **_drawn(picture.lines)},
        _table(table),
    )


def _drawn(lines: tuple[Line, ...]) -> dict[str, Any]:
    panels: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        band = {"band": [[*ends] for ends in line.band]} if line.band else {}
        points = [[*point] for point in line.points]
        panels.setdefault(line.panel, []).append(
            {"name": line.name, "points": points, "line": line.joined, **band}
        )
    if len(panels) == 1:
        return {"series": next(iter(panels.values()))}
    return {"panels": [{"name": name, "series": series} for name, series in panels.items()]}
