"""What matters of a committee, as integers: right decisions by class, and what its members add up to."""

import dataclasses
import math
import pickle
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, any_of, did_you_mean
from shortlist.arrays import Mask
from shortlist.ensembles.committees.ballots import Ballot, Plurality, Threshold
from shortlist.ensembles.committees.facts import price_paid
from shortlist.ensembles.committees.orders import FEW_MEMBERS
from shortlist.ensembles.goals.mean_goals import MEAN_LOSSES
from shortlist.ensembles.goals.selection_limits import SelectionLimits, exact_cost, selection_limits
from shortlist.ensembles.goals.weights import ClassWeights, Weights, class_weights, decision_table
from shortlist.ensembles.pools.answers import class_answers
from shortlist.ensembles.pools.pool import Pool
from shortlist.ensembles.votes.binary_votes import Votes, confusion
from shortlist.ensembles.votes.class_votes import ClassVotes, merge_class_rows
from shortlist.errors import BadInputError
from shortlist.exact import as_integers
from shortlist.results.front import LARGEST_POINT
from shortlist.results.objective import Objective, Sense
from shortlist.runs.budget import seconds_now

VALUE_OBJECTIVES = {
    "accuracy": "share of right decisions",
    "balanced-accuracy": "mean of the shares of right decisions in each class",
    "true-positives": "rows of the positive class that are found",
    "true-negatives": "rows of the negative class that are left alone",
    "recall": "share of the positive rows that are found; recall:CLASS of the rows of any class",
    "specificity": "share of the negative rows that are left alone",
}
"""What may be maximised."""

SIZE, PAID = "size", "price-paid"

MEMBER_OBJECTIVES = {
    "cost": "sum of the prices of the members",
    SIZE: "number of members",
    "time": "measured time of all members for the rows",
    "bytes": "length of the members as they are saved",
    PAID: "mean price of a row, asked no further than until its class is settled",
}
"""What may be minimised."""

VALUE_UNITS = {
    "true-positives": "rows",
    "true-negatives": "rows",
    "time": "ms per 1,000 rows",
    "bytes": "bytes",
}
"""Units of the values, for people."""

BY_CLASS = "recall:"


