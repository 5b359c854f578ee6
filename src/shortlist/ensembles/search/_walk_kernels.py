"""Kernels of tabu walks over selections, whatever votes are counted by."""

import numpy as np

from shortlist._jit import kernel
from shortlist._random import draw_below
from shortlist.arrays import Bytes, Longs, Whole
from shortlist.ensembles.search._limit_kernels import adapt_penalty, count_limits, missed_after, priced
from shortlist.ensembles.search._plurality_kernels import (
    count_classes,
    rate_classes,
)
from shortlist.ensembles.search._search_arrays import (
    BEST_THRESHOLD,
    BEST_TOTAL,
    HAS_COSTS,
    HAS_CREDIT,
    KNOWN,
    MAX_SIZE,
    MIN_SIZE,
    MISSED,
    N_SWAPS,
    N_TRIED,
    NONE,
    PATIENCE,
    PICK,
    PICK_SCORE,
    RUN_KNOWN,
    RUN_TOTAL,
    SIZE,
    STALLED,
    STEP,
    TENURE,
    THRESHOLD,
    TOTAL,
    WORST,
    SearchLimits,
    SearchRoom,
    SearchRows,
    SearchWalk,
)
from shortlist.ensembles.search._threshold_kernels import (
    count_votes,
    rate_totals,
    set_threshold,
)


@kernel("void(int64, SearchRows, SearchLimits, SearchWalk)")
def flip(k: Whole, rows: SearchRows, limits: SearchLimits, walk: SearchWalk) -> None:
    """Let classifier k join or leave, and change with it all that is counted."""
    change = np.int64(-1 if walk.member[k] else 1)
    if len(rows.labels):
        count_classes(k, change, rows, walk)
    else:
        count_votes(k, change, rows, walk)
    walk.member[k] = 1 - walk.member[k]
    count_limits(k, change, limits, walk)


@kernel("void(SearchRows, SearchLimits, SearchWalk)")
def settle(rows: SearchRows, limits: SearchLimits, walk: SearchWalk) -> None:
    """Note what the current selection misses, and its best threshold."""
    walk.scalars[MISSED] = missed_after(NONE, limits, walk)
    if not len(rows.labels):
        set_threshold(walk)


@kernel("void(int64, int64, int64, SearchRows, SearchLimits, SearchWalk, SearchRoom, int64[::1])")
def choose_flip(
    start: Whole,
    stop: Whole,
    without: Whole,
    rows: SearchRows,
    limits: SearchLimits,
    walk: SearchWalk,
    room: SearchRoom,
    choice: Longs,
) -> None:
    """Write to `choice` the best flip of classifiers start to stop that is allowed, or NONE.

    With `without` a classifier that has just left, only additions of others count, for a swap. A recently
    moved classifier may move again where that gives the best selection so far. Ties go by chance.
    """
    options, ratings, member, scalars = limits.options, room.ratings, walk.member, walk.scalars
    if len(rows.labels):
        rate_classes(start, stop, rows, walk, room)
    else:
        rate_totals(start, stop, rows, walk, room)
    size = scalars[SIZE]
    best_known = scalars[BEST_TOTAL]
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
        free = walk.tabu[k] <= scalars[STEP]
        if first == WORST or (not free and scalars[KNOWN] and first <= best_known):
            continue
        missed: Whole = np.int64(0)
        if options[HAS_COSTS] or options[HAS_CREDIT]:
            missed = missed_after(k, limits, walk)
        if not free and missed > 0:
            continue
        score = priced(first, missed, scalars)
        ratings[4, k] = score
        if score > best:
            best = score
            n_tied = np.int64(0)
        if score == best:
            n_tied += 1
    choice[PICK] = NONE
    choice[PICK_SCORE] = WORST
    if n_tied == 0:
        return
    offset = draw_below(walk.draws, stop - start) if n_tied > 1 else np.int64(0)
    for step in range(stop - start):
        k = int(start + (offset + step) % (stop - start))
        if ratings[4, k] == best:
            choice[PICK] = k
            choice[PICK_SCORE] = best
            break


