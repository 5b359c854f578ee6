"""Intervals at 95 % of shares and means over held-out rows, paired differences, and verdicts.

Committees, stages and panels share these functions, so that a figure has the same interval everywhere.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, ndtr, ndtri, stdtrit

from shortlist.arrays import Floats, Mask

CONFIDENCE = 0.95
"""Confidence level of all intervals."""

Z = float(ndtri(0.5 + CONFIDENCE / 2))
"""Half-width of a normal interval at the level :data:`CONFIDENCE`, in standard errors."""

Interval = tuple[float, float]
"""Lower and upper end of an interval."""


def with_interval(value: float, interval: Interval, digits: str = ".4g", ends: str = ".3g") -> str:
    """Return a number and its interval in words; large numbers are written as integers.

    >>> with_interval(0.925, (0.9071, 0.9399)), with_interval(1202.5, (1190.2, 1215.0))
    ('0.925 (0.907 to 0.94)', '1202 (1190 to 1215)')
    """
    numbers = zip((value, *interval), (digits, ends, ends), strict=True)
    own, low, high = (f"{one:.0f}" if "e+" in f"{one:{form}}" else f"{one:{form}}" for one, form in numbers)
    return f"{own} ({low} to {high})"


def wilson_interval(n_right: float, n_rows: float) -> Interval:
    """Return Wilson's score interval (1927) of a share, at 95 %.

    `n_right`, `n_rows`: number of right rows, and of all rows; the numbers may be fractions if several rows
    are one case.

    >>> [round(end, 3) for end in wilson_interval(9, 10)]
    [0.596, 0.982]
    """
    share = n_right / n_rows
    middle = share + Z**2 / (2 * n_rows)
    half = Z * math.sqrt(share * (1 - share) / n_rows + Z**2 / (4 * n_rows**2))
    shrink = 1 + Z**2 / n_rows
    low = 0.0 if n_right == 0 else (middle - half) / shrink
    high = 1.0 if n_right == n_rows else (middle + half) / shrink
    return low, high


def mean_share_interval(n_right: Sequence[float], n_rows: Sequence[float]) -> Interval:
    """Return the interval, at 95 %, of the mean of independent shares, such as the recalls of classes.

    The method is to square and add (Newcombe, 1998; MOVER of Zou and Donner, 2008). The distances of the
    shares from the lower ends of their Wilson intervals are squared and added. The root of this sum, divided
    by the number of shares, is the distance of the mean from its lower end; upper ends are treated alike.

    `n_right`, `n_rows`: numbers by class; every class has at least one row.

    >>> [round(end, 3) for end in mean_share_interval([9, 45], [10, 50])]
    [0.738, 0.95]
    """
    shares = [right / rows for right, rows in zip(n_right, n_rows, strict=True)]
    ends = [wilson_interval(right, rows) for right, rows in zip(n_right, n_rows, strict=True)]
    mean = sum(shares) / len(shares)
    below = math.hypot(*(share - low for share, (low, _) in zip(shares, ends, strict=True))) / len(shares)
    above = math.hypot(*(high - share for share, (_, high) in zip(shares, ends, strict=True))) / len(shares)
    return mean - below, mean + above


def most_unseen(n_rows: int) -> float:
    """Return the largest share, at 95 %, that rows missing from a sample of `n_rows` may have.

    The share is the upper end of the exact interval of :cite:t:`Clopper1934`, about 3.7 / n_rows.

    >>> round(most_unseen(100), 4)
    0.0362
    """
    return 1 - float(((1 - CONFIDENCE) / 2) ** (1 / n_rows))


def by_case(values: Floats, groups: NDArray[np.int64] | None) -> Floats:
    """Return the sum of numbers per case; rows with equal entries in `groups` are one case."""
    if groups is None:
        return values
    _, places = np.unique(groups, return_inverse=True)
    return np.bincount(places, weights=values).astype(np.float64)


def clustered_error(residuals: Floats, groups: NDArray[np.int64] | None) -> float:
    """Return the standard error of a mean from residuals, each row's difference from its expectation.

    The error is the linearised standard error of a ratio (Cochran 1977); if no case repeats, the divisor is n
    - 1.
    """
    sums = by_case(residuals, groups)
    n = len(sums)
    return math.sqrt(float(sums @ sums) * n / max(1, n - 1)) / len(residuals)


def mean_error(
    values: Floats, strata: NDArray[np.int64] | None = None, groups: NDArray[np.int64] | None = None
) -> float:
    """Return the standard error of a mean over rows; rows of one group are one sample.

    `values`, ``(n_rows,)``: numbers of the rows. `strata`: class of each row, where the shares of the classes
    count as known; then only differences within a class count. `groups`: group of each row.
    """
    own = np.zeros(len(values), dtype=np.int64) if strata is None else strata
    means = np.bincount(own, weights=values) / np.maximum(1, np.bincount(own))
    return clustered_error(values - means[own], groups)


def interval_of_mean(
    values: Floats,
    least: Floats,
    most: Floats,
    *,
    strata: NDArray[np.int64] | None = None,
    groups: NDArray[np.int64] | None = None,
    times: int = 1,
) -> Interval:
    """Return the interval, at 95 %, of the mean of bounded numbers.

    The interval is the normal one. If all numbers are equal, their variation is unknown: then the share
    :func:`most_unseen` of all rows is assumed to lie at the bounds.

    Prices of stages (multistage/predict/stage_answers.py) and of panels (panels/figures.py) have this
    interval. A panel without hold-out cases takes the wider of this interval and :func:`interval_over_folds`.

    `least`, `most`: the bounds of all rows, ``(1,)``, or of the rows of each class, ``(n_classes,)``.
    `strata`, `groups`: as in :func:`mean_error`. `times`: number of values of each row.
    """
    own = np.zeros(len(values), dtype=np.int64) if strata is None else strata
    wide = Z * math.sqrt(times) * mean_error(values, own, groups)
    low, high = float(values.mean()) - wide, float(values.mean()) + wide
    for stratum in np.unique(own).tolist():
        here = own == stratum
        some = values[here]
        if some.min() == some.max():
            n = len(some) // times if groups is None else len(np.unique(groups[here]))
            share = float(here.mean()) * most_unseen(n)
            low -= share * float(some[0] - least[stratum])
            high += share * float(most[stratum] - some[0])
    return max(low, float(least[own].mean())), min(high, float(most[own].mean()))


def interval_over_folds(values: Floats, folds: NDArray[np.int64]) -> Interval:
    """Return the interval, at 95 %, of a mean, from the variation between folds.

    The interval is that of Student's t over the means of the folds, around the mean of all numbers. The model
    of each fold was fitted without the fold's rows. The variation between these models stands for the
    variation on new cases.

    `values`, ``(n_rows,)``: numbers. `folds`, ``(n_rows,)``: fold of each number; there are at least two
    folds.

    >>> low, high = interval_over_folds(np.array([1.0, 3.0, 2.0, 2.0]), np.array([0, 1, 2, 2]))
    >>> round(low, 2), round(high, 2)
    (-0.48, 4.48)
    """
    means = np.array([values[folds == fold].mean() for fold in np.unique(folds)])
    n_folds, mean = len(means), float(values.mean())
    wide = float(stdtrit(n_folds - 1, 0.5 + CONFIDENCE / 2) * means.std(ddof=1) / math.sqrt(n_folds))
    return mean - wide, mean + wide


CHANCE = 0.05
"""P-value above which chance may explain a difference."""

MARGIN = 0.01
"""Margin in the objective within which a worse value counts as good as the other; for accuracy, one point."""

N_DRAWS = 20_000
"""Number of random sign vectors in a permutation test."""


def sign_flip_p(sums: Floats) -> float:
    """Return the two-sided p-value of paired differences under random signs.

    If all differences other than 0 have the same size, such as differences of right and wrong, the p-value is
    McNemar's exact one. Otherwise signs are drawn with a fixed seed.

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
    """Verdict on a choice against the simplest alternative, such as the best single classifier."""

    JUDGE = "judge"
    """The choice is the simplest alternative itself."""
    UNRIVALLED = "unrivalled"
    """No alternative keeps the limits."""
    BETTER = "better"
    WORSE = "worse"
    """The choice is worse, beyond chance."""
    AS_GOOD = "as-good"
    """The choice is cheaper, and by the interval at most the margin worse."""
    CHEAPER = "cheaper"
    """The choice is cheaper, and by the interval it may be more than the margin worse."""
    UNDECIDED = "undecided"
    """The choice is not cheaper, and chance may explain its advantage."""
    NO_BETTER = "no-better"

    @property
    def recommended(self) -> bool:
        """Whether the choice is recommended, and not the alternative."""
        return self in {Kind.BETTER, Kind.AS_GOOD, Kind.JUDGE, Kind.UNRIVALLED}


