"""The page: what it shows, what it escapes, and that it loads nothing."""

import json
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.report.page import POLICY, Table, front_page, write_page
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof, ProofKind

HOSTILE = "</script><script src='https://evil.example/x.js'></script><img src=x onerror=alert(1)> & \"cost\""
LOADING = {"src", "href", "srcset", "data", "action", "poster", "xlink:href"}


class Reader(HTMLParser):
    """Collects what a browser would: elements with attributes, text outside scripts, and scripts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.text += data


def front_of(name: str, values: list[list[float]]) -> Front:
    goals = (Objective(name, Sense.MAX, unit=HOSTILE), Objective("worth"), Objective("size"))
    return Front.from_values(
        goals, np.array(values, dtype=float).reshape(-1, 3), np.zeros((len(values), 0), int), (), Proof(ProofKind.APPROXIMATE)
    )  # fmt: skip


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


@pytest.fixture(scope="module")
def page() -> str:
    fronts = {HOSTILE: front_of(HOSTILE, [[1, 2, 3], [4, 5, 6]]), "other": front_of(HOSTILE, [[7.5, 8, 9]]),
              "none": front_of(HOSTILE, [])}  # fmt: skip
    table = Table(HOSTILE, ("method", HOSTILE), ((HOSTILE, "1"), ("other", "2")), (HOSTILE,))
    return front_page(HOSTILE, fronts, tables=[table], notes=[HOSTILE])


def test_nothing_is_loaded_and_hostile_names_stay_text(page: str) -> None:
    found = read(page)
    tags = [tag for tag, _ in found.elements]
    assert "img" not in tags
    assert {tag for tag in tags if tag in {"link", "iframe", "object", "embed", "base", "form"}} == set()
    for tag, attributes in found.elements:
        assert not LOADING & set(attributes), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes)
    assert (
        found.text.count(HOSTILE) >= 6
    )  # title, heading, note, table heading, column, cell, note of the table
    policies = [a["content"] for t, a in found.elements if t == "meta" and "http-equiv" in a]
    assert policies == [POLICY]
    assert "default-src 'none'" in POLICY
    assert "http" not in POLICY
    for purpose in ("connect-src", "form-action", "base-uri"):
        assert f"{purpose} 'none'" in POLICY


def test_plotly_is_told_before_any_chart_to_share_nothing_and_know_no_server(page: str) -> None:
    scripts = read(page).scripts
    told = [i for i, script in enumerate(scripts) if script.startswith("Plotly.setPlotConfig(")]
    charts = [i for i, script in enumerate(scripts) if "Plotly.newPlot(" in script and len(script) < 100_000]

    assert len(told) == 1
    assert told[0] < min(charts)
    config = json.loads(scripts[told[0]].removeprefix("Plotly.setPlotConfig(").removesuffix(");"))
    assert (config["showSendToCloud"], config["plotlyServerURL"]) == (False, "")
    for chart in charts:
        assert '"showSendToCloud": false' in scripts[chart]
        assert "plotly.com" not in scripts[chart]


def test_names_in_charts_are_escaped_twice_over(page: str) -> None:
    charts = [script for script in read(page).scripts if "Plotly.newPlot" in script and len(script) < 100_000]
    assert len(charts) == 2
    for script in charts:
        assert "evil.example" in script  # it is shown
        assert "</script" not in script
        assert "<img" not in script
        assert "<script" not in script


def test_plotly_is_inside_once_and_values_are_in_the_charts(page: str) -> None:
    scripts = read(page).scripts
    assert sum(len(script) > 1_000_000 for script in scripts) == 1
    assert page.count("parcoords") >= 1
    assert any("scattergl" in script and len(script) < 100_000 for script in scripts)


def test_one_objective_has_one_chart_and_no_points_none() -> None:
    goal = (Objective("cost"),)
    one = Front.from_values(goal, np.array([[3.0]]), np.zeros((1, 0), int), (), Proof(ProofKind.COMPLETE))
    none = Front.from_values(goal, np.zeros((0, 1)), np.zeros((0, 0), int), (), Proof(ProofKind.COMPLETE))
    assert front_page("t", {"a": one}).count("Plotly.newPlot(") == front_page("t", {"a": one}).count(
        "<div id="
    )
    empty = front_page("t", {"a": none})
    assert "There are no points to show." in empty
    assert len(empty) < 5_000
    assert read(front_page("t", {})).text.count("no points") == 1


def test_fronts_over_other_objectives_are_refused() -> None:
    with pytest.raises(BadInputError, match="the same objectives"):
        front_page("t", {"a": front_of("x", [[1, 2, 3]]), "b": front_of("y", [[1, 2, 3]])})


def test_lines_are_aligned() -> None:
    table = Table("t", ("method", "n"), (("a", "10"), ("longer", "9")))
    assert table.lines() == ["method   n", "a       10", "longer   9"]


def test_a_page_is_written_whole(tmp_path: Path) -> None:
    write_page(tmp_path / "x.html", "<p>π</p>")
    assert (tmp_path / "x.html").read_text(encoding="utf-8") == "<p>π</p>"
    with pytest.raises(BadInputError, match="folder does not exist"):
        write_page(tmp_path / "no" / "x.html", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.html"]
