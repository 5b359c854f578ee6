"""Asking a committee member after member: a row leaves when no missing answer can change its outcome."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Labels, Mask
from shortlist.ensembles.committees.ballots import Ballot, answers_to_come
from shortlist.ensembles.votes.soft_votes import Calibration
from shortlist.guarantees.cells import ANSWERED, UNASKED
from shortlist.pickles import saved_from
from shortlist.policies import UNDECIDED, Places, Said, follow

MEAN_ROUNDING = 1e-9
"""Largest distance from the least probability at which a mean is added up again in the order of
``predict_proba``.

Floating-point sums depend on their order. A row whose calibrated mean is this near waits for all members.
"""


class ScoreRange(NamedTuple):
    """Bounds of the probabilities of the classes once all members have answered."""

    least: Floats
    most: Floats
    """Lower and upper bounds for each class, ``(n_rows, n_classes)``. The lower bound is for the case that
    all members left are sure of another class, the upper bound for the case that they are sure of this class.
    """

    def of_answer(self, may_win: Mask) -> tuple[Floats, Floats]:
        """Return the least and the largest probability of the class that wins, ``(n_rows,)`` each.

        `may_win`, ``(n_rows, n_classes)``: classes that may still win. The largest probability is taken over
        these classes, as the answers that make such a class most probable also make it win. The least
        probability is valid only where a single class may win.
        """
        leader = may_win.argmax(axis=1)[:, None]
        least = np.take_along_axis(self.least, leader, axis=1)[:, 0]
        return least, np.asarray(np.where(may_win, self.most, -np.inf).max(axis=1))


@dataclass(frozen=True)
class AnswerScores:
    """Source of the probability of a committee's answer, equal to its ``predict_proba``."""

    n_members: int
    """Number of members with all copies, asked or not."""
    by_mean: bool
    """Whether the probability is the mean of the members' probabilities; otherwise it comes from shares of
    votes.
    """
    ballot: Ballot
    """Ballot that counts the votes."""
    calibration: Calibration | None = None
    """Calibration that turns means or shares into probabilities."""

    def range_of(
        self, counted: NDArray[Any], n_left: int, n_silent: NDArray[np.int64] | int = 0
    ) -> ScoreRange:
        """Return the range of the classes' probabilities when `n_left` more members have answered.

        `counted`, ``(n_rows, n_classes)``: votes for each class so far, or sums of its probabilities.
        `n_silent`, ``(n_rows,)``: number of members that were asked and abstained; only a threshold uses it.

        >>> from shortlist.ensembles.committees.ballots import Plurality
        >>> votes = AnswerScores(n_members=3, by_mean=False, ballot=Plurality(2))
        >>> votes.range_of(np.array([[2, 0]]), 1)
        ScoreRange(least=array([[0.6, 0.2]]), most=array([[0.8, 0.4]]))
        """
        return calibrated_range(self._scores(counted, n_left, n_silent), self.calibration, is_open=n_left > 0)

    def margin(self, least: float, n_left: int) -> float:
        """Return the tolerance within which a bound counts as equal to the least probability.

        Rounding may make a quotient of calibrated means smaller than the lower bound.
        """
        rounds = self.by_mean and self.calibration is not None
        return MEAN_ROUNDING if rounds and n_left and least > 0 else 0.0

    def _scores(self, counted: NDArray[Any], n_left: int, n_silent: NDArray[np.int64] | int) -> ScoreRange:
        if self.by_mean:
            return ScoreRange(counted / self.n_members, (counted + n_left) / self.n_members)
        return ScoreRange(*self.ballot.shares_between(counted, n_left, n_silent))