@dataclass(frozen=True)
class Difference:
    """Advantage of a choice over an alternative on the same rows, in the objective.

    `gain`, `interval`: mean over the rows, and its paired interval at 95 %. `p_value`: two-sided p-value
    under random signs. `only_first`, `only_second`: number of rows that only the choice, or only the
    alternative, answers right. `n_more`: number of further rows that would decide, if the gain stays the
    same; None if the gain is zero or beyond chance.
    """

    gain: float
    interval: Interval
    p_value: float
    only_first: int = 0
    only_second: int = 0
    n_more: int | None = None

    @property
    def within_chance(self) -> bool:
        """Whether chance may explain the difference."""
        return self.p_value > CHANCE

    def turned(self) -> "Difference":
        """Return the difference seen from the alternative."""
        low, high = self.interval
        return replace(
            self, gain=0.0 - self.gain, interval=(0.0 - high, 0.0 - low), only_first=self.only_second,
            only_second=self.only_first,
        )  # fmt: skip

    def in_words(self, what: str, scale: float = 1, digits: str = "+.3g") -> str:
        """Return the difference with its interval in words, and with p if it contradicts the interval."""
        low, high = self.interval
        p = f", p = {self.p_value:.2g}" if (low > 0 or high < 0) == self.within_chance else ""
        own, least, most = (f"{scale * number:{digits}}" for number in (self.gain, low, high))
        return f"{own} {what} ({least} to {most}{p})"

    def in_points(self, what: str) -> str:
        """Return a difference of shares in words, such as ``+1.2 points of accuracy (-0.3 to +2.7)``."""
        return self.in_words(f"points of {what}", 100, "+.1f")

    def kind(self, *, cheaper: bool, margin: float = MARGIN) -> Kind:
        """Return the verdict on a choice other than the alternative.

        `cheaper`: whether the choice costs less than the alternative.
        """
        if not self.within_chance:
            return Kind.BETTER if self.gain > 0 else Kind.WORSE
        if cheaper:
            return Kind.AS_GOOD if self.interval[0] >= -margin else Kind.CHEAPER
        return Kind.UNDECIDED if self.gain > 0 else Kind.NO_BETTER


