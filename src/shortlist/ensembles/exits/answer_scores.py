"""How probable a committee finds its answer in the end, while some members are still to be asked."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask
from shortlist.ensembles.votes.vote_probabilities import smoothed_shares, stretched, tally_shares

MEAN_ROUNDING = 1e-9
"""Means that are nearer to the least probability of an answer than this are not told apart from it before
all members are asked: floating-point sums depend on their order."""


class ScoreRange(NamedTuple):
    """Between which numbers the probability of the answer will be.

    Attributes
    ----------
    least, most : ndarray of float, shape (n_rows,)
        The least holds where the class cannot change any more.
    """

    least: Floats
    most: Floats


@dataclass(frozen=True)
class AnswerScores:
    """Where the probability of a committee's answer comes from, as its ``predict_proba`` has it.

    Attributes
    ----------
    n_members : int
        Those who are asked and those who are not yet.
    by_mean : bool
        Whether it is the mean of the members' probabilities; otherwise it comes from shares of votes.
    threshold : int or None
        Where positive votes, those for the second of two classes, are counted against a threshold.
    """

    n_members: int
    by_mean: bool
    threshold: int | None = None

    def range_of(self, counted: NDArray[Any], winner: NDArray[np.int64], n_left: int) -> ScoreRange:
        """Return how probable the answer may become when `n_left` more members have answered.

        Parameters
        ----------
        counted : ndarray of int or float, shape (n_rows, n_classes)
            The votes for each class so far, or the sums of its probabilities.
        winner : ndarray of int64, shape (n_rows,)
            The class that leads; `least` is about that one, `most` about any class that may still win.
        n_left : int

        Examples
        --------
        >>> votes = AnswerScores(n_members=3, by_mean=False)
        >>> votes.range_of(np.array([[2, 0]]), np.array([0]), 1)
        ScoreRange(least=array([0.6]), most=array([0.8]))
        """
        rows = np.arange(len(counted))
        if self.by_mean:
            most = (counted.max(axis=1) + n_left) / self.n_members
            return ScoreRange(counted[rows, winner] / self.n_members, most)
        if self.threshold is not None:  # surest at both ends, least sure beside the threshold
            ends = [self._about_threshold(counted[:, 1] + more) for more in (0, n_left)]
            return ScoreRange(np.minimum(*ends), np.maximum(*ends))
        # whoever is left votes for another class at worst, and for the leading one at best
        against, together, leader = counted.copy(), counted.copy(), counted.argmax(axis=1)
        against[rows, (winner + 1) % counted.shape[1]] += n_left
        together[rows, leader] += n_left
        return ScoreRange(self._shares(against)[rows, winner], self._shares(together)[rows, leader])

    def surely(self, found: ScoreRange, least: float) -> tuple[Mask, Mask]:
        """Mark the rows that reach the least probability whatever comes, and those that cannot reach it.

        The former is about rows whose class cannot change any more.
        """
        apart = MEAN_ROUNDING if self.by_mean else 0.0
        return np.asarray(found.least >= least + apart), np.asarray(found.most < least - apart)

    def _shares(self, counted: NDArray[Any]) -> Floats:
        return smoothed_shares(tally_shares(counted), self.n_members)

    def _about_threshold(self, votes: NDArray[np.int64]) -> Floats:
        assert self.threshold is not None, "votes are counted against one"
        positive = stretched(votes, self.threshold, self.n_members)
        both = np.stack([1 - positive, positive], axis=1)
        return np.asarray(smoothed_shares(both, self.n_members).max(axis=1))
