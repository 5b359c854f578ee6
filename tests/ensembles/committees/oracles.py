"""Smallest number of calls of an early exit, looked for from the end."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.committees.asking import MEAN_ROUNDING, Asking
from shortlist.ensembles.committees.ballots import answers_to_come
from shortlist.ensembles.committees.committee import Committee


def least_on_record(committee: Committee, least: float | None = None) -> float:
    """Mean of the fewest calls on the rows that chose a committee."""
    added = committee.added_on_record()
    assert added is not None
    scored = None if least is None else committee.scored_on_record()
    return float(least_calls(committee.asking(least), added, scored).mean())


def least_calls(
    asking: Asking, added: NDArray[np.int64], scored: NDArray[Any] | None = None
) -> NDArray[np.int64]:
    """Return the fewest calls that settle each row, looked for from the end, when everything is known.

    Before a place that some answers could still have turned, no member that is never wrong can leave.

    `added`, ``(n_rows, n_members, n_classes)``: what each member adds to the totals, with all copies, in the
    order of the committee. `scored`, ``(n_rows, n_members, n_classes)``: what each adds once to what makes an
    answer probable, where it has to be. Answers that are as probable as they have to be but for
    rounding turn nothing here, so that the numbers of calls, ``(n_rows,)``, are never too large.
    """
    n_rows, n_members, _ = added.shape
    ballot, to_come = asking.ballot, answers_to_come(asking.copies[asking.order])
    totals = ballot.start + added.sum(axis=1)
    counted = None if scored is None else (scored * asking.copies[:, None]).sum(axis=1)
    winner, (reaches, fails) = totals.argmax(axis=1), _outcomes(asking, totals, counted)
    least, may_be_less = np.full(n_rows, n_members), np.ones(n_rows, dtype=bool)
    for place in range(n_members - 1, -1, -1):
        member = asking.order[place]
        totals = totals - added[:, member]
        if counted is not None and scored is not None:
            counted = np.maximum(0, counted - asking.copies[member] * scored[:, member])  # but for rounding
        for rival in range(ballot.n_classes):
            # all who come later answer for the rival, who wins if that is more, or as much and comes first
            turned, probable = totals.copy(), None if counted is None else counted.copy()
            turned[:, rival] += to_come[place] * ballot.most[rival]
            if probable is not None:
                probable[:, rival] += to_come[place]
            now_reaches, now_fails = _outcomes(asking, turned, probable)
            other_class = turned.argmax(axis=1) != winner
            may_be_less &= ~(reaches & (now_fails | (other_class & now_reaches)))
            may_be_less &= ~(fails & now_reaches)
        least[may_be_less] = place
    return np.where(reaches, np.maximum(1, least), least)  # an answer takes one member at least


def _outcomes(asking: Asking, totals: NDArray[np.int64], counted: NDArray[Any] | None) -> tuple[Mask, Mask]:
    """Mark the rows that are surely answered when all members have been asked, and those that are not."""
    if asking.scores is None or counted is None:
        return np.ones(len(totals), dtype=bool), np.zeros(len(totals), dtype=bool)
    winner = totals.argmax(axis=1)[:, None]
    probability = np.take_along_axis(asking.scores.range_of(counted, 0).least, winner, axis=1)[:, 0]
    apart = MEAN_ROUNDING if asking.scores.by_mean else 0.0
    return np.asarray(probability >= asking.least + apart), np.asarray(probability < asking.least - apart)