def variance_of_fits(values: Floats, parts: NDArray[np.int8], times: int = 1) -> float:
    """Return the variance of a mean over models that were fitted on other rows.

    A separate model answered each part. As in an analysis of variance, the variance of the parts' means is
    reduced by the variance that the rows within the parts explain; the result is at least zero.

    `values`, `parts`, ``(times * n_rows,)``: the values, and the part of each value, -1 for no part; the
    parts are dealt `times` times.

    >>> variance_of_fits(np.array([1.0, 1.0, 0.0, 0.0]), np.array([0, 0, 1, 1], dtype=np.int8))
    0.5
    """
    apart = []
    for own, part_of in zip(values.reshape(times, -1), parts.reshape(times, -1), strict=True):
        some = [own[part_of == part] for part in np.unique(part_of[part_of >= 0])]
        some = [one for one in some if len(one) > 1]
        if len(some) > 1:
            of_rows = np.mean([one.var(ddof=1) / len(one) for one in some])
            apart.append(np.var([one.mean() for one in some], ddof=1) - of_rows)
    return max(0.0, float(np.mean(apart))) if apart else 0.0


def widened(value: float, interval: Interval, variance: float, ends: Interval) -> Interval:
    """Return the interval of a value widened by a further variance: the squares of the widths are added.

    `ends`: least and largest possible value.

    >>> [round(end, 4) for end in widened(0.5, (0.47, 0.53), (0.04 / Z) ** 2, (0.0, 1.0))]
    [0.45, 0.55]
    """
    more = Z * math.sqrt(variance)
    low, high = (math.hypot(value - end, more) for end in interval)
    return max(ends[0], value - low), min(ends[1], value + high)


