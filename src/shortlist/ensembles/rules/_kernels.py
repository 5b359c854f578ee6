"""Kernels that all pruning rules share: votes of members, the lead of rows, and who is best.

In all of them ``tally[i, c]`` counts the members that give row i class c. The *lead* of a row is the number
of votes of its true class ahead of the strongest rival, one less where the rival is the lower class and so
wins ties. The row is decided right iff its lead is at least 0. Of equal scores the classifier that is right
most often alone (``alone``) wins, then the lowest index. Callers allocate everything: allocation inside costs
seconds of compilation.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel
from shortlist.arrays import ByteTable, Counts, Longs, LongTable, Mask, Shorts, ShortTable
from shortlist.ensembles.votes.class_votes import ClassCodes, ClassVotes

NO_ONE = -1


class CodedRows(NamedTuple):
    """Rows and the votes on them; see :class:`ClassVotes`."""

    codes: ByteTable
    """Class that each classifier votes for, ``(n_rows, n_classifiers)``."""
    columns: ByteTable
    """The same transposed."""
    labels: ClassCodes
    """True classes, ``(n_rows,)``."""
    counts: Counts
    """How many samples each row stands for, ``(n_rows,)``."""


class Climb(NamedTuple):
    """Where a climb is."""

    alone: Counts
    """Samples on which each classifier is right alone, ``(n_classifiers,)``."""
    tally: ShortTable
    """Votes of the members, ``(n_rows, n_classes)``."""
    scores: Longs
    """What each classifier would add, ``(n_classifiers,)``."""
    left: Mask
    """Who may still join, ``(n_classifiers,)``."""


def coded_rows(votes: ClassVotes) -> CodedRows:
    """Return votes as the kernels want them."""
    return CodedRows(votes.codes, votes.columns, votes.labels, votes.counts)


@kernel("int64(int32[:, ::1], int64, int64)")
def lead(tally: Shorts, row: int, label: np.int64) -> np.int64:
    """Return the lead of a row."""
    own = np.int64(tally[row, label])
    least = own + 1
    for c in range(tally.shape[1]):
        if c != label:
            ahead = own - tally[row, c]
            if c < label:
                ahead -= 1
            if ahead < least:  # noqa: PLR1730  # numba compiles a comparison faster than min
                least = ahead
    return least


@kernel("int64(int64[::1], boolean[::1], int64[::1])")
def best_left(scores: Longs, left: Mask, alone: Counts) -> int:
    """Return the classifier with the highest score among those left, or NONE; see above for equal ones."""
    pick = NO_ONE
    for k in range(len(scores)):
        if left[k] and (
            pick == NO_ONE
            or scores[k] > scores[pick]
            or (scores[k] == scores[pick] and alone[k] > alone[pick])
        ):
            pick = k
    return pick


@kernel("void(uint8[:, ::1], int64[::1], int64, int64, int64, int32[:, ::1])")
def add_votes(columns: ClassCodes, rows: Longs, n_rows: int, member: int, change: int, tally: Shorts) -> None:
    """Add one classifier's votes to the tally of the first `n_rows` rows, `change` times."""
    for position in range(n_rows):
        i = rows[position]
        tally[i, columns[member, i]] += change


@kernel("void(uint8[:, ::1], uint8[::1], int64[::1], int64[::1])")
def count_right(codes: ClassCodes, labels: ClassCodes, counts: Counts, right: Longs) -> None:
    """Add to `right` the samples on which each classifier is right."""
    for i in range(len(labels)):
        label = labels[i]
        weight = counts[i]
        for k in range(len(right)):
            right[k] += weight if codes[i, k] == label else 0


@kernel("void(CodedRows, int32[:, ::1], int64[::1], int64[::1])")
def count_prefixes(rows: CodedRows, tally: Shorts, order: Longs, right: Longs) -> None:
    """Count the samples that every prefix of an order decides right."""
    columns, labels, counts = rows.columns, rows.labels, rows.counts
    for step in range(len(order)):
        sure = 0
        for i in range(len(labels)):
            tally[i, columns[order[step], i]] += 1
            if lead(tally, i, np.int64(labels[i])) >= 0:
                sure += counts[i]
        right[step] = sure


@kernel("int64(CodedRows, int32[:, ::1], int64[::1], int64, int64[::1])")
def score_additions(rows: CodedRows, tally: Shorts, listed: Longs, n_rows: int, gains: Longs) -> int:
    """Return how many samples in the rows are right now, and set what each classifier would add to that.

    The rows are the first `n_rows` that are listed.
    """
    codes, labels, counts = rows.codes, rows.labels, rows.counts
    sure = 0
    for k in range(len(gains)):
        gains[k] = 0
    for position in range(n_rows):
        i = listed[position]
        label = np.int64(labels[i])
        ahead = lead(tally, i, label)
        weight = counts[i]
        if ahead >= 0:
            sure += weight
        if ahead == -1:
            byte = labels[i]
            for k in range(len(gains)):
                gains[k] += weight if codes[i, k] == byte else 0
        elif ahead == 0:
            for c in range(tally.shape[1]):
                slack = tally[i, label] - tally[i, c]
                if c != label and slack == (1 if c < label else 0):
                    other = np.uint8(c)
                    for k in range(len(gains)):
                        gains[k] -= weight if codes[i, k] == other else 0
    return sure


