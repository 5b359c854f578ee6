"""Studies that nobody named."""

import os
import time
from pathlib import Path

import pytest

from shortlist.runs import Finished, open_study
from shortlist.runs.studies.cache import clear_cache, studies_in_cache, study_in_cache
from shortlist.runs.studies.study_file import StudyFile


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
