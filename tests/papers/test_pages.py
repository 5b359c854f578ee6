"""A paper as a page: panels of its figures, and each title once."""

import pandas as pd

from shortlist.papers.pages import paper_parts
from shortlist.papers.paper import Line, Paper, Picture, Plan, Reproduction, ResultTable
from shortlist.report.page import page
from shortlist.report.parts import Chart

PAPER = Paper("p", "P", lambda _folder, _extent: Plan((), {}), lambda _rows: [], {}, ())


def found(table: ResultTable) -> Reproduction:
    return Reproduction((table,), pd.DataFrame(), 1, 1, 0.0, ())


def figure(*lines: Line) -> ResultTable:
    return ResultTable(
        "figure-1", "The figure", [{"a": 1}], picture=Picture("What one sees.", "x", "y", lines)
    )


def test_lines_stand_in_the_panel_that_they_name() -> None:
    lines = (
        Line("ours", ((0, 1),), panel="A"),
        Line("theirs", ((0, 2),), panel="A"),
        Line("ours", ((0, 3),), panel="B"),
    )
    (chart,) = [part for part in paper_parts(PAPER, found(figure(*lines))) if isinstance(part, Chart)]
    assert "series" not in chart.data
    drawn = {
        panel["name"]: {one["name"]: one["points"] for one in panel["series"]}
        for panel in chart.data["panels"]
    }
    assert drawn == {"A": {"ours": [[0, 1]], "theirs": [[0, 2]]}, "B": {"ours": [[0, 3]]}}


def test_lines_without_panels_stand_in_one_chart() -> None:
    lines = (Line("ours", ((0, 1),), band=((0, 2),)), Line("theirs", ((0, 2),), joined=False))
    (chart,) = [part for part in paper_parts(PAPER, found(figure(*lines))) if isinstance(part, Chart)]
    assert "panels" not in chart.data
    assert [(one["name"], one["line"]) for one in chart.data["series"]] == [("ours", True), ("theirs", False)]
    assert chart.data["series"][0]["band"] == [[0, 2]]


def test_each_title_is_seen_once() -> None:
    for table in (ResultTable("table-1", "The table", [{"a": 1}]), figure(Line("ours", ((0, 1),)))):
        html = page("P", paper_parts(PAPER, found(table)))
        seen = html.count(f">{table.title}<") - html.count(f' class="visually-hidden">{table.title}<')
        assert seen == 1
        assert f"<h2>{table.title}</h2>" in html
