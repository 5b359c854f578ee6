"""Objectives of a committee that votes, or averages probabilities, as integers that are minimised."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.arrays import Mask
from shortlist.ensembles.fronts.objectives import (
    BY_CLASS,
    MEMBER_OBJECTIVES,
    SIZE,
    VALUE_UNITS,
    check_rows_of_losses,
    price_objective,
    read_objectives,
)
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.goals.weights import ClassWeights, Weights, class_weights, decision_table
from shortlist.ensembles.pruning.mean_problem import MEAN_LOSSES, SCALE, MeanProblem, mean_goal
from shortlist.ensembles.votes.hard_votes import ClassVotes, Votes, confusion, merge_class_rows
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.errors import BadInputError
from shortlist.results.objective import Objective, Sense

GROWTH = 1.5
"""Growth factor of limits on cost, from the cost of the cheapest member to that of all."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FrontProblem(ABC):
    """Answers of candidates, and the objectives of a committee as integers, however it decides."""

    objectives: tuple[Objective, ...]
    """Objectives of values first, then of members; each has an integer scale."""
    asked: NDArray[np.intp]
    """Index of every objective in the requested order, ``(n_objectives,)``."""
    prices: NDArray[np.int64]
    """Increment of each objective of members by each member, at least 0, ``(n_prices, n_classifiers)``."""
    budgets: NDArray[np.int64]
    """The most that each objective of members may sum to, ``(n_prices,)``."""
    limits: SelectionLimits
    """Sizes, from 1."""
    has_threshold: bool = False
    """Whether a threshold decides, which is chosen with the members."""

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return int(self.prices.shape[1])

    @property
    def n_values(self) -> int:
        """Number of objectives of values."""
        return len(self.objectives) - len(self.prices)

    @property
    def n_committees(self) -> int:
        """Number of committees within the sizes."""
        sizes = range(self.limits.min_size, self.limits.max_size + 1)
        return sum(math.comb(self.n_classifiers, size) for size in sizes)

    def is_size(self, price: int) -> bool:
        """Whether an objective of members is their number."""
        return self.objectives[self.n_values + price].name == SIZE

    @property
    def bounded_values(self) -> range:
        """Values whose bound helps, by their index; of two that rows of their own add to, the sum too."""
        return range(self.n_values)

    def rising(self, price: int) -> list[int]:
        """Return limits on an objective of members, rising: every size, or each half as much again."""
        if self.is_size(price):
            return [*range(self.limits.min_size, self.limits.max_size + 1)] or [self.limits.max_size]
        most = int(min(self.budgets[price], self.prices[price].sum()))
        rising, spent = [], float(max(1, self.prices[price].min()))
        while spent < most:
            rising.append(int(spent))
            spent *= GROWTH
        return [*dict.fromkeys(rising), most]

    @property
    def everything(self) -> tuple[int, ...]:
        """The most that each objective of members may sum to within all limits, ``(n_prices,)``."""
        return tuple(self.rising(price)[-1] for price in range(len(self.prices)))

    def least(self, price: int, size: int) -> int:
        """Return the least that members of a number sum to in an objective."""
        return int(np.sort(self.prices[price])[:size].sum())

    def cheapest(self) -> Mask:
        """Return a smallest committee, of those the one that costs least."""
        order = np.argsort(self.prices.sum(axis=0), kind="stable")
        mask = np.zeros(self.n_classifiers, dtype=bool)
        mask[order[: self.limits.min_size]] = True
        return mask

    def limits_within(self, most: Sequence[int]) -> SelectionLimits:
        """Return the limits of a selection whose objectives of members sum to no more than `most`."""
        limits = self.limits
        for price, (own, upto) in enumerate(zip(self.prices, most, strict=True)):
            if self.is_size(price):
                limits = replace(limits, max_size=min(limits.max_size, upto))
            elif upto < own.sum():
                limits = replace(limits, costs=own, budget=upto)
        return limits

    def is_within(self, mask: Mask) -> bool:
        """Whether a committee keeps the limits."""
        return self.limits.satisfied_by(mask) and bool(
            (self.prices[:, mask].sum(axis=1) <= self.budgets).all()
        )

    @abstractmethod
    def highest(self) -> NDArray[np.int64]:
        """Return the bound on each value, row by row, and on their sum, ``(n_values + 1,)``."""

    @abstractmethod
    def reached(self, mask: Mask, threshold: int) -> NDArray[np.int64]:
        """Count the values of a committee from the answers, ``(n_values,)``."""

    def point(self, mask: Mask, threshold: int = 0) -> NDArray[np.int64]:
        """Return the objectives of a committee, minimised, counted from the answers."""
        linear = self.prices[:, mask].sum(axis=1, dtype=np.int64)
        return np.concatenate([-self.reached(mask, threshold), linear]).astype(np.int64)


