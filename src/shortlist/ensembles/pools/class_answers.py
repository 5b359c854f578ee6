"""The class that each classifier of a pool gives each row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from shortlist._words import all_of
from shortlist.ensembles.pools.pool import Pool, ask_classifier, matched_columns, positive_probabilities
from shortlist.ensembles.votes.binary_votes import round_votes
from shortlist.ensembles.votes.class_votes import ClassCodes
from shortlist.errors import BadInputError


def class_answers(pool: Pool, X: Any) -> ClassCodes:
    """Return the index into ``pool.classes`` that every classifier gives every row.

    With two classes that is the second one where its probability is above 0.5, as in exact pruning; with more
    the most probable class, the lowest of equals. A classifier without ``predict_proba`` is asked for its
    prediction.

    Parameters
    ----------
    pool : Pool
        Who is asked. The rows are transformed once.
    X : DataFrame or array-like of shape (n_samples, n_features)
        Columns of a frame may come in another order; names must match those the pool was fitted on.

    Returns
    -------
    codes : ndarray of uint8, shape (n_samples, n_classifiers)

    Raises
    ------
    BadInputError
        If `X` has other columns, or a classifier answers NaN or an unknown class; the sentence names the
        classifier.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from shortlist.ensembles.pools.pool import as_pool
    >>> X, y = load_iris(return_X_y=True)
    >>> class_answers(as_pool([DecisionTreeClassifier().fit(X, y)]), X[[0, 50, 100]]).ravel().tolist()
    [0, 1, 2]
    """
    if len(pool.classes) == 2:
        return round_votes(positive_probabilities(pool, X, pool.classes[1]))
    X = matched_columns(pool, X)
    rows = X if pool.preprocessor is None else pool.preprocessor.transform(X)
    n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    codes = np.empty((n_rows, len(pool)), dtype=np.uint8)
    with threadpool_limits(limits=1):  # many small calls: starting threads for each costs more than it saves
        for column, (name, classifier) in enumerate(zip(pool.names, pool.classifiers, strict=True)):
            codes[:, column] = _codes(name, classifier, rows, pool)
    return codes


def _codes(name: str, classifier: Any, rows: Any, pool: Pool) -> NDArray[np.intp]:
    """Return one classifier's class indices, checked."""
    if hasattr(classifier, "predict_proba"):
        probabilities = ask_classifier(name, classifier.predict_proba, rows, (len(pool.classes),))
        if np.isnan(probabilities).any():
            raise BadInputError(
                f"classifier {name} answers NaN on {np.isnan(probabilities).any(axis=1).sum()} of "
                f"{len(probabilities)} rows. Leave it out of the pool, or fit it again."
            )
        return np.asarray(probabilities.argmax(axis=1))
    answers = ask_classifier(name, classifier.predict, rows, ())
    index = {label: code for code, label in enumerate(pool.classes.tolist())}
    unknown = [label for label in set(answers.tolist()) if label not in index]
    if unknown:
        raise BadInputError(
            f"classifier {name} answers {unknown[0]!r}, which is none of the classes {all_of(pool.classes)}. "
            "Leave it out of the pool, or fit it again."
        )
    return np.array([index[label] for label in answers.tolist()], dtype=np.intp)
