"""Limits as people write them."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.results.objective import OPERATORS, Limit, read_limit


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("cost<=120", Limit("cost", "<=", Decimal(120))),
        (" a name with spaces > -.5 ", Limit("a name with spaces", ">", Decimal("-0.5"))),
        ("cost == 1e2", Limit("cost", "==", Decimal(100))),
    ],
)
def test_a_limit_is_a_name_an_operator_and_a_number(text: str, limit: Limit) -> None:
    assert read_limit(text) == limit


@pytest.mark.parametrize(
    "text",
    [
        "cost",
        "<=3",
        "cost<=",
        "cost<=a",
        "cost<=1e99",
        "cost<=nan",
        "a<=1_0",
        "a<=b<=3",
        "a<=1,5",
        "a=<3",
        "cost=3",
    ],
)
def test_anything_else_is_an_error_that_shows_how(text: str) -> None:
    with pytest.raises(BadInputError, match="must read like 'cost<=120', with <=, <, >=, > or =="):
        read_limit(text)


@given(
    values=st.lists(st.integers(-30, 30), max_size=5),
    scale=st.sampled_from([1, 10, 100]),
    operator=st.sampled_from(OPERATORS),
    bound=st.decimals(-4, 4, places=2),
)
def test_exact_values_are_compared_as_fractions(
    values: list[int], scale: int, operator: str, bound: Decimal
) -> None:
    compare = {"<=": "__le__", "<": "__lt__", ">=": "__ge__", ">": "__gt__", "==": "__eq__"}[operator]
    expected = [bool(getattr(Fraction(value, scale), compare)(Fraction(bound))) for value in values]

    assert Limit("a", operator, bound).met_by(np.array(values) / scale, scale).tolist() == expected
