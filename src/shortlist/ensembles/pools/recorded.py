"""Classifiers with recorded answers, so that a choice can be repeated without asking the classifiers."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from shortlist.arrays import Floats, Labels
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool
from shortlist.ensembles.votes.hard_votes import ClassCodes
from shortlist.ensembles.votes.soft_votes import WHOLE, Shares
from shortlist.tables.splits import IN_NO_FOLD, RowNumbers


def _knows_probabilities(classifier: "RecordedClassifier") -> bool:
    return classifier.shares is not None


@dataclass(frozen=True, eq=False)
class RecordedClassifier:
    """Classifier that looks up its recorded answers: the only feature of a row is its index in the record."""

    classes_: Labels
    """The classes, sorted, ``(n_classes,)``."""
    codes: NDArray[np.integer[Any]]
    """Index of the class answered on every row, ``(n_rows,)``."""
    shares: NDArray[np.int16] | None
    """Probability of every class in parts of 2^15 - 1, ``(n_rows, n_classes)``; None without
    probabilities.
    """

    def predict(self, X: Any) -> Labels:
        """Return the class of every row, ``(n_samples,)``."""
        return np.asarray(self.classes_[self.codes[_indices(X)]])

    @available_if(_knows_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every class, ``(n_samples, n_classes)``."""
        rows = _indices(X)
        assert self.shares is not None
        found = self.shares[rows] / WHOLE
        if found.shape[1] == 2:  # a half is rounded to either side, and its vote is negative
            found[(found[:, 1] > 0.5) != (self.codes[rows] == 1)] = 0.5
        return np.asarray(found)


def _indices(X: Any) -> RowNumbers:
    return np.asarray(X)[:, 0].astype(np.intp)


def rows_on_record(n_rows: int) -> NDArray[np.int64]:
    """Return the features of all recorded rows: their indices, ``(n_rows, 1)``."""
    return np.arange(n_rows)[:, None]


def recorded_pool(pool: Pool, codes: ClassCodes, shares: Shares | None) -> Pool:
    """Return the pool with recorded answers in place of its classifiers.

    `codes`, ``(n_rows, n_classifiers)``: index of the class answered by each classifier. `shares`, ``(n_rows,
    n_classifiers, n_classes)``: probabilities in parts of 2^15 - 1.
    """
    members = tuple(
        RecordedClassifier(pool.classes, codes[:, place], None if shares is None else shares[:, place])
        for place in range(len(pool))
    )
    return replace(pool, classifiers=members, preprocessor=None, n_features_in=1, feature_names_in=None)


def answering_all_but(pool: Pool, n_rows: int, n_last: int) -> CrossFittedPool:
    """Return a pool as a cross-fitted pool whose members are chosen on `n_rows` rows.

    The `n_last` rows after these rows are in no fold, and so are not used for the choice.
    """
    folds = np.repeat(np.array([0, IN_NO_FOLD], dtype=np.int8), [n_rows, n_last])
    return CrossFittedPool(pool, (pool,), folds)
