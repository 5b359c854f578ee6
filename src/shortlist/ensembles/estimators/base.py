"""What the estimators of ensembles share: one vote a member, and a pool with the rows that prune it."""

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count, as_workers
from shortlist._words import all_of
from shortlist.arrays import Labels
from shortlist.ensembles.estimators.row_split import rows_to_fit_and_prune
from shortlist.ensembles.pools.pool import Pool, as_pool, make_pool
from shortlist.ensembles.votes.class_votes import ClassCodes, class_tally
from shortlist.errors import BadInputError
from shortlist.runs import Cancellation, Report
from shortlist.tables.fit_inputs import take_rows
from shortlist.tables.table_classifier import TableClassifier


class EnsembleClassifier(TableClassifier):
    """A classifier whose members vote, and which tells at most as many classes apart as a byte can number."""

    MOST_CLASSES = 256

    @abstractmethod
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return how far the members vote for each class, ``(n_samples, n_classes)``."""

    def predict(self, X: Any) -> Labels:
        """Return the class of every row, ``(n_samples,)``, the first of the most probable ones."""
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[probabilities.argmax(axis=1)])


class PruningRows(NamedTuple):
    """A pool, and the rows that choose its members.

    Attributes
    ----------
    pool : Pool
        The pool that was given, or one fitted on the other rows.
    X, y : array-like
        The rows that prune, and their classes.
    places : ndarray of int, or None
        Where those are among all rows; None: they are all rows.
    """

    pool: Pool
    X: Any
    y: Labels
    places: NDArray[np.intp] | None


class PoolPruner(EnsembleClassifier):
    """What chooses members of a pool, which it fits itself on a part of the rows where none is given."""

    CHECKS = TableClassifier.CHECKS | {"n_classifiers": as_count, "n_jobs": as_workers}

    def __init__(
        self,
        pool: Any = None,
        *,
        n_classifiers: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.pool = pool
        self.n_classifiers = n_classifiers
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _pool_and_rows(
        self, X: Any, y: Labels, seed: int, report: Report, cancellation: Cancellation | None
    ) -> PruningRows:
        """Return the pool and the rows that prune it: all of them, or 30 % where the others fit a pool."""
        if self.pool is not None:
            return PruningRows(as_pool(self.pool), X, y, None)
        fitted, pruning = rows_to_fit_and_prune(y, seed)
        pool = make_pool(
            take_rows(X, fitted), y[fitted], n_classifiers=self.n_classifiers, random_state=seed,
            n_jobs=self.n_jobs or 1, report=report, cancellation=cancellation,
        )  # fmt: skip
        return PruningRows(pool, take_rows(X, pruning), y[pruning], pruning)


def check_pool_classes(pool: Pool, classes: Labels, *, may_lack: bool) -> None:
    """Refuse a pool of other classes than those of the rows, which may lack some where `may_lack` says so."""
    known, asked = pool.classes.tolist(), classes.tolist()
    if not (set(asked) <= set(known) if may_lack else asked == known):
        raise BadInputError(
            f"the pool tells {all_of(pool.classes)} apart, but the target holds {all_of(classes)}. "
            "Use a pool fitted on these classes."
        )


def vote_shares(codes: ClassCodes, n_classes: int) -> NDArray[np.float64]:
    """Return the share of members that vote for each class, or all for the first without members."""
    if not codes.shape[1]:
        return np.tile(np.eye(n_classes)[0], (len(codes), 1))
    return np.asarray(class_tally(codes, n_classes) / codes.shape[1])
