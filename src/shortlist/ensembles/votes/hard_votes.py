"""Votes of classifiers on rows, and the decisions of a set of members."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays import BinaryLabels, Counts, Mask, VoteMatrix
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes and true classes of rows, with identical rows merged, as built by :func:`merge_rows`."""

    votes: VoteMatrix
    """Votes, 1 for the positive class, ``(n_rows, n_classifiers)``."""
    labels: BinaryLabels
    """True classes, 1 for the positive class, ``(n_rows,)``."""
    counts: Counts
    """Number of samples that each row stands for, ``(n_rows,)``."""

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
    """Number of samples by true class and decision (Table 1 of :cite:t:`Bastos2022`)."""

    true_positive: int
    false_negative: int
    true_negative: int
    false_positive: int
    """Numbers of samples with each of the four kinds of decision."""

    @property
    def accuracy(self) -> float:
        """Share of right decisions, from 0 to 1."""
        return (self.true_positive + self.true_negative) / (
            self.true_positive + self.false_negative + self.true_negative + self.false_positive
        )

    @property
    def balanced_accuracy(self) -> float:
        """Mean share of right decisions over both classes, 0 to 1 (Eq. 13 of :cite:t:`Bastos2022`)."""
        return (
            self.true_positive / (self.true_positive + self.false_negative)
            + self.true_negative / (self.true_negative + self.false_positive)
        ) / 2


def round_votes(probabilities: ArrayLike) -> VoteMatrix:
    """Return votes from probabilities of the positive class: 1 above 0.5, otherwise 0.

    >>> round_votes([[0.2, 0.5, 0.51]])
    array([[0, 0, 1]], dtype=uint8)
    """
    return (np.asarray(probabilities) > 0.5).astype(np.uint8)


def merge_rows(votes: ArrayLike, labels: ArrayLike) -> Votes:
    """Merge rows with the same votes and label.

    No decision differs between such rows, so nothing is lost.

    Raises BadInputError if shapes disagree, an entry is not 0 or 1, there is no classifier, or one of the
    classes has no sample.

    Takes O(n_samples · n_classifiers / 8 · log n_samples) time.

    `votes`, ``(n_samples, n_classifiers)``. `labels`: 1 for the positive class, ``(n_samples,)``.

    The order of the merged rows depends only on their content.

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
    """Return the number of positive votes of the members in `mask` on every row, ``(n_rows,)``."""
    return np.asarray(votes[:, mask].sum(axis=1, dtype=np.int64))


def confusion(votes: Votes, mask: Mask, threshold: int) -> Confusion:
    """Return the numbers of decisions of the members in `mask`.

    A row is decided positive if more than `threshold` members vote so.
    """
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


ClassCodes: TypeAlias = NDArray[np.uint8]
"""Class indices: votes of classifiers, ``(n_rows, n_classifiers)``, or true classes, ``(n_rows,)``. A vote
with the index after the last class is an abstention.
"""

FAR_BEHIND = -(2**30)
"""Start value of the votes for abstention, which kernels count as one more class; with this value it never
wins.
"""

MOST_JUDGED_CLASSES = 254
"""Largest number of classes if a classifier may abstain, as kernels need two further values of a byte."""

Members: TypeAlias = NDArray[np.intp]
"""Indices of classifiers, in the order of joining."""


@dataclass(frozen=True, eq=False)
class ClassVotes:
    """Votes for classes, with the true classes of rows, as built by :func:`class_votes`."""

    codes: ClassCodes
    """Index of the class that each classifier votes for, ``(n_rows, n_classifiers)``; the index `n_classes`
    is an abstention.
    """
    labels: ClassCodes
    """Index of the true class, ``(n_rows,)``."""
    counts: Counts
    """Number of samples that each row stands for, ``(n_rows,)``."""
    n_classes: int
    """Number of classes, at least 2."""

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers, K in the papers."""
        return int(self.codes.shape[1])

    @cached_property
    def columns(self) -> ClassCodes:
        """Transposed codes, ``(n_classifiers, n_rows)``, to read one classifier after the other."""
        return np.ascontiguousarray(self.codes.T)

    @cached_property
    def n_answers(self) -> int:
        """Number of different answers: the classes, plus 1 if a classifier abstains."""
        return self.n_classes + (not self.all_vote)

    @cached_property
    def all_vote(self) -> bool:
        """Whether no classifier abstains; an empty selection then answers the first class on every row."""
        return bool(self.codes.max(initial=0) < self.n_classes)

    @property
    def n_samples(self) -> int:
        """Number of samples before merging, N in the papers."""
        return int(self.counts.sum())


