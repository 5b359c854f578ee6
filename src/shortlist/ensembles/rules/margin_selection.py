"""Ensemble selection by margin histograms (Section 3.2 and Figure 1 of :cite:t:`Gagne2007`)."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import as_choice, as_count
from shortlist._words import all_of
from shortlist.arrays import Counts
from shortlist.ensembles.rules import _kernels
from shortlist.ensembles.rules.orderings import Ordering, single_right, sizes_to_try
from shortlist.ensembles.votes.class_votes import ClassCodes, ClassVotes, Members, class_tally, no_votes
from shortlist.ensembles.votes.soft_votes import WHOLE, SoftVotes
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from

LEAST_BETTER = 1e-12
"""By how much a mean logarithm must be larger to count as better."""


def greedy_means(
    votes: SoftVotes, *, n_steps: int = 30, n_bags: int = 0, share: float = 0.5, seed: int = 0
) -> NDArray[np.int64]:
    """Return how often each classifier is taken into a mean with a small log loss.

    The method of :cite:t:`Caruana2004`: in every step the classifier joins after which the mean has the least
    log loss, also one that is in already; the best of all steps is kept. With bags, each bag does so among a
    share of the classifiers drawn at random, and all that were taken are taken together, which keeps the
    method from the few that fit these rows best. Raises BadInputError if a number is out of range.

    `n_steps`: steps; of each bag, where there are bags. `n_bags`: bags; 0: all classifiers once. `share`: of
    the classifiers in a bag, above 0 and at most 1; at least one is. `copies`, which it returns: at least one
    is above 0, ``(n_classifiers,)``. Equally good classifiers join in their order.

    Takes O(n_bags · n_steps · n_rows · n_classifiers) time. A probability of less than one part of 2^15 - 1
    counts as that much.

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
    """Return how often each is taken, of those in a bag, in the best of so many steps."""
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
    """The members found for every size that was tried, and the best of them."""

    sizes: Members
    """The sizes M, increasing, ``(n_sizes,)``."""
    members_by_size: tuple[Members, ...]
    """The M classifiers of each."""
    right: Counts
    """Samples that their plurality vote decides right, ``(n_sizes,)``."""
    best: int
    """Where the most are right; the smallest size of equals."""

    @property
    def members(self) -> Members:
        """The members of the best size."""
        return self.members_by_size[self.best]


def backfit(votes: ClassVotes, *, sizes: range | None = None) -> Backfitted:
    """Add the classifier that helps accuracy most; after each addition replace members while that helps.

    Section 5.2 of :cite:t:`Bastos2022`, after Margineantu and Dietterich (1997). The revision goes through
    the members in the order of their places; one that can be replaced by a classifier left out so that more
    samples are right is replaced by the best such one, and the revision starts again. Of equal classifiers
    the more accurate one alone is taken, then the lowest index. Members for size M are a step on the way to M
    + 1, so all sizes come from one run. Raises BadInputError if `sizes` is empty or leaves that range.

    `votes`: rows that the classifiers were not fitted on. `sizes`: sizes M to choose from, within 1 and K;
    default from 20 % to 80 % of K, as in the paper.

    O(n_near · n_classifiers) time per replacement tried, n_near the rows whose vote is closer than two.

    >>> from shortlist.ensembles.votes.class_votes import class_votes
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


CRITERIA = ("histogram", "minimum")


def vote_digests(codes: ClassCodes) -> list[bytes]:
    """Return 16 bytes per classifier that tell its votes from others, but for a chance of 2^-128."""
    return [
        hashlib.blake2b(column.tobytes(), digest_size=16).digest() for column in np.ascontiguousarray(codes.T)
    ]


def distinct_classifiers(codes: ClassCodes, known: Collection[bytes] = ()) -> Members:
    """Return the indices of classifiers whose votes differ from all before them and from `known`."""
    seen = set(known)
    distinct = []
    for index, digest in enumerate(vote_digests(codes)):
        if digest not in seen:
            seen.add(digest)
            distinct.append(index)
    return np.array(distinct, dtype=np.int64)


def grow_by_margins(
    votes: ClassVotes, candidates: ArrayLike, start: NDArray[np.int32], *, criterion: str = "histogram"
) -> tuple[Members, Counts]:
    """Add candidates to a start ensemble, always the one with the best margins, until none is left.

    Step 2 of Figure 1 of :cite:t:`Gagne2007`; equal candidates go to the lowest index.

    O(n_candidates · n_rows · n_classes) time, plus counting only candidates that are still equal, from the
    lowest margin up; 12 bytes per row and class, and 24 per row, beside the votes.

    `candidates`: which classifiers may join, increasing. `start`: votes of the start ensemble for each class,
    ``(n_rows, n_classes)``; not modified. `criterion`, one of ``"histogram"`` and ``"minimum"``: ``minimum``
    compares smallest margins alone, which the paper tried first. `order`, which it returns: the candidates in
    the order in which they join, ``(n_candidates,)``. `right`, which it returns: samples decided right by the
    start and after every addition, ``(n_candidates + 1,)``.
    """
    as_choice(criterion, "criterion", CRITERIA)
    left = np.array(candidates, dtype=np.int64)
    n_rows, n_left = len(votes.labels), len(left)
    tally = no_votes(votes)
    tally[:, : votes.n_classes] += start
    order, right = np.empty(n_left, dtype=np.int64), np.empty(n_left + 1, dtype=np.int64)
    levels = 2 * (int(start.sum(axis=1).max()) + n_left) + 3
    by_margin = _kernels.SortedRows(
        np.empty((3, n_rows), dtype=np.int64), *np.empty((3, levels), dtype=np.int64)
    )
    equal = np.empty((6, max(1, n_left)), dtype=np.int64)
    _kernels.climb_by_margins(
        _kernels.coded_rows(votes), criterion == "histogram", tally, left, by_margin, equal, order, right
    )
    return order, right


def select_by_margins(votes: ClassVotes, *, criterion: str = "histogram") -> Ordering:
    """Order a pool by margins from its most accurate classifier on, and keep the prefix with fewest errors.

    Figure 1 of :cite:t:`Gagne2007` with L0 the classifier with fewest errors (Section 3.3). Classifiers with
    the same votes are duplicates: the first stays, and none votes twice, so the order holds distinct
    classifiers only. Equal prefixes go to the smallest.

    >>> from shortlist.ensembles.votes.class_votes import class_votes
    >>> votes = class_votes([[1, 0, 1, 1], [1, 1, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1]], [1, 1, 1, 0])
    >>> select_by_margins(votes).order.tolist()
    [1, 2, 0]
    """
    first = int(single_right(votes).argmax())
    distinct = distinct_classifiers(votes.codes)
    start = class_tally(votes.codes[:, [first]], votes.n_classes)
    order, right = grow_by_margins(votes, distinct[distinct != first], start, criterion=criterion)
    return Ordering(np.concatenate([[first], order]), right, None, int(right.argmax()) + 1)
