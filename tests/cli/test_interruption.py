"""Ctrl-C and SIGTERM, sent to real processes once they have said where they are."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shortlist.cli.signals import NOTHING_WRITTEN
from shortlist.runs.cancellation import STILL_STOPPING, STOPPING

SAID = f"shortlist: {STOPPING}\n"
PATIENCE_S = 120
"""Seconds until a test gives up; none waits for it."""

BLOCKED = """
import sys, threading
import shortlist.products.configuration.product_front as product_front
def configure(*_, report, **__):
    print("working", file=sys.stderr, flush=True)
    threading.Event().wait()
product_front.configure = configure
from shortlist.cli.entry import run
run()
"""
"""The command, with a method that never looks at the cancellation."""

HALF_STARTED = """
import signal, threading
from joblib.externals.loky.process_executor import ProcessPoolExecutor
start = ProcessPoolExecutor._start_executor_manager_thread

def press():  # in a thread, as the main one may not take signals while it starts processes
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

def interrupted(self):
    for _ in range(2):
        pressing = threading.Thread(target=press)
        pressing.start()
        pressing.join()
    start(self)

ProcessPoolExecutor._start_executor_manager_thread = interrupted
from shortlist.cli.entry import run
run()
"""
"""The command, which is interrupted twice when its processes run and nobody watches over them yet."""

NEVER_LANDED = """
import threading
from joblib import Parallel
def retrieve(self):
    threading.Event().wait()
    yield
Parallel._retrieve = retrieve
from shortlist.cli.entry import run
run()
"""
"""The command, which looks at nothing that its workers have ended, so that it does not end between two signals."""

READING = ["configure", "endless.uvl", "--objectives", "max selected", "--out", "front.parquet"]
SHARED = [
    "compare", "example:iris", "--methods", "uwa,full", "--set", "folds=3", "--workers", "2",
]  # fmt: skip


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
    """Processes of a test; they end with it."""
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


def _said(stderr: str) -> list[str]:
    """Return the command's own lines."""
    return [line for line in stderr.splitlines() if line.startswith("shortlist: ")]


def _wait_for(process: subprocess.Popen[str], beginning: str) -> None:
    """Read stderr up to a line with this beginning."""
    assert process.stderr is not None
    assert any(line.startswith(beginning) for line in process.stderr), f"{beginning!r} was never said"


@pytest.mark.slow
def test_while_reading_the_first_signal_ends_the_command(
    folder: Path, started: list[subprocess.Popen[str]]
) -> None:
    os.mkfifo(folder / "endless.uvl")
    process = _start(started, folder, *READING)
    with (folder / "endless.uvl").open("w", encoding="utf-8"):  # opens when the command reads from it
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, stdout) == (130, ""), stderr
    assert _said(stderr) == ["shortlist: interrupted; nothing was written."]
    assert not (folder / "front.parquet").exists()


@pytest.mark.slow
def test_a_pool_that_was_not_fitted_is_nothing_to_keep(
    folder: Path, started: list[subprocess.Popen[str]]
) -> None:
    words = ["prune", "table.csv", "--classifiers", "5000", "--workers", "1", "--out", "m.joblib"]
    process = _start(started, folder, *words)
    _wait_for(process, "fitting classifiers")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, stdout) == (130, ""), stderr
    first, last = _said(stderr)  # on a busy machine progress comes between them
    assert f"{first}\n" == SAID
    assert last.startswith("shortlist: interrupted: fitting was stopped after ")
    assert not (folder / "m.joblib").exists()


@pytest.mark.slow
def test_sigterm_keeps_what_was_found(folder: Path, started: list[subprocess.Popen[str]]) -> None:
    words = [
        "evolve", "table.csv", "--set", "generations=1000000", "--set", "population=10", "--out", "m.joblib",
    ]  # fmt: skip
    process = _start(started, folder, *words)
    _wait_for(process, "evolving")
    process.send_signal(signal.SIGTERM)
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, stderr
    assert SAID in stderr
    assert " of 1,000,000 generations: interrupted." in stdout
    assert (folder / "m.joblib").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("second", "study"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_the_second_signal_gives_up_and_says_where_finished_parts_are(
    second: signal.Signals, study: bool, folder: Path, started: list[subprocess.Popen[str]]
) -> None:
    words = ["configure", "m.uvl", "--objectives", "max selected", "--method", "solrep"]
    words += ["--study", "s.db"] if study else []
    process = _start(started, folder, *words, program=("-c", BLOCKED))
    _wait_for(process, "working")
    process.send_signal(signal.SIGINT)
    _wait_for(process, SAID)
    process.send_signal(second)
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, stdout) == (130, ""), stderr
    kept = " What had been finished is in s.db; the same command goes on from there." if study else ""
    assert _said(stderr) == [f"shortlist: interrupted; nothing was written.{kept}"]


