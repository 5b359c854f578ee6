"""Rows and pictures of a finished run of `shortlist reproduce`, from its study.

python -m benchmarks.studies.paper_results emsco STUDY.db --scale medium --tables figure-7,figure-8
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.rows import write_rows
from shortlist.papers.paper import Line, ResultTable
from shortlist.papers.tables import PAPERS
from shortlist.runs import open_study

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
COLOURS = ("#0b5fa5", "#d1495b", "#6a994e", "#e08e45", "#7b4fa3", "#5c677d", "#2a9d8f", "#8d5524")
MARKS = "osD^vPX*"


def draw(table: ResultTable, path: Path) -> None:
    """Draw what a table shows, a panel for each word that its lines name."""
    from matplotlib.figure import Figure

    picture = table.picture
    assert picture is not None
    names = list(dict.fromkeys(line.panel for line in picture.lines))
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    figure = Figure(
        figsize=(3.7 * columns if len(names) > 1 else 7.5, 2.7 * rows + 1.5), layout="constrained"
    )
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel, name in zip(panels, names, strict=False):
        _lines(panel, [line for line in picture.lines if line.panel == name])
        panel.set_title(name, fontsize=10)
        panel.grid(alpha=0.3)
    for panel in panels[len(names) :]:
        panel.axis("off")
    panels[0].legend(fontsize=8)
    figure.supxlabel(picture.x, fontsize=10)
    figure.supylabel(picture.y, fontsize=10)
    figure.savefig(path, dpi=90)


def _lines(panel: Any, lines: Sequence[Line]) -> None:
    for place, line in enumerate(lines):
        x, y = zip(*line.points, strict=True)
        colour, mark = COLOURS[place % len(COLOURS)], MARKS[place % len(MARKS)]
        panel.plot(x, y, "-" if line.joined else mark, color=colour, lw=1.6, ms=5, label=line.name)
        if line.band:
            panel.fill_between(x, *zip(*line.band, strict=True), color=colour, alpha=0.2, lw=0)


def main() -> None:
    """Write the rows of all finished units, and the pictures of the tables that are named."""
    parser = argparse.ArgumentParser()
    parser.add_argument("paper", choices=PAPERS)
    parser.add_argument("study", type=Path)
    parser.add_argument("--scale", default="medium")
    parser.add_argument("--tables", default="")
    given = parser.parse_args()
    with open_study(given.study) as study:
        finished = list(study.results().values())
    found = [row for one in finished for row in one["rows"]]
    seconds = sum(one["seconds"] for one in finished)
    case = {"case": f"reproduce-{given.paper} {given.scale}"}
    write_rows(f"reproduce-{given.paper}", [case | row for row in found])
    print(f"{len(finished):,} units, {seconds:,.0f} s")
    for table in PAPERS[given.paper].make_tables(pd.DataFrame(found)):
        if table.name in given.tables.split(",") and table.picture is not None:
            draw(table, PICTURES / f"{given.paper}-{table.name}.png")
            print(f"{given.paper}-{table.name}.png")


if __name__ == "__main__":
    main()
