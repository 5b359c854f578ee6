# ruff: noqa: C901, PLR0912, PLR0915, PLR0917  # kernels take their state as arguments and keep their loops
# flat
"""Kernels that walk through every chain of growing feature sets for any objectives.

Loaded only where they are needed.
"""

from typing import NamedTuple

import numpy as np

from shortlist._bits import Words, popcount
from shortlist._jit import kernel
from shortlist.arrays import Longs, LongTable
from shortlist.multistage.search._enumeration import ArchivePath, Space, next_node, taken
from shortlist.multistage.search._evaluation import (
    CONCLUSIVE,
    COST,
    CREDIT,
    EVALUATION,
    FALSE_POSITIVES,
    N_MEASURES,
    STAGES,
    WORST,
    StageScoring,
)

ADDED_AT_ONCE = 2
"""Outcomes that one node offers at most: its own, and that of the stage that takes all the rest."""


class WalkArchive(NamedTuple):
    """The non-dominated outcomes so far."""

    measures: LongTable
    """Of each its measures."""
    ties: Longs
    """How many assignments have them."""
    chains: LongTable
    """The sets of one of these."""
    size: Longs
    """How many outcomes there are, ``(1,)``."""


class Rules(NamedTuple):
    """What a walk is asked for."""

    uses: Longs
    """1 for measures that are objectives."""
    max_stages: int
    """Most stages of an assignment."""
    removal: bool
    """Whether features may be left out."""
    prune: bool
    """Whether nodes are left out that cannot lead to a better outcome."""


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


@kernel("void(WalkArchive, int64, int64)")
def swap_entries(archive: WalkArchive, a: int, b: int) -> None:
    """Swap two entries of an archive."""
    measures, ties, chains = archive.measures, archive.ties, archive.chains
    for m in range(measures.shape[1]):
        measures[a, m], measures[b, m] = measures[b, m], measures[a, m]
    for d in range(chains.shape[1]):
        chains[a, d], chains[b, d] = chains[b, d], chains[a, d]
    ties[a], ties[b] = ties[b], ties[a]


