"""Numbers as people write them, and words that are gaps among numbers alone."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadFileError
from shortlist.tables.files import cells_of, table_of_bytes
from shortlist.tables.numbers import COMMA, POINT, CellRules, as_plain, as_written


def read(text: str, **rules: Any) -> tuple[pd.DataFrame, list[str]]:
    notes: list[str] = []
    return table_of_bytes("t", text.encode(), notes, rules=CellRules(**rules)), notes


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        pytest.param(["1.202,34", "7,5"], [1202.34, 7.5], id="decimal commas, points between thousands"),
        pytest.param(["1,202.34", "7.5"], [1202.34, 7.5], id="the other way round"),
        pytest.param(["219,20 €", "1.219,20 €", "3 €"], [219.2, 1219.2, 3], id="euros behind"),
        pytest.param(["$0.05", "-$1,000.50", "$7"], [0.05, -1000.5, 7], id="dollars before"),
        pytest.param(["1 234,5", "2\u00a0500,0"], [1234.5, 2500], id="blanks between thousands"),
        pytest.param(["1'234.5", "900"], [1234.5, 900], id="Swiss"),
        pytest.param(["1,234,567", "12"], [1234567, 12], id="millions"),
        pytest.param(["NA", "1.5", "None", "nan", "null"], [np.nan, 1.5, np.nan, np.nan, np.nan], id="gaps"),
        pytest.param(["\u22121.5", "2"], [-1.5, 2], id="a typographic minus"),
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_column_of_one_notation_is_read_whatever_parts_the_columns(
    cells: list[str], numbers: list[float], separator: str
) -> None:
    rows = "".join(f'"{cell}"{separator}w{at}\n' for at, cell in enumerate(cells))
    table, _ = read(f"price{separator}word\n{rows}")
    np.testing.assert_allclose(table["price"].to_numpy(float), numbers)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("a;b\n1,234;x\n2,500;y\n", [1.234, 2.5], id="semicolons"),
        pytest.param('a,b\n"1,234",0.5\n"2,500",7\n', [1234, 2500], id="points elsewhere"),
        pytest.param('a\tb\n1,234\t0,25\n2,500\t"1,5"\n', [1.234, 2.5], id="commas elsewhere"),
        pytest.param("a;b\n1.234;0,25\n2.500;1,5\n", [1234, 2500], id="points between thousands"),
        pytest.param("a;b\n1,084;1 385\n1,248;1 894\n", [1.084, 1.248], id="blanks elsewhere tell nothing"),
        pytest.param("a;b\n1,032;€7\n1,985;€8\n", [1.032, 1.985], id="a currency elsewhere tells nothing"),
    ],
)
def test_other_columns_and_semicolons_tell_what_one_column_does_not(text: str, found: list[float]) -> None:
    assert read(text)[0]["a"].tolist() == found


@pytest.mark.parametrize("other", ["x", "€7", "1 385"])
def test_what_may_be_either_is_refused_and_an_option_tells(other: str) -> None:
    text = f'a,b\n"1,234",{other}\n"2,500",{other}\n'
    with pytest.raises(BadFileError, match=r"'1,234' in column 'a', which is 1234 or 1\.234"):
        read(text)
    assert read(text, decimal=POINT)[0]["a"].tolist() == [1234, 2500]
    assert read(text, decimal=COMMA)[0]["a"].tolist() == [1.234, 2.5]
    points = "a,b\n1.234,x\n2.500,y\n"
    assert read(points, decimal=POINT)[0]["a"].tolist() == [1.234, 2.5]
    assert read(points, decimal=COMMA)[0]["a"].tolist() == [1234, 2500]


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param(["1,2", "3,4"], id="lists of labels between commas"),
        pytest.param(["$1", "€2"], id="two currencies"),
        pytest.param(["1,5", "1.5"], id="two notations"),
        pytest.param(["12,34,567"], id="groups of two"),
        pytest.param(["NA", "None"], id="gaps alone are words"),
        pytest.param(["1.2.3", "4"], id="versions"),
    ],
)
def test_other_columns_stay_words(cells: list[str]) -> None:
    table, _ = read("a,b\n" + "".join(f'"{cell}",1\n' for cell in cells))
    assert table["a"].tolist() == cells


def test_words_are_gaps_among_numbers_and_truth_values_alone_unless_a_user_says_so() -> None:
    text = "word,number,flag\nNA,1,True\nNone,NA,None\n,2,False\n?,3,True\n"
    table, _ = read(text)
    assert table["word"].fillna("").tolist() == ["NA", "None", "", "?"]
    assert table["number"].isna().tolist() == [False, True, False, False]
    assert table["flag"].isna().tolist() == [False, True, False, False]
    asked, _ = read(text, gaps=("?", "None"))
    assert asked["word"].fillna("").tolist() == ["NA", "", "", ""]
    assert asked["number"].tolist() == ["1", "NA", "2", "3"]
    frame = pd.DataFrame({"word": ["NA", "None", "?"]})
    file = io.BytesIO()
    frame.to_parquet(file)
    assert table_of_bytes("t", file.getvalue(), []).equals(frame)
    assert table_of_bytes("t", file.getvalue(), [], rules=CellRules(("NA",)))["word"].isna().tolist() == [
        True,
        False,
        False,
    ]


def test_the_line_of_excel_that_tells_the_separator_is_passed_over() -> None:
    table, notes = read("sep=;\na;b\n1,5;x\nabc;y\n2;z\n")
    assert table.columns.tolist() == ["a", "b"]
    assert "t, line 4: column 'a' holds 'abc' among 2 numbers" in notes[-1]
    assert read("sep=|\na|b\n1|2\n")[0]["b"].tolist() == [2]
    assert cells_of("t", b"sep=;\na;b\n1,5;x\n", [])[1] == (3, ["1.5", "x"])


def test_points_between_thousands_that_semicolons_decide_are_told() -> None:
    notes: list[str] = []
    rows = cells_of("t.csv", b"feature;price\nGPS;1.202\nMP3;219\n", notes)
    assert [cells[1] for _, cells in rows[1:]] == ["1202", "219"]
    assert notes[-1] == "t.csv: marks between thousands in 'price' are left out."


def test_products_get_plain_cells() -> None:
    notes: list[str] = []
    rows = cells_of("t", 'feature,price\nGPS,"1.202,34"\nUSB,"219,20 €"\n'.encode(), notes)
    assert [row for _, row in rows[1:]] == [["GPS", "1202.34"], ["USB", "219.20"]]
    assert notes == [
        "t: the sign '€' in 'price' is left out.",
        "t: decimal commas in 'price' were read as decimal points.",
    ]


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=5), st.sampled_from([POINT, COMMA]))
def test_what_is_written_is_read(hundredths: list[int], notation: str) -> None:
    texts = [f"{number / 100:,.2f}" for number in hundredths]
    if notation == COMMA:
        texts = [text.translate(str.maketrans(",.", ".,")) for text in texts]
    found = as_written(texts)
    assert found is not None
    assert [round(float(found.plain[notation][text]) * 100) for text in texts] == hundredths


def test_a_sign_stands_once() -> None:
    assert as_plain("-$-5", POINT) is None
    assert as_plain("$5 $", POINT) is None
    assert as_plain("$", POINT) is None
    assert as_plain("e5", POINT) is None
    assert as_plain("E5", POINT) is None


def test_thousands_of_the_shared_cases(data_folder: Path) -> None:
    notes: list[str] = []
    content = (data_folder / "cases" / "thousands.csv").read_bytes()
    table = table_of_bytes("t", content, notes)
    assert table["income"].dtype.kind == "f"
    assert notes == ["t: marks between thousands in 'income' are left out."]
