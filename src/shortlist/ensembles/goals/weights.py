"""Worth of a decision: the weights of the confusion matrix, as exact integers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_choice
from shortlist._words import all_of, any_of, did_you_mean
from shortlist.arrays import Counts, Floats, Labels, Mask
from shortlist.ensembles.votes.hard_votes import (
    ClassVotes,
    Confusion,
    Votes,
    class_votes,
    decided_classes,
    tally,
)
from shortlist.errors import BadInputError
from shortlist.exact import as_fraction, as_integers
from shortlist.results.objective import Objective, Sense

WEIGHTED = "weighted"
"""Name of an objective that consists of the user's own weights."""

WEIGHT_NAMES = ("tp", "fn", "tn", "fp")
"""Names of the paper's weights W_T+, W_F-, W_T- and W_F+, after the decisions that they weigh."""

PRUNING_OBJECTIVES = {
    "accuracy": "share of right decisions",
    "balanced-accuracy": "mean of the shares of right decisions in the two classes",
    "theta-weighted": "the paper's weights 1 - θ and θ: the same best selections as balanced-accuracy "
    "(Theorem 1)",
    "recall": "share of the positive rows that are found",
    "specificity": "share of the negative rows that are left alone",
}
"""Description of each named objective."""


@dataclass(frozen=True)
class Weights:
    """Weights of the four kinds of decision: ``value = (tp·TP + fn·FN + tn·TN + fp·FP) / denominator``."""

    objective: Objective
    tp: int
    fn: int
    tn: int
    fp: int
    denominator: int
    slack: ClassVar[int] = 0
    """Difference of two weighted sums within which they count as equal: 0, as these sums are exact."""
    tolerance: ClassVar[float] = 0.0
    """Difference of two values within which they count as equal: 0, as weighted sums are exact."""

    @property
    def gain_positive(self) -> int:
        """Increment by a right decision on a positive row: W_T+ − W_F-."""
        return self.tp - self.fn

    @property
    def gain_negative(self) -> int:
        """Increment by a right decision on a negative row: W_T- − W_F+."""
        return self.tn - self.fp

    def signed_gains(self, votes: Votes) -> NDArray[np.int64]:
        """Return the gain of answering positive instead of negative on each row of `votes`, ``(n_rows,)``."""
        per_sample = np.where(votes.labels == 1, self.gain_positive, -self.gain_negative)
        return np.asarray(per_sample * votes.counts, dtype=np.int64)

    def total(self, counts: Confusion) -> int:
        """Return the weighted sum of Eq. 1 of :cite:t:`Bastos2022` as an exact integer."""
        return (
            self.tp * counts.true_positive
            + self.fn * counts.false_negative
            + self.tn * counts.true_negative
            + self.fp * counts.false_positive
        )

    def value(self, total: int) -> float:
        """Return a weighted sum in the user's unit."""
        return total / self.denominator

    def floor(self, votes: Votes) -> int:
        """Return the weighted sum if every decision is wrong; each right decision adds its gain to it."""
        return self.fn * votes.n_positive + self.fp * votes.n_negative

    def all_negative(self, votes: Votes) -> int:
        """Return the weighted sum if every row is answered negative."""
        return self.fn * votes.n_positive + self.tn * votes.n_negative

    @property
    def step(self) -> int:
        """Greatest common divisor of all differences of two weighted sums."""
        return math.gcd(self.gain_positive, self.gain_negative) or 1


def named_weights(objective: str | Mapping[str, float], votes: Votes) -> Weights:
    """Return the weights of a named objective on these rows, or explicit ones.

    Raises BadInputError if the name is unknown or a weight is not a finite number, or has too many digits to
    stay exact.

    `objective`: a name in :data:`PRUNING_OBJECTIVES` (``_`` and ``-`` are the same), or weights per decision
    by the names ``tp``, ``fn``, ``tn``, ``fp``; missing weights are 0. A weight may have any sign, and must
    be a decimal number. `votes`: the rows; ``balanced-accuracy`` and similar objectives depend on the class
    sizes.

    Sums are integers below 2^53, so ties and optimality are decided exactly.
    """
    return sized_weights(objective, votes.n_positive, votes.n_negative)


