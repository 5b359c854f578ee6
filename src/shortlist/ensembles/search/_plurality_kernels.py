"""Kernels of pruning by plurality votes: a tabu walk over flips and swaps.

A row is right iff its *lead* is at least 0: the votes for its true class less those for the strongest rival,
one less where the rival is the lower class and so wins ties (:mod:`shortlist.ensembles.rules._kernels`). A
flip of one classifier moves a lead by one at most, so only rows of lead 0 and −1 decide what it changes: one
pass over them rates every flip.

Entries of `options` and `scalars` are those of :mod:`shortlist.ensembles.search._threshold_kernels`, as far
as they are used. Everything that a walk depends on is in its arrays, so that cutting a walk into blocks
changes nothing.
"""

import numpy as np

from shortlist._jit import kernel
from shortlist._random import State, draw_below
from shortlist.arrays import Bytes, Longs, Shorts
from shortlist.ensembles.rules._kernels import lead
from shortlist.ensembles.search._threshold_kernels import (
    BEST_TOTAL,
    COST,
    CREDIT,
    HAS_COSTS,
    HAS_CREDIT,
    KNOWN,
    MAX_SIZE,
    MIN_SIZE,
    MISSED,
    N_SWAPS,
    NONE,
    PATIENCE,
    PENALTY,
    RUN_KNOWN,
    RUN_TOTAL,
    SIZE,
    STALLED,
    STEP,
    STREAK,
    TENURE,
    TOTAL,
    WORST,
    missed_after,
)

PICK, PICK_SCORE, PICK_TOTAL = range(3)
"""Entries of a choice: classifier, what is compared, total."""


@kernel(
    "void(int64, uint8[:, ::1], uint8[::1], int64[::1], int64[::1], int64[:, ::1], int64[::1], uint8[::1],"
    " int32[:, ::1], int64[::1], int64[::1], int64[::1])"
)
def flip(
    k: int,
    columns: Bytes,
    labels: Bytes,
    gains: Longs,
    costs: Longs,
    credit: Longs,
    options: Longs,
    member: Bytes,
    tally: Shorts,
    leads: Longs,
    sums: Longs,
    scalars: Longs,
) -> None:
    """Let classifier k join or leave: tallies, leads, total, cost and sums of failure credit follow."""
    change = np.int64(-1 if member[k] else 1)
    column = columns[k]
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
            scalars[TOTAL] += gains[i]
        elif after < 0 <= before:
            scalars[TOTAL] -= gains[i]
    member[k] = 1 - member[k]
    scalars[SIZE] += change
    if options[HAS_COSTS]:
        scalars[COST] += change * costs[k]
    if options[HAS_CREDIT]:
        scalars[CREDIT] += change * sums[k]
        for m in range(len(sums)):
            sums[m] += change * credit[k, m]


@kernel(
    "void(uint8[:, ::1], uint8[::1], int64[::1], uint8[::1], int32[:, ::1], int64[::1], int64[:, ::1], "
    "int64[::1])"
)
def rate_flips(
    codes: Bytes,
    labels: Bytes,
    gains: Longs,
    member: Bytes,
    tally: Shorts,
    leads: Longs,
    effects: Longs,
    changes: Longs,
) -> None:
    """Set what flipping each classifier adds to the total.

    `effects` takes (joins, leaves) by class of its vote.
    """
    changes[:] = 0
    n_classes = tally.shape[1]
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
        for k in range(len(member)):
            changes[k] += effects[member[k], codes[i, k]]


