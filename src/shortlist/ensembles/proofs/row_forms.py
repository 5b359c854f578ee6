"""Pruning as a set of rows with gains; a row is right if all its linear forms in integers hold."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Counts, Mask, VoteMatrix
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import ClassWeights, Weights
from shortlist.ensembles.votes.hard_votes import ClassVotes, Votes, class_tally


@dataclass(frozen=True, eq=False)
class RightRows:
    """Rows of a pruning problem; a selection is right on a row where all its forms hold.

    Build with :func:`normalise` or :func:`class_rows`.

    Let x be the members, 0 or 1 per classifier, and L a threshold from 0 to the number of members. A form
    holds where ``signs @ x + level · L >= least``. With two classes every row has one form: on the positive
    side ``votes @ x − L >= 1``, on the negative side ``−votes @ x + L >= 0``. With several classes a row has
    one form for each rival of the true class, ``votes for the true class − votes for the rival >= least``,
    and no threshold. If all members may abstain on a row of the first class, the row has one more form, which
    requires a vote. The gains of the right rows are to be maximised.
    """

    signs: NDArray[np.int8]
    """Signs −1, 0 or 1, ``(n_forms, n_classifiers)``. With two classes, the signs of a row are its votes on
    the positive side, the negated votes on the negative side; rows are in lexicographic order of their votes,
    without the empty vote vector.
    """
    levels: NDArray[np.int8]
    """Factor −1, 0 or 1 of the threshold in each form, ``(n_forms,)``."""
    least: NDArray[np.int64]
    """Least left side of each form, 0 or 1, ``(n_forms,)``."""
    row_of: NDArray[np.int64]
    """Index of the row of each form, not decreasing, ``(n_forms,)``."""
    gains: NDArray[np.int64]
    """Gain of being right on each row, at least 1, in units of `step`, ``(n_rows,)``. With two classes the
    side of a row follows from the sign of its total gain: a row need not be on the side of its label.
    """
    step: int
    """Common divisor of all differences of two weighted sums."""
    offset: int
    """Weighted sum if every row is wrong."""
    places: NDArray[np.int64]
    """Index of each row among all distinct vote vectors of the data in lexicographic order, ``(n_rows,)``;
    with several classes among the merged rows.
    """
    limits: SelectionLimits
    """Limits that a selection must keep. Bounds use only the limits on size, and leave out classifiers that
    exceed the budget alone.
    """
    rivals: NDArray[np.int64]
    """Rival class of each form with several classes, ``(n_forms,)``; in a form that requires at least one
    vote it is the number of classes. With two classes it is 0.
    """

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.gains)

    @property
    def n_forms(self) -> int:
        """Number of forms."""
        return len(self.least)

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return int(self.signs.shape[1])

    @property
    def has_threshold(self) -> bool:
        """Whether the rows are of two classes, with one form per row and a threshold to choose."""
        return bool(self.levels.any())

    @cached_property
    def votes(self) -> VoteMatrix:
        """Votes of each row with two classes, ``(n_rows, n_classifiers)``."""
        return np.abs(self.signs).astype(np.uint8)

    @cached_property
    def is_positive(self) -> Mask:
        """Whether each row is on the positive side, with two classes, ``(n_rows,)``."""
        return np.asarray(self.levels < 0)

    @property
    def total_gain(self) -> int:
        """Gain if every row is right, in units of `step`."""
        return int(self.gains.sum())

    @cached_property
    def affordable(self) -> Mask:
        """Mask of the classifiers that do not exceed the budget alone, ``(n_classifiers,)``."""
        if self.limits.costs is None:
            return np.ones(self.n_classifiers, dtype=bool)
        return np.asarray(self.limits.costs <= self.limits.budget)

    @property
    def most_members(self) -> int:
        """Largest number of members."""
        return max(0, min(self.limits.max_size, int(self.affordable.sum())))

    @property
    def least_members(self) -> int:
        """Least number of members.

        It is at most :attr:`most_members`, so that bounds are defined even if no selection keeps the limits.
        """
        return max(0, min(self.limits.min_size, self.most_members))

    def weighted_sum(self, gain: int) -> int:
        """Return the weighted sum of a selection from its gain in units of `step`."""
        return self.offset + self.step * gain

    def right(self, mask: Mask, threshold: int = 0) -> Mask:
        """Return the mask of the rows that a selection is right on, ``(n_rows,)``."""
        reached = self.signs[:, mask].sum(axis=1, dtype=np.int64) + self.levels.astype(np.int64) * threshold
        right = np.ones(self.n_rows, dtype=bool)
        right[self.row_of[reached < self.least]] = False
        return right

    def largest(self, coefficients: NDArray[np.int64]) -> int:
        """Return the largest ``coefficients @ x`` over the selections that keep the size limits."""
        ranked = np.sort(coefficients[self.affordable])[::-1]
        n_taken = min(max(int((ranked > 0).sum()), self.least_members), self.most_members)
        return int(ranked[:n_taken].sum())


def normalise(votes: Votes, weights: Weights, limits: SelectionLimits) -> RightRows:
    """Return pruning with two classes as rows; each distinct vote vector is on one side, with its gain.

    The gain of deciding positive on a vote vector is the sum of the gains of its positive samples, minus the
    sum for its negative samples. If this gain is above 0, the vector is on the positive side; if it is below
    0, the vector is on the negative side, with the opposite gain. So two samples of different classes with
    the same votes cancel out: one of the two samples is right for every selection. The empty vote vector is
    always decided negative, since L >= 0, and leaves no row.

    Takes O(n_rows · n_classifiers / 8 · log n_rows) time.

    The result has no rows if no decision matters.

    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> from shortlist.ensembles.votes.hard_votes import merge_rows
    >>> from shortlist.ensembles.goals.weights import named_weights
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
    side = np.sign(signed).astype(np.int8)
    return RightRows(
        signs=distinct[places].astype(np.int8) * side[:, None],
        levels=-side,
        least=(side > 0).astype(np.int64),
        row_of=np.arange(len(places)),
        gains=np.abs(signed) // step,
        step=step,
        offset=weights.all_negative(votes) + int(signed[signed < 0].sum()),
        places=places,
        limits=limits,
        rivals=np.zeros(len(places), dtype=np.int64),
    )


