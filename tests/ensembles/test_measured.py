"""Intervals of shares, and differences of two rules on the same rows."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from shortlist.ensembles.measured import (
    Difference,
    Measured,
    mean_share_interval,
    only_answer,
)
from shortlist.guarantees.intervals import wilson_interval


@given(rows=st.integers(1, 400), data=st.data())
def test_wilsons_interval_is_scipys(rows: int, data: st.DataObject) -> None:
    right = data.draw(st.integers(0, rows))
    expected = binomtest(right, rows).proportion_ci(0.95, method="wilson")
    assert wilson_interval(right, rows) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(
    st.lists(
        st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=5
    )
)
def test_the_interval_of_a_mean_of_shares_holds_it_and_stays_within_0_and_1(
    shares: list[tuple[int, int]],
) -> None:
    right, rows = (list(each) for each in zip(*shares, strict=True))
    low, high = mean_share_interval(right, rows)
    mean = np.mean([a / b for a, b in shares])
    assert -1e-12 <= low <= mean <= high <= 1 + 1e-12
    if len(shares) == 1:
        assert (low, high) == pytest.approx(wilson_interval(right[0], rows[0]))


def test_the_interval_of_a_mean_of_shares_holds_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    truth, rows = np.array([0.9, 0.7]), np.array([40, 25])
    right = rng.binomial(rows, truth, size=(4000, 2))
    ends = np.array([mean_share_interval(each.tolist(), rows.tolist()) for each in right])
    held = ((ends[:, 0] <= truth.mean()) & (truth.mean() <= ends[:, 1])).mean()
    assert 0.93 <= held <= 0.97


@given(first=st.integers(0, 80), second=st.integers(0, 80))
def test_p_counts_how_often_a_fair_coin_parts_the_rows_so_unevenly(first: int, second: int) -> None:
    n = first + second
    tail = sum(math.comb(n, k) for k in range(min(first, second) + 1))
    expected = min(Fraction(1), Fraction(2 * tail, 2**n))
    difference = Difference(first, second)
    assert difference.p_value == pytest.approx(float(expected), rel=1e-9)
    assert difference.within_chance == (expected > Fraction(1, 20))


def test_rules_are_compared_row_by_row() -> None:
    def measured(right: list[bool]) -> Measured:
        return Measured(np.eye(2, dtype=np.int64), np.array(["a", "b"]), 1, 1, 0.0, np.array(right))

    difference = measured([True, True, False, True]).against(measured([True, False, False, False]))
    assert (difference.only_first, difference.only_second) == (2, 0)


def test_one_answer_only_is_the_class_that_all_rows_get() -> None:
    classes = np.array([3, 5, 8])
    assert only_answer(np.array([0, 4, 0]), classes) == "5"
    assert only_answer(np.array([1, 4, 0]), classes) is None
    assert only_answer(np.array([0, 0, 0]), classes) is None
