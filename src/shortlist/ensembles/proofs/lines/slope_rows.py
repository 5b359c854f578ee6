"""Rows whose margins are worth something, each with forms whose smallest distance is the row's."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.goals.class_weights import ClassWeights
from shortlist.ensembles.goals.margin_worth import MarginUtility, utility_scale, utility_table
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import Weights
from shortlist.ensembles.proofs.lines._kernels import LineForms
from shortlist.ensembles.proofs.row_forms import RightRows, distinct_votes, rival_forms
from shortlist.ensembles.votes.binary_votes import Votes
from shortlist.ensembles.votes.class_votes import ClassVotes

_MOST_LEVELS = 200


@dataclass(frozen=True, eq=False)
class SlopeRows:
    """The problem of a utility that leads; build with :func:`slope_rows` or :func:`class_slope_rows`.

    The distance of a form is ``signs @ x + level · L − least + 1``, and that of a row the smallest of its
    forms, so that a row is right from 1 on. A selection of S members with threshold L is worth ``constant + Σ
    gain · table[S, distance]``. With two classes every row has one form, and its distance is t − L for a
    positive row with t votes, and 1 − t + L for a negative one. With several classes it is 1 plus the lead
    over the strongest rival.

    Attributes
    ----------
    forms : RightRows
        The rows with their forms; the gain of a row is what utility 1 is worth, in steps of 1.
    constant : int
        What rows add that cancel out: those of both classes with the same votes are together worth the same,
        whatever is selected, as far as their numbers are equal.
    table : ndarray of int64, shape (n_classifiers + 1, 2 · n_classifiers + 5)
        :func:`shortlist.ensembles.goals.margin_worth.utility_table`.
    has_threshold : bool
        Whether a threshold is chosen too.
    """

    forms: RightRows
    constant: int
    table: NDArray[np.int64]
    has_threshold: bool

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return self.forms.n_classifiers

    @property
    def limits(self) -> SelectionLimits:
        """What a selection must keep."""
        return self.forms.limits

    @property
    def worth(self) -> NDArray[np.int64]:
        """What utility 1 is worth on each row, ``(n_rows,)``, above 0."""
        return self.forms.gains

    @cached_property
    def lines(self) -> LineForms:
        """The same as kernels want it."""
        rows = self.forms
        return LineForms(
            signs=np.require(rows.signs, np.int8, ["C", "W"]),
            columns=np.ascontiguousarray(rows.signs.T),
            levels=rows.levels.astype(np.int64),
            least=rows.least,
            starts=np.searchsorted(rows.row_of, np.arange(rows.n_rows + 1)).astype(np.int64),
            worth=rows.gains,
            above=(rows.signs > 0).sum(axis=1, dtype=np.int64),
            below=(rows.signs < 0).sum(axis=1, dtype=np.int64),
        )

    def reach(self, mask: Mask) -> NDArray[np.int64]:
        """Return ``signs @ x`` of every form, ``(n_forms,)``."""
        return np.asarray(self.forms.signs[:, mask].sum(axis=1, dtype=np.int64))

    def rate(self, reach: NDArray[np.int64], size: int) -> tuple[int, int]:
        """Return what so many members are worth that reach so much, and the threshold for that.

        Of several thresholds it is the nearest to half the members.

        Notes
        -----
        Takes O(n_forms + n_members²) time.
        """
        rows, middle = self.forms, self.n_classifiers + 2
        if not rows.n_rows:
            return self.constant, size // 2 if self.has_threshold else 0
        row = self.table[size]
        if not self.has_threshold:
            distances = np.minimum.reduceat(reach - rows.least + 1, self.lines.starts[:-1])
            return self.constant + int((rows.gains * row[middle + distances]).sum()), 0
        tallies, positive = np.abs(reach), rows.is_positive
        # exact below 2^53 as floats, which a sum of worths is; the products are integers
        above = np.bincount(tallies, rows.gains * positive, minlength=size + 1).astype(np.int64)
        below = np.bincount(tallies, rows.gains * ~positive, minlength=size + 1).astype(np.int64)
        distance = np.arange(size + 1)[None, :] - np.arange(size + 1)[:, None]
        worths = row[middle + distance] @ above + row[middle + 1 - distance] @ below
        equal = np.flatnonzero(worths == worths.max())
        threshold = int(equal[np.argmin(np.abs(2 * equal - size))])
        return self.constant + int(worths[threshold]), threshold

    def best_threshold(self, mask: Mask) -> tuple[int, int]:
        """Return the threshold at which a selection is worth most, and that worth."""
        total, threshold = self.rate(self.reach(mask), int(mask.sum()))
        return threshold, total


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
    >>> rows.forms.is_positive.tolist(), rows.worth.tolist()
    ([False, True], [1, 1])
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
    side = np.sign(signed[kept]).astype(np.int8)
    forms = RightRows(
        signs=distinct[kept].astype(np.int8) * side[:, None],
        levels=-side,
        least=(side > 0).astype(np.int64),
        row_of=np.arange(len(kept)),
        gains=np.abs(signed[kept]),
        step=1,
        offset=0,
        places=kept,
        limits=limits,
        rivals=np.zeros(len(kept), dtype=np.int64),
    )
    constant = scale * (int((either - np.abs(signed)).sum()) // 2)
    table = utility_table(utility, votes.n_classifiers, scale)
    return SlopeRows(forms, constant, table, has_threshold=True)


def class_slope_rows(
    votes: ClassVotes, weights: ClassWeights, utility: MarginUtility, limits: SelectionLimits
) -> SlopeRows:
    """Rewrite the problem of several classes as rows with a form for every rival.

    A rival that is never stronger than another one, as none has votes on the row and the other one wins ties
    at least as often, has no form.

    Parameters
    ----------
    votes : ClassVotes
        Merged.
    weights, utility, limits
        The problem.

    Examples
    --------
    >>> from shortlist.ensembles.goals.class_weights import class_weights
    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> from shortlist.ensembles.votes.class_votes import class_votes
    >>> votes = class_votes([[0, 2], [1, 1]], [0, 1], n_classes=3)
    >>> weights, utility = class_weights("accuracy", votes), MarginUtility("sigmoid", 8.0, leads=True)
    >>> rows = class_slope_rows(votes, weights, utility, selection_limits(2))
    >>> rows.forms.rivals.tolist(), rows.reach(np.array([True, True])).tolist()
    ([2, 0], [0, 2])
    """
    gains = weights.row_gains(votes)
    forms = rival_forms(votes, np.flatnonzero(gains), gains, limits)
    scale = utility_scale(votes, weights)
    table = utility_table(utility, votes.n_classifiers, scale, by_plurality=True)
    return SlopeRows(forms, 0, table, has_threshold=False)


def first_bounds(rows: SlopeRows) -> NDArray[np.int64]:
    """Return for every size a number that no selection is worth more than.

    For every threshold each row has the best margin that its own votes allow. Limits on cost and diversity
    are left out, which keeps the bounds valid.

    Returns
    -------
    bounds : ndarray of int64, shape (n_classifiers + 1,)
        0 for sizes outside the limits.

    Notes
    -----
    Takes O(n_classifiers³) time up to 200 classifiers, and beyond, where rows are not told apart by their
    votes, O(n_classifiers²); without a threshold O(n_forms · n_classifiers).
    """
    n, forms = rows.n_classifiers, rows.forms
    bounds = np.zeros(n + 1, dtype=np.int64)
    sizes = range(max(0, forms.limits.min_size), min(forms.limits.max_size, n) + 1)
    middle = n + 2
    own, rival = ((forms.signs == sign).sum(axis=1, dtype=np.int64) for sign in (1, -1))
    if not rows.has_threshold:
        for size in sizes:
            reach = np.minimum(own, size) - np.maximum(0, size - n + rival)
            bounds[size] = rows.rate(reach, size)[0]
        return bounds
    positive, voters = forms.is_positive, own + rival
    if n > _MOST_LEVELS:
        voters = np.where(positive, n, 0)
    above = np.bincount(voters[positive], forms.gains[positive], minlength=n + 1).astype(np.int64)
    below = np.bincount(voters[~positive], forms.gains[~positive], minlength=n + 1).astype(np.int64)
    high, low = np.flatnonzero(above), np.flatnonzero(below)
    for size in sizes:
        threshold = np.arange(size + 1)[:, None]
        of_high = rows.table[size, middle + np.minimum(size, high) - threshold] @ above[high]
        of_low = rows.table[size, middle + 1 - np.maximum(0, size - n + low) + threshold] @ below[low]
        bounds[size] = rows.constant + (of_high + of_low).max()
    return bounds
