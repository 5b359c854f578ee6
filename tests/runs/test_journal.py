"""Files of JSON lines that lose nothing."""

from pathlib import Path

import pytest

from shortlist.errors import BadFileError
from shortlist.runs.journal import append_line, open_lines

HEADER = {"question": "q"}


def _opened(path: Path) -> list[dict[str, object]]:
    return open_lines(str(path), HEADER, mark="shortlist_test", argument="study")


def test_a_file_that_was_cut_off_anywhere_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    assert _opened(path) == []
    append_line(str(path), {"n": 1})
    whole = path.read_bytes()
    for length in range(len(whole) - 1):
        path.write_bytes(whole[:length])
        assert _opened(path) == []
        append_line(str(path), {"n": 2})
        assert _opened(path) == [{"n": 2}]


def test_the_beginning_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    path.write_text('{"shortlist_other":1')
    with pytest.raises(BadFileError, match="must be a file of an earlier run"):
        _opened(path)
    assert path.read_text() == '{"shortlist_other":1'