def _shared_parts(
    names: Sequence[str],
    values: Sequence[Objective],
    votes: Votes | ClassVotes | SoftVotes,
    costs: Mapping[str, Sequence[float] | NDArray[Any]] | None,
    *,
    limits: SelectionLimits,
    max_cost: float | None = None,
) -> dict[str, Any]:
    """Return the fields that every problem has: objectives of members, and limits."""
    n, given = votes.n_classifiers, costs or {}
    prices = [name for name in names if name in MEMBER_OBJECTIVES]
    charged = [price_objective(name, n, given, max_cost) for name in prices]
    own = [name for name in names if name not in MEMBER_OBJECTIVES]
    return {
        "objectives": (*values, *(one for one, _, _ in charged)),
        "asked": np.array([[*own, *prices].index(name) for name in names], dtype=np.intp),
        "prices": np.array([price for _, price, _ in charged], dtype=np.int64).reshape(-1, n),
        "budgets": np.array([budget for _, _, budget in charged], dtype=np.int64),
        "limits": limits,
    }


@dataclass(frozen=True, eq=False, kw_only=True)
class CommitteeProblem(FrontProblem):
    """Votes, and the objectives of a committee as integers; build with :func:`committee_problem`."""

    votes: Votes | ClassVotes
    """Merged rows. Of two classes a threshold decides, which is chosen with the members; of several the class
    with most votes.
    """
    gains: NDArray[np.int64]
    """Increment of each value by a right row of each class, at least 0, ``(n_values, n_classes)``."""

    @cached_property
    def class_sizes(self) -> NDArray[np.int64]:
        """Number of samples of each class."""
        return _class_sizes(self.votes, self.gains.shape[1])

    def highest(self) -> NDArray[np.int64]:
        """Return each value when every row is right, and the sum of all values then, ``(n_values + 1,)``."""
        values = self.gains @ self.class_sizes
        return np.append(values, values.sum())

    @property
    def bounded_values(self) -> range:
        """Values whose bound helps, by their index; of two that rows of their own add to, the sum too."""
        return range(self.n_values + int(self.n_values == 2 and self.gains.max() == 1))

    def right(self, mask: Mask, threshold: int) -> NDArray[np.int64]:
        """Count the right decisions by class from the votes, ``(n_classes,)``."""
        if isinstance(self.votes, Votes):
            counts = confusion(self.votes, mask, threshold)
            return np.array([counts.true_negative, counts.true_positive], dtype=np.int64)
        return np.diag(decision_table(self.votes, mask))

    def reached(self, mask: Mask, threshold: int) -> NDArray[np.int64]:
        """Count the values of a committee from the votes, ``(n_values,)``."""
        return np.asarray(self.gains @ self.right(mask, threshold))

    def weights(self, value: int) -> Weights | ClassWeights:
        """Return one of the values, or their sum, as what decisions are worth, for exact pruning."""
        if value == self.n_values:
            objective, gains = Objective("sum", Sense.MAX, scale=None), self.gains.sum(axis=0)
        else:
            objective, gains = self.objectives[value], self.gains[value]
        if isinstance(self.votes, Votes):
            return Weights(objective, int(gains[1]), 0, int(gains[0]), 0, objective.scale or 1)
        return ClassWeights(objective, gains, objective.scale or 1)


