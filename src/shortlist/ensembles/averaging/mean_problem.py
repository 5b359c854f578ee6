"""Pruning for a mean of probabilities as a problem whose best selection an incumbent keeps."""

import functools
import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask
from shortlist.ensembles.averaging._tangent_kernels import LOG, SQUARE, MeanTerms
from shortlist.ensembles.committees.evidence import ClassSelection, PrunedSelection
from shortlist.ensembles.goals.mean_goals import LOG_LOSS, MeanGoal
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.proofs.certificate import FORMAT, Certificate
from shortlist.ensembles.votes.soft_votes import WHOLE, SoftVotes, mean_decisions
from shortlist.results.objective import Objective

SCALE = 2**32
"""Worths of rows are rounded to parts of this."""


def mean_terms(votes: SoftVotes, goal: MeanGoal) -> MeanTerms:
    """Return the terms whose sum is to be as large as possible: a loss is taken with minus.

    Log loss has a term a row, with the probability of the true class, where less than one part of
    :data:`WHOLE` counts as one part. Brier score has one of that kind with two classes, and with several one
    for every class of a row.
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


def reach_of(terms: MeanTerms, mask: Mask) -> NDArray[np.int64]:
    """Return what the members add to every term, ``(n_terms,)``."""
    return np.asarray(terms.columns[mask].sum(axis=0, dtype=np.int64))


def total_of(terms: MeanTerms, reach: NDArray[np.int64], size: int) -> int:
    """Return what members are worth by their number and what they reach, in parts of :data:`SCALE`.

    Takes O(n_terms) time.
    """
    mean = reach / (size * terms.whole)
    worths = np.log(mean) if terms.kind == LOG else -((mean - terms.aims) ** 2)
    return int(np.rint(SCALE * worths).astype(np.int64).sum())


@dataclass(frozen=True, eq=False)
class MeanProblem:
    """Probabilities of rows, what their means are worth, and what a selection must keep.

    Totals are larger the better, whatever the sense of the objective: a loss is counted with minus.
    """

    votes: SoftVotes
    """Validation rows."""
    goal: MeanGoal
    """What is summed up."""
    limits: SelectionLimits
    """Size and cost. An empty selection has no mean: at least one member is wanted."""

    @cached_property
    def terms(self) -> MeanTerms:
        """The summands."""
        return mean_terms(self.votes, self.goal)

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return self.votes.n_classifiers

    @property
    def objective(self) -> Objective:
        """What the value is called."""
        return self.goal.objective

    @cached_property
    def slack(self) -> int:
        """Whole totals of equal selections may differ by so much: rounding, twice a part a term."""
        return 2 * len(self.terms.aims) + 4

    @property
    def tolerance(self) -> float:
        """The same as a difference of values."""
        return self.slack / SCALE / self.goal.denominator

    @cached_property
    def first_bound(self) -> int:
        """What every row would be worth with the best of all classifiers for it alone."""
        columns = self.terms.columns
        # of all that are to be 1 the largest, of all that are to be 0 the smallest
        best = np.where(self.terms.aims > 0, columns.max(axis=0), columns.min(axis=0))
        return total_of(self.terms, best.astype(np.int64), 1) + self.slack

    def tally(self, mask: Mask) -> NDArray[np.int64]:
        """Add up what the members reach in every term."""
        return reach_of(self.terms, mask)

    def without(self, tally: NDArray[Any], k: int) -> NDArray[Any]:
        """Return the sums without one of the members."""
        return np.asarray(tally - self.terms.columns[k])

    def rate(self, tally: NDArray[Any], size: int) -> tuple[int, int]:
        """Return what members are worth by their number; the threshold is always 0.

        An empty selection is worth less than any other.
        """
        if not size:
            return -(2**62), 0
        return total_of(self.terms, tally, size), 0

    def value(self, total: int) -> float:
        """Turn a total into the user's unit and sign."""
        return -total / SCALE / self.goal.denominator

    def rounded(self, bound: int) -> int:
        """Return the bound: every total is possible."""
        return bound

    def whole_bound(self, bound: float) -> int:
        """Turn a bound on the sum of worths into one on totals."""
        return math.ceil(bound * SCALE) + self.slack // 4 + 1

    def worth_to_beat(self, total: int) -> float:
        """Return the sum of worths up to which a bound rules out whatever is better than a total."""
        return (total + self.slack // 4) / SCALE

    def result(self, mask: Mask, threshold: int) -> Callable[..., PrunedSelection]:
        """Return what makes a result of these members; a threshold below 0 says that there are none."""
        n = self.votes.n_classes
        decisions = (
            np.zeros((n, n), dtype=np.int64)
            if threshold < 0
            else mean_decisions(self.votes, mask, self.goal.gains)
        )
        return functools.partial(ClassSelection, mask=mask, decisions=decisions, counted_from="probabilities")


@dataclass(frozen=True, eq=False)
class Tangents:
    """A tangent for every term, which bound the selections of `first` to `last` members."""

    first: int
    last: int
    tilts: Floats
    """How steep each is, in worth by whole part, ``(n_terms,)``."""
    bound: float
    """What they prove, as a sum of worths."""


def mean_certificate(problem: MeanProblem, mask: Mask, total: int, cover: Sequence[Tangents]) -> Certificate:
    """Write down what is claimed of a selection, and the tangents that prove a bound.

    Value and bound are totals: losses with minus, in parts of 2^32.
    :func:`shortlist.ensembles.verification.recheck_mean_certificate.check_mean_certificate` says how they are
    checked.
    """
    return {
        "format": FORMAT,
        "data": mean_fingerprint(problem.votes),
        **plain_mean_problem(problem.goal, problem.limits),
        "members": np.flatnonzero(mask).tolist(),
        "value": total,
        "bound": max(problem.whole_bound(part.bound) for part in cover),
        "tangents": [
            {"first": part.first, "last": part.last, "tilts": part.tilts.tolist()} for part in cover
        ],
    }


def plain_mean_problem(goal: MeanGoal, limits: SelectionLimits) -> Certificate:
    """Return the fields ``goal`` and ``limits``, which say what a certificate is of."""
    return {"goal": {"kind": goal.kind, "gains": goal.gains.tolist()}, "limits": limits.plain()}


def mean_fingerprint(votes: SoftVotes) -> str:
    """Return the SHA-256 of the rows, as the audit defines it."""
    digest = hashlib.sha256(f"{votes.n_classifiers},{votes.n_classes};".encode())
    little = votes.shares.astype("<i2")
    for label, row in zip(votes.labels.tolist(), little, strict=True):
        digest.update(bytes([label]) + row.tobytes())
    return digest.hexdigest()