def difference_of(
    first: Mask,
    second: Mask,
    worth: Floats | None = None,
    *,
    times: int = 1,
    parts: NDArray[np.int8] | None = None,
) -> Difference:
    """Compare two rules by the rows that each answers right; p is McNemar's exact p-value.

    `first`, `second`, ``(times * n_rows,)``: whether each rule is right. `worth`: weight of each right row in
    the objective, times the number of rows; by default 1, for accuracy. `times`: number of measurements of
    each row, by repeated choice in several partitions. With several, the mean is reported with the interval
    of one partition, as measurements of one row are not independent; p is then the p-value of the normal
    distribution, and for accuracy at least McNemar's p-value. `parts`, ``(times * n_rows,)``: part of each
    measurement, if both rules were fitted anew for every part. The interval and p then include the variation
    of other fits.

    >>> told = difference_of(np.array([1, 1, 1, 1, 0], dtype=bool), np.array([0, 0, 0, 1, 1], dtype=bool))
    >>> round(told.gain, 6), told.p_value, told.n_more
    (0.4, 0.625, 15)
    """
    gains = first.astype(np.float64) - second
    if worth is not None:
        gains = gains * worth
    most = np.ones(1) if worth is None else np.abs(worth).max(keepdims=True)
    interval = interval_of_mean(gains, -most, most, times=times)
    gain, error = float(gains.mean()), math.sqrt(times) * mean_error(gains)
    of_fits = 0.0 if parts is None else variance_of_fits(gains, parts, times)
    if of_fits:
        interval = widened(gain, interval, of_fits, (-float(most[0]), float(most[0])))
    counts = (round(int((first & ~second).sum()) / times), round(int((second & ~first).sum()) / times))
    p = sign_flip_p(gains) if times == 1 else 0.0
    if times > 1 or of_fits:
        both = math.hypot(error, math.sqrt(of_fits))
        p = max(p, 2 * float(ndtr(-abs(gain) / both)) if both else 1.0)
        p = max(p, mcnemar_p(*counts)) if worth is None else p
    apart = gain**2 - Z**2 * of_fits  # the part that further rows can decide
    more = more_rows(math.sqrt(apart), error, len(gains) // times, p) if p > CHANCE and apart > 0 else None
    return Difference(gain, interval, p, *counts, more)


def difference_of_losses(first: Floats, second: Floats, most: float, *, times: int = 1) -> Difference:
    """Compare two rules by their losses per row; the gain is the reduction by the first rule.

    `first`, `second`, ``(times * n_rows,)``: losses of each rule. `most`: largest loss of a row. `times`:
    as in :func:`difference_of`.

    >>> told = difference_of_losses(np.array([0.0, 0, 10, 0]), np.array([10.0, 1, 10, 0]), 10)
    >>> told.gain, told.only_first, told.only_second
    (2.75, 2, 0)
    """
    gains = second - first
    ends = np.array([most])
    interval = interval_of_mean(gains, -ends, ends, times=times)
    gain, error = float(gains.mean()), math.sqrt(times) * mean_error(gains)
    counts = (round(int((gains > 0).sum()) / times), round(int((gains < 0).sum()) / times))
    normal = 2 * float(ndtr(-abs(gain) / error)) if error else 1.0
    p = sign_flip_p(gains) if times == 1 else normal
    more = more_rows(gain, error, len(gains) // times, p) if p > CHANCE and gain else None
    return Difference(gain, interval, p, *counts, more)


def mcnemar_p(only_first: int, only_second: int) -> float:
    """Return the two-sided p-value of McNemar's exact test for these numbers of rows."""
    return min(1.0, 2 * float(bdtr(min(only_first, only_second), only_first + only_second, 0.5)))


def more_rows(gain: float, error: float, n_rows: int, p: float) -> int:
    """Return the number of further rows with which a gain exceeds 1.96 standard errors, if the gain stays.

    `p`: p-value above .05. If the gain exceeds 1.96 errors but an exact test does not confirm it, the error
    is computed from `p`.

    >>> more_rows(0.02, 0.02, 500, 0.3), more_rows(0.02, 0.0102, 500, 0.07)
    (1421, 86)
    """
    if abs(gain) >= Z * error:
        error = abs(gain) / -float(ndtri(min(p, 0.9) / 2))  # one row, with a p of 1, implies no error
    return max(1, math.ceil(n_rows * (Z * error / gain) ** 2) - n_rows)
