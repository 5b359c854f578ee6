"""Workbooks that are not what they say they are."""

from pathlib import Path

import pytest

from shortlist.errors import BadFileError
from shortlist.tables.files import read_table_file
from shortlist.tables.spreadsheets import save_rows
from shortlist.tables.workbooks import check_size


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save_rows(tmp_path / "t.xlsx", ["a", "b"], [[1, "x" * 5000], [2, "y"]])
    return tmp_path / "t.xlsx"


def test_a_workbook_that_unpacks_to_too_much_is_refused(path: Path) -> None:
    assert len(read_table_file(path)) == 2
    check_size("t.xlsx", path.read_bytes())
    with pytest.raises(BadFileError, match="unpacks to more than 4,000 bytes"):
        check_size("t.xlsx", path.read_bytes(), most=4000)


def test_a_workbook_that_lies_about_its_size_is_refused(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for place in [i for i in range(len(content)) if content[i : i + 4] == b"PK\x01\x02"]:
        content[place + 24 : place + 28] = (10).to_bytes(4, "little")  # the unpacked size of every part
    path.write_bytes(bytes(content))
    with pytest.raises(BadFileError, match="damaged workbook"):
        read_table_file(path)
