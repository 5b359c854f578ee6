"""A vote of the nearest rows, whose every answer is settled: also where several rows are equally near."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from shortlist._words import counted
from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from
from shortlist.tables.fit_inputs import refuse_fit_options

ROWS_AT_ONCE = 1024
"""Rows that are answered at a time, between which Ctrl-C is heard."""


@saved_from("shortlist.ensembles")
class NearestRows(ClassifierMixin, BaseEstimator):
    """The classes of the nearest rows; of rows that are equally near the first ones count.

    A distance is a sum over the columns from the first to the last, of absolute differences or of their
    squares, in double precision. So every program that adds in this order finds the same rows. Scikit-learn's
    classifier leaves the order of equally near rows open, and its distances depend on how matrices are
    multiplied.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many rows vote.
    weights : {"uniform", "distance"}, default="uniform"
        Whether votes are equal, or worth one over their distance. Where rows lie at distance 0, those alone
        vote.
    p : {1, 2}, default=2
        Manhattan or Euclidean distance.

    Attributes
    ----------
    classes_ : ndarray of int, shape (n_classes,)
        The classes, sorted.
    rows_ : ndarray of float, shape (n_rows, n_columns)
        The rows that vote.
    codes_ : ndarray of int, shape (n_rows,)
        Their classes, as indices into `classes_`.

    Examples
    --------
    >>> X, y = np.array([[0.0], [2.0], [4.0]]), np.array([0, 1, 1])
    >>> NearestRows(1, weights="uniform", p=2).fit(X, y).predict(np.array([[1.0], [3.0]])).tolist()
    [0, 1]
    """

    def __init__(self, n_neighbors: int = 5, *, weights: str = "uniform", p: int = 2) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.p = p

    def fit(self, X: NDArray[np.float64], y: NDArray[np.intp], **unsupported: Any) -> Self:
        """Keep the rows, at least `n_neighbors`, and their classes; weights of rows are refused."""
        refuse_fit_options(self, unsupported)
        self.classes_, self.codes_ = np.unique(y, return_inverse=True)
        self.rows_ = np.array(X, dtype=np.float64)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row, ``(n_samples,)``, the first of the most probable ones."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of every class among the nearest rows, ``(n_samples, n_classes)``.

        Raises
        ------
        BadInputError
            If fewer rows than `n_neighbors` were fitted.

        Notes
        -----
        Takes O(n_samples · n_rows · n_columns) time.
        """
        if not 1 <= self.n_neighbors <= len(self.rows_):
            raise BadInputError(
                "n_neighbors",
                f"must be from 1 to the {counted(len(self.rows_), 'row')} that were fitted",
                self.n_neighbors,
            )
        from shortlist.ensembles.pools._kernels import find_nearest

        asked = np.ascontiguousarray(X, dtype=np.float64)
        columns, away = np.ascontiguousarray(self.rows_.T), np.empty(len(self.rows_))
        found = np.zeros((len(asked), len(self.classes_)))
        for start in range(0, len(asked), ROWS_AT_ONCE):
            shares = found[start : start + ROWS_AT_ONCE]
            places = np.empty((len(shares), self.n_neighbors), dtype=np.int64)
            nearest = np.empty(places.shape)
            find_nearest(asked[start : start + ROWS_AT_ONCE], columns, self.p, away, places, nearest)
            weights, every = self._weights(nearest), np.arange(len(shares))
            for codes, weight in zip(self.codes_[places].T, weights.T, strict=True):
                shares[every, codes] += weight
        totals = np.add.accumulate(found, axis=1)[:, -1:]
        return np.asarray(found / totals)

    def _weights(self, away: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the votes of the nearest rows are worth, by their sums of powers."""
        if self.weights == "uniform":
            return np.ones_like(away)
        away = np.sqrt(away) if self.p == 2 else away
        same: Mask = away == 0
        nearest = away[:, :1]
        return np.where(nearest == 0, same, nearest / np.where(same, 1.0, away))
