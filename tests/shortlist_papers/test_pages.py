"""The pages of the papers are made of stored rows, and no other number stands on them."""

import re
from pathlib import Path

import pytest

from benchmarks.studies.headline_pictures import HEADLINES, HeadlineValue, headline_svg
from benchmarks.studies.paper_results import BLOCK, page_of, rows_of
from shortlist_papers.papers import PAPERS

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
NO_FIGURE = re.compile(
    r"\(\d{4}\)|decisions?/\d+\S*|decision \d+|(?:Table|Figure|Section)s? [\d.]+(?: and \d+)?|k = \d|F1|\]\([^)]*\)|`[^`]*`"
)
"""Texts with digits that are no figure: years, links, numbers of tables, file names."""


@pytest.mark.parametrize("name", PAPERS)
def test_a_page_is_what_the_stored_rows_make_of_it(name: str) -> None:
    page = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    assert page_of(name, page) == page
    blocks = [match[2] for match in BLOCK.finditer(page)]
    assert blocks[0] == "claims"
    assert "deviations" in blocks


@pytest.mark.parametrize("name", HEADLINES)
def test_the_picture_of_a_headline_is_what_the_stored_rows_make_of_it(name: str) -> None:
    stored = (ROOT / "docs" / "pictures" / f"{name}-headline.svg").read_text(encoding="utf-8")
    assert _without_digits(HEADLINES[name](rows_of(name))) == _without_digits(stored)
    assert f"../pictures/{name}-headline.svg" in (RESULTS / f"{name}.md").read_text(encoding="utf-8")


def _without_digits(svg: str) -> str:
    """A picture with its places rounded, as the last digit of a place depends on the processor."""
    return re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.0f}", svg)


def test_a_picture_of_a_headline_has_each_value_at_its_place() -> None:
    svg = headline_svg(
        "A & B", "points", [HeadlineValue("one", 1.0, 1.0, 3.0), HeadlineValue("two", 2.0, 0.0)]
    )
    assert "<title>A &amp; B</title>" in svg
    dots = [float(one) for one in re.findall(r'<circle cx="([\d.]+)"', svg)]
    (diamond,) = [float(one) for one in re.findall(r'<path d="M([\d.]+) ', svg)]
    assert diamond - dots[1] == pytest.approx(dots[1] - dots[0], abs=0.3)
    left, right = re.findall(r'<line x1="([\d.]+)" y1="\d+" x2="([\d.]+)" y2="\d+" stroke="#0b5fa5"', svg)[0]
    assert float(left) + float(right) == pytest.approx(2 * dots[0], abs=0.3)
    assert "the paper" in svg
    assert "the paper" not in headline_svg("A", "points", [HeadlineValue("one", 1.0, 1.0)], zero=0.0)


@pytest.mark.parametrize("name", PAPERS)
def test_a_page_has_no_number_outside_of_its_tables(name: str) -> None:
    page = BLOCK.sub("", (RESULTS / f"{name}.md").read_text(encoding="utf-8"))
    sections = re.split(r"^## ", page, flags=re.MULTILINE)
    named = [
        one for one in sections if re.search(r"`[\w/-]+\.csv`", one)
    ]  # sections of another study name its rows
    for section in sections:
        if section not in named or section is sections[0]:
            assert re.findall(r"[\d.]*\d[\d.,]*", NO_FIGURE.sub("", section)) == [], section


@pytest.mark.parametrize("page", sorted(RESULTS.glob("*.md")), ids=lambda path: path.stem)
def test_every_page_of_results_names_the_rows_behind_its_numbers(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if page.stem == "index":
        return
    files = set(re.findall(r"`(?:benchmarks/results/)?([\w-]+\.csv)`", text))
    assert files
    assert [name for name in files if not (ROOT / "benchmarks" / "results" / name).is_file()] == []


MEASURED = re.compile(r"\b(trials?|our runs|we measured|was measured|splits of|runs of)\b", re.IGNORECASE)
FIGURE = re.compile(r"(?<![\w-])\d*\.\d+\b|\d %")
SOURCE = re.compile(r"results/|decisions/|\.csv")


@pytest.mark.parametrize("folder", ["how-to", "explanation"])
def test_what_a_guide_says_was_measured_names_where(folder: str) -> None:
    unnamed = [
        (page.name, paragraph[:80])
        for page in sorted((ROOT / "docs" / folder).glob("*.md"))
        for paragraph in page.read_text(encoding="utf-8").split("\n\n")
        if MEASURED.search(paragraph) and FIGURE.search(paragraph) and not SOURCE.search(paragraph)
    ]
    assert unnamed == []
