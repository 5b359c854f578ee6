"""The study: what is recorded stays, once, whatever happens to the process, and what it tells of itself."""

import contextlib
import functools
import operator
import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.runs import NO_STUDY, Finished, Study, Unit, Work, open_study, run_units
from shortlist.runs.records import KeptState
from shortlist.runs.study import KEEP_SETTINGS, Checkpoint, KeepSettings, StageNote
from shortlist.runs.study_file import VERSION, seconds_left, summary

RESULTS: dict[str, Any] = {
    "numbers": [1, 2**80, 0.1 + 0.2, -1e-310],
    "nothing": None,
    "words": {"text": "ä 'quoted' \"twice\"", "list": []},
    "bytes": b"\x00\xff\x80",
}


def test_results_come_back_exactly_in_another_process_too(tmp_path: Path) -> None:
    with open_study(tmp_path / "s.db") as study:
        for key, result in RESULTS.items():
            assert study.record(Finished(key, result, 0.5, "here")) == result
        study.part("inner").record(Finished("numbers", [3]))
    with open_study(tmp_path / "s.db") as study:
        assert study.results() == RESULTS
        assert study.part("inner").results() == {"numbers": [3]}
        assert study.part("other").results() == {}
    assert [path.name for path in tmp_path.iterdir()] == ["s.db"]


def test_a_unit_is_recorded_once(tmp_path: Path) -> None:
    with open_study(tmp_path / "s.db") as study:
        study.record(Finished("a", 1))
        study.record(Finished("a", 2), Finished("b", 3))
        assert study.results() == {"a": 1, "b": 3}


def test_a_failed_unit_is_run_again(tmp_path: Path) -> None:
    with open_study(tmp_path / "s.db") as study:
        study.fail("a", ValueError("no"))
        assert study.results() == {}
        study.record(Finished("a", 1))
        study.fail("a", ValueError("late"))
        assert study.results() == {"a": 1}


