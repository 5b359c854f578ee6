"""Columns that no non-dominated vector needs."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.methods.integer.integer_objectives import integer_objectives
from shortlist.methods.integer.needed_columns import needed_columns
from shortlist.milp.program import make_program
from tests.methods.random_programs import KINDS, listed_front, random_program


@given(number=st.integers(0, 10**6), kind=st.sampled_from([0, 1, 3, 4]))
def test_without_the_other_columns_the_front_stays_the_same(number: int, kind: int) -> None:
    program = random_program(number * len(KINDS) + kind)

    needed = needed_columns(program, integer_objectives(program).costs)

    smaller = dataclasses.replace(program, column_upper=np.where(needed, program.column_upper, 0.0))
    np.testing.assert_array_equal(listed_front(smaller), listed_front(program))


@pytest.mark.parametrize(
    ("limit", "upper", "needed"),
    [
        pytest.param(1, [1, 1], [True, False], id="only one can be taken"),
        pytest.param(2, [1, 1], [True, True], id="both can be taken"),
        pytest.param(2, [2, 1], [True, False], id="the better one can be taken twice"),
        pytest.param(2, [1, np.inf], [True, True], id="the worse one has no bound"),
        pytest.param(np.inf, [np.inf, 1], [True, False], id="the better one has no bound"),
    ],
)
def test_a_worse_column_goes_only_where_the_better_one_can_take_its_place(
    limit: float, upper: list[float], needed: list[bool]
) -> None:
    program = make_program(
        [[1, 1]], row_lower=0, row_upper=limit, column_lower=0, column_upper=upper, integer=True
    )

    assert needed_columns(program, np.array([[1, 2], [3, 3]])).tolist() == needed
