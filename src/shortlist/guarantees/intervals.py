"""Intervals at 95 % of a share and of a mean."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

CONFIDENCE = 0.95
"""Of the intervals; a difference with a p-value above the rest may be chance."""

Z = float(ndtri(0.5 + CONFIDENCE / 2))
"""Half the width of a normal interval, in standard errors."""

Interval = tuple[float, float]
"""Least and largest share that the rows are compatible with."""


def wilson_interval(n_right: float, n_rows: float) -> Interval:
    """Return Wilson's score interval (1927) of a share, at 95 %.

    `n_right`, `n_rows`: rows that are right, and all; no whole numbers where several rows are one case.

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


def most_unseen(n_rows: int) -> float:
    """Return the share of all rows that may be of a kind of which none of so many was seen, at 95 %.

    It is the upper end of the exact interval of :cite:t:`Clopper1934`, about 3.7 / n_rows.

    >>> round(most_unseen(100), 4)
    0.0362
    """
    return 1 - float(((1 - CONFIDENCE) / 2) ** (1 / n_rows))


def mean_interval(values: NDArray[np.float64]) -> Interval:
    """Return the normal interval of a mean, at 95 %; of one value alone there is none, and its ends are it.

    `values`, ``(n_rows,)``: of at least one row, such as what each row paid.

    >>> [round(end, 2) for end in mean_interval(np.array([1.0, 2.0, 3.0]))]
    [0.87, 3.13]
    """
    mean, n = float(values.mean()), len(values)
    half = Z * float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    return mean - half, mean + half
