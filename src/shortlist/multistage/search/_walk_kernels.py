"""Kernels that walk through every chain of growing feature sets, which is every stage assignment.

A chain M1 ⊂ M2 ⊂ … of bit masks is an ordered partition: features in no set are removed, or form one more,
last stage. A node is the beginning of chains; everything needed of it is which rows wait, and its measures.
"""

from typing import Annotated, NamedTuple

import numpy as np

from shortlist._bits import Words, WordTable, popcount
from shortlist._jit import kernel
from shortlist.arrays import FlagTable, Longs, LongTable, Records, record_type
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

PLACE = record_type("depth", "first", "looked")
"""Where a walk is: its depth, 0 before a first set; the place of that set; how many chains were looked at."""

ADDED_AT_ONCE = 2
"""Outcomes that one node offers at most: its own, and that of the stage that takes all the rest."""

UNSEEN = 2**62
"""More than any price."""


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


class Path(NamedTuple):
    """The nodes from the root to the current one, by depth."""

    chain: Longs
    """The features of each node."""
    added: Longs
    """Those that it adds to the one before."""
    waiting: WordTable
    """The rows that wait after it; at first all."""
    measures: LongTable
    """Its measures so far."""
    at: Annotated[Records, PLACE]
    """Where the walk is, one record."""


class WalkArchive(NamedTuple):
    """The non-dominated outcomes so far."""

    measures: LongTable
    """Of each its measures."""
    ties: Longs
    """How many assignments have them."""
    chains: LongTable
    """The sets of one of these, of which the first one is least; one stage alone has none and comes last."""
    size: Longs
    """How many outcomes there are, ``(1,)``."""
    least: Longs
    """Least cost of c conclusive rows of which r are right, at place c(c + 1)/2 + r; empty where it does not
    decide, as other objectives do too.
    """


class Rules(NamedTuple):
    """What a walk is asked for."""

    uses: Longs
    """1 for measures that are objectives."""
    goals: Longs
    """Which of these are minimised."""
    ways: LongTable
    """``ways[f, s]`` counts the ways to go on with f features left and up to s stages."""
    n_rows: int
    """Validation rows."""
    max_stages: int
    """Most stages of an assignment."""
    removal: bool
    """Whether features may be left out."""
    prune: bool
    """Whether nodes are left out that cannot lead to a better outcome; never one that would tie."""
    weighs: bool
    """Whether it matters which wrong answers are given, and not only how many."""
    is_sharp: bool
    """Whether no wrong answer has credit, and the last stage is known."""


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


@kernel("int64(int64[::1], int64[::1], Rules)")
def compare_measures(a: Longs, b: Longs, rules: Rules) -> int:
    """Return 1 when measures `a` are better than `b` in a used objective, plus 2 when worse in one."""
    answer, goals = 0, rules.goals
    if rules.uses[CONCLUSIVE]:
        if a[CONCLUSIVE] > b[CONCLUSIVE]:
            answer = 1
        elif a[CONCLUSIVE] < b[CONCLUSIVE]:
            answer = 2
    for g in range(len(goals)):
        if a[goals[g]] < b[goals[g]]:
            answer |= 1
        elif a[goals[g]] > b[goals[g]]:
            answer |= 2
    if rules.uses[CREDIT] and answer != 3:
        first = a[CREDIT] * max(1, b[CONCLUSIVE])
        second = b[CREDIT] * max(1, a[CONCLUSIVE])
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


@kernel("void(int64[::1], int64, int64[::1], int64, Rules, WalkArchive)")
def offer(measures: Longs, count: int, chain: Longs, depth: int, rules: Rules, archive: WalkArchive) -> None:
    """Offer `count` assignments to an archive that has room for another."""
    known, ties, chains, size = archive.measures, archive.ties, archive.chains, archive.size
    if len(archive.least):
        pair = measures[CONCLUSIVE] * (measures[CONCLUSIVE] + 1) // 2 + measures[CREDIT]
        if measures[COST] > archive.least[pair]:
            return
        archive.least[pair] = measures[COST]
    for a in range(size[0]):
        order = compare_measures(known[a], measures, rules)
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
        if compare_measures(measures, known[a], rules) != 1:
            if kept < a:
                swap_entries(archive, a, kept)
            kept += 1
    for m in range(len(measures)):
        known[kept, m] = measures[m]
    ties[kept] = count
    for d in range(chains.shape[1]):
        chains[kept, d] = chain[d + 1] if d < depth else 0
    size[0] = kept + 1


