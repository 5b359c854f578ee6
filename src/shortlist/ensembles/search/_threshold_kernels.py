"""Kernels that count votes against a threshold: flips rated on tallies, exactly and all at once.

Row i adds ``gains[i]`` when it is decided positive, in ``SIZE`` + 1 ways to set the threshold L. A tally
changes by one where the flipped classifier votes positive. So the total of a flip differs from the current
one by the gains of the rows that it votes positive on at tally L (an addition) or L + 1 (a removal). One pass
over the rows near the threshold rates every flip at every threshold of a window. The utility of margins has
integers by size S and distance d = t − L, and ``1 − d`` for a row whose gain is negative.
"""

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Longs, Whole
from shortlist.ensembles.search._search_arrays import (
    SIZE,
    THRESHOLD,
    TOTAL,
    UTILITY,
    WORST,
    WORTH,
    SearchLimits,
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


@kernel("int64(int64, int64, SearchRows, SearchWalk)")
def worth_after(k: Whole, threshold: Whole, rows: SearchRows, walk: SearchWalk) -> Whole:
    """Return the margin utility after flipping k, at a threshold."""
    change = np.int64(-1 if walk.member[k] else 1)
    row = rows.table[walk.scalars[SIZE] + change]
    middle = len(row) // 2
    column, gains, tally = rows.columns[k], rows.gains, walk.tally[0]
    worth: Whole = np.int64(0)
    for i in range(len(gains)):
        d = np.int64(tally[i]) - threshold
        if column[i]:
            d += change
        gain = gains[i]
        if gain > 0:
            worth += gain * row[middle + d]
        else:
            worth -= gain * row[middle + 1 - d]
    return worth


@kernel("int64(int64[:, ::1], int64, int64[:, ::1], int64)")
def worth_of_levels(levels: Longs, size: Whole, table: Longs, threshold: Whole) -> Whole:
    """Return the margin utility of the current selection at a threshold."""
    row = table[size]
    middle = len(row) // 2
    worth: Whole = np.int64(0)
    for t in range(size + 1):
        d = t - threshold
        worth += levels[0, t] * row[middle + d] + levels[1, t] * row[middle + 1 - d]
    return worth


@kernel("void(int64[:, ::1], SearchLimits, SearchWalk)")
def set_threshold(table: Longs, limits: SearchLimits, walk: SearchWalk) -> None:
    """Give the current selection its best threshold, total and utility.

    Of equal ones the nearest to half the members.
    """
    levels, scalars, options = walk.levels, walk.scalars, limits.options
    size = scalars[SIZE]
    above: Whole = np.int64(0)
    best_first: Whole = np.int64(WORST)
    best_second: Whole = np.int64(WORST)
    best_at: Whole = np.int64(0)
    for threshold in range(size, -1, -1):
        if threshold < size:
            above += levels[0, threshold + 1] - levels[1, threshold + 1]
        first = above
        second: Whole = np.int64(0)
        if options[UTILITY] == 2:
            second = above
            first = worth_of_levels(levels, size, table, threshold)
        if first < best_first:
            continue
        if options[UTILITY] == 1:
            second = worth_of_levels(levels, size, table, threshold)
        nearer = abs(2 * threshold - size) <= abs(2 * best_at - size)
        if first > best_first or second > best_second or (second == best_second and nearer):
            best_first = first
            best_second = second
            best_at = np.int64(threshold)
    scalars[THRESHOLD] = best_at
    scalars[TOTAL] = best_first
    scalars[WORTH] = best_second
    if options[UTILITY] == 2:
        scalars[TOTAL] = best_second
        scalars[WORTH] = best_first


@kernel("void(int64, int64, SearchRows, SearchWalk, SearchRoom)")
def rate_totals(start: Whole, stop: Whole, rows: SearchRows, walk: SearchWalk, room: SearchRoom) -> None:
    """Rate the addition (rows 0, 1) and the removal (rows 2, 3) of classifiers: best total, threshold.

    The gains of the rows that a classifier votes positive on are summed by tally first.
    """
    votes, gains, tally, levels = rows.votes, rows.gains, walk.tally[0], walk.levels
    size, threshold = walk.scalars[SIZE], walk.scalars[THRESHOLD]
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


@kernel("void(int64, int64, SearchRows, SearchWalk, SearchRoom)")
def rate_worths(start: Whole, stop: Whole, rows: SearchRows, walk: SearchWalk, room: SearchRoom) -> None:
    """Rate as :func:`rate_totals`, by margin utility.

    Weights are summed by sign, tally and classifier first, over all rows.
    """
    votes, gains, tally, levels, table = rows.votes, rows.gains, walk.tally[0], walk.levels, rows.table
    size, threshold = walk.scalars[SIZE], walk.scalars[THRESHOLD]
    deep, ratings = room.deep, room.ratings
    for sign in range(2):
        for t in range(size + 1):
            deep[sign, t, start:stop] = 0
    for i in range(len(gains)):
        gain = gains[i]
        sign = 0
        if gain < 0:
            sign = 1
            gain = -gain
        sums = deep[sign, tally[i], start:stop]
        row = votes[i, start:stop]
        for k in range(len(sums)):
            sums[k] += gain & -np.int64(row[k])
    middle = table.shape[1] // 2
    for k in range(start, stop):
        ratings[0, k] = WORST
        ratings[2, k] = WORST
    for change in (-1, 1):
        if not 0 <= size + change < len(table):
            continue
        worth = table[size + change]
        place = 1 - change
        for level in range(max(0, threshold - 1), min(size + change, threshold + 1) + 1):
            base: Whole = np.int64(0)
            scores = ratings[4, start:stop]
            scores[:] = 0
            for t in range(size + 1):
                d = middle + t - level
                e = middle + 1 - t + level
                base += levels[0, t] * worth[d] + levels[1, t] * worth[e]
                up = worth[d + change] - worth[d]
                down = worth[e - change] - worth[e]
                right = deep[0, t, start:stop]
                wrong = deep[1, t, start:stop]
                for k in range(len(scores)):
                    scores[k] += right[k] * up + wrong[k] * down
            for k in range(start, stop):
                if base + ratings[4, k] > ratings[place, k]:
                    ratings[place, k] = base + ratings[4, k]
                    ratings[place + 1, k] = level
