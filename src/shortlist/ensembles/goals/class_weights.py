"""What a right decision is worth in each of several classes, as exact integers."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_choice
from shortlist.arrays import Counts, Mask
from shortlist.ensembles.votes.class_votes import ClassVotes, class_tally, plurality
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
        At least 1 for every class that occurs, 0 for the others.
    denominator : int
        The weighted sum when every decision is right, so that values lie in [0, 1].
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
        return int(self.row_gains(votes)[decide(votes, mask) == votes.labels].sum())

    def value(self, total: int) -> float:
        """Turn a weighted sum into the user's unit."""
        return total / self.denominator


def class_weights(objective: str, votes: ClassVotes) -> ClassWeights:
    """Return the weights of a named objective on these rows.

    Parameters
    ----------
    objective : str
        A name in :data:`CLASS_OBJECTIVES`; ``_`` and ``-`` are the same.
    votes : ClassVotes
        The rows; the sizes of the classes enter balanced accuracy, where a class without rows counts nothing.

    Raises
    ------
    BadInputError
        If the name is unknown.

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
    """
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


def decide(votes: ClassVotes, mask: Mask) -> NDArray[np.uint8]:
    """Return the class that the members in `mask` decide for on every row."""
    return plurality(class_tally(votes.codes[:, mask], votes.n_classes))


def decision_table(votes: ClassVotes, mask: Mask) -> NDArray[np.int64]:
    """Count the samples by true class and decision, ``(n_classes, n_classes)``.

    Right ones stand on the diagonal.
    """
    table = np.zeros((votes.n_classes, votes.n_classes), dtype=np.int64)
    np.add.at(table, (votes.labels, decide(votes, mask)), votes.counts)
    return table
