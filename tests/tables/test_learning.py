"""Columns of a table that name its rows."""

import numpy as np
import pandas as pd
import pytest

from shortlist.errors import BadInputError
from shortlist.tables import learning
from shortlist.tables.learning import long_log, split_target

RNG = np.random.default_rng(0)
SHUFFLED = RNG.permutation(40)
SPREAD = RNG.choice(np.arange(1_000), 40, replace=False)
IDS = {
    "words": [f"p{k}" for k in SHUFFLED],
    "counted in any order": SHUFFLED + 1000,
    "rising with gaps": np.sort(SPREAD),
    "Patient ID": SPREAD,
    "caseId": SPREAD.astype(float),
    "id_patient": SPREAD,
}
MEASURED = {
    "numbers with decimals": RNG.random(40),
    "rising with decimals": np.sort(RNG.random(40)),
    "cholesterol": SPREAD,
    "humid": SPREAD,
    "time": pd.date_range("2026-01-01", periods=40),
    "words that repeat": ["a", "b"] * 20,
    "case": np.repeat(np.arange(20), 2),
    "with a gap": [None, *(f"p{k}" for k in range(39))],
}
CLASSES = ["ill", "well"] * 20


@pytest.mark.parametrize("name", IDS)
def test_words_and_counted_numbers_that_differ_in_every_row_are_left_out_and_named(name: str) -> None:
    notes: list[str] = []
    table = pd.DataFrame({name: IDS[name], "b": RNG.random(40), "y": CLASSES})
    X, _, ids, _ = split_target(table, "y", notes=notes)
    assert (list(X), ids) == (["b"], (name,))
    assert [repr(name) in note for note in notes] == [True]


@pytest.mark.parametrize("name", MEASURED)
def test_measurements_stay_features(name: str) -> None:
    X, _, ids, _ = split_target(pd.DataFrame({name: MEASURED[name], "y": CLASSES}), "y")
    assert (list(X), ids) == ([name], ())


@pytest.mark.parametrize("name", IDS)
def test_a_kept_column_is_a_feature_without_a_note(name: str) -> None:
    notes: list[str] = []
    X, _, ids, _ = split_target(pd.DataFrame({name: IDS[name], "y": CLASSES}), "y", keep=[name], notes=notes)
    assert (list(X), ids, notes) == ([name], (), [])


def test_few_rows_may_differ_by_chance() -> None:
    X, _, ids, _ = split_target(pd.DataFrame({"id": range(19), "y": ["ill", *["well"] * 18]}), "y")
    assert (list(X), ids) == (["id"], ())


def test_the_columns_of_a_few_rows_are_not_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def look(column: pd.Series, *_: pd.Series) -> str:
        looked.append(str(column.name))
        return ""

    for name in ("_names_rows", "_repeats"):
        monkeypatch.setattr(learning, name, look)
    table = pd.DataFrame(np.zeros((2, 50))).rename(columns=str).assign(target=["a", "b"])
    found = split_target(table, "target", notes=[])
    assert (found.X.shape, looked) == ((2, 50), [])


def test_a_table_of_names_alone_is_refused_with_a_way_out() -> None:
    with pytest.raises(BadInputError, match=r"got only 'id', different in every row .* Pass `keep='id'`"):
        split_target(pd.DataFrame({"id": range(40), "y": CLASSES}), "y")


LONG = pd.DataFrame(
    {"case": np.repeat(np.arange(10), 3), "judge": ["a", "b", "c"] * 10, "answer": ["x", "y", "x"] * 10}
)
LONG["truth"] = np.repeat(["x", "y"] * 5, 3)


def test_a_long_log_is_known_by_its_judges_and_cases() -> None:
    assert "'judge' says whose" in long_log(LONG, "truth")
    assert "'judge' says whose" in long_log(LONG.drop(index=[1, 5]), "truth")  # not everybody answered all


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(LONG.rename(columns={"judge": "visit"}), id="no judges"),
        pytest.param(LONG.assign(judge="a"), id="one judge"),
        pytest.param(LONG.assign(case=range(30)), id="a row a case"),
        pytest.param(LONG.assign(truth=["x", "y"] * 15), id="two classes in a case"),
        pytest.param(LONG.drop(columns="answer"), id="no answers"),
        pytest.param(pd.concat([LONG, LONG]), id="answered twice"),
    ],
)
def test_other_tables_are_no_long_logs(table: pd.DataFrame) -> None:
    assert long_log(table, "truth") == ""
