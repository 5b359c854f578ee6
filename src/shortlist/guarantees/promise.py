"""Search for the least cautious threshold with enough right answers, by tests in a fixed sequence.

Learn then test (:cite:t:`Angelopoulos2021`): the hypothesis of each threshold is that too many of its answers
are wrong. The thresholds and their order come from rows outside the tests. So the probability that the first
true hypothesis is rejected is at most the error of the demand. The sequence ends at the first hypothesis that
is not rejected. The score need neither be calibrated nor order rows well.

The p-value of a test is `tail` of guarantee.py. Stages call :func:`promise_each` from
multistage/predict/stage_answers.py; panels order their own tests in panels/promises.py.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, gammaln

from shortlist.arrays import Floats
from shortlist.guarantees._kernels import count_stages
from shortlist.guarantees.guarantee import Demand, Guarantee, most_wrong_up_to, tail

MOST_THRESHOLDS = 50
"""Approximate largest number of thresholds; neighbours are at least 2 % of the rows apart."""
SAME_SCORE = 1e-9
"""Difference below which two scores are equal; a sum of the same numbers in another order differs by less."""
WORSE = 1.5
"""Factor from the share of wrong answers on the rows that choose to the share on new rows.

The factor is used for the choice of the first threshold. It changes how many rows are answered, never whether
the promise holds.
"""
NEAR_BEST = 0.9
"""Share of the best chance to pass; the first tested threshold is the most cautious one that has this share.
"""


class AnswerCounts(NamedTuple):
    """Numbers of cases answered, and answered rightly, at each threshold, ``(n_thresholds,)``.

    `n_rows`: number of cases, answered or not. `price`: summed price of the reached stages over all cases.
    """

    n_rows: int
    answered: NDArray[np.int64]
    right: NDArray[np.int64]
    price: NDArray[np.int64] = np.zeros(0, dtype=np.int64)


def count_answers(
    scores: Sequence[Floats] | Floats,
    right: Sequence[NDArray[Any]] | NDArray[Any],
    thresholds: Floats,
    prices: Sequence[NDArray[np.int64]] | NDArray[np.int64] | None = None,
) -> AnswerCounts:
    """Return the counts at each threshold: a case ends at the first stage whose confidence reaches it.

    Takes n_stages · n_cases · log(n_thresholds) steps.

    `scores`: confidence of each stage's answer, -1 without an answer. `right`: whether each stage's answer is
    right. `prices`: price of each stage, by default 0. Each of these has an array ``(n_cases,)`` for each
    stage. `thresholds`: falling, at least 0.

    >>> first, second = np.array([0.9, 0.4, -1.0]), np.array([0.2, 0.7, 0.6])
    >>> told = count_answers([first, second], [first > 0.5, second > 0.5], np.array([0.65, 0.0]))
    >>> told.answered.tolist(), told.right.tolist()
    ([2, 3], [2, 2])
    """
    own = np.ascontiguousarray(scores, dtype=np.float64)
    costs = np.ascontiguousarray(np.zeros(own.shape) if prices is None else prices, dtype=np.int64)
    counts = np.empty((3, len(thresholds)), dtype=np.int64)
    count_stages(own, np.ascontiguousarray(right, dtype=bool), costs, thresholds, counts)
    return AnswerCounts(own.shape[1], *counts)


def possible_thresholds(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return thresholds between scores, the most cautious first; the last threshold, 0, answers every row.

    A threshold lies in the middle between two scores that are more than :data:`SAME_SCORE` apart, so that
    rounding of a score decides nothing.

    `scores`, ``(n_rows,)``: confidence of the answer to each row, at least 0, on rows outside the tests.

    >>> possible_thresholds(np.array([0.5, 0.75, 1.0])).tolist()
    [0.875, 0.625, 0.0]
    """
    values, counts = np.unique(scores, return_counts=True)
    if not len(values):
        return np.zeros(1)
    starts = np.flatnonzero(np.append(True, np.diff(values) > SAME_SCORE))
    lowest, highest = values[starts], values[np.append(starts[1:], len(values)) - 1]
    above = np.cumsum(np.add.reduceat(counts, starts)[::-1])
    middles = np.append(((lowest[1:] + highest[:-1]) / 2)[::-1], 0.0)
    fewest, kept = -(-len(scores) // MOST_THRESHOLDS), list[int]()
    place = int(np.searchsorted(above, fewest))
    while place < len(middles) - 1:
        kept.append(place)
        place = int(np.searchsorted(above, above[place] + fewest))
    return np.asarray(middles[[*kept, len(middles) - 1]])


def first_to_try(chosen: AnswerCounts, n_calibration: int, demand: Demand) -> int:
    """Return the index of the first tested threshold: the most cautious one with nearly the best chance.

    A too cautious threshold answers too few rows to pass, and the sequence then ends with its first test.
    """
    chances = chances_to_pass(chosen, n_calibration, demand)
    return int(np.flatnonzero(chances >= NEAR_BEST * chances.max())[0])


def chances_to_pass(chosen: AnswerCounts, n_calibration: int, demand: Demand) -> NDArray[np.float64]:
    """Return the probability that the test of each threshold passes, ``(n_thresholds,)``.

    The share of wrong answers is assumed to be :data:`WORSE` times the share on the rows outside the tests.
    The parameters are as in :func:`first_to_try`.
    """
    wrong = np.minimum(1.0, WORSE * (chosen.answered - chosen.right + 1) / (chosen.answered + 2))
    expected = chosen.answered * n_calibration // max(1, chosen.n_rows)
    most = most_wrong_up_to(int(expected.max(initial=0)), demand)[expected]
    return np.asarray(np.where(most < 0, 0.0, bdtr(np.maximum(most, 0), np.maximum(expected, 1), wrong)))


def promise(
    thresholds: NDArray[np.float64], chosen: AnswerCounts, calibration: AnswerCounts, demand: Demand
) -> Guarantee:
    """Return the guarantee of the last threshold that passes; tests are in order and end at a failure.

    `thresholds`, ``(n_thresholds,)``: found without the calibration rows, the most cautious first. `chosen`:
    counts on rows outside the tests. `calibration`: counts on the calibration rows.

    >>> few = AnswerCounts(100, np.array([40, 60, 100]), np.array([40, 59, 80]))
    >>> promise(np.array([0.9, 0.8, 0.0]), few, few, Demand(0.9, 0.95)).threshold
    0.8
    """
    places = range(first_to_try(chosen, calibration.n_rows, demand), len(thresholds))
    passed = passing(p_values(calibration, demand), [places], demand.error)
    return guarantee_from(thresholds, calibration, passed[-1] if passed else -1, demand)


def p_values(calibration: AnswerCounts, demand: Demand) -> NDArray[np.float64]:
    """Return the p-value of "too many answers are wrong" at each threshold, ``(n_thresholds,)``."""
    return tail(calibration.answered, calibration.answered - calibration.right, demand)


def guarantee_from(
    thresholds: NDArray[np.float64], counts: AnswerCounts, place: int, demand: Demand
) -> Guarantee:
    """Return the guarantee of the threshold with index `place`; -1 means that no threshold passed."""
    if place < 0:
        return Guarantee(*demand, np.inf, counts.n_rows, 0, 0)
    n_answered, n_right = int(counts.answered[place]), int(counts.right[place])
    return Guarantee(*demand, float(thresholds[place]), counts.n_rows, n_answered, n_right)


LEAST_PER_CENT = 50
"""Least share of right answers, in per cent, offered in place of an impossible promise."""


class Trial(NamedTuple):
    """Thresholds of a point, with the counts of answered rows at each threshold."""

    thresholds: NDArray[np.float64]
    """Thresholds found without the calibration rows, the most cautious first, ``(n_thresholds,)``."""
    chosen: AnswerCounts
    calibration: AnswerCounts
    """Counts on the rows outside the tests (`chosen`), and on the calibration rows (`calibration`)."""


def promise_each(
    trials: Sequence[Trial], demand: Demand
) -> tuple[tuple[Guarantee, ...], NDArray[np.float64]]:
    """Return the guarantee of each point, after tests of all thresholds of all points in one order.

    The order is by the number of right answers expected under the promise: the chance of a threshold to pass,
    times the share of rows answered rightly at the threshold. Chance and share are estimated on rows outside
    the tests. The first failed test ends all tests. A point gets its least cautious threshold that passed.

    `guarantees`, which it returns: one for each point. `thresholds`, which it returns, ``(n_points,)``:
    threshold of the promise; without a promise the most promising threshold.

    >>> few = AnswerCounts(100, np.array([40, 60, 100]), np.array([40, 59, 80]))
    >>> trial = Trial(np.array([0.9, 0.8, 0.0]), few, few)
    >>> promise_each([trial, trial], Demand(0.9, 0.95))[1].tolist()
    [0.8, 0.8]
    """
    n_rows = trials[0].calibration.n_rows
    worths = [
        chances_to_pass(trial.chosen, n_rows, demand) * trial.chosen.right / max(1, trial.chosen.n_rows)
        for trial in trials
    ]
    points = np.repeat(np.arange(len(trials)), [len(worth) for worth in worths])
    places = np.concatenate([np.arange(len(worth)) for worth in worths])
    told = np.concatenate([p_values(trial.calibration, demand) for trial in trials])
    passed = passing(told, [np.argsort(-np.concatenate(worths), kind="stable").tolist()], demand.error)
    last = np.full(len(trials), -1)
    np.maximum.at(last, points[passed], places[passed])
    guarantees, thresholds = [], []
    for trial, place, worth in zip(trials, last.tolist(), worths, strict=True):
        guarantees.append(guarantee_from(trial.thresholds, trial.calibration, place, demand))
        thresholds.append(trial.thresholds[place if place >= 0 else int(worth.argmax())])
    return tuple(guarantees), np.array(thresholds)


def most_that_holds(promised: Callable[[Demand], Iterable[Guarantee]], demand: Demand) -> Guarantee | None:
    """Return the largest promise that holds for any point in place of the request, in whole per cent.

    If the promise holds for several points, the guarantee of the point with the most right answers among the
    calibration rows is returned. None if not even :data:`LEAST_PER_CENT` can be promised. `promised`:
    function from a demand to the guarantees of the points.
    """
    for per_cent in range(int(np.ceil(100 * demand.accuracy - 1e-9)) - 1, LEAST_PER_CENT - 1, -1):
        kept = [one for one in promised(demand._replace(accuracy=per_cent / 100)) if one.promised]
        if kept:
            return max(kept, key=lambda one: one.n_right)
    return None


def passing(
    p_values: NDArray[np.float64], chains: Sequence[Sequence[int]], error: float, *, lives: int = 1
) -> list[int]:
    """Return the indices of rejected hypotheses; a true one is among them with probability at most `error`.

    The chains are tested one after another. Each chain has an equal share of the error, plus the rest of the
    chain before. A chain tests its hypotheses in order, each at its error divided by `lives`, and ends at
    failure number `lives`. The rest of a chain is its error times the share of its lives that remain.

    `p_values`, ``(n_hypotheses,)``: each valid by itself, under any dependence. `chains`: indices of
    hypotheses, each in at most one chain; all orders are fixed without the p-values.

    Notes
    -----
    With one chain and one life this is the fixed sequence, with one hypothesis a chain the fallback procedure
    (Wiens 2003), and with more lives a sequence that goes on after failures (Qiu, Guo and Lynch 2015).

    Proof. Call a hypothesis null if it is true, let chain c have n(c) nulls, k be `lives`, and a(c) the share
    of the error of chain c. As long as no null has been rejected, every null that was tested has taken a
    life. So a chain that ends alive, and thus has tested all its nulls, leaves at most 1 - n(c) / k of its
    error, and one that is dead leaves nothing. Hence the error of chain c is at most D(c), where D(1) = a(1)
    and D(c + 1) = a(c + 1) + D(c) (1 - min(1, n(c) / k)). The first null that is rejected in chain c is one
    of its first k nulls, as those before it took lives, and its p-value is at most D(c) / k. So a null is
    rejected with probability at most the sum of D(c) min(1, n(c) / k) over all chains. Each term is
    D(c) - D(c + 1) + a(c + 1), so the sum is at most that of all a(c), the error.

    Examples
    --------
    >>> passing(np.array([0.01, 0.2, 0.02, 0.01]), [[0, 1, 2, 3]], 0.05)
    [0]
    >>> passing(np.array([0.01, 0.2, 0.02, 0.01]), [[0, 1, 2, 3]], 0.05, lives=2)
    [0, 2, 3]
    >>> passing(np.array([0.02, 0.04]), [[0], [1]], 0.05)
    [0, 1]
    """
    passed, left = list[int](), 0.0
    for chain in chains:
        own = left + error / len(chains)
        n_left = lives
        for place in chain:
            if p_values[place] <= own / lives:
                passed.append(place)
            else:
                n_left -= 1
                if not n_left:
                    break
        left = own * n_left / lives
    return passed


def chances(
    answered: NDArray[np.int64],
    wrong: NDArray[np.int64],
    share: float,
    demand: Demand,
    *,
    usual: NDArray[np.float64] | None = None,
    weight: float = 0.0,
) -> NDArray[np.float64]:
    """Return the probability that each test of a promise passes, by rows outside the tests.

    The share of wrong answers has the beta distribution with the parameters 1 + wrong and 1 + right, from an
    even prior. The number of wrong answers among the expected number of calibration rows is then
    beta-binomial.

    `answered`, `wrong`, ``(n_tests,)``: counts on the rows that choose. `share`: number of calibration rows
    per row that chooses. `demand`: with the error of one test. `usual`, ``(n_tests,)``: share of wrong
    answers in tests of the same kind; `weight`: number of further answers in the prior, with the share
    `usual` of wrong answers.

    >>> chances(np.array([100, 100, 10]), np.array([0, 5, 0]), 1.0, Demand(0.9, 0.95)).round(2).tolist()
    [0.97, 0.38, 0.0]
    """
    expected = np.rint(answered * share).astype(np.int64)
    most = most_wrong_up_to(int(expected.max(initial=0)), demand)[expected]
    found = np.zeros(len(answered))
    more_wrong = 1.0 + weight * (np.zeros(len(answered)) if usual is None else usual)
    more_right = 2.0 + weight - more_wrong
    for n_wrong in range(int(most.max(initial=-1)) + 1):
        here = np.flatnonzero(most >= n_wrong)
        n, k = expected[here], float(n_wrong)
        a, b = more_wrong[here] + wrong[here], more_right[here] + answered[here] - wrong[here]
        ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        with_wrong = gammaln(k + a) + gammaln(n - k + b) - gammaln(n + a + b)
        found[here] += np.exp(ways + with_wrong + gammaln(a + b) - gammaln(a) - gammaln(b))
    return np.minimum(found, 1.0)
