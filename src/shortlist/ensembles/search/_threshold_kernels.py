"""Kernels of the search for selections: flips and swaps rated on tallies, exactly and all at once.

Row i adds ``gains[i]`` when it is decided positive, in ``SIZE`` + 1 ways to set the threshold L. A tally
changes by one where the flipped classifier votes positive. So the total of a flip differs from the current
one by the gains of the rows that it votes positive on at tally L (an addition) or L + 1 (a removal). One pass
over the rows near the threshold rates every flip at every threshold of a window. `table` holds the margin
utility, integers by size S and distance d = t − L, and ``1 − d`` for a row whose gain is negative; see
:mod:`shortlist.ensembles.goals.margin_worth`.

Everything that a walk depends on is in its arrays, so that cutting a walk into blocks changes nothing.
"""

import numpy as np

from shortlist._jit import kernel
from shortlist._random import State, draw_below
from shortlist.arrays import Bytes, Longs, Shorts, Whole

NONE = -1
WORST = -(2**62)
WINDOW = 2
"""How far a move's threshold may lie from the current one; the current one is always the best of all."""
MOST_TIED = 24
"""How many equal moves are told apart by utility in one step."""
PART = 1000
"""Limits are missed in thousandths of a member's failure credit or of a mean cost."""

(
    MIN_SIZE,
    MAX_SIZE,
    BUDGET,
    COST_UNIT,
    EACH,
    MEAN,
    SLACK,
    HAS_COSTS,
    HAS_CREDIT,
    UTILITY,
    N_TRIED,
    N_SWAPS,
    TENURE,
    PATIENCE,
    BY_WORTH,
) = range(15)
"""Entries of `options`; ``UTILITY`` is 0 (none), 1 (after the total) or 2 (before it), ``BY_WORTH`` whether 1
tells moves apart too.
"""
(
    SIZE,
    THRESHOLD,
    COST,
    CREDIT,
    MISSED,
    TOTAL,
    WORTH,
    STEP,
    STALLED,
    PENALTY,
    KNOWN,
    BEST_TOTAL,
    BEST_WORTH,
    BEST_THRESHOLD,
    RUN_KNOWN,
    RUN_TOTAL,
    RUN_WORTH,
    STREAK,
) = range(18)
"""Entries of `scalars`: the current selection, the walk, the best selection within limits, and the best of
this run.
"""
PICK, AT, PICK_TOTAL, PICK_WORTH, PICK_MISSED, PICK_SCORE = range(6)
"""Entries of a choice: classifier, threshold, total, utility, missed limits, and what is compared first."""
FIRST, SECOND, LEVEL, MISS = range(4)
"""Rows of `ratings`: what is compared first and second, threshold, missed limits."""


@kernel(
    "void(int64, uint8[:, ::1], int64[::1], int64[::1], int64[:, ::1], int64[::1], uint8[::1], int32[::1], "
    "int64[:, ::1], int64[::1], int64[::1])"
)
def flip(
    k: Whole,
    columns: Bytes,
    gains: Longs,
    costs: Longs,
    credit: Longs,
    options: Longs,
    member: Bytes,
    tally: Shorts,
    levels: Longs,
    sums: Longs,
    scalars: Longs,
) -> None:
    """Let classifier k join or leave, and change tallies, weights, cost and failure credit with it."""
    change = np.int64(-1 if member[k] else 1)
    column = columns[k]
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
    member[k] = 1 - member[k]
    scalars[SIZE] += change
    if options[HAS_COSTS]:
        scalars[COST] += change * costs[k]
    if options[HAS_CREDIT]:
        scalars[CREDIT] += change * sums[k]
        for m in range(len(sums)):
            sums[m] += change * credit[k, m]


@kernel("int64(int64, int64[::1], int64[:, ::1], int64[::1], uint8[::1], int64[::1], int64[::1])")
def missed_after(
    k: Whole, costs: Longs, credit: Longs, options: Longs, member: Bytes, sums: Longs, scalars: Longs
) -> Whole:
    """Return by how much cost and diversity limits are missed after flipping k (NONE: now).

    0 iff they are kept.
    """
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


@kernel("int64(int64, int64, int64[::1], int64[:, ::1], int32[::1], uint8[:, ::1], uint8[::1], int64[::1])")
def worth_after(
    k: Whole,
    threshold: Whole,
    gains: Longs,
    table: Longs,
    tally: Shorts,
    columns: Bytes,
    member: Bytes,
    scalars: Longs,
) -> Whole:
    """Return the margin utility after flipping k, at a threshold."""
    change = np.int64(-1 if member[k] else 1)
    row = table[scalars[SIZE] + change]
    middle = len(row) // 2
    column = columns[k]
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


@kernel("void(int64[:, ::1], int64[:, ::1], int64[::1], int64[::1])")
def set_threshold(levels: Longs, table: Longs, options: Longs, scalars: Longs) -> None:
    """Give the current selection its best threshold, total and utility.

    Of equal ones the nearest to half the members.
    """
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


