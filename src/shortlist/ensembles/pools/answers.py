"""Answers of each classifier of a pool on each row: a class, or the probability of every class."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._threads import limited_threads
from shortlist._words import all_of, any_of
from shortlist.arrays import VoteMatrix
from shortlist.ensembles.pools.judges import Judge, abstain_somewhere
from shortlist.ensembles.pools.pool import Pool, matched_columns
from shortlist.ensembles.votes.hard_votes import ClassCodes, round_votes
from shortlist.ensembles.votes.soft_votes import Shares, whole_shares
from shortlist.errors import BadInputError, ShortlistError

PROBABILITY_ROUNDING = 1e-6
"""Distance by which probabilities may leave [0, 1], due to rounding of float32 sums; they are clipped."""

SUM_ROUNDING = 1e-3
"""Distance by which the sum of a row's probabilities may differ from 1; they are scaled to add up to 1."""


TOGETHER, ROWS_TOGETHER = 32, 4096
"""Number of classifiers, and number of rows, whose answers are stored together, so that they fit in a cache.
"""


def ask_pool(
    pool: Pool,
    X: Any,
    ask: Callable[[str, Any, Any], NDArray[Any]],
    dtype: type[np.generic],
    width: tuple[int, ...] = (),
) -> NDArray[Any]:
    """Return the answers of every classifier on every row, ``(n_samples, n_classifiers, *width)``.

    Rows are transformed once. `X`, ``(n_samples, n_features)``: the columns of a frame may be in another
    order than when the pool was fitted, but have the same names. `ask`: function from name, classifier and
    transformed rows to checked answers. `dtype`: type of the answers. `width`: shape of an answer on one row.
    """
    X = matched_columns(pool, X)
    rows = X if pool.preprocessor is None else pool.preprocessor.transform(X)
    n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    answers = np.empty((n_rows, len(pool), *width), dtype=dtype)
    with limited_threads(1):  # many small calls: starting threads for each costs more than it saves
        asked: dict[int, int] = {}  # who is in the pool twice is asked once
        some: list[NDArray[Any]] = []  # written together: one column at a time is slow in a large table
        for place, (name, classifier) in enumerate(zip(pool.names, pool.classifiers, strict=True)):
            first, start = asked.setdefault(id(classifier), place), place - len(some)
            if first == place:
                some.append(np.asarray(ask(name, classifier, rows), dtype=dtype))
            else:
                some.append(some[first - start] if first >= start else answers[:, first])
            if len(some) == TOGETHER or place + 1 == len(pool):
                for rows_from in range(0, n_rows, ROWS_TOGETHER):
                    block = slice(rows_from, rows_from + ROWS_TOGETHER)
                    answers[block, start : place + 1] = np.stack([one[block] for one in some], axis=1)
                some = []
    return answers


def ask_classifier(
    name: str, method: Callable[[Any], Any], rows: Any, width: tuple[int, ...]
) -> NDArray[Any]:
    """Return the answers of a classifier on rows, ``(n_rows, *width)``.

    Raises BadInputError if the classifier fails with any error, or does not give one answer per row.

    `name`: name of the classifier in its pool. `method`: its ``predict`` or ``predict_proba``. `rows`,
    ``(n_rows, n_features)``. `width`: shape of the answer on one row.
    """
    n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    try:
        answers = np.asarray(method(rows))
    except (ShortlistError, MemoryError):
        raise
    except Exception as error:  # a user's classifier may raise anything at all
        why = (str(error).splitlines() or [""])[0]
        raise BadInputError(
            f"classifier {name} fails on these rows ({type(error).__name__}: {why}). Leave it out of the "
            "pool, or fit it on the columns of this table."
        ) from error
    if answers.shape != (n_rows, *width):
        raise BadInputError(
            f"classifier {name} must answer with shape {(n_rows, *width)}, got {answers.shape}. Leave it "
            "out of the pool."
        )
    return answers


def check_known(name: str, answers: NDArray[Any]) -> None:
    """Raise BadInputError if an answer is NaN.

    `answers`: one entry per row, of any shape. `name`: name of the classifier.
    """
    n_missing = int(np.isnan(answers).reshape(len(answers), -1).any(axis=1).sum()) if answers.size else 0
    if n_missing:
        raise BadInputError(
            f"classifier {name} answers NaN on {n_missing} of {len(answers)} rows. Leave it out of the pool, "
            "or fit it again."
        )


