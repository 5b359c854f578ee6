"""Pruning rules: prefixes of orders, hill climbing with replacement of members, and greedy means."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist._words import all_of
from shortlist.arrays import Counts, Mask
from shortlist.ensembles import _rule_kernels as _kernels
from shortlist.ensembles.votes.hard_votes import ClassVotes, Members, no_votes
from shortlist.ensembles.votes.soft_votes import WHOLE, SoftVotes
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from

LEAST_SHARE, MOST_SHARE = Fraction(1, 5), Fraction(4, 5)
"""Least and largest size as shares of the number K of classifiers, for rules without a given size (Section
5.2 of :cite:t:`Bastos2022`).
"""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class Ordering:
    """Classifiers in the order in which a rule takes them, and the number of classifiers that it keeps."""

    order: Members
    """Indices of classifiers, each once, ``(n_steps,)``; a rule that stops early leaves some out."""
    right: Counts
    """Number of samples that the plurality vote of every prefix decides right, ``(n_steps,)``."""
    fitness: NDArray[np.float64] | None
    """Value of every prefix by the rule's own measure, where larger is better, ``(n_steps,)``; NaN for an
    undefined value.
    """
    size: int
    """Number of kept classifiers."""

    @property
    def members(self) -> Members:
        """Indices of the kept classifiers, in the order of joining."""
        return self.order[: self.size]


def keep_all(votes: ClassVotes) -> Ordering:
    """Return an ordering by accuracy that keeps every classifier."""
    ordering = _by_accuracy(votes)
    return Ordering(ordering.order, ordering.right, None, votes.n_classifiers)


def keep_best(votes: ClassVotes) -> Ordering:
    """Return an ordering that keeps the classifier that is right most often alone, the first of equals."""
    ordering = _by_accuracy(votes)
    return Ordering(ordering.order, ordering.right, None, 1)


def reduced_error(votes: ClassVotes) -> Ordering:
    """Return an ordering by hill climbing: the next classifier is the one with which most samples are right.

    The fitness is accuracy. Of equally good classifiers, the one with the higher accuracy alone is taken,
    then the lowest index. Of equally good prefixes, the smallest is kept. A plurality's ties go to the lowest
    class.

    >>> from shortlist.ensembles.votes.hard_votes import class_votes
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
    """Return the number of samples that each classifier decides right alone, ``(n_classifiers,)``."""
    right = np.zeros(votes.n_classifiers, dtype=np.int64)
    _kernels.count_right(votes.codes, votes.labels, votes.counts, right)
    return right


