"""Kernels of a full search that leaves out branches which cannot be better than the best so far.

Classifiers are decided one after the other: first that one joins, then that it stays out. What rows can still
reach is kept in counters that only fall on the way down. Each decision lowers those of its list by one: a
classifier that stays out is a vote that rows of its side will not get, and one that joins is a vote against
the rows of the other side. When all classifiers are decided the bound of a node is the worth of the
selection.

What a search depends on is in its arrays, so that cutting it into blocks changes nothing.
"""

from typing import Annotated, NamedTuple

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Bytes, Longs, LongTable, Records, Shorts, record_type

HERE = record_type(
    "depth",
    "done",
    "known",
    "found",
    "best_total",
    "best_threshold",
    "n_members",
    "cost",
    "in_reach",
    "nodes",
)
"""Classifiers decided, whether the walk is over, whether there is a worth to exceed and whether a selection
that exceeds it was found, the best of these within the limits, members and their cost now, gains that are in
reach now (forms only), and nodes so far.
"""

KEPT = record_type("min_size", "max_size", "budget", "each_credit", "mean_credit", "slack", "counted")
"""What a selection must keep; `counted` is half the length of `levels`, 0 for rows with forms."""

UNDECIDED, IN, OUT = range(3)
"""Entries of `choices`."""


class FormRows(NamedTuple):
    """Rows, and the counters that each decision lowers."""

    starts: Longs
    """Where the list of a decision begins in `items`, ``(2 · n_classifiers + 1,)``: 2k for k joining, 2k + 1
    for k staying out.
    """
    items: Shorts
    """Counters that are lowered, one list after the other."""
    places: Longs
    """The row of each counter."""
    gains: Longs
    """What being right on a row adds, ``(n_rows,)``, at least 1."""


class WalkLimits(NamedTuple):
    """What a selection must keep."""

    kept: Annotated[Records, KEPT]
    """One record."""
    costs: Longs
    """Cost of each classifier, or nothing."""
    credit: LongTable
    """Failure credit of every pair, or nothing."""


class Walk(NamedTuple):
    """Where a search is."""

    choices: Bytes
    """What was decided of each classifier, ``(n_classifiers,)``."""
    counters: Shorts
    """What each row, or each of its forms, can still reach."""
    levels: Longs
    """Gains by counter, or how many forms of each row are out of reach."""
    here: Annotated[Records, HERE]
    """One record."""
    best: Bytes
    """The best selection so far, 1 for a member."""


@kernel("boolean(WalkLimits, Walk)")
def is_diverse(limits: WalkLimits, walk: Walk) -> bool:
    """Whether the members, all classifiers being decided, have the failure credit that is wanted."""
    size, kept = walk.here[0].n_members, limits.kept[0]
    if not len(limits.credit) or size < 2:
        return True
    total = 0
    for a in range(len(walk.choices)):
        if walk.choices[a] == IN:
            credit = 0
            for b in range(len(walk.choices)):
                if walk.choices[b] == IN:
                    credit += limits.credit[a, b]
            if credit < kept.each_credit * (size - 1) - kept.slack:
                return False
            total += credit
    return bool(total // 2 >= kept.mean_credit * (size * (size - 1) // 2) - kept.slack)


@kernel("void(int64, int64, FormRows, WalkLimits, Walk)")
def decide(decision: int, step: int, rows: FormRows, limits: WalkLimits, walk: Walk) -> None:
    """Take a decision (step −1) or take it back (1)."""
    counters, levels, items = walk.counters, walk.levels, rows.items
    if limits.kept[0].counted:
        for entry in range(rows.starts[decision], rows.starts[decision + 1]):
            i = np.uint64(items[entry])
            gain, count = rows.gains[i], counters[i]
            levels[np.uint64(count)] -= gain
            count += step
            levels[np.uint64(count)] += gain
            counters[i] = count
        return
    lost = 0 if step < 0 else -1  # the value from which, or to which, a form goes out of reach
    for entry in range(rows.starts[decision], rows.starts[decision + 1]):
        f = np.uint64(items[entry])
        count = counters[f]
        counters[f] = count + step
        if count == lost:
            i = rows.places[f]
            if step < 0:
                if not levels[i]:
                    walk.here[0].in_reach -= rows.gains[i]
                levels[i] += 1
            else:
                levels[i] -= 1
                if not levels[i]:
                    walk.here[0].in_reach += rows.gains[i]


@kernel("UniTuple(int64, 2)(WalkLimits, Walk)")
def reach(limits: WalkLimits, walk: Walk) -> tuple[np.int64, np.int64]:
    """Return the most that the descendants of a node can be worth, and the threshold for that."""
    half, levels = limits.kept[0].counted, walk.levels
    if not half:
        return walk.here[0].in_reach, np.int64(0)
    # a positive row is in reach of threshold L where its votes may pass L, a negative one where they may stay
    # at L or below
    n = half - 1
    now = np.int64(0)
    for votes in range(1, half):
        now += levels[votes]
    now += levels[half + n]
    most, threshold = now, np.int64(0)
    for at in range(1, half):
        now += levels[half + n - at] - levels[at]
        if now > most:
            most, threshold = now, np.int64(at)
    return most, threshold


@kernel("void(int64, FormRows, WalkLimits, Walk)")
def walk_on(n_nodes: int, rows: FormRows, limits: WalkLimits, walk: Walk) -> None:
    """Go on with the search for `n` nodes; ``here.done`` says whether it is over."""
    choices, here, kept = walk.choices, walk.here[0], limits.kept[0]
    n = len(choices)
    end = here.nodes + n_nodes
    while here.nodes < end:
        here.nodes += 1
        depth, size = here.depth, here.n_members
        open_node = size <= kept.max_size and size + n - depth >= kept.min_size
        if len(limits.costs) and here.cost > kept.budget:
            open_node = False
        if open_node:
            most, threshold = reach(limits, walk)
            open_node = not here.known or most > here.best_total
            if open_node and depth == n:
                open_node = False
                if is_diverse(limits, walk):
                    here.known = here.found = 1
                    here.best_total, here.best_threshold = most, threshold
                    for k in range(n):
                        walk.best[k] = choices[k] == IN
        if open_node:
            choices[depth] = IN
            decide(2 * depth, -1, rows, limits, walk)
            here.depth, here.n_members = depth + 1, size + 1
            if len(limits.costs):
                here.cost += limits.costs[depth]
            continue
        while True:  # back to the last classifier that may still stay out
            if not here.depth:
                here.done = 1
                return
            k = here.depth - 1
            if choices[k] == IN:
                decide(2 * k, 1, rows, limits, walk)
                here.n_members -= 1
                if len(limits.costs):
                    here.cost -= limits.costs[k]
                choices[k] = OUT
                decide(2 * k + 1, -1, rows, limits, walk)
                break
            decide(2 * k + 1, 1, rows, limits, walk)
            choices[k] = UNDECIDED
            here.depth = k
