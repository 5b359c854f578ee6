"""One classifier of a pool: an estimator that sees some columns and answers class indices."""

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from threadpoolctl import threadpool_limits

from shortlist.arrays import Labels
from shortlist.ensembles.pools.families import FAMILIES, Family
from shortlist.pickles import saved_from


def _gives_probabilities(member: "Member") -> bool:
    return hasattr(member.estimator, "predict_proba")


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class Member:
    """A fitted classifier whose estimator answers indices into `classes_`, perhaps not all of them.

    Parameters
    ----------
    estimator : classifier
        Fitted on class indices.
    classes_ : ndarray of shape (n_classes,)
        What the indices stand for.
    columns : ndarray of int or None
        The columns that the estimator sees, in its order; None: it sees the rows as they come, whatever their
        type.
    """

    estimator: Any
    classes_: Labels
    columns: NDArray[np.intp] | None = None

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


@contextlib.contextmanager
def calm_fits() -> Iterator[None]:
    """Fit in one thread, so that workers do not fight for cores, and without warnings that nobody can act on.

    Both settings belong to the process: whoever fits in several threads has to enter this around all of them
    too.
    """
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        # the number of iterations is one of the random parameters: stopping early is meant
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def fit_member(
    name: str,
    X: NDArray[np.float64],
    indices: NDArray[np.intp],
    classes: Labels,
    seeds: np.random.SeedSequence,
) -> Member:
    """Fit one classifier of a family on its own rows and columns of standardised data.

    Every class is in the rows, at least twice. Columns that are constant there are left out; if none is left,
    the member answers the shares of the classes.

    Parameters
    ----------
    name : str
        A family of :data:`shortlist.ensembles.pools.families.FAMILIES`.
    X : ndarray of float, shape (n_samples, n_features)
        Finite, standardised.
    indices : ndarray of int, shape (n_samples,)
        Class of every row as an index into `classes`.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    seeds : SeedSequence
        Where all random choices come from.
    """
    from sklearn.dummy import DummyClassifier

    family = FAMILIES[name]
    rng = np.random.default_rng(seeds)
    rows = draw_stratified(family, indices, rng)
    columns = columns_that_vary(X, rows, draw_columns(family, X.shape[1], rng))
    if len(columns):
        estimator = family.build(rng, len(rows), len(columns))
    else:
        estimator, columns = DummyClassifier(strategy="prior"), np.array([0])
    with calm_fits():
        estimator.fit(X[np.ix_(rows, columns)], indices[rows])
    return Member(estimator, classes, columns)


def columns_that_vary(
    X: NDArray[np.float64], rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return those of some columns that are not constant in some rows."""
    return np.asarray(columns[np.ptp(X[np.ix_(rows, columns)], axis=0) > 0])


def draw_stratified(family: Family, indices: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw rows within each class, so that every class keeps its share.

    Every class has at least two rows, repeated if need be.
    """
    share = rng.uniform(*family.rows)
    share = min(share, family.most_rows / len(indices))
    drawn = []
    for index in np.unique(indices):
        of_class = np.flatnonzero(indices == index)
        size = max(2, round(share * len(of_class)))
        replace = family.replace or size > len(of_class)
        drawn.append(rng.choice(of_class, size=size, replace=replace))
    return np.asarray(rng.permutation(np.concatenate(drawn)), dtype=np.intp)


def draw_columns(family: Family, n_columns: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw columns without replacement, in their order, at least one."""
    size = max(1, round(rng.uniform(*family.columns) * n_columns))
    return np.asarray(np.sort(rng.choice(n_columns, size=size, replace=False)), dtype=np.intp)