@kernel(
    "void(int64, int64, uint8[:, ::1], int64[::1], int32[::1], int64[:, ::1], int64, int64, int64[:, ::1], "
    "int64[:, ::1])"
)
def rate_totals(
    start: Whole,
    stop: Whole,
    votes: Bytes,
    gains: Longs,
    tally: Shorts,
    levels: Longs,
    size: Whole,
    threshold: Whole,
    near: Longs,
    ratings: Longs,
) -> None:
    """Rate the addition (rows 0, 1) and the removal (rows 2, 3) of classifiers: best total, threshold.

    `near` has 2 · WINDOW + 2 rows for the gains, by tally and classifier, of the rows that it votes positive
    on.
    """
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


@kernel(
    "void(int64, int64, uint8[:, ::1], int64[::1], int32[::1], int64[:, ::1], int64[:, ::1], int64, int64, "
    "int64[:, :, ::1], int64[:, ::1])"
)
def rate_worths(
    start: Whole,
    stop: Whole,
    votes: Bytes,
    gains: Longs,
    tally: Shorts,
    levels: Longs,
    table: Longs,
    size: Whole,
    threshold: Whole,
    deep: Longs,
    ratings: Longs,
) -> None:
    """Rate as :func:`rate_totals`, by margin utility.

    `deep` sorts weights by sign, tally and classifier, over all rows.
    """
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


