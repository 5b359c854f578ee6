"""Source of a committee's probabilities, and its calibration on the selection rows."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.ensembles.committees.committee import (
    CALIBRATED_MEAN,
    CALIBRATED_SHARES,
    CROSS_VALIDATED,
    MEAN,
    SHARES,
    Committee,
)
from shortlist.ensembles.pools.answers import gives_probabilities
from shortlist.ensembles.pools.pool import CrossFittedPool, Pool, out_of_fold
from shortlist.ensembles.votes.soft_votes import Calibration, fitted_factors, fitted_power
from shortlist.tables.splits import deal_classes

CHOOSING_FOLDS = 5

Fit = Callable[[Floats, NDArray[np.integer]], Calibration]

_SCORED_BY: Mapping[str, tuple[str, Fit | None]] = {
    MEAN: (MEAN, None),
    CALIBRATED_MEAN: (MEAN, fitted_factors),
    CALIBRATED_SHARES: (SHARES, fitted_power),
    SHARES: (SHARES, None),
}
"""Scores that each source makes probabilities of, and its fit."""


class FittedSource(NamedTuple):
    """A source, what was fitted for it, and the log loss of each source in folds, where folds chose it."""

    source: str
    calibration: Calibration | None
    losses: Mapping[str, float]


def fitted_source(
    wanted: str, score: Callable[[str], Floats], labels: NDArray[np.integer], *, averages: bool, seed: int
) -> FittedSource:
    """Fit where probabilities come from, on rows that fitted no member.

    `wanted`: one of :data:`shortlist.ensembles.committees.committee.PROBABILITY_SOURCES` but ``auto``.
    `score`: returns the scores of the classes on the rows, ``(n_rows, n_classes)``, for :data:`MEAN` or
    :data:`SHARES`. `labels`: index of the true class, ``(n_rows,)``. `averages`: whether every member gives
    probabilities, so that means can be compared too. `seed`: deals the rows to folds.
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


def fit_probabilities(
    committee: Committee,
    as_chosen: Pool | CrossFittedPool,
    X: Any,
    truth: NDArray[np.integer],
    *,
    source: str,
    seed: int = 0,
) -> FittedSource:
    """Return the source of probabilities, and its calibration, fitted on the selection rows.

    Raises BadInputError if means are requested and a member gives no probabilities.

    `as_chosen`: its members as they were chosen, who answer these rows. `X`: the selection rows,
    ``(n_recorded, n_features)``. `truth`: places of their classes, ``(n_recorded,)``. `source`: what
    probabilities may be, but ``auto``. `seed`: of the folds where cross-validation chooses.
    """

    def score(of: str) -> NDArray[np.float64]:
        return out_of_fold(
            as_chosen, X, lambda members, rows: committee.with_members(members).scores(rows, of)
        )

    return fitted_source(source, score, truth, averages=gives_probabilities(committee.members), seed=seed)
