"""Asking a committee member after member: a row leaves when no missing answer can change its class.

Whoever is in a committee several times is one member here, whose answer counts so often.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Labels, Mask
from shortlist.ensembles.exits.answer_scores import AnswerScores
from shortlist.ensembles.exits.ballots import (
    Tallying,
    answers_to_come,
    by_mean,
    by_threshold,
    by_votes,
    calls_of,
)
from shortlist.ensembles.exits.orders import AskingOrder, cheapest_order
from shortlist.ensembles.pools.class_answers import class_answers
from shortlist.ensembles.pools.class_probabilities import class_probabilities
from shortlist.ensembles.pools.pool import Pool, matched_columns, positive_votes
from shortlist.ensembles.votes.soft_votes import WHOLE, whole_shares
from shortlist.tables.fit_inputs import take_rows

MOST_ORDERING_ROWS = 2_000
"""So many of the rows that pruned choose the order, evenly spread."""


@dataclass(frozen=True, eq=False)
class EarlyAnswers:
    """What a committee answers, and whom it asked.

    Attributes
    ----------
    labels : ndarray, shape (n_rows,)
        The class of every row, as all members together decide it.
    calls : ndarray of int64, shape (n_rows,)
        How many members were asked.
    costs : ndarray of float, shape (n_rows,), or None
        What that cost; None where members have no prices.
    order : tuple of str
        The members in the order in which they are asked, each once.
    answered : ndarray of bool, shape (n_rows,), or None
        Whether the answer is as probable as was asked for; None where nothing was. The class of a row that is
        not answered may be another than that of all members.
    """

    labels: Labels
    calls: NDArray[np.int64]
    costs: Floats | None
    order: tuple[str, ...]
    answered: Mask | None = None


@dataclass(frozen=True)
class ExitReport:
    """What asking one after the other saves on the rows that pruned.

    Attributes
    ----------
    order : tuple of str
        The members as they are asked, each once.
    is_best_order : bool
        Whether no other order costs less on these rows.
    n_rows : int
        How many rows that is counted on.
    mean_calls : float
        Members that are asked for a row.
    least_mean_calls : float or None
        The fewest that any exit needs that is never wrong, in this order, found row by row from what all
        members answered. None where answers need a least probability.
    mean_cost, cost : float or None
        What they cost for a row, and what all members do; None without prices.
    """

    order: tuple[str, ...]
    is_best_order: bool
    n_rows: int
    mean_calls: float
    least_mean_calls: float | None
    mean_cost: float | None
    cost: float | None


class _Added(NamedTuple):
    """What a member's answer adds once: to the classes that are decided by, and to those of its score."""

    decisions: NDArray[np.int64]
    scores: NDArray[Any] | None


class _Taken(NamedTuple):
    """The members of a committee, each once: where they are first among all copies, how often, for what."""

    places: NDArray[np.int64]
    copies: NDArray[np.int64]
    prices: Floats | None


def answer_early(committee: Any, X: Any, *, least: float | None = None) -> EarlyAnswers:
    """Return the classes that a fitted committee answers, with as few members asked as that takes.

    Parameters
    ----------
    committee : ExactPruner or RulePruner
        Fitted, with a selection.
    X : DataFrame or array of shape (n_rows, n_features)
        Checked. Members see the rows alone that are not settled when their turn comes.
    least : float, optional
        Answer those rows alone to whose class ``predict_proba`` gives at least this. A row then leaves when
        neither its class can change nor whether it is answered, or when it cannot be answered any more.

    Notes
    -----
    A classifier whose numbers depend, in the last digit, on how many rows it sees at a time may round another
    way than in a full vote.
    """
    pool, tallying = committee.pool_, tallying_of(committee)
    scores = None if least is None else _scores_of(committee)
    order, taken = asking_order(committee).members, _taken(committee)
    to_come = answers_to_come(taken.copies[order])
    rows = matched_columns(pool, X)
    rows = rows if pool.preprocessor is None else pool.preprocessor.transform(rows)
    members = replace(pool, preprocessor=None, n_features_in=None, feature_names_in=None)
    n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    totals = np.tile(tallying.start, (n_rows, 1))
    sums = np.zeros((n_rows, tallying.n_classes))
    # every mean, as predict_proba adds those of all members in their own order
    keeps = scores is not None and scores.by_mean
    scored = np.zeros((n_rows, len(order) if keeps else 0, tallying.n_classes))
    calls, is_open = np.zeros(n_rows, dtype=np.int64), np.arange(n_rows)
    for place, member in enumerate(order):
        n_left = int(to_come[place])
        settled = tallying.settled(totals[is_open], n_left)
        if scores is not None and least is not None:
            settled = _settled_too(
                scores, settled, totals[is_open], sums[is_open], n_left=n_left, least=least
            )
        is_open = is_open[~settled]
        if not len(is_open):
            break
        asked = members.subset([int(taken.places[member])])
        added = _added(committee, tallying, scores, asked, take_rows(rows, is_open))
        totals[is_open] += taken.copies[member] * added.decisions[:, 0]
        if added.scores is not None:
            sums[is_open] += taken.copies[member] * added.scores[:, 0]
        if added.scores is not None and keeps:
            scored[is_open, member] = added.scores[:, 0]
        calls[is_open] += 1
    spent = None if taken.prices is None else np.concatenate([[0.0], np.cumsum(taken.prices[order])])[calls]
    labels = _classes_of(committee)[totals.argmax(axis=1)]
    answered = None
    if scores is not None and least is not None:
        winner = totals.argmax(axis=1)
        answered = _reached(scores, sums, winner, to_come[calls], least)
        if scores.by_mean:  # bit by bit as predict_proba has it
            whole = np.flatnonzero(calls == len(order))
            means = np.repeat(scored[whole], taken.copies, axis=1).mean(axis=1)
            answered[whole] = means[np.arange(len(whole)), winner[whole]] >= least
    names = tuple(pool.names[place] for place in taken.places[order])
    return EarlyAnswers(np.asarray(labels), calls, spent, names, answered)


