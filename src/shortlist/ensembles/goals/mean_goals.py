"""The goals of a mean of probabilities: log loss or Brier score, and the gains by which the mean decides."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import AUTO
from shortlist._words import any_of, did_you_mean
from shortlist.ensembles.goals.weights import class_weights, sized_weights
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


@dataclass(frozen=True, eq=False)
class MeanGoal:
    """The loss that is minimised, and the gains that decide."""

    kind: str
    """One of :data:`MEAN_LOSSES`."""
    gains: NDArray[np.int64]
    """What being right on a row of each class gains, ``(n_classes,)``: the mean decides for the class with
    the largest product of probability and gain.
    """
    denominator: int
    """Number of rows."""

    @property
    def objective(self) -> Objective:
        """The loss by its name."""
        return Objective(self.kind, Sense.MIN, scale=None)


def mean_goal(
    objective: str | Mapping[Any, float], votes: SoftVotes, *, positive: int | None = None
) -> MeanGoal:
    """Return the loss of an objective, and the gains by which its mean decides.

    Raises BadInputError if the objective is no loss and does not end in ``auto``, or its metric is unknown.

    `objective`: one of :data:`MEAN_LOSSES`, which decides by the largest mean; ``"auto"`` is the log loss,
    and ``"balanced-accuracy+auto"`` decides by what gains most of that metric. `votes`: the rows; the sizes
    of the classes enter balanced accuracy. `positive`: with two classes the index of the positive one;
    default the second.

    >>> from shortlist.ensembles.votes.soft_votes import soft_votes
    >>> votes = soft_votes([[[0.9, 0.1]], [[0.6, 0.4]], [[0.2, 0.8]]], [0, 0, 1])
    >>> goal = mean_goal("balanced-accuracy+auto", votes)
    >>> goal.kind, goal.gains.tolist()
    ('log-loss', [1, 2])
    """
    name = objective.replace("_", "-") if isinstance(objective, str) else ""
    if name not in MEAN_LOSSES and not asks_for_choice(name):
        known = [AUTO, *MEAN_LOSSES, f"METRIC+{AUTO}"]
        raise BadInputError(
            "objective",
            f"must be {any_of(known)} with soft voting, where METRIC is one of votes",
            repr(objective),
            did_you_mean(name, known) or "Pass `voting='averaged'` to choose members by their votes.",
        )
    loss = LOG_LOSS if asks_for_choice(name) else name
    return MeanGoal(loss, decision_gains(soft_metric(name), votes, positive=positive), votes.n_samples)


def decision_gains(
    metric: str | Mapping[Any, float], votes: SoftVotes, *, positive: int | None = None
) -> NDArray[np.int64]:
    """Return what being right on a row of each class gains by a metric of votes, ``(n_classes,)``.

    Raises BadInputError if the metric is unknown, or a wrong decision is worth more than a right one.

    `metric`: a name in :data:`shortlist.ensembles.goals.weights.PRUNING_OBJECTIVES` or
    :data:`shortlist.ensembles.goals.weights.CLASS_OBJECTIVES`, or weights. `votes`, `positive`: as of
    :func:`mean_goal`.
    """
    if votes.n_classes > 2:
        codes = class_votes(votes.labels[:, None], votes.labels, n_classes=votes.n_classes)
        gains = class_weights(metric, codes).gains
        if not isinstance(metric, Mapping):
            # a class that is on none of these rows may be decided too, as one of the rarest that are
            absent = np.bincount(votes.labels, minlength=votes.n_classes) == 0
            gains = np.where(absent, gains.max(), gains)
    else:
        index = 1 if positive is None else positive
        n_positive = int((votes.labels == index).sum())
        weights = sized_weights(metric, n_positive, votes.n_samples - n_positive)
        gains = np.array([weights.gain_negative, weights.gain_positive], dtype=np.int64)
        gains = gains[:: 1 if index else -1].copy()
    if gains.min() < 0 or not gains.any():
        raise BadInputError(
            "weights",
            (
                "must make right decisions worth at least as much as wrong ones, and some worth "
                "more, where probabilities are averaged"
            ),
            repr(metric),
        )
    return gains


def asks_for_choice(objective: str | Mapping[Any, float]) -> bool:
    """Whether an objective is ``auto``, or ends so."""
    return isinstance(objective, str) and (objective == AUTO or objective.endswith(f"+{AUTO}"))


def soft_metric(objective: str | Mapping[Any, float]) -> str | Mapping[Any, float]:
    """Return what decisions are judged by: the part before ``+``, and accuracy for ``auto`` and for losses.

    >>> soft_metric("balanced-accuracy+auto"), soft_metric("log-loss")
    ('balanced-accuracy', 'accuracy')
    """
    if isinstance(objective, Mapping):
        return objective
    first = objective.replace("_", "-").partition("+")[0]
    return "accuracy" if first == AUTO or first in MEAN_LOSSES else first
