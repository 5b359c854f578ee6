"""Pruning for a mean of probabilities as a problem whose best selection an incumbent keeps."""

import dataclasses
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
from shortlist.ensembles.averaging._tangent_kernels import LOG, SIGMOID, SQUARE, STEP, MeanTerms
from shortlist.ensembles.committees.evidence import ClassSelection, PrunedSelection
from shortlist.ensembles.goals.mean_goals import BRIER, LOG_LOSS, MEAN_LOSSES, RIGHT, MeanGoal
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.proofs.certificate import FORMAT, Certificate
from shortlist.ensembles.votes.soft_votes import WHOLE, SoftVotes, mean_decisions, weighed
from shortlist.results.objective import Objective

DIGITS = 32
"""Worths of rows are rounded to parts of ``2 ** DIGITS``, but gains of right rows, which are whole."""


def mean_terms(votes: SoftVotes, goal: MeanGoal) -> MeanTerms:
    """Return the terms whose sum is to be as large as possible: a loss is taken with minus.

    Log loss has a term a row, with the probability of the true class, where less than one part of
    :data:`WHOLE` counts as one part. Brier score has one of that kind with two classes, and with several one
    for every class of a row. Right rows and slopes have a term a row, with a form for each rival of the true
    class: the probability of the true class less that of the rival.
    """
    rows, truth = np.arange(votes.n_samples), votes.labels.astype(np.intp)
    aims, n_forms = np.zeros(len(rows)), 1
    if goal.kind == LOG_LOSS:
        kind, forms = LOG, np.maximum(votes.shares[rows, :, truth], 1)
    elif goal.kind == BRIER and votes.n_classes == 2:
        kind, forms, aims = SQUARE, votes.shares[rows, :, truth], np.ones(len(rows))
    elif goal.kind == BRIER:
        kind, forms = SQUARE, votes.shares.transpose(0, 2, 1).reshape(-1, votes.n_classifiers)
        aims = (truth[:, None] == np.arange(votes.n_classes)).astype(np.float64).ravel()
    worth = np.ones(len(aims))
    if goal.kind not in MEAN_LOSSES:
        kind, n_forms = STEP if goal.kind == RIGHT else SIGMOID, votes.n_classes - 1
        rows = np.flatnonzero(goal.gains[truth])
        worth = goal.gains[truth[rows]].astype(np.float64)
        scores = weighed(votes.shares, goal.gains)
        of_row, rivals = np.nonzero(np.arange(votes.n_classes) != truth[rows, None])
        places = rows[of_row]
        forms = scores[places, :, truth[places]] - scores[places, :, rivals]
        aims = (rivals < truth[places]).astype(np.float64)
    starts = n_forms * np.arange(len(worth) + 1, dtype=np.int64)
    return MeanTerms(np.ascontiguousarray(forms.T), starts, worth, aims, kind, goal.slope, float(WHOLE))


def reach_of(terms: MeanTerms, mask: Mask) -> NDArray[np.int64]:
    """Return what the members add to every form, ``(n_forms,)``."""
    return np.asarray(terms.columns[mask].sum(axis=0, dtype=np.int64))


def scale_of(terms: MeanTerms) -> int:
    """Return what worth 1 is as a whole number."""
    return 1 if terms.kind == STEP else 2**DIGITS


def float_error_of(terms: MeanTerms) -> float:
    """Return by how much sums of floats may be off that stand for whole numbers of gains."""
    return max(1e-6, float(terms.worth.sum()) * len(terms.worth) * 2.0**-51)


def step_of(terms: MeanTerms) -> int:
    """Return what every difference of two totals is a multiple of."""
    if terms.kind != STEP or not len(terms.worth):
        return 1
    return int(np.gcd.reduce(terms.worth.astype(np.int64)))


