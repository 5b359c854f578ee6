"""Pruning for a mean of probabilities as a problem whose best selection an incumbent keeps."""

import dataclasses
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.averaging._kernels import STEP, MeanTerms
from shortlist.ensembles.averaging.mean_terms import (
    float_error_of,
    mean_terms,
    reach_of,
    scale_of,
    slack_of,
    step_of,
    total_of,
)
from shortlist.ensembles.committees.evidence import ClassSelection, PrunedSelection
from shortlist.ensembles.goals.mean_goals import MEAN_LOSSES, MeanGoal
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.votes.soft_votes import SoftVotes, mean_decisions
from shortlist.results.objective import Objective


@dataclass(frozen=True, eq=False)
class MeanProblem:
    """Probabilities of rows, what their means are worth, and what a selection must keep.

    Totals are larger the better, whatever the sense of the objective: a loss is counted with minus.

    Attributes
    ----------
    votes : SoftVotes
        Validation rows.
    goal : MeanGoal
        What is summed up.
    limits : SelectionLimits
        Size and cost. An empty selection has no mean: at least one member is wanted.
    """

    votes: SoftVotes
    goal: MeanGoal
    limits: SelectionLimits

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
        """Totals that differ by no more are equal."""
        return slack_of(self.terms)

    @property
    def tolerance(self) -> float:
        """The same as a difference of values."""
        return self.slack / scale_of(self.terms) / self.goal.denominator

    @cached_property
    def first_bound(self) -> int:
        """What every row would be worth with the best of all classifiers for it alone."""
        columns = self.terms.columns
        if not len(self.terms.worth):
            return self._offset
        best = columns.max(axis=0)
        if (
            self.goal.kind == "brier"
        ):  # of all that are to be 1 the largest, of all that are to be 0 the smallest
            best = np.where(self.terms.aims > 0, best, columns.min(axis=0))
        return self._offset + total_of(self.terms, best.astype(np.int64), 1) + self.slack

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
        return self._offset + total_of(self.terms, tally, size), 0

    def value(self, total: int) -> float:
        """Turn a total into the user's unit and sign."""
        if self.goal.kind in MEAN_LOSSES:
            return -total / scale_of(self.terms) / self.goal.denominator
        return total / scale_of(self.terms) / self.goal.denominator

    def rounded(self, bound: int) -> int:
        """Return the largest total that is possible and no larger than `bound`."""
        step = step_of(self.terms)
        return self._offset + (bound - self._offset) // step * step

    def whole_bound(self, bound: float) -> int:
        """Turn a bound on the sum of worths into one on totals."""
        if self.terms.kind == STEP:
            return self.rounded(self._offset + math.floor(bound + float_error_of(self.terms)))
        return math.ceil(bound * scale_of(self.terms)) + self.slack // 4 + 1

    def worth_to_beat(self, total: int) -> float:
        """Return the sum of worths up to which a bound rules out whatever is better than a total."""
        if self.terms.kind == STEP:
            return total - self._offset + step_of(self.terms) - 2 * float_error_of(self.terms)
        return (total + self.slack // 4) / scale_of(self.terms)

    @cached_property
    def _offset(self) -> int:
        """The total when every row is wrong."""
        return self.goal.offset if self.terms.kind == STEP else 0

    def result(self, mask: Mask, threshold: int) -> Callable[..., PrunedSelection]:
        """Return what makes a result of these members; a threshold below 0 says that there are none."""
        n = self.votes.n_classes
        decisions = (
            np.zeros((n, n), dtype=np.int64)
            if threshold < 0
            else mean_decisions(self.votes, mask, self.goal.gains)
        )
        return functools.partial(ClassSelection, mask=mask, decisions=decisions, counted_from="probabilities")