def class_votes(
    codes: ArrayLike, labels: ArrayLike, counts: ArrayLike | None = None, *, n_classes: int | None = None
) -> ClassVotes:
    """Return checked votes and true classes in the form that kernels take.

    Raises BadInputError if shapes disagree, there is no row or no classifier, or an index or a count is out
    of range.

    `codes`: index of the class that a classifier votes for, from 0, ``(n_rows, n_classifiers)``; with two
    classes, class 1 is positive. If `n_classes` is given, the index `n_classes` is an abstention. `labels`:
    index of the true class, ``(n_rows,)``. `counts`: number of samples that each row stands for,
    ``(n_rows,)``; default 1. `n_classes`: number of classes; default the largest index plus 1, and at least
    2.

    >>> class_votes([[0, 2], [1, 1]], [2, 1]).n_classes
    3
    """
    matrix, truth = _indices(codes, "codes", 2), _indices(labels, "labels", 1)
    if len(matrix) != len(truth) or not matrix.size:
        raise BadInputError(
            "codes and labels must have the same rows, at least one, and a classifier, got shapes "
            f"{matrix.shape} and {truth.shape}."
        )
    n = max(2, int(matrix.max()) + 1, int(truth.max()) + 1) if n_classes is None else n_classes
    least = max(2, int(matrix.max()), int(truth.max()) + 1)
    most = MOST_JUDGED_CLASSES if int(matrix.max()) == n else 256
    if not least <= n <= most:
        raise BadInputError("n_classes", f"must be from {least}, which the indices need, to {most}", n)
    weights = np.ones(len(truth), dtype=np.int64) if counts is None else np.asarray(counts)
    if weights.shape != truth.shape or weights.dtype.kind not in "iu" or weights.min() < 1:
        raise BadInputError("counts", "must hold one whole number >= 1 per row", f"shape {weights.shape}")
    return ClassVotes(matrix, truth, np.require(weights, np.int64, ["C", "W"]), n)


