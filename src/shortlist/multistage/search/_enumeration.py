# ruff: noqa: C901, PLR0912, PLR0915, PLR0917  # kernels take their state as arguments and keep their loops
# flat
"""Kernels that walk through every chain of growing feature sets, which is every stage assignment.

A chain M1 ⊂ M2 ⊂ … of bit masks, with all features as its last set, is an ordered partition. A node is a
chain without its end; everything needed of it is which rows wait, how many were right, and what was paid.
"""

from typing import Annotated, NamedTuple

import numpy as np

from shortlist._bits import Words, WordTable, popcount
from shortlist._jit import kernel
from shortlist.arrays import FlagTable, Longs, LongTable, Records, ShortTable, record_type

PLACE = record_type("depth", "first", "looked")
"""Where a walk is: its depth, 0 before a first set; the place of that set; how many chains were looked at."""


class Space(NamedTuple):
    """Everything about feature subsets that a walk needs, indexed by bit mask."""

    bits: Annotated[Words, 3]
    """Rows that a subset is confident about, and those that it is right about too."""
    reach: Annotated[Words, 3]
    """The same of all its supersets together."""
    prices: Longs
    """What a row pays for the features."""
    least_steps: Longs
    """The least price of going on."""
    call_prices: Longs
    """What a call of the classifier costs."""
    least_calls: Longs
    """The least that a call costs of any classifier with more features."""
    bought: FlagTable
    """What is there that takes something of an attribute."""
    amounts: LongTable
    """How much of each attribute that takes, ``(n_bought, n_attributes)``; not indexed by bit mask."""
    least_taken: LongTable
    """The least of each attribute that going on takes."""


class ArchivePath(NamedTuple):
    """The nodes from the root to the current one, by depth."""

    chain: Longs
    """The features of each node."""
    added: Longs
    """Those that it adds to the one before."""
    waiting: WordTable
    """The rows that wait after it; at first all."""
    measures: LongTable
    """Cost of the assignment so far."""
    at: Annotated[Records, PLACE]
    """Where the walk is, one record."""


@kernel("int64(int64, int64, int64, Space)")
def taken(attribute: int, before: int, mask: int, space: Space) -> int:
    """Return what the stage from one set to another takes of an attribute: the largest of all that is new."""
    largest = 0
    for one in range(space.amounts.shape[0]):
        if space.bought[mask, one] and not space.bought[before, one]:
            largest = max(largest, space.amounts[one, attribute])
    return largest


@kernel("int64(int64[::1], int64[::1], int64, int64)")
def next_node(chain: Longs, added: Longs, full: int, depth: int) -> int:
    """Return the depth of the next node: smaller additions at this depth, then back; 0 after the last.

    The first set of a chain is not changed here, so that a walk from it ends at depth 1.
    """
    while depth > 1:
        added[depth] = (added[depth] - 1) & (full & ~chain[depth - 1])
        if added[depth]:
            return depth
        depth -= 1
    return 0


UNSEEN = 2**62
"""Cost of a pair (conclusive, right) that no assignment has reached."""


class Outcomes(NamedTuple):
    """What was found: a pair of c conclusive rows of which r are right has place c(c + 1)/2 + r."""

    best: Longs
    """Least cost of each pair."""
    ties: Longs
    """How many assignments have it."""
    witnesses: ShortTable
    """The sets of the one of these with the least first set; one stage alone has none and comes last."""
    archive: LongTable
    """Outcomes (conclusive, right, cost) that nothing known dominates, to leave out nodes by."""
    size: Longs
    """How many these are, ``(1,)``."""


class Path(NamedTuple):
    """The nodes from the root to the current one, by depth."""

    chain: Longs
    """The features of each node."""
    added: Longs
    """Those that it adds to the one before."""
    waiting: WordTable
    """The rows that wait after it."""
    n_waiting: Longs
    """How many these are."""
    right: Longs
    """How many rows are decided right so far."""
    cost: Longs
    """What was paid so far."""
    at: Annotated[Records, PLACE]
    """Where the walk is, one record."""


