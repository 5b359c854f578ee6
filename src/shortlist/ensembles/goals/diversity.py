"""Diversity of pairs of members: measures, and lower limits for a selection."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._words import any_of, did_you_mean
from shortlist.arrays import CreditMatrix, Mask
from shortlist.ensembles.votes.hard_votes import ClassVotes, Votes
from shortlist.errors import BadInputError

CREDIT_UNITS = 10**9
"""Number of units of a credit of 1: credits are integers in billionths, so that limits are decided
exactly.
"""

MOST_ROWS_IN_64_BITS = 100_000
"""Number of rows up to which products of two counts, in billionths, stay below 2^63."""

_CHUNK = 4096


@dataclass(frozen=True)
class PairMeasure:
    """Measure of a pair of classifiers, with a credit that is larger for a more diverse pair."""

    title: str
    """Title of the measure in the report."""
    at_none: int
    at_full: int
    """Values of the measure at credit 0 and credit 1. The measure is linear in the credit, so a limit on a
    mean of the measure is a limit on a mean of the credit.
    """
    credit: Callable[[NDArray[Any], NDArray[Any], NDArray[Any], int], tuple[Any, Any]]
    """Function that returns numerator and denominator of the credit.

    The arguments are numbers of rows: rows on which both fail, rows on which the first fails, rows on which
    the second fails, and all rows. A denominator of 0 gives a credit of 0.
    """

    @property
    def is_least(self) -> bool:
        """Whether limits on the measure are lower limits; otherwise they are upper limits."""
        return self.at_full > self.at_none

    def in_units(self, value: float) -> int:
        """Return a limit on the measure as a limit on the credit, in billionths."""
        return int(np.floor((value - self.at_none) / (self.at_full - self.at_none) * CREDIT_UNITS + 0.5))

    def of_credit(self, credit: float) -> float:
        """Return the value of the measure for a credit between 0 and 1."""
        return self.at_none + credit * (self.at_full - self.at_none)


def _q_credit(both: NDArray[Any], ours: NDArray[Any], theirs: NDArray[Any], n: int) -> tuple[Any, Any]:
    """Return numerator and denominator of (1 − Q)/2 = bc / (ad + bc).

    Of all `n` rows, both classifiers are right on a rows, only the first on b rows, only the second on c
    rows, and both fail on d rows.
    """
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
"""Measures of diversity by name.

