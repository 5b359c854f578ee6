"""Smaller clauses with the same models."""

import pytest
from hypothesis import given

from shortlist.logic.clauses import Clauses
from shortlist.logic.presolve import equivalent_literals, presolve, without_subsumed
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
        assert smaller.core == tuple(v for v, values in enumerate(columns, start=1) if all(values))
        assert smaller.dead == tuple(v for v, values in enumerate(columns, start=1) if not any(values))


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