def checked_probabilities(name: str, answers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities of a classifier, clipped to [0, 1].

    Raises BadInputError for NaN, and for values outside [0, 1] by more than :data:`PROBABILITY_ROUNDING`.
    """
    check_known(name, answers)
    if answers.size and (answers.min() < -PROBABILITY_ROUNDING or answers.max() > 1 + PROBABILITY_ROUNDING):
        raise BadInputError(
            f"classifier {name} must answer probabilities from 0 to 1, got {answers.min():g} to "
            f"{answers.max():g}. Calibrate it, or leave it out of the pool."
        )
    return np.asarray(np.clip(answers, 0.0, 1.0))


def positive_votes(pool: Pool, X: Any, positive: Any) -> VoteMatrix:
    """Return 1 where a classifier gives a class more than one half, else 0, ``(n_samples, n_classifiers)``.

    Raises BadInputError if `positive` is no class of the pool, X has other columns, or a classifier answers
    NaN or a number outside [0, 1]; the sentence names the classifier.
    """
    if positive not in pool.classes.tolist():
        raise BadInputError("positive", f"must be one of the classes {any_of(pool.classes)}", repr(positive))
    index = pool.classes.tolist().index(positive)

    def ask(name: str, classifier: Any, rows: Any) -> VoteMatrix:
        if hasattr(classifier, "predict_proba"):
            found = ask_classifier(name, classifier.predict_proba, rows, (len(pool.classes),))[:, index]
            return round_votes(checked_probabilities(name, np.asarray(found, dtype=np.float64)))
        if isinstance(classifier, Judge):
            return np.asarray(classifier.class_codes(rows) == index, dtype=np.uint8)
        found = ask_classifier(name, classifier.predict, rows, ())
        return np.asarray(found == pool.classes[index], dtype=np.uint8)

    return ask_pool(pool, X, ask, np.uint8)


def class_answers(pool: Pool, X: Any) -> ClassCodes:
    """Return the class that every classifier gives every row, as an index into ``pool.classes``.

    The second class of two is given where its probability is above 0.5, as in exact pruning. With more than
    two classes the most probable class is given, the lowest of equals. A classifier without ``predict_proba``
    gives its prediction. A judge who abstains on a row has the index after the last class. Raises
    BadInputError if X has other columns, or a classifier answers NaN or an unknown class; the sentence names
    the classifier.

    `pool`: its classifiers are asked; the rows are transformed once. `X`, ``(n_samples, n_features)``: the
    columns of a frame may be in another order than when the pool was fitted, but have the same names. The
    result has the shape ``(n_samples, n_classifiers)``.

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
    """Return the index of the class of two that each classifier answers, ``(n_samples, n_classifiers)``.

    `pool`, `X`: as for :func:`class_answers`. `positive`: index in ``pool.classes`` of the class that is
    answered where its probability is above one half; it wins no tie. A judge who abstains has the index 2.
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
    """Return the probability of every class by every classifier on every row.

    The array has the shape ``(n_samples, n_classifiers, n_classes)``. The probabilities are within [0, 1],
    and those of a row by one classifier add up to 1.

    Raises BadInputError if X has other columns, or a classifier has no ``predict_proba``, answers NaN or a
    number outside [0, 1], or its probabilities do not add up to 1; the sentence names the classifier.

    `pool`: its classifiers are asked; the rows are transformed once. `X`, ``(n_samples, n_features)``: the
    columns of a frame may be in another order than when the pool was fitted, but have the same names.

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
    """Return whether every classifier has ``predict_proba``."""
    return all(hasattr(classifier, "predict_proba") for classifier in pool.classifiers)


def class_shares(pool: Pool, X: Any) -> Shares:
    """Return the probabilities of :func:`class_probabilities` as integers, in parts of 2^15 - 1.

    The integers need a quarter of the memory.

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
"""Advice where a pool has no probabilities to average."""


def check_probabilities(pool: Pool, instead: str = VOTES_INSTEAD) -> None:
    """Raise BadInputError for a pool with classifiers that give no probabilities, before any long work.

    `instead`: advice at the end of the message, as an alternative to leaving these classifiers out.
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