``pfc`` is failure credit (Section 4 of :cite:t:`Bastos2022`): the number of rows on which exactly one of two
classifiers fails, over the sum of their numbers of failures. ``disagreement`` is the share of all rows on
which exactly one fails. ``double-fault`` is the share of all rows on which both fail. ``q`` is Yule's Q, (ad
− bc)/(ad + bc): both are right on a rows, only the first is right on b rows, only the second is right on c
rows, and both fail on d rows. The paper leaves alternatives to PFC as future work and names none.
"""


def common_failures(votes: Votes) -> NDArray[np.int64]:
    """Return the number of rows on which two classifiers both fail, ``(n_classifiers, n_classifiers)``.

    A merged row counts as its number of samples.

    Takes O(n_rows · n_classifiers²) time for a matrix product by blocks of rows, and O(n_classifiers²)
    memory.
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
    """Return the credit of every pair of classifiers, ``(n_classifiers, n_classifiers)``, in billionths.

    `measure`: a name in :data:`MEASURES`. Two classifiers that never fail have PFC 0, as the paper's quotient
    is 0/0, and Q 1. Q is 0 if its quotient is 0/0 and the two classifiers differ on some row.

    The credits are symmetric, between 0 and 10^9, rounded, and 0 on the diagonal.

    >>> from shortlist.ensembles.votes.hard_votes import merge_rows
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


CREDIT_SLACK = 1000
"""Billionths by which a bounded sum of credits may miss its limit, since solvers allow 1e-6."""

PFC = "pfc"

SETTINGS = {
    "none": "no limit (F1)",
    "average": "mean PFC at least halfway between the lowest and the mean PFC of the full ensemble (F2)",
    "each": "as average, and every member's PFC at least the lowest of the full ensemble (F3)",
}
"""Description of the settings of Section 5.4 of :cite:t:`Bastos2022`, by name."""

KINDS = ("average", "each")
"""Kinds of limits in names such as ``q-average``: measure, then kind."""

NAMES = (*SETTINGS, *(f"{measure}-{kind}" for measure in MEASURES if measure != PFC for kind in KINDS))

Setting: TypeAlias = str | Mapping[str, Any]
"""Limits on diversity: a name in :data:`NAMES`, or ``{"measure": name, "each": limit, "mean": limit}``."""


@dataclass(frozen=True, eq=False)
class DiversityLimits:
    """Credit of all pairs of classifiers, and lower limits on the credit of a selection, in billionths."""

    credit: CreditMatrix
    """Credit of every pair of classifiers, such as failure credit, ``(n_classifiers, n_classifiers)``."""
    each: int
    """τ: least mean credit of each member with the other members (Eq. 18)."""
    mean: int
    """γ: least mean credit over all pairs of members (Eq. 20)."""
    measure: str = PFC
    """Measure of the credit: a name in :data:`shortlist.ensembles.goals.diversity.MEASURES`."""

    def satisfied_by(self, mask: Mask) -> bool:
        """Return whether a selection keeps the limits; fewer than two members always do."""
        size = int(mask.sum())
        if size < 2:
            return True
        sums = self.credit[np.ix_(mask, mask)].sum(axis=1)
        if sums.min() < self.each * (size - 1) - CREDIT_SLACK:
            return False
        # Python integers: the sum over pairs times the number of pairs may pass 2^63
        return int(sums.sum()) // 2 >= self.mean * (size * (size - 1) // 2) - CREDIT_SLACK


def failure_credit(votes: Votes) -> CreditMatrix:
    """Return the failure credit (FC) of each pair of classifiers in billionths.

    The matrix has the shape ``(n_classifiers, n_classifiers)``.

    Failure credit is the default measure of :func:`shortlist.ensembles.goals.diversity.pair_credit` (after
    :cite:t:`Chandra2006`).
    """
    return pair_credit(votes, PFC)


def pairwise_failure_crediting(credit: CreditMatrix, mask: Mask | None = None) -> NDArray[np.float64]:
    """Return the PFC of each member, ``(n_members,)``: its mean failure credit with other members.

    `credit`, ``(n_classifiers, n_classifiers)``: from :func:`failure_credit`. `mask`, ``(n_classifiers,)``:
    the members; default all classifiers. A single member has PFC 0. The mean PFC over members equals the mean
    failure credit over pairs (Section 4).
    """
    chosen = credit if mask is None else credit[np.ix_(mask, mask)]
    return np.asarray(chosen.sum(axis=1) / (CREDIT_UNITS * max(1, len(chosen) - 1)))


def diversity_limits(setting: Setting, votes: Votes | ClassVotes) -> DiversityLimits | None:
    """Return the limits on credit from a named setting, or from explicit numbers; None without a limit.

    All measures depend only on right and wrong answers. So for several classes, a right vote is replaced by a
    positive vote on a positive row, a wrong vote by a negative one.

    Raises BadInputError if a name is unknown or a number is out of its range.

    `setting`: a name in :data:`NAMES`, or explicit limits. ``average`` and ``each`` are the paper's limits on
    PFC; names such as ``disagreement-average`` stand for the same limits on another measure. Explicit limits
    are ``{"each": τ, "mean": γ}`` for PFC, where a missing key is no limit, or ``{"measure": "double-fault",
    "mean": 0.1}``. Limits on PFC and disagreement are lower limits, in [0, 1]. Limits on double faults, in
    [0, 1], and on Q, in [-1, 1], are upper limits.

    >>> from shortlist.ensembles.votes.hard_votes import class_votes
    >>> diversity_limits("average", class_votes([[0, 2], [1, 1]], [0, 1])).credit.tolist()
    [[0, 1000000000], [1000000000, 0]]
    """
    if isinstance(votes, ClassVotes):
        right = (votes.codes == votes.labels[:, None]).astype(np.uint8)
        votes = Votes(right, np.ones(len(right), dtype=np.uint8), votes.counts)
    if isinstance(setting, Mapping):
        return _explicit(setting, votes)
    if setting not in NAMES:
        raise BadInputError(
            "diversity",
            f"must be {any_of(NAMES)}, or limits such as `each=0.2`",
            repr(setting),
            did_you_mean(str(setting), NAMES),
        )
    if setting == "none" or votes.n_classifiers < 2:
        return None
    measure, _, kind = setting.rpartition("-")
    credit = pair_credit(votes, measure or PFC)
    others = votes.n_classifiers - 1
    sums = [int(row) for row in credit.sum(axis=1)]
    lowest, mean = min(sums) // others, sum(sums) // (others * len(sums))
    each = lowest if kind == "each" else 0
    return DiversityLimits(credit, each=each, mean=(lowest + mean) // 2, measure=measure or PFC)


def _explicit(limits: Mapping[str, Any], votes: Votes) -> DiversityLimits:
    name = limits.get("measure", PFC)
    if name not in MEASURES:
        raise BadInputError(
            f"the measure of diversity must be {any_of(MEASURES)}, got "
            f"{name!r}.{did_you_mean(str(name), MEASURES)}"
        )
    measure = MEASURES[name]
    least, most = sorted((measure.at_none, measure.at_full))
    for limit, value in limits.items():
        if limit not in {"each", "mean", "measure"}:
            raise BadInputError(f"diversity limits must be named 'each' and 'mean', got {limit!r}.")
        if limit != "measure" and (isinstance(value, str) or not least <= value <= most):
            raise BadInputError(
                f"diversity limit {limit} of {name} must be between {least} and {most}, got {value!r}."
            )
    each, mean = (measure.in_units(limits.get(limit, measure.at_none)) for limit in ("each", "mean"))
    return DiversityLimits(pair_credit(votes, name), each=each, mean=mean, measure=name)
