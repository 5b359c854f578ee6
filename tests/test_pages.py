"""Every block of every guide and tutorial runs, in the order of the page, and shows what it prints.

Each page starts in an empty folder of its own. Blocks are fenced and say what they are:

- ``shell``: command lines. They have to succeed; what they print is not compared.
- ``console``: command lines behind ``$``, lines that are typed into them behind ``>``, and what they print.
- ``python``: a program, with the names of the blocks before it. A ``text`` block right behind it holds what
  it prints.
- ``text``, ``json``, ``yaml``: shown, not run.

``[...]`` alone in a line stands for lines that are left out. Seconds are volatile: any number before `` s``
is like any other. Behind ``<!-- figures vary -->`` all numbers are. ``<!-- exits with 1 -->`` stands before a
block whose last command ends with that code, ``<!-- file NAME -->`` before one that is written to a file, as its
page says, and ``<!-- not run: REASON -->`` before one that cannot run here.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.running import Ran, shortlist, without_seconds

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [
    page
    for room in ("tutorials", "how-to")
    for page in sorted((DOCS / room).glob("*.md"))
    if page.stem != "index"
]

FAST = {"how-to/solve", "how-to/decide"}
"""Pages that take a second or two; the others are slow."""

NOT_RUN = {
    "needs LiteLLM": 1,
    "needs the network": 1,
    "needs the papers' data sets": 1,
    "serves until it is stopped": 1,
}
"""Reasons for which a block cannot run here, and how many blocks there are for each."""

RUNS, SHOWN = {"shell", "console", "python"}, {"text", "json", "yaml", "{literalinclude}"}
BLOCK = re.compile(
    r"(?P<marks>(?:^<!--[^\n]*-->\n)*)^(?P<fence>```+)(?P<kind>[\w{}]*)[^\n]*\n(?P<text>.*?)^(?P=fence)$",
    flags=re.DOTALL | re.MULTILINE,
)
MARK = re.compile(
    r"<!-- (?:(?P<vary>figures vary)|exits with (?P<code>\d+)|not run: (?P<reason>.*)|file (?P<file>\S+)) -->"
)
INDENTED = re.compile(r"(?:\A|\n)\n((?: {4}.*\n)+)")


@dataclass(frozen=True)
class Block:
    kind: str
    text: str
    vary: bool
    code: int
    reason: str
    file: str
    follows: bool
    """Nothing but a blank line is between the block and the one before it."""


def _name(page: Path) -> str:
    return f"{page.parent.name}/{page.stem}"


def _blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    end = 0
    text = page.read_text(encoding="utf-8")
    for one in BLOCK.finditer(text):
        marks = list(MARK.finditer(one["marks"]))
        assert len(marks) == one["marks"].count("\n"), f"no such mark: {one['marks']}"
        found.append(
            Block(
                one["kind"],
                one["text"],
                vary=any(mark["vary"] for mark in marks),
                code=max([int(mark["code"] or 0) for mark in marks], default=0),
                reason="".join(mark["reason"] or "" for mark in marks),
                file="".join(mark["file"] or "" for mark in marks),
                follows=bool(found) and not text[end : one.start()].strip(),
            )
        )
        end = one.end()
    return found


def _as_compared(text: str, *, vary: bool) -> str:
    """Return a text with volatile figures as ``#``.

    >>> _as_compared("37 points (0.20 s)", vary=False), _as_compared("a   37.5 %", vary=True)
    ('37 points (# s)', 'a # %')
    """
    lines = without_seconds(text)
    return re.sub(r"[ \t]+", " ", re.sub(r"-?\d[\d,]*(?:\.\d+)?", "#", lines)) if vary else lines


def _assert_said(shown: str, said: str, *, vary: bool) -> None:
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "[...]" else re.escape(line) + r"\n"
        for line in _as_compared(shown, vary=vary).splitlines()
    )
    now = "".join(f"{line}\n" for line in _as_compared(said, vary=vary).splitlines())
    if not re.fullmatch(pattern, now):
        pytest.fail(f"the page shows\n{shown}\nand the answer is\n{said}")


def _commands(block: Block) -> Iterator[tuple[str, str, str]]:
    """Yield each command line of a block, with the lines typed into it and those that it prints."""
    text = block.text.replace("\\\n", "")
    if block.kind == "shell":
        for line in text.splitlines():
            if line.strip() and not line.startswith("#"):
                yield line, "", ""
        return
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, rest = part.partition("\n")
        typed = "".join(f"{one[2:]}\n" for one in rest.splitlines() if one.startswith("> "))
        shown = "".join(f"{one}\n" for one in rest.splitlines() if not one.startswith("> "))
        yield line, typed, shown


def _tools(folder: Path) -> dict[str, str]:
    """Return an environment whose `shortlist` and `python` are those of these tests."""
    folder.mkdir()
    for name, words in (("shortlist", " -m shortlist"), ("python", "")):
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n')
        (folder / name).chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src")}


def _ran(line: str, typed: str, folder: Path, tools: dict[str, str]) -> Ran:
    words = shlex.split(line, comments=True)
    if words[0] != "shortlist" or {"|", ">", "<", "&&", ";"} & {*words}:
        ran = subprocess.run(
            line, shell=True, cwd=folder, env=tools, input=typed, capture_output=True, text=True, check=False
        )
        return Ran(ran.returncode, ran.stdout, ran.stderr)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(typed.encode())))
        return shortlist(*words[1:], cwd=folder)


def _run_lines(block: Block, folder: Path, tools: dict[str, str]) -> None:
    lines = list(_commands(block))
    for number, (line, typed, shown) in enumerate(lines, 1):
        ran = _ran(line, typed, folder, tools)
        code = block.code if number == len(lines) else 0
        assert ran.returncode == code, f"{line}\n{ran.stdout}\n{ran.stderr}"
        if block.kind == "console":
            _assert_said(shown, ran.stdout + (ran.stderr if code else ""), vary=block.vary)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=_name(page), marks=[] if _name(page) in FAST else [pytest.mark.slow])
        for page in PAGES
    ],
)
def test_a_page_runs_from_its_first_block_to_its_last(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, folder = _tools(tmp_path / "tools"), tmp_path / "page"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for block in _blocks(page):
        if block.reason:
            continue
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.kind == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block.text, str(page), "exec"), names)
            printed = out.getvalue()
        elif block.kind == "text" and block.follows and printed:
            _assert_said(block.text, printed, vary=block.vary)
        elif block.kind in {"shell", "console"}:
            _run_lines(block, folder, tools)


@pytest.fixture(autouse=True)
def _modules() -> Iterator[None]:
    """Forget the modules that a page has written."""
    before = {*sys.modules}
    yield
    for name in {*sys.modules} - before:
        if Path(str(getattr(sys.modules[name], "__file__", ""))).parent.name == "page":
            del sys.modules[name]


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_block_of_a_page_says_what_it_is(page: Path) -> None:
    assert [block.kind for block in _blocks(page) if block.kind not in RUNS | SHOWN] == []
    rest = BLOCK.sub("", page.read_text(encoding="utf-8"))
    commands = [
        text
        for text in INDENTED.findall(rest)
        if re.search(r"^ *(shortlist|python|\$|>>>) ", text, re.MULTILINE)
    ]
    assert commands == []


def test_blocks_that_cannot_run_here_are_few_and_say_why() -> None:
    assert Counter(block.reason for page in PAGES for block in _blocks(page) if block.reason) == NOT_RUN


def test_a_figure_that_a_page_shows_wrongly_is_found() -> None:
    _assert_said("a\n[...]\n37 points (0.20 s).\n", "a\nb\nc\n37 points (9 s).\n", vary=False)
    for shown in ("38 points (0.20 s).\n", "37 points (0.20 s).\nmore\n", "[...]\nb\n"):
        with pytest.raises(pytest.fail.Exception):
            _assert_said(shown, "37 points (0.20 s).\n", vary=False)


MOST_WORDS, MOST_IN_A_PARAGRAPH = 1500, 100


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_a_page_has_one_task_in_few_words_and_short_paragraphs(page: Path) -> None:
    """Blocks are not counted, and tables count for the page alone."""
    prose = BLOCK.sub("", page.read_text(encoding="utf-8"))
    assert len(prose.split()) <= MOST_WORDS
    parts = [
        part
        for paragraph in re.split(r"\n\s*\n", prose)
        if not paragraph.lstrip().startswith("|")
        for part in re.split(r"^- ", paragraph, flags=re.MULTILINE)
    ]
    assert [part for part in parts if len(part.split()) > MOST_IN_A_PARAGRAPH] == []
