"""The page beside an answer: written where it was asked for, told, and named in the JSON."""

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pytest

from shortlist.cli.text.result_page import page_path, save_page, tell_page
from shortlist.report.parts import Part, Text


def test_a_page_is_made_and_told_where_it_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def parts() -> Sequence[Part]:
        return [Text("one <part>")]

    path = save_page(tmp_path / "x.html", "Result & more", parts)
    assert path == tmp_path / "x.html"
    text = path.read_text(encoding="utf-8")
    assert "<h1>Result &amp; more</h1>" in text
    assert "<p>one &lt;part&gt;</p>" in text
    tell_page(path)
    assert capsys.readouterr().out == f"Report in {path}.\n"
    assert page_path(path) == {"report": str(path)}


def test_nothing_is_made_where_no_page_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    def parts() -> NoReturn:
        raise AssertionError

    assert save_page(None, "t", parts) is None
    tell_page(None)
    assert capsys.readouterr().out == ""
    assert page_path(None) == {"report": None}
