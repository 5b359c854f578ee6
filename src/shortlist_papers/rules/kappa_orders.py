"""Agreement of classifiers: counts of pairs, κ, and orders by κ."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._threads import limited_threads
from shortlist.arrays import Counts
from shortlist.ensembles._rule_kernels import count_right
from shortlist.ensembles.votes.hard_votes import ClassVotes

NEAR = 1e-9
"""Difference of sums of κ in floating point below which they are compared as fractions."""

FEW_CLASSIFIERS = 256

_BLOCK = 2**20
"""Approximate number of votes in a block of rows."""

BlockFlags = Callable[[slice], NDArray[np.bool_]]
"""Function from a block of rows to one flag per row and classifier."""


def common_counts(flags: Sequence[BlockFlags], votes: ClassVotes) -> NDArray[np.float64]:
    """Return, for every pair of classifiers, the number of samples with both flags set, over all flags.

    The numbers are whole, and exact below 2^53.

    Matrix products by blocks of rows: O(n_rows · n_classifiers²) time per flag, O(n_classifiers²) memory.
    """
    common = np.zeros((votes.n_classifiers, votes.n_classifiers))
    # single precision counts exactly below 2^24, and every block starts from zero
    n_together = max(256, _BLOCK // votes.n_classifiers)
    # waking a second thread takes longer than a small product
    limit = 1 if votes.n_classifiers < FEW_CLASSIFIERS else None
    with limited_threads(limit):
        for start in range(0, len(votes.labels), n_together):
            rows = slice(start, start + n_together)
            counts = votes.counts[rows]
            exact: type[np.floating[Any]] = np.float32 if counts.sum() < 2**24 else np.float64
            for flag in flags:
                marked: NDArray[Any] = flag(rows).astype(exact)
                weighted: NDArray[Any] = (
                    marked if (counts == 1).all() else marked * counts[:, None].astype(exact)
                )
                common += marked.T @ weighted
    return common


def agreements(votes: ClassVotes) -> NDArray[np.float64]:
    """Return, for every pair of classifiers, the number of samples with equal answers.

    Two abstentions are equal answers.
    """
    last = votes.n_answers - 1
    if last == 1:  # two classes: from the common positives alone
        both = common_counts([lambda rows: votes.codes[rows] == 1], votes)
        positive = np.diag(both).copy()
        both *= 2
        both += votes.n_samples
        both -= positive[:, None]
        both -= positive[None, :]
        return both
    flags = [lambda rows, index=index: votes.codes[rows] == index for index in range(votes.n_answers)]
    return common_counts(flags, votes)


WholeNumbers = NDArray[Any]
"""Integers of 64 bits, or Python integers if the squared number of samples does not fit into 64 bits."""


def kappas(votes: ClassVotes) -> tuple[WholeNumbers, WholeNumbers]:
    """Return Cohen's κ of every pair as numerators and denominators (:cite:t:`Margineantu1997`).

    Both have the shape ``(n_classifiers, n_classifiers)``; denominators are above 0.

    κ = (Θ1 − Θ2) / (1 − Θ2): Θ1 is the share of samples on which both classifiers agree, Θ2 the share
    expected by chance from the class frequencies of both; κ is 1 if Θ2 = 1.

    >>> from shortlist.ensembles.votes.hard_votes import class_votes
    >>> numerators, denominators = kappas(class_votes([[0, 0], [1, 0], [1, 1], [0, 1]], [0, 0, 1, 1]))
    >>> numerators.tolist(), denominators.tolist()
    ([[8, 0], [0, 8]], [[8, 8], [8, 8]])
    """
    n = int(votes.n_samples)
    whole: Any = np.int64 if n < 2**31 else object
    chance = np.zeros((votes.n_classifiers, votes.n_classifiers), dtype=whole)
    for index in range(votes.n_answers):
        often = _votes_for(votes, index).astype(whole)
        chance += np.outer(often, often)
    numerators = agreements(votes).astype(np.int64).astype(whole) * n - chance
    denominators = n * n - chance
    certain = denominators == 0
    numerators[certain] = denominators[certain] = 1
    return numerators, denominators


def kappa_order(votes: ClassVotes, first: int) -> NDArray[np.int64]:
    """Return a greedy order: `first`, then the classifier with the least mean pairwise κ, and so on.

    Section 5.2 of :cite:t:`Bastos2022`, read so that no member is revised. The mean is over all pairs of
    members after the classifier has joined; of equal means the lowest index wins.
    """
    numerators, denominators = kappas(votes)
    order = [first]
    sums = np.zeros(votes.n_classifiers)
    for _ in range(1, votes.n_classifiers):
        sums += _quotients(numerators[order[-1]], denominators[order[-1]])
        sums[order[-1]] = np.inf
        near = np.flatnonzero(sums <= sums.min() + NEAR)
        if len(near) > 1:
            members = np.ix_(near.tolist(), order)
            near = near[_least_sum(numerators[members], denominators[members]) :]
        order.append(int(near[0]))
    return np.array(order, dtype=np.int64)


def _quotients(numerators: WholeNumbers, denominators: WholeNumbers) -> NDArray[np.float64]:
    return np.asarray(numerators / denominators, dtype=np.float64)


def _least_sum(numerators: WholeNumbers, denominators: WholeNumbers) -> int:
    """Return the index of the first row whose fractions have the least sum."""
    rows = zip(numerators.tolist(), denominators.tolist(), strict=True)
    distinct = {tuple(map(tuple, row)): place for place, row in reversed(list(enumerate(rows)))}
    if len(distinct) == 1:
        return 0
    sums = ((sum(map(Fraction, *row), Fraction(0)), place) for row, place in distinct.items())
    return int(min(sums)[1])


def pairs_order(votes: ClassVotes, right: Counts) -> NDArray[np.int64]:
    """Return an order by pairs of increasing κ (:cite:t:`Margineantu1997`), each adding its new members.

    Pairs of equal κ are taken by lowest indices. Within a pair the more accurate classifier comes first; of
    equally accurate ones the lower index.
    """
    if votes.n_classifiers == 1:
        return np.zeros(1, dtype=np.int64)
    first, second = np.triu_indices(votes.n_classifiers, 1)
    numerators, denominators = kappas(votes)
    pairs = fraction_order(numerators[first, second], denominators[first, second])
    swap = right[second] > right[first]
    flat = np.column_stack([np.where(swap, second, first), np.where(swap, first, second)])[pairs].ravel()
    seen_at = np.unique(flat, return_index=True)[1]
    return np.asarray(flat[np.sort(seen_at)], dtype=np.int64)


def fraction_order(numerators: WholeNumbers, denominators: WholeNumbers) -> NDArray[np.intp]:
    """Return the indices of fractions in ascending order; equal fractions keep their order.

    Denominators are above 0. Quotients in floating point are wrong in their last digits at most, so only
    nearly equal quotients are compared as fractions.

    >>> fraction_order(np.array([2, 1, 1, 3]), np.array([6, 4, 3, 9])).tolist()
    [1, 0, 2, 3]
    """
    values = _quotients(numerators, denominators)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    close = np.diff(ordered) <= 4 * np.spacing(np.abs(ordered[1:]))
    ends = np.flatnonzero(np.diff(np.concatenate([[False], close, [False]]).astype(np.int8)))
    for start, end in ends.reshape(-1, 2).tolist():
        run = np.sort(order[start : end + 1])
        of_run = list(map(Fraction, numerators[run].tolist(), denominators[run].tolist()))
        order[start : end + 1] = run[sorted(range(len(run)), key=of_run.__getitem__)]
    return order


def similarity_to_member(votes: ClassVotes, member: int) -> Counts:
    """Return the number of samples on which each classifier votes like a member, ``(n_classifiers,)``."""
    same = np.zeros(votes.n_classifiers, dtype=np.int64)
    count_right(votes.codes, votes.columns[member], votes.counts, same)
    return same


def _votes_for(votes: ClassVotes, index: int) -> Counts:
    """Return the number of samples that each classifier gives one class, ``(n_classifiers,)``."""
    often = np.zeros(votes.n_classifiers, dtype=np.int64)
    count_right(votes.codes, np.full_like(votes.labels, index), votes.counts, often)
    return often
