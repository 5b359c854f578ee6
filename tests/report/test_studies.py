"""Studies: how far they are is told, and an open page follows a study that another process works on."""

import operator
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from shortlist.cli.result_pages import study_parts
from shortlist.report.parts import Chart, Facts, Table
from shortlist.runs import Unit, Work, open_study, run_units
from tests.report.browsing import watched

WAITING = """
import sys, time
from pathlib import Path
from shortlist.runs import Unit, Work, open_study, run_units

folder = Path(sys.argv[1])

def wait(name):
    (folder / f"in-{name}").touch()
    while not (folder / name).exists():
        time.sleep(0.02)
    return name

names = [f"<b>unit</b> {i}" for i in range(3)]
with open_study(folder / "s.db") as study:
    study.note({"command": "compare <img src=x>"})
    list(run_units([Unit(name, wait, (f"go-{i}",)) for i, name in enumerate(names)], Work(study=study), stage="<i>runs</i>"))
"""
"""A study of three units, each of which ends when a file of its own is there."""


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Run a process, and end it in any case."""
    with subprocess.Popen([sys.executable, *words], stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_what_is_done_and_what_failed_is_told(tmp_path: Path) -> None:
    units = [Unit(f"{i}", operator.add, (i, i)) for i in range(5)]
    with open_study(tmp_path / "s.db") as study:
        study.note({"command": "compare"})
        runs = run_units(units, Work(study=study), stage="sums")
        for _ in range(3):
            next(runs)
        parts = study_parts(tmp_path / "s.db")  # while it is in work
        runs.close()  # type: ignore[attr-defined]  # a generator
        study.fail("late", ValueError("no reason"))
    facts = dict(next(part for part in parts if isinstance(part, Facts)).facts)
    assert (facts["command"], facts["units failed"]) == ("compare", "0")
    assert facts["state"].startswith("in work, by ")
    (chart,) = [part for part in parts if isinstance(part, Chart)]
    assert chart.text == "3 of 5 units are done."
    assert [one["values"] for one in chart.data["series"]] == [[3], [2]]
    after = study_parts(tmp_path / "s.db")
    assert dict(next(part for part in after if isinstance(part, Facts)).facts)["state"] == "not in work"
    (failed,) = [part for part in after if isinstance(part, Table) and part.title.startswith("Why")]
    assert failed.rows == (("1", "late: ValueError: no reason"),)


@pytest.mark.slow
def test_an_open_page_follows_a_running_study_and_asks_nobody_else(chromium: Any, tmp_path: Path) -> None:
    with running("-c", WAITING, str(tmp_path)) as work:
        (tmp_path / "go-0").touch()
        while not (tmp_path / "in-go-1").exists():  # then the first unit is recorded
            assert work.poll() is None, work.communicate()[1]
            time.sleep(0.02)
        with running("-m", "shortlist", "open", str(tmp_path / "s.db"), "--no-browser") as served:
            assert served.stderr is not None
            said = served.stderr.readline()
            address = next(word for word in said.split() if word.startswith("http://127.0.0.1:"))
            context = chromium.new_context(color_scheme="dark")
            opened = watched(context)
            opened.page.goto(address)
            opened.page.get_by_text("1 of 3 units are done.").first.wait_for()
            assert "in work, by" in opened.page.locator("dl.facts").inner_text()
            for number in (1, 2):
                (tmp_path / f"go-{number}").touch()
                opened.page.get_by_text(f"{number + 1} of 3 units are done.").first.wait_for()
            work.wait(timeout=60)
            opened.page.get_by_text("not in work").wait_for()
            assert "compare <img src=x>" in opened.page.locator("dl.facts").inner_text()
            assert opened.page.locator("main b, main i, img").count() == 0
            assert opened.complaints == []
            assert {url.removesuffix("state") for url in opened.requests} == {address}
            context.close()
