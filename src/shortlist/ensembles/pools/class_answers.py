"""The class that each classifier of a pool gives each row."""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.ensembles.pools.judges import Judge, abstain_somewhere
from shortlist.ensembles.pools.pool import Pool, ask_classifier, ask_pool, check_known, positive_votes
from shortlist.ensembles.votes.class_votes import ClassCodes
from shortlist.errors import BadInputError


def class_answers(pool: Pool, X: Any) -> ClassCodes:
    """Return the index into ``pool.classes`` that every classifier gives every row.

    With two classes that is the second one where its probability is above 0.5, as in exact pruning; with more
    the most probable class, the lowest of equals. A classifier without ``predict_proba`` is asked for its
    prediction. A judge who abstains on a row has the index after the last class.

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
        If X has other columns, or a classifier answers NaN or an unknown class; the sentence names the
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
    if len(pool.classes) == 2 and not abstain_somewhere(pool.classifiers, X):
        return positive_votes(pool, X, pool.classes[1])
    return ask_pool(pool, X, functools.partial(_codes, pool), np.uint8)


def positive_codes(pool: Pool, X: Any, positive: int) -> ClassCodes:
    """Return, of two classes, whether each classifier finds one of them more probable than one half.

    Parameters
    ----------
    pool, X
        As of :func:`class_answers`.
    positive : int
        The place of that class in ``pool.classes``, which wins no tie.

    Returns
    -------
    codes : ndarray of uint8, shape (n_samples, n_classifiers)
        The place of the class; 2 for a judge who abstains.
    """
    votes = positive_votes(pool, X, pool.classes[positive])
    codes = votes if positive else 1 - votes
    for place, judge in enumerate(pool.classifiers):
        if isinstance(judge, Judge):
            codes[judge.abstains(X), place] = 2
    return codes


def _codes(pool: Pool, name: str, classifier: Any, rows: Any) -> NDArray[np.intp]:
    """Return one classifier's class indices, checked."""
    if isinstance(classifier, Judge):
        return classifier.class_codes(rows).astype(np.intp)
    if hasattr(classifier, "predict_proba"):
        probabilities = ask_classifier(name, classifier.predict_proba, rows, (len(pool.classes),))
        check_known(name, probabilities)
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
