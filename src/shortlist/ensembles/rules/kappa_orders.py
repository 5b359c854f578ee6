"""How much classifiers agree: pairs, κ, and the orders made of them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._threads import limited_threads
from shortlist.arrays import Counts
from shortlist.ensembles.rules._kernels import count_right
from shortlist.ensembles.votes.class_votes import ClassVotes

KAPPA_UNITS = 10**9
"""κ is kept in billionths, so that sums and ties are decided on integers."""

TAKEN = 2**62
"""Added to the sums of what is taken; all sums of κ stay far below."""

FEW_CLASSIFIERS = 256

_BLOCK = 2**20
"""Rows are taken in blocks of about this many votes."""

BlockFlags = Callable[[slice], NDArray[np.bool_]]
"""Gives one flag per row and classifier for a block of rows."""


def common_counts(flags: Sequence[BlockFlags], votes: ClassVotes) -> NDArray[np.float64]:
    """Count, for every pair of classifiers, the samples on which both have a flag set, over all flags.

    Whole numbers, exact below 2^53.

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
    """Count the samples on which two classifiers answer alike, for every pair; whole numbers.

    Two that abstain answer alike.
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


def kappas(votes: ClassVotes) -> NDArray[np.int32]:
    """Return Cohen's κ of every pair in billionths (:cite:t:`Margineantu1997`).

    The shape is ``(n_classifiers, n_classifiers)``.

    κ = (Θ1 − Θ2) / (1 − Θ2): Θ1 is the share of samples on which the two agree, Θ2 the share that chance
    would give from how often each votes for each class; 1 when Θ2 = 1.

    >>> from shortlist.ensembles.votes.class_votes import class_votes
    >>> kappas(class_votes([[0, 0], [1, 0], [1, 1], [0, 1]], [0, 0, 1, 1]))[0, 1]
    np.int32(0)
    """
    n = float(votes.n_samples)
    possible = np.full((votes.n_classifiers, votes.n_classifiers), n * n)
    for index in range(votes.n_answers):
        often = _votes_for(votes, index)
        possible -= np.outer(often, often)
    kappa = agreements(votes)
    # n·agreements − chance, with chance = n² − possible: below 2^53 all is exact and only the quotient is
    # rounded
    kappa *= n
    kappa += possible
    kappa -= n * n
    kappa *= KAPPA_UNITS
    np.divide(kappa, possible, out=kappa, where=possible > 0)
    kappa[possible == 0] = KAPPA_UNITS
    return np.rint(kappa, out=kappa).astype(np.int32)


def kappa_order(votes: ClassVotes, first: int) -> NDArray[np.int64]:
    """Order greedily: after `first`, the classifier that makes the mean pairwise κ of the members least.

    Section 5.2 of :cite:t:`Bastos2022`, read so that no member is revised; equal means go to the lowest
    index.
    """
    kappa = kappas(votes)
    order = [first]
    sums = np.zeros(votes.n_classifiers, dtype=np.int64)
    for _ in range(1, votes.n_classifiers):
        sums += kappa[order[-1]]
        sums[order[-1]] = TAKEN
        order.append(int(sums.argmin()))
    return np.array(order, dtype=np.int64)


def pairs_order(votes: ClassVotes, right: Counts) -> NDArray[np.int64]:
    """Order by pairs of increasing κ (:cite:t:`Margineantu1997`): each pair brings those of it not there yet.

    Equal pairs go by lowest indices; of a pair the more accurate one comes first, then the lower index.
    """
    if votes.n_classifiers == 1:
        return np.zeros(1, dtype=np.int64)
    first, second = np.triu_indices(votes.n_classifiers, 1)
    pairs = np.argsort(kappas(votes)[first, second], kind="stable")
    swap = right[second] > right[first]
    flat = np.column_stack([np.where(swap, second, first), np.where(swap, first, second)])[pairs].ravel()
    seen_at = np.unique(flat, return_index=True)[1]
    return np.asarray(flat[np.sort(seen_at)], dtype=np.int64)


def similarity_to_member(votes: ClassVotes, member: int) -> Counts:
    """Count the samples on which each classifier votes as one member does, ``(n_classifiers,)``."""
    same = np.zeros(votes.n_classifiers, dtype=np.int64)
    count_right(votes.codes, votes.columns[member], votes.counts, same)
    return same


def _votes_for(votes: ClassVotes, index: int) -> NDArray[np.float64]:
    """Count the samples that each classifier gives one class, ``(n_classifiers,)``."""
    often = np.zeros(votes.n_classifiers, dtype=np.int64)
    count_right(votes.codes, np.full_like(votes.labels, index), votes.counts, often)
    return often.astype(np.float64)
