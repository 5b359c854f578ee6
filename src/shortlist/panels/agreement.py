"""Agreement cascades: two judges at once, then further judges one by one, until two answers agree.

"a and b agree: answer; otherwise ask c; if c agrees with neither, ask d." A stage decides by votes that count
silence, and takes the latest of equal answers (:data:`shortlist.panels.decisions.LATEST`). So the last judge
decides where no two agree, and a missing answer is skipped. The losses and prices of all cascades that begin
with one pair are sums over the open cases, computed as products of matrices.
"""

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask
from shortlist.panels.learning import AGREEMENT
from shortlist.panels.policy import ANSWER, HAND_OVER
from shortlist.panels.recipes import Candidate, Cases, Judges, Recipe

MOST_OF_CASCADES = {2: 100, 3: 40, 4: 15}
"""Largest number of judges, the most promising, from which cascades of 2, 3 and 4 judges are formed."""


def agrees_from(n_asked: int) -> float:
    """Return a threshold on the share of votes: two of `n_asked` votes reach it, and one vote does not.

    >>> agrees_from(2), agrees_from(3)
    (0.75, 0.5)
    """
    return 1.5 / n_asked


class _Columns(NamedTuple):
    """Words, losses, prices and seconds of the judges, ``(n_cases, n_judges)``.

    `open_loss`: loss of a case without an answer, ``(n_cases,)``.
    """

    words: NDArray[np.int64]
    spoke: Mask
    losses: Floats
    prices: Floats
    seconds: Floats
    open_loss: Floats


class _Going(NamedTuple):
    """Cascades so far, one column each, and a mask of their open cases, ``(n_cases, n_cascades)``.

    `lost`, `paid`, `took`: loss, price and seconds, summed over the cases, ``(n_cascades,)``. `last`: loss of
    the latest answer to each case. `silent`: mask of the cases without an answer.
    """

    asked: list[Judges]
    on: Mask
    lost: Floats
    paid: Floats
    took: Floats
    last: Floats
    silent: Mask


def agreement_cascades(cases: Cases, first: int, judges: Judges, size: int) -> list[Candidate]:
    """Return agreement cascades of `size` judges that begin with one judge.

    In one form of a cascade the last judge decides every case that is still open. In the other form the last
    judge decides only if an earlier judge agrees; this form needs a final hand-over or rejection. The search
    takes n_cases · len(judges)^(size - 1) steps; sums are exact.

    `judges`: judges to combine; the second of a pair comes after the first. `size`: from 2 to 4.
    """
    columns = _columns(cases)
    found: list[Candidate] = []
    for second in judges[judges.index(first) + 1 :]:
        going = _pair(columns, first, second)
        for _ in range(size - 3):
            going = _one_more(columns, going, judges)
        if size > 2:
            found += _that_answer(cases, columns, going, judges)
        if cases.final.kind != ANSWER:
            going = _one_more(columns, going, judges) if size > 2 else going
            paid = going.paid + cases.final_price * going.on.sum(axis=0)
            lost = going.lost + columns.open_loss @ going.on
            found += _found(cases, going.asked, lost, paid, going.took, answers=False)
    return found


def _columns(cases: Cases) -> _Columns:
    words = cases.answers.words
    spoke = words < cases.answers.n_classes
    losses = [cases.losses_of(column) for column in np.where(spoke, words, -1).T]
    left = np.zeros(len(words))
    if cases.final.kind != HAND_OVER:
        left += cases.losses_of(np.full(len(words), -1))
    seconds = cases.latency if np.isfinite(cases.latency).all() else np.zeros(cases.latency.shape)
    lost, prices = np.column_stack(losses).astype(np.float64), cases.prices.astype(np.float64)
    return _Columns(words, spoke, lost, prices, seconds, left)


