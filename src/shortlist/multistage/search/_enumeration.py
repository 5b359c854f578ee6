# ruff: noqa: C901, PLR0912, PLR0915, PLR0917  # kernels take their state as arguments and keep their loops
# flat
"""Kernels that walk through every chain of growing feature sets, which is every stage assignment.

A chain M1 ⊂ M2 ⊂ … of bit masks, with all features as its last set, is an ordered partition. A node is a
chain without its end; everything needed of it is which rows wait, how many were right, and what was paid.
"""

import numpy as np

from shortlist._bits import Words, popcount
from shortlist._jit import kernel
from shortlist.arrays import Longs, Shorts

UNSEEN = 2**62
"""Cost of a pair (conclusive, right) that no assignment has reached."""


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


@kernel(
    "void(int64, int64, int64, int64, int64[::1], int64, int64[::1], int64[::1], int32[:, ::1], int64[:, "
    "::1], int64[::1], int64[:, ::1], int64[::1])"
)
def record(
    conclusive: int,
    right: int,
    cost: int,
    count: int,
    chain: Longs,
    depth: int,
    best: Longs,
    ties: Longs,
    witnesses: Shorts,
    archive: Longs,
    size: Longs,
    blocks: Longs,
    n_blocks: Longs,
) -> None:
    """Note `count` assignments that begin with `chain` and share one outcome no worse than the best known.

    With room for blocks, the table is only read, and each chain that reaches it is written down.
    """
    pair = conclusive * (conclusive + 1) // 2 + right
    if len(blocks):
        if cost == best[pair]:
            if n_blocks[0] < len(blocks):
                for d in range(depth):
                    blocks[n_blocks[0], d] = chain[d + 1]
                width = blocks.shape[1]
                blocks[n_blocks[0], width - 3] = depth
                blocks[n_blocks[0], width - 2] = count
                blocks[n_blocks[0], width - 1] = pair
            n_blocks[0] += 1
        return
    if cost < best[pair]:
        best[pair] = cost
        ties[pair] = count
        for d in range(witnesses.shape[1]):
            witnesses[pair, d] = chain[d + 1] if d < depth else 0
        archive_point(conclusive, right, cost, archive, size)
    elif cost == best[pair]:
        ties[pair] += count
        if depth > 0 and chain[1] < witnesses[pair, 0]:
            for d in range(witnesses.shape[1]):
                witnesses[pair, d] = chain[d + 1] if d < depth else 0


@kernel(
    "int64(int64, int64, int64, uint64[::1], int64, int64, int64, uint64[:, :, ::1], int64[::1], int64, "
    "int64[::1], int64[::1], int64[::1], int32[:, ::1], int64[:, ::1], int64[::1], int64[:, ::1], int64[::1])"
)
def last_proper_stage(
    depth: int,
    before: int,
    full: int,
    waiting: Words,
    n_waiting: int,
    right: int,
    cost: int,
    bits: Words,
    prices: Longs,
    n_rows: int,
    chain: Longs,
    best: Longs,
    ties: Longs,
    witnesses: Shorts,
    archive: Longs,
    size: Longs,
    blocks: Longs,
    n_blocks: Longs,
) -> int:
    """Try every stage between a node and the last stage, which takes all the rest.

    Return how many there are.
    """
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
            record(
                conclusive, correct, paid, 1, chain, depth + 1,
                best, ties, witnesses, archive, size, blocks, n_blocks,
            )  # fmt: skip
        looked += 1
        added = (added - 1) & rest
    return looked


@kernel(
    "int64(int64[::1], uint64[:, :, ::1], uint64[:, :, ::1], int64[::1], int64[::1], uint64[::1], int64, "
    "int64, int64[:, ::1], int64, int64[::1], int64[::1], int32[:, ::1], int64[:, ::1], int64[::1], "
    "int64[:, ::1], int64[::1])"
)
def walk_table(
    firsts: Longs,
    bits: Words,
    reach: Words,
    prices: Longs,
    least_steps: Longs,
    everyone: Words,
    n_rows: int,
    max_stages: int,
    completions: Longs,
    prune: int,
    best: Longs,
    ties: Longs,
    witnesses: Shorts,
    archive: Longs,
    size: Longs,
    blocks: Longs,
    n_blocks: Longs,
) -> int:
    """Walk all assignments whose first stage is in `firsts`; return how many chains were looked at.

    ``best[c(c + 1)/2 + r]`` becomes the least cost of an assignment with c conclusive rows of which r are
    right, `ties` how many reach it, `witnesses` the sets of the one with the least first set. ``reach[M]``
    holds the rows that some set above M is confident, and confident and right, about; ``least_steps[M]`` is
    the least price of going on. With `prune`, nodes are left out when a known point dominates whatever may
    follow: never one that would tie.
    """
    full = len(prices) - 1
    n_words = len(everyone)
    chain = np.zeros(max_stages + 2, dtype=np.int64)
    added = np.zeros(max_stages + 2, dtype=np.int64)
    waiting = np.zeros((max_stages + 2, n_words), dtype=np.uint64)
    n_waiting = np.zeros(max_stages + 2, dtype=np.int64)
    right = np.zeros(max_stages + 2, dtype=np.int64)
    cost = np.zeros(max_stages + 2, dtype=np.int64)
    looked = 0
    for w in range(n_words):
        waiting[0, w] = everyone[w]
    n_waiting[0] = n_rows
    for first in firsts:
        depth = 1
        added[1] = first
        while depth > 0:
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
                record(
                    n_rows - left, correct, cost[depth], 1, chain, depth - 1,
                    best, ties, witnesses, archive, size, blocks, n_blocks,
                )  # fmt: skip
            elif depth < max_stages:
                rest = popcount(np.uint64(full & ~mask))
                if left == 0:
                    record(
                        n_rows, correct, cost[depth], completions[rest, max_stages - depth], chain, depth,
                        best, ties, witnesses, archive, size, blocks, n_blocks,
                    )  # fmt: skip
                else:
                    total = correct
                    unsure = 0
                    for w in range(n_words):
                        row = waiting[depth, w]
                        total += popcount(row & bits[full, 1, w])
                        unsure += popcount(row & ~bits[full, 0, w])
                    record(
                        n_rows - unsure, total, cost[depth] + left * (prices[full] - prices[mask]), 1, chain,
                        depth,
                        best, ties, witnesses, archive, size, blocks, n_blocks,
                    )  # fmt: skip
                    descend = depth + 1 < max_stages and rest > 1
                    if descend and prune:
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
                        descend = not beaten(n_rows - stuck, most, over, paid, archive, size)
            if descend and depth + 2 == max_stages:
                looked += last_proper_stage(
                    depth, mask, full, waiting[depth], left, correct, cost[depth], bits, prices, n_rows,
                    chain,
                    best, ties, witnesses, archive, size, blocks, n_blocks,
                )  # fmt: skip
                descend = False
            if descend:
                depth += 1
                added[depth] = full & ~mask
                added[depth] = (added[depth] - 1) & (full & ~mask)
                continue
            # the next node: smaller additions at this depth, then back
            while depth > 0:
                depth_rest = full & ~chain[depth - 1]
                if depth == 1:
                    depth = 0
                    break
                added[depth] = (added[depth] - 1) & depth_rest
                if added[depth]:
                    break
                depth -= 1
    return looked
