"""What a decision is worth: the weights of the confusion matrix, as exact integers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, any_of, did_you_mean
from shortlist.arrays import Mask
from shortlist.ensembles.votes.binary_votes import Confusion, Votes, tally
from shortlist.errors import BadInputError
from shortlist.exact import as_fraction, as_integers
from shortlist.results.objective import Objective, Sense

WEIGHT_NAMES = ("tp", "fn", "tn", "fp")
"""W_T+, W_F-, W_T- and W_F+ of the paper, by what they weigh."""

PRUNING_OBJECTIVES = {
    "accuracy": "share of right decisions",
    "balanced-accuracy": "mean of the shares of right decisions in the two classes",
    "theta-weighted": "the paper's weights 1 - θ and θ: the same best selections as balanced-accuracy "
    "(Theorem 1)",
    "recall": "share of the positive rows that are found",
    "specificity": "share of the negative rows that are left alone",
}
"""The named objectives."""


@dataclass(frozen=True)
class Weights:
    """Weights of the four kinds of decision: ``value = (tp·TP + fn·FN + tn·TN + fp·FP) / denominator``."""

    objective: Objective
    tp: int
    fn: int
    tn: int
    fp: int
    denominator: int
    slack: ClassVar[int] = 0
    """Weighted sums are exact, and so told apart."""
    tolerance: ClassVar[float] = 0.0
    """The same as a difference of values."""

    @property
    def gain_positive(self) -> int:
        """What a right decision on a positive row adds: W_T+ − W_F-."""
        return self.tp - self.fn

    @property
    def gain_negative(self) -> int:
        """What a right decision on a negative row adds: W_T- − W_F+."""
        return self.tn - self.fp

    def signed_gains(self, votes: Votes) -> NDArray[np.int64]:
        """Return what answering positive instead of negative adds on each row of `votes`."""
        per_sample = np.where(votes.labels == 1, self.gain_positive, -self.gain_negative)
        return np.asarray(per_sample * votes.counts, dtype=np.int64)

    def total(self, counts: Confusion) -> int:
        """Return the weighted sum of Eq. 1 of :cite:t:`Bastos2022` as an exact integer."""
        return (
            self.tp * counts.true_positive
            + self.fn * counts.false_negative
            + self.tn * counts.true_negative
            + self.fp * counts.false_positive
        )

    def value(self, total: int) -> float:
        """Turn a weighted sum into the user's unit."""
        return total / self.denominator

    def floor(self, votes: Votes) -> int:
        """Return the weighted sum when every decision is wrong, to which right decisions add their gain."""
        return self.fn * votes.n_positive + self.fp * votes.n_negative

    def all_negative(self, votes: Votes) -> int:
        """Return the weighted sum of answering negative everywhere."""
        return self.fn * votes.n_positive + self.tn * votes.n_negative

    @property
    def step(self) -> int:
        """Return what every difference of two weighted sums is a multiple of."""
        return math.gcd(self.gain_positive, self.gain_negative) or 1


def named_weights(objective: str | Mapping[str, float], votes: Votes) -> Weights:
    """Return the weights of a named objective on these rows, or explicit ones.

    Parameters
    ----------
    objective : str or mapping
        A name in :data:`PRUNING_OBJECTIVES` (``_`` and ``-`` are the same), or weights per decision by the
        names ``tp``, ``fn``, ``tn``, ``fp``; those left out are 0. Weights of any sign; each must be a
        decimal number.
    votes : Votes
        The rows; class sizes enter ``balanced-accuracy`` and the like.

    Raises
    ------
    BadInputError
        If the name is unknown or a weight is not a finite number, or has too many digits to stay exact.

    Notes
    -----
    Sums are integers below 2^53, so ties and optimality are decided exactly.
    """
    n, n1, n0 = votes.n_samples, votes.n_positive, votes.n_negative
    if isinstance(objective, Mapping):
        return _explicit(objective, n)
    name = str(objective).replace("_", "-")
    parts = {
        "accuracy": (1, 0, 1, 0, n),
        "balanced-accuracy": (n0, 0, n1, 0, 2 * n0 * n1),
        "theta-weighted": (n0, 0, n1, 0, n),
        "recall": (1, 0, 0, 0, n1),
        "specificity": (0, 0, 1, 0, n0),
    }.get(name)
    if parts is None:
        raise BadInputError(
            "objective",
            f"must be {any_of(sorted(PRUNING_OBJECTIVES))}, or weights",
            repr(objective),
            did_you_mean(name, PRUNING_OBJECTIVES),
        )
    return Weights(Objective(name, Sense.MAX, scale=None), *parts)


def threshold_of(tallies: NDArray[np.int64], signed_gains: NDArray[np.int64], size: int) -> tuple[int, int]:
    """Return the best threshold for these votes, and what it adds to answering negative everywhere.

    Among equally good thresholds the one nearest to half the members, then the lower one, is taken.
    """
    per_tally = np.bincount(tallies, weights=signed_gains, minlength=size + 1)  # exact below 2^53
    # with threshold L the rows with more than L votes are positive
    above = per_tally[::-1].cumsum()[::-1]
    gain = np.append(above[1:], 0.0)
    best = np.flatnonzero(gain == gain.max())
    return int(best[np.argmin(np.abs(2 * best - size))]), int(gain.max())


def best_threshold(votes: Votes, weights: Weights, mask: Mask) -> tuple[int, int]:
    """Return the threshold that makes the members in `mask` worth most, and that weighted sum.

    Notes
    -----
    Takes O(n_rows · n_members) time.
    """
    threshold, gain = threshold_of(tally(votes.votes, mask), weights.signed_gains(votes), int(mask.sum()))
    return threshold, gain + weights.all_negative(votes)


def _explicit(weights: Mapping[str, float], n_samples: int) -> Weights:
    unknown = [name for name in weights if name not in WEIGHT_NAMES]
    if unknown or not weights:
        raise BadInputError(
            f"objective weights must be named {any_of(WEIGHT_NAMES)}, got {all_of(map(repr, weights))}."
        )
    integers, denominator = as_integers([exact_weight(name, weights.get(name, 0)) for name in WEIGHT_NAMES])
    if max(map(abs, integers)) * n_samples >= 2**52:
        raise BadInputError(
            f"objective weights must have fewer digits to stay exact, got "
            f"{all_of(f'{name}={weight:g}' for name, weight in weights.items())}. Round them."
        )
    tp, fn, tn, fp = integers
    return Weights(Objective("weighted", Sense.MAX, scale=None), tp, fn, tn, fp, denominator)


def exact_weight(name: object, weight: float) -> Fraction:
    """Read an explicit weight; BadInputError if it is no finite number."""
    exact = as_fraction(weight, only_numbers=True)
    if exact is None:
        raise BadInputError(f"objective weight {name} must be a finite number, got {weight!r}.")
    return exact
