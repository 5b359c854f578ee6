"""What a panel loses on each case by the first objective, and how far the mean of such numbers may be off."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from shortlist.arrays import Floats
from shortlist.guarantees.intervals import Interval, Z, most_unseen
from shortlist.panels.answer_log import AnswerLog
from shortlist.panels.panel_options import ACCURACY, BALANCED, ERROR_COST, RECALL
from shortlist.panels.policy import Outcome
from shortlist.panels.recipes import right_or_wrong

if TYPE_CHECKING:
    from shortlist.panels.choice import PanelChoice

N_DRAWS = 20_000
"""Random signs of a permutation test."""


@dataclass(frozen=True, eq=False)
class Scoring:
    """What every mistake costs under an objective.

    `objective`: ``accuracy``, ``error-cost`` or ``balanced-accuracy``. `losses`: of deciding a class, or
    nothing, the last row, where the second is the truth, ``(n_classes + 1, n_classes)``. For balanced
    accuracy both classes weigh the same on the log at hand.
    """

    objective: str
    losses: Floats

    @property
    def sign(self) -> int:
        """1 where more is better, -1 for a cost."""
        return -1 if self.objective == ERROR_COST else 1

    def of(self, outcome: Outcome, log: AnswerLog) -> Floats:
        """Return what is lost on each case; a person loses nothing."""
        lost = self.losses[log.scored(outcome.codes), log.truth]
        return np.where(outcome.handed_over, 0.0, lost)

    def value(self, loss: float) -> float:
        """Return the objective for a mean loss."""
        return loss if self.sign < 0 else 1 - loss

    def error(self, values: Floats, log: AnswerLog) -> float:
        """Return the standard error of the mean of numbers like these losses, or of differences of them."""
        return mean_error(values, log, by_class=self.objective == BALANCED)

    def interval(self, losses: Floats, log: AnswerLog) -> Interval:
        """Return the interval at 95 % of the objective, from the loss of each case."""
        least, most = self._extremes()
        low, high = interval_of_mean(losses, log, least, most, by_class=self.objective == BALANCED)
        return (low, high) if self.sign < 0 else (1 - high, 1 - low)

    def interval_of_gain(self, gains: Floats, log: AnswerLog) -> Interval:
        """Return the interval at 95 % of the difference in the objective, from what each case loses less."""
        least, most = self._extremes()
        by_class = self.objective == BALANCED
        low, high = interval_of_mean(gains, log, least - most, most - least, by_class=by_class)
        return (low, high) if self.sign > 0 else (-high, -low)

    def _extremes(self) -> tuple[Floats, Floats]:
        """Return the least and the largest loss of cases of each class."""
        least, most = self.losses.min(axis=0), self.losses.max(axis=0)
        if self.objective == BALANCED:
            return least, most
        return least.min(keepdims=True), most.max(keepdims=True)


def scoring_of(choice: "PanelChoice", log: AnswerLog) -> Scoring:
    """Return what mistakes cost on a log under the objectives of a front."""
    first, losses = choice.front.names[0], choice.cases.losses.astype(np.float64)
    if RECALL not in choice.front.names:
        return Scoring(first, losses)
    sizes = np.bincount(log.truth, minlength=2)
    return Scoring(BALANCED, losses * len(log.truth) / (2 * np.maximum(sizes, 1)))


def accuracy_scoring(log: AnswerLog) -> Scoring:
    """Return the scoring by which every mistake counts alike."""
    return Scoring(ACCURACY, right_or_wrong(len(log.classes)).astype(np.float64))


def by_case(values: Floats, groups: NDArray[np.int64] | None) -> Floats:
    """Return the sum of numbers over the rows of each different case, of which all rows have one group."""
    if groups is None:
        return values
    _, places = np.unique(groups, return_inverse=True)
    return np.bincount(places, weights=values).astype(np.float64)


def clustered_error(residuals: Floats, groups: NDArray[np.int64] | None) -> float:
    """Return the standard error of a mean from what the number of each row is above its own.

    It is the linearised one of a ratio (Cochran 1977), and n - 1 divides where no case is there twice.
    """
    sums = by_case(residuals, groups)
    n = len(sums)
    return math.sqrt(float(sums @ sums) * n / max(1, n - 1)) / len(residuals)


def mean_error(values: Floats, log: AnswerLog, *, by_class: bool = False) -> float:
    """Return the standard error of the mean over the rows of a log, whose repeated cases are one sample.

    `values`, ``(n_cases,)``. `by_class`: whether the shares of the classes are taken as given, so that only
    differences within each count.
    """
    strata = log.truth if by_class else np.zeros(len(values), dtype=np.int64)
    means = np.bincount(strata, weights=values) / np.maximum(1, np.bincount(strata))
    return clustered_error(values - means[strata], log.groups)


def interval_of_mean(
    values: Floats, log: AnswerLog, least: Floats, most: Floats, *, by_class: bool = False
) -> Interval:
    """Return the interval at 95 % of the mean of numbers that lie between bounds.

    It is the normal one. Where all numbers are the same, nothing tells how far others are away. So few of all
    cases are others, by :func:`shortlist.guarantees.intervals.most_unseen`, and these lie at the bounds.

    `values`, ``(n_cases,)``. `least`, `most`: the bounds, of the cases of each class where the shares of the
    classes are taken as given, ``(1,)`` or ``(n_classes,)``. `by_class`: as in :func:`mean_error`.
    """
    strata = log.truth if by_class else np.zeros(len(values), dtype=np.int64)
    wide = Z * mean_error(values, log, by_class=by_class)
    low, high = float(values.mean()) - wide, float(values.mean()) + wide
    for stratum in np.unique(strata).tolist():
        here = strata == stratum
        own = values[here]
        if own.min() == own.max():
            n = len(own) if log.groups is None else len(np.unique(log.groups[here]))
            share = float(here.mean()) * most_unseen(n)
            low -= share * float(own[0] - least[stratum])
            high += share * float(most[stratum] - own[0])
    return max(low, float(least[strata].mean())), min(high, float(most[strata].mean()))


def sign_flip_p(sums: Floats) -> float:
    """Return the two-sided p-value of paired differences if the sign of each were chance.

    Differences of one size alone, such as those of right and wrong, have McNemar's exact p-value. For others
    signs are drawn with a fixed seed.

    >>> sign_flip_p(np.array([1.0, 1.0, 1.0, 0.0, -1.0])), sign_flip_p(np.zeros(3))
    (0.625, 1.0)
    """
    rounded = np.round(sums, 9)
    sizes, counts = np.unique(np.abs(rounded[rounded != 0]), return_counts=True)
    if not len(sizes):
        return 1.0
    if len(sizes) == 1:
        return float(binomtest(int((rounded > 0).sum()), int(counts[0])).pvalue)
    rng = np.random.default_rng(0)
    drawn = np.zeros(N_DRAWS)
    for size, count in zip(sizes, counts.tolist(), strict=True):
        drawn += size * (2 * rng.binomial(count, 0.5, N_DRAWS) - count)
    as_far = np.abs(drawn) >= abs(rounded.sum()) - 1e-6
    return float((1 + as_far.sum()) / (1 + N_DRAWS))