def sizes_to_try(n_classifiers: int) -> range:
    """Return the sizes from 20 % to 80 % of the number of classifiers, at least size 1.

    >>> list(sizes_to_try(10)), list(sizes_to_try(1))
    ([2, 3, 4, 5, 6, 7, 8], [1])
    """
    least = max(1, -int(-LEAST_SHARE * n_classifiers // 1))
    return range(least, max(least, int(MOST_SHARE * n_classifiers)) + 1)


def _by_accuracy(votes: ClassVotes) -> Ordering:
    return best_prefix(votes, np.argsort(-single_right(votes), kind="stable"))


def best_prefix(votes: ClassVotes, order: NDArray[np.int64], *, vary_size: bool = False) -> Ordering:
    """Return the ordering with the prefix whose vote is right most often, the smallest of equals."""
    right = np.empty(len(order), dtype=np.int64)
    order = np.require(order, np.int64, ["C", "W"])
    _kernels.count_prefixes(_kernels.coded_rows(votes), no_votes(votes), order, right)
    sizes = sizes_to_try(len(order)) if vary_size else range(1, len(order) + 1)
    size = sizes[int(right[sizes.start - 1 : sizes.stop - 1].argmax())]
    return Ordering(order, right, None, size)


def empty_order(votes: ClassVotes) -> tuple[NDArray[np.int64], Counts]:
    """Return two empty arrays: for an order of all classifiers, and for the right samples of its prefixes."""
    return np.empty(votes.n_classifiers, dtype=np.int64), np.empty(votes.n_classifiers, dtype=np.int64)


def everyone(votes: ClassVotes) -> Mask:
    """Return the mask of all classifiers."""
    return np.ones(votes.n_classifiers, dtype=bool)


LEAST_BETTER = 1e-12
"""Least increase of a mean logarithm that counts as better."""


def greedy_means(
    votes: SoftVotes, *, n_steps: int = 30, n_bags: int = 0, share: float = 0.5, seed: int = 0
) -> NDArray[np.int64]:
    """Return the number of times that each classifier is taken into a mean with a small log loss.

    This is the method of :cite:t:`Caruana2004`. In every step, the classifier joins with which the mean has
    the least log loss; a member may join again. The members after the best step are kept. With bags, each bag
    does the same with a random share of the classifiers, and the members of all bags are taken together. So
    members are not only the few classifiers that fit these rows best. Raises BadInputError if a number is out
    of range.

    `n_steps`: number of steps, in each bag if there are bags. `n_bags`: number of bags; 0: one search among
    all classifiers. `share`: share of the classifiers in a bag, above 0 and at most 1; a bag has at least
    one. The returned numbers, ``(n_classifiers,)``, are not all 0. Of equally good classifiers, the one with
    the lowest index joins.

    Takes O(n_bags · n_steps · n_rows · n_classifiers) time. A probability below 1 / (2^15 - 1) counts as 1 /
    (2^15 - 1).

    >>> from shortlist.ensembles.votes.soft_votes import soft_votes
    >>> votes = soft_votes([[[0.9, 0.1], [0.4, 0.6]], [[0.6, 0.4], [0.3, 0.7]]], [0, 1])
    >>> greedy_means(votes, n_steps=3).tolist()
    [2, 1]
    """
    steps = as_count(n_steps, "n_steps")
    bags = as_count(n_bags, "n_bags", at_least=0)
    if not 0 < share <= 1:
        raise BadInputError("share", "must be above 0 and at most 1", share)
    own = np.maximum(votes.shares[np.arange(votes.n_samples), :, votes.labels], 1) / WHOLE
    everybody = np.arange(votes.n_classifiers)
    if not bags:
        return _taken(own, everybody, steps)
    rng = np.random.default_rng(seed)
    size = max(1, round(share * votes.n_classifiers))
    drawn = (np.sort(rng.choice(everybody, size, replace=False)) for _ in range(bags))
    return np.asarray(np.sum([_taken(own, among, steps) for among in drawn], axis=0), dtype=np.int64)


def _taken(own: NDArray[np.float64], among: NDArray[np.intp], n_steps: int) -> NDArray[np.int64]:
    """Return the number of times that each classifier of a bag is taken, up to the best step."""
    sums = np.zeros(len(own))
    copies = np.zeros(own.shape[1], dtype=np.int64)
    best, most = copies, -np.inf
    for step in range(1, n_steps + 1):
        worths = np.log((sums[:, None] + own[:, among]) / step).mean(axis=0)
        joins = among[np.argmax(worths >= worths.max() - LEAST_BETTER)]
        copies[joins] += 1
        sums += own[:, joins]
        if worths.max() > most + LEAST_BETTER:
            best, most = copies.copy(), float(worths.max())
    return best


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class Backfitted:
    """Members found by backfitting for every tried size, with the best size."""

    sizes: Members
    """Tried sizes, increasing, ``(n_sizes,)``."""
    members_by_size: tuple[Members, ...]
    """Indices of the members for each tried size."""
    right: Counts
    """Number of samples that the members of each size decide right by plurality, ``(n_sizes,)``."""
    best: int
    """Index of the size with the most right samples, the smallest of equals."""

    @property
    def members(self) -> Members:
        """Indices of the members of the best size."""
        return self.members_by_size[self.best]


def backfit(votes: ClassVotes, *, sizes: range | None = None) -> Backfitted:
    """Return the members found by adding the most helpful classifier, then replacing members while it helps.

    See Section 5.2 of :cite:t:`Bastos2022`, after Margineantu and Dietterich (1997). After each addition,
    members are revised in order. If another classifier in place of a member makes more samples right, the
    best such classifier replaces the member, and the revision starts again. Of equally good classifiers, the
    one with the higher accuracy alone is taken, then the lowest index. The members for size M lead to those
    for size M + 1, so all sizes come from one run. Raises BadInputError if `sizes` is empty, or has a size
    outside 1 to K.

    `votes`: rows that the classifiers were not fitted on. `sizes`: sizes M to choose from, from 1 to the
    number K of classifiers; default from 20 % to 80 % of K, as in the paper.

    Takes O(n_near · n_classifiers) time for each member that may be replaced; n_near is the number of rows
    whose decision one replacement can change.

    >>> from shortlist.ensembles.votes.hard_votes import class_votes
    >>> votes = class_votes([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0]], [1, 1, 1, 0])
    >>> backfit(votes, sizes=range(1, 4)).members.tolist()
    [1, 2, 0]
    """
    tried = sizes_to_try(votes.n_classifiers) if sizes is None else sizes
    if not tried or min(tried) < 1 or max(tried) > votes.n_classifiers:
        raise BadInputError(
            "sizes", f"must lie from 1 to {votes.n_classifiers}, the classifiers", all_of(tried)
        )
    most = max(tried)
    members = np.zeros((most, most), dtype=np.int64)
    right = np.empty(most, dtype=np.int64)
    n_rows = len(votes.labels)
    climb = _kernels.Climb(
        single_right(votes),
        no_votes(votes),
        np.empty(votes.n_classifiers, dtype=np.int64),
        np.ones(votes.n_classifiers, dtype=bool),
    )
    near = np.empty(n_rows, dtype=np.int64)
    _kernels.climb_with_backfitting(
        _kernels.coded_rows(votes), climb, np.arange(n_rows), near, members, right
    )
    right = right[np.array(tried) - 1]
    return Backfitted(
        np.array(tried), tuple(members[size - 1, :size] for size in tried), right, int(right.argmax())
    )
