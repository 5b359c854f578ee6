"""Rows whose margins are worth something: every vote vector once, on the side that is worth more."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask, VoteMatrix
from shortlist.ensembles.goals.margin_worth import MarginUtility, utility_scale, utility_table
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import Weights
from shortlist.ensembles.proofs.row_forms import distinct_votes
from shortlist.ensembles.votes.binary_votes import Votes, tally


@dataclass(frozen=True, eq=False)
class SlopeRows:
    """The problem of a utility that leads, normalised; build with :func:`slope_rows`.

    A selection of S members with threshold L is worth ``constant + Σ worth · table[S, d]``. The distance d
    is t − L for a positive row with t votes, and 1 − t + L for a negative one.

    Attributes
    ----------
    votes : ndarray of uint8, shape (n_rows, n_classifiers)
        Distinct vote vectors.
    columns : ndarray of uint8, shape (n_classifiers, n_rows)
        The same by classifier.
    side : ndarray of int64, shape (n_rows,)
        1 where positive is worth more, −1 where negative is.
    worth : ndarray of int64, shape (n_rows,)
        What utility 1 is worth, above 0.
    constant : int
        What rows add that cancel out: those of both classes with the same votes are together worth the same,
        whatever is selected, as far as their numbers are equal.
    table : ndarray of int64, shape (n_classifiers + 1, 2 · n_classifiers + 5)
        :func:`shortlist.ensembles.goals.margin_worth.utility_table`.
    limits : SelectionLimits
        What a selection must keep.
    """

    votes: VoteMatrix
    columns: NDArray[np.uint8]
    side: NDArray[np.int64]
    worth: NDArray[np.int64]
    constant: int
    table: NDArray[np.int64]
    limits: SelectionLimits

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return int(self.votes.shape[1])

    def best_threshold(self, mask: Mask) -> tuple[int, int]:
        """Return the threshold at which a selection is worth most, and that worth.

        Of several thresholds it is the nearest to half the members.

        Notes
        -----
        Takes O(n_rows · n_members + n_members²) time.
        """
        size = int(mask.sum())
        middle = self.n_classifiers + 2
        tallies = tally(self.votes, mask)
        # exact below 2^53 as floats, which a sum of worths is; the products are integers
        above = np.bincount(tallies, self.worth * (self.side > 0), minlength=size + 1).astype(np.int64)
        below = np.bincount(tallies, self.worth * (self.side < 0), minlength=size + 1).astype(np.int64)
        distance = np.arange(size + 1)[None, :] - np.arange(size + 1)[:, None]
        row = self.table[size]
        worths = row[middle + distance] @ above + row[middle + 1 - distance] @ below
        equal = np.flatnonzero(worths == worths.max())
        threshold = int(equal[np.argmin(np.abs(2 * equal - size))])
        return threshold, self.constant + int(worths[threshold])


def slope_rows(votes: Votes, weights: Weights, utility: MarginUtility, limits: SelectionLimits) -> SlopeRows:
    """Rewrite the problem so that every distinct vote vector is on one side, with a worth above 0.

    A sigmoid's table is point-symmetric, so that a row and its opposite are worth ``scale`` together,
    wherever the threshold.

    Parameters
    ----------
    votes, weights, limits
        The problem.
    utility : MarginUtility
        A sigmoid.

    Examples
    --------
    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> from shortlist.ensembles.goals.margin_worth import utility_total
    >>> from shortlist.ensembles.votes.binary_votes import merge_rows
    >>> from shortlist.ensembles.goals.weights import named_weights
    >>> votes = merge_rows([[1, 0], [1, 0], [1, 0], [0, 1]], [1, 1, 0, 0])
    >>> weights, utility = named_weights("accuracy", votes), MarginUtility("sigmoid", 8.0, leads=True)
    >>> rows = slope_rows(votes, weights, utility, selection_limits(2))
    >>> rows.side.tolist(), rows.worth.tolist()
    ([-1, 1], [1, 1])
    >>> first = np.array([True, False])
    >>> threshold, total = rows.best_threshold(first)
    >>> total == utility_total(votes, weights, utility, first, threshold)
    True
    """
    assert utility.shape == "sigmoid", "only a sigmoid's table is point-symmetric"
    scale = utility_scale(votes, weights)
    distinct, of_row = distinct_votes(votes.votes)
    gains = weights.signed_gains(votes)
    signed, either = np.zeros(len(distinct), dtype=np.int64), np.zeros(len(distinct), dtype=np.int64)
    np.add.at(signed, of_row, gains)
    np.add.at(either, of_row, np.abs(gains))
    kept = np.flatnonzero(signed)
    return SlopeRows(
        votes=distinct[kept],
        columns=np.ascontiguousarray(distinct[kept].T),
        side=np.sign(signed[kept]),
        worth=np.abs(signed[kept]),
        constant=scale * (int((either - np.abs(signed)).sum()) // 2),
        table=utility_table(utility, votes.n_classifiers, scale),
        limits=limits,
    )
