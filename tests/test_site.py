"""The site is made without a warning, and every public name has its page."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import shortlist
from shortlist import ensembles, multistage, products

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_the_site_is_made_without_a_warning_and_has_every_public_name(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", ROOT / "docs", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    described = {
        page.stem.rpartition(".")[2] for page in (tmp_path / "reference" / "api" / "names").iterdir()
    }
    for package in (shortlist, ensembles, multistage, products):
        assert set(package.__all__) <= described
    assert not re.search(r"system-message", (tmp_path / "index.html").read_text())
