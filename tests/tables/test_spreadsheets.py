"""Tables for spreadsheets, read back by a reader that is not ours to write."""

import zipfile
from decimal import Decimal
from pathlib import Path

import pytest
import python_calamine

from shortlist.errors import BadInputError
from shortlist.tables.files import read_table_file
from shortlist.tables.spreadsheets import MOST_CHARACTERS, MOST_COLUMNS, Cell, save_rows

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
        (
            "t.xlsx",
            ["a"] * (MOST_COLUMNS + 1),
            r"at most 1,048,576 rows and 16,384 columns, got 1 and 16,385",
        ),
        ("t.xlsx", ["a" * (MOST_CHARACTERS + 1)], "at most 32,767 characters, got 32,768"),
    ],
)
def test_what_no_sheet_holds_is_refused_and_nothing_written(
    name: str, header: list[str], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInputError, match=sentence):
        save_rows(tmp_path / name, header, [])
    assert not list(tmp_path.iterdir())
