"""What a right decision is worth in each of several classes, as exact integers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_choice
from shortlist._words import any_of, did_you_mean
from shortlist.arrays import Counts, Labels, Mask
from shortlist.ensembles.goals.weights import WEIGHT_NAMES, Weights, exact_weight, named_weights
from shortlist.ensembles.votes.binary_votes import Votes
from shortlist.ensembles.votes.class_votes import ClassVotes, class_tally, plurality
from shortlist.errors import BadInputError
from shortlist.exact import as_integers
from shortlist.results.objective import Objective, Sense

CLASS_OBJECTIVES = {
    "accuracy": "share of right decisions",
    "balanced-accuracy": "mean of the shares of right decisions in the classes that occur",
}
"""The named objectives."""

EXACT_DENOMINATOR, LARGEST_DENOMINATOR = 2**28, 2**40
"""Solvers' bounds, which are doubles, tell weighted sums apart up to the first; larger than the second ones
are rounded.
"""

BOUND_TOLERANCE = 2e-9
"""By how much a solver's bound may be off beyond :data:`EXACT_DENOMINATOR`, for a value of 1."""


@dataclass(frozen=True, eq=False)
class ClassWeights:
    """Worth of a right decision by class: ``value = sum(gains * right) / denominator``.

    Attributes
    ----------
    objective : Objective
        What the value is called.
    gains : ndarray of int64, shape (n_classes,)
        At least 0; of a named objective at least 1 for every class that occurs, and 0 for the others.
    denominator : int
        Of a named objective the weighted sum when every decision is right, so that values lie in [0, 1]; of
        explicit weights what makes them integers.
    tolerance : float
        Values closer than this are not told apart; 0 unless weighted sums have more digits than solvers do.
    """

    objective: Objective
    gains: NDArray[np.int64]
    denominator: int
    tolerance: float = 0.0

    @property
    def slack(self) -> int:
        """The tolerance as a difference of weighted sums."""
        return int(self.tolerance * self.denominator)

    def row_gains(self, votes: ClassVotes) -> Counts:
        """Return what being right on each row adds to the weighted sum, ``(n_rows,)``."""
        return np.asarray(self.gains[votes.labels] * votes.counts, dtype=np.int64)

    def total(self, votes: ClassVotes, mask: Mask) -> int:
        """Count what the plurality vote of the members in `mask` is worth, from the votes alone."""
        return int(self.row_gains(votes)[decided_classes(votes, mask) == votes.labels].sum())

    def value(self, total: int) -> float:
        """Turn a weighted sum into the user's unit."""
        return total / self.denominator


def class_weights(objective: str | Mapping[Any, float], votes: ClassVotes) -> ClassWeights:
    """Return the weights of a named objective on these rows, or explicit ones.

    Parameters
    ----------
    objective : str or mapping
        A name in :data:`CLASS_OBJECTIVES` (``_`` and ``-`` are the same), or what a right decision on a row
        of each class is worth, by the index of the class; those left out are 0. Each must be a decimal
        number of at least 0, and one above 0.
    votes : ClassVotes
        The rows; the sizes of the classes enter balanced accuracy, where a class without rows counts nothing.

    Raises
    ------
    BadInputError
        If the name is unknown, or a weight is negative or no finite number, or has too many digits to stay
        exact.

    Notes
    -----
    Balanced accuracy weighs class c by the least common multiple of the class sizes over the size n_c. Where
    that passes :data:`LARGEST_DENOMINATOR`, as it may with many classes, weights are multiples of one part in
    2^40 instead: a value then lies within half of `tolerance` of the definition.

    Examples
    --------
    >>> from shortlist.ensembles.votes.class_votes import class_votes
    >>> votes = class_votes([[0], [0], [1], [2], [2], [2]], [0, 0, 1, 2, 2, 2])
    >>> class_weights("balanced-accuracy", votes).gains.tolist()
    [3, 6, 2]
    >>> class_weights({1: 2.5, 2: 1}, votes).gains.tolist()
    [0, 5, 2]
    """
    if isinstance(objective, Mapping):
        return _explicit(objective, votes)
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


def _explicit(weights: Mapping[Any, float], votes: ClassVotes) -> ClassWeights:
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
    return ClassWeights(Objective("weighted", Sense.MAX, scale=None), gains, denominator, tolerance)


def weights_of(objective: str | Mapping[Any, float], votes: Votes | ClassVotes) -> Weights | ClassWeights:
    """Return the weights of a weighted sum on rows of two classes, or of several."""
    return named_weights(objective, votes) if isinstance(votes, Votes) else class_weights(objective, votes)


def for_classes(
    objective: str | Mapping[Any, float], classes: Labels, positive: Any = None
) -> str | Mapping[Any, float]:
    """Replace the labels in explicit weights by what the goals know: indices, or ``tp`` and ``tn``.

    Parameters
    ----------
    objective : str or mapping
        A name, which stays as it is, or weights by label; a label may be given as text. With two classes also
        weights by decision, which stay as they are.
    classes : ndarray of shape (n_classes,)
        All labels, sorted.
    positive : label, optional
        Of two classes the positive one; with more it is not used.

    Raises
    ------
    BadInputError
        If a weight is named after no class.

    Examples
    --------
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


def decided_classes(votes: ClassVotes, mask: Mask) -> NDArray[np.uint8]:
    """Return the class that the members in `mask` decide for on every row."""
    return plurality(class_tally(votes.codes[:, mask], votes.n_classes))


def decision_table(votes: ClassVotes, mask: Mask) -> NDArray[np.int64]:
    """Count the samples by true class and decision, ``(n_classes, n_classes)``.

    Right ones stand on the diagonal.
    """
    table = np.zeros((votes.n_classes, votes.n_classes), dtype=np.int64)
    np.add.at(table, (votes.labels, decided_classes(votes, mask)), votes.counts)
    return table
