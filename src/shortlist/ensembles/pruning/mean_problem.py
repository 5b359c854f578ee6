"""Pruning by the mean of probabilities: the loss, the gains in decisions, and the problem."""

import dataclasses
import functools
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import AUTO
from shortlist._words import any_of, did_you_mean
from shortlist.arrays import Floats, Mask
from shortlist.ensembles.committees.evidence import ClassSelection, PrunedSelection
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.goals.weights import class_weights, sized_weights
from shortlist.ensembles.proofs.certificate import FORMAT, Certificate
from shortlist.ensembles.pruning._tangent_kernels import LOG, SQUARE, MeanTerms
from shortlist.ensembles.votes.hard_votes import class_votes
from shortlist.ensembles.votes.soft_votes import WHOLE, SoftVotes, mean_decisions
from shortlist.errors import BadInputError
from shortlist.results.objective import Objective, Sense

LOG_LOSS, BRIER = "log-loss", "brier"


MEAN_LOSSES = {
    LOG_LOSS: "mean of minus the logarithm of the mean probability of the true class",
    BRIER: "mean squared error of the mean probabilities, of two classes that of one",
}
"""Descriptions of the losses of mean probabilities, by name; votes have no such loss."""


@dataclass(frozen=True, eq=False)
class MeanGoal:
    """Loss to minimise, with the gains by which the mean decides."""

    kind: str
    """Name of the loss, a key of :data:`MEAN_LOSSES`."""
    gains: NDArray[np.int64]
    """Gain of being right on a row of each class, ``(n_classes,)``. The class with the largest product of
    mean probability and gain is the answer.
    """
    denominator: int
    """Number of rows."""

    @property
    def objective(self) -> Objective:
        """The loss as an objective."""
        return Objective(self.kind, Sense.MIN, scale=None)


def mean_goal(
    objective: str | Mapping[Any, float], votes: SoftVotes, *, positive: int | None = None
) -> MeanGoal:
    """Return the loss of an objective, with the gains by which its mean decides.

    Raises BadInputError if the objective is no loss and does not end in ``auto``, or its metric is unknown.

    `objective`: one of :data:`MEAN_LOSSES`, which decides by the largest mean. ``"auto"`` is the log loss;
    ``"balanced-accuracy+auto"`` is the log loss, and the class with the largest expected gain in balanced
    accuracy is decided. `votes`: the rows; balanced accuracy depends on the sizes of the classes. `positive`:
    index of the positive class of two; default the second.

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
    """Return the gain of a right decision on a row of each class, by a metric of votes, ``(n_classes,)``.

    Raises BadInputError if the metric is unknown, or a wrong decision has a larger weight than a right one.

    `metric`: a name in :data:`shortlist.ensembles.goals.weights.PRUNING_OBJECTIVES` or
    :data:`shortlist.ensembles.goals.weights.CLASS_OBJECTIVES`, or weights. `votes`, `positive`: as for
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
    """Return whether an objective is ``auto``, or ends with ``+auto``."""
    return isinstance(objective, str) and (objective == AUTO or objective.endswith(f"+{AUTO}"))


def soft_metric(objective: str | Mapping[Any, float]) -> str | Mapping[Any, float]:
    """Return the metric of decisions of an objective.

    The metric is the part of the name before ``+``, or accuracy for ``auto`` and for losses.

    >>> soft_metric("balanced-accuracy+auto"), soft_metric("log-loss")
    ('balanced-accuracy', 'accuracy')
    """
    if isinstance(objective, Mapping):
        return objective
    first = objective.replace("_", "-").partition("+")[0]
    return "accuracy" if first == AUTO or first in MEAN_LOSSES else first


FEW = 10
"""Number of classifiers per member: ``auto`` takes a tenth of the pool."""

FEWEST = 5
"""Least number of members by ``auto``; from a small pool at most half of the classifiers are taken."""

WHY_FEW = "on other tables, a tenth of the pool chosen by log loss did best"


