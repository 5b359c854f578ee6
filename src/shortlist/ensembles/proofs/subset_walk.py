"""Full search that skips selections that cannot be better; it is the fastest proof with few classifiers.

Classifiers are decided one after the other: first that a classifier joins, then that it stays out. A counter
holds the sum that a row can still reach; counters only fall on the way down. Each decision lowers the
counters in its list by one. A classifier that stays out is a lost vote for the rows that it votes right on; a
classifier that joins is a vote against the rows that it votes wrong on. The state of a search is in its
arrays alone, so that cutting it into blocks changes nothing.

The bound of a node counts every row that may still be right, each row alone, so that a node costs little more
than the rows that one classifier votes on. The walk is faster than cuts and solvers with up to some thirty
classifiers (docs/decisions/0017).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel
from shortlist.arrays import Bytes, Longs, LongTable, Mask, Records, Shorts, record_type
from shortlist.ensembles.goals.diversity import CREDIT_SLACK
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.runs.budget import Budget

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
"""State of the walk: number of classifiers decided; whether the walk is over; whether there is a value to
exceed; whether a selection that exceeds it was found; best value and best threshold within the limits; number
of current members and their cost; gains that can still be reached (forms only); nodes so far.
"""

KEPT = record_type("min_size", "max_size", "budget", "each_credit", "mean_credit", "slack", "counted")
"""Limits on a selection; `counted` is half the length of `levels`, 0 for rows with forms."""

UNDECIDED, IN, OUT = range(3)
"""Values of `choices`: a classifier is undecided, a member, or left out."""


class FormRows(NamedTuple):
    """Rows of the search, with the counters that each decision lowers."""

    starts: Longs
    """Index in `items` of the first counter of each decision, ``(2 · n_classifiers + 1,)``. Decision 2k is
    that classifier k joins, decision 2k + 1 that it stays out.
    """
    items: Shorts
    """Indices of the counters that each decision lowers, one list after the other."""
    places: Longs
    """Index of the row of each counter."""
    gains: Longs
    """Gain of being right on each row, at least 1, ``(n_rows,)``."""


class WalkLimits(NamedTuple):
    """Limits that a selection must keep."""

    kept: Annotated[Records, KEPT]
    """Sizes, budget and least credits, as one record."""
    costs: Longs
    """Cost of each classifier; empty without a budget."""
    credit: LongTable
    """Failure credit of every pair; empty without diversity limits."""


class Walk(NamedTuple):
    """State of a search."""

    choices: Bytes
    """Decision on each classifier, one of :data:`UNDECIDED`, :data:`IN` and :data:`OUT`,
    ``(n_classifiers,)``.
    """
    counters: Shorts
    """Sum that each row, or each form, can still reach, as an integer."""
    levels: Longs
    """With a threshold, gains of the rows by the value of their counters; with forms, number of forms of each
    row that can no longer hold.
    """
    here: Annotated[Records, HERE]
    """Position and best value, as one record."""
    best: Bytes
    """Best selection so far, ``(n_classifiers,)``; 1 for a member."""


@kernel("boolean(WalkLimits, Walk)")
def is_diverse(limits: WalkLimits, walk: Walk) -> bool:
    """Return whether the members keep the diversity limits, once all classifiers are decided."""
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
    """Apply a decision (`step` is -1), or undo it (`step` is 1)."""
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
    """Return an upper bound on the value of the descendants of a node, and the threshold for it."""
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
def walk_on(n_nodes: int, rows: FormRows, limits: WalkLimits, walk: Walk) -> None:  # noqa: C901
    """Continue the search for `n_nodes` nodes; ``here.done`` then tells whether the search is over."""
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


BLOCK_NODES = 200_000
"""Number of nodes between two checks of the clock; they take one or two tenths of a second."""


@dataclass(frozen=True, eq=False)
class Walked:
    """Result of a search."""

    mask: Mask | None
    """First of the best selections found, ``(n_classifiers,)``; None if no selection found gains more than
    `above`.
    """
    threshold: int
    """Best threshold for `mask`; 0 where classes are decided by plurality."""
    gain: int
    """Gain of `mask`; without a mask, the gain that the walk had to exceed."""
    nodes: int
    """Number of nodes visited."""
    complete: bool
    """Whether every selection within the limits was visited, or skipped because it cannot gain more."""


def walk_subsets(
    rows: RightRows,
    budget: Budget,
    *,
    above: int | None = None,
    max_nodes: int | None = None,
    block_nodes: int = BLOCK_NODES,
    on_nodes: Callable[[int], None] | None = None,
) -> Walked:
    """Find the selection with the largest gain, and with two classes its threshold.

    Classifiers with many votes are decided first, as their decisions put most rows out of reach.

    Takes O(n_forms + n_classifiers) time for each node. There are at most 2 to the power of ``n_classifiers +
    1`` nodes, usually far fewer. Memory is proportional to the votes. The kernel releases the interpreter's
    lock.

    `rows`: the problem, with its limits on size, cost and diversity. `budget`: its time limit and its
    cancellation stop the walk with the best selection found; its limit in nodes is not used. `above`: gain of
    a known selection in units of ``rows.step``; only larger gains are searched for. `max_nodes`: limit in
    nodes, independent of the clock. `block_nodes`: number of nodes between two checks of the clock.
    `on_nodes`: receives the number of nodes so far, several times a second.
    """
    order = np.argsort(-(rows.gains[rows.row_of] @ np.abs(rows.signs)), kind="stable")
    signs, n = rows.signs[:, order], rows.n_classifiers
    places = np.zeros(1, dtype=HERE)
    here = places[0]
    if above is not None:
        here.known, here.best_total = 1, above
    # rows are counted by the votes that those of the positive side may get, and the others lack
    if rows.has_threshold:
        half = n + 1
        counters = np.where(rows.is_positive, rows.votes.sum(axis=1), half + n).astype(np.int32)
        levels = np.zeros(2 * half, dtype=np.int64)
        np.add.at(levels, counters, rows.gains)
    else:  # each form has a counter of its own, and each row counts the forms that are out of reach
        half = 0
        counters = ((signs > 0).sum(axis=1) - rows.least).astype(np.int32)
        levels = np.bincount(rows.row_of[counters < 0], minlength=rows.n_rows).astype(np.int64)
        here.in_reach = rows.gains[levels == 0].sum()
    lowered = [np.flatnonzero(signs[:, k] == sign) for k in range(n) for sign in (-1, 1)]
    starts = np.cumsum([0, *map(len, lowered)]).astype(np.int64)
    items = np.concatenate(lowered).astype(np.int32)
    lists = FormRows(starts, items, rows.row_of.astype(np.int64), np.array(rows.gains, dtype=np.int64))
    walk = Walk(np.zeros(n, np.uint8), counters, levels, places, np.zeros(n, np.uint8))
    limits = _limits(rows.limits, order, half)
    while not here.done:
        left = block_nodes if max_nodes is None else min(block_nodes, max_nodes - int(here.nodes))
        if left <= 0 or budget.stopped:
            break
        walk_on(left, lists, limits, walk)
        if on_nodes is not None:
            on_nodes(int(here.nodes))
    mask = None
    if here.found:
        mask = np.zeros(n, dtype=bool)
        mask[order] = walk.best.astype(bool)
    return Walked(
        mask=mask,
        threshold=int(here.best_threshold),
        gain=int(here.best_total),
        nodes=int(here.nodes),
        complete=bool(here.done),
    )


def _limits(limits: SelectionLimits, order: NDArray[np.intp], half: int) -> WalkLimits:
    diversity = limits.diversity
    records = np.zeros(1, dtype=KEPT)
    kept = records[0]
    kept.min_size, kept.max_size = limits.min_size, limits.max_size
    kept.budget, kept.slack, kept.counted = limits.budget, CREDIT_SLACK, half
    credit = np.zeros((0, 0), dtype=np.int64)
    if diversity is not None:
        kept.each_credit, kept.mean_credit = diversity.each, diversity.mean
        credit = np.ascontiguousarray(diversity.credit[np.ix_(order, order)])
    costs = np.zeros(0, dtype=np.int64) if limits.costs is None else limits.costs[order]
    return WalkLimits(records, costs, credit)


def count_selections(rows: RightRows) -> int:
    """Return the number of selections of all allowed sizes."""
    n = rows.n_classifiers
    return sum(math.comb(n, size) for size in range(rows.limits.min_size, min(rows.limits.max_size, n) + 1))
