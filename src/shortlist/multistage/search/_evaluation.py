# ruff: noqa: C901, PLR0912, PLR0917  # kernels take their state as arguments and keep their loops flat
"""Kernels that measure stage assignments on decision bits, and compare the measures."""

from typing import NamedTuple

import numpy as np

from shortlist._bits import WordBlock, Words, WordTable, popcount
from shortlist._jit import kernel
from shortlist.arrays import Flags, LongCube, Longs, LongTable

CONCLUSIVE, CREDIT, COST, FALSE_POSITIVES, STAGES, WORST, EVALUATION, LOST, ERRORS, PATH = range(10)
"""Columns of the measures.

In order: conclusive rows; their credit; the price of all rows; rows wrongly called positive; stages; the
price of the dearest row; the price of all calls of classifiers; the price of wrong answers; the price of
wrong answers and of the waiting rows, if this is the last stage; the price of a row that goes through all
stages.
"""
N_MEASURES = 10
"""Number of fixed measures. Each attribute has one more column: its amount for all rows, or for a row that
goes through all stages.
"""


class StageScoring(NamedTuple):
    """Values of right and wrong decisions."""

    classes: WordTable
    """Bit masks of the rows of each class."""
    penalties: Longs
    """Penalty of a wrong decision on a row of each class."""
    unit: int
    """Credit of a right decision."""
    negatives: Words
    """Bit mask of the rows that count as false positives if their answer is wrong."""
    losses: Longs
    """Cost of a wrong answer about a row of each class; empty where errors are only counted."""
    unanswered: int
    """Cost of a row without an answer from the last stage."""


class Taken(NamedTuple):
    """Amounts of attributes that stages take."""

    amounts: LongCube
    """Amounts by assignment, stage and attribute."""
    of_paths: Flags
    """Whether an attribute counts once, for a row that goes through all stages; false: for every row."""


class StageCall(NamedTuple):
    """Classifier bits and prices of one stage of an assignment."""

    slot: int
    """Slot of the decision bits of the stage's classifier."""
    paid: int
    """Price that a row has paid before the stage."""
    price: int
    """Price that a row has paid after the stage."""
    call_price: int
    """Price of a call of the stage's classifier."""


class StagedRows(NamedTuple):
    """Rows at the stages of one assignment, or after each prefix of an assignment."""

    bits: WordBlock
    """Bit masks by slot: rows with a confident answer, and rows with a confident and right answer. With costs
    of errors the two masks of the last stage follow.
    """
    waiting: WordTable
    """Bit masks of the waiting rows."""
    measures: LongTable
    """Measures up to this stage."""


