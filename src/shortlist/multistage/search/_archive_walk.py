# ruff: noqa: C901, PLR0912, PLR0915, PLR0917  # kernels take their state as arguments and keep their loops
# flat
"""Kernels that walk through every chain of growing feature sets for any objectives.

Loaded only where they are needed.
"""

import numpy as np

from shortlist._bits import Words, popcount
from shortlist._jit import kernel
from shortlist.arrays import Longs
from shortlist.multistage.search._evaluation import (
    CONCLUSIVE,
    COST,
    CREDIT,
    EVALUATION,
    FALSE_POSITIVES,
    N_MEASURES,
    STAGES,
    WORST,
)


@kernel("int64(int64[::1], int64[::1], int64[::1])")
def compare_measures(a: Longs, b: Longs, uses: Longs) -> int:
    """Return 1 when measures `a` are better than `b` in a used objective, plus 2 when worse in one."""
    answer = 0
    for m in range(len(uses)):
        if not uses[m]:
            continue
        if m == CREDIT:
            first = a[CREDIT] * max(1, b[CONCLUSIVE])
            second = b[CREDIT] * max(1, a[CONCLUSIVE])
        elif m == CONCLUSIVE:
            first, second = a[m], b[m]
        else:
            first, second = b[m], a[m]
        if first > second:
            answer |= 1
        elif first < second:
            answer |= 2
    return answer


@kernel("void(int64[:, ::1], int64[::1], int64[:, ::1], int64, int64)")
def swap_entries(archive: Longs, ties: Longs, chains: Longs, a: int, b: int) -> None:
    """Swap two entries of an archive."""
    for m in range(archive.shape[1]):
        archive[a, m], archive[b, m] = archive[b, m], archive[a, m]
    for d in range(chains.shape[1]):
        chains[a, d], chains[b, d] = chains[b, d], chains[a, d]
    ties[a], ties[b] = ties[b], ties[a]


