"""Members of pools: estimators that answer class indices, their copies, and classifiers fitted elsewhere."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.metaestimators import available_if

from shortlist._words import all_of
from shortlist.arrays import Labels
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool, numbered
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from


def _gives_probabilities(member: "Member") -> bool:
    return hasattr(member.estimator, "predict_proba")


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class Member:
    """Fitted classifier whose estimator answers indices into `classes_`.

    The estimator may have been fitted on rows of only some of the classes.
    """

    estimator: Any
    """Estimator that was fitted on class indices."""
    classes_: Labels
    """Labels of the class indices, ``(n_classes,)``."""
    columns: NDArray[np.intp] | None = None
    """Indices of the columns that the estimator takes, in its order; None: the estimator takes rows
    unchanged, of any type.
    """

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class in `classes_`, ``(n_samples, n_classes)``.

        A class without a fitted row has probability 0.
        """
        answers = self.estimator.predict_proba(self._seen(X))
        probabilities = np.zeros((len(answers), len(self.classes_)))
        probabilities[:, np.asarray(self.estimator.classes_).astype(np.intp)] = answers
        return probabilities

    def predict(self, X: Any) -> Labels:
        """Return the class of every row, ``(n_samples,)``."""
        indices = np.asarray(self.estimator.predict(self._seen(X))).astype(np.intp)
        return np.asarray(self.classes_[indices])

    def _seen(self, X: Any) -> Any:
        if self.columns is None:
            return X
        return (X if issparse(X) else np.asarray(X))[:, self.columns]


AGAIN = ", again"
"""Suffix of the name of a further copy of a member; the third copy has the suffix twice, and so on."""


def counted_names(names: Iterable[str]) -> list[str]:
    """Return each name once, with its number of copies if there are several.

    >>> counted_names(["a", "a, again", "a, again, again", "b"])
    ['a (3 times)', 'b']
    """
    times = Counter(name.removesuffix(AGAIN * name.count(AGAIN)) for name in names)
    return [name if n == 1 else f"{name} ({n} times)" for name, n in times.items()]


def with_copies(pool: Pool, copies: NDArray[np.int64]) -> Pool:
    """Return the pool of the classifiers that are taken, each with its number of copies.

    `copies`, ``(n_classifiers,)``. The name of a further copy has a suffix. A further copy costs nothing, as
    a member with several copies is asked once.

    >>> from sklearn.datasets import load_iris
    >>> from shortlist.ensembles import make_pool
    >>> pool = make_pool(*load_iris(return_X_y=True), n_classifiers=3)
    >>> with_copies(pool, np.array([2, 0, 1])).names
    ('logistic-regression-1', 'logistic-regression-1, again', 'naive-bayes-1')
    """
    places = np.repeat(np.arange(len(pool)), copies)
    each = [int(np.count_nonzero(places[:n] == place)) for n, place in enumerate(places)]
    names = tuple(pool.names[place] + AGAIN * copy for place, copy in zip(places, each, strict=True))
    return replace(
        pool,
        classifiers=tuple(pool.classifiers[place] for place in places),
        names=names,
        families=tuple(pool.families[place] for place in places),
        costs=None
        if pool.costs is None
        else np.where(np.array(each) > 0, 0.0, np.asarray(pool.costs)[places]),
    )


POOL_SOURCES = (
    "a Pool, a list of fitted classifiers, a dict or pairs of names and such, or a fitted VotingClassifier, "
    "BaggingClassifier, RandomForestClassifier, ExtraTreesClassifier or Pipeline that ends in one"
)


