"""Parts of programs over the columns that still have a choice."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.methods.integer.integer_objectives import integer_objectives
from shortlist.methods.integer.program_parts import Parts, needed_columns
from shortlist.methods.integer.search_zones import search_zones
from shortlist.milp.backends import open_solver
from shortlist.milp.program import make_program
from shortlist.results.proof import ProofKind, Status
from shortlist.runs.budget import Budget
from tests.methods.random_programs import KINDS, listed_front, random_program


def test_a_part_within_bounds_that_cross_has_no_solution() -> None:
    program = random_program(0)
    parts = Parts(program)
    lower, upper = program.column_lower.copy(), program.column_upper.copy()
    lower[0] = upper[0] = 1.0
    limits = program.row_lower, program.row_upper
    costs = np.zeros(program.n_columns)
    assert 0 not in parts.part((lower, upper), limits, costs).free
    upper[0] = 0.0
    crossing = parts.part((lower, upper), limits, costs)
    assert 0 in crossing.free
    session = open_solver("highs").open(crossing.program)
    assert session.solve().status is Status.INFEASIBLE


@pytest.mark.parametrize("gap", [1.0, 0.25])
def test_fronts_of_programs_whose_bounds_cross_have_no_points(gap: float) -> None:
    """Bounds of 0.25 and 0.5 hold no integer either."""
    n_solvable = 0
    for seed in range(0, 24, 3):
        program = random_program(seed)
        n_solvable += len(listed_front(program)) > 0
        lower, upper = program.column_lower.copy(), np.minimum(program.column_upper, 12.0)
        lower[0], upper[0] = (upper[0], lower[0] - gap) if gap == 1 else (lower[0] + gap, lower[0] + 2 * gap)
        front = search_zones(
            dataclasses.replace(program, column_lower=lower, column_upper=upper), budget=Budget()
        )
        assert (len(front), front.proof.kind) == (0, ProofKind.COMPLETE)
    assert n_solvable > 3


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
