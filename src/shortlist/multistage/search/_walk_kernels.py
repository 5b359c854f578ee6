"""Kernels that walk through every chain of growing feature sets, which is every stage assignment.

A chain M1 ⊂ M2 ⊂ … of bit masks is an ordered partition: features in no set are removed, or form one more
stage, the last. A node is a prefix of chains. The walk keeps the waiting rows and the measures of a node.
"""

from typing import Annotated, NamedTuple

import numpy as np

from shortlist._bits import WordBlock, Words, WordTable, popcount
from shortlist._jit import kernel
from shortlist.arrays import Flags, FlagTable, Longs, LongTable, Records, record_type
from shortlist.multistage.search._evaluation import (
    CONCLUSIVE,
    COST,
    CREDIT,
    ERRORS,
    EVALUATION,
    LOST,
    N_MEASURES,
    STAGES,
    StageCall,
    StagedRows,
    StageScoring,
    add_stage,
)

PLACE = record_type("depth", "first", "looked")
"""Position of a walk: its depth, 0 before the first set; the index of the first set; the number of chains
visited.
"""

ADDED_AT_ONCE = 2
"""Largest number of outcomes that one node adds: the node's own outcome, and the outcome with all other
features in a last stage.
"""

UNSEEN = 2**62
"""Number larger than any price."""


class Space(NamedTuple):
    """Numbers about feature subsets that a walk needs, indexed by bit mask."""

    bits: WordBlock
    """Bit masks of the rows with a confident answer, and of the rows with a confident and right answer."""
    reach: WordBlock
    """Unions of the two masks in `bits` over all supersets of each subset."""
    prices: Longs
    """Price of the features for a row."""
    least_steps: Longs
    """Least price of any further purchase after each subset."""
    call_prices: Longs
    """Price of a call of the classifier of each subset."""
    least_calls: Longs
    """Least price of a call of any classifier with more features than each subset."""
    bought: FlagTable
    """Mask of the items in each subset that take an amount of any attribute."""
    amounts: LongTable
    """Amounts of each attribute by item, ``(n_bought, n_attributes)``; not indexed by bit mask."""
    least_taken: LongTable
    """Least amount of each attribute that any further purchase takes."""
    of_paths: Flags
    """Whether an attribute counts once, for a row that goes through all stages; false: for every row."""


class Path(NamedTuple):
    """Nodes from the root to the current node, by depth."""

    chain: Longs
    """Bit mask of the features of each node."""
    added: Longs
    """Bit mask of the features that each node's last stage adds to the set of the node before."""
    waiting: WordTable
    """Bit masks of the rows that wait after a node; all rows at the root."""
    measures: LongTable
    """Measures up to each node."""
    at: Annotated[Records, PLACE]
    """Position of the walk, one record."""


class WalkArchive(NamedTuple):
    """Non-dominated outcomes of a walk so far."""

    measures: LongTable
    """Measures of each outcome."""
    ties: Longs
    """Number of assignments with each outcome."""
    chains: LongTable
    """Chain of one assignment with the outcome: the assignment with the least first set. A single stage has
    no sets, and comes last.
    """
    size: Longs
    """Number of outcomes, ``(1,)``."""
    least: Longs
    """Least known cost with c conclusive rows, of which r are right, at index c(c + 1)/2 + r. Empty where
    other objectives decide too.
    """


class Rules(NamedTuple):
    """Objectives and limits of a walk."""

    uses: Longs
    """1 for each measure that is an objective."""
    goals: Longs
    """1 for each measure that is minimised."""
    ways: LongTable
    """``ways[f, s]`` is the number of ways to continue with f features left and up to s stages."""
    n_rows: int
    """Number of validation rows."""
    max_stages: int
    """Largest number of stages of an assignment."""
    removal: bool
    """Whether features may be left out."""
    prune: bool
    """Whether nodes that cannot lead to a better outcome are left out; a node that may lead to a tie is
    always visited.
    """
    weighs: bool
    """Whether wrong answers differ in cost or credit."""
    grows: bool
    """Whether an objective grows with stages that no row reaches."""
    is_sharp: bool
    """Whether no wrong answer has credit, and the last stage is known."""


@kernel("int64(int64, int64, int64, Space)")
def taken(attribute: int, before: int, mask: int, space: Space) -> int:
    """Return the amount of an attribute that a stage takes: the largest amount of its new items.

    `before`, `mask`: features before and after the stage, as bit masks.
    """
    largest = 0
    for one in range(space.amounts.shape[0]):
        if space.bought[mask, one] and not space.bought[before, one]:
            largest = max(largest, space.amounts[one, attribute])
    return largest


