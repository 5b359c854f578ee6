"""Sums over rows of functions of mean probabilities, as whole numbers and as kernels want them."""

import math

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.averaging._kernels import LOG, SIGMOID, SQUARE, STEP, MeanTerms
from shortlist.ensembles.goals.mean_goals import BRIER, LOG_LOSS, RIGHT, MeanGoal
from shortlist.ensembles.votes.soft_votes import WHOLE, SoftVotes, weighed

DIGITS = 32
"""Worths of rows are rounded to parts of ``2 ** DIGITS``, but gains of right rows, which are whole."""


def mean_terms(votes: SoftVotes, goal: MeanGoal) -> MeanTerms:
    """Return the terms whose sum is to be as large as possible: a loss is taken with minus.

    Parameters
    ----------
    votes : SoftVotes
        The rows.
    goal : MeanGoal
        What is summed up.

    Notes
    -----
    Log loss has a term a row, with the probability of the true class, where less than one part of
    :data:`WHOLE` counts as one part. Brier score has one of that kind with two classes, and with several one
    for every class of a row. Right rows and slopes have a term a row, with a form for each rival of the true
    class: the probability of the true class less that of the rival.
    """
    rows, truth = np.arange(votes.n_samples), votes.labels.astype(np.intp)
    ones = np.ones(votes.n_samples)
    if goal.kind == LOG_LOSS:
        own = np.maximum(votes.shares[rows, :, truth], 1)
        return _terms(own, ones, np.zeros(len(own)), LOG)
    if goal.kind == BRIER and votes.n_classes == 2:
        return _terms(votes.shares[rows, :, truth], ones, ones, SQUARE)
    if goal.kind == BRIER:
        every = votes.shares.transpose(0, 2, 1).reshape(-1, votes.n_classifiers)
        aims = (truth[:, None] == np.arange(votes.n_classes)).astype(np.float64).ravel()
        return _terms(every, np.ones(len(every)), aims, SQUARE)
    gains = goal.gains[truth]
    rows = np.flatnonzero(gains)
    scores = weighed(votes.shares, goal.gains)
    of_row, rivals = np.nonzero(np.arange(votes.n_classes) != truth[rows, None])
    places = rows[of_row]
    differences = scores[places, :, truth[places]] - scores[places, :, rivals]
    aims = (rivals < truth[places]).astype(np.float64)
    kind = STEP if goal.kind == RIGHT else SIGMOID
    return _terms(
        differences, gains[rows].astype(np.float64), aims, kind, slope=goal.slope, n_forms=votes.n_classes - 1
    )


def _terms(
    forms: NDArray[np.int16],
    worth: NDArray[np.float64],
    aims: NDArray[np.float64],
    kind: int,
    *,
    slope: float = 0.0,
    n_forms: int = 1,
) -> MeanTerms:
    starts = n_forms * np.arange(len(worth) + 1, dtype=np.int64)
    return MeanTerms(np.ascontiguousarray(forms.T), starts, worth, aims, kind, slope, float(WHOLE))


def reach_of(terms: MeanTerms, mask: Mask) -> NDArray[np.int64]:
    """Return what the members add to every form, ``(n_forms,)``."""
    return np.asarray(terms.columns[mask].sum(axis=0, dtype=np.int64))


def scale_of(terms: MeanTerms) -> int:
    """Return what worth 1 is as a whole number."""
    return 1 if terms.kind == STEP else 2**DIGITS


def slack_of(terms: MeanTerms) -> int:
    """Return by how much whole totals of equal selections may differ: rounding, twice a part a term."""
    return 0 if terms.kind == STEP else 2 * math.ceil(terms.worth.sum()) + 4


def float_error_of(terms: MeanTerms) -> float:
    """Return by how much sums of floats may be off that stand for whole numbers of gains."""
    return max(1e-6, float(terms.worth.sum()) * len(terms.worth) * 2.0**-51)


def step_of(terms: MeanTerms) -> int:
    """Return what every difference of two totals is a multiple of."""
    if terms.kind != STEP or not len(terms.worth):
        return 1
    return int(np.gcd.reduce(terms.worth.astype(np.int64)))


def total_of(terms: MeanTerms, reach: NDArray[np.int64], size: int) -> int:
    """Return what so many members that reach so much are worth, in whole parts.

    Notes
    -----
    Takes O(n_forms) time.
    """
    if not len(terms.worth):
        return 0
    if terms.kind == STEP:
        right = np.logical_and.reduceat(reach >= terms.aims, terms.starts[:-1])
        return int(terms.worth[right].sum())
    mean = np.minimum.reduceat(reach, terms.starts[:-1]) / (size * terms.whole)
    if terms.kind == LOG:
        worths = np.log(mean)
    elif terms.kind == SQUARE:
        worths = -((mean - terms.aims) ** 2)
    else:
        worths = 1 / (1 + np.exp(-terms.slope * mean / 2))
    parts = np.rint(2**DIGITS * worths).astype(np.int64)
    if terms.worth.sum() < 2**30:
        return int((parts * terms.worth.astype(np.int64)).sum())
    # gains of many digits would leave 64 bits; there are few of them, one for each class
    return sum(int(gain) * int(parts[terms.worth == gain].sum()) for gain in np.unique(terms.worth))