def test_threads_record_side_by_side(tmp_path: Path) -> None:
    with open_study(tmp_path / "s.db") as study:
        threads = [
            threading.Thread(
                target=lambda n=number: [
                    study.part(f"p{n % 2}").record(Finished(f"{n} {i}", i)) for i in range(50)
                ]
            )
            for number in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(study.part("p0").results()) == len(study.part("p1").results()) == 100


def test_a_state_is_replaced_and_goes_when_its_unit_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    with open_study(tmp_path / "s.db") as study:
        assert study.kept("run") is None
        study.keep("run", lambda: {"generation": 1})
        study.keep("run", lambda: pytest.fail("kept too soon"))
        assert study.kept("run") == {"generation": 1}
        clock[0] += KEEP_SETTINGS.every_s
        study.keep("run", lambda: b"generation 2")
        assert study.kept("run") == b"generation 2"
        study.record(Finished("run", "done"))
        assert study.kept("run") is None


def test_another_question_is_refused_with_both_values_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with open_study(path) as study:
        study.bind({"n_folds": 10, "rule": "uwa"})
        study.bind({"rule": "uwa", "n_more": 1})
        with pytest.raises(BadInputError, match=r"s\.db belongs .*: n_folds was 10 there and is 5 now"):
            study.bind({"n_new": 1, "n_folds": 5})
        assert study.settings() == {"n_folds": 10, "rule": "uwa", "n_more": 1}


def test_without_a_file_nothing_is_kept() -> None:
    assert NO_STUDY.record(Finished("a", (1, 2))) == (1, 2)
    NO_STUDY.bind({"n": 1})
    NO_STUDY.keep("a", lambda: pytest.fail("nobody asked for a state"))
    assert (NO_STUDY.results(), NO_STUDY.settings(), NO_STUDY.kept("a")) == ({}, {}, None)


def test_a_copy_in_another_process_keeps_nothing(tmp_path: Path) -> None:
    import pickle

    with open_study(tmp_path / "s.db") as study:
        copy: Study = pickle.loads(pickle.dumps(study.part("p")))
        assert (study.keeps, copy.keeps) == (True, False)


@pytest.mark.parametrize("content", [b"my only line", b"\x80\x04 a pickle", b"{}"])
def test_a_file_of_something_else_stays_as_it_is(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(content)
    with (
        pytest.raises(BadFileError, match=r"must be a file of an earlier run, got something else"),
        open_study(path),
    ):
        pass
    assert path.read_bytes() == content


def test_an_empty_file_becomes_a_study(tmp_path: Path) -> None:
    (tmp_path / "s.db").touch()
    with open_study(tmp_path / "s.db") as study:
        assert study.results() == {}


def test_a_folder_that_cannot_be_written_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match="folder does not exist"), open_study(tmp_path / "no" / "s.db"):
        pass
    with pytest.raises(BadFileError, match="got the folder"), open_study(tmp_path):
        pass


def _changed(path: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.execute(statement)
        file.commit()


def _refused(path: Path, message: str, *, summed_up: bool = True) -> None:
    """Check that opening a file is refused, and summing it up, unless that does not see what is wrong."""
    with pytest.raises(BadFileError, match=message), open_study(path):
        pytest.fail("it was opened")
    if summed_up:
        with pytest.raises(BadFileError, match=message):
            summary(path)


def test_other_databases_and_versions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with pytest.raises(BadFileError, match="cannot be read: No such file"):
        summary(path)
    with open_study(path):
        pass
    for version in (VERSION - 1, VERSION + 1):
        _changed(path, f"PRAGMA user_version = {version}")
        told = (
            f"has version {version} of the format.* knows version {VERSION}. Install the Shortlist that wrote"
        )
        _refused(path, told)
    _changed(path, "PRAGMA application_id = 7")
    _refused(path, "got something else")
    other = tmp_path / "other.db"
    _changed(other, "CREATE TABLE rows (a)")
    _refused(other, "is damaged", summed_up=False)


@pytest.mark.parametrize("place", [0.25, 0.5, 0.75, 1.0])
def test_a_damaged_study_is_refused_and_stays_as_it_is(place: float, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with open_study(path) as study:
        study.record(*[Finished(f"unit {i:04}", [i] * 20) for i in range(400)])
    content = bytearray(path.read_bytes())
    start = int(len(content) * place) // 4096 * 4096
    content[start : start + 4096] = b"\xa5" * 4096
    damaged = bytes(content) if place < 1.0 else bytes(content[:5000])  # or it was cut off
    path.write_bytes(damaged)
    _refused(path, r"is damaged\. Name another file", summed_up=False)
    assert path.read_bytes() == damaged


@pytest.mark.parametrize(
    ("damage", "summed_up"),
    [
        ("UPDATE rows SET value = '[9]' WHERE key = 'b'", False),
        ("UPDATE rows SET key = 'c' WHERE key = 'b'", False),
        ("UPDATE rows SET kind = 'failed' WHERE key = 'b'", False),
        ("UPDATE rows SET value = '2' WHERE kind = 'setting'", False),
        ("UPDATE rows SET value = X'6f746865ff' WHERE kind = 'state'", False),
        ("UPDATE rows SET value = CAST(X'5bff5d' AS TEXT) WHERE key = 'b'", False),
        ("CREATE TRIGGER more AFTER INSERT ON rows BEGIN SELECT 1; END", False),
        ("UPDATE rows SET value = X'ff9f' WHERE kind = 'fact'", True),
        ("UPDATE rows SET value = 'no JSON' WHERE kind = 'fact'", True),
        ("UPDATE rows SET value = '{\"half\": ' WHERE kind = 'fact'", True),
        ("UPDATE rows SET value = '[5.3,0,\"\"]' WHERE kind = 'stage'", True),
    ],
)
def test_a_row_that_is_not_as_it_was_written_is_damage(damage: str, summed_up: bool, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with open_study(path) as study:
        study.bind({"n": 1})
        study.note({"command": "stage"})
        study.tell(StageNote("fits", 5, 3))
        study.record(Finished("a", [1]), Finished("b", [2]))
        study.keep("d", lambda: b"state")
    _changed(path, damage)
    _refused(path, r"the study .*s\.db is damaged", summed_up=summed_up)


def test_a_study_whose_schema_is_no_text_any_more_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with open_study(path) as study:
        study.record(Finished("a", [1]))
    whole = path.read_bytes()
    for was, now in ((b"CREATE TABLE rows", b"CREATE TA\x83LE rows"), (b"saved REAL", b"sawed REAL")):
        path.write_bytes(whole.replace(was, now))
        _refused(path, "is damaged")


FILLING = """
import resource, sys
from shortlist.errors import NotWrittenError
from shortlist.runs.study import Finished, open_study
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
n = 0
try:
    with open_study(sys.argv[1]) as study:
        while True:
            study.record(Finished(f"unit {n}", "x" * 1000))
            n += 1
except NotWrittenError as error:
    print(n, error)
"""


def test_a_full_disk_is_one_sentence_and_what_was_recorded_stays(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    run = subprocess.run(
        [sys.executable, "-c", FILLING, path], capture_output=True, text=True, check=True, timeout=120
    )
    n, sentence = run.stdout.strip().split(" ", 1)
    assert int(n) > 10
    assert sentence.startswith(
        f"{path} cannot be written: No space left on device. What was finished before is"
    )
    with open_study(path) as study:
        assert len(study.results()) == int(n)
        study.record(Finished("more", 1))


HOLDING = """
import sys
from shortlist.runs.study import Finished, open_study
with open_study(sys.argv[1]) as study:
    study.record(Finished("theirs", 1))
    print("open", flush=True)
    sys.stdin.readline()
    study.record(Finished("last", 2))
"""


def test_a_second_process_waits_and_says_for_whom(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    told: list[str] = []
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"

        def say(sentence: str) -> None:
            told.append(sentence)
            assert other.stdin is not None
            other.stdin.write("\n")
            other.stdin.flush()

        with open_study(path, say=say) as study:
            assert study.results() == {"theirs": 1, "last": 2}
    assert len(told) == 1
    assert f"process {other.pid} on" in told[0]


KILLED = """
import os, signal, sys
from shortlist.runs.study import Finished, open_study
with open_study(sys.argv[1]) as study:
    for n in range(int(sys.argv[2])):
        study.record(Finished(f"unit {n}", n))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_loses_nothing_that_was_recorded(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    for n in (3, 40):
        run = subprocess.run([sys.executable, "-c", KILLED, path, str(n)], check=False, timeout=120)
        assert run.returncode == -9
        with open_study(path) as study:
            assert study.results() == {f"unit {i}": i for i in range(n)}
    assert [file.name for file in tmp_path.iterdir()] == ["s.db"]


def test_the_last_state_is_that_of_the_end_once_the_unit_is_finished(tmp_path: Path) -> None:
    with open_study(tmp_path / "s.db") as study:
        checkpoint = Checkpoint("run", study)
        assert checkpoint.last() is None
        for number in (1, 2):
            checkpoint.keep(functools.partial(KeptState, facts={"n": number}), now=True)
            last = checkpoint.last()
            assert last is not None
            assert last.facts == {"n": number}
        checkpoint.finish(lambda: KeptState(facts={"n": 3}), 0.5)
        last = checkpoint.last()
        assert last is not None
        assert (last.facts, study.kept("run"), study.n_finished) == ({"n": 3}, None, 1)
    Checkpoint("run").finish(lambda: pytest.fail("nobody asked for a state"), 0.5)


def test_states_that_are_too_large_are_not_kept(tmp_path: Path) -> None:
    with open_study(tmp_path / "s.db", keeping=KeepSettings(most_bytes=10_000)) as study:
        checkpoint = Checkpoint("run", study)
        checkpoint.keep(lambda: KeptState({"a": np.zeros(20_000, np.uint8)}))
        checkpoint.keep(lambda: pytest.fail("the first one was too large"), now=True)
        assert checkpoint.last() is None


@pytest.mark.parametrize("content", [b"", b"PK nothing", KeptState().packed()[:40], "text", {"a": 1}])
def test_a_state_that_cannot_be_read_is_one_sentence(content: object, tmp_path: Path) -> None:
    with open_study(tmp_path / "s.db") as study:
        study.record(Finished("run", content))
        with pytest.raises(BadFileError, match="holds a state of run that cannot be read"):
            Checkpoint("run", study).last()


def test_counts_are_those_of_the_units_and_time_left_is_measured(tmp_path: Path) -> None:
    units = [Unit(f"{i}", operator.add, (i, i)) for i in range(5)]
    with open_study(tmp_path / "s.db") as study:
        runs = run_units(units, Work(study=study), stage="sums")
        for _ in range(3):
            next(runs)
        found = summary(tmp_path / "s.db")  # while it is open
        runs.close()  # type: ignore[attr-defined]  # a generator
        study.part("inner").record(Finished("x", 1, 2.0))
        study.fail("late", ValueError("no\nreason"))
    [stage] = found["stages"]
    assert (stage["stage"], stage["done"], stage["total"], stage["running"]) == ("sums", 3, 5, 1)
    assert (found["n_done"], found["running_in"].split()[0]) == (3, str(os.getpid()))
    after = summary(tmp_path / "s.db")
    assert (after["n_done"], after["n_failed"], after["running_in"]) == (4, 1, None)
    assert after["stages"][0]["running"] == 0
    assert after["failures"] == ["late: ValueError: no"]
    assert [path.name for path in tmp_path.iterdir()] == ["s.db"]


@pytest.mark.parametrize(("done", "running", "left"), [(0, 1, None), (2, 1, 12.0), (2, 4, 3.0), (8, 0, 0.0)])
def test_time_left_counts_the_workers(done: int, running: int, left: float | None) -> None:
    assert seconds_left(8, done, running, 2.0 * done) == left


def test_an_empty_study_is_told_and_a_damaged_one_is_let_go(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.touch()
    with pytest.raises(BadFileError, match=r"s\.db is empty"):
        summary(path)
    with open_study(path) as study:
        study.note({"command": "stage"})
    content = path.read_bytes()
    path.write_bytes(content[:100])
    with pytest.raises(BadFileError), open_study(path):
        pytest.fail("it was opened")
    path.write_bytes(content)
    with open_study(path) as study:  # nothing holds it
        assert study.noted("command") == "stage"