@kernel("int64(CodedRows, int32[:, ::1], int64[::1], int64[::1])")
def keep_near_rows(rows: CodedRows, tally: Shorts, near: Longs, right: Longs) -> int:
    """List the rows whose decision one replacement can change, and return how many.

    ``right[0]`` becomes the number of samples whose rows stay right.
    """
    labels, counts = rows.labels, rows.counts
    n_near = 0
    right[0] = 0
    for i in range(len(labels)):
        ahead = lead(tally, i, np.int64(labels[i]))
        if ahead > 1:
            right[0] += counts[i]
        elif ahead >= -2:
            near[n_near] = i
            n_near += 1
    return n_near


@kernel("void(CodedRows, Climb, int64[::1], int64[::1], int64[::1])")
def climb_by_accuracy(rows: CodedRows, climb: Climb, listed: Longs, order: Longs, right: Longs) -> None:
    """Add the classifier with which most samples are right, until all are members."""
    scores, left = climb.scores, climb.left
    for step in range(len(order)):
        sure = score_additions(rows, climb.tally, listed, len(listed), scores)
        pick = best_left(scores, left, climb.alone)
        left[pick] = False
        order[step] = pick
        right[step] = sure + scores[pick]
        add_votes(rows.columns, listed, len(listed), pick, 1, climb.tally)


@kernel("void(CodedRows, Climb, int64[::1], int64[::1], int64[:, ::1], int64[::1])", makes_arrays=True)
def climb_with_backfitting(
    rows: CodedRows, climb: Climb, listed: Longs, near: Longs, members: Longs, right: Longs
) -> None:
    """Add as :func:`climb_by_accuracy`, and after every addition replace members while that helps.

    Row s of `members` receives the s + 1 members after the revision, ``right[s]`` the samples that they
    decide right.
    """
    tally, scores, left = climb.tally, climb.scores, climb.left
    n_rows = len(listed)
    far_right = np.zeros(1, dtype=np.int64)
    for step in range(len(members)):
        best = score_additions(rows, tally, listed, n_rows, scores)
        pick = best_left(scores, left, climb.alone)
        best += scores[pick]
        left[pick] = False
        for place in range(step):
            members[step, place] = members[step - 1, place]
        members[step, step] = pick
        add_votes(rows.columns, listed, n_rows, pick, 1, tally)
        n_near = keep_near_rows(rows, tally, near, far_right)
        place = 0
        while place <= step:
            old = members[step, place]
            add_votes(rows.columns, near, n_near, old, -1, tally)
            sure = far_right[0] + score_additions(rows, tally, near, n_near, scores)
            add_votes(rows.columns, near, n_near, old, 1, tally)
            new = best_left(scores, left, climb.alone)
            if new != NO_ONE and sure + scores[new] > best:
                best = sure + scores[new]
                left[old] = True
                left[new] = False
                members[step, place] = new
                add_votes(rows.columns, listed, n_rows, old, -1, tally)
                add_votes(rows.columns, listed, n_rows, new, 1, tally)
                n_near = keep_near_rows(rows, tally, near, far_right)
                place = 0
            else:
                place += 1
        right[step] = best


class SortedRows(NamedTuple):
    """Room to sort rows by their margins."""

    rows: LongTable
    """The rows in order, and of each row its margin and the strongest rival's votes, ``(3, n_rows)``."""
    ends: Longs
    """Where the rows of each margin end, from the lowest margin on."""
    totals: Longs
    """How many samples the rows of each margin stand for."""
    span: Longs
    """The lowest and the highest margin."""


@kernel("int64(CodedRows, int32[:, ::1], SortedRows)")
def sort_by_margin(votes: CodedRows, tally: Shorts, by_margin: SortedRows) -> int:
    """Sort the rows by margin (Eqs. 3 and 4), and return how many samples are right."""
    labels, counts = votes.labels, votes.counts
    rows, ends, totals, span = by_margin.rows, by_margin.ends, by_margin.totals, by_margin.span
    sure = 0
    low, high = np.int64(2**40), -np.int64(2**40)
    for i in range(len(labels)):
        label = np.int64(labels[i])
        rival = np.int64(-1)
        for c in range(tally.shape[1]):
            if c != label and tally[i, c] > rival:
                rival = np.int64(tally[i, c])
        margin = tally[i, label] - rival
        rows[1, i] = margin
        rows[2, i] = rival
        low = min(low, margin)
        high = max(high, margin)
        if lead(tally, i, label) >= 0:
            sure += counts[i]
    span[0] = low
    span[1] = high
    for m in range(high - low + 1):
        ends[m] = 0
        totals[m] = 0
    for i in range(len(labels)):
        ends[rows[1, i] - low] += 1
        totals[rows[1, i] - low] += counts[i]
    start = np.int64(0)
    for m in range(high - low + 1):  # first where each margin starts; filling moves it to where it ends
        start += ends[m]
        ends[m] = start - ends[m]
    for i in range(len(labels)):
        m = rows[1, i] - low
        rows[0, ends[m]] = i
        ends[m] += 1
    return sure


