"""Exact binomial tails: how likely so few wrong answers are, were the share of wrong ones too large."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, ndtri

from shortlist.errors import BadInputError


class Demand(NamedTuple):
    """What is to be promised: so many of the answers are right, and the promise holds so often.

    Attributes
    ----------
    accuracy : float
        Least share of right answers among the answered rows, in (0, 1).
    confidence_level : float
        How likely a promise is to hold over the draw of the calibration rows, at least, in (0, 1).
    """

    accuracy: float
    confidence_level: float

    @property
    def error(self) -> float:
        """How often a promise may fail."""
        return 1 - self.confidence_level

    @property
    def least_rows(self) -> int:
        """How many answered rows, all of them right, make a promise at least."""
        return int(np.ceil(np.log(self.error) / np.log(self.accuracy)))


def as_demand(accuracy: float, confidence_level: float) -> Demand:
    """Check what is to be promised.

    Raises
    ------
    BadInputError
        If a number is not between 0 and 1.
    """
    for name, value in (("answer_accuracy", accuracy), ("confidence_level", confidence_level)):
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value < 1:
            raise BadInputError(name, "must be above 0 and below 1", repr(value), "Usual values: 0.9, 0.95.")
    return Demand(float(accuracy), float(confidence_level))


def tail(n_answered: ArrayLike, n_wrong: ArrayLike, demand: Demand) -> NDArray[np.float64]:
    """Return how likely at most `n_wrong` of `n_answered` answers are wrong where just too many are.

    This is P(Bin(n, 1 - accuracy) ≤ k), the p-value of "too many answers are wrong". It is at most the
    error of the demand exactly where the lower limit of :cite:t:`Clopper1934` reaches the accuracy.

    Parameters
    ----------
    n_answered, n_wrong : array-like of int
        Answers, and the wrong ones among them.
    demand : Demand

    Returns
    -------
    tail : ndarray of float
        In [0, 1]; 1 where there is no answer.

    Examples
    --------
    >>> tail([28, 29, 29], [0, 0, 1], Demand(0.9, 0.95)).round(4).tolist()
    [0.0523, 0.0471, 0.1989]
    """
    n, k = np.broadcast_arrays(np.asarray(n_answered, dtype=float), np.asarray(n_wrong, dtype=float))
    # bdtr is the regularised incomplete beta function, and needs k < n
    inside = k < n
    found = bdtr(np.where(inside, k, 0), np.where(inside, n, 1).astype(np.int64), 1 - demand.accuracy)
    return np.asarray(np.where(inside, found, 1.0))


def most_wrong(n_answered: ArrayLike, demand: Demand) -> NDArray[np.int64]:
    """Return how many of so many answers may be wrong at most; -1 where even none is too many.

    Examples
    --------
    >>> most_wrong([28, 29, 100], Demand(0.9, 0.95)).tolist()
    [-1, 0, 4]
    """
    n = np.asarray(n_answered, dtype=np.int64)
    allowed, refused = np.full(n.shape, -1), n.copy()  # the tail of n wrong answers is 1
    while (refused - allowed > 1).any():
        middle = np.maximum(0, (allowed + refused) // 2)
        passes = (tail(n, middle, demand) <= demand.error) & (refused - allowed > 1)
        allowed = np.where(passes, middle, allowed)
        refused = np.where(~passes & (refused - allowed > 1), middle, refused)
    return allowed


CONFIDENCE = 0.95
"""Of the intervals; a difference with a p-value above the rest may be chance."""

Interval = tuple[float, float]
"""Least and largest share that the rows are compatible with."""


def wilson_interval(n_right: int, n_rows: int) -> Interval:
    """Return Wilson's score interval (1927) of a share, at 95 %.

    Parameters
    ----------
    n_right, n_rows : int
        Rows that are right, of at least one row.

    Examples
    --------
    >>> [round(end, 3) for end in wilson_interval(9, 10)]
    [0.596, 0.982]
    """
    z = float(ndtri(0.5 + CONFIDENCE / 2))
    share = n_right / n_rows
    middle = share + z**2 / (2 * n_rows)
    half = z * math.sqrt(share * (1 - share) / n_rows + z**2 / (4 * n_rows**2))
    shrink = 1 + z**2 / n_rows
    low = 0.0 if n_right == 0 else (middle - half) / shrink
    high = 1.0 if n_right == n_rows else (middle + half) / shrink
    return low, high


def mean_interval(values: NDArray[np.float64]) -> Interval:
    """Return the normal interval of a mean, at 95 %; of one value alone there is none, and its ends are it.

    Parameters
    ----------
    values : ndarray of float, shape (n_rows,)
        Of at least one row, such as what each row paid.

    Examples
    --------
    >>> [round(end, 2) for end in mean_interval(np.array([1.0, 2.0, 3.0]))]
    [0.87, 3.13]
    """
    mean, n = float(values.mean()), len(values)
    half = float(ndtri(0.5 + CONFIDENCE / 2)) * float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else 0.0
    return mean - half, mean + half
