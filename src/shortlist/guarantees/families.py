"""Promises about several points at once, such as those of a front: all that are given hold together.

Learn then test (:cite:t:`Angelopoulos2021`) over the thresholds of all points, as one fixed sequence: the
first true hypothesis in an order that is known before the calibration rows are looked at is rejected with the
error of the demand at most, and none after it is tested unless it was. So with at least the confidence level
every promise that is given holds, whichever of them somebody picks afterwards, and for whatever reason.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.guarantees.guarantee import Guarantee
from shortlist.guarantees.tails import Demand, tail
from shortlist.guarantees.thresholds import AnswerCounts, chances_to_pass

LEAST_PER_CENT = 50
"""What is offered in place of a promise that cannot be made is no less than this."""


class Trial(NamedTuple):
    """The thresholds of a point, and how many rows it answers from each on.

    Attributes
    ----------
    thresholds : ndarray of float, shape (n_thresholds,)
        Found without the calibration rows, the most cautious first.
    chosen, calibration : AnswerCounts
        Of rows that have no part in the tests, and of the calibration rows.
    """

    thresholds: NDArray[np.float64]
    chosen: AnswerCounts
    calibration: AnswerCounts


def promise_each(
    trials: Sequence[Trial], demand: Demand
) -> tuple[tuple[Guarantee, ...], NDArray[np.float64]]:
    """Test all thresholds of all points in one order, and return what is promised about each point.

    The order is that of the right answers that are to be expected under the promise, by what the rows say
    that have no part in the tests: the chance of a threshold to pass, times the share of these rows that it
    answers rightly. The first test that fails ends it. A point gets the least cautious of its thresholds that
    passed.

    Parameters
    ----------
    trials : sequence of Trial
        One for each point, at least one.
    demand : Demand

    Returns
    -------
    guarantees : tuple of Guarantee
        One for each point.
    thresholds : ndarray of float, shape (n_points,)
        That of the promise, or where there is none the one from which on most is to be expected.

    Examples
    --------
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
    answered = np.concatenate([trial.calibration.answered for trial in trials])
    right = np.concatenate([trial.calibration.right for trial in trials])
    order = np.argsort(-np.concatenate(worths), kind="stable")
    passes = tail(answered, answered - right, demand)[order] <= demand.error
    passed = order[: len(order) if passes.all() else int(passes.argmin())]
    last = np.full(len(trials), -1)
    np.maximum.at(last, points[passed], places[passed])
    guarantees, thresholds = [], []
    for trial, place, worth in zip(trials, last.tolist(), worths, strict=True):
        counts = trial.calibration
        if place >= 0:
            kept = (
                float(trial.thresholds[place]),
                n_rows,
                int(counts.answered[place]),
                int(counts.right[place]),
            )
        else:
            kept = np.inf, n_rows, 0, 0
        guarantees.append(Guarantee(demand.accuracy, demand.confidence_level, *kept))
        thresholds.append(trial.thresholds[place if place >= 0 else int(worth.argmax())])
    return tuple(guarantees), np.array(thresholds)


def most_that_holds(trials: Sequence[Trial], demand: Demand) -> Guarantee | None:
    """Return what could have been promised instead: the most accurate, in whole per cent, of any point.

    Of several points the one with the most right answers among the calibration rows. None where not even
    :data:`LEAST_PER_CENT` could.

    Parameters
    ----------
    trials : sequence of Trial
    demand : Demand
        Which none of the points keeps.
    """
    for per_cent in range(int(np.ceil(100 * demand.accuracy - 1e-9)) - 1, LEAST_PER_CENT - 1, -1):
        guarantees, _ = promise_each(trials, demand._replace(accuracy=per_cent / 100))
        kept = [one for one in guarantees if one.promised]
        if kept:
            return max(kept, key=lambda one: one.n_right)
    return None
