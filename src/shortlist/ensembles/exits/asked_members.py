"""Whom a fitted committee asks, in which order, and how it adds up what they answer.

Whoever is in a committee several times is one member here, whose answer counts so often.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.ensembles.exits.answer_scores import AnswerScores
from shortlist.ensembles.exits.ballots import Tallying, by_mean, by_threshold, by_votes
from shortlist.ensembles.exits.orders import FEW_MEMBERS, AskingOrder, cheapest_order
from shortlist.ensembles.votes.soft_votes import WHOLE

MOST_ORDERING_ROWS = 2_000
"""So many of the rows that pruned choose the order, evenly spread, of means and of many members."""


class AskedMembers(NamedTuple):
    """The members of a committee, each once.

    Attributes
    ----------
    places : ndarray of int64, shape (n_members,)
        Where each is first among all copies.
    copies : ndarray of int64, shape (n_members,)
        How often the answer of each counts.
    prices : ndarray of float, shape (n_members,), or None
        What asking each costs.
    """

    places: NDArray[np.int64]
    copies: NDArray[np.int64]
    prices: Floats | None


def asked_members(committee: Any) -> AskedMembers:
    """Return the members of a committee, each once."""
    copies = np.asarray(getattr(committee, "copies_", np.ones(len(committee.pool_))), dtype=np.int64)
    copies = copies[copies > 0]
    places, prices = np.cumsum(copies) - copies, prices_of_members(committee)
    return AskedMembers(places, copies, None if prices is None else prices[places])


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


def tallying_of(committee: Any) -> Tallying:
    """Return how a fitted committee adds up answers."""
    if committee.averages:
        return by_mean(committee.decision_gains)
    threshold = getattr(committee, "threshold_", None)
    return by_votes(len(committee.classes_)) if threshold is None else by_threshold(threshold)


def scores_of(committee: Any) -> AnswerScores:
    """Return where the probabilities of a committee's answers come from."""
    threshold, calibration = getattr(committee, "threshold_", None), committee.calibration_
    counts_first = threshold is not None and committee.positive_ == committee.classes_[0]
    if calibration is not None and counts_first:  # the negative class comes first there
        calibration = replace(calibration, factors=calibration.factors[::-1])
    return AnswerScores(len(committee.pool_), committee.gives_means, threshold, calibration)


def asking_order(committee: Any) -> AskingOrder:
    """Return the order in which the members are asked, by the rows that pruned, the cheapest on average.

    Where a model has no record of answers, the cheapest members come first.
    """
    added, asked = recorded_answers(committee), asked_members(committee)
    costs = np.ones(len(asked.copies)) if asked.prices is None else asked.prices
    if added is None:
        return AskingOrder(np.argsort(costs, kind="stable"), is_best=False)
    return order_by_record(tallying_of(committee), added, costs, copies=asked.copies)


def order_by_record(
    tallying: Tallying,
    added: NDArray[np.int64],
    costs: NDArray[Any],
    *,
    copies: NDArray[np.int64] | None = None,
    counts: NDArray[np.int64] | None = None,
) -> AskingOrder:
    """Return the order in which members are asked, from what they added on rows.

    Votes of few members choose it on all rows, many of which are alike; `counts` says how many samples each
    stands for. Otherwise :data:`MOST_ORDERING_ROWS` rows do.
    """
    costs = np.asarray(costs, dtype=np.float64)
    if tallying.gains is None and added.shape[1] <= FEW_MEMBERS:
        rows, place = np.unique(added.reshape(len(added), -1), axis=0, return_inverse=True)
        alike = np.bincount(place.ravel(), weights=counts, minlength=len(rows)).astype(np.int64)
        rows = rows.reshape(-1, *added.shape[1:])
        return cheapest_order(tallying, rows, costs, copies=copies, counts=alike)
    chosen = np.unique(np.linspace(0, len(added) - 1, min(len(added), MOST_ORDERING_ROWS)).astype(np.intp))
    return cheapest_order(tallying, added[chosen], costs, copies=copies)


def recorded_answers(committee: Any) -> NDArray[np.int64] | None:
    """Return what each member added on the rows that pruned, with all its copies, if that is known.

    It is of shape ``(n_rows, n_members, n_classes)``, and whoever is taken several times is one member.
    """
    record, tallying = committee.validation_, tallying_of(committee)
    members, copies = np.flatnonzero(committee.selection_), asked_members(committee).copies[:, None]
    shares = getattr(record, "shares", None)
    if tallying.gains is not None:
        return None if shares is None else copies * tallying.of_shares(shares[:, members])
    if getattr(record, "packed_votes", None) is not None:
        votes = np.unpackbits(record.packed_votes, axis=1, count=len(committee.selection_))
        return copies * tallying.of_codes(votes[:, members])
    codes = getattr(record, "codes", None)
    return None if codes is None else copies * tallying.of_codes(codes[:, members])


def recorded_scores(committee: Any) -> NDArray[Any] | None:
    """Return what made each member's answer probable on the rows that pruned, without copies, if known.

    It is of shape ``(n_rows, n_members, n_classes)``: votes, or probabilities.
    """
    record, members = committee.validation_, np.flatnonzero(committee.selection_)
    shares = getattr(record, "shares", None)
    if committee.gives_means:
        return None if shares is None else shares[:, members] / WHOLE
    codes = getattr(record, "codes", None)
    if getattr(record, "packed_votes", None) is not None:
        codes = np.unpackbits(record.packed_votes, axis=1, count=len(committee.selection_))
    return None if codes is None else by_votes(len(committee.classes_)).of_codes(codes[:, members])
