"""What is told of two choices on the same held-out rows: a paired difference, its p-value, and a verdict."""

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.special import bdtr

from shortlist.arrays import Floats, Mask
from shortlist.results.intervals import Interval, Z, interval_of_mean, mean_error

CHANCE = 0.05
"""A difference whose p-value is above this may be chance."""

MARGIN = 0.01
"""How much worse still is as good, in the objective: of accuracy one point."""

N_DRAWS = 20_000
"""Random signs of a permutation test."""


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
        n_above = int((rounded > 0).sum())
        return mcnemar_p(n_above, int(counts[0]) - n_above)
    rng = np.random.default_rng(0)
    drawn = np.zeros(N_DRAWS)
    for size, count in zip(sizes, counts.tolist(), strict=True):
        drawn += size * (2 * rng.binomial(count, 0.5, N_DRAWS) - count)
    as_far = np.abs(drawn) >= abs(rounded.sum()) - 1e-6
    return float((1 + as_far.sum()) / (1 + N_DRAWS))


class Kind(StrEnum):
    """What a verdict says of a choice beside the simplest alternative, such as the best single classifier."""

    JUDGE = "judge"
    """The choice is that alternative."""
    UNRIVALLED = "unrivalled"
    """No such alternative keeps the limits."""
    BETTER = "better"
    WORSE = "worse"
    """Beyond chance."""
    AS_GOOD = "as-good"
    """Cheaper, and the interval of the difference says that it is at most the margin worse."""
    CHEAPER = "cheaper"
    """Cheaper, and the interval leaves open how much worse."""
    UNDECIDED = "undecided"
    """Not cheaper; it did better, which may be chance."""
    NO_BETTER = "no-better"

    @property
    def recommended(self) -> bool:
        """Whether to take the choice and not the alternative."""
        return self in {Kind.BETTER, Kind.AS_GOOD, Kind.JUDGE, Kind.UNRIVALLED}


@dataclass(frozen=True)
class Difference:
    """By how much a choice is better than an alternative on the same rows, in the objective.

    `gain`, `interval`: the mean over the rows, and its paired interval at 95 %. `p_value`: two-sided, if the
    signs were chance. `only_first`, `only_second`: rows that only one of them gets right. `n_more`: how many
    more rows would tell the two apart, if the gain stays; None where it is zero or beyond chance.
    """

    gain: float
    interval: Interval
    p_value: float
    only_first: int = 0
    only_second: int = 0
    n_more: int | None = None

    @property
    def within_chance(self) -> bool:
        """Whether the difference may be chance."""
        return self.p_value > CHANCE

    def in_words(self, what: str, scale: float = 1, digits: str = "+.3g") -> str:
        """Say it with its interval, and with p where the interval alone would say otherwise of chance."""
        low, high = self.interval
        p = f", p = {self.p_value:.2g}" if (low > 0 or high < 0) == self.within_chance else ""
        own, least, most = (f"{scale * number:{digits}}" for number in (self.gain, low, high))
        return f"{own} {what} ({least} to {most}{p})"

    def in_points(self, what: str) -> str:
        """Say a difference of shares, such as ``+1.2 points of accuracy (-0.3 to +2.7)``."""
        return self.in_words(f"points of {what}", 100, "+.1f")

    def kind(self, *, cheaper: bool, margin: float = MARGIN) -> Kind:
        """Return what to say of the choice, where neither is the other. `cheaper`: whether it costs less."""
        if not self.within_chance:
            return Kind.BETTER if self.gain > 0 else Kind.WORSE
        if cheaper:
            return Kind.AS_GOOD if self.interval[0] >= -margin else Kind.CHEAPER
        return Kind.UNDECIDED if self.gain > 0 else Kind.NO_BETTER


def difference_of(first: Mask, second: Mask, worth: Floats | None = None) -> Difference:
    """Compare two rules by the rows, ``(n_rows,)``, that each gets right; p is McNemar's exact one.

    `worth`: what a right row adds to the objective, times the number of rows; by default 1, for accuracy.

    >>> told = difference_of(np.array([1, 1, 1, 1, 0], dtype=bool), np.array([0, 0, 0, 1, 1], dtype=bool))
    >>> round(told.gain, 6), told.p_value, told.kind(cheaper=False).value
    (0.4, 0.625, 'undecided')
    """
    gains = first.astype(np.float64) - second
    if worth is not None:
        gains = gains * worth
    most = np.ones(1) if worth is None else np.abs(worth).max(keepdims=True)
    interval, p = interval_of_mean(gains, -most, most), sign_flip_p(gains)
    gain, counts = float(gains.mean()), (int((first & ~second).sum()), int((second & ~first).sum()))
    more = more_rows(gain, mean_error(gains), len(gains)) if p > CHANCE and gain else None
    return Difference(gain, interval, p, *counts, more)


def mcnemar_p(only_first: int, only_second: int) -> float:
    """Return the two-sided p-value of McNemar's exact test: a fair coin parts those rows as unevenly."""
    return min(1.0, 2 * float(bdtr(min(only_first, only_second), only_first + only_second, 0.5)))


def more_rows(gain: float, error: float, n_rows: int) -> int:
    """Return how many more rows make a gain larger than 1.96 of its standard errors, if it stays."""
    return max(1, math.ceil(n_rows * (Z * error / gain) ** 2) - n_rows)
