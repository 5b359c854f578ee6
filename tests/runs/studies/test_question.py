"""Signatures of what this user wrote."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shortlist.runs import Finished, open_study
from shortlist.runs.studies.question import (
    MARK,
    clear_cache,
    opened,
    signed,
    studies_in_cache,
    study_in_cache,
)
from shortlist.runs.studies.study_file import StudyFile


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


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def _made(name: str, *, days: float = 0.0, size: int = 0) -> Path:
    path = study_in_cache("prune", {"name": name}, "data")
    assert path is not None
    with open_study(path) as study:
        study.record(Finished("a", "x" * size))
    then = time.time() - days * 86400
    os.utime(path, (then, then))
    return path


def test_what_is_asked_tells_studies_apart() -> None:
    asked = [
        ("prune", {"a": 1}, "d"),
        ("stage", {"a": 1}, "d"),
        ("prune", {"a": 2}, "d"),
        ("prune", {"a": 1}, "e"),
    ]
    assert len({study_in_cache(*one) for one in asked}) == 4
    assert study_in_cache("prune", {"a": 1, "b": 2}, "d") == study_in_cache("prune", {"b": 2, "a": 1}, "d")


def test_old_studies_go_and_then_the_oldest_until_the_rest_is_small_enough() -> None:
    old, *others = (_made(str(days), days=days, size=200_000) for days in (31, 3, 2, 1))
    assert clear_cache() == [old]
    with open_study(others[0]):
        pass
    os.utime(others[0], (time.time() - 3 * 86400,) * 2)
    assert clear_cache(most_bytes=500_000) == [others[0]]
    assert studies_in_cache() == [others[2], others[1]]


def test_a_study_that_is_worked_on_stays() -> None:
    path = _made("a", days=40)
    with open_study(path):
        os.utime(path, (0, 0))
        os.utime(path.with_name(f"{path.name}-wal"), (0, 0))
        assert clear_cache() == []


def test_short_work_leaves_no_file_and_longer_work_keeps_all(monkeypatch: pytest.MonkeyPatch) -> None:
    path = study_in_cache("prune", {}, "d")
    assert path is not None
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    with open_study(path, after_s=1.0) as study:
        study.bind({"n": 1})
        study.record(Finished("a", [1]))
        assert study.results() == {"a": [1]}
        assert not path.exists()
    assert not path.exists()
    with open_study(path, after_s=1.0) as study:
        study.bind({"n": 1})
        study.record(Finished("a", [1]))
        clock[0] += 2
        study.record(Finished("b", [2]))
        assert path.exists()
    with open_study(path, after_s=1.0) as study:
        assert (study.results(), study.settings()) == ({"a": [1], "b": [2]}, {"n": 1})


def test_a_study_that_another_process_made_meanwhile_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    path = study_in_cache("prune", {}, "d")
    assert path is not None
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    with open_study(path, wait=False, after_s=1.0) as study:
        clock[0] += 2
        other = StudyFile(path, lambda _: None)
        study.record(Finished("a", 1))
        assert study.results() == {"a": 1}
        other.close()
        study.record(Finished("b", 1))
    with open_study(path) as study:
        assert study.results() == {}


def test_without_a_cache_there_is_no_study(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert study_in_cache("prune", {}, "d") is None


FILLING = """
import resource, sys
from pathlib import Path
from shortlist.runs.studies import Finished, open_study
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
wanted = {f"unit {n:03}": "x" * 1000 for n in range(500)}
with open_study(sys.argv[1], after_s=1e-9, say=print) as study:
    for key, result in wanted.items():
        assert study.record(Finished(key, result)) == result
    found = study.results()
lost = wanted.keys() - found.keys()
assert len(lost) <= 1, lost
assert all(found[key] == wanted[key] for key in found)
"""


@pytest.mark.parametrize("begun", [False, True])
def test_a_disk_that_gets_full_ends_no_run_that_asked_for_no_study(tmp_path: Path, begun: bool) -> None:
    path = tmp_path / "s.db"
    if begun:
        with open_study(path) as study:
            study.record(Finished("unit 000", "x" * 1000))
    run = subprocess.run(
        [sys.executable, "-c", FILLING, path], capture_output=True, text=True, check=False, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == (
        f"note: nothing more of this run is kept for a later one: {path} cannot be written: "
        "No space left on device.\n"
    )


def test_a_place_that_cannot_be_written_ends_no_run_that_asked_for_no_study(tmp_path: Path) -> None:
    said: list[str] = []
    with open_study(tmp_path / "none" / "s.db", after_s=1e-9, say=said.append) as study:
        study.record(Finished("a", 1))
        assert study.results() == {"a": 1}
    assert len(said) == 1
    assert said[0].endswith("cannot be written: its folder does not exist.")


def test_a_study_of_another_process_ends_no_run_that_asked_for_none(tmp_path: Path) -> None:
    path, said = tmp_path / "s.db", list[str]()
    with open_study(path) as other:
        other.record(Finished("theirs", 1))
        with open_study(path, wait=False, after_s=1.0, say=said.append) as study:
            study.record(Finished("a", 1))
            assert study.results() == {"a": 1}
    assert len(said) == 1
    assert f"in use by process {os.getpid()} on" in said[0]
    with open_study(path) as study:
        assert study.results() == {"theirs": 1}