def few_members(limits: SelectionLimits, n_classifiers: int) -> SelectionLimits:
    """Return limits on size for a tenth of a pool, within the given limits.

    At least five members are allowed, but at most half of a small pool.

    In the study of voting, the best committee of fewer members had a worse mean on new rows, and more than a
    tenth of the pool gave no improvement. If the budget allows fewer than twice a tenth of the pool, counted
    from the cheapest classifier on, the least number of members is half the number allowed, so that a choice
    is left.

    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> [few_members(selection_limits(n), n).max_size for n in (1, 4, 10, 40, 100)]
    [1, 2, 5, 5, 10]
    """
    if limits.conflict():
        return limits
    few = max(-(-n_classifiers // FEW), min(FEWEST, -(-n_classifiers // 2)))
    most = max(limits.min_size, min(few, limits.max_size))
    least = most
    if limits.costs is not None:
        affordable = int((np.cumsum(np.sort(limits.costs)) <= limits.budget).sum())
        least = max(limits.min_size, min(most, affordable // 2), 1)
    return dataclasses.replace(limits, min_size=min(least, most), max_size=most)


SCALE = 2**32
"""Number of parts of 1 in which values of rows are rounded."""


def mean_terms(votes: SoftVotes, goal: MeanGoal) -> MeanTerms:
    """Return the terms of the sum to be maximised, which is the negated loss.

    Log loss has one term for each row, with the probability of the true class; a probability of 0 is raised
    to one part of :data:`WHOLE`. Brier score has one term for each row with two classes, and one term for
    each row and class with several classes.
    """
    rows, truth = np.arange(votes.n_samples), votes.labels.astype(np.intp)
    aims, kind = np.ones(len(rows)), SQUARE
    if goal.kind == LOG_LOSS:
        kind, columns = LOG, np.maximum(votes.shares[rows, :, truth], 1)
    elif votes.n_classes == 2:
        columns = votes.shares[rows, :, truth]
    else:
        columns = votes.shares.transpose(0, 2, 1).reshape(-1, votes.n_classifiers)
        aims = (truth[:, None] == np.arange(votes.n_classes)).astype(np.float64).ravel()
    return MeanTerms(np.ascontiguousarray(columns.T), aims, kind, float(WHOLE))


def total_of(terms: MeanTerms, reach: NDArray[np.int64], size: int) -> int:
    """Return the sum of the terms for given sums over the members, in parts of :data:`SCALE`.

    `reach`, ``(n_terms,)``: sums over the members. `size`: number of members.

    Takes O(n_terms) time.
    """
    mean = reach / (size * terms.whole)
    worths = np.log(mean) if terms.kind == LOG else -((mean - terms.aims) ** 2)
    return int(np.rint(SCALE * worths).astype(np.int64).sum())


class MeanProblem:
    """Pruning by means: probabilities on rows, with the goal and the limits.

    A larger total is always better, as the total of a loss is negated.

    `votes`: validation rows. `goal`: loss to sum up. `limits`: limits on size and cost. An empty selection
    has no mean, so at least one member is required.
    """

    def __init__(self, votes: SoftVotes, goal: MeanGoal, limits: SelectionLimits) -> None:
        self.votes, self.goal, self.limits = votes, goal, limits
        self.terms = mean_terms(votes, goal)
        self.objective, self.n_classifiers = goal.objective, votes.n_classifiers
        # whole totals of equal selections may differ by so much: rounding, twice a part a term
        self.slack = 2 * len(self.terms.aims) + 4
        self.tolerance = self.slack / SCALE / goal.denominator
        columns = self.terms.columns
        # every row with the best classifier for it alone: of all that are to be 1 the largest
        best = np.where(self.terms.aims > 0, columns.max(axis=0), columns.min(axis=0))
        self.first_bound = total_of(self.terms, best.astype(np.int64), 1) + self.slack

    def tally(self, mask: Mask) -> NDArray[np.int64]:
        """Return the sum over the members in every term, ``(n_terms,)``."""
        return np.asarray(self.terms.columns[mask].sum(axis=0, dtype=np.int64))

    def without(self, tally: NDArray[Any], k: int) -> NDArray[Any]:
        """Return the sums in `tally` without the member k, ``(n_terms,)``."""
        return np.asarray(tally - self.terms.columns[k])

    def rate(self, tally: NDArray[Any], size: int) -> tuple[int, int]:
        """Return the total of a selection from its sums and its size, and the threshold, which is always 0.

        The total of an empty selection is below any other total.
        """
        return total_of(self.terms, tally, size) if size else -(2**62), 0

    def value(self, total: int) -> float:
        """Return a total in the user's unit and sign."""
        return -total / SCALE / self.goal.denominator

    def rounded(self, bound: int) -> int:
        """Return the bound unchanged, as every total is possible."""
        return bound

    def whole_bound(self, bound: float) -> int:
        """Return the bound on totals that follows from a bound on the sum of the terms."""
        return math.ceil(bound * SCALE) + self.slack // 4 + 1

    def worth_to_beat(self, total: int) -> float:
        """Return the sum of the terms up to which a bound proves that no selection improves on a total."""
        return (total + self.slack // 4) / SCALE

    def result(self, mask: Mask, threshold: int) -> Callable[..., PrunedSelection]:
        """Return a function that makes the result for these members.

        A threshold below 0 stands for no members.
        """
        n = self.votes.n_classes
        decisions = (
            np.zeros((n, n), dtype=np.int64)
            if threshold < 0
            else mean_decisions(self.votes, mask, self.goal.gains)
        )
        return functools.partial(ClassSelection, mask=mask, decisions=decisions, counted_from="probabilities")


@dataclass(frozen=True, eq=False)
class Tangents:
    """Tangents of all terms, with the bound that they prove for selections of `first` to `last` members."""

    first: int
    last: int
    tilts: Floats
    """Slope of each tangent, in value per part of a probability, ``(n_terms,)``."""
    bound: float
    """Bound that the tangents prove, as a sum of terms."""


def mean_certificate(problem: MeanProblem, mask: Mask, total: int, cover: Sequence[Tangents]) -> Certificate:
    """Return the certificate of a selection, with the tangents that prove a bound.

    Value and bound are totals: negated losses, in parts of 2^32.
    :func:`shortlist.ensembles.verification.recheck_mean_certificate.check_mean_certificate` describes the
    check.
    """
    votes = problem.votes
    digest = hashlib.sha256(f"{votes.n_classifiers},{votes.n_classes};".encode())
    for label, row in zip(votes.labels.tolist(), votes.shares.astype("<i2"), strict=True):
        digest.update(bytes([label]) + row.tobytes())
    return {
        "format": FORMAT,
        "data": digest.hexdigest(),
        **plain_mean_problem(problem.goal, problem.limits),
        "members": np.flatnonzero(mask).tolist(),
        "value": total,
        "bound": max(problem.whole_bound(part.bound) for part in cover),
        "tangents": [
            {"first": part.first, "last": part.last, "tilts": part.tilts.tolist()} for part in cover
        ],
    }


def plain_mean_problem(goal: MeanGoal, limits: SelectionLimits) -> Certificate:
    """Return the fields ``goal`` and ``limits``, which describe the problem of a certificate."""
    return {"goal": {"kind": goal.kind, "gains": goal.gains.tolist()}, "limits": limits.plain()}
