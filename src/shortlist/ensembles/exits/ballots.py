"""What members add to each class, and when no answer that is still missing can change who wins."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.votes.class_votes import ClassCodes
from shortlist.ensembles.votes.soft_votes import WHOLE, Shares, weighed


@dataclass(frozen=True, eq=False)
class Tallying:
    """How answers are added up: the class with the largest total wins, the first of equals.

    A threshold is a total that the negative class has from the beginning, and to which nobody adds.

    Attributes
    ----------
    start : ndarray of int64, shape (n_classes,)
        Totals before anybody has answered.
    most : ndarray of int64, shape (n_classes,)
        The most that an answer adds to each class, while it adds nothing to the others.
    gains : ndarray of int64, shape (n_classes,), or None
        Where probabilities are averaged, what multiplies those of each class; None for votes.
    """

    start: NDArray[np.int64]
    most: NDArray[np.int64]
    gains: NDArray[np.int64] | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.start)

    def of_codes(self, codes: ClassCodes) -> NDArray[np.int64]:
        """Return what votes add, one axis more than `codes`; an abstention adds nothing."""
        return np.asarray((codes[..., None] == np.arange(self.n_classes)) * self.most)

    def of_shares(self, shares: Shares) -> NDArray[np.int64]:
        """Return what probabilities add."""
        assert self.gains is not None, "probabilities are averaged"
        return weighed(shares, self.gains).astype(np.int64)

    def outlook(
        self,
        totals: NDArray[np.int64],
        n_left: int,
        n_heard: NDArray[np.int64],
        n_silent: NDArray[np.int64],
    ) -> tuple[Mask, Mask]:
        """Mark the classes that may still win, and the rows whose winner nothing can change.

        Nobody wins a row on which nobody answers. Against a threshold the silent might have voted either way:
        a class wins where it does so whatever they would have said.

        Parameters
        ----------
        totals : ndarray of int64, shape (n_rows, n_classes)
        n_left : int
            How many are still to be asked.
        n_heard, n_silent : ndarray of int64, shape (n_rows,)
            How many have answered, and how many were asked and have not.

        Returns
        -------
        may_win : ndarray of bool, shape (n_rows, n_classes)
        sure : ndarray of bool, shape (n_rows,)
            Whether one class wins whatever is still answered, or not answered.
        """
        is_threshold = self.gains is None and not self.most.all()
        if not is_threshold or not n_silent.any():
            may_win = self.may_win(totals, n_left)
            if not n_left:
                may_win &= n_heard[:, None] > 0
            return may_win, np.asarray((may_win.sum(axis=1) == 1) & (n_heard > 0))
        lead = totals[:, 1] - totals[:, 0]
        may_win = np.stack([lead + n_silent <= 0, lead + n_left > 0], axis=1)
        return may_win, np.asarray((lead > 0) | (lead + n_left + n_silent <= 0))

    def may_win(self, totals: NDArray[np.int64], n_left: int) -> Mask:
        """Mark the classes that win where all who are left answer for them; no other answers help them more.

        A member whose answer counts several times is as many who are left.

        Parameters
        ----------
        totals : ndarray of int64, shape (n_rows, n_classes)
        n_left : int

        Returns
        -------
        ndarray of bool, shape (n_rows, n_classes)
            At least one in every row, as the leader wins so.

        Examples
        --------
        >>> by_votes(2).may_win(np.array([[2, 0], [0, 2], [1, 1]]), 2).tolist()
        [[True, False], [True, True], [True, True]]
        """
        rows = np.arange(len(totals))
        leader = totals.argmax(axis=1)
        first = np.arange(self.n_classes) < leader[:, None]  # these win ties
        ahead = totals[rows, leader][:, None] - totals - n_left * self.most - first
        ahead[rows, leader] = -1
        return np.asarray(ahead < 0)

    def settled(self, totals: NDArray[np.int64], n_left: int) -> Mask:
        """Mark the rows whose winner is the same whatever `n_left` more members answer.

        That is where one class alone may win. Where several may, the answers that make them win are
        possible, so that no check that is never wrong marks more rows.

        Parameters
        ----------
        totals : ndarray of int64, shape (n_rows, n_classes)
        n_left : int

        Examples
        --------
        >>> by_votes(2).settled(np.array([[2, 0], [0, 2], [1, 1]]), 2)
        array([ True, False, False])
        """
        return np.asarray(self.may_win(totals, n_left).sum(axis=1) == 1)


def by_votes(n_classes: int) -> Tallying:
    """Return how a plurality is counted."""
    return Tallying(np.zeros(n_classes, dtype=np.int64), np.ones(n_classes, dtype=np.int64))


def by_threshold(threshold: int) -> Tallying:
    """Return how votes for the positive class, of two the second one, are counted against a threshold."""
    return Tallying(np.array([threshold, 0]), np.array([0, 1]))


def by_mean(gains: NDArray[np.int64]) -> Tallying:
    """Return how probabilities are added up, in parts of :data:`WHOLE` and times what each class gains."""
    most = weighed(np.full(len(gains), WHOLE, dtype=np.int16), gains).astype(np.int64)
    return Tallying(np.zeros(len(gains), dtype=np.int64), most, gains)


def answers_to_come(copies: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many answers are missing before each member is asked, and at the end.

    Parameters
    ----------
    copies : ndarray of int64, shape (n_members,)
        How often the answer of each counts, in the order in which they are asked.

    Returns
    -------
    ndarray of int64, shape (n_members + 1,)

    Examples
    --------
    >>> answers_to_come(np.array([3, 1])).tolist()
    [4, 1, 0]
    """
    return np.asarray(np.concatenate([np.cumsum(copies[::-1])[::-1], [0]]))
