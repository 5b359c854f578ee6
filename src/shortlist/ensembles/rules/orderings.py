"""Classifiers in an order of which a prefix is kept."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Counts, Mask
from shortlist.ensembles.rules import _kernels
from shortlist.ensembles.votes.class_votes import ClassVotes, Members, no_votes
from shortlist.pickles import saved_from

LEAST_SHARE, MOST_SHARE = Fraction(1, 5), Fraction(4, 5)
"""Shares of K between which rules without a size vary it (Section 5.2 of :cite:t:`Bastos2022`)."""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class Ordering:
    """Classifiers in the order in which a rule takes them, and how many of them are kept."""

    order: Members
    """Each classifier once, ``(n_steps,)``; rules that stop by themselves end early."""
    right: Counts
    """Samples that the plurality vote of every prefix decides right, ``(n_steps,)``."""
    fitness: NDArray[np.float64] | None
    """The rule's own value of every prefix, the larger the better, ``(n_steps,)``; NaN where it is not
    defined.
    """
    size: int
    """How many are kept."""

    @property
    def members(self) -> Members:
        """The classifiers that are kept, in the order in which they joined."""
        return self.order[: self.size]


def keep_all(votes: ClassVotes) -> Ordering:
    """Keep every classifier, ordered by accuracy."""
    ordering = _by_accuracy(votes)
    return Ordering(ordering.order, ordering.right, None, votes.n_classifiers)


def keep_best(votes: ClassVotes) -> Ordering:
    """Keep the classifier that is right most often alone, the first of equals."""
    ordering = _by_accuracy(votes)
    return Ordering(ordering.order, ordering.right, None, 1)


def reduced_error(votes: ClassVotes) -> Ordering:
    """Add the classifier with which most samples are right: hill climbing by accuracy, which is its fitness.

    Of equal ones the more accurate alone wins, then the lowest index; of equal prefixes the smallest. A
    plurality's ties go to the lowest class.

    >>> from shortlist.ensembles.votes.class_votes import class_votes
    >>> votes = class_votes([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0]], [1, 1, 1, 0])
    >>> reduced_error(votes).members.tolist()
    [1, 2, 0]
    """
    order, right = empty_order(votes)
    climb = _kernels.Climb(single_right(votes), no_votes(votes), order.copy(), everyone(votes))
    listed = np.arange(len(votes.labels))
    _kernels.climb_by_accuracy(_kernels.coded_rows(votes), climb, listed, order, right)
    return Ordering(order, right, right / votes.n_samples, int(right.argmax()) + 1)


def single_right(votes: ClassVotes) -> Counts:
    """Count the samples on which each classifier is right alone, ``(n_classifiers,)``."""
    right = np.zeros(votes.n_classifiers, dtype=np.int64)
    _kernels.count_right(votes.codes, votes.labels, votes.counts, right)
    return right


def sizes_to_try(n_classifiers: int) -> range:
    """Return the sizes between 20 % and 80 % of K, at least 1.

    >>> list(sizes_to_try(10)), list(sizes_to_try(1))
    ([2, 3, 4, 5, 6, 7, 8], [1])
    """
    least = max(1, -int(-LEAST_SHARE * n_classifiers // 1))
    return range(least, max(least, int(MOST_SHARE * n_classifiers)) + 1)


def _by_accuracy(votes: ClassVotes) -> Ordering:
    return best_prefix(votes, np.argsort(-single_right(votes), kind="stable"))


def best_prefix(votes: ClassVotes, order: NDArray[np.int64], *, vary_size: bool = False) -> Ordering:
    """Keep the prefix whose vote is right most often, the smallest of equals."""
    right = np.empty(len(order), dtype=np.int64)
    order = np.require(order, np.int64, ["C", "W"])
    _kernels.count_prefixes(_kernels.coded_rows(votes), no_votes(votes), order, right)
    sizes = sizes_to_try(len(order)) if vary_size else range(1, len(order) + 1)
    size = sizes[int(right[sizes.start - 1 : sizes.stop - 1].argmax())]
    return Ordering(order, right, None, size)


def empty_order(votes: ClassVotes) -> tuple[NDArray[np.int64], Counts]:
    """Return room for an order, and for what its prefixes decide right."""
    return np.empty(votes.n_classifiers, dtype=np.int64), np.empty(votes.n_classifiers, dtype=np.int64)


def everyone(votes: ClassVotes) -> Mask:
    """Return the mask of all classifiers."""
    return np.ones(votes.n_classifiers, dtype=bool)