@kernel("void(Path, int64, int64, Space, StageScoring, Rules, int64[::1], uint64[::1])")
def advance(
    path: Path,
    depth: int,
    mask: int,
    space: Space,
    scoring: StageScoring,
    rules: Rules,
    following: Longs,
    still: Words,
) -> None:
    """Send the rows that wait at a depth through a stage: write the measures and who waits after it."""
    before, measures, waiting = path.chain[depth], path.measures[depth], path.waiting[depth]
    bits, prices, penalties, unit = space.bits, space.prices, scoring.penalties, scoring.unit
    for m in range(len(measures)):
        following[m] = measures[m]
    n_decided, n_right = 0, 0
    for w in range(len(waiting)):
        decided, right = waiting[w] & bits[mask, 0, w], waiting[w] & bits[mask, 1, w]
        still[w] = waiting[w] & ~decided
        n_decided += popcount(decided)
        n_right += popcount(right)
        if rules.weighs and decided != right:
            for c in range(len(penalties)):
                wrong = popcount(decided & ~right & scoring.classes[c, w])
                following[CREDIT] += (unit - penalties[c]) * wrong
            following[FALSE_POSITIVES] += popcount(decided & ~right & scoring.negatives[w])
    following[CONCLUSIVE] += n_decided
    following[CREDIT] += unit * n_right
    following[STAGES] += 1
    entering = rules.n_rows - measures[CONCLUSIVE]
    following[COST] += entering * (prices[mask] - prices[before])
    following[EVALUATION] += entering * space.call_prices[mask]
    for m in range(space.amounts.shape[1]):
        following[N_MEASURES + m] += entering * taken(m, before, mask, space)
    if entering:
        following[WORST] = prices[mask]


