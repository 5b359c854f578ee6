"""Each paper has one list of deviations, which its page of results repeats."""

import re
from pathlib import Path

import pytest

from shortlist.papers.tables import PAPERS

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def _plain(text: str) -> str:
    """Return a text without its line breaks and without the marks of Markdown that emphasise."""
    return re.sub(r"\s+", " ", text.replace("`", "").replace("*", ""))


@pytest.mark.parametrize("name", PAPERS)
def test_the_page_of_a_paper_has_its_deviations_and_no_others(name: str) -> None:
    page = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    (section,) = re.findall(
        r"^## Where this is not what the paper did\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL
    )
    listed = re.findall(r"^- (.*?)(?=^- |^\n|\Z)", section, re.MULTILINE | re.DOTALL)
    assert PAPERS[name].deviations
    assert [_plain(text).strip() for text in listed] == [_plain(text) for text in PAPERS[name].deviations]
