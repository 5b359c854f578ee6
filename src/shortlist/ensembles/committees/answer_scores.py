"""How probable a committee finds its answer in the end, while some members are still to be asked."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask
from shortlist.ensembles.committees.ballots import Ballot
from shortlist.ensembles.votes.calibration import Calibration

MEAN_ROUNDING = 1e-9
"""Means that are nearer to the least probability of an answer than this are added up again as
``predict_proba`` adds them: floating-point sums depend on their order. Calibrated ones wait for all members.
"""


class ScoreRange(NamedTuple):
    """Between which numbers the probabilities of the classes will be.

    Attributes
    ----------
    least, most : ndarray of float, shape (n_rows, n_classes)
        For each class: where all who are left are sure of another one, and where they are sure of it.
    """

    least: Floats
    most: Floats

    def of_answer(self, may_win: Mask) -> tuple[Floats, Floats]:
        """Return between which numbers the probability of the class that wins will be, ``(n_rows,)`` each.

        What makes a class most probable makes it win too, if it may win at all. So the most is that of the
        classes that `may_win`, of shape ``(n_rows, n_classes)``; the least holds where one class alone may.
        """
        leader = may_win.argmax(axis=1)[:, None]
        least = np.take_along_axis(self.least, leader, axis=1)[:, 0]
        return least, np.asarray(np.where(may_win, self.most, -np.inf).max(axis=1))


@dataclass(frozen=True)
class AnswerScores:
    """Where the probability of a committee's answer comes from, as its ``predict_proba`` has it.

    Attributes
    ----------
    n_members : int
        Those who are asked and those who are not yet, with all copies.
    by_mean : bool
        Whether it is the mean of the members' probabilities; otherwise it comes from shares of votes.
    ballot : Ballot
        What shares of votes are by.
    calibration : Calibration or None
        What turns mean or shares into probabilities.
    """

    n_members: int
    by_mean: bool
    ballot: Ballot
    calibration: Calibration | None = None

    def range_of(
        self, counted: NDArray[Any], n_left: int, n_silent: NDArray[np.int64] | int = 0
    ) -> ScoreRange:
        """Return how probable the classes may become when `n_left` more members have answered.

        Parameters
        ----------
        counted : ndarray of int or float, shape (n_rows, n_classes)
            The votes for each class so far, or the sums of its probabilities.
        n_left : int
        n_silent : ndarray of int, shape (n_rows,)
            How many of those who were asked have not answered; it matters to a threshold alone.

        Examples
        --------
        >>> from shortlist.ensembles.committees.ballots import Plurality
        >>> votes = AnswerScores(n_members=3, by_mean=False, ballot=Plurality(2))
        >>> votes.range_of(np.array([[2, 0]]), 1)
        ScoreRange(least=array([[0.6, 0.2]]), most=array([[0.8, 0.4]]))
        """
        return calibrated_range(self._scores(counted, n_left, n_silent), self.calibration, is_open=n_left > 0)

    def margin(self, least: float, n_left: int) -> float:
        """Return how far both ends must be from the least probability to be told apart from it.

        The quotients of calibrated means may be less by rounding than at the end where they are least.
        """
        rounds = self.by_mean and self.calibration is not None
        return MEAN_ROUNDING if rounds and n_left and least > 0 else 0.0

    def _scores(self, counted: NDArray[Any], n_left: int, n_silent: NDArray[np.int64] | int) -> ScoreRange:
        """Return the same of the mean or the shares, before these are calibrated."""
        if self.by_mean:
            return ScoreRange(counted / self.n_members, (counted + n_left) / self.n_members)
        return ScoreRange(*self.ballot.shares_between(counted, n_left, n_silent))


def calibrated_range(found: ScoreRange, calibration: Calibration | None, *, is_open: bool) -> ScoreRange:
    """Return between which numbers probabilities will be, from the range of what they are made of.

    A class is most probable where all who are left are sure of it, and least where they are sure of one other
    class, as a power of at least 1 is convex. A smaller power is concave: then nothing is worse than that all
    other classes are equal, which may be more than those who are left can do.
    """
    if calibration is None:
        return found
    n_classes = found.least.shape[1]
    least, most = np.full(found.least.shape, np.inf), np.empty(found.least.shape)
    for sure in range(n_classes):
        ends = found.least.copy()
        ends[:, sure] = found.most[:, sure]
        probabilities = calibration.of(ends)
        most[:, sure] = probabilities[:, sure]
        if is_open and n_classes > 2 and calibration.power < 1:
            even = np.repeat((1 - found.least[:, [sure]]) / (n_classes - 1), n_classes, axis=1)
            even[:, sure] = found.least[:, sure]
            least[:, sure] = calibration.of(even)[:, sure]
        else:
            others = np.arange(n_classes) != sure
            least[:, others] = np.minimum(least[:, others], probabilities[:, others])
    return ScoreRange(least, most)


def range_of_means(
    known: Floats, copies: NDArray[np.int64], is_left: Mask, calibration: Calibration | None = None
) -> ScoreRange:
    """Return how probable the classes may become by their mean, added up as ``predict_proba`` does.

    A sum in floating point grows with each of its parts, if at all, and so does its mean. So both ends are
    means that somebody's answers make, to the last bit.

    Parameters
    ----------
    known : ndarray of float, shape (n_rows, n_members, n_classes)
        Probabilities by the members in the order of the committee, each once; 0 for those who are left.
    copies : ndarray of int64, shape (n_members,)
        How often the answer of each counts.
    is_left : ndarray of bool, shape (n_members,)
    calibration : Calibration, optional
        What turns means into probabilities.
    """
    sure = np.where(is_left[:, None], 1.0, known)
    means = ScoreRange(*(np.repeat(one, copies, axis=1).mean(axis=1) for one in (known, sure)))
    return calibrated_range(means, calibration, is_open=bool(is_left.any()))
