"""The page: what it shows, what it escapes, and that it loads nothing."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from shortlist.errors import BadInputError
from shortlist.report.fronts import front_parts
from shortlist.report.page import (
    Branch,
    Chart,
    Facts,
    Heading,
    Table,
    Text,
    Tree,
    as_json,
    page,
    policy,
    write_page,
)
from tests.report.made import HOSTILE, front_of

LOADING = {"src", "href", "srcset", "data", "action", "poster", "xlink:href", "style"}


class Reader(HTMLParser):
    """Collects what a browser would: elements with attributes, text outside scripts, scripts and styles."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self._tag = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._tag = tag
        if tag in self.inside:
            self.inside[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._tag:
            self._tag = ""

    def handle_data(self, data: str) -> None:
        if self._tag in self.inside:
            self.inside[self._tag][-1] += data
        else:
            self.text += data


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    return reader


@pytest.fixture(scope="module")
def found() -> Reader:
    table = Table(HOSTILE, ("method", HOSTILE), ((HOSTILE, "1"), ("other", "2")), (HOSTILE,))
    front = front_of([[1, 2, 3], [4, 5, 6]], n_candidates=2, names=[HOSTILE, "b"], method=HOSTILE)
    line = {"kind": "line", "x": {"label": HOSTILE}, "y": {"label": HOSTILE},
            "series": [{"name": HOSTILE, "points": [[0, 1]]}]}  # fmt: skip
    parts = [
        Heading(HOSTILE),
        Text(HOSTILE),
        Facts(((HOSTILE, HOSTILE),)),
        table,
        Chart(HOSTILE, HOSTILE, line, table, (HOSTILE,)),
        Tree(HOSTILE, (Branch(HOSTILE, below=(Branch(HOSTILE, chosen=False),)),)),
        *front_parts({HOSTILE: front, "other": front}),
    ]
    return read(page(HOSTILE, parts, notes=[HOSTILE]))


def test_nothing_is_loaded_and_hostile_names_stay_text(found: Reader) -> None:
    tags = {tag for tag, _ in found.elements}
    assert tags & {"img", "link", "iframe", "object", "embed", "base", "form"} == set()
    for tag, attributes in found.elements:
        assert not LOADING & set(attributes), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes)
    assert found.text.count(HOSTILE) >= 16


def test_the_policy_lets_run_what_is_inside_and_nothing_else(found: Reader) -> None:
    policies = [a["content"] for t, a in found.elements if t == "meta" and "http-equiv" in a]
    assert policies == [policy()]
    assert policy().startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy()
    assert "connect-src" not in policy()
    assert "http" not in policy()
    (style,) = found.inside["style"]
    script = found.inside["script"][-1]
    for text, kind in ((script, "script"), (style, "style")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy()


def test_data_cannot_end_their_element_and_are_read_as_they_were(found: Reader) -> None:
    data = [json.loads(text) for text in found.inside["script"][:-1]]
    assert len(data) == 2
    assert data[0]["series"][0]["name"] == HOSTILE
    assert data[1]["groups"][0]["name"] == HOSTILE
    assert "<" not in as_json({"name": HOSTILE})


def test_the_script_makes_no_html_from_text_and_needs_no_evaluation(found: Reader) -> None:
    script = found.inside["script"][-1]
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|fetch\(|XMLHttp"
    )
    assert re.findall(forbidden, script) == []


def test_a_page_without_data_is_small(found: Reader) -> None:
    assert found.elements
    assert len(page("t", [])) < 150_000


def test_lines_are_aligned() -> None:
    table = Table("t", ("method", "n"), (("a", "10"), ("longer", "9")))
    assert table.lines() == ["method   n", "a       10", "longer   9"]


def test_a_page_is_written_whole(tmp_path: Path) -> None:
    write_page(tmp_path / "x.html", "<p>π</p>")
    assert (tmp_path / "x.html").read_text(encoding="utf-8") == "<p>π</p>"
    with pytest.raises(BadInputError, match="folder does not exist"):
        write_page(tmp_path / "no" / "x.html", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.html"]


def test_columns_of_words_are_text_and_long_cells_break() -> None:
    table = Table("Judges", ("who", "price", "asks"), (("a " * 40, "1.5", "none"), ("b", "unknown", "small")))
    html = page("Page", [table])
    assert '<th scope="col">price</th><th scope="col" class="text">asks</th>' in html
    assert f'<th scope="row" class="text long">{"a " * 40}</th><td>1.5</td><td class="text">none</td>' in html


def test_numbered_names_are_text_and_not_numbers() -> None:
    table = Table(
        "Stages", ("where", "stage", "price"), (("law", "1. small", "1.5"), ("law", "2. large", "2"))
    )
    html = page("Page", [table])
    assert '<th scope="col" class="text">stage</th><th scope="col">price</th>' in html
    assert '<td class="text">2. large</td><td>2</td>' in html
