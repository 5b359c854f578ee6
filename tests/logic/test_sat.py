"""Satisfiability against trying every assignment."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.logic.sat import SatSolver, SearchStoppedError, backbone
from shortlist.products.clauses import to_clauses
from shortlist.products.formats import read_model
from shortlist.runs.budget import Budget
from tests.logic.oracles import clause_sets, models, true_in


@given(clauses=clause_sets(most_clauses=35), data=st.data())
def test_answers_under_assumptions_equal_trying_everything(clauses: Clauses, data: st.DataObject) -> None:
    solver = SatSolver(clauses)
    literal = st.integers(1, clauses.n_variables).flatmap(lambda v: st.sampled_from([v, -v]))
    everything = models(clauses)
    for _ in range(4):  # the same solver again: what it learned must not change its answers
        assumptions = data.draw(st.lists(literal, max_size=4))
        fitting = [m for m in everything if all(true_in(m, a) for a in assumptions)]

        answer = solver.solve(assumptions)

        assert answer.satisfiable == bool(fitting)
        if answer.model is not None:
            assert tuple(answer.model.tolist()) in fitting
        else:
            assert set(answer.conflict) <= set(assumptions)
            assert not [m for m in everything if all(true_in(m, a) for a in answer.conflict)]


@given(clauses=clause_sets())
def test_backbone_is_what_all_models_share(clauses: Clauses) -> None:
    everything = models(clauses)
    found = backbone(clauses)

    if not everything:
        assert found is None
    else:
        signed = [{v + 1 if value else -v - 1 for v, value in enumerate(model)} for model in everything]
        assert set(found or ()) == set.intersection(*signed)


def pigeons(n_pigeons: int, n_holes: int) -> Clauses:
    """Every pigeon in a hole, no two in one: true proofs of impossibility need learning and restarts."""
    number = {pair: i for i, pair in enumerate(itertools.product(range(n_pigeons), range(n_holes)), start=1)}
    some = [[number[p, h] for h in range(n_holes)] for p in range(n_pigeons)]
    alone = [
        [-number[p, h], -number[q, h]]
        for h in range(n_holes)
        for p, q in itertools.combinations(range(n_pigeons), 2)
    ]
    return Clauses.from_clauses(len(number), [*some, *alone])


def test_pigeons_do_not_fit_into_fewer_holes() -> None:
    assert not SatSolver(pigeons(7, 6)).solve().satisfiable
    assert SatSolver(pigeons(6, 6)).solve().satisfiable


def test_a_budget_is_looked_at_every_two_thousand_conflicts_and_a_stopped_solver_goes_on() -> None:
    hard = pigeons(11, 10)
    unless = hard.n_variables + 1  # with it true no pigeon needs a hole
    relaxed = Clauses.from_clauses(unless, [(*clause, unless) for clause in hard])
    solvers: list[SatSolver] = []
    seen: list[int] = []

    def clock() -> float:
        seen.append(int(solvers[0]._counts[0].conflicts) if solvers else 0)
        return float(len(seen))

    budget = Budget(6, clock=clock)
    solvers.append(SatSolver(relaxed, budget))
    with pytest.raises(SearchStoppedError):
        solvers[0].solve([-unless])

    assert len(seen) == 7
    assert 0 < max(np.diff(seen)) <= 2_100
    assert solvers[0]._counts[0].level == 0
    solvers[0]._budget = None
    model = solvers[0].solve([unless]).model
    assert model is not None
    assert relaxed.satisfied(model[None, :]).all()


@pytest.mark.parametrize("seed", range(4))
def test_hard_random_formulas_have_checked_models_and_repeatable_answers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 120
    rows = [(rng.choice(n, 3, replace=False) + 1) * rng.choice([-1, 1], 3) for _ in range(int(4.26 * n))]
    clauses = Clauses.from_clauses(n, [row.tolist() for row in rows])

    first, second = SatSolver(clauses).solve(), SatSolver(clauses).solve()

    assert first.satisfiable == second.satisfiable
    if first.model is not None and second.model is not None:
        assert clauses.satisfied(first.model[None, :]).all()
        assert (first.model == second.model).all()


def test_the_store_of_learned_clauses_grows_when_it_is_full() -> None:
    solver = SatSolver(pigeons(7, 6))
    store = solver._store
    n_used = int(store.starts[solver._counts[0].clauses])
    solver._store = store._replace(arena=store.arena[: n_used + 60].copy())

    assert not solver.solve().satisfiable


def test_unknown_assumptions_are_refused() -> None:
    with pytest.raises(BadInputError, match="variables 1 to 1, got \\[2\\]"):
        SatSolver(Clauses.from_clauses(1, [])).solve([2])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_core", "n_dead"),
    [
        pytest.param("2.6.28.6-compact.dimacs.gz", 58, 102, id="Linux X86"),
        pytest.param("ecos-icse11.dimacs", 0, 35, id="eCos"),
        pytest.param("uClinux.dimacs", 7, 1237, id="uClinux"),
        pytest.param("fiasco.dimacs", 49, 964, id="Fiasco"),
        pytest.param("freebsd-icse11.dimacs.gz", 3, 38, id="FreeBSD"),
    ],
)
def test_core_and_dead_features_of_real_models_are_as_published(
    data_folder: Path, name: str, n_core: int, n_dead: int
) -> None:
    found = backbone(to_clauses(read_model(data_folder / "feature-models" / "lvat" / name)))

    assert found is not None
    assert (sum(literal > 0 for literal in found), sum(literal < 0 for literal in found)) == (n_core, n_dead)
