"""Objectives of a committee as integers to minimise, for committees that vote or average probabilities."""

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
"""Growth factor of limits on cost, from the cost of the cheapest member to the cost of all members."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FrontProblem(ABC):
    """Answers of classifiers, and the objectives of a committee as integers; base of votes and of means."""

    objectives: tuple[Objective, ...]
    """Objectives: values first, then objectives of members; each has an integer scale."""
    asked: NDArray[np.intp]
    """Index in `objectives` of each requested objective, in the order requested, ``(n_objectives,)``."""
    prices: NDArray[np.int64]
    """Increment of each objective of members by each member, at least 0, ``(n_prices, n_classifiers)``."""
    budgets: NDArray[np.int64]
    """Largest allowed sum of each objective of members, ``(n_prices,)``."""
    limits: SelectionLimits
    """Limits on the size, at least 1."""
    has_threshold: bool = False
    """Whether a threshold decides; it is chosen together with the members."""

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
        """Number of committees within the limits on the size."""
        sizes = range(self.limits.min_size, self.limits.max_size + 1)
        return sum(math.comb(self.n_classifiers, size) for size in sizes)

    def is_size(self, price: int) -> bool:
        """Whether an objective of members, by its index, is the number of members."""
        return self.objectives[self.n_values + price].name == SIZE

    @property
    def bounded_values(self) -> range:
        """Indices of the values to bound; the index after the last one stands for the sum of two values."""
        return range(self.n_values)

    def rising(self, price: int) -> list[int]:
        """Return rising limits on an objective of members: every size, or costs by :data:`GROWTH`."""
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
        """Largest sum of each objective of members that the limits allow, ``(n_prices,)``."""
        return tuple(self.rising(price)[-1] for price in range(len(self.prices)))

    def least(self, price: int, size: int) -> int:
        """Return the least sum of an objective of members over `size` members."""
        return int(np.sort(self.prices[price])[:size].sum())

    def cheapest(self) -> Mask:
        """Return the mask of a committee of the least size, the cheapest of this size."""
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
        """Return the row-by-row bound on each value, then on the sum of values, ``(n_values + 1,)``."""

    @abstractmethod
    def reached(self, mask: Mask, threshold: int) -> NDArray[np.int64]:
        """Return the values of a committee, counted from the answers, ``(n_values,)``."""

    def point(self, mask: Mask, threshold: int = 0) -> NDArray[np.int64]:
        """Return the objectives of a committee, minimised, counted from answers, ``(n_objectives,)``."""
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
    """Votes, and the objectives of a committee as integers, as built by :func:`committee_problem`."""

    votes: Votes | ClassVotes
    """Votes on merged rows. With two classes a threshold decides, which is chosen with the members; otherwise
    the class with most votes wins.
    """
    gains: NDArray[np.int64]
    """Increment of each value by a right row of each class, at least 0, ``(n_values, n_classes)``."""

    @cached_property
    def class_sizes(self) -> NDArray[np.int64]:
        """Number of samples of each class, ``(n_classes,)``."""
        return _class_sizes(self.votes, self.gains.shape[1])

    def highest(self) -> NDArray[np.int64]:
        """Return each value if every row is right, then the sum of these values, ``(n_values + 1,)``."""
        values = self.gains @ self.class_sizes
        return np.append(values, values.sum())

    @property
    def bounded_values(self) -> range:
        """Indices of the values to bound; the index after the last one stands for the sum of two values.

        The sum is bounded if there are two values, to which a right row adds 0 or 1.
        """
        return range(self.n_values + int(self.n_values == 2 and self.gains.max() == 1))

    def right(self, mask: Mask, threshold: int) -> NDArray[np.int64]:
        """Return the number of right decisions by class, counted from the votes, ``(n_classes,)``."""
        if isinstance(self.votes, Votes):
            counts = confusion(self.votes, mask, threshold)
            return np.array([counts.true_negative, counts.true_positive], dtype=np.int64)
        return np.diag(decision_table(self.votes, mask))

    def reached(self, mask: Mask, threshold: int) -> NDArray[np.int64]:
        """Return the values of a committee, counted from the votes, ``(n_values,)``."""
        return np.asarray(self.gains @ self.right(mask, threshold))

    def weights(self, value: int) -> Weights | ClassWeights:
        """Return the weights of decisions for one value, or for the sum of values, for exact pruning."""
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

    Raises BadInputError if there are fewer than two objectives; if an objective is unknown, is named twice,
    has no direction or the wrong one, lacks its prices, or needs a positive class among more than two
    classes; or if the limits are on diversity or allow an empty committee.

    `objectives`: at least two such as ``"max accuracy"`` or ``"min cost"``: ``max`` with a name in
    ``VALUE_OBJECTIVES`` or ``recall:CLASS``, ``min`` with one in ``MEMBER_OBJECTIVES``. `costs`: price of
    each classifier by the name ``cost``, if this objective is requested; decimals of at least 0. `classes`:
    names of the classes, default their indices; the second of two classes is positive. `limits`: limits on
    the size; default any size from 1. `max_cost`: largest sum of the members' prices; needs the objective
    ``cost``.
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
    """Probabilities, and the objectives of a committee as integers; see :func:`mean_front_problem`."""

    values: tuple[MeanProblem, ...]
    """Problem of each objective of values; the totals of the problems are maximised."""

    @cached_property
    def _highest(self) -> NDArray[np.int64]:
        totals = np.array([value.first_bound for value in self.values], dtype=np.int64)
        return np.append(totals, totals.sum())

    def highest(self) -> NDArray[np.int64]:
        """Return the row-by-row bound on each total, then on the sum of totals, ``(n_values + 1,)``."""
        return self._highest.copy()

    def reached(self, mask: Mask, _threshold: int) -> NDArray[np.int64]:
        """Return the totals of a committee, counted from the probabilities, ``(n_values,)``."""
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

    `objectives`: at least two of ``"min log-loss"``, ``"min brier"``, ``"min cost"`` and ``"min size"``.
    `costs`, `classes`, `limits`: as in
    :func:`shortlist.ensembles.fronts.committee_problem.committee_problem`.

    Raises BadInputError as :func:`committee_problem` does, and if there are more than
    :data:`MOST_ROWS_OF_LOSSES` rows.
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
