"""The file of finished units."""

from pathlib import Path

import pytest

from shortlist.errors import BadInputError
from shortlist.products.comparison.unit_journal import open_units


def test_records_come_back_and_a_cut_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "study"
    journal, records = open_units(path, {"question": "q", "settings": {"n": None}})
    assert records == {}
    journal.append("a 0", {"points": [[1, 2]]})
    journal.append("a 1", {"points": []})
    path.write_bytes(path.read_bytes()[:-9])

    journal, records = open_units(path, {"question": "q", "settings": {"n": None}})
    assert records == {"a 0": {"unit": "a 0", "points": [[1, 2]]}}
    journal.append("a 1", {"points": [[3]]})
    _, records = open_units(path, {"question": "q", "settings": {"n": None}})
    assert sorted(records) == ["a 0", "a 1"]
    assert records["a 1"]["points"] == [[3]]


def test_a_file_of_something_else_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "study"
    open_units(path, {"question": "q"})
    before = path.read_bytes()
    with pytest.raises(BadInputError, match="another problem or to other settings"):
        open_units(path, {"question": "r"})
    assert path.read_bytes() == before
    path.write_text("feature,cost\nA,1")
    with pytest.raises(BadInputError, match="must be a file of an earlier run"):
        open_units(path, {"question": "q"})
    assert path.read_text() == "feature,cost\nA,1"
    with pytest.raises(BadInputError, match="cannot be written"):
        open_units(tmp_path / "no" / "study", {})


def test_without_a_path_nothing_is_kept() -> None:
    journal, records = open_units(None, {})
    journal.append("a", {})
    assert records == {}