@kernel("void(SearchWalk)")
def note_selection(walk: SearchWalk) -> None:
    """Keep the current selection if within limits and the best: of all (row 0), of this run (row 1)."""
    scalars, best, member = walk.scalars, walk.best, walk.member
    scalars[STALLED] += 1
    if scalars[MISSED] > 0:
        return
    total = scalars[TOTAL]
    if not scalars[RUN_KNOWN] or total > scalars[RUN_TOTAL]:
        scalars[RUN_KNOWN] = 1
        scalars[RUN_TOTAL] = total
        scalars[STALLED] = 0
        for k in range(len(member)):
            best[1, k] = member[k]
    if not scalars[KNOWN] or total > scalars[BEST_TOTAL]:
        scalars[KNOWN] = 1
        scalars[BEST_TOTAL] = total
        scalars[BEST_THRESHOLD] = scalars[THRESHOLD]
        for k in range(len(member)):
            best[0, k] = member[k]


@kernel("void(uint8[::1], SearchRows, SearchLimits, SearchWalk)")
def go_to(mask: Bytes, rows: SearchRows, limits: SearchLimits, walk: SearchWalk) -> None:
    """Move to a selection, and forget the walk so far."""
    for k in range(len(mask)):
        if walk.member[k] != mask[k]:
            flip(k, rows, limits, walk)
        walk.tabu[k] = 0
    settle(rows, limits, walk)
    walk.scalars[RUN_KNOWN] = 0
    note_selection(walk)
    walk.scalars[STALLED] = 0


@kernel("int64(int64, SearchRows, SearchLimits, SearchWalk, SearchRoom)")
def walk_selections(
    n_steps: Whole, rows: SearchRows, limits: SearchLimits, walk: SearchWalk, room: SearchRoom
) -> Whole:
    """Make up to `n_steps` moves of the tabu search, fewer when it stalls, and return how many."""
    options, member, tabu, scalars = limits.options, walk.member, walk.tabu, walk.scalars
    n_classifiers = len(member)
    tried = options[N_TRIED]
    choice, other = room.choices[0], room.choices[1]
    for step in range(n_steps):
        if scalars[STALLED] >= options[PATIENCE]:
            return step
        start: Whole = np.int64(0)
        if tried < n_classifiers:
            start = min(max(draw_below(walk.draws, n_classifiers + tried) - tried, 0), n_classifiers - tried)
        stop = start + tried
        choose_flip(start, stop, NONE, rows, limits, walk, room, choice)
        out: Whole = np.int64(NONE)
        now = priced(scalars[TOTAL], scalars[MISSED], scalars)
        if choice[PICK] == NONE or choice[PICK_SCORE] <= now:
            for _ in range(min(options[N_SWAPS], scalars[SIZE])):
                k = draw_below(walk.draws, n_classifiers)
                while not member[k]:
                    k = (k + 1) % n_classifiers
                if tabu[k] > scalars[STEP]:
                    continue
                flip(k, rows, limits, walk)
                choose_flip(start, stop, k, rows, limits, walk, room, other)
                flip(k, rows, limits, walk)
                if other[PICK] != NONE and other[PICK_SCORE] > choice[PICK_SCORE]:
                    for i in range(len(choice)):
                        choice[i] = other[i]
                    out = k
        scalars[STEP] += 1
        if choice[PICK] == NONE:
            scalars[STALLED] += 1
            continue
        for k in (out, choice[PICK]):
            if k != NONE:
                flip(k, rows, limits, walk)
                tabu[k] = scalars[STEP] + options[TENURE] + draw_below(walk.draws, options[TENURE] + 1)
        settle(rows, limits, walk)
        if options[HAS_COSTS] or options[HAS_CREDIT]:
            adapt_penalty(scalars)
        note_selection(walk)
    return n_steps
