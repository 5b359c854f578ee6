"""Tables and interactive charts of fronts as one HTML page that needs nothing else, no network included."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, any_of
from shortlist.errors import BadInputError
from shortlist.files import write_text
from shortlist.results.front import Front

COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000", "#8c564b",
    "#bcbd22",
)  # fmt: skip
"""One colour per front; the first eight can be told apart by people who see few colours (Okabe & Ito 2008).
"""

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: "
    "blob:; connect-src 'none'; form-action 'none'; base-uri 'none'"
)
"""What a browser may do for the page: run what is inside it, load nothing, and send nothing anywhere."""

CONFIG = {"displaylogo": False, "responsive": True, "showSendToCloud": False, "plotlyServerURL": ""}
"""How plotly draws: without its logo, and without the button "Share chart", which uploads the points to its
maker.
"""

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222;
  margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; display: block; overflow-x: auto; }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } th { border-bottom: 2px solid #999; }
p.note { color: #555; max-width: 60rem; }
"""


@dataclass(frozen=True)
class Table:
    """A table for people.

    Attributes
    ----------
    title : str
        What it is about.
    columns : tuple of str
        Headings.
    rows : tuple of tuple of str
        Cells; the first column is aligned to the left, the others to the right.
    notes : tuple of str
        What the columns mean, a sentence each.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the table as aligned lines of text, without title and notes.

        Examples
        --------
        >>> Table("Fruit", ("name", "price"), (("fig", "1.5"), ("apple", "12"))).lines()
        ['name   price', 'fig      1.5', 'apple     12']
        """
        cells = [self.columns, *self.rows]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        return [
            "  ".join(
                cell.rjust(width) if i else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in cells
        ]


def front_page(
    title: str,
    fronts: Mapping[str, Front],
    *,
    tables: Sequence[Table] = (),
    notes: Sequence[str] = (),
) -> str:
    """Return an HTML page with tables, and with the points of fronts over the same objectives.

    The charts are parallel coordinates, one line per point and one colour per front, which can be brushed on
    every axis; and, with two objectives or more, the points in the plane of the first two, where a click on a
    name hides its front. The page carries plotly, about 5 MB; it tells browsers to load nothing and to send
    nothing, and has no button that would share a chart. Every text is escaped.

    Parameters
    ----------
    title : str
        Heading.
    fronts : mapping of str to Front
        By name, in the order of the legend; fronts without points are left out of the charts.
    tables : sequence of Table
        Shown before the charts.
    notes : sequence of str
        A paragraph each, below the heading.

    Raises
    ------
    BadInputError
        If the objectives differ.
    """
    names = [front.names for front in fronts.values()]
    if any(other != names[0] for other in names):
        raise BadInputError(
            f"fronts must have the same objectives, got {any_of(all_of(one) for one in names)}."
        )
    filled = {name: front for name, front in fronts.items() if len(front)}
    parts = [f"<h1>{escape(title)}</h1>", *(f"<p>{escape(note)}</p>" for note in notes)]
    for table in tables:
        parts += _table(table)
    parts += _charts(filled) if filled else ["<p>There are no points to show.</p>"]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def write_page(path: str | Path, page: str) -> None:
    """Write a page, whole or not at all."""
    write_text(path, page)


def _table(table: Table) -> list[str]:
    """Return a table as HTML."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.columns)
    rows = ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows]
    return [
        f"<h2>{escape(table.title)}</h2>",
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>",
        *rows,
        "</tbody>\n</table>",
        *(f'<p class="note">{escape(note)}</p>' for note in table.notes),
    ]


def _charts(fronts: Mapping[str, Front]) -> list[str]:
    """Return the charts as HTML, after plotly itself."""
    first = next(iter(fronts.values()))
    parts = ["<h2>Points</h2>", _plotly(), _as_html(_parallel(fronts), "parallel-coordinates")]
    if len(first.objectives) > 1:
        parts.append(_as_html(_plane(fronts), "plane"))
    parts.append(
        '<p class="note">Drag along an axis to keep the lines that pass there; '
        "click on a name to hide its points.</p>"
    )
    return parts


def _plotly() -> str:
    """Return plotly, told how to draw before any chart: its Python part passes on only some of it."""
    from plotly.offline import get_plotlyjs

    return f"<script>{get_plotlyjs()}</script>\n<script>Plotly.setPlotConfig({json.dumps(CONFIG)});</script>"


def _parallel(fronts: Mapping[str, Front]) -> Any:
    """Return parallel coordinates of all points."""
    from plotly import graph_objects

    first = next(iter(fronts.values()))
    values: NDArray[np.float64] = np.vstack([front.values for front in fronts.values()])
    numbers = np.repeat(np.arange(len(fronts)), [len(front) for front in fronts.values()])
    steps = [(i + side) / len(fronts) for i in range(len(fronts)) for side in (0, 1)]
    colours = [colour for i in range(len(fronts)) for colour in [COLOURS[i % len(COLOURS)]] * 2]
    line = {
        "color": numbers,
        "cmin": -0.5,
        "cmax": len(fronts) - 0.5,
        "colorscale": list(zip(steps, colours, strict=True)),
        "showscale": True,
        "colorbar": {
            "tickvals": list(range(len(fronts))),
            "ticktext": [escape(name) for name in fronts],
        },
    }
    dimensions = [
        {"label": _label(front_objective), "values": values[:, i]}
        for i, front_objective in enumerate(first.objectives)
    ]
    figure = graph_objects.Figure(graph_objects.Parcoords(line=line, dimensions=dimensions))
    figure.update_layout(height=480, margin={"l": 80, "r": 80, "t": 60, "b": 40})
    return figure


def _plane(fronts: Mapping[str, Front]) -> Any:
    """Return the points in the plane of the first two objectives."""
    from plotly import graph_objects

    first = next(iter(fronts.values()))
    figure = graph_objects.Figure()
    for i, (name, front) in enumerate(fronts.items()):
        figure.add_trace(
            graph_objects.Scattergl(
                x=front.values[:, 0],
                y=front.values[:, 1],
                mode="markers",
                name=escape(name),
                marker={"size": 6, "opacity": 0.7, "color": COLOURS[i % len(COLOURS)]},
            )
        )
    across, up = (_label(objective) for objective in first.objectives[:2])
    figure.update_layout(
        height=480, xaxis_title=across, yaxis_title=up, showlegend=True,
        margin={"l": 80, "r": 40, "t": 40, "b": 60}
    )  # fmt: skip
    return figure


def _label(objective: Any) -> str:
    """Return sense, name and unit, escaped: plotly reads labels as HTML."""
    unit = f" ({objective.unit})" if objective.unit else ""
    return escape(f"{objective.sense} {objective.name}{unit}")


def _as_html(figure: Any, name: str) -> str:
    """Return a figure as part of a page, under a name that is the same in every page."""
    from plotly.io import to_html

    part: str = to_html(figure, full_html=False, include_plotlyjs=False, div_id=name, config=dict(CONFIG))
    return part
