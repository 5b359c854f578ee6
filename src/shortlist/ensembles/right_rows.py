"""Pruning as rows to be right on: every row of one side, with a positive gain."""

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask, VoteMatrix
from shortlist.ensembles.limits import SelectionLimits
from shortlist.ensembles.votes import Votes, tally
from shortlist.ensembles.weights import Weights
from shortlist.errors import BadInputError


@dataclass(frozen=True, eq=False)
class RightRows:
    """Rows that a selection is right or wrong on; build with :func:`normalise`.

    A row of the positive side is right where more than L members vote for it, one of the negative side where at most
    L do, with 0 <= L <= number of members. To maximise: the gains of the right rows.

    Attributes
    ----------
    votes : ndarray of uint8, shape (n_rows, n_classifiers)
        Distinct vote vectors, none of them empty, in lexicographic order.
    words : ndarray of uint64, shape (n_rows, n_words)
        The same, classifier k as bit k % 64 of word k // 64.
    is_positive : ndarray of bool, shape (n_rows,)
        Side of each row. Gains of both signs and labels of both kinds are already accounted for: it need not be
        the label.
    gains : ndarray of int64, shape (n_rows,)
        What being right adds, at least 1, in units of `step`.
    step : int
        Every difference of two weighted sums is a multiple of it.
    offset : int
        Weighted sum when every row is wrong.
    places : ndarray of int64, shape (n_rows,)
        Place of each row among all distinct vote vectors of the data, in lexicographic order.
    limits : SelectionLimits
        What a selection must keep. Bounds use the sizes, and the budget for members that exceed it alone.
    included, excluded : ndarray of bool, shape (n_classifiers,)
        Classifiers that are fixed as members, or as no members.
    """

    votes: VoteMatrix
    words: NDArray[np.uint64]
    is_positive: Mask
    gains: NDArray[np.int64]
    step: int
    offset: int
    places: NDArray[np.int64]
    limits: SelectionLimits
    included: Mask
    excluded: Mask

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.gains)

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers, fixed ones too."""
        return int(self.votes.shape[1])

    @property
    def total_gain(self) -> int:
        """Gain when every row is right, in units of `step`."""
        return int(self.gains.sum())

    @property
    def free(self) -> Mask:
        """Classifiers that are not fixed."""
        return ~(self.included | self.excluded)

    @property
    def room(self) -> int:
        """How many free classifiers may join."""
        return max(0, min(self.limits.max_size - int(self.included.sum()), int(self.free.sum())))

    @property
    def need(self) -> int:
        """How many free classifiers must join; at most :attr:`room`, so that bounds stay defined without a completion."""
        return max(0, min(self.limits.min_size - int(self.included.sum()), self.room))

    def weighted_sum(self, gain: int) -> int:
        """Turn a gain in units of `step` into the weighted sum of :class:`Weights`."""
        return self.offset + self.step * gain

    def right(self, mask: Mask, threshold: int) -> Mask:
        """Say which rows a selection is right on."""
        return np.asarray((tally(self.votes, mask) > threshold) == self.is_positive)

    def gain_of(self, mask: Mask, threshold: int) -> int:
        """Return the gain of a selection and threshold, in units of `step`."""
        return int(self.gains[self.right(mask, threshold)].sum())

    def largest(self, coefficients: NDArray[np.int64]) -> int:
        """Return the largest ``coefficients @ x`` over the completions that keep the size limits."""
        free = np.sort(coefficients[self.free])[::-1]
        n_taken = min(max(int((free > 0).sum()), self.need), self.room)
        return int(coefficients[self.included].sum()) + int(free[:n_taken].sum())


def normalise(votes: Votes, weights: Weights, limits: SelectionLimits) -> RightRows:
    """Rewrite pruning so that every distinct vote vector is on one side, with a positive gain.

    Deciding positive on a vote vector adds the gains of its positive samples and takes those of its negative samples.
    If the sum is above 0, the vector is on the positive side; if it is below 0, being negative is what gains. Samples
    of both classes with the same votes so cancel out: of each such pair one is right, whatever is selected. The empty
    vote vector is always decided negative, since L >= 0, and leaves no row.

    Parameters
    ----------
    votes : Votes
        Validation rows.
    weights : Weights
        What decisions are worth, of any sign.
    limits : SelectionLimits
        What a selection must keep.

    Returns
    -------
    RightRows
        Without rows when no decision matters.

    Notes
    -----
    Takes O(n_rows · n_classifiers / 8 · log n_rows) time.

    Examples
    --------
    >>> from shortlist.ensembles.limits import selection_limits
    >>> from shortlist.ensembles.votes import merge_rows
    >>> from shortlist.ensembles.weights import named_weights
    >>> merged = merge_rows([[1, 0], [1, 0], [1, 0], [0, 1], [0, 0]], [1, 1, 0, 0, 0])
    >>> rows = normalise(merged, named_weights("accuracy", merged), selection_limits(2))
    >>> rows.votes.tolist(), rows.is_positive.tolist(), rows.gains.tolist(), rows.offset
    ([[0, 1], [1, 0]], [False, True], [1, 1], 2)
    """
    distinct, of_row = distinct_votes(votes.votes)
    signed = np.zeros(len(distinct), dtype=np.int64)
    gains = weights.signed_gains(votes)
    np.add.at(signed, of_row, gains)
    places = np.flatnonzero((signed != 0) & distinct.any(axis=1))
    signed = signed[places]
    step = int(np.gcd.reduce(np.abs(signed))) if len(signed) else 1
    all_negative = weights.fn * votes.n_positive + weights.tn * votes.n_negative
    too_dear = np.zeros(votes.n_classifiers, dtype=bool)
    if limits.costs is not None:
        too_dear = limits.costs > limits.budget
    return RightRows(
        votes=distinct[places],
        words=pack(distinct[places]),
        is_positive=signed > 0,
        gains=np.abs(signed) // step,
        step=step,
        offset=all_negative + int(signed[signed < 0].sum()),
        places=places,
        limits=limits,
        included=np.zeros(votes.n_classifiers, dtype=bool),
        excluded=too_dear,
    )


def fix_members(rows: RightRows, *, included: Mask, excluded: Mask) -> RightRows:
    """Return the same rows with more classifiers fixed; what is proved of the answer holds for the completions.

    Raises
    ------
    BadInputError
        If a classifier would be both included and excluded.
    """
    both_in, both_out = rows.included | included, rows.excluded | excluded
    if rows.limits.costs is not None:
        left = rows.limits.budget - int(rows.limits.costs[both_in].sum())
        both_out = both_out | (~both_in & (rows.limits.costs > left))
    if (both_in & both_out).any():
        clash = np.flatnonzero(both_in & both_out).tolist()
        raise BadInputError(
            f"included and excluded must not share classifiers, got {clash} in both. Fix each once."
        )
    return dataclasses.replace(rows, included=both_in, excluded=both_out)


def distinct_votes(votes: VoteMatrix) -> tuple[VoteMatrix, NDArray[np.int64]]:
    """Return the distinct vote vectors in lexicographic order, and the place of each row among them."""
    packed = np.ascontiguousarray(np.packbits(votes, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
    return votes[first], of_row.astype(np.int64)


def pack(votes: VoteMatrix) -> NDArray[np.uint64]:
    """Pack 0/1 rows into words, the first entry as the lowest bit."""
    n_words = max(1, -(-votes.shape[1] // 64))
    padded = np.zeros((len(votes), 64 * n_words), dtype=np.uint8)
    padded[:, : votes.shape[1]] = votes
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)