def _pair(columns: _Columns, a: int, b: int) -> _Going:
    agree = columns.spoke[:, a] & (columns.words[:, a] == columns.words[:, b])
    last = np.where(columns.spoke[:, a], columns.losses[:, a], columns.open_loss)
    last = np.where(columns.spoke[:, b], columns.losses[:, b], last)
    silent = ~(columns.spoke[:, a] | columns.spoke[:, b])
    lost, paid = columns.losses[:, a] @ agree, columns.prices[:, [a, b]].sum()
    took = columns.seconds[:, [a, b]].max(axis=1).sum()
    lost, paid, took = (np.array([one]) for one in (lost, paid, took))
    return _Going([(a, b)], ~agree[:, None], lost, paid, took, last[:, None], silent[:, None])


def _one_more(columns: _Columns, going: _Going, judges: Judges) -> _Going:
    """Return each cascade extended by each further judge; a case stays open if no earlier judge agrees."""
    grown = [_with_judge(columns, going, place, [one for one in judges if one not in asked])
             for place, asked in enumerate(going.asked)]  # fmt: skip
    asked = [one for part in grown for one in part.asked]
    return _Going(asked, *(np.concatenate(column, axis=-1) for column in list(zip(*grown, strict=True))[1:]))


def _with_judge(columns: _Columns, going: _Going, place: int, judges: list[int]) -> _Going:
    asked, on = going.asked[place], going.on[:, place]
    words, spoke = columns.words[:, judges], columns.spoke[:, judges]
    same = np.logical_or.reduce([words == columns.words[:, [one]] for one in asked])
    ends = on[:, None] & spoke & same
    return _Going(
        [(*asked, judge) for judge in judges],
        on[:, None] & ~ends,
        going.lost[place] + (columns.losses[:, judges] * ends).sum(axis=0),
        going.paid[place] + on @ columns.prices[:, judges],
        going.took[place] + on @ columns.seconds[:, judges],
        np.where(spoke, columns.losses[:, judges], going.last[:, [place]]),
        going.silent[:, [place]] & ~spoke,
    )


def _that_answer(cases: Cases, columns: _Columns, going: _Going, judges: Judges) -> list[Candidate]:
    """Return each cascade extended by each further judge, which decides all open cases."""
    on, chosen = going.on.astype(np.float64), list(judges)
    spoke = columns.spoke[:, chosen].astype(np.float64)
    lost = going.lost[:, None] + on.T @ (columns.losses[:, chosen] * spoke)
    lost += (on * going.last).T @ (1 - spoke)
    paid = going.paid[:, None] + on.T @ columns.prices[:, chosen]
    paid += cases.final_price * ((on * going.silent).T @ (1 - spoke))
    took = going.took[:, None] + on.T @ columns.seconds[:, chosen]
    new = [[judge not in asked for judge in chosen] for asked in going.asked]
    asked = [(*one, judge) for one in going.asked for judge in chosen if judge not in one]
    sums = (one[np.array(new)] for one in (lost, paid, took))
    return _found(cases, asked, *sums, answers=True)


def _found(
    cases: Cases, asked: list[Judges], lost: Floats, paid: Floats, took: Floats, *, answers: bool
) -> list[Candidate]:
    is_timed = bool(np.isfinite(cases.latency).all())
    seconds = took / len(cases.truth) if is_timed else np.full(len(took), np.nan)
    sums = (
        np.rint(lost).astype(np.int64).tolist(),
        np.rint(paid).astype(np.int64).tolist(),
        seconds.tolist(),
    )
    recipes = (cascade(one, answers=answers) for one in asked)
    return [Candidate(*one) for one in zip(*sums, recipes, strict=True)]


def cascade(asked: Judges, *, answers: bool = True) -> Recipe:
    """Return the recipe of an agreement cascade; with `answers` the last judge decides every case."""
    sets = tuple([asked[:size] for size in range(2, len(asked) + 1)])
    return Recipe(sets, _agreeing(len(asked), answers=answers), AGREEMENT)


@functools.cache
def _agreeing(n_asked: int, *, answers: bool) -> tuple[float, ...]:
    """Return the least share of votes at which each stage answers."""
    least = [agrees_from(size) for size in range(2, n_asked + 1)]
    return (*least[:-1], 0.0) if answers else tuple(least)