@kernel("int64(int64[::1], int64[::1], int64, int64)")
def next_node(chain: Longs, added: Longs, full: int, depth: int) -> int:
    """Return the depth of the next node; 0 after the last node.

    The order is: smaller additions at this depth, then the depth before. The first set of a chain stays
    unchanged, so a walk from the first set ends at depth 1.
    """
    while depth > 1:
        added[depth] = (added[depth] - 1) & (full & ~chain[depth - 1])
        if added[depth]:
            return depth
        depth -= 1
    return 0


@kernel("int64(int64[:, ::1], int64, int64[:, ::1], int64, Rules)")
def compare_measures(first: LongTable, a: int, second: LongTable, b: int, rules: Rules) -> int:
    """Compare row `a` of `first` with row `b` of `second` by the used objectives.

    Return 1 if row `a` is better in an objective, plus 2 if row `a` is worse in an objective.
    """
    answer, goals = 0, rules.goals
    if rules.uses[CONCLUSIVE]:
        if first[a, CONCLUSIVE] > second[b, CONCLUSIVE]:
            answer = 1
        elif first[a, CONCLUSIVE] < second[b, CONCLUSIVE]:
            answer = 2
    for g in range(len(goals)):
        if first[a, goals[g]] < second[b, goals[g]]:
            answer |= 1
        elif first[a, goals[g]] > second[b, goals[g]]:
            answer |= 2
    if rules.uses[CREDIT] and answer != 3:
        mine = first[a, CREDIT] * max(1, second[b, CONCLUSIVE])
        other = second[b, CREDIT] * max(1, first[a, CONCLUSIVE])
        if mine > other:
            answer |= 1
        elif mine < other:
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


