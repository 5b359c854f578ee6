"""Records of the search for selections, as its kernels take them.

The state of a walk is in these arrays alone, so that cutting a walk into blocks changes nothing.
"""

from typing import Annotated, NamedTuple

import numpy as np

from shortlist._bits import State, draw_below
from shortlist._jit import kernel
from shortlist.arrays import Bytes, ByteTable, Longs, LongTable, Records, ShortTable, Whole, record_type
from shortlist.ensembles._rule_kernels import lead

NONE = -1
WORST = -(2**62)
PART = 1000
"""Number of parts of a unit in which misses of limits are counted: thousandths of a member's failure credit,
or of a mean cost.
"""

OPTIONS = record_type(
    "min_size",
    "max_size",
    "budget",
    "cost_unit",
    "each_credit",
    "mean_credit",
    "slack",
    "has_costs",
    "has_credit",
    "n_tried",
    "n_swaps",
    "tenure",
    "patience",
)
"""Limits on a selection, and options of walks."""
HERE = record_type(
    "n_members",
    "threshold",
    "cost",
    "credit",
    "missed",
    "total",
    "step",
    "stalled",
    "penalty",
    "known",
    "best_total",
    "best_threshold",
    "run_known",
    "run_total",
    "streak",
)
"""Current selection, state of the walk, best selection within limits, and best selection of this run."""
CHOICE = record_type("pick", "score")
"""Index of a classifier to flip, and its score."""


class SearchRows(NamedTuple):
    """Rows of the search, with the gain of being right on each row."""

    votes: ByteTable
    """Votes of 0 and 1, or indices of classes, ``(n_rows, n_classifiers)``."""
    columns: ByteTable
    """Transposed `votes`, ``(n_classifiers, n_rows)``."""
    labels: Bytes
    """True classes, ``(n_rows,)``, if the class with most votes wins; empty if a threshold decides."""
    gains: Longs
    """Gain of deciding each row positive, ``(n_rows,)``; by plurality the gain of being right on it."""


class SearchLimits(NamedTuple):
    """Limits on a selection, and options of walks."""

    options: Annotated[Records, OPTIONS]
    """Limits and options, as one record."""
    costs: Longs
    """Cost of each classifier."""
    credit: LongTable
    """Failure credit of every pair."""


class SearchWalk(NamedTuple):
    """State of a walk."""

    member: Bytes
    """Membership of each classifier, 1 for a member, ``(n_classifiers,)``."""
    tally: ShortTable
    """Positive votes of the members, ``(1, n_rows)``; by plurality :func:`no_votes` plus the votes for each
    class.
    """
    levels: LongTable
    """Sums of gains over the rows with each tally: sum of the positive gains, and negated sum of the negative
    gains; used with a threshold.
    """
    leads: Longs
    """Lead of each row by plurality; the row is right if and only if its lead is at least 0."""
    sums: Longs
    """Sum of the failure credits of each classifier with all members."""
    tabu: Longs
    """Step until which each classifier may not move."""
    here: Annotated[Records, HERE]
    """Current state, as one record."""
    draws: State
    """State of the random generator."""
    best: ByteTable
    """Members of the best selection so far, and members of the best selection of this run, ``(2,
    n_classifiers)``.
    """


class SearchRoom(NamedTuple):
    """Buffers for rating flips."""

    near: LongTable
    """Sums of gains. With a threshold the axes are classifier and tally near the threshold; by plurality they
    are class, for joining and for leaving.
    """
    ratings: LongTable
    """Ratings of each classifier, ``(5, n_classifiers)``: total after its addition and the threshold for it,
    total after its removal and the threshold for it, and a score if the classifier may move.
    """
    choices: Annotated[Records, CHOICE]
    """Best single flip, and best second flip of a swap."""


@kernel("void(int64, int64, SearchRows, SearchWalk)")
def count_classes(k: Whole, change: Whole, rows: SearchRows, walk: SearchWalk) -> None:
    """Update tallies, leads and the total for classifier k; `change`: 1 if it joins, −1 if it leaves."""
    column, labels, gains = rows.columns[k], rows.labels, rows.gains
    tally, leads, here = walk.tally, walk.leads, walk.here[0]
    for i in range(len(labels)):
        label = np.int64(labels[i])
        code = np.int64(column[i])
        before = leads[i]
        tally[i, code] += change
        if code == label:
            after = before + change
        else:
            slack = np.int64(tally[i, label]) - tally[i, code]
            if code < label:
                slack -= 1
            if change > 0:
                after = min(before, slack)
            elif slack - 1 > before:
                after = before
            else:
                after = lead(tally, i, label)
        leads[i] = after
        if before < 0 <= after:
            here.total += gains[i]
        elif after < 0 <= before:
            here.total -= gains[i]


