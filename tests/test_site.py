"""The site is made without a warning, every public name has its page, and no example or table is cut off."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import shortlist
from shortlist import ensembles, multistage, products

ROOT = Path(__file__).parent.parent


CUT = """(mayScroll) => [
  ...[...document.querySelectorAll('pre')].filter((block) => block.scrollWidth > block.clientWidth),
  ...[...document.querySelectorAll('article table')].filter(
    (table) => table.scrollWidth > table.parentElement.clientWidth + 1
      && !(mayScroll && getComputedStyle(table.parentElement).overflowX === 'auto')),
].map((block) => block.textContent)"""
"""Examples and tables beyond the right edge of what holds them; only tables of results may scroll there."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    ran = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", ROOT / "docs", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return folder


@pytest.mark.slow
def test_the_site_is_made_without_a_warning_and_has_every_public_name(site: Path) -> None:
    described = {page.stem.rpartition(".")[2] for page in (site / "reference" / "api" / "names").iterdir()}
    for package in (shortlist, ensembles, multistage, products):
        assert set(package.__all__) <= described
    assert not re.search(r"system-message", (site / "index.html").read_text())


@pytest.mark.slow
@pytest.mark.parametrize("width", [420, 1280])
def test_no_example_and_no_table_is_cut_off(site: Path, chromium: Any, width: int) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    rooms = (".", "how-to", "tutorials", "explanation", "results", "reference", "reference/api")
    for file in [file for room in rooms for file in (site / room).glob("*.html")]:
        page.goto(file.as_uri(), wait_until="domcontentloaded")
        assert (file.name, page.evaluate(CUT, file.parent.name == "results")) == (file.name, [])
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()
