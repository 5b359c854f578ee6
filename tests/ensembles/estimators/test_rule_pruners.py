"""Estimators of the pruning rules."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Perceptron
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from shortlist import BadInputError
from shortlist.ensembles import ExactPruner, GreedyMeansPruner, Pool, verify
from shortlist.ensembles.estimators.rows import rows_to_fit_and_prune
from shortlist.ensembles.estimators.rule_pruners import BackfittingPruner, BaselinePruner, RulePruner
from shortlist.ensembles.pools.answers import class_answers, class_probabilities, class_shares
from shortlist.ensembles.pools.fitting import make_pool
from shortlist.ensembles.pools.members import as_pool
from shortlist.ensembles.rules import greedy_means
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.saved_models import SavedModel, load_model, save_model
from tests.contract import keeps_contract

X, Y = make_classification(300, 6, n_informative=4, n_classes=3, flip_y=0.15, random_state=3)
PRUNERS: list[RulePruner] = [
    BaselinePruner(random_state=0),
    BaselinePruner(rule="best-single", random_state=0),
    BackfittingPruner(random_state=0),
]
EVERY_RULE = pytest.mark.parametrize(
    "pruner", PRUNERS, ids=lambda pruner: f"{type(pruner).__name__} {getattr(pruner, 'rule', '')}"
)


@pytest.mark.slow
@keeps_contract(BaselinePruner(n_classifiers=10, random_state=0))
def test_an_order_keeps_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@keeps_contract(
    BackfittingPruner(n_classifiers=5, random_state=0),
    GreedyMeansPruner(n_classifiers=3, n_bags=2, n_steps=3, random_state=0),
    tables=False,
)
def test_every_other_rule_keeps_it(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def pool() -> Any:
    return make_pool(X[:150], Y[:150], n_classifiers=10, random_state=0)


@EVERY_RULE
def test_members_vote_with_one_vote_each(pruner: RulePruner, pool: Any) -> None:
    fitted = pruner.set_params(pool=pool).fit(X[150:], Y[150:])
    codes = class_answers(pool, X[150:])[:, fitted.members_]
    votes = np.array([[(row == c).sum() for c in range(3)] for row in codes])

    assert np.flatnonzero(fitted.selection_).tolist() == sorted(fitted.members_)
    assert len(fitted.pool_) == len(fitted.members_)
    smoothed = (votes + 1) / (len(fitted.members_) + 3)  # one vote more for each class
    assert fitted.calibration_ is not None
    assert fitted.predict_proba(X[150:]) == pytest.approx(fitted.calibration_.of(smoothed))
    assert (fitted.predict(X[150:]) == votes.argmax(axis=1)).all()
    assert fitted.accuracy_ == pytest.approx((fitted.predict(X[150:]) == Y[150:]).mean())


class _Counting(DecisionTreeClassifier):
    calls = 0

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        self.calls += 1
        return super().predict_proba(X, check_input)


@pytest.mark.parametrize("pruner", [*PRUNERS, ExactPruner(objective="accuracy", max_size=2, node_limit=20)])
def test_only_the_members_are_called_at_prediction(pruner: Any) -> None:
    trees = [
        _Counting(max_depth=d, max_features=1, random_state=d).fit(X[:100], Y[:100]) for d in range(1, 8)
    ]
    fitted = pruner.set_params(pool=trees).fit(X[100:], Y[100:])
    before = [tree.calls for tree in trees]
    fitted.predict(X)
    called = [tree.calls - b for tree, b in zip(trees, before, strict=True)]
    assert called == fitted.selection_.astype(int).tolist()


def test_two_classes_agree_with_the_binary_majority() -> None:
    forest = RandomForestClassifier(8, max_depth=2, random_state=0).fit(X[:100], Y[:100] > 0)
    fitted = BaselinePruner(forest).fit(X[100:], Y[100:] > 0)
    positive = np.column_stack([tree.predict_proba(X)[:, 1] > 0.5 for tree in forest.estimators_]).sum(axis=1)
    assert (fitted.predict(X) == (positive > 4)).all()  # four of eight is a tie, and negative


def test_a_classifier_without_probabilities_votes_by_its_prediction() -> None:
    labels = np.array(["a", "b", "c"])[Y]
    answers = class_answers(as_pool([Perceptron().fit(X, labels)]), X)
    assert (np.array(["a", "b", "c"])[answers[:, 0]] == Perceptron().fit(X, labels).predict(X)).all()


@EVERY_RULE
def test_rows_to_prune_on_may_lack_a_class_of_the_pool(pruner: RulePruner, pool: Any) -> None:
    few = Y[150:] > 0
    fitted = pruner.set_params(pool=pool).fit(X[150:][few], Y[150:][few])
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.predict_proba(X).shape == (300, 3)
    with pytest.raises(BadInputError, match="Use a pool fitted on these classes"):
        pruner.fit(X[150:], Y[150:] + 1)


@EVERY_RULE
def test_the_same_seed_gives_the_same_members(pruner: RulePruner) -> None:
    first, second = (
        pruner.set_params(pool=None, n_classifiers=6).fit(*load_iris(return_X_y=True)).members_ for _ in "12"
    )
    assert first.tolist() == second.tolist()


def test_an_unknown_rule_and_more_classes_than_a_byte_holds_are_refused() -> None:
    with pytest.raises(BadInputError, match="rule must be one of"):
        BaselinePruner(rule="best", n_classifiers=2).fit(X, Y)
    with pytest.raises(BadInputError, match="from 2 to 256 classes, got 300 classes"):
        BackfittingPruner().fit(np.zeros((900, 1)), np.arange(900) % 300)


def test_a_class_with_one_row_is_fitted_but_not_pruned_on() -> None:
    labels = np.array([0, 1, 0, 1, 2, 0, 1, 0])
    fitted, validation = rows_to_fit_and_prune(labels, 0)
    assert sorted([*fitted, *validation]) == list(range(8))
    assert 4 in fitted
    assert set(labels[validation]) == {0, 1}
    with pytest.raises(BadInputError, match="got 1 of each"):
        rows_to_fit_and_prune(np.arange(3), 0)


GREEDY_X, GREEDY_Y = make_classification(220, 6, n_informative=4, n_classes=3, random_state=1)


@pytest.fixture(scope="module")
def greedy_pool() -> Pool:
    return make_pool(GREEDY_X[:110], GREEDY_Y[:110], n_classifiers=8, random_state=0)


@pytest.fixture(scope="module")
def fitted(greedy_pool: Pool) -> GreedyMeansPruner:
    return GreedyMeansPruner(greedy_pool, n_bags=4, n_steps=6, random_state=5).fit(
        GREEDY_X[110:180], GREEDY_Y[110:180]
    )


def test_members_are_those_of_the_function_and_the_mean_weighs_them(
    greedy_pool: Pool, fitted: GreedyMeansPruner
) -> None:
    votes = SoftVotes(
        class_shares(greedy_pool, GREEDY_X[110:180]),
        GREEDY_Y[110:180].astype(np.uint8),
    )
    copies = greedy_means(votes, n_steps=6, n_bags=4, seed=5)
    assert np.array_equal(fitted.copies_, copies)
    assert copies.max() > 1  # otherwise nothing is weighed
    assert np.array_equal(fitted.selection_, copies > 0)
    assert copies[fitted.members_].tolist() == sorted(copies[copies > 0].tolist(), reverse=True)

    each = class_probabilities(greedy_pool, GREEDY_X[180:])
    mean = (each * copies[None, :, None]).sum(axis=1) / copies.sum()
    assert fitted.calibration_ is not None
    assert fitted.predict_proba(GREEDY_X[180:]) == pytest.approx(fitted.calibration_.of(mean))
    assert fitted.accuracy_ == (fitted.predict(GREEDY_X[110:180]) == GREEDY_Y[110:180]).mean()
    assert np.array_equal(fitted.predict_early(GREEDY_X[180:]).labels, fitted.predict(GREEDY_X[180:]))


def test_without_bags_there_is_one_search(greedy_pool: Pool) -> None:
    votes = SoftVotes(
        class_shares(greedy_pool, GREEDY_X[110:]),
        GREEDY_Y[110:].astype(np.uint8),
    )
    alone = GreedyMeansPruner(greedy_pool, n_bags=0, n_steps=5).fit(GREEDY_X[110:], GREEDY_Y[110:])
    assert np.array_equal(alone.copies_, greedy_means(votes, n_steps=5))


def test_a_saved_committee_is_found_as_it_claims(fitted: GreedyMeansPruner, tmp_path: Path) -> None:
    saved = clone(fitted).set_params(pool=fitted.pool).fit(GREEDY_X[110:180], GREEDY_Y[110:180])
    saved.pool = None
    save_model(SavedModel(saved, tuple("abcdef"), "y"), tmp_path / "model.joblib")
    checked = verify(
        load_model(tmp_path / "model.joblib").estimator,
        GREEDY_X[110:180],
        GREEDY_Y[110:180],
    )
    assert checked.valid
    assert checked.value == fitted.accuracy_


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        pytest.param({"n_steps": 0}, "n_steps must be", id="steps"),
        pytest.param({"n_bags": -1}, "n_bags must be", id="bags"),
        pytest.param({"pool": [LinearSVC().fit(GREEDY_X, GREEDY_Y)]}, "needs probabilities of every", id="no probabilities"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        GreedyMeansPruner(**{"n_classifiers": 2, "random_state": 0} | options).fit(GREEDY_X, GREEDY_Y)
