"""What a study tells of itself."""

import contextlib
import operator
import sqlite3
from pathlib import Path

import pytest

from shortlist.errors import BadFileError
from shortlist.runs import Finished, Unit, Work, open_study, run_units
from shortlist.runs.studies.study import StageNote
from shortlist.runs.studies.summary import StageSummary, summary


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
    [stage] = found.stages
    assert (stage.name, stage.done, stage.total, stage.running, found.n_done) == ("sums", 3, 5, 1, 3)
    assert "process" not in found.driver
    assert found.driver
    after = summary(tmp_path / "s.db")
    assert (after.n_done, after.n_failed, after.driver, after.stages[0].running) == (4, 1, "", 0)
    assert after.failures == ("late: ValueError: no",)
    assert [path.name for path in tmp_path.iterdir()] == ["s.db"]


@pytest.mark.parametrize(("done", "running", "left"), [(0, 1, None), (2, 1, 12.0), (2, 4, 3.0), (8, 0, 0.0)])
def test_time_left_counts_the_workers(done: int, running: int, left: float | None) -> None:
    assert StageSummary("", "s", 8, done, running, 2.0 * done, "").left_s == left


def test_a_file_that_is_not_there_or_of_others_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match="cannot be read: No such file"):
        summary(tmp_path / "s.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "o.db")) as other:
        other.execute("PRAGMA application_id = 7")
        other.execute("CREATE TABLE t (a)")
    with pytest.raises(BadFileError, match="got something else"):
        summary(tmp_path / "o.db")


@pytest.mark.parametrize("value", [b"\xff\x9f", "no JSON", '{"half": '])
def test_a_value_that_is_no_json_any_more_is_damage(tmp_path: Path, value: str | bytes) -> None:
    path = tmp_path / "s.db"
    with open_study(path) as study:
        study.note({"command": "stage"})
        study.bind({"seed": 1})
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE rows SET value = ? WHERE kind = 'fact'", (value,))
        connection.commit()
    with pytest.raises(BadFileError, match=r"the study .*s\.db is damaged"):
        summary(path)
    with pytest.raises(BadFileError, match=r"the study .*s\.db is damaged"), open_study(path):
        pass


def test_a_stage_of_another_shape_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with open_study(path) as study:
        study.tell(StageNote("fits", 5, 3))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE rows SET value = '[5.3,0,\"\"]' WHERE kind = 'stage'")
        connection.commit()
    with pytest.raises(BadFileError, match=r"the study .*s\.db is damaged"):
        summary(path)


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