def _settled_too(
    scores: AnswerScores,
    settled: Mask,
    totals: NDArray[np.int64],
    sums: NDArray[Any],
    *,
    n_left: int,
    least: float,
) -> Mask:
    """Mark the rows of which it is settled, too, whether they are answered; `settled` have their class."""
    reaches, fails = scores.surely(scores.range_of(sums, totals.argmax(axis=1), n_left), least)
    return fails | (settled & reaches)


def _scores_of(committee: Any) -> AnswerScores:
    """Return where the probabilities of a committee's answers come from."""
    return AnswerScores(len(committee.pool_), committee.gives_means, getattr(committee, "threshold_", None))


def _reached(
    scores: AnswerScores, sums: Floats, winner: NDArray[np.int64], n_left: NDArray[np.int64], least: float
) -> Mask:
    """Mark the rows that are answered when their turn is over: those whose score is no longer open."""
    answered = np.zeros(len(sums), dtype=bool)
    for left in np.unique(n_left):
        rows = np.flatnonzero(n_left == left)
        answered[rows] = scores.range_of(sums[rows], winner[rows], int(left)).least >= least
    return answered


def tallying_of(committee: Any) -> Tallying:
    """Return how a fitted committee adds up answers."""
    if committee.averages:
        return by_mean(committee.gains_)
    threshold = getattr(committee, "threshold_", None)
    return by_votes(len(committee.classes_)) if threshold is None else by_threshold(threshold)


def asking_order(committee: Any) -> AskingOrder:
    """Return the order in which the members are asked, by the rows that pruned, the cheapest on average.

    Where a model has no record of answers, the cheapest members come first.
    """
    added, taken = recorded_answers(committee), _taken(committee)
    costs = np.ones(len(taken.copies)) if taken.prices is None else taken.prices
    if added is None:
        return AskingOrder(np.argsort(costs, kind="stable"), is_best=False)
    chosen = np.unique(np.linspace(0, len(added) - 1, min(len(added), MOST_ORDERING_ROWS)).astype(np.intp))
    return cheapest_order(tallying_of(committee), added[chosen], costs, copies=taken.copies)


def exit_report(committee: Any, *, least: float | None = None) -> ExitReport | None:
    """Return what asking one after the other saves; None for nobody, and without a record of answers.

    With `least`, rows are answered that reach this probability alone, as :func:`answer_early` does.
    """
    added = recorded_answers(committee) if len(committee.pool_) else None
    scored = None if added is None or least is None else recorded_scores(committee)
    if added is None or (least is not None and scored is None):
        return None
    order, taken = asking_order(committee), _taken(committee)
    tallying, prices = tallying_of(committee), taken.prices
    added, copies = added[:, order.members], taken.copies[order.members]
    if scored is None or least is None:
        calls = calls_of(tallying, added, copies)
    else:
        calls = _promised_calls(committee, added, scored[:, order.members], copies, least)
    spent = None if prices is None else np.concatenate([[0.0], np.cumsum(prices[order.members])])[calls]
    return ExitReport(
        tuple(committee.pool_.names[place] for place in taken.places[order.members]),
        order.is_best,
        len(calls),
        float(calls.mean()),
        float(_least_calls(tallying, added, copies).mean()) if scored is None else None,
        None if spent is None else float(spent.mean()),
        None if prices is None else float(prices.sum()),
    )


def prices_of_members(committee: Any) -> Floats | None:
    """Return what asking each member costs, further copies nothing; None where that is not known."""
    given = getattr(committee, "member_costs", None)
    if given is not None:
        places = taken_places(committee)
        first = np.isin(np.arange(len(places)), np.unique(places, return_index=True)[1])
        return np.where(first, np.asarray(given, dtype=np.float64)[places], 0.0)
    costs = committee.pool_.costs
    return None if costs is None else np.asarray(costs, dtype=np.float64)


def taken_places(committee: Any) -> NDArray[np.intp]:
    """Return the place in the pool of each member; that of one who is taken twice comes twice."""
    copies = getattr(committee, "copies_", committee.selection_)
    return np.repeat(np.arange(len(committee.selection_)), np.asarray(copies, dtype=np.intp))


