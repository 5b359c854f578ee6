"""Tables of results as text."""

import pandas as pd

from shortlist.papers.paper import ResultTable
from shortlist.papers.tables import as_csv, as_markdown, as_text, whole_numbers

TABLE = ResultTable(
    "it", "It", [{"name": "a|b", "n": 12345, "share": 0.123456789}, {"name": "c", "n": None, "share": float("nan")}], "So."
)  # fmt: skip


def test_csv_keeps_every_digit() -> None:
    assert as_csv(TABLE.rows) == "name,n,share\na|b,12345,0.123456789\nc,,nan\n"


def test_columns_of_whole_numbers_are_integers_also_beside_rows_that_have_none() -> None:
    rows = pd.DataFrame([{"K": 40, "f": 0.5, "big": 1e300, "word": "a"}, {"word": "b", "f": 1.0, "on": True}])
    assert rows["K"].dtype == float
    written = whole_numbers(rows).to_csv(index=False)
    assert written == "K,f,big,word,on\n40,0.5,1e+300,a,\n,1.0,,b,True\n"


def test_columns_of_later_rows_are_not_lost() -> None:
    assert as_csv([{"a": 1}, {"b": 2}]) == "a,b\n1,\n,2\n"


def test_markdown_shows_words_left_and_numbers_right() -> None:
    assert as_markdown(TABLE) == (
        "## It\n\n| name | n | share |\n| --- | ---: | ---: |\n| a\\|b | 12,345 | 0.1235 |\n| c | - | - |\n\nSo.\n"
    )


def test_text_is_aligned() -> None:
    assert as_text(TABLE) == "It\nname       n   share\na|b   12,345  0.1235\nc          -       -\nSo."
