"""Estimators of the rules that are compared."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

from shortlist import BadInputError
from shortlist.ensembles.estimators import rule_pruners
from shortlist.ensembles.pools.answers import class_answers
from shortlist.ensembles.pools.fitting import make_pool
from shortlist_papers import OrderedPruner
from shortlist_papers.rules.orderings import RULES
from shortlist_papers.rules.rule_pruners import FITTEST, pruning_methods
from tests.contract import keeps_contract

X, Y = make_classification(300, 6, n_informative=4, n_classes=3, flip_y=0.15, random_state=3)


@pytest.mark.slow
@keeps_contract(OrderedPruner(rule="uwa", n_classifiers=5, random_state=0))
def test_an_order_keeps_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_rule_prunes_three_classes_and_members_vote(rule: str) -> None:
    pool = make_pool(X[:150], Y[:150], n_classifiers=10, random_state=0)
    fitted = OrderedPruner(pool, rule=rule, random_state=0).fit(X[150:], Y[150:])
    assert fitted.members_.tolist() == fitted.ordering_.members.tolist()
    assert fitted.accuracy_ > 0.5
    codes = class_answers(pool, X[150:])[:, fitted.members_]
    votes = np.array([[(row == c).sum() for c in range(3)] for row in codes])
    assert (fitted.predict(X[150:]) == votes.argmax(axis=1)).all()


def test_the_library_has_four_rules_and_the_papers_all() -> None:
    assert list(rule_pruners.pruning_methods()) == [
        "exact",
        "backfitting",
        "greedy-means",
        "full",
        "best-single",
    ]
    assert set(pruning_methods()) == {*rule_pruners.pruning_methods(), *RULES}
    pool = make_pool(X[:150], Y[:150], n_classifiers=6, random_state=0)
    for rule in rule_pruners.BASELINES:
        own, order = rule_pruners.BaselinePruner(pool, rule=rule), OrderedPruner(pool, rule=rule)
        assert own.fit(X[150:], Y[150:]).members_.tolist() == order.fit(X[150:], Y[150:]).members_.tolist()


@pytest.mark.parametrize("name", FITTEST)
def test_a_name_keeps_the_fittest_prefix(name: str) -> None:
    pool = make_pool(X[:150], Y[:150], n_classifiers=10, random_state=0)
    fitted = pruning_methods([name])[name].set_params(pool=pool).fit(X[150:], Y[150:])
    fitness, order = fitted.ordering_.fitness, fitted.ordering_.order
    usual = pruning_methods([FITTEST[name]])[FITTEST[name]].set_params(pool=pool).fit(X[150:], Y[150:])
    assert usual.ordering_.order.tolist() == order.tolist()
    assert fitted.members_.tolist() == order[: len(fitted.members_)].tolist()
    if name == "orientation:fitness":  # its own size: the angles below 90 degrees
        assert len(fitted.members_) == max(1, int((fitness > 0).sum()))
    else:
        assert len(fitted.members_) == int(np.nanargmax(fitness)) + 1


def test_only_rules_with_a_fitness_stop_by_it() -> None:
    assert "uwa:fitness" not in pruning_methods()
    with pytest.raises(BadInputError, match="got 'kappa:fitness'"):
        pruning_methods(["kappa:fitness"])


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(BadInputError, match="rule must be one of"):
        OrderedPruner(rule="best", n_classifiers=2).fit(X, Y)
