import io
import json
import pickle

import numpy as np
import pandas as pd
import pytest

from shortlist.tables.fingerprints import Fingerprint, match_rows, table_fingerprint


def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "whole": [1, 2, 3, 4],
            "part": [0.1, np.nan, -0.0, 1e300],
            "sparse": [1, None, 3, 4],
            "text": ["a", None, "Ö;,\n", "4"],
            "yes": [True, False, True, True],
            "huge": [2**60 + 1, 2**60, 5, 6],
            "day": pd.to_datetime(["2026-01-01", "2026-01-02", None, "2026-01-04"]),
            "class": ["x", "y", "x", "y"],
        }
    )


def of(frame: pd.DataFrame) -> Fingerprint:
    return table_fingerprint(frame.drop(columns="class"), frame["class"])


def test_a_table_read_from_csv_and_from_parquet_has_one_fingerprint() -> None:
    csv, parquet = io.StringIO(), io.BytesIO()
    table().to_csv(csv, index=False)
    table().to_parquet(parquet)

    read = pd.read_csv(io.StringIO(csv.getvalue()))

    assert of(read) == of(pd.read_parquet(parquet)) == of(table())


def test_types_of_columns_and_the_index_and_the_order_of_columns_make_no_difference() -> None:
    frame = table().set_index(pd.Index(["d", "c", "b", "a"]))[table().columns[::-1]]
    frame["whole"] = frame["whole"].astype("float32")
    frame["sparse"] = frame["sparse"].astype("Int64")
    frame["text"] = frame["text"].astype("category")
    frame["yes"] = frame["yes"].astype(object)

    assert of(frame) == of(table())


@pytest.mark.parametrize(
    ("column", "value"),
    [("whole", 2), ("part", np.nextafter(0.1, 1)), ("sparse", None), ("text", "b"), ("yes", False), ("huge", 2**60),
     ("day", pd.Timestamp("2025-01-01")), ("class", "y")],
)  # fmt: skip
def test_one_other_value_changes_the_digest_and_that_of_its_row_alone(column: str, value: object) -> None:
    frame = table()
    if column != "day":
        frame[column] = frame[column].astype(object)
    frame.loc[0, column] = value
    before, after = of(table()), of(frame)

    assert before != after
    assert (before.rows != after.rows).tolist() == [True, False, False, False]


def test_a_number_is_not_the_text_of_it_and_a_name_counts() -> None:
    assert table_fingerprint([[1]], [0]) != table_fingerprint(np.array([["1"]], dtype=object), [0])
    assert of(table()) != of(table().rename(columns={"whole": "hole"}))


def test_rows_that_moved_went_or_came_are_told_apart() -> None:
    before = of(table())
    swapped = match_rows(before, of(table().iloc[[1, 0, 2, 3]]))
    fewer = match_rows(before, of(table().iloc[[0, 2, 3]]))
    more = match_rows(before, of(pd.concat([table(), table()])))

    assert (swapped.moved.tolist(), swapped.missing.tolist(), swapped.extra.tolist()) == ([0, 1], [], [])
    assert swapped.places.tolist() == [1, 0, 2, 3]
    assert (fewer.places.tolist(), fewer.missing.tolist(), fewer.extra.tolist()) == ([0, -1, 1, 2], [1], [])
    assert (more.moved.tolist(), more.extra.tolist()) == ([], [4, 5, 6, 7])


def test_equal_rows_are_matched_in_order_and_each_once() -> None:
    before = table_fingerprint([[7], [7], [8]], [0, 0, 0])
    after = table_fingerprint([[8], [7], [7], [9]], [0, 0, 0, 0])

    match = match_rows(before, after)

    assert match.places.tolist() == [2, 1, 0]
    assert match.extra.tolist() == [3]


def test_it_goes_into_pickles_and_into_json() -> None:
    one = of(table())

    again = pickle.loads(pickle.dumps(one))

    assert again == one
    assert hash(again) == hash(one)
    assert np.array_equal(again.rows, one.rows)
    assert json.loads(json.dumps(one.as_dict())) == {"sha256": one.digest, "rows": 4}


def test_the_digest_of_a_table_never_changes() -> None:
    expected = "a22ee14c3bc074b60e613ec0ac7409889890d820aa2172aa99341a6ecd7a1841"

    assert table_fingerprint([[1, 2.5], [float("nan"), 4]], ["a", "b"]).digest == expected


@pytest.mark.parametrize("text", ["a", "", "\udc80", "nan", "1"])
def test_columns_of_texts_alone_have_the_numbers_that_mixed_ones_have(text: str) -> None:
    """Texts, decimals and missing cells are looked up by value, mixed types one after the other."""
    plain = pd.Series([text, None, 1.5, float("nan"), -0.0, 0.0, text], dtype=object)
    mixed = pd.Series([text, pd.NA, np.float64(1.5), np.nan, False, 0, np.str_(text)], dtype=object)
    alone, beside = (table_fingerprint(pd.DataFrame({"a": column}), np.zeros(7)) for column in (plain, mixed))
    assert alone == beside
