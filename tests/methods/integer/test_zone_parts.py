"""The best points of zones, by reduced costs and a search in integers, against trying every solution."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.methods.integer.bounded_solves import BoundedSolves
from shortlist.methods.integer.relaxed_zones import RelaxedZones
from shortlist.methods.integer.search_zones import search_zones
from shortlist.methods.integer.zone_parts import N_BY_SOLVER, ZoneParts
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.results.objective import Objective
from shortlist.results.proof import ProofKind
from shortlist.runs.budget import Budget
from tests.examples import examples


def covers(seed: int, n_columns: int, n_objectives: int) -> Program:
    """Return a program in which each of three rows wants one column, or two."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (3, n_columns))
    return make_program(
        rows,
        row_lower=1,
        row_upper=[1, 2, np.inf],
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[
            LinearObjective(Objective(f"f{number}"), rng.integers(0, 12, n_columns).astype(float))
            for number in range(n_objectives)
        ],
    )


def assignment(n: int, n_objectives: int) -> Program:
    """Return an assignment problem of n x n."""
    rng = np.random.default_rng(1)
    costs = rng.integers(0, 16, (n_objectives, n * n)).astype(float)
    return make_program(
        np.vstack([np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))]),
        row_lower=1,
        row_upper=1,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[LinearObjective(Objective(f"f{k}"), each) for k, each in enumerate(costs)],
    )


def vectors(program: Program) -> np.ndarray:
    """Return the objectives of every solution."""
    columns = np.array(list(itertools.product((0, 1), repeat=program.n_columns)), dtype=float)
    sums = columns @ program.rows.toarray().T
    fits = ((sums >= program.row_lower) & (sums <= program.row_upper)).all(axis=1)
    costs = np.array([linear.costs for linear in program.objectives])
    found: np.ndarray = columns[fits] @ costs.T
    return found


@given(
    seed=st.integers(0, 1000),
    n_objectives=st.integers(3, 4),
    n_by_solver=st.sampled_from([0, 10**6]),
    data=st.data(),
)
@examples(40)
def test_answers_are_best_for_their_weights_and_none_are_missed(
    seed: int, n_objectives: int, n_by_solver: int, data: st.DataObject
) -> None:
    program = covers(seed, 10, n_objectives)
    known = vectors(program)
    if not len(known):
        return
    solves = BoundedSolves(program, solver="highs", budget=Budget(), stage="zones")
    relaxed = RelaxedZones(program, solves.integers, Budget())
    parts = ZoneParts(solves, relaxed, n_by_solver=n_by_solver)
    steps = solves.integers.steps
    for _ in range(5):
        zone = np.array(data.draw(st.lists(st.integers(1, 30), min_size=n_objectives, max_size=n_objectives)))

        answer = parts.answer(zone, solves.integers.lower, solves.integers.upper[None, :])

        assert answer is not None
        inside = known[(known / steps < zone).all(axis=1)] / steps
        if not len(inside):
            assert answer.point is None
            continue
        assert answer.point is not None
        assert answer.weights @ answer.point == (inside @ answer.weights).min()
        assert (inside == answer.point).all(axis=1).any()


@pytest.mark.parametrize("n_objectives", [3, 4])
def test_fronts_are_the_same_whoever_searches_the_parts(n_objectives: int) -> None:
    program = assignment(6, n_objectives)
    every = search_zones(program), search_zones(program, solver="cpsat")
    ours, other = every

    assert [front.proof.kind for front in every] == [ProofKind.COMPLETE] * 2
    assert sorted(ours.values.tolist()) == sorted(other.values.tolist())
    assert ours.extras["n_programs"] > N_BY_SOLVER
    assert ours.extras["n_searched"] > 0
    assert "n_searched" not in other.extras
