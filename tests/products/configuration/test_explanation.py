"""Why something cannot be, against all sets of rules."""

from itertools import combinations

from hypothesis import given

from shortlist.products.configuration.explanation import SwitchedRules, fewest_rules
from shortlist.products.encodings.clauses import traced_clauses
from shortlist.products.feature_models.formulas import Implies, Literal, Or
from shortlist.products.feature_models.model import FeatureModel, make_group, make_model, rule_text
from tests.examples import examples
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
