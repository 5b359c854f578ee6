"""Smaller clauses with the same models, and variable orders of diagrams."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.logic.clauses import Clauses
from shortlist.logic.compilation import (
    candidate_orders,
    equivalent_literals,
    force_order,
    presolve,
    total_span,
    without_subsumed,
)
from tests.logic.oracles import all_assignments, clause_sets, models


@pytest.mark.parametrize("complete", [True, False], ids=["every fixed variable", "propagation only"])
@pytest.mark.parametrize("probe", [True, False])
@given(clauses=clause_sets())
def test_models_come_back_one_to_one(clauses: Clauses, complete: bool, probe: bool) -> None:
    smaller = presolve(clauses, complete=complete, probe=probe)
    every = all_assignments(smaller.clauses.n_variables)
    restored = smaller.restore(every[smaller.clauses.satisfied(every)])

    assert sorted(map(tuple, restored.tolist())) == models(clauses)


@given(clauses=clause_sets())
def test_core_and_dead_variables_are_fixed_in_every_model(clauses: Clauses) -> None:
    smaller = presolve(clauses)
    everything = models(clauses)
    if everything:
        columns = list(zip(*everything, strict=True))
        assert (smaller.places < 0).tolist() == [len(set(values)) == 1 for values in columns]


@given(clauses=clause_sets())
def test_equivalent_literals_agree_in_every_model(clauses: Clauses) -> None:
    mapping = equivalent_literals(clauses)
    everything = models(clauses)
    if mapping is None:
        assert not everything
        return
    for model in everything:
        for variable, leader in enumerate(mapping[1:].tolist(), start=1):
            assert model[variable - 1] == (model[abs(leader) - 1] == (leader > 0))


@given(clauses=clause_sets())
def test_no_clause_left_contains_another_and_the_models_stay(clauses: Clauses) -> None:
    left = without_subsumed(clauses)
    sets = [set(clause) for clause in left]

    assert models(left) == models(clauses)
    assert not any(a <= b for i, a in enumerate(sets) for j, b in enumerate(sets) if i != j)


def test_probing_finds_what_no_two_clauses_of_two_literals_say() -> None:
    # 1 gives 2 through a longer clause, and 2 gives 1
    clauses = Clauses.from_clauses(4, [(-1, 3), (-1, 4), (-3, -4, 2), (-2, 1)])
    assert len(presolve(clauses).clauses.literals) == len(clauses.literals)
    assert presolve(clauses, probe=True).clauses.n_variables == 3


@given(clauses=clause_sets(), seed=st.integers(0, 5))
def test_orders_are_permutations_whose_span_is_not_worse_than_the_start(clauses: Clauses, seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = rng.permutation(clauses.n_variables)
    used = np.isin(start + 1, np.abs(clauses.literals))
    start = np.concatenate([start[used], start[~used]])
    order = force_order(clauses, start)

    assert sorted(order.tolist()) == list(range(clauses.n_variables))
    assert total_span(clauses, np.argsort(order)) <= total_span(clauses, np.argsort(start))


@given(clauses=clause_sets())
def test_total_span_follows_its_definition(clauses: Clauses) -> None:
    places = np.arange(clauses.n_variables)[::-1].copy()
    where = [[int(places[abs(literal) - 1]) for literal in clause] for clause in clauses]

    assert total_span(clauses, places) == sum(max(row) - min(row) for row in where)


def test_a_scrambled_chain_is_at_least_half_untangled() -> None:
    rng = np.random.default_rng(1)
    names = (rng.permutation(30) + 1).tolist()
    chain = Clauses.from_clauses(30, [(a, -b) for a, b in itertools.pairwise(names)])
    best = candidate_orders(chain, n_starts=10, rng=rng)[0]

    assert total_span(chain, np.argsort(best)) < total_span(chain, np.arange(30)) / 2


def test_the_same_seed_gives_the_same_orders() -> None:
    clauses = Clauses.from_clauses(6, [(1, 4), (2, 5), (3, 6), (1, 6)])
    first = candidate_orders(clauses, n_starts=5, rng=np.random.default_rng(3))
    second = candidate_orders(clauses, n_starts=5, rng=np.random.default_rng(3))

    assert [order.tolist() for order in first] == [order.tolist() for order in second]
