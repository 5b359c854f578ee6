"""Tables of command lines that are refused, and what holds for every refusal."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.running import Ran, shortlist

PYTHON = ("np.", "KeyError", "['", "Traceback")


def refusals(lines: str, **shorthands: list[str]) -> pytest.MarkDecorator:
    """Give a test `words` and `message` from each line: the words of a command, a bar, part of what it says.

    A word that is a shorthand stands for several words.
    """
    cases = []
    for line in lines.strip().splitlines():
        words, message = re.split(r" *\| ", line.strip(), maxsplit=1)
        given = [word for one in shlex.split(words) for word in shorthands.get(one, [one])]
        cases.append(pytest.param(given, message, id=words or "nothing"))
    return pytest.mark.parametrize(("words", "message"), cases)


def is_refused(ran: Ran, message: str) -> None:
    """Check that a command has ended with one sentence that has `message` in it, and without an answer."""
    assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
    assert ran.stderr.startswith("shortlist: ")
    assert ran.stderr.count("\n") == 1
    assert message in ran.stderr
    assert not any(words in ran.stderr for words in PYTHON)


def refuse(*words: str | Path, message: str, cwd: Path) -> None:
    """Check that a command is refused so, and that the folder stays as it was."""
    before = _contents(cwd)
    is_refused(shortlist(*words, cwd=cwd), message)
    assert _contents(cwd) == before


def _contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}
