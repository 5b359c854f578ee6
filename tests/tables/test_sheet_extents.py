"""Sheets with cells far apart."""

import io
import zipfile
from pathlib import Path

import pytest

from shortlist.errors import BadFileError
from shortlist.tables.files import read_table_file
from shortlist.tables.sheet_extents import check_extent
from tests.tables.workbooks import workbook


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
