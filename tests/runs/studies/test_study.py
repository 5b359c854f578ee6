"""The study: what is recorded stays, once, whatever happens to the process."""

import contextlib
import json
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadFileError, BadInputError
from shortlist.runs.studies import NO_STUDY, Finished, Study, open_study
from shortlist.runs.studies.question import MARK, opened, signed
from shortlist.runs.studies.study import KEEP_SETTINGS, as_settings, digest_of_arrays
from shortlist.runs.studies.study_file import VERSION
from shortlist.runs.studies.summary import summary

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
        with pytest.raises(BadInputError) as caught:
            study.bind({"n_new": 1, "n_folds": 5})
        assert str(caught.value) == (
            f"the study {path} belongs to another question: n_folds was 10 there and is 5 now. Name another "
            "file, or ask the same again."
        )
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


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE mine (a)")
        file.execute("PRAGMA application_id = 7")
    with pytest.raises(BadFileError, match="got something else"), open_study(path):
        pass


@pytest.mark.parametrize("version", [VERSION - 1, VERSION + 1])
def test_a_study_of_another_version_is_refused_by_its_number(version: int, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with open_study(path):
        pass
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.execute(f"PRAGMA user_version = {version}")
    told = f"has version {version} of the format.* knows version {VERSION}. Install the Shortlist that wrote"
    with pytest.raises(BadFileError, match=told), open_study(path):
        pass
    with pytest.raises(BadFileError, match=told):
        summary(path)


def test_an_empty_file_becomes_a_study(tmp_path: Path) -> None:
    (tmp_path / "s.db").touch()
    with open_study(tmp_path / "s.db") as study:
        assert study.results() == {}


def test_a_folder_that_cannot_be_written_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match="folder does not exist"), open_study(tmp_path / "no" / "s.db"):
        pass
    with pytest.raises(BadFileError, match="got the folder"), open_study(tmp_path):
        pass


def _many(path: Path, n: int = 400) -> dict[str, Any]:
    with open_study(path) as study:
        study.bind({"n": n})
        study.record(*[Finished(f"unit {i:04}", [i] * 20) for i in range(n)])
        return study.results()


@pytest.mark.parametrize("place", [0.25, 0.5, 0.75])
def test_a_damaged_study_is_refused_and_stays_as_it_is(place: float, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    _many(path)
    content = bytearray(path.read_bytes())
    start = int(len(content) * place) // 4096 * 4096
    content[start : start + 4096] = b"\xa5" * 4096
    path.write_bytes(content)
    with pytest.raises(BadFileError, match=r"is damaged\. Name another file"), open_study(path):
        pass
    assert path.read_bytes() == bytes(content)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE rows SET value = '[9]' WHERE key = 'b'",
        "UPDATE rows SET key = 'c' WHERE key = 'b'",
        "UPDATE rows SET kind = 'failed' WHERE key = 'b'",
        "UPDATE rows SET value = '2' WHERE kind = 'setting'",
        "UPDATE rows SET value = X'6f746865ff' WHERE kind = 'state'",
        "UPDATE rows SET value = CAST(X'5bff5d' AS TEXT) WHERE key = 'b'",
        "CREATE TRIGGER more AFTER INSERT ON rows BEGIN SELECT 1; END",
    ],
)
def test_a_row_that_is_not_as_it_was_written_is_damage(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with open_study(path) as study:
        study.bind({"n": 1})
        study.record(Finished("a", [1]), Finished("b", [2]))
        study.keep("d", lambda: b"state")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(damage)
        connection.commit()
    with pytest.raises(BadFileError, match="is damaged"), open_study(path):
        pass


def test_a_study_that_was_cut_off_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    _many(path)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(BadFileError, match="is damaged"), open_study(path):
        pass


def test_a_study_whose_schema_is_no_text_any_more_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with open_study(path) as study:
        study.record(Finished("a", [1]))
    whole = path.read_bytes()
    for was, now in ((b"CREATE TABLE rows", b"CREATE TA\x83LE rows"), (b"saved REAL", b"sawed REAL")):
        path.write_bytes(whole.replace(was, now))
        with pytest.raises(BadFileError, match="is damaged"), open_study(path):
            pass
        with pytest.raises(BadFileError, match="is damaged"):
            summary(path)


FILLING = """
import resource, sys
from shortlist.errors import NotWrittenError
from shortlist.runs.studies import Finished, open_study
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
from shortlist.runs.studies import Finished, open_study
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
from shortlist.runs.studies import Finished, open_study
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


@dataclass
class Prices:
    values: np.ndarray
    scale: int = 10


class Foreign:
    def __repr__(self) -> str:
        return "Foreign()"


def test_parameters_of_any_type_become_what_json_holds() -> None:
    given = {
        "costs": Prices(np.array([1, 2])), "weights": {np.int64(0): 1.5, "b": None}, "limits": (1, [True]),
        "model": Foreign(), "seed": np.int64(3),
    }  # fmt: skip
    found = as_settings(given)
    assert found == {
        "costs": [["values", [1, 2]], ["scale", 10]], "weights": [[0, 1.5], ["b", None]],
        "limits": [1, [True]], "model": "Foreign()", "seed": 3,
    }  # fmt: skip
    assert json.loads(json.dumps(found)) == found


def test_digests_tell_values_shapes_and_types_apart_and_not_the_layout() -> None:
    rows = np.arange(6).reshape(2, 3)
    same = digest_of_arrays([rows])
    assert digest_of_arrays([np.asfortranarray(rows)]) == same
    others = [rows.T, rows.reshape(3, 2), rows.astype(float), rows + 1]
    assert len({same, *(digest_of_arrays([other]) for other in others)}) == 5


@pytest.mark.parametrize("content", [b"", b"words", b"\x80\x04" * 1000])
def test_own_bytes_are_known_again(content: bytes) -> None:
    assert opened(signed(content)) == content


def test_changed_and_foreign_bytes_are_not(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    whole = signed(b"words")
    for place in (0, len(MARK), len(whole) - 1):
        changed = bytearray(whole)
        changed[place] ^= 1
        assert opened(bytes(changed)) is None
    for cut in (b"", MARK, whole[:-1], b"words"):
        assert opened(cut) is None
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))  # another user
    assert opened(whole) is None
