"""Exact binomial tails against scipy's other roads and a plain loop of integers; the label of no answer."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.special import betaincinv
from scipy.stats import binomtest

from shortlist.errors import BadInputError
from shortlist.guarantees.cells import labels_of, reject_label_for
from shortlist.guarantees.guarantee import Demand, as_demand, most_wrong, tail
from tests.guarantees import oracles


@pytest.mark.parametrize("accuracy", ["0.5", "0.8", "0.9", "0.99"])
def test_the_tail_equals_a_loop_of_whole_numbers_and_scipys_test(accuracy: str) -> None:
    demand = Demand(float(accuracy), 0.95)
    for n in (1, 2, 29, 61):
        for wrong in range(n + 1):
            counted = float(oracles.tail_by_counting(n, wrong, 1 - Fraction(accuracy)))
            found = float(tail(n, wrong, demand))
            assert found == pytest.approx(counted, rel=1e-12)
            assert found == pytest.approx(
                binomtest(wrong, n, 1 - demand.accuracy, alternative="less").pvalue, rel=1e-12
            )


def test_the_tail_is_small_exactly_where_the_lower_limit_of_clopper_and_pearson_reaches_the_accuracy() -> (
    None
):
    for level in (0.9, 0.95, 0.99):
        demand = Demand(0.9, level)
        for n in range(1, 120, 7):
            for wrong in range(n):
                lower = float(betaincinv(n - wrong, wrong + 1, demand.error))
                assert (float(tail(n, wrong, demand)) <= demand.error) == (lower >= demand.accuracy)


def test_without_an_answer_nothing_is_shown() -> None:
    assert float(tail(0, 0, Demand(0.9, 0.95))) == 1.0


@pytest.mark.parametrize("accuracy", [0.6, 0.9])
def test_the_most_wrong_answers_are_those_that_the_tail_allows(accuracy: float) -> None:
    demand = Demand(accuracy, 0.95)
    for n in range(80):
        allowed = [k for k in range(n + 1) if n and float(tail(n, k, demand)) <= demand.error]
        assert int(most_wrong(n, demand)) == max(allowed, default=-1)
    assert most_wrong([demand.least_rows - 1, demand.least_rows], demand).tolist() == [-1, 0]


@pytest.mark.parametrize("value", [0, 1, 1.5, -0.1, np.nan, True, "much"])
def test_what_is_no_share_is_refused(value: object) -> None:
    with pytest.raises(BadInputError, match="answer_accuracy must be above 0 and below 1"):
        as_demand(value, 0.95)  # type: ignore[arg-type]
    with pytest.raises(BadInputError, match="confidence_level must be above 0 and below 1"):
        as_demand(0.9, value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("classes", "label"),
    [([0, 1], -1), ([-1, 1], -2), (["a", "b"], "REJECT"), (["REJECT", "b"], "REJECTED"), ([0.5, 1.5], -1)],
)
def test_the_label_is_no_class(classes: list[Any], label: Any) -> None:
    assert reject_label_for(None, np.array(classes)) == label


def test_a_class_cannot_stand_for_no_answer() -> None:
    with pytest.raises(BadInputError, match="reject_label must not be one of the classes, a or b, got 'a'"):
        reject_label_for("a", np.array(["a", "b"]))


def test_numbers_below_0_become_the_label() -> None:
    assert labels_of(np.array([1, -1, 0]), np.array(["a", "b"]), "none").tolist() == ["b", "none", "a"]
    assert labels_of(np.array([1, 0]), np.array([4, 5]), -1).dtype == np.array([4, 5]).dtype
