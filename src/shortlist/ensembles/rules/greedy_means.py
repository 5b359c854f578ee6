"""Greedy selection with replacement by the log loss of the mean probability (:cite:t:`Caruana2004`)."""

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist.ensembles.votes.soft_votes import WHOLE, SoftVotes
from shortlist.errors import BadInputError

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
    """Return how often each is taken, of those in a bag, in the best of all steps."""
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