def committee_problem(
    votes: Votes | ClassVotes,
    objectives: Sequence[str],
    *,
    costs: Mapping[str, Sequence[float] | NDArray[Any]] | None = None,
    classes: Sequence[Any] | None = None,
    limits: SelectionLimits | None = None,
    max_cost: float | None = None,
) -> CommitteeProblem:
    """Read objectives, and write all of them as integers.

    Raises BadInputError if there are fewer than two objectives, one is unknown or comes twice, has no or the
    wrong direction, needs prices that are not given, or needs a positive class where there are several; or if
    the limits are on diversity or allow no members.

    `objectives`: at least two such as ``"max accuracy"`` or ``"min cost"``: ``max`` with a name in
    ``VALUE_OBJECTIVES`` or ``recall:CLASS``, ``min`` with one in ``MEMBER_OBJECTIVES``. `costs`: what each
    classifier adds to ``cost``, if it is requested; decimals of at least
    0. `classes`: what the classes are called; of two the second is the positive one. Default: their numbers.
    `limits`: sizes; default any from 1. `max_cost`: the most that the members may cost together; goes with
    the objective ``cost``.
    """
    if isinstance(votes, ClassVotes):
        votes = merge_class_rows(votes)
    n_classes = votes.n_classes if isinstance(votes, ClassVotes) else 2
    labels = [str(label) for label in (range(n_classes) if classes is None else classes)]
    names = read_objectives(objectives, labels)
    limits = limits or selection_limits(votes.n_classifiers)
    if limits.diversity is not None or limits.costs is not None:
        raise BadInputError(
            "limits of a front must be on the size. Leave out diversity, and pass `max_cost`."
        )
    if limits.min_size < 1:
        raise BadInputError(
            "min_size", "must be at least 1 for a front", "0", "An empty committee has no cost."
        )
    if max_cost is not None and "cost" not in names:
        raise BadInputError(
            f"`max_cost` goes with the objective min cost, got {all_of(names)}. Add it, or leave "
            "out `max_cost`."
        )
    if averaged := [name for name in names if name in MEAN_LOSSES]:
        raise BadInputError(
            f"objectives of votes must count decisions, got {all_of(averaged)}, which averages "
            "probabilities. Leave it out, or take mean_front_problem."
        )
    found = [_value(name, votes, labels) for name in names if name not in MEMBER_OBJECTIVES]
    return CommitteeProblem(
        votes=votes,
        has_threshold=isinstance(votes, Votes),
        gains=np.array([gains for _, gains in found], dtype=np.int64).reshape(-1, n_classes),
        **_shared_parts(names, [one for one, _ in found], votes, costs, limits=limits, max_cost=max_cost),
    )


def _class_sizes(votes: Votes | ClassVotes, n_classes: int) -> NDArray[np.int64]:
    return np.bincount(votes.labels, weights=votes.counts, minlength=n_classes).astype(np.int64)


def _value(
    name: str, votes: Votes | ClassVotes, labels: Sequence[str]
) -> tuple[Objective, NDArray[np.int64]]:
    n_classes = len(labels)
    sizes = _class_sizes(votes, n_classes)
    gains, scale = np.zeros(n_classes, dtype=np.int64), 1
    if name == "accuracy":
        gains[:], scale = 1, int(sizes.sum())
    elif name == "balanced-accuracy":
        of = (
            votes
            if isinstance(votes, ClassVotes)
            else ClassVotes(votes.votes, votes.labels, votes.counts, n_classes)
        )
        balanced = class_weights(name, of)
        if balanced.tolerance:
            raise BadInputError(
                f"balanced-accuracy of {n_classes} classes of such sizes has too many digits to be exact. "
                "Take accuracy, or recall of single classes."
            )
        gains, scale = balanced.gains, balanced.denominator
    else:
        label = name.removeprefix(BY_CLASS)
        place = (
            labels.index(label) if name.startswith(BY_CLASS) else int(name in {"recall", "true-positives"})
        )
        gains[place] = 1
        scale = 1 if name.startswith("true") else max(1, int(sizes[place]))
    return Objective(name, Sense.MAX, scale, VALUE_UNITS.get(name, "")), gains


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanFrontProblem(FrontProblem):
    """Probabilities, and the objectives of a committee as integers; build with :func:`mean_front_problem`."""

    values: tuple[MeanProblem, ...]
    """One for each objective of values; their totals are maximised."""

    @cached_property
    def _highest(self) -> NDArray[np.int64]:
        totals = np.array([value.first_bound for value in self.values], dtype=np.int64)
        return np.append(totals, totals.sum())

    def highest(self) -> NDArray[np.int64]:
        """Return the bound on each total, row by row, and on their sum, ``(n_values + 1,)``."""
        return self._highest.copy()

    def reached(self, mask: Mask, _threshold: int) -> NDArray[np.int64]:
        """Count the totals of a committee from the probabilities, ``(n_values,)``."""
        size = int(mask.sum())
        return np.array([value.rate(value.tally(mask), size)[0] for value in self.values], dtype=np.int64)


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
    limits = limits or selection_limits(votes.n_classifiers)
    if limits.min_size < 1 or limits.diversity is not None or limits.costs is not None:
        raise BadInputError("limits of a front must be on the size, from 1 on. Leave out the others.")
    goals = [mean_goal(name, votes) for name in names if name not in MEMBER_OBJECTIVES]
    values = [
        Objective(goal.objective.name, goal.objective.sense, SCALE * goal.denominator) for goal in goals
    ]
    return MeanFrontProblem(
        values=tuple(MeanProblem(votes, goal, limits) for goal in goals),
        **_shared_parts(names, values, votes, costs, limits=limits),
    )
