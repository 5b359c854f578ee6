"""Tables of results as text."""

import platform

import pandas as pd

import shortlist
from shortlist.report.page import Chart, page
from shortlist_papers.paper import Paper, PaperLine, PaperPicture, PaperPlan, Reproduction, ResultTable
from shortlist_papers.tables import (
    as_csv,
    as_markdown,
    as_text,
    listed_versions,
    paper_parts,
    processor,
    whole_numbers,
)

TABLE = ResultTable(
    "it", "It", [{"name": "a|b", "n": 12345, "share": 0.123456789}, {"name": "c", "n": None, "share": float("nan")}], "So."
)  # fmt: skip


def test_csv_keeps_every_digit() -> None:
    assert as_csv(TABLE.rows) == "name,n,share\na|b,12345,0.123456789\nc,,nan\n"


def test_columns_of_whole_numbers_are_integers_also_beside_rows_that_have_none() -> None:
    rows = pd.DataFrame([{"K": 40, "f": 0.5, "big": 1e300, "word": "a"}, {"word": "b", "f": 1.0, "on": True}])
    assert rows["K"].dtype == float
    written = whole_numbers(rows).to_csv(index=False)
    assert written == "K,f,big,word,on\n40,0.5,1e+300,a,\n,1.0,,b,True\n"


def test_columns_of_later_rows_are_not_lost() -> None:
    assert as_csv([{"a": 1}, {"b": 2}]) == "a,b\n1,\n,2\n"


def test_markdown_shows_words_left_and_numbers_right() -> None:
    assert as_markdown(TABLE) == (
        "## It\n\n| name | n | share |\n| --- | ---: | ---: |\n| a\\|b | 12,345 | 0.1235 |\n| c | - | - |\n\nSo.\n"
    )


def test_text_is_aligned() -> None:
    assert as_text(TABLE) == "It\nname       n   share\na|b   12,345  0.1235\nc          -       -\nSo."


def test_processor_and_versions_are_named() -> None:
    assert processor()
    assert listed_versions().startswith(
        f"shortlist {shortlist.__version__}; python {platform.python_version()}; "
    )
    assert "numpy" in listed_versions()


PAPER = Paper("p", "P", lambda _folder, _extent: PaperPlan((), {}), lambda _rows: [], {}, ())


def found(table: ResultTable) -> Reproduction:
    return Reproduction((table,), pd.DataFrame(), 1, 1, 0.0, ())


def figure(*lines: PaperLine) -> ResultTable:
    return ResultTable(
        "figure-1", "The figure", [{"a": 1}], picture=PaperPicture("What one sees.", "x", "y", lines)
    )


def test_lines_stand_in_the_panel_that_they_name() -> None:
    lines = (
        PaperLine("ours", ((0, 1),), panel="A"),
        PaperLine("theirs", ((0, 2),), panel="A"),
        PaperLine("ours", ((0, 3),), panel="B"),
    )
    (chart,) = [part for part in paper_parts(PAPER, found(figure(*lines))) if isinstance(part, Chart)]
    assert "series" not in chart.data
    drawn = {
        panel["name"]: {one["name"]: one["points"] for one in panel["series"]}
        for panel in chart.data["panels"]
    }
    assert drawn == {"A": {"ours": [[0, 1]], "theirs": [[0, 2]]}, "B": {"ours": [[0, 3]]}}


def test_lines_without_panels_stand_in_one_chart() -> None:
    lines = (PaperLine("ours", ((0, 1),), band=((0, 2),)), PaperLine("theirs", ((0, 2),), joined=False))
    (chart,) = [part for part in paper_parts(PAPER, found(figure(*lines))) if isinstance(part, Chart)]
    assert "panels" not in chart.data
    assert [(one["name"], one["line"]) for one in chart.data["series"]] == [("ours", True), ("theirs", False)]
    assert chart.data["series"][0]["band"] == [[0, 2]]


def test_each_title_is_seen_once() -> None:
    for table in (ResultTable("table-1", "The table", [{"a": 1}]), figure(PaperLine("ours", ((0, 1),)))):
        html = page("P", paper_parts(PAPER, found(table)))
        seen = html.count(f">{table.title}<") - html.count(f' class="visually-hidden">{table.title}<')
        assert seen == 1
        assert f"<h2>{table.title}</h2>" in html
