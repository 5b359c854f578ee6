"""The paper's protocol on one table: split, fit, prune, and measure on rows that nothing has seen."""

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from shortlist.arrays import BinaryLabels, Labels, Mask
from shortlist.ensembles.estimators import ExactPruner, checked_options
from shortlist.ensembles.pool import Pool, make_pool, positive_probabilities
from shortlist.ensembles.votes import Confusion, Votes, confusion, merge_rows, round_votes
from shortlist.ensembles.weights import named_weights
from shortlist.errors import BadInputError
from shortlist.runs import Cancellation, Report, silent

TEST_SHARE = 0.10
VALIDATION_SHARE = 0.27
"""Shares of all rows (Section 5.1 of the paper); the remaining 63 % fit the classifiers."""


@dataclass(frozen=True)
class Measured:
    """What a rule does on the test rows."""

    confusion: Confusion
    size: int
    ms_per_1000_rows: float

    def as_dict(self) -> dict[str, Any]:
        """Return the metrics for JSON."""
        counts = self.confusion
        return {
            "accuracy": counts.accuracy,
            "balanced_accuracy": counts.balanced_accuracy,
            "confusion": {
                "true_positive": counts.true_positive,
                "false_negative": counts.false_negative,
                "true_negative": counts.true_negative,
                "false_positive": counts.false_positive,
            },
            "size": self.size,
            "ms_per_1000_predictions": self.ms_per_1000_rows,
        }


@dataclass(frozen=True)
class PrunedTable:
    """A fitted pruner, and what it, the full ensemble and the best single classifier do on the test rows."""

    pruner: ExactPruner
    pool: Pool
    n_rows: dict[str, int]
    test: dict[str, Measured]


def prune_table(
    X: Any,
    y: Labels,
    pruner: ExactPruner,
    *,
    n_classifiers: int = 100,
    seed: int = 0,
    n_jobs: int = 1,
    report: Report = silent,
    cancellation: Cancellation | None = None,
) -> PrunedTable:
    """Split the rows 63 : 27 : 10, stratified; fit a pool, prune it, and measure on the last part.

    With a pool of the pruner's own the first part is not needed: then 90 % of the rows prune.

    Parameters
    ----------
    X : DataFrame or array of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Two classes.
    pruner : ExactPruner
        Unfitted, with all options but the pool.
    n_classifiers, seed, n_jobs : int
        Of the pool and the split.
    report, cancellation : optional
        Progress events, and a way to stop the proof with the best selection found.

    Raises
    ------
    BadInputError
        If a class has too few rows to be in every part.
    """
    checked_options(pruner, y)
    rest, test = _split(np.arange(len(y)), y, TEST_SHARE, seed)
    n_rows = {"test": len(test)}
    if pruner.pool is None:
        train, validation = _split(rest, y[rest], VALIDATION_SHARE / (1 - TEST_SHARE), seed)
        n_rows |= {"train": len(train), "validation": len(validation)}
        pool = make_pool(
            _rows(X, train), y[train], n_classifiers=n_classifiers, random_state=seed, n_jobs=n_jobs,
            report=report, cancellation=cancellation,
        )  # fmt: skip
        pruner = pruner.set_params(pool=pool)
    else:
        validation = rest
        n_rows |= {"train": 0, "validation": len(rest)}
    pruner.fit(_rows(X, validation), y[validation], report=report, cancellation=cancellation)
    pool = pruner.pool
    measured: dict[str, Measured] = {}
    if pruner.selection_.any():
        rules = _rules(pruner, pool, _rows(X, validation), y[validation])
        for name, (mask, threshold) in rules.items():
            measured[name] = _measure(pool.subset(mask), threshold, _rows(X, test), y[test], pruner.positive_)
    return PrunedTable(pruner, pool, n_rows, measured)


def _rules(pruner: ExactPruner, pool: Pool, X: Any, y: Labels) -> dict[str, tuple[Mask, int]]:
    """Return members and threshold of the pruned, the full and the best single rule."""
    votes = merge_rows(
        round_votes(positive_probabilities(pool, X, pruner.positive_)), _truth(y, pruner.positive_)
    )
    full = np.ones(len(pool), dtype=bool)
    single = np.eye(len(pool), dtype=bool)[_best_single(votes, pruner.objective)]
    return {
        "pruned": (pruner.selection_, pruner.threshold_),
        "full": (full, len(pool) // 2),
        "best_single": (single, 0),
    }


def _best_single(votes: Votes, objective: str | Mapping[str, float]) -> int:
    """Return the classifier worth most on the validation rows; the first of equals."""
    weights = named_weights(objective, votes)
    members = np.eye(votes.n_classifiers, dtype=bool)
    return int(np.argmax([weights.total(confusion(votes, mask, 0)) for mask in members]))


def _measure(members: Pool, threshold: int, X: Any, y: Labels, positive: Any) -> Measured:
    """Let the members vote on the test rows; time it on at least 1,000 rows."""
    truth = _truth(y, positive)
    votes = round_votes(positive_probabilities(members, X, positive))
    everyone = np.ones(len(members), dtype=bool)
    counts = confusion(Votes(votes, truth, np.ones(len(truth), dtype=np.int64)), everyone, threshold)
    many = _rows(X, np.arange(max(1000, len(truth))) % len(truth))
    times = []
    for _ in range(3):
        start = time.perf_counter()
        positive_probabilities(members, many, positive)
        times.append(time.perf_counter() - start)
    return Measured(counts, len(members), statistics.median(times) * 1e6 / len(many))


def _split(
    rows: NDArray[np.int64], y: Labels, share: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Split row numbers in two, stratified, the second part with this share."""
    classes, counts = np.unique(y, return_counts=True)
    size = max(len(classes), round(share * len(rows)))
    if counts.min() < 2 or len(rows) - size < len(classes):
        fewest = classes[np.argmin(counts)]
        raise BadInputError(
            f"every class needs rows in each part of the split, got {counts.min()} of {fewest!r}. Add rows."
        )
    first, second = train_test_split(rows, test_size=size, stratify=y, random_state=seed)
    return first, second


def _rows(X: Any, rows: NDArray[np.int64]) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _truth(y: Labels, positive: Any) -> BinaryLabels:
    return np.asarray(y == positive).astype(np.uint8)
