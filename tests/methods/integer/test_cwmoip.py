"""CWMOIP: its weights. The front itself is tested with the other exact methods."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from shortlist.methods.integer import bounded_solves
from shortlist.methods.integer.bounded_solves import safe_weights
from shortlist.methods.integer.cwmoip import cwmoip
from shortlist.methods.integer.epsilon_constraint import epsilon_constraint
from shortlist.methods.integer.integer_objectives import integer_objectives
from shortlist.methods.integer.search_zones import search_zones
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.results.proof import ProofKind
from tests.methods import oracles


def ties(n_items: int = 5) -> Program:
    """Choose two of the items, all equal in the first objective."""
    rng = np.random.default_rng(1)
    costs = [np.ones(n_items), *rng.integers(0, 5, (2, n_items))]
    return make_program(
        np.ones((1, n_items)),
        row_lower=2,
        row_upper=2,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[
            LinearObjective(Objective(name), row.astype(float))
            for name, row in zip(("flat", "b", "c"), costs, strict=True)
        ],
    )


def test_ties_of_the_first_objective_never_give_a_dominated_answer() -> None:
    program = ties()
    expected = oracles.front(program)

    for max_solves in range(1, 30):
        front = cwmoip(program, order=["flat", "b", "c"], max_solves=max_solves)
        assert oracles.as_set(front) <= expected
        if front.proof.kind is ProofKind.COMPLETE:
            break
        assert front.proof.kind is ProofKind.NONDOMINATED
    assert oracles.as_set(front) == expected


def test_two_programs_replace_weights_that_a_solver_could_not_resolve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = ties()
    by_weights = cwmoip(program, order=["b", "c", "flat"])
    monkeypatch.setattr(bounded_solves, "largest_objective", lambda _tolerance: 1)
    by_pairs = cwmoip(program, order=["b", "c", "flat"])

    np.testing.assert_array_equal(by_weights.values, by_pairs.values)
    assert by_pairs.extras["n_programs"] > by_weights.extras["n_programs"]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_one_step_of_the_first_objective_outweighs_all_ranges(first: int) -> None:
    integers = integer_objectives(ties())

    weights, decides = safe_weights(integers, first, integers.lower, integers.upper, 10**6)

    others = np.arange(3) != first
    assert decides
    assert (weights[others] == 1).all()
    assert weights[first] == 1 + (integers.upper - integers.lower)[others].sum()


def test_weights_say_when_they_do_not_decide() -> None:
    integers = integer_objectives(ties())

    weights, decides = safe_weights(integers, 1, integers.lower, integers.upper, 20)

    assert not decides
    assert (weights >= 1).all()


def test_the_true_bounds_take_two_programs_for_each_objective_but_the_first() -> None:
    front = cwmoip(ties(), max_solves=4)

    assert front.extras["n_programs"] == 4
    assert len(front) == 0


@pytest.mark.parametrize("method", [cwmoip, epsilon_constraint, search_zones], ids=lambda one: one.__name__)
def test_numbers_that_highs_refuses_are_decided_by_cp_sat(method: Callable[..., Front]) -> None:
    program = ties(3)
    large = np.array([10**15, 10**15 + 1, 10**15 + 3], dtype=float)
    first = dataclasses.replace(program.objectives[0], costs=large)
    program = dataclasses.replace(program, objectives=(first, *program.objectives[1:]))
    front = method(program, solver="highs")

    assert front.proof.kind is ProofKind.COMPLETE
    assert front.extras["solver"] == "cpsat"
    assert oracles.as_set(front) == oracles.front(program)