def as_pool(source: Any) -> Pool:
    """Return a pool of classifiers that were fitted elsewhere.

    Raises BadInputError if `source` has another type or is empty, or if a member is not fitted, is no
    classifier, or has other classes than the first member. The message names the member.

    `source`: a pool, a list or dict of classifiers, or an ensemble: a ``VotingClassifier``,
    ``BaggingClassifier``, ``RandomForestClassifier`` or ``ExtraTreesClassifier``, or a ``Pipeline`` that ends
    in an ensemble. Weights of an ensemble are dropped. The classifiers of an ensemble answer with the labels
    of the ensemble, and take the columns that they were fitted on. A list may hold pipelines, and classifiers
    that only have ``predict``. Classifiers without names are named after their kind, with a number if several
    are of one kind.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> forest = RandomForestClassifier(3, random_state=0).fit(*load_iris(return_X_y=True))
    >>> as_pool(forest).names
    ('DecisionTreeClassifier-1', 'DecisionTreeClassifier-2', 'DecisionTreeClassifier-3')
    >>> as_pool({"first": forest.estimators_[0], "last": forest.estimators_[2]}).names
    ('first', 'last')
    """
    if isinstance(source, Pool):
        return source
    source = _thawed(source)
    if isinstance(source, Mapping | list | tuple) and not source:
        raise BadInputError(
            "pool", "must hold at least one fitted classifier", f"an empty {type(source).__name__}"
        )
    if isinstance(source, Mapping):
        return _of_named(list(source.items()))
    if isinstance(source, list | tuple):
        is_named = all(isinstance(one, tuple) and len(one) == 2 for one in source)
        return _of_named(source) if is_named else _of_list(source)
    if isinstance(source, Pipeline):
        return _of_pipeline(source)
    if _is_ensemble(source):
        return _of_ensemble(source)
    advice = " Put a single classifier into a list." if _is_classifier(source) else ""
    raise BadInputError("pool", f"must be {POOL_SOURCES}", _shown(source), advice)


def whole_pool(source: Any) -> Pool:
    """Return the inner pool of a cross-fitted pool; convert any other source by :func:`as_pool`."""
    return source.pool if isinstance(source, CrossFittedPool) else as_pool(source)


def to_array(X: Any, dtype: Any = None) -> Any:
    """Return rows as an ensemble passes them to its members: an array without names, or sparse rows."""
    if issparse(X):
        return X if dtype is None else X.astype(dtype)
    return np.asarray(X, dtype=dtype)


def _of_named(source: Sequence[tuple[Any, Any]]) -> Pool:
    if odd := [name for name, _ in source if not isinstance(name, str)]:
        raise BadInputError("pool", "must name each classifier by a text", repr(odd[0])[:60])
    names = tuple(name for name, _ in source)
    return replace(_of_list([member for _, member in source], names), names=names)


def _of_list(source: Sequence[Any], keys: Sequence[str] = ()) -> Pool:
    """Return the pool of classifiers in a list.

    `keys`: names of the classifiers in messages; without keys they are named by index.
    """
    places = [f"pool[{key!r}]" for key in keys or range(len(source))]
    known, names, n_features = _classes_of(source[0], places[0]), None, None
    for place, member in zip(places, source, strict=True):
        classes = _classes_of(member, place)
        if classes.tolist() != known.tolist():
            raise BadInputError(
                f"the classifiers must tell the same classes apart, but {places[0]} has {all_of(known)} and "
                f"{place}, a {type(member).__name__}, has {all_of(classes)}. Fit them on the same "
                "labels."
            )
        names = _feature_names(member) if names is None else names
        n_features = getattr(member, "n_features_in_", None) if n_features is None else n_features
    families = tuple(map(_kind, source))
    numbers = zip(numbered(families), families, strict=True)
    called = tuple(number if families.count(family) > 1 else family for number, family in numbers)
    return Pool(tuple(source), known, called, families, n_features_in=n_features, feature_names_in=names)


def _thawed(model: Any) -> Any:
    """Return the estimator inside a FrozenEstimator; return any other estimator unchanged."""
    return _thawed(model.estimator) if isinstance(model, FrozenEstimator) else model


