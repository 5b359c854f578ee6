"""Workbooks that are not what they say they are."""

import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
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


def test_an_archive_that_is_called_a_workbook_and_holds_none_is_refused_unread(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big.bin", b"a" * 2**20)
    with pytest.raises(BadFileError, match=r"bomb\.xlsx must be an Excel workbook, but is an archive"):
        read_table_file(bomb)


def test_a_compressed_table_of_one_endless_line_is_refused_in_little_memory(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", b"a" * 2**24)
    tracemalloc.start()
    try:
        with pytest.raises(BadFileError, match="has a header and no rows"):
            read_table_file(tmp_path / "t.zip")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 7 * 2**24, "text of four bytes a character takes more than eight times its size"


def test_damaged_workbooks_are_refused_by_name(path: Path) -> None:
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in range(1, 90, 3):
        cut = bytearray(content)
        at = len(content) - 22 + int(rng.integers(0, 20))
        del cut[len(content) // 2 : len(content) // 2 + place]  # the places that the end names are past it
        cut[min(at, len(cut) - 1)] ^= int(rng.integers(0, 2)) * 255
        path.write_bytes(bytes(cut))
        with pytest.raises(BadFileError, match=r"t\.xlsx"):
            read_table_file(path)


def test_a_binary_workbook_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsb"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.bin", b"")
    with pytest.raises(
        BadFileError, match=r"t\.xlsb must be an Excel workbook in the format \.xlsx, .* Save"
    ):
        read_table_file(path)
