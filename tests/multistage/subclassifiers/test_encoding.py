from typing import Any

import numpy as np
import pandas as pd
import pytest

from shortlist.errors import BadInputError
from shortlist.multistage.subclassifiers.encoding import learn_encoding


def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [1.0, np.nan, 3.0, 5.0],
            "city": ["x", "y", "z", "x"],
            "yes": [True, False, True, True],
            "colour": ["red", None, "blue", "red"],
        }
    )


def test_each_column_stays_tied_to_its_feature() -> None:
    X = table()
    encoding = learn_encoding(X, list(X.columns))

    assert [code.width for code in encoding.codes] == [2, 3, 1, 2]
    assert encoding.starts.tolist() == [0, 2, 5, 6, 8]
    only_city = encoding.columns(np.array([False, True, False, False]))
    assert np.flatnonzero(only_city).tolist() == [2, 3, 4]
    encoded = encoding.encode(range(4), X)
    assert encoded.tolist() == [
        [1, 0, 1, 0, 0, 1, 1, 0],
        [3, 1, 0, 1, 0, 0, 0, 1],
        [3, 0, 0, 0, 1, 1, 0, 0],
        [5, 0, 1, 0, 0, 1, 1, 0],
    ]


def test_some_features_alone_give_the_same_columns() -> None:
    X = table()
    encoding = learn_encoding(X, list(X.columns))
    whole = encoding.encode(range(4), X)
    part = encoding.encode([3, 0], X[["colour", "age"]])

    assert part.tolist() == whole[:, [6, 7, 0, 1]].tolist()
    assert encoding.encode([3, 0], X[["colour", "age"]].to_numpy(dtype=object)).tolist() == part.tolist()


def test_plain_numbers_pass_through() -> None:
    X = np.arange(6.0).reshape(3, 2)
    encoding = learn_encoding(X, ["a", "b"])

    assert encoding.plain
    assert encoding.encode([0, 1], X).tolist() == X.tolist()
    X.flags.writeable = False
    assert encoding.encode([0, 1], X).flags.writeable


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (np.nan, "feature 'a' had no missing values when fitting, got NaN"),
        (np.inf, "feature 'a' must be finite, got infinity"),
        ("text", "feature 'a' must hold numbers"),
    ],
)
def test_unusable_values_are_refused(value: object, sentence: str) -> None:
    encoding = learn_encoding(np.arange(6.0).reshape(3, 2), ["a", "b"])
    rows = np.array([[value, 1.0]], dtype=object)
    with pytest.raises(BadInputError, match=sentence):
        encoding.encode([0, 1], rows)
    with pytest.raises(BadInputError, match=sentence):
        encoding.encode([0, 1], pd.DataFrame(rows, columns=["a", "b"]))


def test_numbers_that_a_frame_marks_as_categories_are_categories() -> None:
    frame = pd.DataFrame({"code": [3, 1, 2, 1]})
    encoding = learn_encoding(frame.astype("category"), ["code"])
    wanted = [[0, 0, 1], [1, 0, 0], [0, 1, 0], [1, 0, 0]]

    for rows in (frame.astype("category"), frame, frame.astype(float), frame.to_numpy()):
        assert encoding.encode([0], rows).tolist() == wanted


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "string"])
def test_the_gaps_of_pandas_own_types_are_gaps(dtype: str) -> None:
    kinds: dict[str, list[Any]] = {"boolean": [True, None, False], "string": ["x", None, "y"]}
    values = kinds.get(dtype, [1, None, 3])
    plain = pd.DataFrame({"a": pd.Series(values, dtype=object if dtype in {"boolean", "string"} else float)})
    own = pd.DataFrame({"a": pd.array(values, dtype=dtype)})
    encoding = learn_encoding(own, ["a"])

    known = learn_encoding(plain, ["a"])
    assert encoding.encode([0], own).tolist() == known.encode([0], plain).tolist()
    assert encoding.encode([0], plain).tolist() == known.encode([0], own).tolist()
    assert encoding.encode([0], own)[:, -1].tolist() == [0, 1, 0]


def test_times_are_refused() -> None:
    frame = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2021-01-01"])})
    with pytest.raises(BadInputError, match="feature 'day' must hold numbers or text, got times"):
        learn_encoding(frame, ["day"])


def test_the_value_that_is_no_number_is_named() -> None:
    encoding = learn_encoding(np.arange(6.0).reshape(3, 2), ["a", "b"])
    with pytest.raises(BadInputError, match="feature 'b' must hold numbers, as when fitting, got 'x'"):
        encoding.encode([0, 1], np.array([[1.0, 2.0], [1.0, "x"]], dtype=object))


def test_an_unseen_category_is_no_category() -> None:
    encoding = learn_encoding(pd.DataFrame({"city": ["x", "y", "z"]}), ["city"])

    assert encoding.encode([0], pd.DataFrame({"city": ["w"]})).tolist() == [[0, 0, 0]]
