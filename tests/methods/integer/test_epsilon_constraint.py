"""The ε-constraint method: its bounds and its loops. The front itself is tested with the other exact methods."""

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.methods.integer.epsilon_constraint import epsilon_constraint
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import ProofKind
from tests.methods import oracles


def staircase(n_steps: int) -> Program:
    """Choose one of `n_steps` items, each dearer and better than the one before by 10."""
    dear = LinearObjective(Objective("dear"), np.arange(0.0, 10.0 * n_steps, 10.0))
    bad = LinearObjective(Objective("bad"), np.arange(0.0, 10.0 * n_steps, 10.0)[::-1])
    return make_program(
        np.ones((1, n_steps)),
        row_lower=1,
        row_upper=1,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[dear, bad],
    )


def test_the_step_is_the_common_divisor_so_two_objectives_need_one_program_for_each_point() -> None:
    front = epsilon_constraint(staircase(6))

    assert len(front) == 6
    assert front.extras["n_programs"] == 6


def test_true_bounds_cost_two_programs_for_each_bounded_objective() -> None:
    front = epsilon_constraint(staircase(6), true_bounds=True)

    assert len(front) == 6
    assert front.extras["n_programs"] == 8


def test_any_objective_may_be_minimised() -> None:
    program = staircase(4)

    for order in (["dear", "bad"], ["bad", "dear"]):
        assert oracles.as_set(epsilon_constraint(program, order=order)) == oracles.front(program)


@pytest.mark.parametrize(
    ("order", "message"),
    [(["dear"], "each of"), (["dear", "dear"], "each of"), (["dear", "cheap"], "order must be one of")],
)
def test_an_order_that_does_not_name_every_objective_once_is_refused(order: list[str], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        epsilon_constraint(staircase(3), order=order)


def test_a_bounded_objective_without_limits_needs_true_bounds() -> None:
    program = make_program(
        [[1, 1], [1, -1]],
        row_lower=[0, -1],
        row_upper=[3, 1],
        column_lower=0,
        column_upper=np.inf,
        integer=True,
        objectives=[
            LinearObjective(Objective("a"), np.array([1.0, 0.0])),
            LinearObjective(Objective("b", Sense.MAX), np.array([1.0, 1.0])),
        ],
    )

    with pytest.raises(BadInputError, match="true_bounds=True"):
        epsilon_constraint(program)
    front = epsilon_constraint(program, true_bounds=True)
    assert front.values.tolist() == [[0.0, 1.0], [1.0, 3.0]]


def test_a_stopped_run_claims_only_that_its_points_were_found() -> None:
    front = epsilon_constraint(staircase(6), max_solves=3)

    assert front.proof.kind is ProofKind.APPROXIMATE
    assert len(front) == 3
