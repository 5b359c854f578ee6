"""A full search that leaves out what cannot be better.

It is the shortest proof where there are few classifiers.

The bound of a node counts every row that may still be right, each for itself, so that a node costs little
more than the rows that one classifier votes on. That beats cuts and solvers up to some thirty classifiers
(docs/decisions/0017).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.goals.diversity import CREDIT_SLACK
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.proofs import _subset_kernels as kernels
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.runs.budget import Budget

BLOCK_NODES = 200_000
"""Nodes between two looks at the clock: a tenth of a second, or two."""


@dataclass(frozen=True, eq=False)
class Walked:
    """What a search found."""

    mask: Mask | None
    """The first of the best selections met, ``(n_classifiers,)``; None when nothing within the limits gains
    more than `above`.
    """
    threshold: int
    """The best threshold of `mask`; 0 where classes are decided by plurality."""
    gain: int
    """What `mask` gains; without a mask, what the walk was asked to exceed."""
    nodes: int
    """Nodes visited."""
    complete: bool
    """Whether every selection within the limits was looked at or left out with a reason, so that none gains
    more.
    """


def walk_subsets(
    rows: RightRows,
    budget: Budget,
    *,
    above: int | None = None,
    max_nodes: int | None = None,
    block_nodes: int = BLOCK_NODES,
    on_nodes: Callable[[int], None] | None = None,
) -> Walked:
    """Look for the selection, and the threshold where there is one, with the largest gain.

    Classifiers with many votes are decided first, as their decisions put most rows out of reach.

    Takes O(n_forms + n_classifiers) time a node; at most 2 to the power of ``n_classifiers + 1`` nodes,
    usually a small part of them. Memory for the votes alone. The kernel releases the interpreter's lock.

    `rows`: the problem, with its limits on size, cost and diversity. `budget`: its time limit and its
    cancellation stop the walk with the best found; its limit in nodes is of other steps. `above`: gain of a
    known selection in units of ``rows.step``: only larger ones are looked for. `max_nodes`: limit that does
    not depend on the clock. `block_nodes`: nodes between two looks at the clock. `on_nodes`: receives the
    number of nodes so far, several times a second.
    """
    order = np.argsort(-(rows.gains[rows.row_of] @ np.abs(rows.signs)), kind="stable")
    signs, n = rows.signs[:, order], rows.n_classifiers
    places = np.zeros(1, dtype=kernels.HERE)
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
    lists = kernels.FormRows(
        starts, items, rows.row_of.astype(np.int64), np.array(rows.gains, dtype=np.int64)
    )
    walk = kernels.Walk(np.zeros(n, np.uint8), counters, levels, places, np.zeros(n, np.uint8))
    limits = _limits(rows.limits, order, half)
    while not here.done:
        left = block_nodes if max_nodes is None else min(block_nodes, max_nodes - int(here.nodes))
        if left <= 0 or budget.stopped:
            break
        kernels.walk_on(left, lists, limits, walk)
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


def _limits(limits: SelectionLimits, order: NDArray[np.intp], half: int) -> kernels.WalkLimits:
    diversity = limits.diversity
    records = np.zeros(1, dtype=kernels.KEPT)
    kept = records[0]
    kept.min_size, kept.max_size = limits.min_size, limits.max_size
    kept.budget, kept.slack, kept.counted = limits.budget, CREDIT_SLACK, half
    credit = np.zeros((0, 0), dtype=np.int64)
    if diversity is not None:
        kept.each_credit, kept.mean_credit = diversity.each, diversity.mean
        credit = np.ascontiguousarray(diversity.credit[np.ix_(order, order)])
    costs = np.zeros(0, dtype=np.int64) if limits.costs is None else limits.costs[order]
    return kernels.WalkLimits(records, costs, credit)


def count_selections(rows: RightRows) -> int:
    """Count the selections of every size that is allowed."""
    n = rows.n_classifiers
    return sum(math.comb(n, size) for size in range(rows.limits.min_size, min(rows.limits.max_size, n) + 1))
