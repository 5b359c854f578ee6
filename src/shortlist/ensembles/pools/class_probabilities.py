"""How probable each classifier of a pool finds every class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from shortlist._words import all_of
from shortlist.ensembles.pools.pool import PROBABILITY_ROUNDING, Pool, ask_classifier, matched_columns
from shortlist.errors import BadInputError

SUM_ROUNDING = 1e-3
"""Probabilities of a row may add up to 1 but for this much; they are scaled to do so."""


def class_probabilities(pool: Pool, X: Any) -> NDArray[np.float64]:
    """Return how probable every classifier finds every class on every row.

    Parameters
    ----------
    pool : Pool
        Who is asked. The rows are transformed once.
    X : DataFrame or array-like of shape (n_samples, n_features)
        Columns of a frame may come in another order; names must match those the pool was fitted on.

    Returns
    -------
    probabilities : ndarray of float, shape (n_samples, n_classifiers, n_classes)
        Within [0, 1]; those of a row and a classifier add up to 1.

    Raises
    ------
    BadInputError
        If `X` has other columns, or a classifier has no ``predict_proba``, answers NaN or a number outside
        [0, 1], or its probabilities do not add up to 1; the sentence names the classifier.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from shortlist.ensembles.pools.pool import as_pool
    >>> X, y = load_iris(return_X_y=True)
    >>> class_probabilities(as_pool([DecisionTreeClassifier().fit(X, y)]), X[[50]]).tolist()
    [[[0.0, 1.0, 0.0]]]
    """
    check_probabilities(pool)
    X = matched_columns(pool, X)
    rows = X if pool.preprocessor is None else pool.preprocessor.transform(X)
    n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    probabilities = np.empty((n_rows, len(pool), len(pool.classes)))
    with threadpool_limits(limits=1):  # many small calls: starting threads for each costs more than it saves
        for place, (name, classifier) in enumerate(zip(pool.names, pool.classifiers, strict=True)):
            probabilities[:, place] = _answers(name, classifier, rows, len(pool.classes))
    return probabilities


def check_probabilities(pool: Pool) -> None:
    """Refuse a pool with classifiers that give no probabilities, before any long work."""
    without = [
        name
        for name, classifier in zip(pool.names, pool.classifiers, strict=True)
        if not hasattr(classifier, "predict_proba")
    ]
    if without:
        raise BadInputError(
            "probabilities can only be averaged where every classifier has predict_proba, got none of "
            f"{all_of(without, most=5)}. Leave them out of the pool, calibrate them, or pass voting='hard'."
        )


def _answers(name: str, classifier: Any, rows: Any, n_classes: int) -> NDArray[np.float64]:
    """Return one classifier's probabilities, checked."""
    answers = np.asarray(ask_classifier(name, classifier.predict_proba, rows, (n_classes,)), dtype=np.float64)
    if np.isnan(answers).any():
        raise BadInputError(
            f"classifier {name} answers NaN on {np.isnan(answers).any(axis=1).sum()} of {len(answers)} rows. "
            "Leave it out of the pool, or fit it again."
        )
    if not len(answers):
        return answers
    if answers.min() < -PROBABILITY_ROUNDING or answers.max() > 1 + PROBABILITY_ROUNDING:
        raise BadInputError(
            f"classifier {name} must answer probabilities from 0 to 1, got {answers.min():g} to "
            f"{answers.max():g}. Calibrate it, or leave it out of the pool."
        )
    clipped = np.clip(answers, 0.0, 1.0)
    sums = clipped.sum(axis=1, keepdims=True)
    furthest = float(sums[np.abs(sums - 1).argmax(), 0])
    if abs(furthest - 1) > SUM_ROUNDING:
        raise BadInputError(
            f"the probabilities of classifier {name} must add up to 1 on every row, got {furthest:g}. "
            "Calibrate it, or leave it out of the pool."
        )
    return np.asarray(clipped / sums)