@kernel("int64(Path, int64, Space, StageScoring, Rules, WalkArchive, int64[::1], uint64[::1])")
def last_stages(
    path: Path,
    depth: int,
    space: Space,
    scoring: StageScoring,
    rules: Rules,
    archive: WalkArchive,
    room: Longs,
    after: Words,
) -> int:
    """Try every last stage after a node, or last but one where the last one takes all the rest.

    Return how many there are. Most cost more than what is known of as many conclusive and right rows, and
    nothing else is computed of them.
    """
    bits, prices, full = space.bits, space.prices, len(space.prices) - 1
    before, waiting, least = path.chain[depth], path.waiting[depth], archive.least
    n_before, right_before = path.measures[depth, CONCLUSIVE], path.measures[depth, CREDIT]
    entering, looked, rest = rules.n_rows - n_before, 0, full & ~before
    added = rest if rules.removal else (rest - 1) & rest
    while added:
        mask = before | added
        n_decided, n_right, n_more = 0, 0, 0
        for w in range(len(waiting)):
            row = waiting[w]
            n_decided += popcount(row & bits[mask, 0, w])
            n_right += popcount(row & bits[mask, 1, w])
            if not rules.removal:
                row &= ~bits[mask, 0, w]
                n_more += popcount(row & bits[full, 0, w])
                n_right += popcount(row & bits[full, 1, w])
        cost = path.measures[depth, COST] + entering * (prices[mask] - prices[before])
        if not rules.removal:
            cost += (entering - n_decided) * (prices[full] - prices[mask])
        conclusive = n_before + n_decided + n_more
        if cost <= least[conclusive * (conclusive + 1) // 2 + right_before + n_right]:
            path.chain[depth + 1] = mask
            found = path.measures[depth + 1]
            advance(path, depth, mask, space, scoring, rules, found, path.waiting[depth + 1])
            if rules.removal:
                offer(found, 1, path.chain, depth + 1, rules, archive)
            else:
                advance(path, depth + 1, full, space, scoring, rules, room, after)
                offer(room, 1, path.chain, depth + 1, rules, archive)
        looked += 1
        added = (added - 1) & rest
    return looked


@kernel("int64(Path, int64, Space, StageScoring, Rules, WalkArchive, int64[::1])")
def is_hopeless(
    path: Path,
    depth: int,
    space: Space,
    scoring: StageScoring,
    rules: Rules,
    archive: WalkArchive,
    hoped: Longs,
) -> int:
    """Tell whether a known outcome dominates whatever may follow a node; `hoped` is room to work in.

    Every measure but the conclusive rows and the credit grows along a chain, so its value so far bounds what
    follows. Where it can, rows that cannot but be answered wrongly bound the ratio.
    """
    bits, reach, prices, removal = space.bits, space.reach, space.prices, rules.removal
    known, size, uses, mask, full = (
        archive.measures,
        archive.size,
        rules.uses,
        path.chain[depth],
        len(prices) - 1,
    )
    hope, doomed, stuck = 0, 0, 0
    for w in range(path.waiting.shape[1]):
        row = path.waiting[depth, w]
        hope += popcount(row & reach[mask, 1, w])
        stuck += popcount(row & ~reach[mask, 0, w])
        doomed += popcount(row & bits[full, 0, w] & ~reach[mask, 1, w])
    for m in range(len(hoped)):
        hoped[m] = path.measures[depth, m]
    left = rules.n_rows - hoped[CONCLUSIVE]
    hoped[STAGES] += 1 if removal else 2
    hoped[COST] += (left if removal else left - stuck) * space.least_steps[mask]
    if not removal:
        hoped[COST] += stuck * (prices[full] - prices[mask])
    hoped[EVALUATION] += left * space.least_calls[mask]
    # the stages that follow take, in sum, at least what one stage with all of them would
    for m in range(space.amounts.shape[1]):
        hoped[N_MEASURES + m] += left * space.least_taken[mask, m]
        if not removal:
            hoped[N_MEASURES + m] += stuck * (taken(m, mask, full, space) - space.least_taken[mask, m])
    most = hoped[CONCLUSIVE] + left - stuck
    over = most
    if rules.is_sharp:
        hoped[CREDIT] += scoring.unit * hope
        over = hoped[CONCLUSIVE] + hope + doomed
    else:
        hoped[CREDIT] += scoring.unit * (left - stuck)
    goals = rules.goals
    for a in range(size[0]):
        if uses[CONCLUSIVE] and known[a, CONCLUSIVE] < most:
            continue
        better, worse = uses[CONCLUSIVE] and known[a, CONCLUSIVE] > most, False
        for g in range(len(goals)):
            better |= known[a, goals[g]] < hoped[goals[g]]
            worse |= known[a, goals[g]] > hoped[goals[g]]
        if worse:
            continue
        if uses[CREDIT]:
            mine, theirs = known[a, CREDIT] * max(1, over), hoped[CREDIT] * max(1, known[a, CONCLUSIVE])
            better |= mine > theirs
            worse = mine < theirs
        if better and not worse:
            if a > 0:
                swap_entries(archive, a, a // 2)
            return 1
    return 0


@kernel("void(int64[::1], Space, StageScoring, Rules, Path, WalkArchive, int64)", makes_arrays=True)
def walk_chains(
    firsts: Longs,
    space: Space,
    scoring: StageScoring,
    rules: Rules,
    path: Path,
    archive: WalkArchive,
    block: int,
) -> None:
    """Walk on over the assignments whose first stage is in `firsts`.

    Until `block` chains were looked at, or the archive has no room for what the next one may add. Where no
    row waits any more, all that follows has the same measures but for the number of stages, and is counted.
    """
    chain, added, max_stages, removal = path.chain, path.added, rules.max_stages, rules.removal
    full = len(space.prices) - 1
    room, after = (
        np.zeros(path.measures.shape[1], dtype=np.int64),
        np.zeros(path.waiting.shape[1], dtype=np.uint64),
    )
    depth, looked = path.at[0].depth, 0
    while (
        path.at[0].first < len(firsts)
        and looked < block
        and archive.size[0] + ADDED_AT_ONCE <= len(archive.measures)
    ):
        if depth == 0:
            depth = 1
            added[1] = firsts[path.at[0].first]
        mask = chain[depth - 1] | added[depth]
        chain[depth] = mask
        measures = path.measures[depth]
        advance(path, depth - 1, mask, space, scoring, rules, measures, path.waiting[depth])
        looked += 1
        ways = 1
        descend = mask != full and depth < max_stages
        if descend and measures[CONCLUSIVE] == rules.n_rows and not rules.uses[STAGES]:
            ways = rules.ways[popcount(np.uint64(full & ~mask)), max_stages - depth]
        if mask == full or removal:
            offer(measures, ways, chain, depth if removal else depth - 1, rules, archive)
        elif descend:
            advance(path, depth, full, space, scoring, rules, room, after)
            offer(room, ways, chain, depth, rules, archive)
        if not removal:
            descend = descend and depth + 1 < max_stages
        if descend and ways == 1 and rules.prune:
            descend = not is_hopeless(path, depth, space, scoring, rules, archive, room)
        if descend and ways == 1 and len(archive.least) and depth + 1 + (not removal) == max_stages:
            looked += last_stages(path, depth, space, scoring, rules, archive, room, after)
            descend = False
        if descend and ways == 1:
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
