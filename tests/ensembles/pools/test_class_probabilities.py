"""What a pool's classifiers find probable."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from shortlist.ensembles.pools.answers import class_probabilities
from shortlist.ensembles.pools.fitting import make_pool
from shortlist.ensembles.pools.members import as_pool
from shortlist.errors import BadInputError

X, Y = load_iris(return_X_y=True)


def test_every_classifier_is_asked_for_every_class() -> None:
    pool = make_pool(X, Y, n_classifiers=10)

    table = class_probabilities(pool, X[::10])

    assert table.shape == (15, 10, 3)
    assert np.allclose(table.sum(axis=2), 1)
    rows = pool.preprocessor.transform(X[::10])  # type: ignore[union-attr]
    assert np.allclose(table[:, 4], pool.classifiers[4].predict_proba(rows))


class _Answers(ClassifierMixin, BaseEstimator):
    """Always the same probabilities."""

    def __init__(self, row: tuple[float, ...] = (1.0, 0.0)) -> None:
        self.row = row
        self.classes_ = np.array([0, 1])
        self.is_fitted_ = True

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), dtype=int)

    def predict_proba(self, X: Any) -> Any:
        return np.tile(self.row, (len(X), 1))


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ((0.5, 0.7), "must add up to 1 on every row, got 1.2"),
        ((np.nan, 0.5), "answers NaN"),
        ((-0.5, 1.5), "from 0 to 1, got -0.5 to 1.5"),
        ((0.5, 0.3, 0.2), "must answer with shape"),
    ],
)
def test_what_are_no_probabilities_is_refused_by_name(row: tuple[float, ...], why: str) -> None:
    pool = as_pool([_Answers(), _Answers(row)])

    with pytest.raises(BadInputError, match=why) as refused:
        class_probabilities(pool, X)
    assert "_Answers-2" in str(refused.value)


def test_small_errors_of_rounding_are_scaled_away() -> None:
    table = class_probabilities(as_pool([_Answers((0.50001, 0.5))]), X[:3])

    assert np.allclose(table.sum(axis=2), 1, atol=1e-12)


def test_classifiers_without_probabilities_are_named() -> None:
    pool = as_pool([GaussianNB().fit(X, Y), LinearSVC().fit(X, Y)])

    with pytest.raises(BadInputError, match="got none of LinearSVC"):
        class_probabilities(pool, X)
