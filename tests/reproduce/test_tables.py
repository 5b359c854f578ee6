"""Tables of results as text."""

from shortlist.reproduce.paper import ResultTable
from shortlist.reproduce.tables import as_csv, as_markdown, as_text

TABLE = ResultTable(
    "it", "It", [{"name": "a|b", "n": 12345, "share": 0.123456789}, {"name": "c", "n": None, "share": float("nan")}], "So."
)  # fmt: skip


def test_csv_keeps_every_digit() -> None:
    assert as_csv(TABLE.rows) == "name,n,share\na|b,12345,0.123456789\nc,,nan\n"


def test_columns_of_later_rows_are_not_lost() -> None:
    assert as_csv([{"a": 1}, {"b": 2}]) == "a,b\n1,\n,2\n"


def test_markdown_shows_words_left_and_numbers_right() -> None:
    assert as_markdown(TABLE) == (
        "## It\n\n| name | n | share |\n| --- | ---: | ---: |\n| a\\|b | 12,345 | 0.1235 |\n| c | - | - |\n\nSo.\n"
    )


def test_text_is_aligned() -> None:
    assert as_text(TABLE) == "It\nname       n   share\na|b   12,345  0.1235\nc          -       -\nSo."
