"""Each paper has one list of deviations, which its page of results repeats."""

import re
from pathlib import Path

import pytest

from shortlist.reproduce.papers import PAPERS

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def _plain(text: str) -> str:
    """Return a text without its line breaks and without the marks of Markdown that emphasise."""
    return re.sub(r"\s+", " ", text.replace("`", "").replace("*", ""))


@pytest.mark.parametrize("name", [name for name in PAPERS if (RESULTS / f"{name}.md").is_file()])
def test_the_page_of_a_paper_has_every_sentence_of_its_deviations(name: str) -> None:
    page = _plain((RESULTS / f"{name}.md").read_text(encoding="utf-8"))
    assert PAPERS[name].deviations
    for sentence in PAPERS[name].deviations:
        assert _plain(sentence) in page, f"docs/results/{name}.md lacks: {sentence}"
