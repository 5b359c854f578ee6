"""Asking a committee member after member: a row leaves when no missing answer can change its outcome."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Labels, Mask
from shortlist.ensembles.committees.answer_scores import MEAN_ROUNDING, AnswerScores, range_of_means
from shortlist.ensembles.committees.ballots import Ballot, answers_to_come
from shortlist.guarantees.cells import ANSWERED, UNASKED
from shortlist.pickles import saved_from


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class AskingOrder:
    """An order of members.

    Attributes
    ----------
    members : ndarray of int, shape (n_members,)
        Who is asked first, second, and so on.
    is_best : bool
        Whether no order costs less on the rows that it was chosen by.
    """

    members: NDArray[np.intp]
    is_best: bool


@dataclass(frozen=True, eq=False)
class EarlyAnswers:
    """What a committee answers, and whom it asked.

    Attributes
    ----------
    labels : ndarray, shape (n_rows,)
        The class of every row, as all members together decide it; the reject label where none is answered.
    calls : ndarray of int64, shape (n_rows,)
        How many members were asked.
    costs : ndarray of float, shape (n_rows,), or None
        What that cost; None where members have no prices.
    order : tuple of str
        The members in the order in which they are asked, each once.
    answered : ndarray of bool, shape (n_rows,)
        Whether somebody has answered, and the answer is as probable as was asked for.
    needs : tuple of str
        Who has to be asked next about each row, as nobody has asked them yet; empty where nobody has to.
    """

    labels: Labels
    calls: NDArray[np.int64]
    costs: Floats | None
    order: tuple[str, ...]
    answered: Mask
    needs: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Asking:
    """How members are asked one after the other.

    Attributes
    ----------
    ballot : Ballot
    order : ndarray of int, shape (n_members,)
        Who is asked first, second, and so on.
    copies : ndarray of int64, shape (n_members,)
        How often the answer of each member counts, in the order of the committee.
    scores : AnswerScores or None
        Where the probability of an answer comes from; None where none is needed.
    least : float
        How probable an answer has to be.
    """

    ballot: Ballot
    order: NDArray[np.intp]
    copies: NDArray[np.int64]
    scores: AnswerScores | None = None
    least: float = 0.0


class Added(NamedTuple):
    """What a member's answers add.

    Attributes
    ----------
    decisions : ndarray of int64, shape (n_rows, n_classes)
        To the totals that decide, with all copies.
    scores : ndarray of int or float, shape (n_rows, n_classes), or None
        To what makes an answer probable, once.
    """

    decisions: NDArray[np.int64]
    scores: NDArray[Any] | None = None


AskMember: TypeAlias = Callable[[int, NDArray[np.intp]], Added]
"""Gets the place of a member, and of the rows that are asked about, and returns what the answers add."""


def ask_record(added: NDArray[np.int64], scored: NDArray[Any] | None = None) -> AskMember:
    """Return how members are asked whose answers are known, ``(n_rows, n_members, n_classes)`` each."""

    def ask(member: int, rows: NDArray[np.intp]) -> Added:
        return Added(added[rows, member], None if scored is None else scored[rows, member])

    return ask


class SettledRows(NamedTuple):
    """What came of asking, row by row.

    Attributes
    ----------
    winner : ndarray of int64, shape (n_rows,)
        The class of each row; where it is not answered, the one that led.
    calls : ndarray of int64, shape (n_rows,)
        How many members were asked.
    answered : ndarray of bool, shape (n_rows,)
        Whether there is an answer, as probable as it has to be.
    waits_for : ndarray of int64, shape (n_rows,)
        The place of the member who has to be asked next and was not asked yet; -1: nobody.
    """

    winner: NDArray[np.int64]
    calls: NDArray[np.int64]
    answered: Mask
    waits_for: NDArray[np.int64]


def ask_in_order(
    asking: Asking, n_rows: int, ask: AskMember, states: NDArray[np.int8] | None = None
) -> SettledRows:
    """Ask one member after the other about those rows alone whose outcome is still open.

    The outcome is the class that wins, or that none is probable enough. It is settled where it is the same
    for each class of which all who are left may be sure: nothing makes a class win, and probable, more than
    that, and nothing makes the winner less probable than that of another class. As these answers are
    possible, no exit that is never wrong asks fewer. Only what is calibrated may wait for more: means next to
    the least probability, and shares of votes of several classes with a power below 1.

    `states` says whether each member answers each row, ``(n_rows, n_members)``, as
    :mod:`shortlist.guarantees.cells` has it; None: all do. A row whose next member was not asked yet waits.
    Nobody leaves before somebody has answered.
    """
    ballot, scores, copies = asking.ballot, asking.scores, asking.copies
    by_mean = scores is not None and scores.by_mean
    totals = np.tile(ballot.start, (n_rows, 1))
    sums = np.zeros((n_rows, ballot.n_classes))
    known = np.zeros((n_rows, len(copies) if by_mean else 0, ballot.n_classes))
    calls, answered = np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows, dtype=bool)
    n_silent, n_heard, waits_for = calls.copy(), calls.copy(), np.full(n_rows, -1)
    is_open, is_left = np.arange(n_rows), np.ones(len(copies), dtype=bool)
    for place, n_left in enumerate(answers_to_come(copies[asking.order]).tolist()):
        may_win, reaches = ballot.outlook(totals[is_open], n_left, n_heard[is_open], n_silent[is_open])
        leaves = reaches | ~may_win.any(axis=1)
        if scores is not None:
            found = scores.range_of(sums[is_open], n_left, n_silent[is_open])
            lowest, highest = found.of_answer(may_win)
            if by_mean:  # as predict_proba adds up
                apart = np.minimum(np.abs(lowest - asking.least), np.abs(highest - asking.least))
                near = np.flatnonzero(apart <= MEAN_ROUNDING)
                exact = range_of_means(known[is_open[near]], copies, is_left, scores.calibration)
                lowest[near], highest[near] = exact.of_answer(may_win[near])
            margin = scores.margin(asking.least, n_left)
            reaches = reaches & (lowest >= asking.least + margin)
            leaves = reaches | (highest < asking.least - margin)
        answered[is_open[reaches]] = True
        is_open = is_open[~leaves]
        if not len(is_open):
            break
        if place == len(asking.order):
            break  # nobody is left who could settle these
        member = int(asking.order[place])
        if states is not None:
            here = states[is_open, member]
            waits_for[is_open[here == UNASKED]] = member
            is_open, here = is_open[here < UNASKED], here[here < UNASKED]  # an unknown word ends it too
            n_silent[is_open[here != ANSWERED]] += copies[member]
            n_heard[is_open[here == ANSWERED]] += copies[member]
        else:
            n_heard[is_open] += copies[member]
        added = ask(member, is_open)
        totals[is_open] += added.decisions
        if added.scores is not None:
            sums[is_open] += copies[member] * added.scores
        if added.scores is not None and by_mean:
            known[is_open, member] = added.scores
        calls[is_open] += 1
        is_left[member] = False
    return SettledRows(totals.argmax(axis=1), calls, answered, waits_for)