def class_rows(votes: ClassVotes, weights: ClassWeights, limits: SelectionLimits) -> RightRows:
    """Return pruning by plurality as rows with a form for every rival that can win.

    A row of true class c is right if its lead over every rival class d is large enough. The lead is the votes
    for c minus the votes for d. It must be at least 1 if d < c, since ties go to the lowest class, and at
    least 0 if d > c. Rivals that win for no selection within the size limits are left out. A rival without a
    voter is left out if another rival with the same ties has a voter. Rows that are right for every
    selection, or wrong for every selection, are left out.

    A row of the first class without any vote is wrong, although no rival wins. So the row has one more form,
    with the number of classes as its rival, if a selection of abstaining classifiers is possible.

    Takes O(n_rows · n_classes · n_classifiers) time, and as many bytes at most.
    """
    gains = weights.row_gains(votes)
    rows, rivals = _competing(votes, limits)
    tied = _wins_ties(votes, rows, rivals)
    lowest, highest = _extremes(votes, rows, rivals, limits)
    never = gains == 0
    never[rows[highest < tied]] = True
    is_open = np.zeros(len(gains), dtype=bool)
    is_open[rows[lowest < tied]] = True
    decided = np.flatnonzero(is_open & ~never)
    kept = (lowest < tied) & ~never[rows]
    step = int(np.gcd.reduce(gains[decided])) if len(decided) else 1
    offset = int(gains[~is_open & ~never].sum())
    return _with_forms(
        votes, (rows[kept], rivals[kept]), gains[decided] // step, limits, step=step, offset=offset
    )


def _with_forms(
    votes: ClassVotes,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    gains: Counts,
    limits: SelectionLimits,
    *,
    step: int = 1,
    offset: int = 0,
) -> RightRows:
    rows, rivals = pairs
    places, row_of = np.unique(rows, return_inverse=True)
    codes = votes.codes[rows]
    voted = np.where(rivals < votes.n_classes, rivals, -1)  # an abstention is no vote against
    return RightRows(
        signs=(codes == votes.labels[rows, None]).astype(np.int8) - (codes == voted[:, None]).astype(np.int8),
        levels=np.zeros(len(rows), dtype=np.int8),
        least=_wins_ties(votes, rows, rivals).astype(np.int64),
        row_of=row_of.astype(np.int64),
        gains=gains,
        step=step,
        offset=offset,
        places=places,
        limits=limits,
        rivals=rivals,
    )


def _wins_ties(votes: ClassVotes, rows: NDArray[np.int64], rivals: NDArray[np.int64]) -> Mask:
    """Return the mask of the rivals that win a tie with the true class.

    These are the classes before the true class, and the rival that stands for no vote at all.
    """
    return np.asarray((rivals < votes.labels[rows]) | (rivals == votes.n_classes))


def _competing(votes: ClassVotes, limits: SelectionLimits) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of rows and rivals that compete, sorted by row and then by rival.

    A rival without a voter is left out if another rival with a voter wins the same ties, as the rival without
    a voter is never stronger. For a row of the first class, which wins all ties, "no vote at all" is a rival
    too, if a selection may consist of abstaining classifiers.
    """
    voted = class_tally(votes.codes, votes.n_classes) > 0
    labels = votes.labels[:, None].astype(np.int64)
    classes = np.arange(votes.n_classes)
    is_rival, tied = classes != labels, classes < labels
    no_voter = is_rival & ~voted
    stronger = (voted & is_rival & tied).any(axis=1, keepdims=True)
    first_tied = tied & (classes == 0) & ~stronger
    alone = (labels == 0) & (classes == 1) & ~(voted & is_rival).any(axis=1, keepdims=True)
    competes = (voted & is_rival) | (no_voter & (first_tied | alone))
    if not votes.all_vote:
        n_silent = np.count_nonzero(votes.codes == votes.n_classes, axis=1)
        competes = np.column_stack([competes, (votes.labels == 0) & (n_silent >= limits.min_size)])
    rows, rivals = np.nonzero(competes)
    return rows.astype(np.int64), rivals.astype(np.int64)


def _extremes(
    votes: ClassVotes, rows: NDArray[np.int64], rivals: NDArray[np.int64], limits: SelectionLimits
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lowest and the highest lead over each rival within the size limits.

    The leads are computed from the numbers of voters for the true class and for the rival.
    """
    tally = class_tally(votes.codes, votes.n_classes).astype(np.int64)
    tally = np.column_stack([tally, np.zeros(len(tally), dtype=np.int64)])  # no vote at all
    own, rival = tally[rows, votes.labels[rows]], tally[rows, rivals]
    most, forced = limits.max_size, limits.min_size - votes.n_classifiers
    lowest = np.maximum(0, forced + own) - np.minimum(rival, most)
    highest = np.minimum(own, most) - np.maximum(0, forced + rival)
    return lowest, highest


def distinct_votes(votes: VoteMatrix) -> tuple[VoteMatrix, NDArray[np.int64]]:
    """Return the distinct vote vectors in lexicographic order, and the index of each row among them."""
    packed = np.ascontiguousarray(np.packbits(votes, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
    return votes[first], of_row.astype(np.int64)
