"""Rows as the search takes them: two classes with a threshold, and several by most votes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shortlist.arrays import Longs, Mask, Shorts
from shortlist.ensembles.goals.class_weights import ClassWeights
from shortlist.ensembles.goals.weights import Weights
from shortlist.ensembles.search._search_arrays import SearchRows
from shortlist.ensembles.search._threshold_kernels import WINDOW
from shortlist.ensembles.votes.binary_votes import Votes, confusion
from shortlist.ensembles.votes.class_votes import ClassVotes, no_votes


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Rows for the kernels, the counts of no members, and how totals read.

    Attributes
    ----------
    rows : SearchRows
        Those that matter.
    tally, levels, leads : ndarray
        What :class:`SearchWalk` holds of them without members.
    total : int
        What no members add.
    offset : int
        What is added to a kernel's total for the weighted sum.
    usual : int
        What a usual row is worth.
    recount : callable
        Weighted sum of members and threshold, counted anew from the votes.
    """

    rows: SearchRows
    tally: Shorts
    levels: Longs
    leads: Longs
    total: int
    offset: int
    usual: int
    recount: Callable[[Mask, int], int]

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return int(self.rows.votes.shape[1])

    @property
    def n_rating(self) -> tuple[int, int]:
        """Rows and columns that rating flips sums gains in."""
        if len(self.rows.labels):
            return 2, int(self.tally.shape[1])
        return 2 * WINDOW + 2, self.n_classifiers


def threshold_search_rows(votes: Votes, weights: Weights) -> CountedRows:
    """Return rows of two classes, decided positive by more votes than a threshold."""
    gains = weights.signed_gains(votes)
    matter = gains != 0
    matrix = np.require(votes.votes[matter], np.uint8, ["C", "W"])
    gains = gains[matter].astype(np.int64)
    n = votes.n_classifiers
    levels = np.zeros((2, n + 3), dtype=np.int64)
    levels[:, 0] = gains[gains > 0].sum(), -gains[gains < 0].sum()

    def recount(mask: Mask, threshold: int) -> int:
        return weights.total(confusion(votes, mask, threshold))

    return CountedRows(
        rows=SearchRows(
            votes=matrix,
            columns=np.ascontiguousarray(matrix.T),
            labels=np.zeros(0, dtype=np.uint8),
            gains=gains,
        ),
        tally=np.zeros((1, len(gains)), dtype=np.int32),
        levels=levels,
        leads=np.zeros(0, dtype=np.int64),
        total=0,
        offset=weights.fn * votes.n_positive + weights.tn * votes.n_negative,
        usual=_usual(gains),
        recount=recount,
    )


def class_search_rows(votes: ClassVotes, weights: ClassWeights) -> CountedRows:
    """Return rows of several classes, decided by most votes."""
    gains = weights.row_gains(votes)
    matter = gains != 0
    codes = np.require(votes.codes[matter], np.uint8, ["C", "W"])
    labels = np.require(votes.labels[matter], np.uint8, ["C", "W"])
    gains = gains[matter].astype(np.int64)
    leads = np.where(labels == 0, 0, -1)

    def recount(mask: Mask, _threshold: int) -> int:
        return weights.total(votes, mask)

    return CountedRows(
        rows=SearchRows(votes=codes, columns=np.ascontiguousarray(codes.T), labels=labels, gains=gains),
        tally=no_votes(votes)[matter],
        levels=np.zeros((0, 0), dtype=np.int64),
        leads=leads,
        total=int(gains[labels == 0].sum()),
        offset=0,
        usual=_usual(gains),
        recount=recount,
    )


def _usual(gains: Longs) -> int:
    return int(np.abs(gains).sum()) // max(1, len(gains))