@kernel(
    "void(CodedRows, boolean, int32[:, ::1], int64[::1], SortedRows, int64[:, ::1], int64[::1], int64[::1])"
)
def climb_by_margins(
    votes: CodedRows,
    by_histogram: bool,
    tally: Shorts,
    left: Longs,
    by_margin: SortedRows,
    equal: Longs,
    order: Longs,
    right: Longs,
) -> None:
    """Add the candidate with the best margin histogram (Eq. 5), until all are members.

    `tally` is the start and grows.

    A vote moves a row's margin by one at most, so a candidate's histogram differs from the current one by its
    rises and falls alone. Levels are compared from the lowest up, and only candidates still equal are counted
    on the next: at level m, what differs between them is rises(m − 1) − rises(m) − falls(m) + falls(m + 1).
    `left` holds the candidates in increasing order; the rows of `equal` are the places of those still equal,
    rises(m − 1), rises(m), falls(m), rises(m + 1), falls(m + 1).
    """
    codes, columns, labels, counts = votes.codes, votes.columns, votes.labels, votes.counts
    rows, ends, totals, span = by_margin.rows, by_margin.ends, by_margin.totals, by_margin.span
    n_left = len(left)
    for step in range(len(order) + 1):
        right[step] = sort_by_margin(votes, tally, by_margin)
        if n_left == 0:
            break
        low, high = span[0], span[1]
        n_equal = n_left
        for j in range(n_left):
            equal[0, j] = j
            equal[1, j] = 0
            equal[2, j] = 0
            equal[3, j] = 0
        n_quiet = 0  # levels since one with rows: after three of them nothing there can differ
        for level in range(low - 1, high + 2):
            n_quiet += 1
            if level < high and totals[level + 1 - low] > 0:
                n_quiet = 0
            if n_quiet > 2:
                continue
            for j in range(n_equal):
                equal[4, j] = 0
                equal[5, j] = 0
            if n_quiet == 0:
                first = ends[level - low] if level >= low else 0
                for position in range(first, ends[level + 1 - low]):
                    i = rows[0, position]
                    for j in range(n_equal):
                        code = np.int64(codes[i, left[equal[0, j]]])
                        if code == labels[i]:
                            equal[4, j] += counts[i]
                        elif tally[i, code] == rows[2, i]:
                            equal[5, j] += counts[i]
            total = np.int64(0)
            if low <= level <= high:
                total = totals[level - low]
            fewest = np.int64(2**62)
            kept = 0
            for j in range(n_equal):
                here = total + equal[1, j] - equal[2, j] - equal[3, j] + equal[5, j]
                if not by_histogram and here > 1:
                    here = 1
                if here < fewest:
                    fewest = here
                    kept = 0
                if here == fewest:
                    equal[0, kept] = equal[0, j]
                    equal[1, kept] = equal[2, j]
                    equal[2, kept] = equal[4, j]
                    equal[3, kept] = equal[5, j]
                    kept += 1
            n_equal = kept
            if n_equal == 1 or (not by_histogram and fewest > 0):
                break
        place = equal[0, 0]
        pick = left[place]
        order[step] = pick
        n_left -= 1
        for j in range(place, n_left):
            left[j] = left[j + 1]
        for i in range(len(labels)):
            tally[i, columns[pick, i]] += 1


ROOM = 2**14
"""How far 16-bit sums of changes may go before they are drained."""
COMPLEMENTARINESS, CONCURRENCY, UNCERTAINTY = 0, 1, 2
"""The rules."""


@kernel("void(int16[::1], int64[::1])")
def drain(recent: NDArray[np.int16], scores: Longs) -> None:
    """Add the recent changes to the scores, and forget them."""
    for k in range(len(scores)):
        scores[k] += recent[k]
        recent[k] = 0


@kernel("void(uint8[::1], uint8, int16, int16[::1])")
def note_change(codes: ClassCodes, label: np.uint8, change: np.int16, recent: NDArray[np.int16]) -> None:
    """Add a change to the recent ones of classifiers that are right on a row; compiled alone, for speed."""
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
    """Add the classifier that is right on most weight, which depends on the members so far.

    ``order[0]`` is given. Fitness is an integer; that of `UNCERTAINTY` is multiplied by the members before
    the step. `recent` takes up changes of the scores in a quarter of the bytes, which is a quarter of the
    time, and is drained before it can overflow.
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
