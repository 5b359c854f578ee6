"""Where the probabilities of a committee come from, and which of these the rows that prune find best."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.ensembles.votes.calibration import Calibration, fitted_factors, fitted_power
from shortlist.tables.splits import deal_classes

AUTO = "auto"
"""What leaves a choice to the estimator."""

MEAN, CALIBRATED_MEAN = "mean", "calibrated-mean"
"""The mean of the members' own probabilities; the same, times a factor for each class."""

SHARES, CALIBRATED_SHARES = "shares", "calibrated-shares"
"""Shares of votes, with one vote more for each class; a power of these."""

CROSS_VALIDATED = "cross-validated"
"""Whichever of the four has the least log loss in folds of the rows that prune."""

PROBABILITY_SOURCES = (AUTO, MEAN, CALIBRATED_MEAN, SHARES, CALIBRATED_SHARES, CROSS_VALIDATED)
"""What the estimators take; ``auto`` goes by what decides."""

MEANS = (MEAN, CALIBRATED_MEAN)
"""Those that need probabilities of every member."""

CHOOSING_FOLDS = 5

Fit = Callable[[Floats, NDArray[np.integer]], Calibration]

_SCORED_BY: Mapping[str, tuple[str, Fit | None]] = {
    MEAN: (MEAN, None),
    CALIBRATED_MEAN: (MEAN, fitted_factors),
    CALIBRATED_SHARES: (SHARES, fitted_power),
    SHARES: (SHARES, None),
}
"""What each source makes probabilities of, and how it is fitted."""


class FittedSource(NamedTuple):
    """A source, what was fitted for it, and the log loss of each source in folds, where folds chose it."""

    source: str
    calibration: Calibration | None
    losses: Mapping[str, float]


def fitted_source(
    wanted: str, score: Callable[[str], Floats], labels: NDArray[np.integer], *, averages: bool, seed: int
) -> FittedSource:
    """Fit where probabilities come from, on rows that fitted no member.

    Parameters
    ----------
    wanted : str
        One of :data:`PROBABILITY_SOURCES` but ``auto``.
    score : callable
        Returns the scores of the classes on the rows, ``(n_rows, n_classes)``, for :data:`MEAN` or
        :data:`SHARES`.
    labels : ndarray of int, shape (n_rows,)
        Index of the true class.
    averages : bool
        Whether every member gives probabilities, so that means can be compared too.
    seed : int
        Deals the rows to folds.
    """
    if wanted != CROSS_VALIDATED:
        scored_by, fit = _SCORED_BY[wanted]
        return FittedSource(wanted, None if fit is None else fit(score(scored_by), labels), {})
    sources = [name for name, (scored_by, _) in _SCORED_BY.items() if averages or scored_by == SHARES]
    scores = {
        scored_by: score(scored_by) for scored_by in dict.fromkeys(_SCORED_BY[name][0] for name in sources)
    }
    losses = {name: loss_in_folds(name, scores[_SCORED_BY[name][0]], labels, seed) for name in sources}
    best = min(losses, key=losses.__getitem__)  # the first of equals
    scored_by, fit = _SCORED_BY[best]
    return FittedSource(best, None if fit is None else fit(scores[scored_by], labels), losses)


def loss_in_folds(source: str, scores: Floats, labels: NDArray[np.integer], seed: int) -> float:
    """Return the mean log loss of a source on rows that are left out in turn when it is fitted.

    Fewer rows than folds fit nothing: infinite, where something has to be fitted.
    """
    from sklearn.metrics import log_loss

    _, fit = _SCORED_BY[source]
    found = scores
    if fit is not None:
        if len(labels) < CHOOSING_FOLDS:
            return math.inf
        found = np.empty_like(scores)
        fold_of = deal_classes(labels, CHOOSING_FOLDS, np.random.default_rng(seed))
        for fold in range(CHOOSING_FOLDS):
            held = fold_of == fold
            found[held] = fit(scores[~held], labels[~held]).of(scores[held])
    return float(log_loss(labels, found, labels=np.arange(scores.shape[1])))