@kernel("void(int64, int64, SearchRows, SearchWalk, SearchRoom)")
def rate_classes(start: Whole, stop: Whole, rows: SearchRows, walk: SearchWalk, room: SearchRoom) -> None:
    """Rate the addition or removal of the classifiers `start` to `stop` - 1 by the total after it.

    The gain or loss on each row is first added up by the class of the vote, for joining and for leaving.
    """
    codes, labels, gains, tally, leads = rows.votes, rows.labels, rows.gains, walk.tally, walk.leads
    member, effects, changes = walk.member, room.near, room.ratings[4]
    n_classes = tally.shape[1]
    changes[start:stop] = 0
    for i in range(len(labels)):
        ahead = leads[i]
        if ahead > 0 or ahead < -1:
            continue
        label = np.int64(labels[i])
        gain = gains[i]
        n_ahead = 0  # rivals that win as it is
        for c in range(n_classes):
            effects[0, c] = 0
            effects[1, c] = 0
            if c != label:
                slack = np.int64(tally[i, label]) - tally[i, c]
                if c < label:
                    slack -= 1
                if slack < 0:
                    n_ahead += 1
                    effects[1, c] = gain
                elif slack == 0 and ahead == 0:
                    effects[0, c] = -gain
        if ahead == 0:
            effects[1, label] = -gain
        else:
            effects[0, label] = gain
            if n_ahead > 1:
                for c in range(n_classes):
                    effects[1, c] = 0
        for k in range(start, stop):
            changes[k] += effects[member[k], codes[i, k]]
    for k in range(start, stop):
        place = 2 if member[k] else 0
        room.ratings[2 - place, k] = WORST
        room.ratings[place, k] = walk.here[0].total + changes[k]
        room.ratings[place + 1, k] = 0


WINDOW = 2
"""Largest difference of a move's threshold from the current threshold, which is always the best one."""


@kernel("void(int64, int64, SearchRows, SearchWalk)")
def count_votes(k: Whole, change: Whole, rows: SearchRows, walk: SearchWalk) -> None:
    """Update tallies and levels for classifier k; `change`: 1 if it joins, −1 if it leaves."""
    column, gains, tally, levels = rows.columns[k], rows.gains, walk.tally[0], walk.levels
    small = np.int32(change)
    for i in range(len(gains)):
        if column[i]:
            t = tally[i]
            gain = gains[i]
            sign = 0
            if gain < 0:
                sign = 1
                gain = -gain
            levels[sign, t] -= gain
            levels[sign, t + small] += gain
            tally[i] = t + small


@kernel("void(SearchWalk)")
def set_threshold(walk: SearchWalk) -> None:
    """Set the best threshold of the current selection, of equals the nearest to half the members."""
    levels, here = walk.levels, walk.here[0]
    size = here.n_members
    above: Whole = np.int64(0)
    best: Whole = np.int64(WORST)
    best_at: Whole = np.int64(0)
    for threshold in range(size, -1, -1):
        if threshold < size:
            above += levels[0, threshold + 1] - levels[1, threshold + 1]
        nearer = abs(2 * threshold - size) <= abs(2 * best_at - size)
        if above > best or (above == best and nearer):
            best = above
            best_at = np.int64(threshold)
    here.threshold = best_at
    here.total = best


@kernel("void(int64, int64, SearchRows, SearchWalk, SearchRoom)")
def rate_totals(start: Whole, stop: Whole, rows: SearchRows, walk: SearchWalk, room: SearchRoom) -> None:
    """Rate the addition and the removal of the classifiers `start` to `stop` - 1.

    Rows 0 and 1 of the ratings get the best total after the addition and its threshold, rows 2 and 3 the same
    after the removal. The gains of the rows that a classifier votes positive on are first summed by tally.
    """
    votes, gains, tally, levels = rows.votes, rows.gains, walk.tally[0], walk.levels
    size, threshold = walk.here[0].n_members, walk.here[0].threshold
    near, ratings = room.near, room.ratings
    low = max(0, threshold - WINDOW)
    high = min(size + 1, threshold + WINDOW)
    n_levels = high - low + 2
    for b in range(n_levels):
        near[b, start:stop] = 0
    for i in range(len(gains)):
        b = tally[i] - low
        if 0 <= b < n_levels:
            gain = gains[i]
            sums = near[b, start:stop]
            row = votes[i, start:stop]
            for k in range(len(sums)):
                sums[k] += gain & -np.int64(row[k])
    above: Whole = np.int64(0)
    for t in range(low + 1, size + 1):
        above += levels[0, t] - levels[1, t]
    for k in range(start, stop):
        ratings[0, k] = WORST
        ratings[2, k] = WORST
    for level in range(low, high + 1):
        if level > low and level <= size:
            above -= levels[0, level] - levels[1, level]
        for k in range(start, stop):
            total = above + near[level - low, k]
            if total > ratings[0, k] or (
                total == ratings[0, k] and abs(2 * level - size) < abs(2 * ratings[1, k] - size)
            ):
                ratings[0, k] = total
                ratings[1, k] = level
            if level < size:
                total = above - near[level - low + 1, k]
                if total > ratings[2, k] or (
                    total == ratings[2, k] and abs(2 * level - size) < abs(2 * ratings[3, k] - size)
                ):
                    ratings[2, k] = total
                    ratings[3, k] = level