def merge_class_rows(votes: ClassVotes) -> ClassVotes:
    """Merge rows with the same votes and true class, and add up their counts; nothing is lost.

    >>> merge_class_rows(class_votes([[1, 0], [1, 0], [0, 0]], [1, 1, 0])).counts.tolist()
    [1, 2]
    """
    table = np.ascontiguousarray(np.column_stack([votes.labels, votes.codes]))
    keys = table.view(np.dtype((np.void, table.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    counts = np.zeros(len(first), dtype=np.int64)
    np.add.at(counts, inverse, votes.counts)
    return ClassVotes(np.ascontiguousarray(votes.codes[first]), votes.labels[first], counts, votes.n_classes)


def from_binary(votes: Votes) -> ClassVotes:
    """Return votes of two classes as class votes, with class 0 for negative and class 1 for positive."""
    return class_votes(votes.votes, votes.labels, votes.counts, n_classes=2)


def class_tally(codes: ClassCodes, n_classes: int) -> NDArray[np.int32]:
    """Return the number of votes for each class on every row, ``(n_rows, n_classes)``."""
    tally = np.empty((len(codes), n_classes), dtype=np.int32)
    for index in range(n_classes):
        tally[:, index] = np.count_nonzero(codes == index, axis=1)
    return tally


def no_votes(votes: ClassVotes) -> NDArray[np.int32]:
    """Return the tally without any vote, for kernels that count every answer, ``(n_rows, n_answers)``.

    If a classifier abstains, there are two more columns. The first counts abstentions, with a start value so
    low that it never wins. The second has one vote, to which no member adds. It wins only against classes
    without a vote, so that a row without an answer is never right.

    >>> no_votes(class_votes([[0, 2]], [0], n_classes=2)).tolist()
    [[0, 0, -1073741824, 1]]
    """
    tally = np.zeros((len(votes.labels), votes.n_answers + (not votes.all_vote)), dtype=np.int32)
    tally[:, votes.n_classes :] = FAR_BEHIND
    tally[:, votes.n_answers :] = 1
    return tally


def plurality(tally: NDArray[np.int32]) -> ClassCodes:
    """Return the index of the class with most votes on every row, ``(n_rows,)``.

    Ties go to the lowest class. A row without any vote gets the first class; :func:`decided_classes` marks
    such rows.

    With two classes this is the papers' rule: a row is positive if more than half of the members vote so.

    >>> plurality(np.array([[1, 1, 0], [0, 1, 2]], dtype=np.int32)).tolist()
    [0, 2]
    """
    return np.asarray(tally.argmax(axis=1), dtype=np.uint8)


def leads(tally: NDArray[np.int32], labels: ClassCodes) -> NDArray[np.int64]:
    """Return the votes for the true class minus the votes for the strongest rival, ``(n_rows,)``.

    A rival that comes before the true class wins ties, and counts as one vote stronger. A row is right if and
    only if its lead is at least 0.

    >>> leads(np.array([[1, 1, 0], [0, 1, 2]], dtype=np.int32), np.array([1, 2], dtype=np.uint8)).tolist()
    [-1, 0]
    """
    every = np.arange(len(labels))
    rivals = tally + (np.arange(tally.shape[1]) < labels[:, None])
    own = tally[every, labels].astype(np.int64)
    rivals[every, labels] = -1
    return np.asarray(own - rivals.max(axis=1))


def decided_classes(votes: ClassVotes, members: Members | Mask) -> NDArray[np.int64]:
    """Return the class that a plurality vote decides on every row, ``(n_rows,)``; -1 without an answer.

    If no classifier of the pool abstains, an empty selection decides for the first class.

    `members`: indices of classifiers, or a mask.

    >>> decided_classes(class_votes([[0, 2], [2, 1]], [0, 0], n_classes=2), [0]).tolist()
    [0, -1]
    """
    tally = class_tally(votes.codes[:, members], votes.n_classes)
    decided = plurality(tally).astype(np.int64)
    return decided if votes.all_vote else np.where(tally.any(axis=1), decided, -1)


def right_rows(votes: ClassVotes, members: ArrayLike) -> Mask:
    """Return the mask of rows on which the plurality vote of these classifiers is right.

    A row without an answer is wrong.
    """
    return np.asarray(decided_classes(votes, np.asarray(members, dtype=np.intp)) == votes.labels)


def n_right(votes: ClassVotes, members: ArrayLike) -> int:
    """Return the number of samples on which the plurality vote of these classifiers is right."""
    return int(votes.counts[right_rows(votes, members)].sum())


def _indices(values: ArrayLike, name: str, n_dimensions: int) -> ClassCodes:
    """Return class indices as a contiguous, writable uint8 array, which compiled kernels need."""
    array = np.asarray(values)
    if array.ndim != n_dimensions:
        raise BadInputError(name, f"must have {n_dimensions} dimension(s)", f"shape {array.shape}")
    if array.dtype.kind not in "biu" or (array.size and (array.min() < 0 or array.max() > 255)):
        raise BadInputError(
            name, "must hold class indices from 0 to 255", array.dtype, "Number the classes from 0."
        )
    return np.require(array, np.uint8, ["C", "W"])


def vote_shares(codes: ClassCodes, n_classes: int) -> NDArray[np.float64]:
    """Return the share of votes for each class, ``(n_rows, n_classes)``.

    A row without a vote has share 1 for the first class.
    """
    return tally_shares(class_tally(codes, n_classes))


def tally_shares(tally: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the share of each class among counted votes, ``(..., n_classes)``.

    Without votes the first class has share 1.

    >>> tally_shares(np.array([[3, 1], [0, 0]])).tolist()
    [[0.75, 0.25], [1.0, 0.0]]
    """
    counted = tally.copy()
    counted[..., 0] += ~counted.any(axis=-1)
    return np.asarray(counted / counted.sum(axis=-1, keepdims=True))


def stretched(votes: NDArray[np.int64], threshold: int, size: int) -> NDArray[np.float64]:
    """Return votes mapped to [0, 1] by two straight lines that meet at (threshold + ½, ½).

    `votes`: number of positive votes. `size`: number of members; that many votes are mapped to 1, and no
    votes to 0.
    """
    middle = threshold + 0.5
    below = votes / (2 * middle)
    above = 0.5 + (votes - middle) / (2 * max(0.5, size - middle))
    return np.where(votes <= threshold, below, above)


def undecided_about(
    votes: NDArray[np.int64], n_silent: NDArray[np.int64] | int, threshold: int, size: int
) -> NDArray[np.float64]:
    """Return positive votes mapped to [0, 1] as by :func:`stretched`, if some members abstain.

    An abstention counts against each of the two classes.

    A class has more than one half only if it wins for all possible votes of the abstaining members. Its share
    is then computed as if all abstaining members voted against it. If neither class wins for all possible
    votes, both classes have one half.

    >>> undecided_about(np.array([3, 0, 1]), np.array([0, 3, 2]), 1, 3).tolist()
    [1.0, 0.5, 0.5]
    """
    least, most = (stretched(votes + more, threshold, size) for more in (0, n_silent))
    return np.maximum(least, np.minimum(0.5, most))


def smoothed_shares(shares: NDArray[np.float64], n_votes: int | NDArray[np.integer]) -> NDArray[np.float64]:
    """Return shares of votes as if every class had one vote more (Laplace's rule of succession).

    So a few votes for the same class do not make this class certain: as probabilities, shares of 0 and 1
    would have an infinite log loss on a wrong row. The largest share is still the largest. On a row without
    votes, all classes have equal shares; the shares of an empty committee are unchanged.

    `shares`, ``(n_rows, n_classes)``. `n_votes`: number of votes, one number for all rows or ``(n_rows,)``.

    >>> smoothed_shares(np.array([[1.0, 0.0], [0.5, 0.5]]), 2).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    >>> smoothed_shares(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1, 0])).tolist()
    [[0.6666666666666666, 0.3333333333333333], [0.5, 0.5]]
    """
    if np.ndim(n_votes) == 0 and not n_votes:
        return shares
    cast = np.asarray(n_votes)[..., None]
    return np.asarray((shares * cast + 1) / (cast + shares.shape[-1]))
