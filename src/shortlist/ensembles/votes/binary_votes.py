"""Votes of classifiers on rows, and what a set of voters decides."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays import BinaryLabels, Counts, Mask, VoteMatrix
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes and true classes of rows, identical rows merged; build with :func:`merge_rows`."""

    votes: VoteMatrix
    """1 where a classifier votes positive, ``(n_rows, n_classifiers)``."""
    labels: BinaryLabels
    """1 for the positive class, ``(n_rows,)``."""
    counts: Counts
    """How many samples each row stands for, ``(n_rows,)``."""

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers, K in the paper."""
        return int(self.votes.shape[1])

    @property
    def n_samples(self) -> int:
        """Number of samples before merging, N in the paper."""
        return int(self.counts.sum())

    @property
    def n_positive(self) -> int:
        """Number of positive samples, N1 in the paper."""
        return int(self.counts[self.labels == 1].sum())

    @property
    def n_negative(self) -> int:
        """Number of negative samples, N0 in the paper."""
        return self.n_samples - self.n_positive


@saved_from("shortlist.ensembles")
@dataclass(frozen=True)
class Confusion:
    """Samples by true class and decision (Table 1 of :cite:t:`Bastos2022`)."""

    true_positive: int
    false_negative: int
    true_negative: int
    false_positive: int
    """How many samples."""

    @property
    def accuracy(self) -> float:
        """Share of right decisions."""
        return (self.true_positive + self.true_negative) / (
            self.true_positive + self.false_negative + self.true_negative + self.false_positive
        )

    @property
    def balanced_accuracy(self) -> float:
        """Mean share of right decisions over the two classes (Eq. 13 of :cite:t:`Bastos2022`)."""
        return (
            self.true_positive / (self.true_positive + self.false_negative)
            + self.true_negative / (self.true_negative + self.false_positive)
        ) / 2


def round_votes(probabilities: ArrayLike) -> VoteMatrix:
    """Turn probabilities of the positive class into votes: positive above 0.5; 0.5 itself is negative.

    >>> round_votes([[0.2, 0.5, 0.51]])
    array([[0, 0, 1]], dtype=uint8)
    """
    return (np.asarray(probabilities) > 0.5).astype(np.uint8)


def merge_rows(votes: ArrayLike, labels: ArrayLike) -> Votes:
    """Merge rows with the same votes and label; no decision can tell them apart, so nothing is lost.

    Raises BadInputError if shapes disagree, an entry is not 0 or 1, there is no classifier, or one of the
    classes has no sample.

    Takes O(n_samples · n_classifiers / 8 · log n_samples) time.

    `votes`, ``(n_samples, n_classifiers)``. `labels`: 1 for the positive class, ``(n_samples,)``.

    Rows in an order that depends only on their content.

    >>> merged = merge_rows([[1, 0], [1, 0], [0, 0]], [1, 1, 0])
    >>> merged.votes.tolist(), merged.counts.tolist()
    ([[0, 0], [1, 0]], [1, 2])
    """
    matrix, truth = _binary(votes, "votes", 2), _binary(labels, "labels", 1)
    if len(matrix) != len(truth):
        raise BadInputError(
            f"votes and labels must have one row per sample, got {len(matrix)} and {len(truth)}."
        )
    if not matrix.shape[1]:
        raise BadInputError("votes", "must have at least one column", "a pool of 0 classifiers")
    if not truth.any() or truth.all():
        raise BadInputError(
            "labels", "must hold both classes", "one class only", "Pass rows of the other class too."
        )
    packed = np.ascontiguousarray(np.column_stack([truth, np.packbits(matrix, axis=1)]))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    return Votes(matrix[first], truth[first], counts.astype(np.int64))


def tally(votes: VoteMatrix, mask: Mask) -> NDArray[np.int64]:
    """Count the positive votes of the members in `mask` for every row."""
    return np.asarray(votes[:, mask].sum(axis=1, dtype=np.int64))


def confusion(votes: Votes, mask: Mask, threshold: int) -> Confusion:
    """Count what the members in `mask` decide, positive where more than `threshold` of them vote so."""
    positive = tally(votes.votes, mask) > threshold
    truth = votes.labels == 1
    counts = np.zeros((2, 2), dtype=np.int64)
    np.add.at(counts, (truth.astype(np.intp), positive.astype(np.intp)), votes.counts)
    (true_negative, false_positive), (false_negative, true_positive) = counts.tolist()
    return Confusion(true_positive, false_negative, true_negative, false_positive)


def _binary(values: ArrayLike, name: str, n_dimensions: int) -> NDArray[np.uint8]:
    array = np.asarray(values)
    if array.ndim != n_dimensions:
        raise BadInputError(name, f"must have {n_dimensions} dimension(s)", f"shape {array.shape}")
    small = array.astype(np.uint8)
    if not np.array_equal(small, array) or small.max(initial=0) > 1:
        raise BadInputError(name, "must hold only 0 and 1", "other values", "Round probabilities first.")
    return small
