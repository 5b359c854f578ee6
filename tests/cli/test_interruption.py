"""Ctrl-C and SIGTERM, sent to real processes once they have said where they are."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shortlist.runs.cancellation import STOPPING

SAID = f"shortlist: {STOPPING}\n"
PATIENCE_S = 300
"""When a test gives up; none waits for it."""

BLOCKED = """
import sys, threading
import shortlist.products.configuration.product_front as product_front
def configure(*_, report, **__):
    print("working", file=sys.stderr, flush=True)
    threading.Event().wait()
product_front.configure = configure
from shortlist.cli.main import run
run()
"""
"""The command, with a method that never looks at the cancellation."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    rows.assign(target=rng.choice(["no", "yes"], size=200)).to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "m.uvl").write_text(
        "features\n    Phone\n        optional\n            GPS\n", encoding="utf-8"
    )
    return tmp_path


@pytest.fixture
def started(folder: Path) -> Iterator[list[subprocess.Popen[str]]]:
    """The processes of a test, which do not outlive it."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()
    assert not list(folder.glob(".*"))


def _start(
    started: list[subprocess.Popen[str]], folder: Path, *words: str, program: tuple[str, ...] = ("-m", "shortlist")
) -> subprocess.Popen[str]:  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, *program, *words], cwd=folder, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    started.append(process)
    return process


def _wait_for(process: subprocess.Popen[str], beginning: str) -> None:
    """Read stderr up to a line that begins so."""
    assert process.stderr is not None
    assert any(line.startswith(beginning) for line in process.stderr), f"{beginning!r} was never said"


@pytest.mark.slow
def test_while_reading_the_first_signal_ends_the_command(
    folder: Path, started: list[subprocess.Popen[str]]
) -> None:
    os.mkfifo(folder / "endless.csv")
    process = _start(started, folder, "prune", "endless.csv", "--out", "m.joblib")
    with (folder / "endless.csv").open("w", encoding="utf-8"):  # opens when the command reads from it
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, stdout) == (130, "")
    assert stderr == "shortlist: interrupted; nothing was written.\n"
    assert not (folder / "m.joblib").exists()


@pytest.mark.slow
def test_a_pool_that_was_not_fitted_is_nothing_to_keep(
    folder: Path, started: list[subprocess.Popen[str]]
) -> None:
    words = ["prune", "table.csv", "--classifiers", "5000", "--jobs", "2", "--out", "m.joblib"]
    process = _start(started, folder, *words)
    _wait_for(process, "fitting classifiers")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, stdout) == (130, "")
    first, last = stderr.splitlines(keepends=True)
    assert first == SAID
    assert last.startswith("shortlist: interrupted: fitting was stopped after ")
    assert not (folder / "m.joblib").exists()


@pytest.mark.slow
def test_sigterm_keeps_what_was_found(folder: Path, started: list[subprocess.Popen[str]]) -> None:
    words = ["evolve", "table.csv", "--generations", "1000000", "--population", "10", "--out", "m.joblib"]
    process = _start(started, folder, *words)
    _wait_for(process, "evolving")
    process.send_signal(signal.SIGTERM)
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, stderr
    assert SAID in stderr
    assert "stopped: interrupted" in stdout
    assert (folder / "m.joblib").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("second", "study"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_the_second_signal_gives_up_and_says_where_finished_parts_are(
    second: signal.Signals, study: bool, folder: Path, started: list[subprocess.Popen[str]]
) -> None:
    (folder / "s.jsonl").write_text("what was finished before\n", encoding="utf-8")
    words = ["configure", "m.uvl", "--objectives", "max selected", "--method", "solrep"]
    words += ["--study", "s.jsonl"] if study else []
    process = _start(started, folder, *words, program=("-c", BLOCKED))
    _wait_for(process, "working")
    process.send_signal(signal.SIGINT)
    _wait_for(process, SAID)
    process.send_signal(second)
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, stdout) == (130, "")
    kept = " What had been finished is in s.jsonl; the same command goes on from there." if study else ""
    assert stderr == f"shortlist: interrupted; nothing was written.{kept}\n"
