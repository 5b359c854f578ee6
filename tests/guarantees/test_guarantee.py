"""Exact binomial tails against scipy's other roads and against a plain loop of integers."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import betaincinv
from scipy.stats import binomtest

from shortlist.errors import BadInputError
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