def _left(process: subprocess.Popen[str]) -> list[str]:
    """End and return the processes left of the group of an ended process.

    A process without a command line has given up its memory and is about to be gone.
    """
    group = f"{process.pid}"
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _parent, of, *_ = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_text().replace("\0", " ")
            if of == group and state != "Z" and command:
                found.append(command)
    if found:
        os.killpg(process.pid, signal.SIGKILL)
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no other way to see a group of processes")
@pytest.mark.parametrize(
    ("signals", "to_group"),
    [
        pytest.param([signal.SIGINT] * 3, True, id="a terminal, three times"),
        pytest.param([signal.SIGTERM], False, id="SIGTERM"),
    ],
)
def test_no_worker_outlives_a_command_that_is_stopped(
    signals: list[signal.Signals], to_group: bool, folder: Path, started: list[subprocess.Popen[str]]
) -> None:
    given_up = len(signals) == 3
    program = ("-c", NEVER_LANDED) if given_up else ("-m", "shortlist")
    process = _start(started, folder, *SHARED, program=program)
    _wait_for(process, "comparing")
    send = os.killpg if to_group else os.kill
    send(process.pid, signals[0])
    _wait_for(process, SAID)
    told = []
    if given_up:  # the second one waits, unless the fold has been given up by then
        send(process.pid, signals[1])
        assert process.stderr is not None
        for line in process.stderr:
            told.append(line)
            if line == f"shortlist: {STILL_STOPPING}\n":
                send(process.pid, signals[2])
    stdout, stderr = process.communicate(timeout=PATIENCE_S)  # workers hold the same stderr: all have ended
    assert _left(process) == []
    if given_up:
        assert (process.returncode, stdout) == (130, "")
        assert _said("".join(told))[-1].startswith("shortlist: interrupted")
    else:
        assert process.returncode in {0, 130}, stderr  # with the folds that were finished, or without any


@pytest.mark.slow
def test_workers_that_are_just_being_started_end_with_the_command(
    folder: Path, started: list[subprocess.Popen[str]]
) -> None:
    process = _start(started, folder, *SHARED, program=("-c", HALF_STARTED))
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert _left(process) == []
    assert (process.returncode, stdout) == (130, ""), stderr
    first, second, last = _said(stderr)  # a tracker of joblib's may write between them
    assert (f"{first}\n", second) == (SAID, f"shortlist: {STILL_STOPPING}")
    assert last.startswith("shortlist: interrupted")


def _wait_until_caught(process: subprocess.Popen[str]) -> None:
    """Wait until the process catches SIGTERM, which Python itself does not."""
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
        if int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1:
            return


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no other way to see what is caught")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("times", [1, 3])
def test_while_modules_are_imported_a_signal_ends_the_command_with_a_sentence(
    number: signal.Signals, times: int, folder: Path, started: list[subprocess.Popen[str]]
) -> None:
    for _ in range(3):
        process = _start(started, folder, "configure", "m.uvl", "--objectives", "max selected")
        _wait_until_caught(process)
        for _ in range(times):
            process.send_signal(number)
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, stdout, stderr) == (130, "", f"shortlist: {NOTHING_WRITTEN}\n")


def _storm(process: subprocess.Popen[str], *numbers: signal.Signals) -> None:
    """Send signals without any pause, until the process has ended."""
    while process.poll() is None:
        for _ in range(100):
            for number in numbers:
                os.kill(process.pid, number)  # even an ended process has its number until it is polled


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [(signal.SIGTERM,), (signal.SIGTERM, signal.SIGINT)], ids=["one", "both"])
def test_signals_without_any_pause_end_in_exit_code_130_and_one_sentence(
    numbers: tuple[signal.Signals, ...], folder: Path, started: list[subprocess.Popen[str]]
) -> None:
    words = ["configure", "m.uvl", "--objectives", "max selected", "--method", "solrep"]
    process = _start(started, folder, *words, program=("-c", BLOCKED))
    _wait_for(process, "working")
    _storm(process, *numbers)
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, stdout) == (130, ""), stderr
    ended = f"shortlist: {NOTHING_WRITTEN}\n"  # a second signal may come before the first is answered
    assert stderr in {ended, SAID + ended}


@pytest.mark.slow
def test_signals_without_any_pause_while_reading_end_in_one_sentence(
    folder: Path, started: list[subprocess.Popen[str]]
) -> None:
    os.mkfifo(folder / "endless.uvl")
    process = _start(started, folder, *READING)
    with (folder / "endless.uvl").open("w", encoding="utf-8"):
        _storm(process, signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, stdout, stderr) == (130, "", f"shortlist: {NOTHING_WRITTEN}\n")


def test_signals_are_caught_before_anything_heavy_is_imported() -> None:
    program = "import sys, shortlist.cli.entry; print(set(sys.modules) & {'typer', 'shortlist.cli.main'})"
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert said.stdout == "set()\n"