@kernel("void(int64[::1], int64, int64[::1], int64, int64[::1], WalkArchive)")
def offer(measures: Longs, count: int, chain: Longs, depth: int, uses: Longs, archive: WalkArchive) -> None:
    """Offer `count` assignments to an archive that has room for another."""
    known, ties, chains, size = archive.measures, archive.ties, archive.chains, archive.size
    for a in range(size[0]):
        order = compare_measures(known[a], measures, uses)
        if order == 1:
            if a > 0:
                swap_entries(archive, a, a // 2)
            return
        if order == 0:
            if ties[a] == 0 or (depth > 0 and (chains[a, 0] == 0 or chain[1] < chains[a, 0])):
                for d in range(chains.shape[1]):
                    chains[a, d] = chain[d + 1] if d < depth else 0
                for m in range(len(measures)):
                    known[a, m] = measures[m]
            ties[a] += count
            return
    kept = 0
    for a in range(size[0]):
        if compare_measures(measures, known[a], uses) != 1:
            if kept < a:
                swap_entries(archive, a, kept)
            kept += 1
    for m in range(len(measures)):
        known[kept, m] = measures[m]
    ties[kept] = count
    for d in range(chains.shape[1]):
        chains[kept, d] = chain[d + 1] if d < depth else 0
    size[0] = kept + 1


@kernel("void(int64[::1], uint64[::1], int64, int64, Space, StageScoring, int64[::1], uint64[::1])")
def advance(
    measures: Longs,
    waiting: Words,
    before: int,
    mask: int,
    space: Space,
    scoring: StageScoring,
    following: Longs,
    still: Words,
) -> None:
    """Send the waiting rows through one more stage: write the measures and the rows that wait after it."""
    bits, prices, classes, penalties = space.bits, space.prices, scoring.classes, scoring.penalties
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
        following[CREDIT] += scoring.unit * popcount(decided)
        if wrong:
            for c in range(len(penalties)):
                following[CREDIT] -= penalties[c] * popcount(wrong & classes[c, w])
            following[FALSE_POSITIVES] += popcount(wrong & scoring.negatives[w])
    following[STAGES] += 1
    following[COST] += entering * (prices[mask] - prices[before])
    following[EVALUATION] += entering * space.call_prices[mask]
    for m in range(space.amounts.shape[1]):
        following[N_MEASURES + m] += entering * taken(m, before, mask, space)
    if entering:
        following[WORST] = prices[mask]


@kernel("void(int64[::1], Space, StageScoring, Rules, ArchivePath, WalkArchive, int64)", makes_arrays=True)
def walk_archive(
    firsts: Longs,
    space: Space,
    scoring: StageScoring,
    rules: Rules,
    path: ArchivePath,
    archive: WalkArchive,
    block: int,
) -> None:
    """Walk on over the assignments whose first stage is in `firsts`, for any objectives.

    Until `block` chains were looked at, or the archive has no room for what the next one may add.

    The archive holds the non-dominated measures, how many assignments tie for each, and one chain. Every
    measure but the conclusive rows and the credit grows along a chain, so its value so far bounds what
    follows.
    """
    bits, reach, prices, least_steps = space.bits, space.reach, space.prices, space.least_steps
    known, size, uses, penalties, unit = (
        archive.measures, archive.size, rules.uses, scoring.penalties, scoring.unit,
    )  # fmt: skip
    chain, added, waiting, measures, max_stages, removal = (
        path.chain, path.added, path.waiting, path.measures, rules.max_stages, rules.removal,
    )  # fmt: skip
    full = len(prices) - 1
    n_words = waiting.shape[1]
    n_measures = measures.shape[1]
    finished = np.zeros(n_measures, dtype=np.int64)
    hoped = np.zeros(n_measures, dtype=np.int64)
    after = np.zeros(n_words, dtype=np.uint64)
    sharp = not removal
    for c in range(len(penalties)):
        sharp = sharp and penalties[c] == unit
    depth, looked = path.at[0].depth, 0
    while path.at[0].first < len(firsts) and looked < block and size[0] + ADDED_AT_ONCE <= len(known):
        if depth == 0:
            depth = 1
            added[1] = firsts[path.at[0].first]
        before = chain[depth - 1]
        mask = before | added[depth]
        chain[depth] = mask
        advance(
            measures[depth - 1], waiting[depth - 1], before, mask, space, scoring,
            measures[depth], waiting[depth],
        )  # fmt: skip
        looked += 1
        if mask == full or removal:
            offer(measures[depth], 1, chain, depth if removal else depth - 1, uses, archive)
        descend = mask != full and depth < max_stages
        if descend and not removal:
            advance(measures[depth], waiting[depth], mask, full, space, scoring, finished, after)
            offer(finished, 1, chain, depth, uses, archive)
            descend = depth + 1 < max_stages
        if descend and rules.prune:
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
            for m in range(n_measures):
                hoped[m] = measures[depth, m]
            hoped[STAGES] += 1 if removal else 2
            if removal:
                hoped[COST] += left * least_steps[mask]
            else:
                hoped[COST] += (left - stuck) * least_steps[mask] + stuck * (prices[full] - prices[mask])
            hoped[EVALUATION] += left * space.least_calls[mask]
            # the stages that follow take, in sum, at least what one stage with all of them would
            for m in range(space.amounts.shape[1]):
                hoped[N_MEASURES + m] += left * space.least_taken[mask, m]
                if not removal:
                    rest = taken(m, mask, full, space)
                    hoped[N_MEASURES + m] += stuck * (rest - space.least_taken[mask, m])
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
                    mine = known[a, CREDIT] * max(1, over)
                    theirs = hoped[CREDIT] * max(1, known[a, CONCLUSIVE])
                    answer = 1 if mine > theirs else (2 if mine < theirs else 0)
                if uses[CONCLUSIVE]:
                    if known[a, CONCLUSIVE] > most:
                        answer |= 1
                    elif known[a, CONCLUSIVE] < most:
                        answer |= 2
                for m in range(COST, n_measures):
                    if uses[m]:
                        if known[a, m] < hoped[m]:
                            answer |= 1
                        elif known[a, m] > hoped[m]:
                            answer |= 2
                if answer == 1:
                    descend = False
                    if a > 0:
                        swap_entries(archive, a, a // 2)
                    break
        if descend:
            depth += 1
            rest = full & ~mask
            added[depth] = rest if removal else (rest - 1) & rest
            if added[depth]:
                continue
            depth -= 1
        depth = next_node(chain, added, full, depth)
        if depth == 0:
            path.at[0].first += 1
    path.at[0].depth = depth
    path.at[0].looked += looked
