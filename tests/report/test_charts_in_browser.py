"""Every kind of chart in a browser: nothing is cut or lies outside, names are text, and axe finds nothing."""

from typing import Any

import numpy as np
import pytest

from shortlist.report.held_out import confusion_chart
from shortlist.report.page import Branch, Chart, Facts, Heading, Parts, Table, Text, Tree, page
from shortlist.report.stages import PATHS
from tests.report.browsing import Open
from tests.report.made import HOSTILE

pytestmark = pytest.mark.slow

NAMES = ("exact", "complementariness", "Wwwwwwwwwwww-Mmmmmmmmmmm", "margin-distance", "i")
SERIES = [{"name": name, "points": [[k, k * k + i] for k in range(9)]} for i, name in enumerate(NAMES)]

CHARTS: dict[str, dict[str, Any]] = {
    "lines": {"kind": "line", "x": {"label": "members", "whole": True}, "y": {"label": "accuracy on the selection rows"},
              "series": SERIES, "marks": [{"at": 1, "text": "more than 1"}, {"at": 8, "text": "more than 8"}]},
    "steps": {"kind": "line", "x": {"label": "seconds"}, "y": {"label": "value"},
              "series": [{"name": "value", "step": True, "points": [[0, 0.1], [0.5, 0.3], [1, 0.3]]}]},
    "dots": {"kind": "line", "x": {"label": "seconds, in powers of ten", "log": True}, "y": {"label": "hypervolume"},
             "series": [{"name": "a", "line": False, "points": [[0.2, 1, "a, seed 1"], [9, 2, "a, seed 2"]]}]},
    "panels": {"kind": "line", "x": {"label": "generation"}, "y": {"label": "chromosomes of the front, %"},
               "panels": [{"name": f"Credit, k = {k}", "series": SERIES[:2]} for k in range(4)]},
    "bars": {"kind": "bar", "names": list(NAMES), "x": {"label": "share of the points in %"},
             "series": [{"name": "one", "values": [5, 4, 3, 2, 1]}, {"name": "two", "values": [-1, None, 1e7, 0, 1e-7]}]},
    "boxes": {"kind": "box", "names": list(NAMES), "x": {"label": "Balanced accuracy on the test rows of a fold; more is better"},
              "values": [[1, 2, 3, 9], [2], [], [0.5, 0.5], [3, None, 4]]},
    "counts": {"kind": "counts", "rows": list(NAMES), "columns": list(NAMES), "x": {"label": "% of the rows answered alike"},
               "values": [[i * k for k in range(5)] for i in range(5)]},
    "many counts": {"kind": "counts", "rows": [f"member-{i}" for i in range(24)], "columns": [f"member-{i}" for i in range(24)],
                    "x": {"label": "%"}, "values": [[100] * 24] * 24},
    "ranks": {"kind": "ranks", "names": list(NAMES), "ranks": [1.2, 1.9, 3.0, 4.4, 4.5], "critical": 1.1,
              "groups": [[1.2, 1.9], [4.4, 4.5]]},
    "many ranks": {"kind": "ranks", "names": [f"method-{i}" for i in range(30)], "ranks": [i + 1 for i in range(30)],
                   "critical": None, "groups": []},
}  # fmt: skip
"""What each kind draws, with names that are long, short and missing values."""

OUTSIDE = """() => [...document.querySelectorAll('figure svg')].flatMap((svg) => {
  const own = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBoundingClientRect()])
    .filter(([, box]) => box.left < own.left - 1 || box.right > own.right + 1 || box.top < own.top - 1 || box.bottom > own.bottom + 1)
    .map(([words]) => words);
})"""

ON_TOP = """() => [...document.querySelectorAll('figure svg')].flatMap((svg) => {
  const boxes = [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([one, a], i) => boxes.slice(i + 1)
    .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
    .map(([other]) => `${one} / ${other}`));
})"""


def chart_parts() -> Parts:
    charts = [
        Chart(title, f"What {title} show.", data, Table(title, ("name", "n"), (("a", "1"),)))
        for title, data in CHARTS.items()
    ]
    return [Heading("Charts"), *charts, *other_parts("plain")]


def other_parts(name: str) -> Parts:
    tree = Tree(name, (Branch(name, below=(Branch(name), Branch(name, chosen=False))),))
    return [Heading(name), Text(name), Facts(((name, name),)), Table(name, (name, "n"), ((name, "1"),)), tree]


@pytest.mark.parametrize("width", [360, 1280, 3840])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_of_charts_are_inside_and_apart_on_every_screen(
    open_page: Open, width: int, theme: str
) -> None:
    opened = open_page(page("Charts", chart_parts()), width=width, theme=theme)
    drawn = opened.page.locator("figure svg")
    assert drawn.count() == len(CHARTS) + 3, "one has four panels"
    assert opened.page.evaluate(OUTSIDE) == []
    assert opened.page.evaluate(ON_TOP) == []
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    assert (opened.complaints, opened.requests) == ([], [])


