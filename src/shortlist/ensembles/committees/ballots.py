"""Ballots of members: votes against a threshold, plurality, or the mean of probabilities.

A ballot adds up the members' answers as integers. The class with the largest total wins, the first of equals.
The ballot also finds the rows whose winner no missing answer can change.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Labels, Mask
from shortlist.ensembles.pools.answers import class_answers, class_probabilities, positive_codes
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.votes.hard_votes import (
    ClassCodes,
    class_tally,
    plurality,
    smoothed_shares,
    tally_shares,
    undecided_about,
)
from shortlist.ensembles.votes.soft_votes import WHOLE, Shares, decided_by_mean, weighed, whole_shares
from shortlist.pickles import saved_from


class Ballot(ABC):
    """Rule that adds up answers: the class with the largest total wins, the first of equals."""

    name: ClassVar[str]
    by_mean: ClassVar[bool] = False
    """Whether probabilities are added up; otherwise votes are."""

    start: NDArray[np.int64]
    """Totals before a member has answered, ``(n_classes,)``."""
    most: NDArray[np.int64]
    """Largest amount that one answer adds to each class, ``(n_classes,)``; such an answer adds nothing to the
    other classes.
    """

    @property
    def threshold(self) -> int | None:
        """Number of votes above which the positive class wins; None for a ballot without a threshold."""
        return None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.start)

    def codes_of(self, members: Pool, X: Any) -> ClassCodes:
        """Return the class that every member votes for on every row, ``(n_rows, n_members)``.

        An abstention has the index ``n_classes``.
        """
        return class_answers(members, X)

    def added(self, answers: NDArray[Any]) -> NDArray[np.int64]:
        """Return the amounts that answers add to each class, ``(..., n_classes)``.

        `answers`: indices of classes voted for, ``(...)``; for a mean, probabilities in parts of 2^15 - 1,
        ``(..., n_classes)``. An abstention adds nothing.
        """
        return np.asarray((answers[..., None] == np.arange(self.n_classes)) * self.most)

    def answers_of(self, members: Pool, X: Any) -> NDArray[Any]:
        """Return the answers of all members, to be added up, ``(n_rows, n_members[, n_classes])``."""
        return self.codes_of(members, X)

    @abstractmethod
    def decided(self, answers: NDArray[Any]) -> NDArray[np.int64]:
        """Return the index of the class that the answers of all members decide, ``(n_rows,)``.

        The index is -1 where no class wins.
        """

    def vote_shares(self, codes: ClassCodes) -> Floats:
        """Return the share of votes for each class, ``(n_rows, n_classes)``, from 0 to 1."""
        return tally_shares(class_tally(codes, self.n_classes))

    def n_votes(self, codes: ClassCodes) -> int | NDArray[np.int64]:
        """Return the number of votes behind :meth:`vote_shares`, for all rows or ``(n_rows,)``."""
        return np.count_nonzero(codes < self.n_classes, axis=1) if codes.shape[1] else 0

    def shares_between(
        self, votes: NDArray[Any], n_left: int, _n_silent: NDArray[np.int64] | int
    ) -> tuple[Floats, Floats]:
        """Return the least and the largest smoothed share of votes that each class may reach.

        Both have the shape ``(n_rows, n_classes)``.

        `votes`, ``(n_rows, n_classes)``: votes for each class so far. `n_left`: number of members not asked
        yet. `n_silent`, ``(n_rows,)``: number of members that were asked and abstained; only a threshold uses
        it.
        """
        every = votes.sum(axis=1, keepdims=True) + n_left + self.n_classes  # one vote more for each class
        return (votes + 1) / every, (votes + n_left + 1) / every

    def outlook(
        self, totals: NDArray[np.int64], n_left: int, n_heard: NDArray[np.int64], _n_silent: NDArray[np.int64]
    ) -> tuple[Mask, Mask]:
        """Return the masks of the classes that may still win, and of the rows whose winner is certain.

        A row without an answer has no winner.

        `totals`, ``(n_rows, n_classes)``: sums so far. `n_left`: number of members not asked yet. `n_heard`,
        `n_silent`: number of members that have answered, and that abstained, ``(n_rows,)``. Returns
        `may_win`, ``(n_rows, n_classes)``, and `sure`, ``(n_rows,)``: whether one class wins whatever the
        missing answers are.
        """
        may_win = self.may_win(totals, n_left)
        if not n_left:
            may_win &= n_heard[:, None] > 0
        return may_win, np.asarray((may_win.sum(axis=1) == 1) & (n_heard > 0))

    def may_win(self, totals: NDArray[np.int64], n_left: int) -> Mask:
        """Return the mask of classes that win if all members left answer for them, ``(n_rows, n_classes)``.

        No other answers help a class more. Each copy of a member counts in `n_left`. The mask marks at least
        one class of every row, as the leader still wins with more votes.

        >>> Plurality(2).may_win(np.array([[2, 0], [0, 2], [1, 1]]), 2).tolist()
        [[True, False], [True, True], [True, True]]
        """
        rows = np.arange(len(totals))
        leader = totals.argmax(axis=1)
        first = np.arange(self.n_classes) < leader[:, None]  # these win ties
        ahead = totals[rows, leader][:, None] - totals - n_left * self.most - first
        ahead[rows, leader] = -1
        return np.asarray(ahead < 0)

    def settled(self, totals: NDArray[np.int64], n_left: int) -> Mask:
        """Return the mask of rows whose winner `n_left` more answers cannot change, ``(n_rows,)``.

        Only one class may win such a row. Where several classes may win, possible answers make each of them
        win, so no check without errors can mark more rows.

        >>> Plurality(2).settled(np.array([[2, 0], [0, 2], [1, 1]]), 2)
        array([ True, False, False])
        """
        return np.asarray(self.may_win(totals, n_left).sum(axis=1) == 1)

    @abstractmethod
    def plain(self) -> dict[str, Any]:
        """Return the ballot as a dict of plain values, as an exported policy stores it."""

    @abstractmethod
    def in_words(self, classes: Labels) -> str:
        """Return the decision rule of the committee as text for people, without a full stop."""


@saved_from("shortlist.ensembles")
class Plurality(Ballot):
    """Ballot in which every member has a vote, and the class with most votes wins."""

    name = "plurality"

    def __init__(self, n_classes: int) -> None:
        self.start = np.zeros(n_classes, dtype=np.int64)
        self.most = np.ones(n_classes, dtype=np.int64)

    def decided(self, answers: NDArray[Any]) -> NDArray[np.int64]:
        """Return the index of the class with most votes, the first of equals, ``(n_rows,)``.

        -1 where all members abstain.
        """
        tally = class_tally(answers, self.n_classes)
        silent = ~tally.any(axis=1) & (answers.shape[1] > 0)
        return np.where(silent, -1, plurality(tally).astype(np.int64))

    def plain(self) -> dict[str, Any]:
        """Return the ballot as a dict of plain values."""
        return {"rule": self.name}

    def in_words(self, _classes: Labels) -> str:
        """Return the text that the class with most votes wins."""
        return "the class with most votes wins"


@saved_from("shortlist.ensembles")
class Threshold(Ballot):
    """Ballot of two classes: the positive one wins where more than `threshold` members vote for it.

    `threshold`: number of votes that the positive class must exceed. `n_members`: number of votes.
    `positive`: index of the positive class, 0 or 1.

    >>> Threshold(1, 3).decided(np.array([[1, 1, 0], [0, 0, 1], [1, 2, 2]])).tolist()
    [1, 0, -1]
    """

    name = "threshold"

    def __init__(self, threshold: int, n_members: int, positive: int = 1) -> None:
        self.above, self.n_members, self.positive = threshold, n_members, positive
        negative = 1 - positive
        self.most = np.eye(2, dtype=np.int64)[positive]
        # a total that the negative class has from the beginning; of equals the first wins
        self.start = np.eye(2, dtype=np.int64)[negative] * (threshold + negative)

    @property
    def threshold(self) -> int:
        """Number of votes above which the positive class wins."""
        return self.above

    def codes_of(self, members: Pool, X: Any) -> ClassCodes:
        """Return 1 where a member gives the positive class more than one half, otherwise 0.

        The array has the shape ``(n_rows, n_members)``.
        """
        return positive_codes(members, X, self.positive)

    def decided(self, answers: NDArray[Any]) -> NDArray[np.int64]:
        """Return the class that wins for all possible votes of abstaining members, by index, ``(n_rows,)``.

        The index is -1 where these votes could change the winner.
        """
        votes = np.count_nonzero(answers == self.positive, axis=1)
        n_silent = np.count_nonzero(answers > 1, axis=1)
        positive, negative = votes > self.above, votes + n_silent <= self.above
        return np.where(positive, self.positive, np.where(negative, 1 - self.positive, -1))

    def vote_shares(self, codes: ClassCodes) -> Floats:
        """Return the share of votes for each class, from 0 to 1, ``(n_rows, n_classes)``.

        Shares are scaled so that ``threshold + 1/2`` votes for the positive class give it one half. Both
        classes have one half where abstentions leave the winner open.
        """
        votes = np.count_nonzero(codes == self.positive, axis=1)
        share = undecided_about(votes, np.count_nonzero(codes > 1, axis=1), self.above, self.n_members)
        return self._as_columns(share, share)

    def n_votes(self, _codes: ClassCodes) -> int:
        """Return the number of members that vote, abstentions included."""
        return self.n_members

    def shares_between(
        self, votes: NDArray[Any], n_left: int, n_silent: NDArray[np.int64] | int
    ) -> tuple[Floats, Floats]:
        """Return the least and the largest smoothed share of votes that each class may reach.

        Both have the shape ``(n_rows, n_classes)``.
        """
        fewest, most = (
            undecided_about(votes[:, self.positive] + more, n_silent, self.above, self.n_members)
            for more in (0, n_left)
        )
        return (
            smoothed_shares(self._as_columns(most, fewest), self.n_members),
            smoothed_shares(self._as_columns(fewest, most), self.n_members),
        )

    def _as_columns(self, against: Floats, in_favour: Floats) -> Floats:
        columns = (1 - against, in_favour)
        return np.column_stack(columns if self.positive else columns[::-1])

    def outlook(
        self, totals: NDArray[np.int64], n_left: int, n_heard: NDArray[np.int64], n_silent: NDArray[np.int64]
    ) -> tuple[Mask, Mask]:
        """Return the masks of the classes that may still win, and of the rows whose winner is certain.

        Members that abstain might have voted either way: a class wins only if it does so for all their
        possible votes.
        """
        if not n_silent.any():
            return super().outlook(totals, n_left, n_heard, n_silent)
        lead = totals[:, self.positive] - self.above
        columns = [lead + n_silent <= 0, lead + n_left > 0]
        may_win = np.stack(columns if self.positive else columns[::-1], axis=1)
        return may_win, np.asarray((lead > 0) | (lead + n_left + n_silent <= 0))

    def plain(self) -> dict[str, Any]:
        """Return the ballot as a dict of plain values."""
        return {"rule": self.name, "positive": self.positive, "threshold": int(self.above)}

    def in_words(self, classes: Labels) -> str:
        """Return the text that tells how many votes the positive class needs."""
        label = classes[self.positive]
        return f"{label} when at least {self.above + 1} of {self.n_members} vote {label}"


@saved_from("shortlist.ensembles")
class Mean(Ballot):
    """Ballot of mean probabilities: the class with the largest product of mean and gain wins.

    `gains`, ``(n_classes,)``: gain of a right answer about each class, at least 0, one of them above 0.
    """

    name = "mean"
    by_mean = True

    def __init__(self, gains: NDArray[np.int64]) -> None:
        self.gains = gains
        self.start = np.zeros(len(gains), dtype=np.int64)
        self.most = weighed(np.full(len(gains), WHOLE, dtype=np.int16), gains).astype(np.int64)

    def answers_of(self, members: Pool, X: Any) -> Shares:
        """Return the probability of each class by each member, in parts of 2^15 - 1.

        The array has the shape ``(n_rows, n_members, n_classes)``.
        """
        return whole_shares(class_probabilities(members, X))

    def added(self, answers: NDArray[Any]) -> NDArray[np.int64]:
        """Return probabilities in parts of 2^15 - 1, times the gain of each class, ``(..., n_classes)``."""
        return weighed(answers, self.gains).astype(np.int64)

    def decided(self, answers: NDArray[Any]) -> NDArray[np.int64]:
        """Return the index of the class with the largest mean times gain, the first if equal."""
        return decided_by_mean(answers, self.gains).astype(np.int64)

    def plain(self) -> dict[str, Any]:
        """Return the ballot as a dict of plain values."""
        return {"rule": self.name, "whole": WHOLE, "gains": self.gains.tolist()}

    def in_words(self, classes: Labels) -> str:
        """Return the text of the rule by which a mean wins.

        >>> Mean(np.array([1, 1])).in_words(np.array(["no", "yes"]))
        'the class with the largest mean probability wins'
        >>> Mean(np.array([1, 3])).in_words(np.array(["no", "yes"]))
        'the answer is yes where its mean probability is above 0.25'
        """
        gains = self.gains
        if len(set(gains.tolist())) == 1:
            return "the class with the largest mean probability wins"
        if len(classes) > 2:
            return "the class with the largest mean probability, times its factor, wins"
        return f"the answer is {classes[1]} where its mean probability is above {gains[0] / gains.sum():.3g}"


def answers_to_come(copies: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of missing answers before each member is asked, and at the end, ``(n_members + 1,)``.

    `copies`, ``(n_members,)``: number of times that the answer of each member counts, in the order of asking.

    >>> answers_to_come(np.array([3, 1])).tolist()
    [4, 1, 0]
    """
    return np.asarray(np.concatenate([np.cumsum(copies[::-1])[::-1], [0]]))