@kernel(
    "void(int64[::1], int64, int64[::1], int64, int64[::1], int64[:, ::1], int64[::1], int64[:, ::1], "
    "int64[::1], int64[:, ::1], int64[::1])"
)
def offer(
    measures: Longs,
    count: int,
    chain: Longs,
    depth: int,
    uses: Longs,
    archive: Longs,
    ties: Longs,
    chains: Longs,
    size: Longs,
    blocks: Longs,
    n_blocks: Longs,
) -> None:
    """Offer `count` assignments to an archive of measures; ``size[1]`` becomes 1 when it is full.

    With room for blocks the archive is only read, and each chain that reaches one of its points is written
    down.
    """
    for a in range(size[0]):
        order = compare_measures(archive[a], measures, uses)
        if order == 1:
            if a > 0 and not len(blocks):
                swap_entries(archive, ties, chains, a, a // 2)
            return
        if order == 0:
            if len(blocks):
                if n_blocks[0] < len(blocks):
                    for d in range(depth):
                        blocks[n_blocks[0], d] = chain[d + 1]
                    width = blocks.shape[1]
                    blocks[n_blocks[0], width - 3] = depth
                    blocks[n_blocks[0], width - 2] = count
                    blocks[n_blocks[0], width - 1] = a
                n_blocks[0] += 1
                return
            if ties[a] == 0 or (depth > 0 and chain[1] < chains[a, 0]):
                for d in range(chains.shape[1]):
                    chains[a, d] = chain[d + 1] if d < depth else 0
                for m in range(len(measures)):
                    archive[a, m] = measures[m]
            ties[a] += count
            return
    if len(blocks):
        return
    kept = 0
    for a in range(size[0]):
        if compare_measures(measures, archive[a], uses) != 1:
            if kept < a:
                swap_entries(archive, ties, chains, a, kept)
            kept += 1
    if kept == len(archive):
        size[1] = 1
        return
    for m in range(len(measures)):
        archive[kept, m] = measures[m]
    ties[kept] = count
    for d in range(chains.shape[1]):
        chains[kept, d] = chain[d + 1] if d < depth else 0
    size[0] = kept + 1


@kernel(
    "void(int64[::1], uint64[::1], int64, int64, uint64[:, :, ::1], int64[::1], int64[::1], uint64[:, ::1],"
    " int64[::1], int64, uint64[::1], int64[::1], uint64[::1])"
)
def advance(
    measures: Longs,
    waiting: Words,
    before: int,
    mask: int,
    bits: Words,
    prices: Longs,
    call_prices: Longs,
    classes: Words,
    penalties: Longs,
    unit: int,
    negatives: Words,
    following: Longs,
    still: Words,
) -> None:
    """Send the waiting rows through one more stage: write the measures and the rows that wait after it."""
    entering = 0
    for m in range(len(measures)):
        following[m] = measures[m]
    for w in range(len(waiting)):
        row = waiting[w]
        entering += popcount(row)
        decided = row & bits[mask, 0, w]
        wrong = decided & ~bits[mask, 1, w]
        still[w] = row & ~decided
        following[CONCLUSIVE] += popcount(decided)
        following[CREDIT] += unit * popcount(decided)
        if wrong:
            for c in range(len(penalties)):
                following[CREDIT] -= penalties[c] * popcount(wrong & classes[c, w])
            following[FALSE_POSITIVES] += popcount(wrong & negatives[w])
    following[STAGES] += 1
    following[COST] += entering * (prices[mask] - prices[before])
    following[EVALUATION] += entering * call_prices[mask]
    if entering:
        following[WORST] = prices[mask]


@kernel(
    "int64(int64[::1], uint64[:, :, ::1], uint64[:, :, ::1], int64[::1], int64[::1], int64[::1], uint64[::1],"
    " uint64[:, ::1], int64[::1], int64, uint64[::1], int64, int64[::1], int64, int64, int64[:, ::1], "
    "int64[::1], int64[:, ::1], int64[::1], int64[:, ::1], int64[::1])"
)
def walk_archive(
    firsts: Longs,
    bits: Words,
    reach: Words,
    prices: Longs,
    least_steps: Longs,
    call_prices: Longs,
    everyone: Words,
    classes: Words,
    penalties: Longs,
    unit: int,
    negatives: Words,
    max_stages: int,
    uses: Longs,
    removal: int,
    prune: int,
    archive: Longs,
    ties: Longs,
    chains: Longs,
    size: Longs,
    blocks: Longs,
    n_blocks: Longs,
) -> int:
    """Walk all assignments whose first stage is in `firsts`, for any objectives.

    Return how many chains were looked at.

    The archive holds the non-dominated measures, how many assignments tie for each, and one chain. Every
    measure but the conclusive rows and the credit grows along a chain, so its value so far bounds what
    follows.
    """
    full = len(prices) - 1
    n_words = len(everyone)
    chain = np.zeros(max_stages + 2, dtype=np.int64)
    added = np.zeros(max_stages + 2, dtype=np.int64)
    waiting = np.zeros((max_stages + 2, n_words), dtype=np.uint64)
    measures = np.zeros((max_stages + 2, N_MEASURES), dtype=np.int64)
    finished = np.zeros(N_MEASURES, dtype=np.int64)
    hoped = np.zeros(N_MEASURES, dtype=np.int64)
    after = np.zeros(n_words, dtype=np.uint64)
    sharp = not removal
    for c in range(len(penalties)):
        sharp = sharp and penalties[c] == unit
    looked = 0
    for w in range(n_words):
        waiting[0, w] = everyone[w]
    for first in firsts:
        depth = 1
        added[1] = first
        while depth > 0:
            before = chain[depth - 1]
            mask = before | added[depth]
            chain[depth] = mask
            advance(
                measures[depth - 1], waiting[depth - 1], before, mask, bits, prices, call_prices, classes,
                penalties, unit, negatives, measures[depth], waiting[depth],
            )  # fmt: skip
            looked += 1
            if mask == full or removal:
                offer(
                    measures[depth], 1, chain, depth if removal else depth - 1, uses, archive, ties, chains,
                    size, blocks, n_blocks,
                )  # fmt: skip
            descend = mask != full and depth < max_stages
            if descend and not removal:
                advance(
                    measures[depth], waiting[depth], mask, full, bits, prices, call_prices, classes,
                    penalties, unit, negatives, finished, after,
                )  # fmt: skip
                offer(finished, 1, chain, depth, uses, archive, ties, chains, size, blocks, n_blocks)
                descend = depth + 1 < max_stages
            if size[1]:
                return -1
            if descend and prune:
                left = 0
                hope = 0
                doomed = 0
                stuck = 0
                for w in range(n_words):
                    row = waiting[depth, w]
                    left += popcount(row)
                    hope += popcount(row & reach[mask, 1, w])
                    doomed += popcount(row & bits[full, 0, w] & ~reach[mask, 1, w])
                    stuck += popcount(row & ~reach[mask, 0, w])
                for m in range(N_MEASURES):
                    hoped[m] = measures[depth, m]
                hoped[STAGES] += 1 if removal else 2
                if removal:
                    hoped[COST] += left * least_steps[mask]
                else:
                    hoped[COST] += (left - stuck) * least_steps[mask] + stuck * (prices[full] - prices[mask])
                hoped[EVALUATION] += left * call_prices[mask]
                most = hoped[CONCLUSIVE] + left - stuck
                if sharp:
                    hoped[CREDIT] += unit * hope
                    over = hoped[CONCLUSIVE] + hope + doomed
                else:
                    hoped[CREDIT] += unit * (left - stuck)
                    over = most
                for a in range(size[0]):
                    answer = 0
                    if uses[CREDIT]:
                        mine = archive[a, CREDIT] * max(1, over)
                        theirs = hoped[CREDIT] * max(1, archive[a, CONCLUSIVE])
                        answer = 1 if mine > theirs else (2 if mine < theirs else 0)
                    if uses[CONCLUSIVE]:
                        if archive[a, CONCLUSIVE] > most:
                            answer |= 1
                        elif archive[a, CONCLUSIVE] < most:
                            answer |= 2
                    for m in range(COST, N_MEASURES):
                        if uses[m]:
                            if archive[a, m] < hoped[m]:
                                answer |= 1
                            elif archive[a, m] > hoped[m]:
                                answer |= 2
                    if answer == 1:
                        descend = False
                        if a > 0 and not len(blocks):
                            swap_entries(archive, ties, chains, a, a // 2)
                        break
            if descend:
                depth += 1
                rest = full & ~mask
                added[depth] = rest if removal else (rest - 1) & rest
                if added[depth]:
                    continue
                depth -= 1
            while depth > 0:
                if depth == 1:
                    depth = 0
                    break
                added[depth] = (added[depth] - 1) & (full & ~chain[depth - 1])
                if added[depth]:
                    break
                depth -= 1
    return looked
