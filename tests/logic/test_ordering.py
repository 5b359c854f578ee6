"""Variable orders."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.logic.clauses import Clauses
from shortlist.logic.compilation import candidate_orders, force_order, total_span
from tests.logic.oracles import clause_sets


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
