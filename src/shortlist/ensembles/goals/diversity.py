"""Pairwise failure crediting: how differently classifiers fail."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist._words import any_of, did_you_mean
from shortlist.arrays import CreditMatrix, Mask
from shortlist.ensembles.votes.binary_votes import Votes
from shortlist.ensembles.votes.class_votes import ClassVotes
from shortlist.errors import BadInputError

CREDIT_UNITS = 10**9
"""Failure credit is kept in billionths, so that limits are decided on integers."""

CREDIT_SLACK = 1000
"""A limit may be missed by this many billionths in the sum that it bounds, as solvers' rows may by 1e-6."""

SETTINGS = {
    "none": "no limit (F1)",
    "average": "mean PFC at least halfway between the lowest and the mean PFC of the full ensemble (F2)",
    "each": "as average, and every member's PFC at least the lowest of the full ensemble (F3)",
}
"""The settings of Section 5.4 of :cite:t:`Bastos2022` by name."""

_CHUNK = 4096


@dataclass(frozen=True, eq=False)
class DiversityLimits:
    """Failure credit of all pairs, and the least that a selection must have, in billionths.

    Attributes
    ----------
    credit : ndarray of int64, shape (n_classifiers, n_classifiers)
        FC of every pair.
    each : int
        τ: least PFC of every member (Eq. 18).
    mean : int
        γ: least mean PFC (Eq. 20).
    """

    credit: CreditMatrix
    each: int
    mean: int

    def satisfied_by(self, mask: Mask) -> bool:
        """Whether a selection keeps the limits; fewer than two members always do."""
        size = int(mask.sum())
        if size < 2:
            return True
        sums = self.credit[np.ix_(mask, mask)].sum(axis=1)
        if sums.min() < self.each * (size - 1) - CREDIT_SLACK:
            return False
        # Python integers: the sum over pairs times the number of pairs may pass 2^63
        return int(sums.sum()) // 2 >= self.mean * (size * (size - 1) // 2) - CREDIT_SLACK


def failure_credit(votes: Votes) -> CreditMatrix:
    """Return the failure credit (FC) of every pair of classifiers in billionths.

    FC is the Hamming distance of two failure patterns over the number of failures in both (Section 4 of
    :cite:t:`Bastos2022`, after :cite:t:`Chandra2006`). Two classifiers that never fail have FC 0, where the
    paper's quotient is 0/0. Merged rows count as often as they stand for.

    Returns
    -------
    credit : ndarray of int64, shape (n_classifiers, n_classifiers)
        Symmetric, between 0 and 10^9, 0 on the diagonal.

    Notes
    -----
    One matrix product by blocks of rows: O(n_rows · n_classifiers²) time, O(n_classifiers²) memory.
    """
    n_classifiers = votes.n_classifiers
    common = np.zeros((n_classifiers, n_classifiers))
    for start in range(0, len(votes.labels), _CHUNK):
        rows = slice(start, start + _CHUNK)
        fails = (votes.votes[rows] != votes.labels[rows, None]).astype(np.float32)
        counts = votes.counts[rows]
        # single precision counts exactly below 2^24
        exact = np.float32 if counts.sum() < 2**24 else np.float64
        common += fails.T.astype(exact) @ (fails * counts[:, None].astype(exact))
    both = np.rint(common).astype(np.int64)
    failures = np.diag(both)
    total = failures[:, None] + failures[None, :]
    distance = total - 2 * both
    credit = (2 * CREDIT_UNITS * distance + total) // np.maximum(2 * total, 1)
    return np.asarray(credit, dtype=np.int64)


def pairwise_failure_crediting(credit: CreditMatrix, mask: Mask | None = None) -> NDArray[np.float64]:
    """Return the PFC of every member of a selection: the mean FC with the other members, in [0, 1].

    Parameters
    ----------
    credit : ndarray of int64, shape (n_classifiers, n_classifiers)
        From :func:`failure_credit`.
    mask : ndarray of bool, shape (n_classifiers,), optional
        The selection; default all.

    Returns
    -------
    pfc : ndarray of float, shape (n_members,)
        A single member has PFC 0. Its mean over members equals the mean FC over pairs (Section 4).
    """
    chosen = credit if mask is None else credit[np.ix_(mask, mask)]
    return np.asarray(chosen.sum(axis=1) / (CREDIT_UNITS * max(1, len(chosen) - 1)))


def diversity_limits(setting: str | Mapping[str, float], votes: Votes) -> DiversityLimits | None:
    """Return the limits of a named setting, or explicit ones; None when there is no limit.

    Parameters
    ----------
    setting : str or mapping
        A name in :data:`SETTINGS`, or ``{"each": τ, "mean": γ}`` with numbers in [0, 1], either left out
        counts 0.
    votes : Votes
        The validation rows.

    Raises
    ------
    BadInputError
        If the name is unknown or a number lies outside [0, 1].
    """
    if isinstance(setting, Mapping):
        return _explicit(setting, votes)
    if setting not in SETTINGS:
        raise BadInputError(
            f"diversity must be {any_of(SETTINGS)}, or limits such as each=0.2, got "
            f"{setting!r}.{did_you_mean(str(setting), SETTINGS)}"
        )
    if setting == "none" or votes.n_classifiers < 2:
        return None
    credit = failure_credit(votes)
    others = votes.n_classifiers - 1
    sums = [int(row) for row in credit.sum(axis=1)]
    lowest, mean = min(sums) // others, sum(sums) // (others * len(sums))
    return DiversityLimits(credit, each=lowest if setting == "each" else 0, mean=(lowest + mean) // 2)


def class_diversity_limits(setting: str | Mapping[str, float], votes: ClassVotes) -> DiversityLimits | None:
    """Return the diversity limits for several classes, by the same settings.

    Failure credit asks only who is right and who fails, so it is that of votes "right" on rows that are all
    positive.

    Examples
    --------
    >>> from shortlist.ensembles.votes.class_votes import class_votes
    >>> class_diversity_limits("average", class_votes([[0, 2], [1, 1]], [0, 1])).credit.tolist()
    [[0, 1000000000], [1000000000, 0]]
    """
    right = (votes.codes == votes.labels[:, None]).astype(np.uint8)
    return diversity_limits(setting, Votes(right, np.ones(len(right), dtype=np.uint8), votes.counts))


def _explicit(limits: Mapping[str, float], votes: Votes) -> DiversityLimits:
    """Check explicit limits."""
    for name, value in limits.items():
        if name not in {"each", "mean"}:
            raise BadInputError(f"diversity limits must be named 'each' and 'mean', got {name!r}.")
        if isinstance(value, str) or not 0 <= value <= 1:
            raise BadInputError(f"diversity limit {name} must be between 0 and 1, got {value!r}.")
    each, mean = (int(np.floor(limits.get(name, 0.0) * CREDIT_UNITS + 0.5)) for name in ("each", "mean"))
    return DiversityLimits(failure_credit(votes), each=each, mean=mean)
