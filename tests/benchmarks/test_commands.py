"""Commands that benchmarks and documents name are commands that exist."""

import re
import runpy
from pathlib import Path

import pytest

from benchmarks.registry import load_cases

ROOT = Path(__file__).parents[2]
STUDIES = runpy.run_module("benchmarks")["STUDIES"]


def _named() -> set[tuple[str, str]]:
    places = [*(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "CONTRIBUTING.md"]
    return {
        (path.name, name)
        for path in places
        for names in re.findall(r"python -m benchmarks((?: [a-z][a-z-]*)+)", path.read_text())
        for name in names.split()
    }


@pytest.mark.parametrize(("file", "name"), sorted(_named()))
def test_a_study_that_is_named_can_be_run(file: str, name: str) -> None:
    assert name == "speed" or name in STUDIES, file


def test_every_study_is_named_where_it_is_written() -> None:
    named = {name for file, name in _named() if file != "__main__.py"}
    assert named >= set(STUDIES)


def test_every_case_has_a_file_of_its_own_and_sizes() -> None:
    cases = load_cases().values()
    assert cases
    assert all(case.sizes for case in cases)
