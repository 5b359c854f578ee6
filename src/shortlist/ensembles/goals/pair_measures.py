"""How differently two classifiers fail: failure credit, disagreement, double fault and Q, as one credit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import CreditMatrix
from shortlist.ensembles.votes.binary_votes import Votes

CREDIT_UNITS = 10**9
"""Credits are kept in billionths, so that limits are decided on integers."""

MOST_ROWS_IN_64_BITS = 100_000
"""Products of two counts, in billionths, stay below 2^63 with so many rows."""

_CHUNK = 4096


@dataclass(frozen=True)
class PairMeasure:
    """A measure of a pair, and the credit that stands for it: the larger, the more diverse.

    Attributes
    ----------
    title : str
        What the report calls it.
    at_none, at_full : int
        The measure where the credit is 0 and 1; it is linear in between, so that limits on means of the one
        are limits on means of the other.
    credit : callable
        Receives the rows on which both fail, those on which each of them fails, and all rows; returns
        numerator and denominator of the credit. A denominator of 0 stands for a credit of 0.
    """

    title: str
    at_none: int
    at_full: int
    credit: Callable[[NDArray[Any], NDArray[Any], NDArray[Any], int], tuple[Any, Any]]

    @property
    def is_least(self) -> bool:
        """Whether limits on the measure are lower ones."""
        return self.at_full > self.at_none

    def in_units(self, value: float) -> int:
        """Return a limit on the measure as one on the credit, in billionths."""
        return int(np.floor((value - self.at_none) / (self.at_full - self.at_none) * CREDIT_UNITS + 0.5))

    def of_credit(self, credit: float) -> float:
        """Return the measure of a credit between 0 and 1."""
        return self.at_none + credit * (self.at_full - self.at_none)


def _q_credit(both: NDArray[Any], ours: NDArray[Any], theirs: NDArray[Any], n: int) -> tuple[Any, Any]:
    """Return (1 − Q)/2 = bc / (ad + bc), where a, b, c, d count rows by who of the two is right."""
    d, b, c = both, ours - both, theirs - both
    a = n - d - b - c
    # 0/0 says nothing of two that differ somewhere; Q is 0 then
    unknown = (a * d + b * c == 0) & (b + c > 0)
    return b * c + unknown, a * d + b * c + 2 * unknown


MEASURES = {
    "pfc": PairMeasure("PFC", 0, 1, lambda both, ours, theirs, _: (ours + theirs - 2 * both, ours + theirs)),
    "disagreement": PairMeasure(
        "disagreement", 0, 1, lambda both, ours, theirs, n: (ours + theirs - 2 * both, n)
    ),
    "double-fault": PairMeasure("double fault", 1, 0, lambda both, _ours, _theirs, n: (n - both, n)),
    "q": PairMeasure("Q", 1, -1, _q_credit),
}
"""Measures by name.

``pfc`` is failure credit (Section 4 of :cite:t:`Bastos2022`): rows on which one of the two fails, over the
failures of both. ``disagreement`` is the share of such rows among all, ``double-fault`` the share on which
both fail, and ``q`` Yule's Q, (ad − bc)/(ad + bc), where both are right on a rows, both fail on d, and one of
them on b and c. The paper leaves alternatives to PFC as future work and names none.
"""


def common_failures(votes: Votes) -> NDArray[np.int64]:
    """Count the rows on which both of two classifiers fail, ``(n_classifiers, n_classifiers)``.

    Merged rows count as often as they stand for.

    Notes
    -----
    One matrix product by blocks of rows: O(n_rows · n_classifiers²) time, O(n_classifiers²) memory.
    """
    common = np.zeros((votes.n_classifiers, votes.n_classifiers))
    for start in range(0, len(votes.labels), _CHUNK):
        rows = slice(start, start + _CHUNK)
        fails = (votes.votes[rows] != votes.labels[rows, None]).astype(np.float32)
        counts = votes.counts[rows]
        # single precision counts exactly below 2^24
        exact = np.float32 if counts.sum() < 2**24 else np.float64
        common += fails.T.astype(exact) @ (fails * counts[:, None].astype(exact))
    return np.rint(common).astype(np.int64)


def pair_credit(votes: Votes, measure: str = "pfc") -> CreditMatrix:
    """Return the credit of every pair of classifiers in billionths, by a name in :data:`MEASURES`.

    Two classifiers that never fail have PFC 0, where the paper's quotient is 0/0, and Q 1. Where Q is 0/0 and
    the two differ, it is 0.

    Returns
    -------
    credit : ndarray of int64, shape (n_classifiers, n_classifiers)
        Symmetric, between 0 and 10^9, rounded, 0 on the diagonal.

    Examples
    --------
    >>> from shortlist.ensembles.votes.binary_votes import merge_rows
    >>> votes = merge_rows([[1, 0], [0, 0], [1, 1], [0, 0]], [1, 1, 1, 0])
    >>> pair_credit(votes, "double-fault").tolist()
    [[0, 750000000], [750000000, 0]]
    """
    both, n = common_failures(votes), int(votes.counts.sum())
    if n > MOST_ROWS_IN_64_BITS:
        both = both.astype(object)  # Python's integers
    fails = np.diag(both)
    over, under = MEASURES[measure].credit(both, fails[:, None], fails[None, :], n)
    credit = (2 * CREDIT_UNITS * over + under) // np.maximum(2 * under, 1)
    rounded = np.asarray(credit, dtype=np.int64)
    np.fill_diagonal(rounded, 0)
    return rounded