def sized_weights(objective: str | Mapping[str, float], n1: int, n0: int) -> Weights:
    """Return the weights of an objective for `n1` positive and `n0` negative rows.

    See :func:`named_weights`.
    """
    n = n1 + n0
    if isinstance(objective, Mapping):
        return _explicit(objective, n)
    name = str(objective).replace("_", "-")
    parts = {
        "accuracy": (1, 0, 1, 0, n),
        "balanced-accuracy": (n0, 0, n1, 0, 2 * n0 * n1),
        "theta-weighted": (n0, 0, n1, 0, n),
        "recall": (1, 0, 0, 0, n1),
        "specificity": (0, 0, 1, 0, n0),
    }.get(name)
    if parts is None:
        raise BadInputError(
            "objective",
            f"must be {any_of(sorted(PRUNING_OBJECTIVES))}, or weights",
            repr(objective),
            did_you_mean(name, PRUNING_OBJECTIVES),
        )
    return Weights(Objective(name, Sense.MAX, scale=None), *parts)


def threshold_of(tallies: NDArray[np.int64], signed_gains: NDArray[np.int64], size: int) -> tuple[int, int]:
    """Return the best threshold for these tallies, and its gain over answering negative on every row.

    Of equally good thresholds the one nearest to half the members is taken; of two equally near, the lower
    one. `tallies`: number of positive votes on each row. `signed_gains`: gain of answering positive instead
    of negative on each row. `size`: number of members.
    """
    per_tally = np.bincount(tallies, weights=signed_gains, minlength=size + 1)  # exact below 2^53
    # with threshold L the rows with more than L votes are positive
    above = per_tally[::-1].cumsum()[::-1]
    gain = np.append(above[1:], 0.0)
    best = np.flatnonzero(gain == gain.max())
    return int(best[np.argmin(np.abs(2 * best - size))]), int(gain.max())


def best_threshold(votes: Votes, weights: Weights, mask: Mask) -> tuple[int, int]:
    """Return the threshold with the largest weighted sum for the members in `mask`, and that sum.

    Takes O(n_rows · n_members) time.
    """
    threshold, gain = threshold_of(tally(votes.votes, mask), weights.signed_gains(votes), int(mask.sum()))
    return threshold, gain + weights.all_negative(votes)


def _explicit(weights: Mapping[str, float], n_samples: int) -> Weights:
    unknown = [name for name in weights if name not in WEIGHT_NAMES]
    if unknown or not weights:
        raise BadInputError(
            f"objective weights must be named {any_of(WEIGHT_NAMES)}, got {all_of(map(repr, weights))}."
        )
    integers, denominator = as_integers([exact_weight(name, weights.get(name, 0)) for name in WEIGHT_NAMES])
    if max(map(abs, integers)) * n_samples >= 2**52:
        raise BadInputError(
            f"objective weights must have fewer digits to stay exact, got "
            f"{all_of(f'{name}={weight:g}' for name, weight in weights.items())}. Round them."
        )
    tp, fn, tn, fp = integers
    return Weights(Objective(WEIGHTED, Sense.MAX, scale=None), tp, fn, tn, fp, denominator)


def exact_weight(name: object, weight: float) -> Fraction:
    """Return an explicit weight as a fraction; raise BadInputError unless it is a finite number."""
    exact = as_fraction(weight, only_numbers=True)
    if exact is None:
        raise BadInputError(f"objective weight {name} must be a finite number, got {weight!r}.")
    return exact


CLASS_OBJECTIVES = {
    "accuracy": "share of right decisions",
    "balanced-accuracy": "mean of the shares of right decisions in the classes that occur",
}
"""Description of each named objective."""

EXACT_DENOMINATOR, LARGEST_DENOMINATOR = 2**28, 2**40
"""Largest denominators of weights.

Up to the first, solvers' bounds, which are doubles, distinguish all weighted sums. Denominators above the
second are rounded.
"""

BOUND_TOLERANCE = 2e-9
"""Tolerance on a solver's bound beyond :data:`EXACT_DENOMINATOR`, for a value of 1."""


