"""Kernels of the limits that a search may miss for a while, and of the price of that."""

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Whole
from shortlist.ensembles.search._search_arrays import (
    NONE,
    SearchLimits,
    SearchWalk,
)


@kernel("int64(int64, SearchLimits, SearchWalk)")
def missed_after(k: Whole, limits: SearchLimits, walk: SearchWalk) -> Whole:
    """Return by how much cost and diversity limits are missed after flipping k (NONE: now).

    0 iff they are kept.
    """
    options, costs, credit = limits.options[0], limits.costs, limits.credit
    member, sums, here = walk.member, walk.sums, walk.here[0]
    change: Whole = np.int64(0)
    if k != NONE:
        change = np.int64(-1 if member[k] else 1)
    missed: Whole = np.int64(0)
    if options.has_costs:
        cost = here.cost
        if k != NONE:
            cost += change * costs[k]
        if cost > options.budget:
            missed += (cost - options.budget) // options.cost_unit + 1
    size = here.n_members + change
    if options.has_credit and size > 1:
        pairs = here.credit
        if k != NONE:
            pairs += change * sums[k]
        least = options.mean_credit * (size * (size - 1) // 2) - options.slack
        if pairs < least:
            missed += (least - pairs) // (size * 1000000) + 1
        if options.each_credit > 0:
            least = options.each_credit * (size - 1) - options.slack
            for m in range(len(sums)):
                if m != k and member[m]:
                    have = sums[m]
                    if k != NONE:
                        have += change * credit[k, m]
                    if have < least:
                        missed += (least - have) // 1000000 + 1
            if change > 0 and sums[k] < least:
                missed += (least - sums[k]) // 1000000 + 1
    return missed


@kernel("int64(int64, int64, SearchWalk)")
def priced(score: Whole, missed: Whole, walk: SearchWalk) -> Whole:
    """Return a score less the price of missing limits by so much."""
    price: Whole = np.int64(0)
    if missed > 0:
        price = min(walk.here[0].penalty, np.int64(2**60) // missed) * missed
    return score - price


@kernel("void(SearchWalk)")
def adapt_penalty(walk: SearchWalk) -> None:
    """Raise the price after some steps outside the limits, and lower it after more within."""
    here = walk.here[0]
    if here.missed > 0:
        here.streak = max(here.streak, 0) + 1
    else:
        here.streak = min(here.streak, 0) - 1
    if here.streak == 4:
        here.penalty = min(2 * here.penalty, np.int64(2**58))
        here.streak = 0
    elif here.streak == -8:
        here.penalty = max(here.penalty // 2, 1)
        here.streak = 0


@kernel("void(int64, int64, SearchLimits, SearchWalk)")
def count_limits(k: Whole, change: Whole, limits: SearchLimits, walk: SearchWalk) -> None:
    """Change size, cost and failure credit with classifier k, which joins (1) or leaves (−1)."""
    here, sums = walk.here[0], walk.sums
    here.n_members += change
    if limits.options[0].has_costs:
        here.cost += change * limits.costs[k]
    if limits.options[0].has_credit:
        here.credit += change * sums[k]
        for m in range(len(sums)):
            sums[m] += change * limits.credit[k, m]
