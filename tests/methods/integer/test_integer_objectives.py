"""Objectives as exact integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError, SolverError
from shortlist.methods.integer.integer_objectives import UNLIMITED, integer_objectives
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.results.objective import Objective
from tests.methods import oracles
from tests.methods.strategies import multiobjective_programs


def program_of(*objectives: LinearObjective, upper: float = 1, integer: bool = True) -> Program:
    """Return a program without rows that matter."""
    n_columns = len(objectives[0].costs)
    return make_program(
        np.ones((1, n_columns)),
        row_lower=-np.inf,
        row_upper=np.inf,
        column_lower=0,
        column_upper=upper,
        integer=integer,
        objectives=objectives,
    )


def linear(
    name: str, costs: list[float], *, scale: int | None = None, offset: float = 0.0
) -> LinearObjective:
    return LinearObjective(Objective(name, scale=scale), np.array(costs), offset)


OTHER = linear("other", [1.0, 2.0])


@pytest.mark.parametrize(
    ("costs", "scale", "steps", "whole"),
    [
        pytest.param([3.0, 5.0], 1, 1, [3, 5], id="integers keep scale 1"),
        pytest.param(
            [0.1, 0.25], 100, 5, [2, 5], id="the smallest power of ten, divided by the common divisor"
        ),
        pytest.param(
            [100.75, 88.17], 100, 1, [10075, 8817], id="cents, although 100.75 times 100 is no double integer"
        ),
        pytest.param([1e-9, 1.0], 10**9, 1, [1, 10**9], id="nine decimals"),
        pytest.param([0.0, 0.0], 1, 1, [0, 0], id="an objective that is always zero"),
        pytest.param([-6.0, 9.0], 1, 3, [-2, 3], id="both signs"),
    ],
)
def test_decimals_become_the_smallest_integers(
    costs: list[float], scale: int, steps: int, whole: list[int]
) -> None:
    integers = integer_objectives(program_of(linear("a", costs), OTHER))

    assert integers.objectives[0].scale == scale
    assert integers.steps[0] == steps
    assert integers.costs[0].tolist() == whole


def test_a_given_scale_is_kept() -> None:
    integers = integer_objectives(program_of(linear("a", [0.5, 1.0], scale=1000), OTHER))

    assert integers.objectives[0].scale == 1000
    assert integers.steps[0] == 500


def test_the_offset_counts_but_does_not_change_the_step() -> None:
    integers = integer_objectives(program_of(linear("a", [2.0, 4.0], offset=0.5), OTHER))

    assert integers.objectives[0].scale == 10
    assert integers.points([integers.vector(np.array([1.0, 1.0]))]).tolist() == [[65, 3]]


@pytest.mark.parametrize(
    ("objectives", "message"),
    [
        pytest.param([OTHER], "at least two objectives", id="one objective"),
        pytest.param([OTHER, OTHER], "names must differ", id="one name"),
        pytest.param([linear("a", [1 / 3, 1.0]), OTHER], "Round them to at most 9 decimals", id="a third"),
        pytest.param([linear("a", [0.1, 1.0], scale=1), OTHER], "got 0.1. Give the objective `scale=None`", id="scale"),
        pytest.param([linear("a", [0.0, 1.0], scale=1, offset=0.5), OTHER], "got 0.5", id="offset"),
        pytest.param([linear("a", [2.0**52, 2.0**52]), OTHER], "below 2\\^53", id="too large"),
    ],
)  # fmt: skip
def test_what_is_not_exact_is_refused(objectives: list[LinearObjective], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        integer_objectives(program_of(*objectives))


def test_costs_of_continuous_columns_are_refused() -> None:
    with pytest.raises(BadInputError, match="column 0 is continuous"):
        integer_objectives(program_of(OTHER, linear("a", [1.0, 1.0]), integer=False))


def test_values_beyond_exact_doubles_are_refused_when_they_come() -> None:
    integers = integer_objectives(program_of(OTHER, linear("a", [1.0, 1.0]), upper=np.inf))

    assert integers.upper.tolist() == [UNLIMITED, UNLIMITED]
    with pytest.raises(SolverError, match="2\\^53"):
        integers.vector(np.array([2.0**52, 2.0**52]))


@given(program=multiobjective_programs(), data=st.data())
def test_points_are_the_decimals_times_the_scale_within_the_limits(
    program: Program, data: st.DataObject
) -> None:
    integers = integer_objectives(program)
    columns = tuple(
        data.draw(st.integers(int(lower), int(upper)))
        for lower, upper in zip(program.column_lower, program.column_upper, strict=True)
    )

    vector = integers.vector(np.array(columns, dtype=float))

    assert (integers.lower <= vector).all()
    assert (vector <= integers.upper).all()
    expected = [
        objective.sign * (objective.scale or 0) * number
        for objective, number in zip(integers.objectives, oracles.value(program, columns), strict=True)
    ]
    assert integers.points([vector])[0].tolist() == expected
    assert np.gcd.reduce(integers.costs, axis=1).max() <= 1
