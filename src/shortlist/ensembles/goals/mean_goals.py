"""What a mean probability is worth: right rows, sigmoids of margins, log loss and Brier score."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_choice
from shortlist.ensembles.goals.weights import (
    CLASS_OBJECTIVES,
    PRUNING_OBJECTIVES,
    class_weights,
    sized_weights,
)
from shortlist.ensembles.votes.class_votes import class_votes
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.errors import BadInputError
from shortlist.results.objective import Objective, Sense

LOG_LOSS, BRIER = "log-loss", "brier"

MEAN_LOSSES = {
    LOG_LOSS: "mean of minus the logarithm of the mean probability of the true class",
    BRIER: "mean squared error of the mean probabilities, of two classes that of one",
}
"""Objectives of mean probabilities that are minimised, and that votes have not."""

RIGHT, SLOPE = "right", "slope"

STEEPEST = 100
"""The largest slope; beyond, a sigmoid counts right rows."""


@dataclass(frozen=True, eq=False)
class MeanGoal:
    """What is summed up over rows, and how the sum is shown."""

    objective: Objective
    """What the value is called, and whether less or more is better."""
    kind: str
    """Gains of right rows, sigmoids of their margins, or one of :data:`MEAN_LOSSES`. One of ``"right"``,
    ``"slope"``, ``"log-loss"``, ``"brier"``.
    """
    slope: float
    """Of the sigmoid; else 0."""
    gains: NDArray[np.int64]
    """What being right on a row of each class gains, at least 0, ``(n_classes,)``; of a loss 1."""
    offset: int
    denominator: int
    """A sum of gains is shown as ``(offset + sum) / denominator``."""


def mean_goal(
    objective: str | Mapping[Any, float], votes: SoftVotes, *, positive: int | None = None
) -> MeanGoal:
    """Return what an objective says of mean probabilities.

    Raises BadInputError if the objective is unknown, or a wrong decision is worth more than a right one.

    `objective`: ``"log-loss"``, ``"brier"``; or what votes have too, perhaps with ``+slope-A``: a name in
    :data:`shortlist.ensembles.goals.weights.PRUNING_OBJECTIVES` or
    :data:`shortlist.ensembles.goals.weights.CLASS_OBJECTIVES`, or weights. `votes`: the rows; the sizes of
    the classes enter balanced accuracy. `positive`: with two classes the index of the positive one; default
    the second.
    """
    name = str(objective).replace("_", "-")
    if name in MEAN_LOSSES:
        ones = np.ones(votes.n_classes, dtype=np.int64)
        return MeanGoal(Objective(name, Sense.MIN, scale=None), name, 0.0, ones, 0, votes.n_samples)
    first, slope = (objective, 0.0) if isinstance(objective, Mapping) else split_slope(name)
    if isinstance(first, str):
        votes_too = PRUNING_OBJECTIVES if votes.n_classes == 2 else CLASS_OBJECTIVES
        as_choice(first, "objective", [*votes_too, *MEAN_LOSSES])
    gains, offset, denominator, kind = _gains(first, votes, positive)
    if gains.min() < 0 or not gains.any():
        raise BadInputError(
            "weights",
            (
                "must make right decisions worth at least as much as wrong ones, and some worth "
                "more, where probabilities are averaged"
            ),
            repr(objective),
        )
    if not slope:
        return MeanGoal(kind, RIGHT, 0.0, gains, offset, denominator)
    of_all = int(gains[votes.labels].sum())
    named = Objective(f"{kind.name}+slope-{slope:g}", Sense.MAX, scale=None)
    return MeanGoal(named, SLOPE, slope, gains, 0, max(1, of_all))


def split_slope(objective: str) -> tuple[str, float]:
    """Split ``"accuracy+slope-8"`` into what right decisions are worth, and the slope of a sigmoid; 0: none.

    Raises BadInputError if something else than ``slope-A`` with A from 0 to 100 stands after the ``+``.

    >>> split_slope("balanced-accuracy+slope-8"), split_slope("accuracy")
    (('balanced-accuracy', 8.0), ('accuracy', 0.0))
    """
    first, plus, second = objective.partition("+")
    if not plus:
        return first, 0.0
    found = re.fullmatch(r"slope[-_](\d+(?:\.\d+)?)", second)
    if found is None or not 0 < float(found[1]) <= STEEPEST:
        raise BadInputError(
            "objective", f"must end in '+slope-A' with A above 0 and at most {STEEPEST}", repr(objective)
        )
    return first, float(found[1])


def _gains(
    objective: str | Mapping[Any, float], votes: SoftVotes, positive: int | None
) -> tuple[NDArray[np.int64], int, int, Objective]:
    """Return what being right gains by class, the sum where all is wrong, the denominator and the name."""
    if votes.n_classes > 2:
        codes = class_votes(votes.labels[:, None], votes.labels, n_classes=votes.n_classes)
        several = class_weights(objective, codes)
        gains = several.gains
        if not isinstance(objective, Mapping):
            # a class that is on none of these rows may be decided too, as one of the rarest that are
            absent = np.bincount(votes.labels, minlength=votes.n_classes) == 0
            gains = np.where(absent, gains.max(), gains)
        return gains, 0, several.denominator, several.objective
    index = 1 if positive is None else positive
    n_positive = int((votes.labels == index).sum())
    n_negative = votes.n_samples - n_positive
    weights = sized_weights(objective, n_positive, n_negative)
    gains = np.array([weights.gain_negative, weights.gain_positive], dtype=np.int64)
    offset = weights.fn * n_positive + weights.fp * n_negative
    return gains[:: 1 if index else -1].copy(), offset, weights.denominator, weights.objective
