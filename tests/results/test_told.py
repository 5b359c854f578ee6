"""Differences of two rules on the same rows, and what follows from them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.results.told import Difference, Kind, difference_of, sign_flip_p


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