@kernel("void(int64, int64, StageCall, StagedRows, StageScoring, int64, bool_)", inlined=True)
def add_stage(
    before: int,
    after: int,
    stage: StageCall,
    rows: StagedRows,
    scoring: StageScoring,
    n_rows: int,
    weighs: bool,
) -> None:
    """Send the waiting rows through one more stage: write its measures, and the rows that wait after it.

    This function defines every measure except the measures of attributes. From stage to stage no measure gets
    smaller, except the conclusive rows, their credit and the cost of errors; a walk relies on this. `before`,
    `after`: indices of the rows in the tables of `rows` that are read and written; the two may be equal.
    Indices are passed because a view of a row would take longer than the work on the row. `n_rows`: number of
    all validation rows. `weighs`: whether wrong answers differ in cost or credit.
    """
    bits, waiting, measures, slot = rows.bits, rows.waiting, rows.measures, stage.slot
    penalties, unit = scoring.penalties, scoring.unit
    n_decided, credit, n_false, lost, last = 0, 0, 0, 0, 0
    for w in range(waiting.shape[1]):
        row = waiting[before, w]
        decided = row & bits[slot, 0, w]
        right = decided & bits[slot, 1, w]
        waiting[after, w] = row & ~decided
        n_decided += popcount(decided)
        credit += unit * popcount(right)
        if weighs and decided != right:
            wrong = decided & ~right
            for c in range(len(penalties)):
                credit += (unit - penalties[c]) * popcount(wrong & scoring.classes[c, w])
            n_false += popcount(wrong & scoring.negatives[w])
        if len(scoring.losses):
            wrong, left = decided & ~right, row & ~decided
            answered = left & bits[slot, 2, w]
            missed = answered & ~bits[slot, 3, w]
            last += scoring.unanswered * popcount(left & ~answered)
            for c in range(len(scoring.losses)):
                lost += scoring.losses[c] * popcount(wrong & scoring.classes[c, w])
                last += scoring.losses[c] * popcount(missed & scoring.classes[c, w])
    entering = n_rows - measures[before, CONCLUSIVE]
    measures[after, CONCLUSIVE] = measures[before, CONCLUSIVE] + n_decided
    measures[after, CREDIT] = measures[before, CREDIT] + credit
    measures[after, COST] = measures[before, COST] + entering * (stage.price - stage.paid)
    measures[after, FALSE_POSITIVES] = measures[before, FALSE_POSITIVES] + n_false
    measures[after, STAGES] = measures[before, STAGES] + 1
    measures[after, WORST] = stage.price if entering else measures[before, WORST]
    measures[after, EVALUATION] = measures[before, EVALUATION] + entering * stage.call_price
    measures[after, LOST] = measures[before, LOST] + lost
    measures[after, ERRORS] = measures[after, LOST] + last
    measures[after, PATH] = stage.price


@kernel(
    "void(int64[:, ::1], int64[:, ::1], int64[:, ::1], Taken, uint64[:, :, ::1], uint64[::1], "
    "StageScoring, int64[:, ::1])",
    makes_arrays=True,
)
def measure(
    slots: Longs,
    prices: Longs,
    call_prices: Longs,
    taken: Taken,
    bits: Words,
    everyone: Words,
    scoring: StageScoring,
    measures: Longs,
) -> None:
    """Measure assignments, given the slot, the price and the call price of each stage.

    `slots`: slot of each stage, -1 for no stage. `taken`: amounts of each attribute by stage.
    """
    n_rows = 0
    for w in range(len(everyone)):
        n_rows += popcount(everyone[w])
    waiting = np.empty((1, len(everyone)), dtype=np.uint64)
    own = np.empty((1, measures.shape[1]), dtype=np.int64)
    rows = StagedRows(bits, waiting, own)
    for a in range(slots.shape[0]):
        waiting[0] = everyone
        own[:] = 0
        paid = 0
        for stage in range(slots.shape[1]):
            if slots[a, stage] < 0:
                break
            for m in range(taken.amounts.shape[2]):
                entering = 1 if taken.of_paths[m] else n_rows - own[0, CONCLUSIVE]
                own[0, N_MEASURES + m] += entering * taken.amounts[a, stage, m]
            asked = StageCall(slots[a, stage], paid, prices[a, stage], call_prices[a, stage])
            add_stage(0, 0, asked, rows, scoring, n_rows, True)
            paid = asked.price
        measures[a] = own[0]


@kernel("int64(int64[:, ::1], int64[::1], int64[::1], int64, int64)")
def compare_rows(points: Longs, credits_: Longs, conclusive: Longs, a: int, b: int) -> int:
    """Return 1 if row a is better than b in an objective, plus 2 if row a is worse than b in an objective.

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
    """Return the index t of the level E_t of each row (Sec. 3.3.1), ``(n_rows,)``.

    Non-dominated rows have level 0. Rows dominated by rows of level 0 only have level 1, and so on.
    """
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
    """Return flags of the rows that no other row dominates, without a square table in memory."""
    n = len(points)
    keep = np.ones(n, dtype=np.bool_)
    for a in range(n):
        for b in range(n):
            if keep[b] and compare_rows(points, credits_, conclusive, b, a) == 1:
                keep[a] = False
                break
    return keep
