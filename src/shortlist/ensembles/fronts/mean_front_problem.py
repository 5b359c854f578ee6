"""What matters of a committee that answers by the mean of its members' probabilities, as integers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.averaging.mean_problem import SCALE, MeanProblem
from shortlist.ensembles.committees.ballots import Mean
from shortlist.ensembles.committees.facts import price_paid
from shortlist.ensembles.fronts.committee_problem import (
    MEMBER_OBJECTIVES,
    PAID,
    SIZE,
    few_members,
    paid_objective,
    price_objective,
    read_objectives,
)
from shortlist.ensembles.goals.mean_goals import mean_goal
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.errors import BadInputError
from shortlist.results.front import LARGEST_POINT
from shortlist.results.objective import Objective

MOST_ROWS_OF_LOSSES = (LARGEST_POINT - 1) // (11 * SCALE)
"""A logarithm of a probability is above -11, and a point must stay below :data:`LARGEST_POINT`."""


@dataclass(frozen=True, eq=False)
class MeanFrontProblem:
    """Probabilities, and the objectives of a committee as integers; build with :func:`mean_front_problem`."""

    values: tuple[MeanProblem, ...]
    """One for each objective of values; their totals are maximised."""
    objectives: tuple[Objective, ...]
    """Those of values first, then those of members; each has an integer scale."""
    asked: NDArray[np.intp]
    """Place of every objective as it was asked for in that order, ``(n_objectives,)``."""
    prices: NDArray[np.int64]
    """What each member adds to each objective of members, at least 0, ``(n_prices, n_classifiers)``."""
    limits: SelectionLimits
    """Sizes, from 1."""
    paid: NDArray[np.int64] | None = None
    """As of :class:`~shortlist.ensembles.fronts.committee_problem.CommitteeProblem`, ``(n_classifiers,)``."""

    @property
    def has_threshold(self) -> bool:
        """Whether a threshold decides: never."""
        return False

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return int(self.prices.shape[1])

    @property
    def n_values(self) -> int:
        """Number of objectives of values."""
        return len(self.values)

    def is_size(self, price: int) -> bool:
        """Whether an objective of members is their number."""
        return self.objectives[self.n_values + price].name == SIZE

    @cached_property
    def _highest(self) -> NDArray[np.int64]:
        totals = np.array([value.first_bound for value in self.values], dtype=np.int64)
        return np.append(totals, totals.sum())

    def highest(self) -> NDArray[np.int64]:
        """Return what no total can exceed, row by row, and the sum of these, ``(n_values + 1,)``."""
        return self._highest.copy()

    def point(self, mask: Mask, _threshold: int = 0, /) -> NDArray[np.int64]:
        """Return the objectives of a committee, minimised, counted from the probabilities."""
        size = int(mask.sum())
        totals = [value.rate(value.tally(mask), size)[0] for value in self.values]
        paid = []
        if self.paid is not None:
            votes = self.values[0].votes
            ballot = Mean(np.ones(votes.n_classes, dtype=np.int64))
            paid = [price_paid(ballot, ballot.added(votes.shares[:, mask]), self.paid[mask])]
        linear = self.prices[:, mask].sum(axis=1)
        return np.concatenate([-np.array(totals, dtype=np.int64), linear, paid]).astype(np.int64)


def mean_front_problem(
    votes: SoftVotes,
    objectives: Sequence[str],
    *,
    costs: Mapping[str, Sequence[float] | NDArray[Any]] | None = None,
    classes: Sequence[Any] | NDArray[Any] | None = None,
    limits: SelectionLimits | None = None,
) -> MeanFrontProblem:
    """Read objectives of means of probabilities, and write all of them as integers.

    `objectives`: at least two of ``"min log-loss"``, ``"min brier"`` and those of members. `costs`,
    `classes`, `limits`: as of :func:`shortlist.ensembles.fronts.committee_problem.committee_problem`.

    Raises BadInputError as there; or if there are more than :data:`MOST_ROWS_OF_LOSSES` rows.
    """
    labels = range(votes.n_classes) if classes is None else classes
    names = read_objectives(objectives, [str(label) for label in labels])
    check_rows_of_losses(votes.n_samples)
    values = [name for name in names if name not in MEMBER_OBJECTIVES]
    limits = limits or selection_limits(votes.n_classifiers)
    if limits.min_size < 1 or limits.diversity is not None or limits.costs is not None:
        raise BadInputError("limits of a front must be on the size, from 1 on. Leave out the others.")
    problems = tuple(MeanProblem(votes, mean_goal(name, votes), limits) for name in values)
    prices = [name for name in names if name not in values and name != PAID]
    charged = [price_objective(name, votes.n_classifiers, costs or {}, None) for name in prices]
    paid = paid_objective(votes.n_classifiers, costs or {}, votes.n_samples) if PAID in names else None
    return MeanFrontProblem(
        values=problems,
        objectives=tuple(_objective(one) for one in problems)
        + tuple(one for one, _, _ in charged)
        + (() if paid is None else (paid[0],)),
        asked=np.array([[*values, *prices, PAID].index(name) for name in names]),
        prices=np.array([price for _, price, _ in charged], dtype=np.int64).reshape(-1, votes.n_classifiers),
        limits=limits if paid is None else few_members(limits),
        paid=None if paid is None else paid[1],
    )


def check_rows_of_losses(n_rows: int) -> None:
    """Refuse more rows than losses can be compared exactly on.

    Raises BadInputError if there are more than :data:`MOST_ROWS_OF_LOSSES`.
    """
    if n_rows > MOST_ROWS_OF_LOSSES:
        raise BadInputError(
            f"a front of losses must have at most {MOST_ROWS_OF_LOSSES:,} rows that prune, to be compared "
            f"exactly, got {n_rows:,}. Prune on fewer rows, or leave the losses out."
        )


def _objective(problem: MeanProblem) -> Objective:
    goal = problem.goal
    return Objective(goal.objective.name, goal.objective.sense, SCALE * goal.denominator)
