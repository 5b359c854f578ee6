"""Rows as the search takes them: two classes with a threshold, and several by most votes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shortlist.arrays import Longs, Mask, Shorts
from shortlist.ensembles.goals.class_weights import ClassWeights
from shortlist.ensembles.goals.margin_worth import (
    MarginUtility,
    class_utility_total,
    utility_scale,
    utility_table,
    utility_total,
)
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
    utility_mode : int
        0 without a utility, 1 where it tells apart, 2 where it leads.
    usual : int
        What a usual row is worth.
    recount : callable
        Weighted sum and utility of members and threshold, counted anew from the votes.
    """

    rows: SearchRows
    tally: Shorts
    levels: Longs
    leads: Longs
    total: int
    offset: int
    utility_mode: int
    usual: int
    recount: Callable[[Mask, int], tuple[int, int | None]]

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

    @property
    def n_deep(self) -> tuple[int, int, int]:
        """Signs, tallies and classifiers that gains are sorted by where a utility leads."""
        n = self.n_classifiers
        return (2, n + 1, n) if self.utility_mode == 2 and not len(self.rows.labels) else (1, 1, 1)


def threshold_search_rows(votes: Votes, weights: Weights, utility: MarginUtility | None) -> CountedRows:
    """Return rows of two classes, decided positive by more votes than a threshold."""
    gains = weights.signed_gains(votes)
    matter = gains != 0
    matrix = np.require(votes.votes[matter], np.uint8, ["C", "W"])
    gains = gains[matter].astype(np.int64)
    n = votes.n_classifiers
    scale = 1 if utility is None else utility_scale(votes, weights)
    levels = np.zeros((2, n + 3), dtype=np.int64)
    levels[:, 0] = gains[gains > 0].sum(), -gains[gains < 0].sum()
    leads = utility is not None and utility.leads

    def recount(mask: Mask, threshold: int) -> tuple[int, int | None]:
        worth = None if utility is None else utility_total(votes, weights, utility, mask, threshold)
        return weights.total(confusion(votes, mask, threshold)), worth

    return CountedRows(
        rows=SearchRows(
            votes=matrix,
            columns=np.ascontiguousarray(matrix.T),
            labels=np.zeros(0, dtype=np.uint8),
            gains=gains,
            table=np.zeros((1, 1), np.int64) if utility is None else utility_table(utility, n, scale),
        ),
        tally=np.zeros((1, len(gains)), dtype=np.int32),
        levels=levels,
        leads=np.zeros(0, dtype=np.int64),
        total=0,
        offset=weights.fn * votes.n_positive + weights.tn * votes.n_negative,
        utility_mode=0 if utility is None else 1 + utility.leads,
        usual=_usual(gains) * (scale if leads else 1),
        recount=recount,
    )


def class_search_rows(votes: ClassVotes, weights: ClassWeights, utility: MarginUtility | None) -> CountedRows:
    """Return rows of several classes, decided by most votes."""
    gains = weights.row_gains(votes)
    matter = gains != 0
    codes = np.require(votes.codes[matter], np.uint8, ["C", "W"])
    labels = np.require(votes.labels[matter], np.uint8, ["C", "W"])
    gains = gains[matter].astype(np.int64)
    leads = np.where(labels == 0, 0, -1)
    scale = 1 if utility is None else utility_scale(votes, weights)
    table, levels = np.zeros((1, 1), dtype=np.int64), np.zeros((0, 0), dtype=np.int64)
    if utility is not None:
        table = utility_table(utility, votes.n_classifiers, scale, by_plurality=True)
        levels = np.zeros((1, table.shape[1]), dtype=np.int64)
        np.add.at(levels[0], table.shape[1] // 2 + 1 + leads, gains)

    def recount(mask: Mask, _threshold: int) -> tuple[int, int | None]:
        worth = None if utility is None else class_utility_total(votes, weights, utility, mask)
        return weights.total(votes, mask), worth

    return CountedRows(
        rows=SearchRows(
            votes=codes, columns=np.ascontiguousarray(codes.T), labels=labels, gains=gains, table=table
        ),
        tally=no_votes(votes)[matter],
        levels=levels,
        leads=leads,
        total=int(gains[labels == 0].sum()),
        offset=0,
        utility_mode=0 if utility is None else 1 + utility.leads,
        usual=_usual(gains) * (scale if utility is not None and utility.leads else 1),
        recount=recount,
    )


def _usual(gains: Longs) -> int:
    return int(np.abs(gains).sum()) // max(1, len(gains))
