"""Kernels that count votes for classes: flips rated on leads, exactly and all at once.

A row is right iff its *lead* is at least 0: the votes for its true class less those for the strongest rival,
one less where the rival is the lower class and so wins ties (:mod:`shortlist.ensembles.rules._kernels`). A
flip of one classifier moves a lead by one at most, so only rows of lead 0 and −1 decide how many rows are
right: one pass over them rates every flip.
"""

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Whole
from shortlist.ensembles.rules._kernels import lead
from shortlist.ensembles.search._search_arrays import (
    WORST,
    SearchRoom,
    SearchRows,
    SearchWalk,
)


@kernel("void(int64, int64, SearchRows, SearchWalk)")
def count_classes(k: Whole, change: Whole, rows: SearchRows, walk: SearchWalk) -> None:
    """Change tallies, leads and the total with k, which joins (1) or leaves (−1)."""
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
        room.ratings[place, k] = walk.here[0].total + changes[k]
        room.ratings[place + 1, k] = 0