@dataclass(frozen=True, eq=False)
class CommitteeProblem:
    """Votes, and the objectives of a committee as integers; build with :func:`committee_problem`."""

    votes: Votes | ClassVotes
    """Merged rows. Of two classes a threshold decides, which is chosen with the members; of several the class
    with most votes.
    """
    objectives: tuple[Objective, ...]
    """Those of values first, then those of members; each has an integer scale."""
    asked: NDArray[np.intp]
    """Place of every objective as it was asked for in that order, ``(n_objectives,)``."""
    gains: NDArray[np.int64]
    """What a right row of each class adds to each value, at least 0, ``(n_values, n_classes)``."""
    prices: NDArray[np.int64]
    """What each member adds to each objective of members, at least 0, ``(n_prices, n_classifiers)``."""
    limits: SelectionLimits
    """Sizes, from 1."""
    budgets: NDArray[np.int64]
    """The most that each objective of members may sum to, ``(n_prices,)``."""
    paid: NDArray[np.int64] | None = None
    """What asking each costs, where the price that is paid is an objective, the last one,
    ``(n_classifiers,)``: its points are sums over all samples.
    """

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return self.votes.n_classifiers

    @property
    def has_threshold(self) -> bool:
        """Whether a threshold decides."""
        return isinstance(self.votes, Votes)

    @cached_property
    def class_sizes(self) -> NDArray[np.int64]:
        """How many samples there are of each class."""
        return np.bincount(
            self.votes.labels, weights=self.votes.counts, minlength=self.gains.shape[1]
        ).astype(np.int64)

    @property
    def n_values(self) -> int:
        """Number of objectives of values."""
        return len(self.gains)

    @property
    def n_committees(self) -> int:
        """How many there are within the sizes."""
        sizes = range(self.limits.min_size, self.limits.max_size + 1)
        return sum(math.comb(self.n_classifiers, size) for size in sizes)

    def is_size(self, price: int) -> bool:
        """Whether an objective of members is their number."""
        return self.objectives[self.n_values + price].name == SIZE

    def highest(self) -> NDArray[np.int64]:
        """Return each value when every row is right, and the sum of all values then, ``(n_values + 1,)``."""
        values = self.gains @ self.class_sizes
        return np.append(values, values.sum())

    def is_within(self, mask: Mask) -> bool:
        """Whether a committee keeps the limits."""
        return self.limits.satisfied_by(mask) and bool(
            (self.prices[:, mask].sum(axis=1) <= self.budgets).all()
        )

    def right(self, mask: Mask, threshold: int) -> NDArray[np.int64]:
        """Count the right decisions by class from the votes, ``(n_classes,)``."""
        if isinstance(self.votes, Votes):
            counts = confusion(self.votes, mask, threshold)
            return np.array([counts.true_negative, counts.true_positive], dtype=np.int64)
        return np.diag(decision_table(self.votes, mask))

    def point(self, mask: Mask, threshold: int) -> NDArray[np.int64]:
        """Return the objectives of a committee, minimised, counted from the votes."""
        linear = self.prices[:, mask].sum(axis=1, dtype=np.int64)
        paid = []
        if self.paid is not None:
            ballot = self.ballot(threshold, int(mask.sum()))
            added = ballot.added(self.answers[:, mask])
            paid = [price_paid(ballot, added, self.paid[mask], self.votes.counts)]
        return np.concatenate([-(self.gains @ self.right(mask, threshold)), linear, paid]).astype(np.int64)

    @property
    def answers(self) -> NDArray[np.uint8]:
        """The class that each classifier answers on each row, of two 1 for the positive one."""
        return self.votes.votes if isinstance(self.votes, Votes) else self.votes.codes

    def ballot(self, threshold: int, size: int) -> Ballot:
        """Return how that number of members decides."""
        if isinstance(self.votes, Votes):
            return Threshold(threshold, size)
        return Plurality(self.votes.n_classes)

    def weights(self, value: int) -> Weights | ClassWeights:
        """Return one of the values as what decisions are worth, for exact pruning."""
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
    the limits are on diversity or allow no members, or none that are few enough for ``price-paid``.

    `objectives`: at least two such as ``"max accuracy"`` or ``"min cost"``: ``max`` with a name in
    ``VALUE_OBJECTIVES`` or ``recall:CLASS``, ``min`` with one in ``MEMBER_OBJECTIVES``. `costs`: what each
    classifier adds to ``cost``, ``time`` and ``bytes``, as far as these are asked for; decimals of at least
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
            f"objectives of votes must be of decisions, got {all_of(averaged)}, which is of probabilities. "
            "Leave it out, or take mean_front_problem."
        )
    values = [name for name in names if name not in MEMBER_OBJECTIVES]
    prices = [name for name in names if name in MEMBER_OBJECTIVES and name != PAID]
    found = [_value(name, votes, labels) for name in values]
    charged = [price_objective(name, votes.n_classifiers, costs or {}, max_cost) for name in prices]
    ordered = [*values, *prices, PAID]
    paid = paid_objective(votes.n_classifiers, costs or {}, votes.n_samples) if PAID in names else None
    return CommitteeProblem(
        votes=votes,
        objectives=tuple(objective for objective, _ in found)
        + tuple(objective for objective, _, _ in charged)
        + (() if paid is None else (paid[0],)),
        asked=np.array([ordered.index(name) for name in names], dtype=np.intp),
        gains=np.array([gains for _, gains in found], dtype=np.int64).reshape(-1, n_classes),
        prices=np.array([price for _, price, _ in charged], dtype=np.int64).reshape(-1, votes.n_classifiers),
        limits=limits if paid is None else few_members(limits),
        budgets=np.array([budget for _, _, budget in charged], dtype=np.int64),
        paid=None if paid is None else paid[1],
    )