@kernel(
    "void(int64, int64, int64, uint8[:, ::1], uint8[:, ::1], int64[::1], int64[::1], int64[:, ::1], "
    "int64[:, ::1], int64[::1], uint8[::1], int32[::1], int64[:, ::1], int64[::1], int64[::1], int64[::1], "
    "uint64[::1], int64[:, ::1], int64[:, :, ::1], int64[:, ::1], int64[::1])"
)
def choose_flip(
    start: Whole,
    stop: Whole,
    without: Whole,
    votes: Bytes,
    columns: Bytes,
    gains: Longs,
    costs: Longs,
    credit: Longs,
    table: Longs,
    options: Longs,
    member: Bytes,
    tally: Shorts,
    levels: Longs,
    sums: Longs,
    tabu: Longs,
    scalars: Longs,
    state: State,
    near: Longs,
    deep: Longs,
    ratings: Longs,
    choice: Longs,
) -> None:
    """Write to `choice` the best flip of classifiers start to stop that is allowed, or NONE.

    With `without` a classifier that has just left, only additions of others count, for a swap. A recently
    moved classifier may move again where that gives the best selection so far. Ties go by utility, then by
    chance.
    """
    size, threshold = scalars[SIZE], scalars[THRESHOLD]
    leads = options[UTILITY] == 2
    if leads:
        rate_worths(start, stop, votes, gains, tally, levels, table, size, threshold, deep, ratings)
    else:
        rate_totals(start, stop, votes, gains, tally, levels, size, threshold, near, ratings)
    best_known = scalars[BEST_WORTH] if leads else scalars[BEST_TOTAL]
    best: Whole = np.int64(WORST)
    n_tied: Whole = np.int64(0)
    for k in range(start, stop):
        place = 2 if member[k] else 0
        ratings[4, k] = WORST
        if without != NONE and (place == 2 or k == without):
            continue
        if not options[MIN_SIZE] <= size + 1 - place <= options[MAX_SIZE]:
            continue
        first = ratings[place, k]
        free = tabu[k] <= scalars[STEP]
        if first == WORST or (not free and scalars[KNOWN] and first <= best_known):
            continue
        missed: Whole = np.int64(0)
        if options[HAS_COSTS] or options[HAS_CREDIT]:
            missed = missed_after(k, costs, credit, options, member, sums, scalars)
        if not free and missed > 0:
            continue
        score = first
        if missed > 0:
            score -= min(scalars[PENALTY], np.int64(2**60) // missed) * missed
        ratings[4, k] = score
        ratings[5, k] = missed
        if score > best:
            best = score
            n_tied = np.int64(0)
        if score == best:
            n_tied += 1
    choice[PICK] = NONE
    choice[PICK_SCORE] = WORST
    choice[PICK_WORTH] = WORST
    if n_tied == 0:
        return
    offset = draw_below(state, stop - start) if n_tied > 1 else np.int64(0)
    n_seen: Whole = np.int64(0)
    for step in range(stop - start):
        k = int(start + (offset + step) % (stop - start))
        if ratings[4, k] != best:
            continue
        n_seen += 1
        place = 2 if member[k] else 0
        worth: Whole = np.int64(0)
        if options[BY_WORTH]:
            worth = worth_after(k, ratings[place + 1, k], gains, table, tally, columns, member, scalars)
        if choice[PICK] == NONE or worth > choice[PICK_WORTH]:
            choice[PICK] = k
            choice[AT] = ratings[place + 1, k]
            choice[PICK_WORTH] = worth
            choice[PICK_MISSED] = ratings[5, k]
            choice[PICK_SCORE] = best
        if not options[BY_WORTH] or n_seen == MOST_TIED:
            break


@kernel("boolean(boolean, int64, int64, int64, int64, int64)")
def better(
    known: bool, mode: Whole, total: Whole, worth: Whole, best_total: Whole, best_worth: Whole
) -> bool:
    """Whether a selection is better than the best so far, by total and utility in the order of the mode."""
    if not known:
        return True
    if mode == 2:
        return bool(worth > best_worth or (worth == best_worth and total > best_total))
    return bool(total > best_total or (total == best_total and worth > best_worth))


@kernel("void(int64[::1], uint8[::1], uint8[:, ::1], int64[::1])")
def note_selection(options: Longs, member: Bytes, best: Bytes, scalars: Longs) -> None:
    """Keep the current selection if within limits and the best: of all (row 0), of this run (row 1)."""
    scalars[STALLED] += 1
    if scalars[MISSED] > 0:
        return
    mode, total, worth = options[UTILITY], scalars[TOTAL], scalars[WORTH]
    if better(scalars[RUN_KNOWN] == 1, mode, total, worth, scalars[RUN_TOTAL], scalars[RUN_WORTH]):
        scalars[RUN_KNOWN] = 1
        scalars[RUN_TOTAL] = total
        scalars[RUN_WORTH] = worth
        scalars[STALLED] = 0
        best[1] = member
    if better(scalars[KNOWN] == 1, mode, total, worth, scalars[BEST_TOTAL], scalars[BEST_WORTH]):
        scalars[KNOWN] = 1
        scalars[BEST_TOTAL] = total
        scalars[BEST_WORTH] = worth
        scalars[BEST_THRESHOLD] = scalars[THRESHOLD]
        best[0] = member


@kernel(
    "int64(int64, uint8[:, ::1], uint8[:, ::1], int64[::1], int64[::1], int64[:, ::1], int64[:, ::1], "
    "int64[::1], uint8[::1], int32[::1], int64[:, ::1], int64[::1], int64[::1], int64[::1], uint64[::1], "
    "int64[:, ::1], int64[:, :, ::1], int64[:, ::1], int64[:, ::1], uint8[:, ::1])"
)
def walk(
    n_steps: Whole,
    votes: Bytes,
    columns: Bytes,
    gains: Longs,
    costs: Longs,
    credit: Longs,
    table: Longs,
    options: Longs,
    member: Bytes,
    tally: Shorts,
    levels: Longs,
    sums: Longs,
    tabu: Longs,
    scalars: Longs,
    state: State,
    near: Longs,
    deep: Longs,
    ratings: Longs,
    choices: Longs,
    best: Bytes,
) -> Whole:
    """Make up to `n_steps` moves of the tabu search, fewer when it stalls, and return how many."""
    n_classifiers = len(member)
    tried = options[N_TRIED]
    choice, other = choices[0], choices[1]
    leads = options[UTILITY] == 2
    for step in range(n_steps):
        if scalars[STALLED] >= options[PATIENCE]:
            return step
        start: Whole = np.int64(0)
        if tried < n_classifiers:
            start = min(max(draw_below(state, n_classifiers + tried) - tried, 0), n_classifiers - tried)
        stop = start + tried
        choose_flip(
            start, stop, NONE, votes, columns, gains, costs, credit, table, options, member, tally, levels,
            sums,
            tabu, scalars, state, near, deep, ratings, choice,
        )  # fmt: skip
        out: Whole = np.int64(NONE)
        now = scalars[WORTH] if leads else scalars[TOTAL]
        if scalars[MISSED] > 0:
            now -= min(scalars[PENALTY], np.int64(2**60) // scalars[MISSED]) * scalars[MISSED]
        if choice[PICK] == NONE or choice[PICK_SCORE] <= now:
            for _ in range(min(options[N_SWAPS], scalars[SIZE])):
                k = draw_below(state, n_classifiers)
                while not member[k]:
                    k = (k + 1) % n_classifiers
                if tabu[k] > scalars[STEP]:
                    continue
                flip(k, columns, gains, costs, credit, options, member, tally, levels, sums, scalars)
                choose_flip(
                    start, stop, k, votes, columns, gains, costs, credit, table, options, member, tally,
                    levels, sums,
                    tabu, scalars, state, near, deep, ratings, other,
                )  # fmt: skip
                flip(k, columns, gains, costs, credit, options, member, tally, levels, sums, scalars)
                if other[PICK] != NONE and (
                    other[PICK_SCORE] > choice[PICK_SCORE]
                    or (other[PICK_SCORE] == choice[PICK_SCORE] and other[PICK_WORTH] > choice[PICK_WORTH])
                ):
                    choice[:] = other
                    out = k
        scalars[STEP] += 1
        if choice[PICK] == NONE:
            scalars[STALLED] += 1
            continue
        for k in (out, choice[PICK]):
            if k != NONE:
                flip(k, columns, gains, costs, credit, options, member, tally, levels, sums, scalars)
                tabu[k] = scalars[STEP] + options[TENURE] + draw_below(state, options[TENURE] + 1)
        scalars[MISSED] = missed_after(NONE, costs, credit, options, member, sums, scalars)
        set_threshold(levels, table, options, scalars)
        if options[HAS_COSTS] or options[HAS_CREDIT]:
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
        note_selection(options, member, best, scalars)
    return n_steps
