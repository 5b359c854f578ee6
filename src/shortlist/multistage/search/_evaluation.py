# ruff: noqa: C901, PLR0912, PLR0917  # kernels take their state as arguments and keep their loops flat
"""Kernels that measure stage assignments on decision bits, and rank what they measured."""

from typing import NamedTuple

import numpy as np

from shortlist._bits import Words, WordTable, popcount
from shortlist._jit import kernel
from shortlist.arrays import Flags, Longs

CONCLUSIVE, CREDIT, COST, FALSE_POSITIVES, STAGES, WORST, EVALUATION = range(7)
"""Columns of measures: conclusive rows; their credit; what all rows pay; rows wrongly called positive;
stages; what the dearest row pays; what all calls of classifiers cost.
"""
N_MEASURES = 7
"""How many these are. A column for each attribute follows: what all rows take of it."""


class StageScoring(NamedTuple):
    """What decisions are worth."""

    classes: WordTable
    """The rows of each class."""
    penalties: Longs
    """What a wrong decision on a row of each class costs."""
    unit: int
    """What a right decision is worth."""
    negatives: Words
    """The rows that count as false positives where they are wrong."""


@kernel(
    "void(int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, :, ::1], uint64[:, :, ::1], uint64[::1], "
    "StageScoring, int64[:, ::1])",
    makes_arrays=True,
)
def measure(
    slots: Longs,
    prices: Longs,
    call_prices: Longs,
    taken: Longs,
    bits: Words,
    everyone: Words,
    scoring: StageScoring,
    measures: Longs,
) -> None:
    """Measure assignments, given their stages' `slots` (-1: none) and what rows pay by stage and call.

    `taken` is what rows take of each attribute by stage.
    """
    classes, penalties, unit, negatives = scoring.classes, scoring.penalties, scoring.unit, scoring.negatives
    n_words = len(everyone)
    waiting = np.empty(n_words, dtype=np.uint64)
    for a in range(slots.shape[0]):
        for w in range(n_words):
            waiting[w] = everyone[w]
        for m in range(measures.shape[1]):
            measures[a, m] = 0
        paid = 0
        for stage in range(slots.shape[1]):
            slot = slots[a, stage]
            if slot < 0:
                break
            measures[a, STAGES] += 1
            entering = 0
            for w in range(n_words):
                entering += popcount(waiting[w])
            if entering == 0:
                continue
            measures[a, COST] += entering * (prices[a, stage] - paid)
            measures[a, EVALUATION] += entering * call_prices[a, stage]
            for m in range(taken.shape[2]):
                measures[a, N_MEASURES + m] += entering * taken[a, stage, m]
            paid = prices[a, stage]
            measures[a, WORST] = paid
            for w in range(n_words):
                decided = waiting[w] & bits[slot, 0, w]
                right = decided & bits[slot, 1, w]
                wrong = decided & ~right
                waiting[w] &= ~decided
                measures[a, CONCLUSIVE] += popcount(decided)
                measures[a, CREDIT] += unit * popcount(decided)
                for c in range(len(penalties)):
                    measures[a, CREDIT] -= penalties[c] * popcount(wrong & classes[c, w])
                measures[a, FALSE_POSITIVES] += popcount(wrong & negatives[w])


@kernel("int64(int64[:, ::1], int64[::1], int64[::1], int64, int64)")
def compare_rows(points: Longs, credits_: Longs, conclusive: Longs, a: int, b: int) -> int:
    """Return 1 when row a is better than b somewhere, plus 2 when it is worse somewhere.

    `points` are minimised; ``credits_ / conclusive`` (0 / 0 is 0) is maximised and compared by
    cross-multiplication.
    """
    answer = 0
    for m in range(points.shape[1]):
        if points[a, m] < points[b, m]:
            answer |= 1
        elif points[a, m] > points[b, m]:
            answer |= 2
    left = credits_[a] * max(1, conclusive[b])
    right = credits_[b] * max(1, conclusive[a])
    if left > right:
        answer |= 1
    elif left < right:
        answer |= 2
    return answer


@kernel("int64[::1](int64[:, ::1], int64[::1], int64[::1])", makes_arrays=True)
def domination_levels(points: Longs, credits_: Longs, conclusive: Longs) -> Longs:
    """Return t for the rows of E_t (Sec. 3.3.1): 0 for the non-dominated, 1 once these are gone, …."""
    n = len(points)
    levels = np.zeros(n, dtype=np.int64)
    dominators = np.zeros(n, dtype=np.int64)
    dominates = np.zeros((n, n), dtype=np.bool_)
    for a in range(n):
        for b in range(a):
            # `compare_rows`, written out: a call per pair would double the time
            left = credits_[a] * max(1, conclusive[b])
            right = credits_[b] * max(1, conclusive[a])
            better = left > right
            worse = left < right
            for m in range(points.shape[1]):
                better |= points[a, m] < points[b, m]
                worse |= points[a, m] > points[b, m]
            if better and not worse:
                dominates[a, b] = True
                dominators[b] += 1
            elif worse and not better:
                dominates[b, a] = True
                dominators[a] += 1
    current = np.empty(n, dtype=np.int64)
    following = np.empty(n, dtype=np.int64)
    size = 0
    for a in range(n):
        if dominators[a] == 0:
            current[size] = a
            size += 1
    level = 0
    while size > 0:
        after = 0
        for i in range(size):
            levels[current[i]] = level
            for b in range(n):
                if dominates[current[i], b]:
                    dominators[b] -= 1
                    if dominators[b] == 0:
                        following[after] = b
                        after += 1
        for i in range(after):
            current[i] = following[i]
        size = after
        level += 1
    return levels


@kernel("bool_[::1](int64[:, ::1], int64[::1], int64[::1])", makes_arrays=True)
def nondominated_rows(points: Longs, credits_: Longs, conclusive: Longs) -> Flags:
    """Mark the rows that no other row dominates; needs no square of memory."""
    n = len(points)
    keep = np.ones(n, dtype=np.bool_)
    for a in range(n):
        for b in range(n):
            if keep[b] and compare_rows(points, credits_, conclusive, b, a) == 1:
                keep[a] = False
                break
    return keep
