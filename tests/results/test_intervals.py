"""Intervals at 95 %, and paired differences with their verdicts."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp

from shortlist.results.intervals import (
    Difference,
    Kind,
    difference_of,
    interval_over_folds,
    mean_share_interval,
    sign_flip_p,
    wilson_interval,
)


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


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_over_folds_is_that_of_students_t_over_their_means(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.gamma(2, 1, 60)
    folds = rng.permutation(np.arange(60) % 5)
    expected = ttest_1samp([values[folds == fold].mean() for fold in range(5)], 0).confidence_interval(0.95)
    low, high = interval_over_folds(values, folds)
    assert high - low == pytest.approx(expected.high - expected.low)
    assert (low + high) / 2 == pytest.approx(values.mean())


@given(first=st.integers(0, 80), second=st.integers(0, 80))
def test_p_counts_how_often_a_fair_coin_parts_the_rows_so_unevenly(first: int, second: int) -> None:
    n = first + second
    tail = sum(math.comb(n, k) for k in range(min(first, second) + 1))
    expected = min(Fraction(1), Fraction(2 * tail, 2**n))
    rows = np.arange(n + 1)
    difference = difference_of(rows < first, (rows >= first) & (rows < n))
    assert (difference.only_first, difference.only_second) == (first, second)
    assert difference.p_value == pytest.approx(float(expected), rel=1e-9)
    assert difference.gain == pytest.approx((first - second) / (n + 1))
    assert sign_flip_p(np.repeat([2.0, -2.0], [first, second])) == pytest.approx(difference.p_value)
    assert difference.within_chance == (expected > Fraction(1, 20))


@pytest.mark.parametrize(
    ("gained", "lost", "cheaper", "kind"),
    [
        (20, 0, False, Kind.BETTER),
        (0, 20, True, Kind.WORSE),
        (3, 0, False, Kind.UNDECIDED),
        (0, 0, False, Kind.NO_BETTER),
        (0, 0, True, Kind.AS_GOOD),
        (3, 4, True, Kind.CHEAPER),
    ],
)
def test_a_verdict_follows_from_gain_interval_p_and_cost(
    gained: int, lost: int, kind: Kind, *, cheaper: bool
) -> None:
    rows = np.arange(400)
    told = difference_of(rows < gained, (rows >= gained) & (rows < gained + lost))
    assert told.kind(cheaper=cheaper) is kind
    assert kind.recommended == (kind in {Kind.BETTER, Kind.AS_GOOD})


def test_a_difference_is_told_with_p_only_where_its_interval_says_otherwise() -> None:
    assert (
        Difference(0.02, (0.01, 0.03), 0.01).in_points("accuracy") == "+2.0 points of accuracy (+1.0 to +3.0)"
    )
    assert Difference(0.02, (0.01, 0.03), 0.25).in_points("accuracy").endswith("(+1.0 to +3.0, p = 0.25)")