@kernel("int64(Path, int64, int64, int64, Rules, WalkArchive)")
def compare_with_all(path: Path, row: int, count: int, depth: int, rules: Rules, archive: WalkArchive) -> int:
    """Enter an outcome into an archive unless an entry dominates it; return whether the archive has it."""
    measures, chain = path.measures, path.chain
    known, ties, chains, size = archive.measures, archive.ties, archive.chains, archive.size
    for a in range(size[0]):
        order = compare_measures(known, a, measures, row, rules)
        if order == 1:
            if a > 0:
                swap_entries(archive, a, a // 2)
            return 0
        if order == 0:
            if ties[a] == 0 or (depth > 0 and (chains[a, 0] == 0 or chain[1] < chains[a, 0])):
                for d in range(chains.shape[1]):
                    chains[a, d] = chain[d + 1] if d < depth else 0
                for m in range(measures.shape[1]):
                    known[a, m] = measures[row, m]
            ties[a] += count
            return 1
    kept = 0
    for a in range(size[0]):
        if compare_measures(measures, row, known, a, rules) != 1:
            if kept < a:
                swap_entries(archive, a, kept)
            kept += 1
    for m in range(measures.shape[1]):
        known[kept, m] = measures[row, m]
    ties[kept] = count
    for d in range(chains.shape[1]):
        chains[kept, d] = chain[d + 1] if d < depth else 0
    size[0] = kept + 1
    return 1


@kernel("void(Path, int64, int64, int64, Rules, WalkArchive)", inlined=True)
def offer(path: Path, row: int, count: int, depth: int, rules: Rules, archive: WalkArchive) -> None:
    """Add the `count` assignments with the measures of a path's row to an archive with room for one more.

    `depth`: depth of the last set of the kept chain. If an entry dominates the outcome, the entry also
    dominates all outcomes of the same cost with as many conclusive and right rows; such outcomes are rejected
    without a comparison from then on.
    """
    measures, least = path.measures, archive.least
    if len(least):
        pair = measures[row, CONCLUSIVE] * (measures[row, CONCLUSIVE] + 1) // 2 + measures[row, CREDIT]
        if measures[row, COST] <= least[pair]:
            is_there = compare_with_all(path, row, count, depth, rules, archive)
            least[pair] = measures[row, COST] - 1 + is_there
    else:
        compare_with_all(path, row, count, depth, rules, archive)


@kernel("void(Path, int64, int64, Space, StageScoring, Rules)", inlined=True)
def advance(path: Path, depth: int, mask: int, space: Space, scoring: StageScoring, rules: Rules) -> None:
    """Send the rows that wait at a depth through a stage.

    The measures, and the rows that still wait, are written one level deeper.
    """
    before, measures = path.chain[depth], path.measures
    entering = rules.n_rows - measures[depth, CONCLUSIVE]
    for m in range(space.amounts.shape[1]):
        column = N_MEASURES + m
        times = 1 if space.of_paths[m] else entering
        measures[depth + 1, column] = measures[depth, column] + times * taken(m, before, mask, space)
    stage = StageCall(mask, space.prices[before], space.prices[mask], space.call_prices[mask])
    rows = StagedRows(space.bits, path.waiting, measures)
    add_stage(depth, depth + 1, stage, rows, scoring, rules.n_rows, rules.weighs)


class LastStages(NamedTuple):
    """Numbers that decide about the last stages after a node, kept few because every node passes them."""

    bits: WordBlock
    prices: Longs
    """Bits and prices as in :class:`Space`."""
    waiting: Words
    """Bit mask of the waiting rows."""
    least: Longs
    """Least known costs as in :class:`WalkArchive`."""
    before: int
    """Bit mask of the features of the node."""
    entering: int
    """Number of rows that wait at the node."""
    n_rows: int
    right: int
    """Numbers of all validation rows, and of the rows with a right answer so far."""
    paid: int
    """Price that all rows have paid, minus the price that the waiting rows have paid for the node's features.
    """
    removal: bool
    """Whether features may be left out, as in :class:`Rules`."""


@kernel("int64(int64, LastStages)")
def next_last_stage(added: int, asked: LastStages) -> int:
    """Return the next last stage that may cost no more than a known outcome; 0 if there is none.

    The search goes down from the bit mask `added`.
    """
    bits, prices, waiting, least = asked.bits, asked.prices, asked.waiting, asked.least
    before, entering, paid, n_rows = asked.before, asked.entering, asked.paid, asked.n_rows
    full, n_words = len(prices) - 1, len(waiting)
    last_decided, last_right, rest = bits[full, 0], bits[full, 1], full & ~before
    while added:
        mask = before | added
        right, left, unsure = asked.right, 0, 0
        if asked.removal:
            for w in range(n_words):
                right += popcount(waiting[w] & bits[mask, 1, w])
                unsure += popcount(waiting[w] & ~bits[mask, 0, w])
        else:
            for w in range(n_words):
                row = waiting[w]
                right += popcount(row & bits[mask, 1, w])
                row &= ~bits[mask, 0, w]
                left += popcount(row)
                right += popcount(row & last_right[w])
                unsure += popcount(row & ~last_decided[w])
        cost = paid + entering * prices[mask] + left * (prices[full] - prices[mask])
        conclusive = n_rows - unsure
        if cost <= least[conclusive * (conclusive + 1) // 2 + right]:
            return added
        added = (added - 1) & rest
    return 0


@kernel("int64(Path, int64, Space, StageScoring, Rules, WalkArchive)")
def last_stages(
    path: Path, depth: int, space: Space, scoring: StageScoring, rules: Rules, archive: WalkArchive
) -> int:
    """Try every last stage after a node; return the number of last stages.

    Where the last stage takes all other features, the tried stage is the last but one. A last stage that
    costs more than a known outcome with as many conclusive and right rows is not measured.
    """
    full, before = len(space.prices) - 1, path.chain[depth]
    entering, rest = rules.n_rows - path.measures[depth, CONCLUSIVE], full & ~before
    asked = LastStages(
        space.bits, space.prices, path.waiting[depth], archive.least, before, entering, rules.n_rows,
        path.measures[depth, CREDIT], path.measures[depth, COST] - entering * space.prices[before],
        rules.removal,
    )  # fmt: skip
    added = next_last_stage(rest if rules.removal else (rest - 1) & rest, asked)
    while added:
        path.chain[depth + 1] = before | added
        advance(path, depth, before | added, space, scoring, rules)
        if not rules.removal:
            advance(path, depth + 1, full, space, scoring, rules)
        offer(path, depth + 1 + (not rules.removal), 1, depth + 1, rules, archive)
        added = next_last_stage((added - 1) & rest, asked)
    return (1 << popcount(np.uint64(rest))) - (1 if rules.removal else 2)


@kernel("int64(Path, int64, Space, StageScoring, Rules, WalkArchive)", inlined=True)
def is_hopeless(
    path: Path, depth: int, space: Space, scoring: StageScoring, rules: Rules, archive: WalkArchive
) -> int:
    """Return whether a known outcome dominates every continuation of a node.

    Every measure but the conclusive rows, the credit and the cost of errors grows along a chain, so the value
    at the node is a bound. The wrong answers so far bound the cost of errors. The ratio of credit is bounded
    by the rows that no continuation answers rightly, where such rows are known.
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
    hoped, at = path.measures, depth + 1  # which what follows writes anew
    for m in range(hoped.shape[1]):
        hoped[at, m] = hoped[depth, m]
    hoped[at, ERRORS] = hoped[depth, LOST]
    left = rules.n_rows - hoped[at, CONCLUSIVE]
    hoped[at, STAGES] += 1 if removal else 2
    hoped[at, COST] += (left if removal else left - stuck) * space.least_steps[mask]
    if not removal:
        hoped[at, COST] += stuck * (prices[full] - prices[mask])
    hoped[at, EVALUATION] += left * space.least_calls[mask]
    # the stages that follow take, in sum, at least what one stage with all of them would
    for m in range(space.amounts.shape[1]):
        hoped[at, N_MEASURES + m] += (1 if space.of_paths[m] else left) * space.least_taken[mask, m]
        if not removal and not space.of_paths[m]:
            hoped[at, N_MEASURES + m] += stuck * (taken(m, mask, full, space) - space.least_taken[mask, m])
    most = hoped[at, CONCLUSIVE] + left - stuck
    over = most
    if rules.is_sharp:
        hoped[at, CREDIT] += scoring.unit * hope
        over = hoped[at, CONCLUSIVE] + hope + doomed
    else:
        hoped[at, CREDIT] += scoring.unit * (left - stuck)
    goals, counts, rated, credit = rules.goals, uses[CONCLUSIVE], uses[CREDIT], hoped[at, CREDIT]
    first = goals[0] if len(goals) else 0
    bound = hoped[at, first]
    for a in range(size[0]):
        # most known outcomes are behind in one of these two
        if (counts and known[a, CONCLUSIVE] < most) or (len(goals) and known[a, first] > bound):
            continue
        better, worse = counts and known[a, CONCLUSIVE] > most, False
        better |= len(goals) > 0 and known[a, first] < bound
        for g in range(1, len(goals)):
            better |= known[a, goals[g]] < hoped[at, goals[g]]
            worse |= known[a, goals[g]] > hoped[at, goals[g]]
        if worse:
            continue
        if rated:
            mine, theirs = known[a, CREDIT] * max(1, over), credit * max(1, known[a, CONCLUSIVE])
            better |= mine > theirs
            worse = mine < theirs
        if better and not worse:
            if a > 0:
                swap_entries(archive, a, a // 2)
            return 1
    return 0


@kernel("void(int64[::1], Space, StageScoring, Rules, Path, WalkArchive, int64)")
def walk_chains(
    firsts: Longs,
    space: Space,
    scoring: StageScoring,
    rules: Rules,
    path: Path,
    archive: WalkArchive,
    block: int,
) -> None:
    """Continue a walk over the assignments whose first stage is in `firsts`.

    The walk ends when `block` chains were visited, or the archive has no room for one more node. Where no row
    waits any more, all continuations have the same measures except the number of stages, and are counted
    without a visit.
    """
    chain, added, max_stages, removal = path.chain, path.added, rules.max_stages, rules.removal
    full = len(space.prices) - 1
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
        advance(path, depth - 1, mask, space, scoring, rules)
        looked += 1
        ways = 1
        descend = mask != full and depth < max_stages
        if descend and path.measures[depth, CONCLUSIVE] == rules.n_rows and not rules.grows:
            ways = rules.ways[popcount(np.uint64(full & ~mask)), max_stages - depth]
        if mask == full or removal:
            offer(path, depth, ways, depth if removal else depth - 1, rules, archive)
        elif descend:
            advance(path, depth, full, space, scoring, rules)
            offer(path, depth + 1, ways, depth, rules, archive)
        if not removal:
            descend = descend and depth + 1 < max_stages
        if descend and ways == 1 and rules.prune:
            descend = not is_hopeless(path, depth, space, scoring, rules, archive)
        if descend and ways == 1 and len(archive.least) and depth + 1 + (not removal) == max_stages:
            looked += last_stages(path, depth, space, scoring, rules, archive)
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
