"""Where a command keeps what is finished: as named, in the cache, or nowhere."""

from pathlib import Path
from typing import Any

import pytest
import typer

from shortlist.cli.studies import StudyOptions
from shortlist.errors import BadFileError
from shortlist.runs import open_study


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    own = typer.Context(typer.main.get_command(typer.Typer(callback=print)), info_name="evolve")
    own.params = {"table": "t.csv", "seed": 0}
    return own


def test_a_named_study_is_taken_and_lies_outside_the_cache(context: Any, tmp_path: Path) -> None:
    place = StudyOptions(study=tmp_path / "s.db").place(context, "digest")
    assert place.path == tmp_path / "s.db"
    assert not place.cached


def test_the_study_called_none_keeps_nothing(context: Any) -> None:
    none = StudyOptions(study=Path("none"))
    assert none.file is None
    assert none.place(context, "digest").path is None


def test_a_study_of_the_cache_is_another_one_for_other_data(context: Any, tmp_path: Path) -> None:
    first, again, other = (StudyOptions().place(context, data).path for data in ("a", "a", "b"))
    assert first == again
    assert first != other
    assert first is not None
    assert first.is_relative_to(tmp_path)


def test_a_damaged_study_of_the_cache_is_begun_anew_and_a_named_one_is_refused(
    context: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, named = StudyOptions().place(context, "digest"), StudyOptions(study=tmp_path / "s.db")
    for place in (kept, named.place(context, "digest")):
        assert place.path is not None
        with open_study(place.path) as study:
            study.note({"command": "evolve"})
        place.path.write_bytes(place.path.read_bytes()[:5000])
    with kept.opened(context) as study:
        assert study.noted("seed") is None
    assert "had kept is damaged, so it starts from scratch" in capsys.readouterr().err
    with pytest.raises(BadFileError, match="is damaged"), named.place(context, "digest").opened(context):
        pytest.fail("it was opened")