@kernel(
    "void(int64, int64[::1], int64[:, ::1], int64[::1], uint8[::1], int64[::1], int64[::1], int64[::1], "
    "int64[::1], uint64[::1], int64[::1])"
)
def choose_flip(
    back: int,
    costs: Longs,
    credit: Longs,
    options: Longs,
    member: Bytes,
    sums: Longs,
    tabu: Longs,
    scalars: Longs,
    changes: Longs,
    state: State,
    choice: Longs,
) -> None:
    """Choose the best flip that is not tabu, or one that beats all so far; one of equals by lot.

    After a member `back` has left for a swap, only others may join; `back` is NONE otherwise.
    """
    choice[PICK] = NONE
    choice[PICK_SCORE] = WORST
    n_equal = 0
    limited = options[HAS_COSTS] or options[HAS_CREDIT]
    for k in range(len(member)):
        if member[k]:
            if back != NONE or scalars[SIZE] <= options[MIN_SIZE]:
                continue
        elif k == back or scalars[SIZE] >= options[MAX_SIZE]:
            continue
        total = scalars[TOTAL] + changes[k]
        score = total
        missed = 0
        if limited:
            missed = int(missed_after(k, costs, credit, options, member, sums, scalars))
            if missed > 0:
                score -= min(scalars[PENALTY], np.int64(2**60) // missed) * np.int64(missed)
        if score < choice[PICK_SCORE]:
            continue
        record = missed == 0 and (scalars[KNOWN] == 0 or total > scalars[BEST_TOTAL])
        if tabu[k] > scalars[STEP] and not record:
            continue
        n_equal = 1 if score > choice[PICK_SCORE] else n_equal + 1
        if n_equal == 1 or draw_below(state, n_equal) == 0:
            choice[PICK] = k
            choice[PICK_SCORE] = score
            choice[PICK_TOTAL] = total


@kernel("void(uint8[::1], uint8[:, ::1], int64[::1])")
def note_members(member: Bytes, best: Bytes, scalars: Longs) -> None:
    """Keep the members, if within limits, as the best so far (row 0) and of this run (row 1)."""
    scalars[STALLED] += 1
    if scalars[MISSED] > 0:
        return
    total = scalars[TOTAL]
    if scalars[RUN_KNOWN] == 0 or total > scalars[RUN_TOTAL]:
        scalars[RUN_KNOWN] = 1
        scalars[RUN_TOTAL] = total
        scalars[STALLED] = 0
        best[1] = member
    if scalars[KNOWN] == 0 or total > scalars[BEST_TOTAL]:
        scalars[KNOWN] = 1
        scalars[BEST_TOTAL] = total
        best[0] = member


@kernel(
    "int64(int64, uint8[:, ::1], uint8[:, ::1], uint8[::1], int64[::1], int64[::1], int64[:, ::1], "
    "int64[::1], uint8[::1], int32[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], uint64[::1], "
    "int64[:, ::1], int64[::1], int64[:, ::1], uint8[:, ::1])"
)
def walk(
    n_steps: int,
    codes: Bytes,
    columns: Bytes,
    labels: Bytes,
    gains: Longs,
    costs: Longs,
    credit: Longs,
    options: Longs,
    member: Bytes,
    tally: Shorts,
    leads: Longs,
    sums: Longs,
    tabu: Longs,
    scalars: Longs,
    state: State,
    effects: Longs,
    changes: Longs,
    choices: Longs,
    best: Bytes,
) -> int:
    """Make up to `n_steps` moves of the tabu search, fewer when it stalls, and return how many."""
    n_classifiers = len(member)
    choice, other = choices[0], choices[1]
    for step in range(n_steps):
        if scalars[STALLED] >= options[PATIENCE]:
            return step
        rate_flips(codes, labels, gains, member, tally, leads, effects, changes)
        choose_flip(NONE, costs, credit, options, member, sums, tabu, scalars, changes, state, choice)
        out = NONE
        now = scalars[TOTAL]
        if scalars[MISSED] > 0:
            now -= min(scalars[PENALTY], np.int64(2**60) // scalars[MISSED]) * scalars[MISSED]
        if choice[PICK] == NONE or choice[PICK_SCORE] <= now:
            for _ in range(min(options[N_SWAPS], scalars[SIZE])):
                k = int(draw_below(state, n_classifiers))
                while not member[k]:
                    k = (k + 1) % n_classifiers
                if tabu[k] > scalars[STEP]:
                    continue
                flip(k, columns, labels, gains, costs, credit, options, member, tally, leads, sums, scalars)
                rate_flips(codes, labels, gains, member, tally, leads, effects, changes)
                choose_flip(k, costs, credit, options, member, sums, tabu, scalars, changes, state, other)
                flip(k, columns, labels, gains, costs, credit, options, member, tally, leads, sums, scalars)
                if other[PICK] != NONE and other[PICK_SCORE] > choice[PICK_SCORE]:
                    choice[:] = other
                    out = k
        scalars[STEP] += 1
        if choice[PICK] == NONE:
            scalars[STALLED] += 1
            continue
        for k in (out, int(choice[PICK])):
            if k != NONE:
                flip(k, columns, labels, gains, costs, credit, options, member, tally, leads, sums, scalars)
                tabu[k] = scalars[STEP] + options[TENURE] + draw_below(state, options[TENURE] + 1)
        scalars[MISSED] = missed_after(NONE, costs, credit, options, member, sums, scalars)
        if scalars[MISSED] > 0:
            scalars[STREAK] = max(scalars[STREAK], 0) + 1
        else:
            scalars[STREAK] = min(scalars[STREAK], 0) - 1
        if scalars[STREAK] == 4:
            scalars[PENALTY] = min(2 * scalars[PENALTY], np.int64(2**58))
            scalars[STREAK] = 0
        elif scalars[STREAK] == -8:
            scalars[PENALTY] = max(scalars[PENALTY] // 2, 1)
            scalars[STREAK] = 0
        note_members(member, best, scalars)
    return n_steps