@dataclass(frozen=True, eq=False)
class ClassWeights:
    """Gain of a right decision on each class: ``value = sum(gains * right) / denominator``."""

    objective: Objective
    """Objective that ``value`` measures."""
    gains: NDArray[np.int64]
    """Gains of right decisions, at least 0, ``(n_classes,)``. For a named objective at least 1 for every
    class with rows, otherwise 0.
    """
    denominator: int
    """Denominator of values. For a named objective it is the weighted sum if every decision is right, so that
    values lie in [0, 1]. For explicit weights it is the common denominator that makes the gains integers.
    """
    tolerance: float = 0.0
    """Difference of two values up to which they count as equal. It is 0, unless weighted sums have more
    digits than solvers can tell apart.
    """

    @property
    def slack(self) -> int:
        """Difference of two weighted sums that corresponds to `tolerance`."""
        return int(self.tolerance * self.denominator)

    def row_gains(self, votes: ClassVotes) -> Counts:
        """Return the gain of being right on each row, as a part of the weighted sum, ``(n_rows,)``."""
        return np.asarray(self.gains[votes.labels] * votes.counts, dtype=np.int64)

    def total(self, votes: ClassVotes, mask: Mask) -> int:
        """Return the weighted sum of the plurality vote of the members in `mask`, counted from the votes."""
        return int(self.row_gains(votes)[decided_classes(votes, mask) == votes.labels].sum())

    def value(self, total: int) -> float:
        """Return a weighted sum in the user's unit."""
        return total / self.denominator