def read_objectives(objectives: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Return the names of objectives, each in its direction.

    `objectives`: such as ``max accuracy``; ``_`` and ``-`` are the same. `labels`: what the classes are
    called.

    Raises BadInputError as of :func:`committee_problem`.

    >>> read_objectives(["max accuracy", "min size"], ["no", "yes"])
    ['accuracy', 'size']
    """
    names: list[str] = []
    for text in objectives:
        sense, _, name = " ".join(text.split()).partition(" ")
        known = [f"max {value}" for value in (*VALUE_OBJECTIVES, f"{BY_CLASS}CLASS")] + [
            f"min {price}" for price in (*MEMBER_OBJECTIVES, *MEAN_LOSSES)
        ]
        if sense not in {"max", "min"} or not name:
            raise BadInputError(
                f"an objective must begin with max or min, such as 'max accuracy' or 'min cost', "
                f"got {text!r}."
            )
        plain = name if name.startswith(BY_CLASS) else name.replace("_", "-")
        minimised = plain in MEMBER_OBJECTIVES or plain in MEAN_LOSSES
        if not minimised and plain not in VALUE_OBJECTIVES and not plain.startswith(BY_CLASS):
            raise BadInputError(
                f"an objective must be {any_of(known, most=20)}, got {text!r}.{did_you_mean(text, known)}"
            )
        wanted = "min" if minimised else "max"
        if sense != wanted:
            raise BadInputError(
                f"{plain} gets better the {'less' if wanted == 'min' else 'more'} there is of it, "
                f"got {text!r}. Write '{wanted} {plain}'."
            )
        plain = _of_class(plain, labels)
        if plain in names:
            raise BadInputError(f"the objectives must all differ, got {plain} twice. Leave one of them out.")
        names.append(plain)
    losses = [name for name in names if name in MEAN_LOSSES]
    others = [name for name in names if name not in MEAN_LOSSES and name not in MEMBER_OBJECTIVES]
    if losses and others:
        raise BadInputError(
            f"{all_of(losses)} goes with objectives of members only, as probabilities are averaged "
            f"for it, got {all_of(others)}, which counts votes. Leave one of them out."
        )
    if len(names) < 2:
        raise BadInputError(
            f"a front needs at least two objectives, got {all_of(names)}. Add one, such as 'min size'."
        )
    return names


def _of_class(name: str, labels: Sequence[str]) -> str:
    if name.startswith(BY_CLASS):
        label = name.removeprefix(BY_CLASS)
        if label not in labels:
            raise BadInputError(
                "recall",
                f"must be of one of the classes {any_of(labels)}",
                repr(label),
                did_you_mean(label, labels),
            )
        if len(labels) == 2:
            return "recall" if label == labels[1] else "specificity"
    elif name in {"true-positives", "true-negatives", "recall", "specificity"} and len(labels) > 2:
        raise BadInputError(
            f"{name} needs a positive class, but there are {len(labels)} classes. Name one of them, as in "
            f"'max {BY_CLASS}{labels[-1]}'."
        )
    return name


def _value(
    name: str, votes: Votes | ClassVotes, labels: Sequence[str]
) -> tuple[Objective, NDArray[np.int64]]:
    """Return a value, and what a right row of each class adds to it."""
    n_classes = len(labels)
    sizes = np.bincount(votes.labels, weights=votes.counts, minlength=n_classes).astype(np.int64)
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


def price_objective(
    name: str, n_classifiers: int, given: Mapping[str, Sequence[float] | NDArray[Any]], max_cost: float | None
) -> tuple[Objective, NDArray[np.int64], int]:
    """Return an objective of members, what each adds to it, and the most that it may reach."""
    prices = [1.0] * n_classifiers if name == SIZE else given.get(name)
    if prices is None:
        raise BadInputError(
            f"min {name} needs the {name} of every member, got none. Pass it as costs[{name!r}]."
        )
    if len(prices) != n_classifiers:
        raise BadInputError(
            f"costs[{name!r}] must have one entry per classifier, {n_classifiers}, got {len(prices)}."
        )
    exact = [exact_cost(name, price) for price in np.asarray(prices).tolist()]
    limit = (
        sum(exact, Fraction(0)) if name != "cost" or max_cost is None else exact_cost("max_cost", max_cost)
    )
    (*whole, budget), scale = as_integers([*exact, limit])
    if max(sum(whole), budget) >= LARGEST_POINT:
        raise BadInputError(f"{name} must have fewer digits to stay exact. Round it.")
    return (
        Objective(name, Sense.MIN, scale, VALUE_UNITS.get(name, "")),
        np.array(whole, dtype=np.int64),
        budget,
    )


def paid_objective(
    n_classifiers: int, given: Mapping[str, Sequence[float] | NDArray[Any]], n_samples: int
) -> tuple[Objective, NDArray[np.int64]]:
    """Return the objective of the price that is paid, whose points are sums over samples, and the prices."""
    cost, prices, _ = price_objective("cost", n_classifiers, given, None)
    if int(prices.sum()) * n_samples >= LARGEST_POINT:
        raise BadInputError(f"`cost` must have fewer digits for {PAID} to stay exact. Round it.")
    return Objective(PAID, Sense.MIN, (cost.scale or 1) * n_samples), prices


def few_members(limits: SelectionLimits) -> SelectionLimits:
    """Return the limits on size within which the cheapest order is known."""
    if limits.min_size > FEW_MEMBERS:
        raise BadInputError(
            "min_size",
            f"must be at most {FEW_MEMBERS} with min {PAID}",
            f"{limits.min_size}: the cheapest order is known up to that size",
            "Lower it, or take min cost.",
        )
    return replace(limits, max_size=min(limits.max_size, FEW_MEMBERS))


REPEATS = 5
"""Number of measurements, of which the median is taken."""

DECIMALS = 3
"""Of milliseconds per 1,000 rows."""


def member_times(pool: Pool, X: Any, *, clock: Callable[[], float] = seconds_now) -> NDArray[np.float64]:
    """Measure how long each member takes, in milliseconds per 1,000 rows, ``(n_classifiers,)``.

    The rows are transformed once before, which all members share, and that is not counted. The measurement
    depends on the machine and on what else it does.

    `pool`: whose members are asked, one after the other and each several times. `X`, ``(n_samples,
    n_features)``: at least one row. `clock`: tells the time in seconds.
    """
    rows = X if pool.preprocessor is None else pool.preprocessor.transform(X)
    times = []
    for k in range(len(pool)):
        alone = pool.subset([k])
        if pool.preprocessor is not None:
            alone = dataclasses.replace(alone, preprocessor=None, n_features_in=None, feature_names_in=None)
        seconds = []
        for _ in range(REPEATS):
            start = clock()
            class_answers(alone, rows)
            seconds.append(clock() - start)
        times.append(statistics.median(seconds) * 1e6 / len(X))
    return np.asarray(np.round(times, DECIMALS))


def member_bytes(pool: Pool) -> NDArray[np.float64]:
    """Return how many bytes each member takes as a pickle, ``(n_classifiers,)``.

    Raises BadInputError if a member cannot be pickled; the sentence names it.
    """
    sizes = []
    for name, member in zip(pool.names, pool.classifiers, strict=True):
        try:
            sizes.append(len(pickle.dumps(member)))
        except (pickle.PicklingError, AttributeError, TypeError, RuntimeError, ValueError) as error:
            raise BadInputError(
                f"classifier {name} cannot be saved ({type(error).__name__}), so its bytes are not known. "
                "Leave it out of the pool, or leave out min bytes."
            ) from None
    return np.array(sizes, dtype=np.float64)
