"""Kernels of tabu walks over selections, whatever votes are counted by."""

import numpy as np

from shortlist._jit import kernel
from shortlist._random import draw_below
from shortlist.arrays import Bytes, Whole
from shortlist.ensembles.search._limit_kernels import adapt_penalty, count_limits, missed_after, priced
from shortlist.ensembles.search._plurality_kernels import (
    count_classes,
    rate_classes,
)
from shortlist.ensembles.search._search_arrays import (
    NONE,
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
    walk.here[0].missed = missed_after(NONE, limits, walk)
    if not len(rows.labels):
        set_threshold(walk)


@kernel("void(int64, int64, int64, SearchRows, SearchLimits, SearchWalk, SearchRoom, int64)")
def choose_flip(
    start: Whole,
    stop: Whole,
    without: Whole,
    rows: SearchRows,
    limits: SearchLimits,
    walk: SearchWalk,
    room: SearchRoom,
    written: Whole,
) -> None:
    """Write the best flip of classifiers start to stop that is allowed, or NONE, as choice `written`.

    With `without` a classifier that has just left, only additions of others count, for a swap. A recently
    moved classifier may move again where that gives the best selection so far. Ties go by chance.
    """
    options, ratings, member, here = limits.options[0], room.ratings, walk.member, walk.here[0]
    choice = room.choices[written]
    if len(rows.labels):
        rate_classes(start, stop, rows, walk, room)
    else:
        rate_totals(start, stop, rows, walk, room)
    size = here.n_members
    best_known = here.best_total
    best: Whole = np.int64(WORST)
    n_tied: Whole = np.int64(0)
    for k in range(start, stop):
        place = 2 if member[k] else 0
        ratings[4, k] = WORST
        if without != NONE and (place == 2 or k == without):
            continue
        if not options.min_size <= size + 1 - place <= options.max_size:
            continue
        first = ratings[place, k]
        free = walk.tabu[k] <= here.step
        if first == WORST or (not free and here.known and first <= best_known):
            continue
        missed: Whole = np.int64(0)
        if options.has_costs or options.has_credit:
            missed = missed_after(k, limits, walk)
        if not free and missed > 0:
            continue
        score = priced(first, missed, walk)
        ratings[4, k] = score
        if score > best:
            best = score
            n_tied = np.int64(0)
        if score == best:
            n_tied += 1
    choice.pick = NONE
    choice.score = WORST
    if n_tied == 0:
        return
    offset = draw_below(walk.draws, stop - start) if n_tied > 1 else np.int64(0)
    for step in range(stop - start):
        k = int(start + (offset + step) % (stop - start))
        if ratings[4, k] == best:
            choice.pick = k
            choice.score = best
            break


@kernel("void(SearchWalk)")
def note_selection(walk: SearchWalk) -> None:
    """Keep the current selection if within limits and the best: of all (row 0), of this run (row 1)."""
    here, best, member = walk.here[0], walk.best, walk.member
    here.stalled += 1
    if here.missed > 0:
        return
    total = here.total
    if not here.run_known or total > here.run_total:
        here.run_known = 1
        here.run_total = total
        here.stalled = 0
        for k in range(len(member)):
            best[1, k] = member[k]
    if not here.known or total > here.best_total:
        here.known = 1
        here.best_total = total
        here.best_threshold = here.threshold
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
    walk.here[0].run_known = 0
    note_selection(walk)
    walk.here[0].stalled = 0


@kernel("int64(int64, SearchRows, SearchLimits, SearchWalk, SearchRoom)")
def walk_selections(
    n_steps: Whole, rows: SearchRows, limits: SearchLimits, walk: SearchWalk, room: SearchRoom
) -> Whole:
    """Make up to `n_steps` moves of the tabu search, fewer when it stalls, and return how many."""
    options, member, tabu, here = limits.options[0], walk.member, walk.tabu, walk.here[0]
    n_classifiers = len(member)
    tried = options.n_tried
    choice, other = room.choices[0], room.choices[1]
    for step in range(n_steps):
        if here.stalled >= options.patience:
            return step
        start: Whole = np.int64(0)
        if tried < n_classifiers:
            start = min(max(draw_below(walk.draws, n_classifiers + tried) - tried, 0), n_classifiers - tried)
        stop = start + tried
        choose_flip(start, stop, NONE, rows, limits, walk, room, 0)
        out: Whole = np.int64(NONE)
        now = priced(here.total, here.missed, walk)
        if choice.pick == NONE or choice.score <= now:
            for _ in range(min(options.n_swaps, here.n_members)):
                k = draw_below(walk.draws, n_classifiers)
                while not member[k]:
                    k = (k + 1) % n_classifiers
                if tabu[k] > here.step:
                    continue
                flip(k, rows, limits, walk)
                choose_flip(start, stop, k, rows, limits, walk, room, 1)
                flip(k, rows, limits, walk)
                if other.pick != NONE and other.score > choice.score:
                    choice.pick, choice.score = other.pick, other.score
                    out = k
        here.step += 1
        if choice.pick == NONE:
            here.stalled += 1
            continue
        for k in (out, choice.pick):
            if k != NONE:
                flip(k, rows, limits, walk)
                tabu[k] = here.step + options.tenure + draw_below(walk.draws, options.tenure + 1)
        settle(rows, limits, walk)
        if options.has_costs or options.has_credit:
            adapt_penalty(walk)
        note_selection(walk)
    return n_steps
