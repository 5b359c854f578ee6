"""Means, deviations, margins, medians and ranks of methods on units, against plain counts of the same."""

import math
import statistics
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from shortlist.errors import BadInputError
from shortlist_papers.comparison import complete, rank_folds, rank_methods, side_by_side, with_margin

UNITS = st.dictionaries(
    st.sampled_from("abcd"),
    st.dictionaries(st.integers(0, 5), st.floats(-9, 9, allow_subnormal=False), min_size=1),
    min_size=1,
)
"""Measurements of methods on units, by number."""


def _results(measured: dict[str, dict[int, float]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"method": method, "unit": unit, "value": value}
            for method, values in measured.items()
            for unit, value in values.items()
        ]
    )


@given(UNITS)
def test_every_method_gets_what_its_values_are_over_the_units(measured: dict[str, dict[int, float]]) -> None:
    found = side_by_side(_results(measured), ["value"])
    assert list(found.index) == list(measured)
    for method, by_unit in measured.items():
        values, row = list(by_unit.values()), found.loc[method]
        assert row["n_units"] == len(values)
        assert row["value"] == pytest.approx(statistics.fmean(values), abs=1e-12)
        assert row["value_median"] == statistics.median(values)
        if len(values) == 1:
            assert math.isnan(row["value_deviation"])
            assert math.isnan(row["value_margin"])
            continue
        deviation = statistics.stdev(values)
        quantile = {2: 12.7062, 3: 4.3027, 4: 3.1824, 5: 2.7764, 6: 2.5706}[len(values)]  # Student, 97.5 %
        assert row["value_deviation"] == pytest.approx(deviation, abs=1e-9)
        assert row["value_margin"] == pytest.approx(
            quantile * deviation / len(values) ** 0.5, rel=1e-4, abs=1e-9
        )


@given(UNITS)
def test_complete_keeps_the_units_in_which_every_method_was_measured(
    measured: dict[str, dict[int, float]],
) -> None:
    shared = set.intersection(*(set(values) for values in measured.values()))
    kept = complete(_results(measured), units=("unit",))
    assert set(kept["unit"]) == shared
    assert len(kept) == len(shared) * len(measured)


def test_missing_values_take_no_part_and_a_single_value_has_no_margin() -> None:
    results = pd.DataFrame({"method": ["a", "a", "a", "b"], "value": [3.0, np.nan, 1.0, np.nan]})
    found = side_by_side(results, ["value"])
    assert found.loc["a", ["value", "value_median"]].tolist() == [2.0, 2.0]
    assert found.loc["b"].isna().sum() == 4
    nothing = side_by_side(pd.DataFrame({"method": ["a", "a"], "value": [None, None]}), ["value"])
    assert nothing.loc["a"].isna().sum() == 4
    assert with_margin(pd.Series([2.0]), 3) == "2.000"
    assert with_margin(pd.Series([1.0, 2.0, 3.0])) == "2.0 ± 2.5"


def _invented(values: dict[str, list[float]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"dataset": f"table {n}", "method": method, "accuracy": value}
            for method, row in values.items()
            for n, value in enumerate(row)
        ]
    )


def test_ranks_equal_friedmans_test() -> None:
    rng = np.random.default_rng(0)
    values = {name: rng.permutation(100)[:9].tolist() for name in "abcd"}
    test = rank_methods(_invented(values))
    expected = stats.friedmanchisquare(*values.values())
    ranks = stats.rankdata([[-v for v in row] for row in zip(*values.values(), strict=True)], axis=1).mean(
        axis=0
    )
    assert test.mean_ranks == pytest.approx(dict(zip("abcd", ranks, strict=True)))
    assert list(test.mean_ranks.values()) == sorted(ranks)
    assert test.chi_square == pytest.approx(expected.statistic)
    assert test.chi_square_p == pytest.approx(expected.pvalue)
    assert test.f == pytest.approx(8 * test.chi_square / (9 * 3 - test.chi_square))


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_the_critical_difference_uses_the_table_of_demsar(k: int, q: float) -> None:
    rng = np.random.default_rng(1)
    values = {f"m{index}": rng.random(6).tolist() for index in range(k)}
    test = rank_methods(_invented(values))
    assert test.critical_difference == pytest.approx(q * np.sqrt(k * (k + 1) / 36), abs=1e-3)


def test_methods_in_one_order_everywhere_differ_for_certain() -> None:
    test = rank_methods(_invented({"a": [3, 3, 3], "b": [2, 2, 2], "c": [1, 1, 1]}))
    assert test.mean_ranks == {"a": 1, "b": 2, "c": 3}
    assert test.f == np.inf
    assert test.f_p == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: rank_methods(_invented({"a": [1, 2]})), "two tables and two methods", id="one method"),
        pytest.param(lambda: rank_methods(_invented({"a": [1, 2], "b": [1]})), "every method", id="a gap"),
        pytest.param(lambda: rank_methods(_invented({"a": [1]}), alpha=1), "alpha must be between", id="alpha"),
    ],
)  # fmt: skip
def test_ranks_that_cannot_be_are_refused(call: Any, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        call()


def _folds(accuracies: dict[str, list[float]]) -> pd.DataFrame:
    rows = [
        {"dataset": "t", "repeat": 0, "fold": fold, "method": method, "accuracy": accuracy,
         "balanced_accuracy": accuracy, "size": 1.0, "seconds": 0.0}
        for method, values in accuracies.items()
        for fold, accuracy in enumerate(values)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_ranks_over_folds_are_means_with_shared_ties() -> None:
    ranked = rank_folds(_folds({"a": [0.5, 0.75], "b": [0.5, 1.0], "c": [0.25, 0.5]})).set_index("method")
    assert ranked["rank"].to_dict() == {"b": 1.25, "a": 1.75, "c": 3.0}
    assert ranked["accuracy"].to_dict() == {"b": 0.75, "a": 0.625, "c": 0.375}
    assert ranked.loc["b", "accuracy_deviation"] == pytest.approx(np.sqrt(0.125))


def test_methods_beyond_the_limit_have_no_rank_and_come_last() -> None:
    results = _folds({"a": [1.0, 1.0], "b": [0.5, 0.75], "c": [0.25, 0.8]})
    results["cost"] = [5.0, 9.0, 3.0, 3.0, 4.0, 4.0]
    ranked = rank_folds(results.assign(within_limit=results["cost"] <= 5)).set_index("method")
    assert ranked["rank"].fillna(0).to_dict() == {"b": 1.5, "c": 1.5, "a": 0.0}
    assert ranked.index[-1] == "a"
    assert ranked["cost"].to_dict() == {"a": 7.0, "b": 3.0, "c": 4.0}


def test_folds_that_lack_a_method_do_not_rank() -> None:
    results = _folds({"a": [0.5, 1.0], "b": [0.75]})
    ranked = rank_folds(results).set_index("method")
    assert ranked["n_folds"].tolist() == [1, 1]
    assert ranked.loc["a", "accuracy"] == 0.5
    with pytest.raises(BadInputError, match="a fold in which every method was measured"):
        rank_folds(results[(results["method"] == "a") ^ (results["fold"] == 0)])
