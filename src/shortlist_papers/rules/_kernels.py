"""Kernel of the rules that weigh rows by the members' decisions on them."""

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel
from shortlist.arrays import Longs
from shortlist.ensembles._rule_kernels import Climb, CodedRows, best_left, lead
from shortlist.ensembles.votes.hard_votes import ClassCodes

ROOM = 2**14
"""Bound on the size of 16-bit sums of changes, at which the sums are drained."""
COMPLEMENTARINESS, CONCURRENCY, UNCERTAINTY = 0, 1, 2
"""Indices of the rules."""


@kernel("void(int16[::1], int64[::1])")
def drain(recent: NDArray[np.int16], scores: Longs) -> None:
    """Add the recent changes to the scores, and set them to 0."""
    for k in range(len(scores)):
        scores[k] += recent[k]
        recent[k] = 0


@kernel("void(uint8[::1], uint8, int16, int16[::1])")
def note_change(codes: ClassCodes, label: np.uint8, change: np.int16, recent: NDArray[np.int16]) -> None:
    """Add a change to the recent changes of all classifiers that are right on a row.

    The function is compiled separately, for speed.
    """
    for k in range(len(recent)):
        recent[k] += change if codes[k] == label else np.int16(0)


@kernel("void(int64, CodedRows, Climb, int64[::1], int16[::1], int64[::1], int64[::1], int64[::1])")
def climb_by_weights(
    rule: int,
    rows: CodedRows,
    climb: Climb,
    weights: Longs,
    recent: NDArray[np.int16],
    order: Longs,
    fitness: Longs,
    right: Longs,
) -> None:
    """Add, at each step, the classifier that is right on the most weight.

    Weights depend on the members so far.

    ``order[0]`` is given. Fitness is an integer; for `UNCERTAINTY` it is multiplied by the number of members
    before the step. `recent` collects changes of the scores in a quarter of the bytes, which takes a quarter
    of the time, and is drained before it can overflow.
    """
    codes, columns, labels, counts = rows.codes, rows.columns, rows.labels, rows.counts
    tally, scores, left = climb.tally, climb.scores, climb.left
    for size in range(1, len(order) + 1):
        last = order[size - 1]
        left[last] = False
        room = ROOM
        base = 0
        sure = 0
        for i in range(len(labels)):
            tally[i, columns[last, i]] += 1
            label = np.int64(labels[i])
            count = counts[i]
            wrong = lead(tally, i, label) < 0
            weight = 0
            if not wrong:
                sure += count
            if rule == COMPLEMENTARINESS:
                if wrong:
                    weight = count
            elif rule == CONCURRENCY:
                weight = count
                if wrong:
                    weight = 4 * count
                    base -= 2 * count
            else:
                own = np.int64(tally[i, label])
                weight = count * own if wrong else count * (size - own)
                base -= weight
                weight *= 2
            change = weight - weights[i]
            if change != 0:
                weights[i] = weight
                byte = labels[i]
                if abs(change) > ROOM:
                    for k in range(len(scores)):
                        scores[k] += change if codes[i, k] == byte else 0
                else:
                    room -= abs(change)
                    if room < 0:
                        drain(recent, scores)
                        room = ROOM - abs(change)
                    note_change(codes[i], byte, np.int16(change), recent)
        right[size - 1] = sure
        drain(recent, scores)
        if size < len(order):
            pick = best_left(scores, left, climb.alone)
            order[size] = pick
            fitness[size] = base + scores[pick]
