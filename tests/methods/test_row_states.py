"""The second way to a front, against trying everything."""

import dataclasses

import numpy as np
import pytest

from shortlist.methods.integer.integer_objectives import integer_objectives
from shortlist.methods.row_states import USUAL_LIMITS, StateLimits, column_order, sweep_states
from shortlist.pareto import nondominated_unique
from shortlist.programs.named_program import NamedProgram
from shortlist.runs.budget import Budget
from tests.programs.made_programs import all_solutions, random_program


def _best(named: NamedProgram) -> list[list[int]]:
    integers = integer_objectives(named.program)
    solutions = np.array(all_solutions(named), dtype=np.int64).reshape(-1, named.program.n_columns)
    vectors = (integers.costs @ solutions.T).T
    return sorted(vectors[nondominated_unique(vectors)].tolist()) if len(vectors) else []


@pytest.mark.parametrize(
    "limits",
    [USUAL_LIMITS, StateLimits(long=3, carried=9, states=12)],
    ids=["rows part the states", "rows are carried with the objectives"],
)
def test_the_front_is_that_of_trying_everything(limits: StateLimits) -> None:
    rng = np.random.default_rng(11)
    sizes = set()
    for _ in range(60):
        named = random_program(rng)
        found = sweep_states(named.program, integer_objectives(named.program), budget=Budget(), limits=limits)
        if limits is USUAL_LIMITS or found is not None:
            assert found is not None
            assert found.vectors.tolist() == _best(named)
            sizes.add(len(found.vectors))
    assert len(sizes) > 3


def test_every_column_is_in_the_order_once() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        program = random_program(rng).program
        order = column_order(program, np.ones(program.n_rows, dtype=bool))
        assert sorted(order.tolist()) == list(range(program.n_columns))


@pytest.mark.parametrize("limits", [StateLimits(states=1), StateLimits(vectors=1), StateLimits(columns=1)])
def test_beyond_a_limit_there_is_no_answer(limits: StateLimits) -> None:
    named = random_program(np.random.default_rng(4))
    assert (
        sweep_states(named.program, integer_objectives(named.program), budget=Budget(), limits=limits) is None
    )


def test_continuous_columns_have_no_answer() -> None:
    named = random_program(np.random.default_rng(4))
    program = dataclasses.replace(named.program, integer=np.zeros(named.program.n_columns, dtype=bool))
    assert sweep_states(program, integer_objectives(named.program), budget=Budget()) is None
