"""Kernels that count votes for classes: flips rated on leads, exactly and all at once.

A row is right iff its *lead* is at least 0: the votes for its true class less those for the strongest rival,
one less where the rival is the lower class and so wins ties (:mod:`shortlist.ensembles.rules._kernels`). A
flip of one classifier moves a lead by one at most, so only rows of lead 0 and −1 decide how many rows are
right: one pass over them rates every flip. The utility of margins has integers by size S and distance, which
is the lead plus 1, and there every row counts: it looks at a vote more and a vote less for each class, and
every classifier reads off what its class says.
"""

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import LongTable, Whole
from shortlist.ensembles.rules._kernels import lead
from shortlist.ensembles.search._search_arrays import (
    SIZE,
    TOTAL,
    WORST,
    WORTH,
    SearchRoom,
    SearchRows,
    SearchWalk,
)


@kernel("void(int64, int64, SearchRows, SearchWalk)")
def count_classes(k: Whole, change: Whole, rows: SearchRows, walk: SearchWalk) -> None:
    """Change tallies, leads, gains by distance and the total with k, which joins (1) or leaves (−1)."""
    column, labels, gains = rows.columns[k], rows.labels, rows.gains
    tally, leads, levels, scalars = walk.tally, walk.leads, walk.levels, walk.scalars
    near = levels.shape[1] // 2 + 1
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
        if len(levels):
            levels[0, near + before] -= gains[i]
            levels[0, near + after] += gains[i]
        if before < 0 <= after:
            scalars[TOTAL] += gains[i]
        elif after < 0 <= before:
            scalars[TOTAL] -= gains[i]


@kernel("void(int64, int64, SearchRows, SearchWalk, SearchRoom)")
def rate_classes(start: Whole, stop: Whole, rows: SearchRows, walk: SearchWalk, room: SearchRoom) -> None:
    """Rate the addition, or the removal, of classifiers: the total after it.

    What a row adds is noted first for those who join, and who leave, by the class of their vote.
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
        room.ratings[place, k] = walk.scalars[TOTAL] + changes[k]
        room.ratings[place + 1, k] = 0


@kernel("int64(int64[:, ::1], int64, int64, int64)")
def worth_at(table: LongTable, size: Whole, lead: Whole, n: Whole) -> Whole:
    """Return the utility of a lead with so many of n members, also of leads and sizes that there are not."""
    row = table[min(max(size, 0), n)]
    worth: Whole = row[min(max(len(row) // 2 + 1 + lead, 0), len(row) - 1)]
    return worth


@kernel("void(int64[:, ::1], SearchWalk)")
def set_class_worth(table: LongTable, walk: SearchWalk) -> None:
    """Note the margin utility of the current selection."""
    row, by_distance = table[walk.scalars[SIZE]], walk.levels[0]
    worth: Whole = np.int64(0)
    for d in range(len(row)):
        worth += by_distance[d] * row[d]
    walk.scalars[WORTH] = worth


@kernel("void(int64, int64, SearchRows, SearchWalk, SearchRoom)")
def rate_class_worths(
    start: Whole, stop: Whole, rows: SearchRows, walk: SearchWalk, room: SearchRoom
) -> None:
    """Rate as :func:`rate_classes`, by margin utility."""
    codes, labels, gains, tally, table = rows.votes, rows.labels, rows.gains, walk.tally, rows.table
    member, effects, worths = walk.member, room.near, room.ratings[4]
    n, n_classes, size = len(member), tally.shape[1], walk.scalars[SIZE]
    worths[start:stop] = 0
    for i in range(len(labels)):
        label = np.int64(labels[i])
        for leaves in range(2):
            change = np.int64(1 - 2 * leaves)
            for c in range(n_classes):
                tally[i, c] += change
                effects[leaves, c] = gains[i] * worth_at(table, size + change, lead(tally, i, label), n)
                tally[i, c] -= change
        for k in range(start, stop):
            worths[k] += effects[member[k], codes[i, k]]
    for k in range(start, stop):
        place = 2 if member[k] else 0
        room.ratings[2 - place, k] = WORST
        room.ratings[place, k] = worths[k]
        room.ratings[place + 1, k] = 0


@kernel("int64(int64, SearchRows, SearchWalk)")
def class_worth_after(k: Whole, rows: SearchRows, walk: SearchWalk) -> Whole:
    """Return the margin utility after flipping k."""
    column, labels, tally = rows.columns[k], rows.labels, walk.tally
    change = np.int64(-1 if walk.member[k] else 1)
    n, size = len(walk.member), walk.scalars[SIZE] + change
    worth: Whole = np.int64(0)
    for i in range(len(labels)):
        tally[i, column[i]] += change
        worth += rows.gains[i] * worth_at(rows.table, size, lead(tally, i, np.int64(labels[i])), n)
        tally[i, column[i]] -= change
    return worth