def calibrated_range(found: ScoreRange, calibration: Calibration | None, *, is_open: bool) -> ScoreRange:
    """Return the bounds of calibrated probabilities, from the bounds of the scores before calibration.

    With a power of at least 1, which is convex, a class is most probable where all members left are sure of
    it, and least where they are sure of one other class. A smaller power is concave: the least is then taken
    where all other classes are equal, which the members left may be unable to reach.
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
    """Return the bounds of the classes' mean probabilities, added up as ``predict_proba`` does.

    A floating-point sum never decreases when one of its parts grows, and neither does the mean. So both
    bounds are means of possible answers, to the last bit.

    `known`: probabilities by the members in the order of the committee, each once, ``(n_rows, n_members,
    n_classes)``; 0 for members not asked yet. `copies`: number of times that the answer of each member
    counts, ``(n_members,)``. `is_left`: mask of members not asked yet, ``(n_members,)``. `calibration`: turns
    means into probabilities.
    """
    sure = np.where(is_left[:, None], 1.0, known)
    means = ScoreRange(*(np.repeat(one, copies, axis=1).mean(axis=1) for one in (known, sure)))
    return calibrated_range(means, calibration, is_open=bool(is_left.any()))


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class AskingOrder:
    """Order in which members are asked."""

    members: NDArray[np.intp]
    """Members by index, in the order of asking, ``(n_members,)``."""
    is_best: bool
    """Whether no other order costs less on the rows that orders were compared on."""


@dataclass(frozen=True, eq=False)
class EarlyAnswers:
    """Answers of a committee, with the number and the price of the calls to members."""

    labels: Labels
    """Class of every row, as all members together decide it, ``(n_rows,)``; the reject label for a row
    without an answer.
    """
    calls: NDArray[np.int64]
    """Number of members asked, ``(n_rows,)``."""
    costs: Floats | None
    """Price of the calls about each row, ``(n_rows,)``; None where members have no prices."""
    order: tuple[str, ...]
    """Names of the members in the order of asking, each once."""
    answered: Mask
    """Mask of rows for which a member has answered and the answer is at least as probable as requested,
    ``(n_rows,)``.
    """
    needs: tuple[str, ...]
    """Name of the member to ask next about each row, ``n_rows`` of them; empty where the row is settled."""


@dataclass(frozen=True, eq=False)
class Asking:
    """Order and rule by which members are asked one after the other."""

    ballot: Ballot
    order: NDArray[np.intp]
    """Members by index, in the order of asking, ``(n_members,)``."""
    copies: NDArray[np.int64]
    """Number of times that the answer of each member counts, in the order of the committee,
    ``(n_members,)``.
    """
    scores: AnswerScores | None = None
    """Source of the probability of an answer; None where no probability is needed."""
    least: float = 0.0
    """Least probability of an answer."""


class Added(NamedTuple):
    """Increments by the answers of one member."""

    decisions: NDArray[np.int64]
    """Increments of the totals that decide the class, with all copies of the member, ``(n_rows,
    n_classes)``.
    """
    scores: NDArray[Any] | None = None
    """Increments of the scores behind probabilities, counted once, ``(n_rows, n_classes)``."""


AskMember: TypeAlias = Callable[[int, Places], Added]
"""Function from the index of a member, and the indices of rows, to the increments by its answers on these
rows.
"""


def ask_record(added: NDArray[np.int64], scored: NDArray[Any] | None = None) -> AskMember:
    """Return a function that looks up the answers of members in arrays.

    The arrays have the shape ``(n_rows, n_members, n_classes)``.

    `added`: increments of the totals. `scored`: increments of the scores, if needed.
    """

    def ask(member: int, rows: Places) -> Added:
        return Added(added[rows, member], None if scored is None else scored[rows, member])

    return ask


class SettledRows(NamedTuple):
    """Result of asking, row by row."""

    codes: NDArray[np.int64]
    """Index of the class of each row, ``(n_rows,)``; -1 where no answer is as probable as required."""
    calls: NDArray[np.int64]
    """Number of members asked, ``(n_rows,)``."""
    waits_for: NDArray[np.int64]
    """Index of the member whose missing answer the row waits for, ``(n_rows,)``; -1 for a row that waits for
    none.
    """


def ask_in_order(
    asking: Asking, n_rows: int, ask: AskMember, states: NDArray[np.int8] | None = None
) -> SettledRows:
    """Ask the members one after the other; each answers only the rows whose outcome is still open.

    The outcome of a row is the class that wins, or no answer if no class is probable enough. The outcome is
    settled if it is the same, whichever class all members left are sure of. Answers that are sure of a class
    help this class most, and lower the probability of the winner most. As such answers are possible, no
    lossless early exit in this order asks fewer members. Two kinds of calibrated scores may wait for more
    members: means next to the least probability, and shares of votes for several classes with a power below
    1.

    `states`: whether each member answers each row, ``(n_rows, n_members)``, coded as in
    :mod:`shortlist.guarantees.cells`; None: all do. A row waits if its next member was not asked yet. No row
    is settled before a member has answered.
    """
    ballot, scores, copies, order = asking.ballot, asking.scores, asking.copies, asking.order
    by_mean = scores is not None and scores.by_mean
    totals = np.tile(ballot.start, (n_rows, 1))
    sums = np.zeros((n_rows, ballot.n_classes))
    known = np.zeros((n_rows, len(copies) if by_mean else 0, ballot.n_classes))
    n_silent, n_heard = np.zeros((2, n_rows), dtype=np.int64)
    is_left, to_come = np.ones(len(copies), dtype=bool), answers_to_come(copies[order]).tolist()

    def has_asked(place: int, rows: Places) -> Mask:
        assert states is not None, "somebody may be missing"
        return states[rows, order[place - 1]] < UNASKED if place else np.ones(n_rows, dtype=bool)

    def decide(place: int, rows: Places) -> Said:
        if place:
            member = int(order[place - 1])
            has_answered = True if states is None else states[rows, member] == ANSWERED
            n_heard[rows] += copies[member] * has_answered
            if states is not None:
                n_silent[rows] += copies[member] * (states[rows, member] != ANSWERED)
            added = ask(member, rows)
            totals[rows] += added.decisions
            if added.scores is not None:
                sums[rows] += copies[member] * added.scores
                if by_mean:
                    known[rows, member] = added.scores
            is_left[member] = False
        n_left = to_come[place]
        may_win, reaches = ballot.outlook(totals[rows], n_left, n_heard[rows], n_silent[rows])
        leaves = reaches | ~may_win.any(axis=1)
        if scores is not None:
            found = scores.range_of(sums[rows], n_left, n_silent[rows])
            lowest, highest = found.of_answer(may_win)
            if by_mean:  # as predict_proba adds up
                apart = np.minimum(np.abs(lowest - asking.least), np.abs(highest - asking.least))
                near = np.flatnonzero(apart <= MEAN_ROUNDING)
                answers = known[np.arange(n_rows)[rows][near]]
                exact = range_of_means(answers, copies, is_left, scores.calibration)
                lowest[near], highest[near] = exact.of_answer(may_win[near])
            margin = scores.margin(asking.least, n_left)
            reaches = reaches & (lowest >= asking.least + margin)
            leaves = reaches | (highest < asking.least - margin)
        return Said(np.where(reaches, may_win.argmax(axis=1), UNDECIDED), leaves)

    told = follow(n_rows, len(order) + 1, decide, None if states is None else has_asked)
    waits_for, rows = np.full(n_rows, -1), np.flatnonzero(told.waits)
    if states is not None:
        members = order[told.reached[rows] - 1]
        waits_for[rows] = np.where(states[rows, members] == UNASKED, members, -1)  # not for an unknown word
    return SettledRows(told.codes, told.reached - 1, waits_for)
