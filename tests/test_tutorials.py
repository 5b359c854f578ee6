"""Every command and line of Python runs, in the order of the page: of tutorials, and of what shows a whole task."""

import functools
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.running import shortlist

DOCS = Path(__file__).parent.parent / "docs"
PAGES = [
    *sorted(page for page in (DOCS / "tutorials").glob("*.md") if page.stem != "index"),
    DOCS / "how-to" / "answers.md",
    DOCS / "how-to" / "solve.md",
]
FILE = re.compile(r"as `([\w.]+)`:.*?```text\n(.*?)```", flags=re.DOTALL)
"""A file that a page shows, and its name."""

SHORTER = {
    "--time-limit 10": "--time-limit 1",
    "time_limit_s=10": "time_limit_s=1",
    "generations=60": "generations=5",
    "max-stages=3": "max-stages=2",
    "max_stages=3": "max_stages=2",
    "--classifiers 40": "--classifiers 10",
    "n_classifiers=40": "n_classifiers=10",
}
"""Long commands of a page, and the shorter ones that run in their place."""

BLOCK = re.compile(r"```(?P<kind>python|shell)\n(?P<text>.*?)```", flags=re.DOTALL)


def _shortened(text: str) -> str:
    return functools.reduce(lambda line, each: line.replace(*each), SHORTER.items(), text)


def _run(line: str, folder: Path) -> None:
    """Run one command as a user would, and show what it said if it failed."""
    words = shlex.split(line)
    assert words[0] == "shortlist"
    ran = shortlist(*words[1:], cwd=folder)
    assert ran.returncode == 0, f"{line}\n{ran.stdout}\n{ran.stderr}"
    assert ran.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_runs_from_its_first_block_to_its_last(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = list(BLOCK.finditer(_shortened(page.read_text())))
    for name, text in FILE.findall(page.read_text()):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert {block["kind"] for block in blocks} == {"python", "shell"}
    for block in blocks:
        if block["kind"] == "python":
            exec(block["text"], names)
        else:
            for line in block["text"].splitlines():
                _run(line, tmp_path)


def test_what_is_shortened_is_shown_by_some_page() -> None:
    shown = "".join(match[0] for page in PAGES for match in BLOCK.finditer(page.read_text()))
    assert [text for text in SHORTER if text not in shown] == []
