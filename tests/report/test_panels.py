"""The page of a panel, by its HTML: the flow, the verdict, and what one gets for how much."""

import json
import re
from html import escape

import pytest

from shortlist.report.page import Chart, Picture, Table, Text, page
from shortlist.report.panels import _first_ways, panel_parts
from tests.panels.made import JUDGES
from tests.panels.test_facts import FINALS, made


@pytest.mark.parametrize("final", FINALS)
@pytest.mark.parametrize("promise", [False, True])
def test_the_page_says_all_that_is_told_and_no_tag_comes_from_a_name(final: str, *, promise: bool) -> None:
    _, report = made(final, promise=promise)
    told, html = report.facts, page("Panel", panel_parts(report))
    for sentence in [*told["in_words"], *told["verdict"], *told["notes"]]:
        assert f">{escape(sentence)}</p>" in html
    body = re.sub(r"<script.*?</script>|<style.*?</style>", "", html, flags=re.DOTALL)
    assert "<other>" not in html
    assert "<b>" not in body
    assert ("What is promised" in html) == promise
    assert len(re.findall("<svg ", body)) == 1


def test_a_page_whose_panel_is_not_what_to_do_says_so_before_its_steps() -> None:
    for final in FINALS:
        report = made(final)[1]
        words = [part.text for part in panel_parts(report) if isinstance(part, Text)]
        is_advised = report.facts["advice"] is not None
        assert words[0] == (report.facts["advice"] if is_advised else "Use this panel.")
        is_other = report.facts["take"] == "single" or report.facts["advice"] != report.facts["sentence"]
        assert ("The panel of this page, which is not the one to use:" in words) == (is_advised and is_other)


def test_the_picture_has_each_stage_with_its_share_and_price() -> None:
    _, report = made("hand-over")
    told = report.facts
    (drawn,) = (part for part in panel_parts(report) if isinstance(part, Picture))
    for stage in told["stages"]:
        assert f"({100 * stage['answered']:.3g} % of all cases)" in drawn.svg
        assert f"price {stage['price']:.6g}" in drawn.svg
    assert f": {100 * told['final']['share']:.3g} %" in drawn.svg


def test_the_chart_has_every_judge_every_panel_and_this_panel() -> None:
    _, report = made()
    told = report.facts
    (chart,) = (part for part in panel_parts(report) if isinstance(part, Chart))
    panels, two, judges, own = (series["points"] for series in chart.data["series"])
    assert [one[0] for one in panels] == sorted(row["price"] for row in told["front"])
    assert [one[:2] for one in two] == sorted(
        [row["price"], row["accuracy"]] for row in told["cascades_of_two"]
    )
    assert [one[:2] for one in judges] == [[row["price"], row["accuracy"]] for row in told["judges"]]
    assert [one[:2] for one in own] == [[told["held_out"]["price"], told["held_out"]["accuracy"]]]
    assert chart.numbers is not None
    assert {row[0] for row in chart.numbers.rows} >= {*JUDGES}
    json.dumps(chart.data, allow_nan=False)


def test_tables_have_a_cell_for_each_column() -> None:
    for final in FINALS:
        for promise in (False, True):
            parts = panel_parts(made(final, promise=promise)[1])
            tables = [part for part in parts if isinstance(part, Table)]
            assert len(tables) == 4
            for table in tables:
                assert {len(row) for row in table.rows} == {len(table.columns)}


def test_seconds_have_a_column_only_where_they_are_known() -> None:
    for latency in (False, True):
        tables = [part for part in panel_parts(made(latency=latency)[1]) if isinstance(part, Table)]
        with_seconds = ["seconds" in table.columns for table in tables]
        assert with_seconds == [latency, latency, False, latency]
        assert all(len(row) == len(table.columns) for table in tables for row in table.rows)


def test_under_a_promise_it_is_told_once_and_there_is_nothing_of_two_judges() -> None:
    _, report = made("hand-over", promise=True)
    assert report.guarantee is not None
    html = page("Panel", panel_parts(report))
    assert html.count(escape(report.guarantee.sentence("cases"))) == 1
    assert "at most two judges" not in html
    assert "at most two judges" in page("Panel", panel_parts(made("hand-over")[1]))


@pytest.mark.parametrize(
    ("stages", "shown"),
    [
        ("a, then b", "a, then b"),
        ("by topic: a | b, then c", "by topic: a | b, then c"),
        ("by topic: a | b, then c | d | e", "by topic: a | b, then c | 2 more"),
    ],
)
def test_a_cell_names_the_first_branches_of_a_router_and_counts_the_others(stages: str, shown: str) -> None:
    assert _first_ways(stages) == shown
