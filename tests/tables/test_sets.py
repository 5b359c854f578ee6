"""Public sets as tables."""

from pathlib import Path

import pytest

from shortlist.datasets.registry import public_sets
from shortlist.errors import BadFileError, BadInputError
from shortlist.tables.sets import read_set


@pytest.mark.parametrize("name", public_sets())
def test_a_set_of_a_folder_has_the_rows_and_classes_that_the_list_says(data_folder: Path, name: str) -> None:
    data_set = public_sets()[name]
    table = read_set(name, data_folder)
    assert table is not None
    assert tuple(table.columns) == (*data_set.features, "target")
    assert len(table) == data_set.rows
    if data_set.classes:
        assert {str(word): rows for word, rows in table["target"].value_counts().items()} == data_set.classes


def test_a_set_that_is_nowhere_is_none(tmp_path: Path) -> None:
    assert read_set("musk-v1", tmp_path) is None


def test_another_table_of_that_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pima_diabetes.csv").write_text("a,target\n1,2\n")
    with pytest.raises(
        BadFileError, match=r"must hold 768 rows with the columns of pima-diabetes, .* got 1 rows"
    ):
        read_set("pima_diabetes", tmp_path)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(BadInputError, match=r"a public data set must be one of"):
        read_set("nothing")
