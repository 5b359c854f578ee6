"""Stored texts belong to tests that exist."""

import re
from pathlib import Path

import pytest

from tests.stored import SCREENS, table_of_refusals, texts_in

TESTS = Path(__file__).parent
TEXTS = sorted(SCREENS.rglob("test_*.txt"))
A_MACHINE = re.compile(r"(?<![\w.:/-])/(tmp|work|home|root|private|Users)/")
TABLES = [path.stem for path in (SCREENS / "refusals").iterdir()]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(SCREENS).as_posix())
def test_every_stored_text_has_its_test(path: Path) -> None:
    source = (TESTS / path.relative_to(SCREENS).with_suffix(".py")).read_text(encoding="utf-8")
    functions = {name.split("[")[0].split(" (")[0] for name in texts_in(path)}
    assert [name for name in functions if f"def {name}(" not in source] == []


def test_no_stored_text_has_a_path_of_the_machine_that_made_it() -> None:
    screens = [path for path in SCREENS.rglob("*.txt") if A_MACHINE.search(path.read_text(encoding="utf-8"))]
    assert screens == []


@pytest.mark.parametrize("table", TABLES)
def test_every_table_of_refusals_is_run_and_has_every_answer(table: str) -> None:
    assert all(one.answer for one in table_of_refusals(table))
    assert any(f'"{table}"' in path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