def total_of(terms: MeanTerms, reach: NDArray[np.int64], size: int) -> int:
    """Return what so many members that reach so much are worth, in whole parts.

    Takes O(n_forms) time.
    """
    if not len(terms.worth):
        return 0
    if terms.kind == STEP:
        right = np.logical_and.reduceat(reach >= terms.aims, terms.starts[:-1])
        return int(terms.worth[right].sum())
    mean = np.minimum.reduceat(reach, terms.starts[:-1]) / (size * terms.whole)
    if terms.kind == LOG:
        worths = np.log(mean)
    elif terms.kind == SQUARE:
        worths = -((mean - terms.aims) ** 2)
    else:
        worths = 1 / (1 + np.exp(-terms.slope * mean / 2))
    parts = np.rint(2**DIGITS * worths).astype(np.int64)
    if terms.worth.sum() < 2**30:
        return int((parts * terms.worth.astype(np.int64)).sum())
    # gains of many digits would leave 64 bits; there are few of them, one for each class
    return sum(int(gain) * int(parts[terms.worth == gain].sum()) for gain in np.unique(terms.worth))


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

    def of_classifiers(self, few: NDArray[np.intp]) -> "MeanProblem":
        """Return the problem of some of the classifiers alone."""
        limits = self.limits
        return MeanProblem(
            SoftVotes(self.votes.shares[:, few], self.votes.labels),
            self.goal,
            dataclasses.replace(
                limits,
                max_size=min(limits.max_size, len(few)),
                costs=None if limits.costs is None else limits.costs[few],
            ),
        )

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
        return 0 if self.terms.kind == STEP else 2 * math.ceil(self.terms.worth.sum()) + 4

    @property
    def tolerance(self) -> float:
        """The same as a difference of values."""
        return self.slack / scale_of(self.terms) / self.goal.denominator

    @cached_property
    def first_bound(self) -> int:
        """What every row would be worth with the best of all classifiers for it alone."""
        columns = self.terms.columns
        if not len(self.terms.worth):
            return self.goal.offset
        best = columns.max(axis=0)
        # of all that are to be 1 the largest, of all that are to be 0 the smallest
        if self.goal.kind == "brier":
            best = np.where(self.terms.aims > 0, best, columns.min(axis=0))
        return self.goal.offset + total_of(self.terms, best.astype(np.int64), 1) + self.slack

    def tally(self, mask: Mask) -> NDArray[np.int64]:
        """Add up what the members reach in every form."""
        return reach_of(self.terms, mask)

    def without(self, tally: NDArray[Any], k: int) -> NDArray[Any]:
        """Return the sums without one of the members."""
        return np.asarray(tally - self.terms.columns[k])

    def rate(self, tally: NDArray[Any], size: int) -> tuple[int, int]:
        """Return what so many members are worth; the threshold is always 0.

        Nobody is worth less than anything.
        """
        if not size:
            return -(2**62), 0
        return self.goal.offset + total_of(self.terms, tally, size), 0

    def value(self, total: int) -> float:
        """Turn a total into the user's unit and sign."""
        if self.goal.kind in MEAN_LOSSES:
            return -total / scale_of(self.terms) / self.goal.denominator
        return total / scale_of(self.terms) / self.goal.denominator

    def rounded(self, bound: int) -> int:
        """Return the largest total that is possible and no larger than `bound`."""
        step = step_of(self.terms)
        return self.goal.offset + (bound - self.goal.offset) // step * step

    def whole_bound(self, bound: float) -> int:
        """Turn a bound on the sum of worths into one on totals."""
        if self.terms.kind == STEP:
            return self.rounded(self.goal.offset + math.floor(bound + float_error_of(self.terms)))
        return math.ceil(bound * scale_of(self.terms)) + self.slack // 4 + 1

    def worth_to_beat(self, total: int) -> float:
        """Return the sum of worths up to which a bound rules out whatever is better than a total."""
        if self.terms.kind == STEP:
            return total - self.goal.offset + step_of(self.terms) - 2 * float_error_of(self.terms)
        return (total + self.slack // 4) / scale_of(self.terms)

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
    forms: NDArray[np.int64]
    """The form that each tangent is of, ``(n_terms,)``."""
    tilts: Floats
    """How steep it is, in worth by whole part, ``(n_terms,)``."""
    bound: float
    """What they prove, as a sum of worths."""


def mean_certificate(problem: MeanProblem, mask: Mask, total: int, cover: Sequence[Tangents]) -> Certificate:
    """Write down what is claimed of a selection, and the tangents that prove a bound.

    Value and bound are totals: of right rows sums of gains, otherwise in parts of 2^32, a loss with minus.
    :func:`shortlist.ensembles.audit.mean_check.check_mean_certificate` says how they are checked.
    """
    starts = problem.terms.starts[:-1]
    return {
        "format": FORMAT,
        "data": mean_fingerprint(problem.votes),
        **plain_mean_problem(problem.goal, problem.limits),
        "members": np.flatnonzero(mask).tolist(),
        "value": total,
        "bound": max(problem.whole_bound(part.bound) for part in cover),
        "tangents": [
            {
                "first": part.first,
                "last": part.last,
                "forms": (part.forms - starts).tolist(),
                "tilts": part.tilts.tolist(),
            }
            for part in cover
        ],
    }


def plain_mean_problem(goal: MeanGoal, limits: SelectionLimits) -> Certificate:
    """Return the fields ``goal`` and ``limits``, which say what a certificate is of."""
    plain = {"kind": goal.kind, "slope": goal.slope, "gains": goal.gains.tolist(), "offset": goal.offset}
    return {"goal": plain, "limits": limits.plain()}


def mean_fingerprint(votes: SoftVotes) -> str:
    """Return the SHA-256 of the rows, as the audit defines it."""
    digest = hashlib.sha256(f"{votes.n_classifiers},{votes.n_classes};".encode())
    little = votes.shares.astype("<i2")
    for label, row in zip(votes.labels.tolist(), little, strict=True):
        digest.update(bytes([label]) + row.tobytes())
    return digest.hexdigest()
