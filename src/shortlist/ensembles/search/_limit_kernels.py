"""Kernels of the limits that a search may miss for a while, and of the price of that."""

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Longs, Whole
from shortlist.ensembles.search._search_arrays import (
    BUDGET,
    COST,
    COST_UNIT,
    CREDIT,
    EACH,
    HAS_COSTS,
    HAS_CREDIT,
    MEAN,
    MISSED,
    NONE,
    PENALTY,
    SIZE,
    SLACK,
    STREAK,
    SearchLimits,
    SearchWalk,
)


@kernel("int64(int64, SearchLimits, SearchWalk)")
def missed_after(k: Whole, limits: SearchLimits, walk: SearchWalk) -> Whole:
    """Return by how much cost and diversity limits are missed after flipping k (NONE: now).

    0 iff they are kept.
    """
    options, costs, credit = limits.options, limits.costs, limits.credit
    member, sums, scalars = walk.member, walk.sums, walk.scalars
    change: Whole = np.int64(0)
    if k != NONE:
        change = np.int64(-1 if member[k] else 1)
    missed: Whole = np.int64(0)
    if options[HAS_COSTS]:
        cost = scalars[COST]
        if k != NONE:
            cost += change * costs[k]
        if cost > options[BUDGET]:
            missed += (cost - options[BUDGET]) // options[COST_UNIT] + 1
    size = scalars[SIZE] + change
    if options[HAS_CREDIT] and size > 1:
        pairs = scalars[CREDIT]
        if k != NONE:
            pairs += change * sums[k]
        least = options[MEAN] * (size * (size - 1) // 2) - options[SLACK]
        if pairs < least:
            missed += (least - pairs) // (size * 1000000) + 1
        if options[EACH] > 0:
            least = options[EACH] * (size - 1) - options[SLACK]
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


@kernel("int64(int64, int64, int64[::1])")
def priced(score: Whole, missed: Whole, scalars: Longs) -> Whole:
    """Return a score less the price of missing limits by so much."""
    price: Whole = np.int64(0)
    if missed > 0:
        price = min(scalars[PENALTY], np.int64(2**60) // missed) * missed
    return score - price


@kernel("void(int64[::1])")
def adapt_penalty(scalars: Longs) -> None:
    """Raise the price after some steps outside the limits, and lower it after more within."""
    if scalars[MISSED] > 0:
        scalars[STREAK] = max(scalars[STREAK], 0) + 1
    else:
        scalars[STREAK] = min(scalars[STREAK], 0) - 1
    if scalars[STREAK] == 4:
        scalars[PENALTY] = min(2 * scalars[PENALTY], np.int64(2**58))
        scalars[STREAK] = 0
    elif scalars[STREAK] == -8:
        scalars[PENALTY] = max(scalars[PENALTY] // 2, 1)
        scalars[STREAK] = 0


@kernel("void(int64, int64, SearchLimits, SearchWalk)")
def count_limits(k: Whole, change: Whole, limits: SearchLimits, walk: SearchWalk) -> None:
    """Change size, cost and failure credit with classifier k, which joins (1) or leaves (−1)."""
    scalars, sums = walk.scalars, walk.sums
    scalars[SIZE] += change
    if limits.options[HAS_COSTS]:
        scalars[COST] += change * limits.costs[k]
    if limits.options[HAS_CREDIT]:
        scalars[CREDIT] += change * sums[k]
        for m in range(len(sums)):
            sums[m] += change * limits.credit[k, m]