@kernel("int64(int64, SearchLimits, SearchWalk)")
def missed_after(k: Whole, limits: SearchLimits, walk: SearchWalk) -> Whole:
    """Return the amount by which limits on cost and diversity are missed after a flip of classifier k.

    With k = NONE, the amount is that of the current selection. The amount is 0 if and only if the limits are
    kept.
    """
    options, costs, credit = limits.options[0], limits.costs, limits.credit
    member, sums, here = walk.member, walk.sums, walk.here[0]
    change: Whole = np.int64(0)
    if k != NONE:
        change = np.int64(-1 if member[k] else 1)
    missed: Whole = np.int64(0)
    if options.has_costs:
        cost = here.cost
        if k != NONE:
            cost += change * costs[k]
        if cost > options.budget:
            missed += (cost - options.budget) // options.cost_unit + 1
    size = here.n_members + change
    if options.has_credit and size > 1:
        pairs = here.credit
        if k != NONE:
            pairs += change * sums[k]
        least = options.mean_credit * (size * (size - 1) // 2) - options.slack
        if pairs < least:
            missed += (least - pairs) // (size * 1000000) + 1
        if options.each_credit > 0:
            least = options.each_credit * (size - 1) - options.slack
            for m in range(len(sums)):
                if m != k and member[m]:
                    have = sums[m]
                    if k != NONE:
                        have += change * credit[k, m]
                    if have < least:
                        missed += (least - have) // 1000000 + 1
            if change > 0 and sums[k] < least:
                missed += (least - sums[k]) // 1000000 + 1
    return missed


@kernel("int64(int64, int64, SearchWalk)")
def priced(score: Whole, missed: Whole, walk: SearchWalk) -> Whole:
    """Return a score minus the price of missing the limits by the amount `missed`."""
    price: Whole = np.int64(0)
    if missed > 0:
        price = min(walk.here[0].penalty, np.int64(2**60) // missed) * missed
    return score - price


@kernel("void(SearchWalk)")
def adapt_penalty(walk: SearchWalk) -> None:
    """Raise the price of missing limits after some steps outside, lower it after more steps within."""
    here = walk.here[0]
    if here.missed > 0:
        here.streak = max(here.streak, 0) + 1
    else:
        here.streak = min(here.streak, 0) - 1
    if here.streak == 4:
        here.penalty = min(2 * here.penalty, np.int64(2**58))
        here.streak = 0
    elif here.streak == -8:
        here.penalty = max(here.penalty // 2, 1)
        here.streak = 0


@kernel("void(int64, int64, SearchLimits, SearchWalk)")
def count_limits(k: Whole, change: Whole, limits: SearchLimits, walk: SearchWalk) -> None:
    """Update size, cost and failure credit for classifier k; `change`: 1 if it joins, −1 if it leaves."""
    here, sums = walk.here[0], walk.sums
    here.n_members += change
    if limits.options[0].has_costs:
        here.cost += change * limits.costs[k]
    if limits.options[0].has_credit:
        here.credit += change * sums[k]
        for m in range(len(sums)):
            sums[m] += change * limits.credit[k, m]


@kernel("void(int64, SearchRows, SearchLimits, SearchWalk)")
def flip(k: Whole, rows: SearchRows, limits: SearchLimits, walk: SearchWalk) -> None:
    """Let classifier k join or leave, and update all counts."""
    change = np.int64(-1 if walk.member[k] else 1)
    if len(rows.labels):
        count_classes(k, change, rows, walk)
    else:
        count_votes(k, change, rows, walk)
    walk.member[k] = 1 - walk.member[k]
    count_limits(k, change, limits, walk)


@kernel("void(SearchRows, SearchLimits, SearchWalk)")
def settle(rows: SearchRows, limits: SearchLimits, walk: SearchWalk) -> None:
    """Store the amount by which the current selection misses its limits, and set its best threshold."""
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
    """Store the best allowed flip of the classifiers `start` to `stop` - 1, or NONE, as choice `written`.

    If `without` is a classifier that has just left, only additions of other classifiers are rated, to
    complete a swap. A recently moved classifier may move again if that gives the best selection so far. Ties
    are decided at random.
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
    """Keep the current selection if it is within limits and better than the best one.

    Row 0 of `best` is the best selection so far, row 1 the best selection of this run.
    """
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
    """Make a selection the current one, and reset the state of the walk."""
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
    """Make up to `n_steps` moves of the tabu search, fewer if it stalls; return the number of moves."""
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