def test_charts_show_what_they_are_given(open_page: Open) -> None:
    opened = open_page(page("Charts", chart_parts()))

    def drawn(title: str) -> Any:
        return opened.page.locator("figure", has=opened.page.get_by_role("heading", name=title, exact=True))

    assert drawn("lines").locator("path").count() == 5
    assert drawn("panels").locator("svg").count() == 4
    assert drawn("panels").locator("path").count() == 8
    assert drawn("panels").locator("h4").all_text_contents() == [f"Credit, k = {k}" for k in range(4)]
    assert drawn("dots").locator("path").count() == 0
    assert drawn("dots").locator("circle title").all_text_contents() == ["a, seed 1", "a, seed 2"]
    assert drawn("bars").locator("rect title").all_text_contents()[:3] == [
        "exact, one: 5",
        "exact, two: -1",
        "complementariness, one: 4",
    ]
    assert drawn("boxes").locator("circle").count() == 9
    assert (
        drawn("counts").locator("rect title").all_text_contents()[8]
        == "complementariness, margin-distance: 3"
    )
    assert "critical difference 1.1" in drawn("ranks").inner_text()
    assert drawn("ranks").locator("svg").get_attribute("aria-label") == "What ranks show."


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_right_is_blue_and_what_is_wrong_orange(open_page: Open, theme: str) -> None:
    rows = {name: {"name": name, "ink": ink, "values": [1]} for name, ink in PATHS.items()}
    path = {"kind": "bar", "names": ["stage 1"], "x": {"label": "rows"}, "series": list(rows.values())}
    confusion = confusion_chart("Confusion", np.array([[5, 1], [2, 5]]), np.array(["no", "yes"]))
    opened = open_page(page("Colours", [Chart("Path", "A path.", path), confusion]), theme=theme)
    fills = (
        "(svg) => [...svg.querySelectorAll('rect')].map((one) => [one.textContent, one.getAttribute('fill')])"
    )
    bars, cells = (dict(opened.page.locator("figure svg").nth(i).evaluate(fills)) for i in (0, 1))
    right, wrong = bars["stage 1, right: 1"], bars["stage 1, wrong: 1"]
    assert (right, wrong) == {"light": ("#0072b2", "#d55e00"), "dark": ("#56b4e9", "#ff8a4c")}[theme]
    assert cells == {"no, no: 5": right, "no, yes: 1": wrong, "yes, no: 2": wrong, "yes, yes: 5": right}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_any_chart(open_page: Open, theme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    opened = open_page(page("Charts", chart_parts()), theme=theme)
    for summary in opened.page.locator("main > details > summary").all():
        summary.click()
    found: Any = axe.run(opened.page).response["violations"]
    assert [(one["id"], one["impact"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_a_thousand_hostile_names_are_text_in_every_chart(open_page: Open) -> None:
    names = [f"{HOSTILE} {i}" for i in range(1000)]
    few = names[:40]
    charts: list[dict[str, Any]] = [
        {"kind": "bar", "names": names, "x": {"label": HOSTILE}, "series": [{"name": HOSTILE, "values": [1] * 1000}]},
        {"kind": "box", "names": names, "x": {"label": HOSTILE}, "values": [[1, 2]] * 1000},
        {"kind": "line", "x": {"label": HOSTILE}, "y": {"label": HOSTILE}, "marks": [{"at": 0, "text": HOSTILE}],
         "series": [{"name": name, "points": [[0, 1, HOSTILE]]} for name in few]},
        {"kind": "counts", "rows": few, "columns": few, "x": {"label": HOSTILE}, "values": [[1] * 40] * 40},
        {"kind": "ranks", "names": names, "ranks": list(range(1, 1001)), "critical": 3, "groups": []},
    ]  # fmt: skip
    shown: list[Any] = [Chart(HOSTILE, HOSTILE, data, notes=(HOSTILE,)) for data in charts]
    trees = [Tree(HOSTILE, tuple(Branch(name, below=(Branch(name),)) for name in names))]
    opened = open_page(page(HOSTILE, [*shown, *other_parts(HOSTILE), *trees]))
    assert opened.page.locator("figure svg").count() == len(charts)
    assert opened.page.locator("main ul.tree li", has_text=names[999]).count() == 2
    titles = opened.page.locator("figure svg title").all_text_contents()
    assert any(names[999] in title for title in titles)
    assert opened.page.locator("img, script[src], main script:not([type])").count() == 0
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert (opened.complaints, opened.requests) == ([], [])
