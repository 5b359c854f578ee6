"""Sums of sigmoids of margins as a problem that the engine solves, of two classes or of several."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.committees.selections import PrunedSelection
from shortlist.ensembles.goals.margin_worth import MarginUtility, most_gain, utility_scale
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.proofs.certificate import Certificate, line_certificate
from shortlist.ensembles.proofs.lines.slope_proof import Lines
from shortlist.ensembles.proofs.lines.slope_rows import (
    SlopeRows,
    class_slope_rows,
    first_bounds,
    slope_rows,
)
from shortlist.ensembles.proofs.lines.slope_settings import SlopeSettings
from shortlist.ensembles.pruning.problems import Offer, PluralityProblem, ThresholdProblem
from shortlist.ensembles.search.tabu_search import FoundSelection, search_selection
from shortlist.results.objective import Objective, Sense
from shortlist.runs.budget import Budget


@dataclass(frozen=True, eq=False)
class SlopeProblem:
    """The worth of all margins in place of a weighted sum of decisions.

    The value is its share of what it would be if every row were worth 1.

    Attributes
    ----------
    of : ThresholdProblem or PluralityProblem
        Votes, weights and limits.
    utility : MarginUtility
        One that leads.
    """

    of: ThresholdProblem | PluralityProblem
    utility: MarginUtility

    slack = 0
    tolerance = 0.0

    @property
    def limits(self) -> SelectionLimits:
        """What a selection must keep."""
        return self.of.limits

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return self.of.n_classifiers

    @property
    def objective(self) -> Objective:
        """What the value is called."""
        return named(self.of.objective, self.utility)

    @cached_property
    def rows(self) -> SlopeRows:
        """The rows whose margins matter, with their forms."""
        of = self.of
        if isinstance(of, ThresholdProblem):
            return slope_rows(of.votes, of.weights, self.utility, of.limits)
        return class_slope_rows(of.votes, of.weights, self.utility, of.limits)

    @cached_property
    def unit(self) -> int:
        """What all rows would be worth together."""
        return utility_scale(self.of.votes, self.of.weights) * most_gain(self.of.votes, self.of.weights)

    @cached_property
    def first_bound(self) -> int:
        """What the best margins of every row would be worth."""
        return int(first_bounds(self.rows).max())

    def tally(self, mask: Mask) -> NDArray[np.int64]:
        """Count what the members add to every form."""
        return self.rows.reach(mask)

    def without(self, tally: NDArray[Any], k: int) -> NDArray[Any]:
        """Return the counts without one of the members."""
        return np.asarray(tally - self.rows.forms.signs[:, k])

    def rate(self, tally: NDArray[Any], size: int) -> tuple[int, int]:
        """Return what so many members are worth, and the best threshold."""
        return self.rows.rate(tally, size)

    def value(self, total: int) -> float:
        """Turn a worth into a share of what all rows could be worth."""
        return total / self.unit

    def rounded(self, bound: int) -> int:
        """Return a bound as it is: any whole number may be a worth."""
        return bound

    def result(self, mask: Mask, threshold: int) -> Callable[..., PrunedSelection]:
        """Return what makes a result of these members."""
        return self.of.result(mask, threshold)

    def search(self, budget: Budget, offer: Offer, settings: SlopeSettings) -> None:
        """Offer what tabu walks find, as it is found."""

        def on_better(found: FoundSelection) -> None:
            offer(found.mask)

        of, by_threshold = self.of, isinstance(self.of, ThresholdProblem)
        search_selection(
            of.votes, of.weights, of.limits, budget, utility=self.utility, on_better=on_better,
            max_steps=settings.search_steps if by_threshold else settings.class_steps,
        )  # fmt: skip

    def certificate(
        self, proof: tuple[Lines, ...] | int, mask: Mask, threshold: int, total: int
    ) -> Certificate:
        """Write down what is claimed of a selection, and what proves a bound."""
        scale = utility_scale(self.of.votes, self.of.weights)
        claim = self.of.claim(mask, threshold)
        return line_certificate(claim, self.utility, scale, self.rows, proof, total=total)


def named(objective: Objective, utility: MarginUtility) -> Objective:
    """Return the objective with the utility in its name."""
    second = f"slope-{utility.slope:g}" if utility.leads else "margin"
    return Objective(f"{objective.name}+{second}", Sense.MAX, scale=None)
