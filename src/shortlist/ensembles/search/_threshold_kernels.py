"""Kernels that count votes against a threshold: flips rated on tallies, exactly and all at once.

Row i adds ``gains[i]`` when it is decided positive, in ``SIZE`` + 1 ways to set the threshold L. A tally
changes by one where the flipped classifier votes positive. So the total of a flip differs from the current
one by the gains of the rows that it votes positive on at tally L (an addition) or L + 1 (a removal). One pass
over the rows near the threshold rates every flip at every threshold of a window.
"""

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Whole
from shortlist.ensembles.search._search_arrays import (
    WORST,
    SearchRoom,
    SearchRows,
    SearchWalk,
)

WINDOW = 2
"""How far a move's threshold may lie from the current one; the current one is always the best of all."""


@kernel("void(int64, int64, SearchRows, SearchWalk)")
def count_votes(k: Whole, change: Whole, rows: SearchRows, walk: SearchWalk) -> None:
    """Change tallies and weights with classifier k, which joins (1) or leaves (−1)."""
    column, gains, tally, levels = rows.columns[k], rows.gains, walk.tally[0], walk.levels
    small = np.int32(change)
    for i in range(len(gains)):
        if column[i]:
            t = tally[i]
            gain = gains[i]
            sign = 0
            if gain < 0:
                sign = 1
                gain = -gain
            levels[sign, t] -= gain
            levels[sign, t + small] += gain
            tally[i] = t + small


@kernel("void(SearchWalk)")
def set_threshold(walk: SearchWalk) -> None:
    """Give the current selection its best threshold, of equal ones the nearest to half the members."""
    levels, here = walk.levels, walk.here[0]
    size = here.n_members
    above: Whole = np.int64(0)
    best: Whole = np.int64(WORST)
    best_at: Whole = np.int64(0)
    for threshold in range(size, -1, -1):
        if threshold < size:
            above += levels[0, threshold + 1] - levels[1, threshold + 1]
        nearer = abs(2 * threshold - size) <= abs(2 * best_at - size)
        if above > best or (above == best and nearer):
            best = above
            best_at = np.int64(threshold)
    here.threshold = best_at
    here.total = best


@kernel("void(int64, int64, SearchRows, SearchWalk, SearchRoom)")
def rate_totals(start: Whole, stop: Whole, rows: SearchRows, walk: SearchWalk, room: SearchRoom) -> None:
    """Rate the addition (rows 0, 1) and the removal (rows 2, 3) of classifiers: best total, threshold.

    The gains of the rows that a classifier votes positive on are summed by tally first.
    """
    votes, gains, tally, levels = rows.votes, rows.gains, walk.tally[0], walk.levels
    size, threshold = walk.here[0].n_members, walk.here[0].threshold
    near, ratings = room.near, room.ratings
    low = max(0, threshold - WINDOW)
    high = min(size + 1, threshold + WINDOW)
    n_levels = high - low + 2
    for b in range(n_levels):
        near[b, start:stop] = 0
    for i in range(len(gains)):
        b = tally[i] - low
        if 0 <= b < n_levels:
            gain = gains[i]
            sums = near[b, start:stop]
            row = votes[i, start:stop]
            for k in range(len(sums)):
                sums[k] += gain & -np.int64(row[k])
    above: Whole = np.int64(0)
    for t in range(low + 1, size + 1):
        above += levels[0, t] - levels[1, t]
    for k in range(start, stop):
        ratings[0, k] = WORST
        ratings[2, k] = WORST
    for level in range(low, high + 1):
        if level > low and level <= size:
            above -= levels[0, level] - levels[1, level]
        for k in range(start, stop):
            total = above + near[level - low, k]
            if total > ratings[0, k] or (
                total == ratings[0, k] and abs(2 * level - size) < abs(2 * ratings[1, k] - size)
            ):
                ratings[0, k] = total
                ratings[1, k] = level
            if level < size:
                total = above - near[level - low + 1, k]
                if total > ratings[2, k] or (
                    total == ratings[2, k] and abs(2 * level - size) < abs(2 * ratings[3, k] - size)
                ):
                    ratings[2, k] = total
                    ratings[3, k] = level
