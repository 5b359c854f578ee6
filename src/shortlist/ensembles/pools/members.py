"""One classifier of a pool: an estimator that sees some columns and answers class indices."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.metaestimators import available_if

from shortlist.arrays import Labels
from shortlist.ensembles.pools.pool import Pool
from shortlist.pickles import saved_from


def _gives_probabilities(member: "Member") -> bool:
    return hasattr(member.estimator, "predict_proba")


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class Member:
    """A fitted classifier whose estimator answers indices into `classes_`, perhaps not all of them."""

    estimator: Any
    """Fitted on class indices."""
    classes_: Labels
    """What the indices stand for, ``(n_classes,)``."""
    columns: NDArray[np.intp] | None = None
    """The columns that the estimator sees, in its order; None: it sees the rows as they come, whatever their
    type.
    """

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return one column per class of `classes_`, ``(n_samples, n_classes)``.

        Classes never seen have 0.
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
"""What follows the name of a further copy, as often as there are copies before."""


def counted_names(names: Iterable[str]) -> list[str]:
    """Return each name once, with how often it comes where that is more than once.

    >>> counted_names(["a", "a, again", "a, again, again", "b"])
    ['a (3 times)', 'b']
    """
    times = Counter(name.removesuffix(AGAIN * name.count(AGAIN)) for name in names)
    return [name if n == 1 else f"{name} ({n} times)" for name, n in times.items()]


def with_copies(pool: Pool, copies: NDArray[np.int64]) -> Pool:
    """Return the classifiers that are taken, each as often as it is.

    Further copies are named so, and cost nothing, as a member that is in a pool twice is asked once.

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
