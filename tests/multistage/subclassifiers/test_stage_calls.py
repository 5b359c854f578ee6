"""Whom calls of stages ask, and what that costs."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from shortlist import EvolutionaryEnsembleClassifier
from shortlist.ensembles import ExactPruner, OrderedPruner
from shortlist.errors import BadInputError
from shortlist.multistage import MultiStageClassifier
from shortlist.multistage.holdout import judged_decisions
from shortlist.multistage.subclassifiers.stage_calls import (
    asked_by_price,
    counts_members,
    member_costs,
    most_asked,
)
from shortlist.runs import open_study

pytestmark = pytest.mark.filterwarnings("ignore::shortlist.errors.LowCoverageWarning")

X, Y = make_classification(160, 3, n_informative=3, n_redundant=0, class_sep=0.8, flip_y=0.2, random_state=0)
PRUNED = ExactPruner(
    objective="log-loss", n_classifiers=4, max_size=3, pruning_rows="held-out", refit=False, random_state=0
)


def test_members_that_are_taken_twice_are_asked_once() -> None:
    twice = ExactPruner(
        objective="log-loss", n_classifiers=3, min_size=5, max_copies=2, pruning_rows="held-out",
        random_state=0,
    ).fit(X, Y)  # fmt: skip

    assert len(twice.pool_) >= 5
    assert asked_by_price(twice, 1).tolist() == [3]
    assert asked_by_price(twice, 3).tolist() == [1, 1, 1]
    assert (most_asked(twice), member_costs(twice)) == (3, None)


def test_how_many_are_asked_at_most_is_known_before_anything_is_fitted() -> None:
    evolved = EvolutionaryEnsembleClassifier(population_size=20, n_generations=3, random_state=0)

    assert most_asked(PRUNED) == 3
    assert most_asked(OrderedPruner(n_classifiers=7)) == 7
    assert most_asked(evolved) == 20
    assert most_asked(evolved.set_params(mode="online")) == 60
    assert most_asked(evolved.set_params(max_members=4)) == 4
    assert most_asked(evolved.set_params(mode="single", max_members=None)) == 1
    assert len(evolved.set_params(mode="offline", max_members=6).fit(X, Y).asked_) <= 6


def test_a_classifier_that_says_nothing_of_members_is_asked_itself() -> None:
    tree = DecisionTreeClassifier()

    assert not counts_members(tree)
    assert (asked_by_price(tree, 1).tolist(), most_asked(tree), member_costs(tree)) == ([1], 1, None)


@pytest.mark.parametrize(
    ("given", "got"),
    [
        (3.0, "3.0"), ("12", "'12'"), ({0: 1.0}, "{0: 1.0}"), ([], "[]"), ([1, "cheap", 2], "'cheap'"),
        ([1, None], "None"), ([1, -2], "-2"), ([1, np.inf], "inf"), (np.array(2.0), "array(2.)"),
    ],
)  # fmt: skip
def test_costs_of_members_that_are_no_list_of_numbers_are_refused_before_any_fit(
    given: Any, got: str
) -> None:
    sentence = (
        f"must be a list of finite numbers of at least 0, one for each classifier of its pool, got {got}. "
    )
    priced = clone(PRUNED).set_params(member_costs=given, max_cost=9)
    with pytest.raises(BadInputError, match=re.escape(sentence)):
        MultiStageClassifier(subclassifier=priced, random_state=0).fit(X, Y)


@pytest.mark.parametrize("method", ["enumerate", "emsco"])
@pytest.mark.parametrize("prices", [None, [0.5, 0.1, 2.0, 0.25]], ids=["alike", "priced"])
def test_what_calls_cost_is_added_up_member_by_member_and_row_by_row(prices: Any, method: str) -> None:
    clf = MultiStageClassifier(
        subclassifier=ExactPruner(**PRUNED.get_params() | {"member_costs": prices, "max_cost": prices and 9}),
        confidence=0.7,
        objectives=("coverage", "conclusive_accuracy", "evaluation_cost"), call_cost=0.3, method=method,
        call_cost_per_feature=0.1, max_stages=2, random_state=0,
    ).fit(X, Y)  # fmt: skip

    for point, (*_, told) in enumerate(clf.front_.values):
        clf.use(point)
        reached = judged_decisions(clf).stages
        paid = Fraction(0)
        for number, stage in enumerate(clf.model_.stages, start=1):
            members = np.flatnonzero(stage.model.estimator.selection_)
            own = [Fraction(3, 10) if prices is None else Fraction(str(prices[member])) for member in members]
            call = sum(price + Fraction(1, 10) * int(stage.subset.sum()) for price in own)
            paid += call * int((reached >= number).sum())
        assert told == float(paid / len(reached))
    assert len(clf.front_) > 1


def test_a_limit_on_calls_is_in_reach_as_far_as_members_may_be_asked() -> None:
    clf = MultiStageClassifier(
        subclassifier=PRUNED, objectives=("coverage", "evaluation_cost"), max_stages=2, random_state=0,
        limits={"evaluation_cost": 5.0},
    ).fit(X, Y)  # fmt: skip

    assert clf.front_.values[clf.point_, 1] <= 5.0
    assert clf.problem_.most_call_price == 3


def test_one_ensemble_for_all_subsets_asks_its_members_while_it_searches() -> None:
    clf = MultiStageClassifier(
        subclassifier=clone(PRUNED).set_params(min_size=2), share_fits=True,
        objectives=("coverage", "evaluation_cost"), max_stages=2, random_state=0,
    ).fit(X, Y)  # fmt: skip

    shared = clf.result_.problem.decisions.subclassifiers
    n_members = len(shared._models[0].estimator.asked_)
    assert shared.asked(np.arange(2)).tolist() == [[n_members]] * 2
    assert n_members in {2, 3}


def test_a_study_from_before_members_were_counted_is_of_another_question(tmp_path: Path) -> None:
    made = MultiStageClassifier(
        subclassifier=PRUNED, objectives=("coverage", "evaluation_cost"), max_stages=1, random_state=0
    )
    with open_study(tmp_path / "s.db") as study:
        study.bind({"objectives": ["coverage", "evaluation_cost"]})  # as it was noted then
        with pytest.raises(BadInputError, match=r"objectives was .* there and is .* of members"):
            made.fit(X, Y, study=study)