class TableRules(NamedTuple):
    """What a walk is asked for."""

    ways: LongTable
    """``ways[f, s]`` counts the ways to spend f features in up to s stages."""
    max_stages: int
    """Most stages of an assignment."""
    prune: bool
    """Whether nodes are left out when a known point dominates whatever may follow; never one that would
    tie.
    """


@kernel("int64(int64, int64, int64, int64, int64[:, ::1], int64[::1])")
def beaten(conclusive: int, right: int, over: int, cost: int, archive: Longs, size: Longs) -> int:
    """Tell whether an archived point dominates (conclusive, right / over, cost).

    The one that does moves forward.
    """
    for a in range(size[0]):
        if archive[a, 0] >= conclusive and archive[a, 2] <= cost:
            left = archive[a, 1] * max(1, over)
            given = right * max(1, archive[a, 0])
            if left > given or (left == given and (archive[a, 0] > conclusive or archive[a, 2] < cost)):
                for m in range(3):
                    archive[a, m], archive[a // 2, m] = archive[a // 2, m], archive[a, m]
                return 1
    return 0


@kernel("void(int64, int64, int64, int64[:, ::1], int64[::1])")
def archive_point(conclusive: int, right: int, cost: int, archive: Longs, size: Longs) -> None:
    """Add a point that nothing in the archive dominates, and drop what it dominates.

    A full archive stays as it is.
    """
    if beaten(conclusive, right, conclusive, cost, archive, size):
        return
    kept = 0
    for a in range(size[0]):
        weaker = archive[a, 0] <= conclusive and archive[a, 2] >= cost
        if not (weaker and archive[a, 1] * max(1, conclusive) <= right * max(1, archive[a, 0])):
            for m in range(3):
                archive[kept, m] = archive[a, m]
            kept += 1
    if kept < len(archive):
        archive[kept, 0] = conclusive
        archive[kept, 1] = right
        archive[kept, 2] = cost
        kept += 1
    size[0] = kept


@kernel("void(int64, int64, int64, int64, int64[::1], int64, Outcomes)")
def record(
    conclusive: int, right: int, cost: int, count: int, chain: Longs, depth: int, outcomes: Outcomes
) -> None:
    """Note `count` assignments that begin with `chain` and share one outcome no worse than the best known."""
    best, ties, witnesses = outcomes.best, outcomes.ties, outcomes.witnesses
    pair = conclusive * (conclusive + 1) // 2 + right
    if cost < best[pair]:
        best[pair] = cost
        ties[pair] = count
        for d in range(witnesses.shape[1]):
            witnesses[pair, d] = chain[d + 1] if d < depth else 0
        archive_point(conclusive, right, cost, outcomes.archive, outcomes.size)
    elif cost == best[pair]:
        ties[pair] += count
        if depth > 0 and (witnesses[pair, 0] == 0 or chain[1] < witnesses[pair, 0]):
            for d in range(witnesses.shape[1]):
                witnesses[pair, d] = chain[d + 1] if d < depth else 0


@kernel("int64(int64, int64, Path, Space, Outcomes)")
def last_proper_stage(depth: int, n_rows: int, path: Path, space: Space, outcomes: Outcomes) -> int:
    """Try every stage between a node and the last stage, which takes all the rest.

    Return how many there are.
    """
    bits, prices, best, chain = space.bits, space.prices, outcomes.best, path.chain
    waiting, before, full = path.waiting[depth], chain[depth], len(prices) - 1
    n_waiting, right, cost = path.n_waiting[depth], path.right[depth], path.cost[depth]
    n_words = len(waiting)
    rest = full & ~before
    looked = 0
    added = (rest - 1) & rest
    final_confident = bits[full, 0]
    final_right = bits[full, 1]
    while added:
        mask = before | added
        correct = right
        left = 0
        unsure = 0
        for w in range(n_words):
            row = waiting[w]
            correct += popcount(row & bits[mask, 1, w])
            row &= ~bits[mask, 0, w]
            left += popcount(row)
            correct += popcount(row & final_right[w])
            unsure += popcount(row & ~final_confident[w])
        paid = cost + n_waiting * (prices[mask] - prices[before]) + left * (prices[full] - prices[mask])
        conclusive = n_rows - unsure
        if paid <= best[conclusive * (conclusive + 1) // 2 + correct]:
            chain[depth + 1] = mask
            record(conclusive, correct, paid, 1, chain, depth + 1, outcomes)
        looked += 1
        added = (added - 1) & rest
    return looked


@kernel("void(int64[::1], Space, TableRules, Path, Outcomes, int64)")
def walk_table(
    firsts: Longs, space: Space, rules: TableRules, path: Path, outcomes: Outcomes, block: int
) -> None:
    """Walk on over the assignments whose first stage is in `firsts`, for about `block` chains.

    The first entries of `path` are given: all rows wait. ``path.at`` says where the walk is, and goes on.
    """
    bits, reach, prices, least_steps = space.bits, space.reach, space.prices, space.least_steps
    chain, added, waiting = path.chain, path.added, path.waiting
    n_waiting, right, cost = path.n_waiting, path.right, path.cost
    full, n_words, n_rows = len(prices) - 1, waiting.shape[1], n_waiting[0]
    max_stages, depth, looked = rules.max_stages, path.at[0].depth, 0
    while path.at[0].first < len(firsts) and looked < block:
        if depth == 0:
            depth = 1
            added[1] = firsts[path.at[0].first]
        # enter the node at `depth`, which adds the features `added[depth]` to the one before
        before = chain[depth - 1]
        mask = before | added[depth]
        chain[depth] = mask
        left = 0
        correct = right[depth - 1]
        for w in range(n_words):
            row = waiting[depth - 1, w]
            correct += popcount(row & bits[mask, 1, w])
            row &= ~bits[mask, 0, w]
            waiting[depth, w] = row
            left += popcount(row)
        n_waiting[depth] = left
        right[depth] = correct
        cost[depth] = cost[depth - 1] + n_waiting[depth - 1] * (prices[mask] - prices[before])
        looked += 1
        descend = False
        if mask == full:
            record(n_rows - left, correct, cost[depth], 1, chain, depth - 1, outcomes)
        elif depth < max_stages:
            rest = popcount(np.uint64(full & ~mask))
            if left == 0:
                count = rules.ways[rest, max_stages - depth]
                record(n_rows, correct, cost[depth], count, chain, depth, outcomes)
            else:
                total = correct
                unsure = 0
                for w in range(n_words):
                    row = waiting[depth, w]
                    total += popcount(row & bits[full, 1, w])
                    unsure += popcount(row & ~bits[full, 0, w])
                paid = cost[depth] + left * (prices[full] - prices[mask])
                record(n_rows - unsure, total, paid, 1, chain, depth, outcomes)
                descend = depth + 1 < max_stages and rest > 1
                if descend and rules.prune:
                    hope = 0
                    doomed = 0
                    stuck = 0
                    for w in range(n_words):
                        row = waiting[depth, w]
                        hope += popcount(row & reach[mask, 1, w])
                        doomed += popcount(row & bits[full, 0, w] & ~reach[mask, 1, w])
                        stuck += popcount(row & ~reach[mask, 0, w])
                    # the most right rows over those and the rows that cannot but be wrong bound the ratio
                    most = correct + hope
                    over = n_rows - left + hope + doomed
                    paid = (
                        cost[depth]
                        + (left - stuck) * least_steps[mask]
                        + stuck * (prices[full] - prices[mask])
                    )
                    descend = not beaten(n_rows - stuck, most, over, paid, outcomes.archive, outcomes.size)
        if descend and depth + 2 == max_stages:
            looked += last_proper_stage(depth, n_rows, path, space, outcomes)
            descend = False
        if descend:
            depth += 1
            added[depth] = full & ~mask
            added[depth] = (added[depth] - 1) & (full & ~mask)
            continue
        depth = next_node(chain, added, full, depth)
        if depth == 0:
            path.at[0].first += 1
    path.at[0].depth = depth
    path.at[0].looked += looked
