"""Tables of command lines that are refused, and what holds for every refusal."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.running import Ran, shortlist
from tests.stored import Refusal, store, table_of_refusals

PYTHON = ("np.", "KeyError", "['", "Traceback")


def refusals(*tables: str) -> pytest.MarkDecorator:
    """Give a test the fixture `refused` for each command line of tables in ``tests/screens/refusals``."""
    cases = [pytest.param(one, id=one.line) for table in tables for one in table_of_refusals(table)]
    return pytest.mark.parametrize("refused", cases, indirect=True)


def is_refused(ran: Ran, message: str = "") -> None:
    """Check that a command has ended with one sentence, after progress and notes, and without an answer."""
    assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
    (said,) = (line for line in _told(ran) if not line.startswith("shortlist: note: "))
    assert ran.stderr.endswith(f"{said}\n")
    assert message in said
    assert not any(words in ran.stderr for words in PYTHON)


def _told(ran: Ran) -> list[str]:
    return [line for line in ran.stderr.splitlines() if line.startswith("shortlist: ")]


def refuse(*words: str | Path, message: str = "", cwd: Path) -> str:
    """Check that a command is refused so, and that the folder stays as it was; return what it says."""
    before = _contents(cwd)
    ran = shortlist(*words, cwd=cwd)
    is_refused(ran, message)
    assert _contents(cwd) == before
    return "\n".join(_told(ran)).replace(f"{cwd}/", "")


def is_stored(refusal: Refusal, cwd: Path, *, bless: bool) -> None:
    """Check that a command line is refused with the stored answer, or store it."""
    said = refuse(*refusal.words, cwd=cwd)
    if bless and not refusal.fits(said):
        store(replace(refusal, answer=said))
    elif not bless:
        assert refusal.fits(said), f"{said}\nis not the stored\n{refusal.answer}"


def _contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}
