"""Numbers as people write them are read exactly."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.exact import (
    are_integers_over,
    as_decimal,
    as_fraction,
    as_integers,
    decimal_steps,
    n_decimals,
    nearest_integers,
    seen,
)

decimals = st.builds(lambda whole, places: whole / 10**places, st.integers(-9999, 9999), st.integers(0, 4))


@given(whole=st.integers(-(10**15), 10**15), places=st.integers(0, 9))
def test_a_number_is_the_decimal_that_people_see(whole: int, places: int) -> None:
    exact = Fraction(whole, 10**places)
    written = str(Decimal(whole).scaleb(-places))
    assert as_fraction(float(written)) == seen(float(written)) == as_fraction(written) == exact
    read = as_decimal(written)
    assert read is not None
    assert Fraction(read) == exact
    assert (exact * 10 ** n_decimals([read])).denominator == 1


@pytest.mark.parametrize("value", [math.nan, math.inf, "much", None, [], Fraction(10**400)])
def test_what_is_no_finite_number_is_no_fraction(value: object) -> None:
    assert as_fraction(value) is None


def test_text_and_truth_values_are_numbers_only_where_they_may_be() -> None:
    assert as_fraction("0.5") == Fraction(1, 2)
    assert as_fraction(True) == 1
    assert as_fraction("0.5", only_numbers=True) is None
    assert as_fraction(True, only_numbers=True) is None
    assert as_fraction(np.int64(3), only_numbers=True) == 3
    assert as_fraction(np.float64(0.1), only_numbers=True) == Fraction(1, 10)


def test_whole_numbers_of_any_size_stay_exact() -> None:
    assert as_fraction(2**53 + 1) == 2**53 + 1
    assert as_fraction(10**400) == 10**400


@pytest.mark.parametrize("text", ["", "1_000", "1e19", "nan", "12,5", "-inf"])
def test_what_does_not_read_like_a_decimal_is_none(text: str) -> None:
    assert as_decimal(text) is None


@given(st.lists(st.fractions(max_denominator=1000), max_size=6))
def test_integers_over_their_scale_are_the_numbers_and_no_smaller_scale_does(
    numbers: list[Fraction],
) -> None:
    integers, scale = as_integers(numbers)
    assert [Fraction(integer, scale) for integer in integers] == numbers
    assert scale == 1 or math.gcd(scale, *integers) == 1


def test_an_integer_over_its_scale_may_miss_by_the_last_bits_only() -> None:
    values = np.array([0.1 + 0.2, 0.3 + 1e-12])
    assert are_integers_over(values, 10).tolist() == [True, False]
    assert nearest_integers(values, 10.0).tolist() == [3.0, (0.3 + 1e-12) * 10]


@given(rows=st.lists(st.lists(decimals, max_size=4), min_size=1, max_size=5))
def test_steps_are_the_decimals_times_the_smallest_power_of_ten(rows: list[list[float]]) -> None:
    starts = np.cumsum([0, *map(len, rows)])
    scaled, scales, decimal = decimal_steps(np.array([value for row in rows for value in row]), starts)
    assert decimal.all()
    for i, row in enumerate(rows):
        exact = [Fraction(str(value)) for value in row]
        smallest = next(10**k for k in range(10) if all((value * 10**k).denominator == 1 for value in exact))
        assert scales[i] == smallest
        assert [value * smallest for value in exact] == scaled[starts[i] : starts[i + 1]].tolist()


def test_rows_that_no_power_of_ten_makes_integers_are_marked() -> None:
    scaled, scales, decimal = decimal_steps(np.array([1 / 3, 0.5, 2.0**53]), np.array([0, 1, 2, 3]))
    assert decimal.tolist() == [False, True, False]
    assert scales[1] == 10
    assert scaled.tolist() == [0, 5, 0]
