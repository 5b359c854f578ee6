"""Rows as CSV and as workbooks, and workbooks that are read."""

import io
import tracemalloc
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import python_calamine

from shortlist.errors import BadFileError, BadInputError
from shortlist.tables.files import read_table_file
from shortlist.tables.spreadsheets import (
    MOST_CHARACTERS,
    MOST_COLUMNS,
    Cell,
    check_extent,
    check_size,
    save_rows,
)
from tests.tables.workbooks import workbook

HEADER = ["name", "=1+1", "n"]
ROWS: list[list[Cell]] = [
    ["=HYPERLINK(A1)", 1, Decimal("2.50")],
    ["+x", True, 2**60 + 1],
    ["-y", None, -0.1],
    ["@z", False, Decimal("0.1234567890123456789")],
    ["http://a.b/c", 0, 1e20],
    ['a,b\n"c"', -3, 10**15],
]  # fmt: skip


def test_a_workbook_holds_texts_and_numbers_and_no_formula(tmp_path: Path) -> None:
    save_rows(tmp_path / "t.xlsx", HEADER, ROWS)
    with python_calamine.load_workbook(str(tmp_path / "t.xlsx")) as workbook:
        (sheet,) = workbook.sheet_names
        cells = workbook.get_sheet_by_name(sheet).to_python()
    assert cells[0] == HEADER
    assert [row[0] for row in cells[1:]] == [row[0] for row in ROWS]
    assert [row[1] for row in cells[1:]] == [1, "true", "", "false", 0, -3]
    assert [row[2] for row in cells[1:]] == [
        2.5, str(2**60 + 1), -0.1, "0.1234567890123456789", 1e20, 10**15,
    ]  # fmt: skip
    with zipfile.ZipFile(tmp_path / "t.xlsx") as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert "<f>" not in texts["xl/worksheets/sheet1.xml"]
    assert not [name for name in texts if "externalLink" in name or "sheet1.xml.rels" in name]


def test_a_csv_guards_what_spreadsheets_would_calculate(tmp_path: Path) -> None:
    save_rows(tmp_path / "t.csv", HEADER, ROWS[:4])
    assert (tmp_path / "t.csv").read_text() == (
        "name,'=1+1,n\n'=HYPERLINK(A1),1,2.50\n'+x,true,1152921504606846977\n'-y,,-0.1\n"
        "'@z,false,0.1234567890123456789\n"
    )


def test_a_workbook_is_read_as_a_table_again(tmp_path: Path) -> None:
    save_rows(tmp_path / "t.xlsx", ["a", "b"], [[1, "x"], [2.5, "y"]])
    table = read_table_file(tmp_path / "t.xlsx")
    assert table.to_dict("list") == {"a": [1.0, 2.5], "b": ["x", "y"]}


@pytest.mark.parametrize(
    ("name", "header", "sentence"),
    [
        ("t.ods", ["a"], r"ending in \.csv or \.xlsx"),
        ("t.xlsx", ["a"] * (MOST_COLUMNS + 1), r"at most 1,048,576 rows and 16,384 columns, got 1 and 16,385"),
        ("t.xlsx", ["a" * (MOST_CHARACTERS + 1)], "at most 32,767 characters, got 32,768"),
    ],
)  # fmt: skip
def test_what_no_sheet_holds_is_refused_and_nothing_written(
    name: str, header: list[str], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInputError, match=sentence):
        save_rows(tmp_path / name, header, [])
    assert not list(tmp_path.iterdir())


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
    with pytest.raises(BadFileError, match=r"t\.xlsb must be an Excel workbook in the format \.xlsx,"):
        read_table_file(path)


def _xml(cells: str, head: str = "") -> bytes:
    return f'{head}<worksheet xmlns="x"><sheetData>{cells}</sheetData></worksheet>'.encode()


def _with_sheet(sheet: bytes) -> bytes:
    """Return a workbook with another first sheet."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook([]))) as old, zipfile.ZipFile(made, "w") as new:
        for part in old.namelist():
            new.writestr(part, sheet if part.endswith("sheet1.xml") else old.read(part))
    return made.getvalue()


@pytest.mark.parametrize("said", ["", '<dimension ref="A1:A2"/>'])
def test_a_stray_cell_is_refused_whatever_the_sheet_says_of_itself(said: str, tmp_path: Path) -> None:
    path = tmp_path / "far.xlsx"
    cells = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    path.write_bytes(_with_sheet(_xml(cells).replace(b"<sheetData>", said.encode() + b"<sheetData>")))
    with pytest.raises(BadFileError, match=r"got a cell in row 1,048,576 and one in column 16,384\. Delete"):
        read_table_file(path)


@pytest.mark.parametrize(
    "cells",
    [
        '<row r="4"><c r="C4"><v>1</v></c></row>',
        '<row r="3"/><row><c/><c/><c><v>1</v></c></row>',
        '<row r="3"/><row><c r="B4"/><c><is><t>1</t></is></c></row>',
        '<row><c r="c1"><v>1</v></c></row><row><c r="A4"><v>1</v></c></row>',
        '<row r="1"><!-- <c r="A9"><v>1</v></c> --><c r="C4"><v>1</v></c><c r="XFD9"/></row><row r="99"/>',
    ],
)
def test_only_cells_with_a_value_count_with_or_without_their_places(cells: str) -> None:
    check_extent("t.xlsx", io.BytesIO(_xml(cells)), most=12)
    with pytest.raises(BadFileError, match="at most 11 cells, got a cell in row 4 and one in column 3"):
        check_extent("t.xlsx", io.BytesIO(_xml(cells)), most=11)


@pytest.mark.parametrize(
    ("sheet", "what"),
    [
        (_xml('<row r="1"><c r="1A"><v>1</v></c></row>'), "a cell is at '1A'"),
        (_xml('<row r="-1"/>'), "a row is at '-1'"),
        (_xml("&a;", '<!DOCTYPE d [<!ENTITY a "b">]>'), "it declares entities"),
        (b"<worksheet><sheetData>", "no element found"),
    ],
)
def test_a_damaged_sheet_is_refused(sheet: bytes, what: str) -> None:
    with pytest.raises(BadFileError, match=f"t.xlsx is a damaged workbook: {what}"):
        check_extent("t.xlsx", io.BytesIO(sheet))