def _taken(committee: Any) -> _Taken:
    """Return the members of a committee, each once."""
    copies = np.asarray(getattr(committee, "copies_", np.ones(len(committee.pool_))), dtype=np.int64)
    copies = copies[copies > 0]
    places, prices = np.cumsum(copies) - copies, prices_of_members(committee)
    return _Taken(places, copies, None if prices is None else prices[places])


def recorded_answers(committee: Any) -> NDArray[np.int64] | None:
    """Return what each member added on the rows that pruned, with all its copies, if that is known.

    It is of shape ``(n_rows, n_members, n_classes)``, and whoever is taken several times is one member.
    """
    record, tallying = committee.validation_, tallying_of(committee)
    members, copies = np.flatnonzero(committee.selection_), _taken(committee).copies[:, None]
    shares = getattr(record, "shares", None)
    if tallying.gains is not None:
        return None if shares is None else copies * tallying.of_shares(shares[:, members])
    if getattr(record, "packed_votes", None) is not None:
        votes = np.unpackbits(record.packed_votes, axis=1, count=len(committee.selection_))
        return copies * tallying.of_codes(votes[:, members])
    codes = getattr(record, "codes", None)
    return None if codes is None else copies * tallying.of_codes(codes[:, members])


def recorded_scores(committee: Any) -> NDArray[Any] | None:
    """Return what made each member's answer probable on the rows that pruned, as it is added up, if known."""
    record, members = committee.validation_, np.flatnonzero(committee.selection_)
    copies = _taken(committee).copies[:, None]
    shares = getattr(record, "shares", None)
    if committee.gives_means:
        return None if shares is None else copies * shares[:, members] / WHOLE
    codes = getattr(record, "codes", None)
    if getattr(record, "packed_votes", None) is not None:
        codes = np.unpackbits(record.packed_votes, axis=1, count=len(committee.selection_))
    return None if codes is None else copies * by_votes(len(committee.classes_)).of_codes(codes[:, members])


def _promised_calls(
    committee: Any,
    added: NDArray[np.int64],
    scored: NDArray[Any],
    copies: NDArray[np.int64],
    least: float,
) -> NDArray[np.int64]:
    """Return how many members each row asks, in order, until its class and whether it has one are settled."""
    tallying, scores = tallying_of(committee), _scores_of(committee)
    n_rows, n_members, _ = added.shape
    to_come = answers_to_come(copies)
    totals, calls = np.tile(tallying.start, (n_rows, 1)), np.zeros(n_rows, dtype=np.int64)
    for place in range(n_members):
        n_left, sums = int(to_come[place]), scored[:, :place].sum(axis=1)
        settled = tallying.settled(totals, n_left)
        calls[~_settled_too(scores, settled, totals, sums, n_left=n_left, least=least)] = place + 1
        totals += added[:, place]
    return calls


def _added(
    committee: Any, tallying: Tallying, scores: AnswerScores | None, members: Pool, rows: Any
) -> _Added:
    """Return what members answer to rows, as it is added up."""
    positive = committee.positive_ if getattr(committee, "threshold_", None) is not None else None
    by_mean = scores is not None and scores.by_mean
    probabilities = votes = None
    if tallying.gains is not None or by_mean:
        probabilities = class_probabilities(members, rows)
    if tallying.gains is None or (scores is not None and not by_mean):
        codes = class_answers(members, rows) if positive is None else positive_votes(members, rows, positive)
        votes = by_votes(tallying.n_classes).of_codes(codes)
    if probabilities is not None and tallying.gains is not None:
        decisions = tallying.of_shares(whole_shares(probabilities))
    else:
        assert votes is not None, "what is not averaged is voted on"
        decisions = votes if positive is None else votes * tallying.most
    if by_mean and probabilities is not None:
        in_order = slice(None, None, -1 if _classes_of(committee)[0] != committee.classes_[0] else 1)
        return _Added(decisions, probabilities[..., in_order])
    return _Added(decisions, None if scores is None else votes)


def _classes_of(committee: Any) -> Labels:
    """Return the classes as they are added up: against a threshold the negative one first."""
    classes: Labels = committee.classes_
    if committee.averages or getattr(committee, "threshold_", None) is None:
        return classes
    return classes if committee.positive_ == classes[1] else classes[::-1]


def _least_calls(
    tallying: Tallying, added: NDArray[np.int64], copies: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the fewest calls that settle each row, looked for from the end, when everything is known.

    Before a place that some answers could still have turned, nobody can leave.
    """
    n_rows, n_members, _ = added.shape
    to_come = answers_to_come(copies)
    totals = tallying.start + added.sum(axis=1)
    least, winner = np.full(n_rows, n_members), totals.argmax(axis=1)
    may_be_less = np.ones(n_rows, dtype=bool)
    for place in range(n_members - 1, -1, -1):
        totals = totals - added[:, place]
        for rival in range(tallying.n_classes):
            # all who come later answer for the rival, who wins if that is more, or as much and comes first
            turned = totals.copy()
            turned[:, rival] += to_come[place] * tallying.most[rival]
            may_be_less &= turned.argmax(axis=1) == winner
        least[may_be_less] = place
    return least