def _kind(member: Any) -> str:
    """Return the kind of a classifier, with its preprocessing steps, such as ``SVC after StandardScaler``."""
    member = _thawed(member)
    if not isinstance(member, Pipeline):
        return type(member).__name__
    *before, last = [
        step for step in member.named_steps.values() if step is not None and step != "passthrough"
    ]
    return _kind(last) + (f" after {all_of(map(_kind, before))}" if before else "")


def _of_pipeline(source: Pipeline) -> Pool:
    last = _thawed(source.steps[-1][1])
    if not _is_ensemble(last):
        raise BadInputError(
            "pool",
            f"must be {POOL_SOURCES}",
            f"a Pipeline that ends in {_shown(last)}",
            "Put a single classifier into a list.",
        )
    pool = _of_ensemble(last)
    if len(source.steps) == 1:
        return pool
    before = source[:-1]
    return replace(
        pool,
        preprocessor=before if pool.preprocessor is None else make_pipeline(before, pool.preprocessor),
        n_features_in=getattr(source, "n_features_in_", None),
        feature_names_in=_feature_names(source),
    )


def _is_ensemble(source: Any) -> bool:
    from sklearn.ensemble import (
        BaggingClassifier,
        ExtraTreesClassifier,
        RandomForestClassifier,
        VotingClassifier,
    )

    return isinstance(
        source, VotingClassifier | BaggingClassifier | RandomForestClassifier | ExtraTreesClassifier
    )


def _of_ensemble(source: Any) -> Pool:
    """Return the pool of a fitted ensemble's members, with the ensemble's labels.

    The members of an ensemble are fitted on class indices, not on labels.
    """
    from sklearn.ensemble import BaggingClassifier, VotingClassifier

    classes = _classes_of(source, "pool")
    families = tuple(map(_kind, source.estimators_))
    names = numbered(families)
    preprocessor: Any = None
    columns: Sequence[Any] = [None] * len(source.estimators_)
    if isinstance(source, VotingClassifier):
        names = tuple(name for name, given in source.estimators if not isinstance(given, str))
    elif isinstance(source, BaggingClassifier):
        columns = source.estimators_features_
        preprocessor = FunctionTransformer(to_array)
    else:
        preprocessor = FunctionTransformer(to_array, kw_args={"dtype": np.float32})
    members = tuple(
        Member(estimator, classes, seen) for estimator, seen in zip(source.estimators_, columns, strict=True)
    )
    n_features = getattr(source, "n_features_in_", None)
    return Pool(members, classes, names, families, preprocessor, None, n_features, _feature_names(source))


def _classes_of(member: Any, where: str) -> Labels:
    try:
        classes = member.classes_
    except (AttributeError, NotFittedError):
        if _is_classifier(member) and not isinstance(member, type):
            raise BadInputError(
                f"{where} is {_shown(member)} that is not fitted. Call its fit first; in a parameter "
                "grid, which scikit-learn clones, wrap it in FrozenEstimator."
            ) from None
        raise BadInputError(where, "must be a fitted classifier", _shown(member)) from None
    if not hasattr(member, "predict"):
        raise BadInputError(f"{where} must be a fitted classifier, but {_shown(member)} has no predict.")
    labels = np.asarray(classes) if not isinstance(classes, list) else np.empty((0, 0))
    if labels.ndim != 1:
        raise BadInputError(f"{where} is {_shown(member)} with several outputs; a pool needs one output.")
    return labels


def _is_classifier(member: Any) -> bool:
    try:
        return bool(is_classifier(member))
    except (AttributeError, TypeError):
        return hasattr(member, "predict_proba")


def _shown(member: Any) -> str:
    if isinstance(member, str | int | float | type(None)):
        return repr(member)
    if isinstance(member, type):
        return f"the class {member.__name__} instead of an object of it"
    return f"a {type(member).__name__}"


def _feature_names(member: Any) -> tuple[str, ...] | None:
    names = getattr(member, "feature_names_in_", None)
    return None if names is None else tuple(names)