def class_weights(objective: str | Mapping[Any, float], votes: ClassVotes) -> ClassWeights:
    """Return the weights of a named objective on these rows, or explicit ones.

    Raises BadInputError if the name is unknown, or a weight is negative or no finite number, or has too many
    digits to stay exact.

    `objective`: a name in :data:`CLASS_OBJECTIVES` (``_`` and ``-`` are the same), or the gain of a right
    decision on a row of each class, by the index of the class; missing gains are 0. Each gain must be a
    decimal number of at least 0, and one gain must be above 0. `votes`: the rows; balanced accuracy depends
    on the sizes of the classes, and a class without rows has no weight in it.

    Balanced accuracy weighs class c by the least common multiple of the class sizes over the size n_c. Where
    the multiple is larger than :data:`LARGEST_DENOMINATOR`, as it may be with many classes, weights are
    multiples of one part in 2^40 instead. A value then lies within half of `tolerance` of the definition.

    >>> from shortlist.ensembles.votes.hard_votes import class_votes
    >>> votes = class_votes([[0], [0], [1], [2], [2], [2]], [0, 0, 1, 2, 2, 2])
    >>> class_weights("balanced-accuracy", votes).gains.tolist()
    [3, 6, 2]
    >>> class_weights({1: 2.5, 2: 1}, votes).gains.tolist()
    [0, 5, 2]
    """
    if isinstance(objective, Mapping):
        return _explicit_of_classes(objective, votes)
    name = as_choice(str(objective).replace("_", "-"), "objective", list(CLASS_OBJECTIVES))
    sizes = np.zeros(votes.n_classes, dtype=np.int64)
    np.add.at(sizes, votes.labels, votes.counts)
    occurs = sizes > 0
    kind = Objective(name, Sense.MAX, scale=None)
    if name == "accuracy":
        return ClassWeights(kind, occurs.astype(np.int64), votes.n_samples)
    present = [int(size) for size in sizes[occurs]]
    common = math.lcm(*present)
    denominator, tolerance = common * len(present), 0.0
    if denominator <= LARGEST_DENOMINATOR:
        weights = [common // size for size in present]
    else:
        weights = [LARGEST_DENOMINATOR // (size * len(present)) + 1 for size in present]
        denominator = sum(weight * size for weight, size in zip(weights, present, strict=True))
        tolerance = 4 * votes.n_samples / LARGEST_DENOMINATOR
    if denominator > EXACT_DENOMINATOR:
        tolerance += BOUND_TOLERANCE
    gains = np.zeros(votes.n_classes, dtype=np.int64)
    gains[occurs] = weights
    return ClassWeights(kind, gains, denominator, tolerance)


def _explicit_of_classes(weights: Mapping[Any, float], votes: ClassVotes) -> ClassWeights:
    exact = [exact_weight(label, weight) for label, weight in weights.items()]
    if min(exact, default=0) < 0 or max(exact, default=0) == 0:
        given = ", ".join(f"{label}={weight:g}" for label, weight in weights.items())
        raise BadInputError(
            f"objective weights of classes must be at least 0, one of them above 0, got {given or 'none'}."
        )
    integers, denominator = as_integers(exact)
    most = max(integers) * votes.n_samples
    if most >= 2**52:
        raise BadInputError("objective weights must have fewer digits to stay exact. Round them.")
    gains = np.zeros(votes.n_classes, dtype=np.int64)
    gains[[int(label) for label in weights]] = integers
    tolerance = BOUND_TOLERANCE * most / denominator if most > EXACT_DENOMINATOR else 0.0
    return ClassWeights(Objective(WEIGHTED, Sense.MAX, scale=None), gains, denominator, tolerance)


def weights_of(objective: str | Mapping[Any, float], votes: Votes | ClassVotes) -> Weights | ClassWeights:
    """Return the weights of an objective on rows of two classes, or of several classes."""
    return named_weights(objective, votes) if isinstance(votes, Votes) else class_weights(objective, votes)


def for_classes(
    objective: str | Mapping[Any, float], classes: Labels, positive: Any = None
) -> str | Mapping[Any, float]:
    """Return explicit weights with labels replaced by indices, or by ``tp`` and ``tn``.

    Raises BadInputError if the name of a weight is no class.

    `objective`: a name, which stays as it is, or weights by label; a label may be given as text. Two classes
    may also have weights by decision, which stay as they are. `classes`: all labels, sorted,
    ``(n_classes,)``. `positive`: the positive class of two; unused for more classes.

    >>> for_classes({"setosa": 1, "virginica": 3}, np.array(["setosa", "versicolor", "virginica"]))
    {0: 1, 2: 3}
    >>> for_classes({"no": 1, "yes": 5}, np.array(["no", "yes"]), "yes")
    {'tn': 1, 'tp': 5}
    """
    if not isinstance(objective, Mapping):
        return objective
    two = len(classes) == 2 and positive is not None
    if two and all(name in WEIGHT_NAMES for name in objective):
        return objective
    places = {str(label): place for place, label in enumerate(classes.tolist())}
    known = [*WEIGHT_NAMES, *places] if two else list(places)
    weights: dict[Any, float] = {}
    for label in objective:
        if label not in known and str(label) not in places:
            raise BadInputError(
                f"objective weights must be named {any_of(known)}, got {label!r}.{did_you_mean(label, known)}"
            )
    for label, weight in objective.items():
        if str(label) not in places:
            raise BadInputError(
                f"objective weights must be named by kinds of decisions or by classes, got both: {label!r} "
                "is a kind of decision. Name all of them alike."
            )
        place = places[str(label)]
        if two:
            weights["tp" if classes[place] == positive else "tn"] = weight
        else:
            weights[place] = weight
    return weights


def worth_of_right(
    objective: str | Mapping[Any, float], truth: NDArray[np.integer], n_classes: int, positive: int | None
) -> tuple[str, Floats]:
    """Return the name of the objective that compares rules, and the worth of a right answer on each row.

    The worth is the gain times the number of rows, ``(n_rows,)``, so that the mean over rows is the value in
    the user's unit. Selections by the paper's weights are compared by balanced accuracy, which ranks
    selections as these weights do.

    `truth`, ``(n_rows,)``: indices of classes. `positive`: index of the positive class of two; None: weights
    are by class.

    >>> name, worth = worth_of_right("balanced-accuracy", np.array([0, 1, 1, 1]), 2, 1)
    >>> name, worth.round(4).tolist()
    ('balanced-accuracy', [2.0, 0.6667, 0.6667, 0.6667])
    >>> worth_of_right({"tp": 1, "tn": 1, "fp": -5}, np.array([0, 1]), 2, 1)[1].tolist()
    [6.0, 1.0]
    """
    objective = "balanced-accuracy" if _is_theta_weighted(objective) else objective
    if positive is None:
        by_class = class_weights(objective, class_votes(truth[:, None], truth, n_classes=n_classes))
        name, gains, whole = by_class.objective.name, by_class.gains[truth], by_class.denominator
    else:
        n_positive = int((truth == positive).sum())
        two = sized_weights(objective, n_positive, len(truth) - n_positive)
        gains = np.where(truth == positive, two.gain_positive, two.gain_negative)
        name, whole = two.objective.name, two.denominator
    return name, gains * (1 if name == WEIGHTED else len(truth)) / max(1, whole)


def _is_theta_weighted(objective: str | Mapping[Any, float]) -> bool:
    return isinstance(objective, str) and objective.replace("_", "-") == "theta-weighted"


def decision_table(votes: ClassVotes, mask: Mask) -> NDArray[np.int64]:
    """Return the number of samples by true class and decision, ``(n_classes, n_classes)``.

    Right decisions are on the diagonal. A row that no member answers is not counted.
    """
    table, decided = np.zeros((votes.n_classes, votes.n_classes), np.int64), decided_classes(votes, mask)
    answered = decided >= 0
    np.add.at(table, (votes.labels[answered], decided[answered]), votes.counts[answered])
    return table
