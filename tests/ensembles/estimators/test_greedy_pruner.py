"""Greedy selection with replacement as an estimator."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from shortlist import BadInputError
from shortlist.ensembles import GreedyMeansPruner, Pool, make_pool, verify
from shortlist.ensembles.pools.answers import class_probabilities, class_shares
from shortlist.ensembles.rules.greedy_means import greedy_means
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.saved_models import SavedModel, load_model, save_model

X, Y = make_classification(220, 6, n_informative=4, n_classes=3, random_state=1)


@pytest.fixture(scope="module")
def pool() -> Pool:
    return make_pool(X[:110], Y[:110], n_classifiers=8, random_state=0)


@pytest.fixture(scope="module")
def fitted(pool: Pool) -> GreedyMeansPruner:
    return GreedyMeansPruner(pool, n_bags=4, n_steps=6, random_state=5).fit(X[110:180], Y[110:180])


@parametrize_with_checks([GreedyMeansPruner(n_classifiers=3, n_bags=2, n_steps=3, random_state=0)])
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def test_members_are_those_of_the_function_and_the_mean_weighs_them(
    pool: Pool, fitted: GreedyMeansPruner
) -> None:
    votes = SoftVotes(class_shares(pool, X[110:180]), Y[110:180].astype(np.uint8))
    copies = greedy_means(votes, n_steps=6, n_bags=4, seed=5)
    assert np.array_equal(fitted.copies_, copies)
    assert copies.max() > 1  # otherwise nothing is weighed
    assert np.array_equal(fitted.selection_, copies > 0)
    assert copies[fitted.members_].tolist() == sorted(copies[copies > 0].tolist(), reverse=True)

    each = class_probabilities(pool, X[180:])
    mean = (each * copies[None, :, None]).sum(axis=1) / copies.sum()
    assert fitted.calibration_ is not None
    assert fitted.predict_proba(X[180:]) == pytest.approx(fitted.calibration_.of(mean))
    assert fitted.accuracy_ == (fitted.predict(X[110:180]) == Y[110:180]).mean()
    assert np.array_equal(fitted.predict_early(X[180:]).labels, fitted.predict(X[180:]))


def test_without_bags_there_is_one_search(pool: Pool) -> None:
    votes = SoftVotes(class_shares(pool, X[110:]), Y[110:].astype(np.uint8))
    alone = GreedyMeansPruner(pool, n_bags=0, n_steps=5).fit(X[110:], Y[110:])
    assert np.array_equal(alone.copies_, greedy_means(votes, n_steps=5))


def test_a_saved_committee_is_found_as_it_claims(fitted: GreedyMeansPruner, tmp_path: Path) -> None:
    saved = clone(fitted).set_params(pool=fitted.pool).fit(X[110:180], Y[110:180])
    saved.pool = None
    save_model(SavedModel(saved, tuple("abcdef"), "y"), tmp_path / "model.joblib")
    checked = verify(load_model(tmp_path / "model.joblib").estimator, X[110:180], Y[110:180])
    assert checked.valid
    assert checked.value == fitted.accuracy_


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        pytest.param({"n_steps": 0}, "n_steps must be", id="steps"),
        pytest.param({"n_bags": -1}, "n_bags must be", id="bags"),
        pytest.param(
            {"pool": [LinearSVC().fit(X, Y)]}, "needs probabilities of every", id="no probabilities"
        ),
    ],
)
def test_what_cannot_be_used_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        GreedyMeansPruner(**{"n_classifiers": 2, "random_state": 0} | options).fit(X, Y)
