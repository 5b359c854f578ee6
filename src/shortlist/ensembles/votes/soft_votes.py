"""Soft votes: how probable classifiers find every class, in whole numbers, and what their sum decides."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.votes.class_votes import ClassCodes
from shortlist.errors import BadInputError

WHOLE = 2**15 - 1
"""What probability 1 is as a whole number: 15 bits, so that differences of two fit into 16."""

Shares: TypeAlias = NDArray[np.int16]
"""Probabilities in parts of :data:`WHOLE`, ``(n_rows, n_classifiers, n_classes)``."""


@dataclass(frozen=True, eq=False)
class SoftVotes:
    """Probabilities and true classes of rows; build with :func:`soft_votes`."""

    shares: Shares
    """Probabilities in parts of :data:`WHOLE`, ``(n_rows, n_classifiers, n_classes)``."""
    labels: ClassCodes
    """Index of the true class, ``(n_rows,)``."""

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return int(self.shares.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.shares.shape[2])

    def of_rows(self, rows: NDArray[np.intp]) -> "SoftVotes":
        """Return some of the rows."""
        return SoftVotes(self.shares[rows], self.labels[rows])

    def repeated(self, n_copies: int) -> "SoftVotes":
        """Return that number of copies of all classifiers, one after the other."""
        return self if n_copies == 1 else SoftVotes(np.tile(self.shares, (1, n_copies, 1)), self.labels)


def soft_votes(probabilities: ArrayLike, labels: ArrayLike) -> SoftVotes:
    """Round probabilities to whole numbers, and put them beside the true classes.

    Raises BadInputError if shapes disagree, there is no row or no classifier, or a number is out of range.

    `probabilities`, ``(n_rows, n_classifiers, n_classes)``: within [0, 1]. `labels`, ``(n_rows,)``: index of
    the true class.

    >>> soft_votes([[[0.25, 0.75]]], [1]).shares.tolist()
    [[[8192, 24575]]]
    """
    table, truth = np.asarray(probabilities), np.asarray(labels)
    if table.ndim != 3 or not table.size or truth.shape != table.shape[:1] or table.shape[2] < 2:
        raise BadInputError(
            "probabilities",
            (
                "must have shape (n_rows, n_classifiers, n_classes) with two classes or more, "
                "and labels one entry per row"
            ),
            f"shapes {table.shape} and {truth.shape}",
        )
    if truth.dtype.kind not in "biu" or truth.min() < 0 or truth.max() >= table.shape[2]:
        raise BadInputError("labels", f"must be indices of the {table.shape[2]} classes", "others")
    return SoftVotes(whole_shares(table), np.require(truth, np.uint8, ["C", "W"]))


def whole_shares(probabilities: ArrayLike) -> Shares:
    """Round probabilities to parts of :data:`WHOLE`, to the even one of two that are as near.

    With two classes the first gets what the second leaves, so that the two add up, and of one half the larger
    part, as it wins ties. Raises BadInputError if a probability is NaN or outside [0, 1].
    """
    table = np.asarray(probabilities, dtype=np.float64)
    if table.size and not (table.min() >= 0 and table.max() <= 1):  # so that NaN is refused too
        raise BadInputError(
            "every probability must be a number from 0 to 1, got others. Calibrate the classifiers."
        )
    whole = np.rint(table * WHOLE).astype(np.int16)
    if table.shape[-1] == 2:
        whole[..., 1] -= table[..., 1] == 0.5
        whole[..., 0] = WHOLE - whole[..., 1]
    return np.ascontiguousarray(whole)


def weighed(shares: Shares, gains: NDArray[np.int64]) -> Shares:
    """Multiply the probabilities of each class by what being right on it gains, over the largest gain.

    To decide for the class with the largest mean product gains most where the probabilities are true.

    `shares`, ``(..., n_classes)``. `gains`: at least 0, one of them above 0, ``(n_classes,)``.

    >>> weighed(whole_shares([[[0.6, 0.4]]]), np.array([1, 2])).argmax(axis=2)
    array([[1]])
    """
    if (gains == gains[0]).all():
        return shares
    return np.asarray(np.rint(shares * (gains / gains.max())), dtype=np.int16)


def decided_by_mean(shares: Shares, gains: NDArray[np.int64]) -> ClassCodes:
    """Return the class of the largest mean probability on every row, the first of equals.

    `shares`, ``(n_rows, n_members, n_classes)``: those of the members; without members the first class is
    decided. `gains`, ``(n_classes,)``: what being right on each class gains; see :func:`weighed`.
    """
    return np.asarray(weighed(shares, gains).sum(axis=1, dtype=np.int32).argmax(axis=1), dtype=np.uint8)


def mean_decisions(votes: SoftVotes, mask: Mask, gains: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rows by true class and decision of the members, ``(n_classes, n_classes)``."""
    decisions = np.zeros((votes.n_classes, votes.n_classes), dtype=np.int64)
    np.add.at(decisions, (votes.labels, decided_by_mean(votes.shares[:, mask], gains)), 1)
    return decisions
