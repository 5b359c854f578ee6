"""Explanations of the impossible, against all sets of rules."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.logic.clauses import Clauses
from shortlist.logic.sat import irreducible
from shortlist.products.clauses import TracedClauses, traced_clauses
from shortlist.products.configuration.explanation import SwitchedRules, fewest_rules
from shortlist.products.formulas import Implies, Literal, Or
from shortlist.products.model import FeatureModel, make_group, make_model
from shortlist.products.rules import rule_text
from tests.examples import examples
from tests.logic.oracles import clause_sets
from tests.logic.oracles import models as models_of
from tests.products.strategies import models


@examples(40)
@given(model=models(max_features=5, linear=False, trees_only=True))
def test_explanations_are_the_fewest_rules_of_all_sets(model: FeatureModel) -> None:
    switched = SwitchedRules(traced_clauses(model))
    for literal in (1, -model.n_features):
        why = fewest_rules(switched, [literal])
        contradicting = [
            set(chosen)
            for size in range(len(switched.rules) + 1)
            for chosen in combinations(switched.rules, size)
            if switched.contradiction(chosen, [literal]) is not None
        ]
        if why is None:
            assert not contradicting
            continue
        assert why.smallest
        assert set(why.rules) in contradicting
        assert len(why.rules) == min(map(len, contradicting))


def test_a_smaller_explanation_is_found_than_the_first_that_cannot_be_shortened() -> None:
    chain = [Implies(Literal(i), Literal(i + 1)) for i in range(1, 6)]
    model = make_model(
        [f"F{i}" for i in range(7)],
        root=0,
        groups=[make_group(0, range(1, 7), "cardinality", 0, 6)],
        constraints=[*chain, Or((Literal(-1), Literal(6)))],
    )
    why = fewest_rules(SwitchedRules(traced_clauses(model)), [-6])
    assert why is not None
    assert why.smallest
    assert [rule_text(model, rule) for rule in why.rules] == ["every product has F0", "!F0 | F5"]


@given(clauses=clause_sets(most_variables=4, most_clauses=12), data=st.data())
def test_a_minimal_conflict_loses_it_without_any_member(clauses: Clauses, data: st.DataObject) -> None:
    groups = data.draw(st.lists(st.integers(-1, 4), min_size=clauses.n_clauses, max_size=clauses.n_clauses))

    def possible(kept: set[int]) -> bool:
        chosen = [c for c, group in zip(clauses, groups, strict=True) if group < 0 or group in kept]
        return bool(models_of(Clauses.from_clauses(clauses.n_variables, chosen)))

    switched = SwitchedRules(TracedClauses(clauses, np.array(groups, dtype=np.int32)))
    found = switched.contradiction(switched.rules, ())

    if found is None:
        assert possible(set(groups))
    else:
        found = irreducible(lambda rules: switched.contradiction(rules, ()), found)
        assert not possible(set(found))
        assert all(possible(set(found) - {member}) for member in found)
