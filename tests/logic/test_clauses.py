"""Clauses as arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from tests.logic.oracles import all_assignments, clause_sets, models


@given(clauses=clause_sets())
def test_satisfied_marks_exactly_the_models(clauses: Clauses) -> None:
    assignments = all_assignments(clauses.n_variables)
    marked = [tuple(row) for row in assignments[clauses.satisfied(assignments)].tolist()]

    assert marked == models(clauses)


@given(rows=st.lists(st.lists(st.sampled_from([-3, -2, -1, 1, 2, 3]), max_size=4).map(tuple), max_size=6))
def test_clauses_come_back_as_they_went_in(rows: list[tuple[int, ...]]) -> None:
    clauses = Clauses.from_clauses(3, rows)

    assert list(clauses) == rows
    assert clauses.n_clauses == len(rows)
    assert list(clauses.with_units([2, -1])) == [*rows, (2,), (-1,)]
    assert list(clauses) == rows


def test_an_empty_clause_has_no_model_and_no_clause_has_all() -> None:
    assert not Clauses.from_clauses(2, [(1,), ()]).satisfied(all_assignments(2)).any()
    assert Clauses.from_clauses(2, []).satisfied(all_assignments(2)).all()


@pytest.mark.parametrize(
    ("n_variables", "rows", "message"),
    [
        pytest.param(2, [(1, 3)], "variables 1 to 2, got 3", id="no such variable"),
        pytest.param(2, [(-5,)], "variables 1 to 2, got -5", id="no such variable, negated"),
        pytest.param(2, [(1, 0)], "must not be 0", id="zero"),
        pytest.param(2, [(2**40,)], "got 1099511627776", id="beyond 32 bits"),
    ],
)
def test_wrong_literals_are_refused(n_variables: int, rows: list[tuple[int, ...]], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        Clauses.from_clauses(n_variables, rows)


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(BadInputError, match="`offsets` must rise"):
        Clauses(2, np.array([1, 2], np.int32), np.array([0, 1]))
    with pytest.raises(BadInputError, match=r"assignments must have shape \(n, 2\), got \(2,\)"):
        Clauses.from_clauses(2, [(1,)]).satisfied(np.array([True, False]))
    with pytest.raises(BadInputError, match="variables 1 to 2, got 3"):
        Clauses.from_clauses(2, []).with_units([3])
