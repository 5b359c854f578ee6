"""The second way to a front, against trying everything."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.methods import state_vectors
from shortlist.methods.integer.integer_objectives import integer_objectives
from shortlist.methods.row_states import USUAL_LIMITS, StateLimits, column_order, reduced, sweep_states
from shortlist.methods.state_vectors import Layer
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
    [
        USUAL_LIMITS,
        StateLimits(few=0),
        StateLimits(long=3, carried=9, states=12),
        StateLimits(long=3, carried=1, states=12, few=0),
    ],
    ids=["rows part the states", "by the kernel", "rows are carried with the objectives", "carried, kernel"],
)
def test_the_front_is_that_of_trying_everything(limits: StateLimits) -> None:
    rng = np.random.default_rng(11)
    sizes = set()
    for _ in range(60):
        named = random_program(rng)
        found = sweep_states(named.program, integer_objectives(named.program), budget=Budget(), limits=limits)
        if limits.states == USUAL_LIMITS.states or found is not None:
            assert found is not None
            assert found.vectors.tolist() == _best(named)
            sizes.add(len(found.vectors))
    assert len(sizes) > 3


@given(
    sums=st.integers(1, 4).flatmap(
        lambda n: st.lists(st.tuples(*[st.integers(0, 6)] * n), min_size=1, max_size=60)
    ),
    n_states=st.integers(1, 3),
)
def test_the_kernel_keeps_what_moocore_keeps(sums: list[tuple[int, ...]], n_states: int) -> None:
    vectors = np.array(sums, dtype=np.int64)
    states = np.arange(len(vectors)) % n_states
    packed = state_vectors._Packed(vectors.max(axis=0), few=0)
    keys = packed.written(states, vectors)
    assert packed.sums(keys).tolist() == vectors.tolist()
    expected = sorted(
        [state, *row]
        for state in range(n_states)
        for row in vectors[states == state][nondominated_unique(vectors[states == state])].tolist()
    )
    found = packed.best(keys)
    assert sorted(np.column_stack([packed.states(found), packed.sums(found)]).tolist()) == expected


@pytest.mark.parametrize("ranges", [[2, 2, 2, 2, 2], [2**40, 2**40], [2**12, 2**12, 2**12, 2**12]])
def test_what_does_not_fit_into_one_integer_has_a_word_for_each_sum(ranges: list[int]) -> None:
    code = state_vectors._code(np.array(ranges), 3, few=0)
    keys = code.written(np.array([2, 2]), np.array([ranges, [0] * len(ranges)]))
    assert code.n_words == 1 + len(ranges)
    assert code.sums(code.best(keys)).tolist() == [[0] * len(ranges)]


def test_states_from_which_the_same_decisions_follow_are_one() -> None:
    """Two columns that a third may need, however many of them are there: 2 states, and not 3."""
    both = Layer(0, np.array([0, 0]), np.array([0, 1]), np.array([0, 1]), 2)
    second = Layer(1, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0, 1, 1, 2]), 3)
    third = Layer(2, np.array([0, 0, 1, 2]), np.array([0, 1, 1, 1]), np.array([0, 0, 0, 0]), 1)
    assert [layer.n_after for layer in reduced([both, second, third])] == [2, 2, 1]


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
