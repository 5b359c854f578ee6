"""What each classifier of a pool answers on each row: a class, or how probable it finds every class."""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.ensembles.pools.judges import Judge, abstain_somewhere
from shortlist.ensembles.pools.pool import (
    Pool,
    ask_classifier,
    ask_pool,
    check_known,
    checked_probabilities,
    positive_votes,
)
from shortlist.ensembles.votes.hard_votes import ClassCodes
from shortlist.ensembles.votes.soft_votes import Shares, whole_shares
from shortlist.errors import BadInputError

SUM_ROUNDING = 1e-3
"""Probabilities of a row may add up to 1 but for this much; they are scaled to do so."""


def class_answers(pool: Pool, X: Any) -> ClassCodes:
    """Return the index into ``pool.classes`` that every classifier gives every row.

    With two classes that is the second one where its probability is above 0.5, as in exact pruning; with more
    the most probable class, the lowest of equals. A classifier without ``predict_proba`` is asked for its
    prediction. A judge who abstains on a row has the index after the last class. Raises BadInputError if X
    has other columns, or a classifier answers NaN or an unknown class; the sentence names the classifier.

    `pool`: who is asked. The rows are transformed once. `X`, ``(n_samples, n_features)``: columns of a frame
    may come in another order; names must match those the pool was fitted on. `codes`, which it returns,
    ``(n_samples, n_classifiers)``.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from shortlist.ensembles.pools.members import as_pool
    >>> X, y = load_iris(return_X_y=True)
    >>> class_answers(as_pool([DecisionTreeClassifier().fit(X, y)]), X[[0, 50, 100]]).ravel().tolist()
    [0, 1, 2]
    """
    if len(pool.classes) == 2 and not abstain_somewhere(pool.classifiers, X):
        return positive_votes(pool, X, pool.classes[1])
    return ask_pool(pool, X, functools.partial(_codes, pool), np.uint8)


def positive_codes(pool: Pool, X: Any, positive: int) -> ClassCodes:
    """Return, of two classes, whether each classifier finds one of them more probable than one half.

    `pool`, `X`: as of :func:`class_answers`. `positive`: the place of that class in ``pool.classes``, which
    wins no tie. `codes`, which it returns: the place of the class, ``(n_samples, n_classifiers)``; 2 for a
    judge who abstains.
    """
    votes = positive_votes(pool, X, pool.classes[positive])
    codes = votes if positive else 1 - votes
    for place, judge in enumerate(pool.classifiers):
        if isinstance(judge, Judge):
            codes[judge.abstains(X), place] = 2
    return codes


def _codes(pool: Pool, name: str, classifier: Any, rows: Any) -> NDArray[np.intp]:
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


def class_probabilities(pool: Pool, X: Any) -> NDArray[np.float64]:
    """Return how probable every classifier finds every class on every row.

    Raises BadInputError if X has other columns, or a classifier has no ``predict_proba``, answers NaN or a
    number outside [0, 1], or its probabilities do not add up to 1; the sentence names the classifier.

    `pool`: who is asked. The rows are transformed once. `X`, ``(n_samples, n_features)``: columns of a frame
    may come in another order; names must match those the pool was fitted on. `probabilities`, which it
    returns, ``(n_samples, n_classifiers, n_classes)``: within [0, 1]; those of a row and a classifier add up
    to 1.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from shortlist.ensembles.pools.members import as_pool
    >>> X, y = load_iris(return_X_y=True)
    >>> class_probabilities(as_pool([DecisionTreeClassifier().fit(X, y)]), X[[50]]).tolist()
    [[[0.0, 1.0, 0.0]]]
    """
    check_probabilities(pool)
    n_classes = len(pool.classes)
    return ask_pool(pool, X, functools.partial(_probabilities_of, n_classes), np.float64, (n_classes,))


def gives_probabilities(pool: Pool) -> bool:
    """Whether every classifier has ``predict_proba``."""
    return all(hasattr(classifier, "predict_proba") for classifier in pool.classifiers)


def class_shares(pool: Pool, X: Any) -> Shares:
    """Return the same rounded to whole numbers, in a quarter of the memory.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from shortlist.ensembles.pools.members import as_pool
    >>> X, y = load_iris(return_X_y=True)
    >>> class_shares(as_pool([DecisionTreeClassifier().fit(X, y)]), X[[50]]).tolist()
    [[[0, 32767, 0]]]
    """
    check_probabilities(pool)
    n_classes = len(pool.classes)

    def ask(name: str, classifier: Any, rows: Any) -> Shares:
        if isinstance(classifier, Judge):  # who has checked them
            return whole_shares(classifier.predict_proba(rows))
        return whole_shares(_probabilities_of(n_classes, name, classifier, rows))

    return ask_pool(pool, X, ask, np.int16, (n_classes,))


VOTES_INSTEAD = "pass `voting='hard'` and an objective of votes, such as `objective='accuracy'`"
"""What to do where probabilities cannot be averaged."""


def check_probabilities(pool: Pool, instead: str = VOTES_INSTEAD) -> None:
    """Refuse a pool with classifiers that give no probabilities, before any long work.

    `instead`: what else to do than to leave them out, which ends the sentence.
    """
    without = [
        name
        for name, classifier in zip(pool.names, pool.classifiers, strict=True)
        if not hasattr(classifier, "predict_proba")
    ]
    if without and all(isinstance(classifier, Judge) for classifier in pool.classifiers):
        raise BadInputError(
            "probabilities can only be averaged where every judge gives them, in columns judge:class, got "
            f"classes alone of {all_of(without, most=5)}. Leave these judges out of the table, or {instead}."
        )
    if without:
        raise BadInputError(
            "probabilities can only be averaged where every classifier has predict_proba, got none of "
            f"{all_of(without, most=5)}. Leave them out of the pool, calibrate them, or {instead}."
        )


def _probabilities_of(n_classes: int, name: str, classifier: Any, rows: Any) -> NDArray[np.float64]:
    answers = np.asarray(ask_classifier(name, classifier.predict_proba, rows, (n_classes,)), dtype=np.float64)
    clipped = checked_probabilities(name, answers)
    if not len(clipped):
        return clipped
    sums = clipped.sum(axis=1, keepdims=True)
    furthest = float(sums[np.abs(sums - 1).argmax(), 0])
    if abs(furthest - 1) > SUM_ROUNDING:
        raise BadInputError(
            f"the probabilities of classifier {name} must add up to 1 on every row, got {furthest:g}. "
            "Calibrate it, or leave it out of the pool."
        )
    return np.asarray(clipped / sums)
