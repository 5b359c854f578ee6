"""Kernels of pruning rules: votes of members, leads of rows, and the best classifier.

In all kernels ``tally[i, c]`` is the number of members that give row i class c, plus the start value of
:func:`~shortlist.ensembles.votes.hard_votes.no_votes`. The *lead* of a row is the number of votes of its true
class minus that of the strongest rival, and one less where the rival is the lower class and so wins ties. The
row is decided right if and only if its lead is at least 0. Of classifiers with equal scores, the one that is
right most often alone (``alone``) wins, then the lowest index. Callers allocate all arrays, as allocation
inside costs seconds of compilation.
"""

from typing import NamedTuple

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Bytes, ByteTable, Counts, Longs, Mask, Shorts, ShortTable
from shortlist.ensembles.votes.hard_votes import ClassCodes, ClassVotes

NO_ONE = -1


class CodedRows(NamedTuple):
    """Rows with the votes on them; see :class:`ClassVotes`."""

    codes: ByteTable
    """Index of the class that each classifier votes for, ``(n_rows, n_classifiers)``."""
    columns: ByteTable
    """Transposed `codes`, ``(n_classifiers, n_rows)``."""
    labels: Bytes
    """True classes, ``(n_rows,)``."""
    counts: Counts
    """Number of samples that each row stands for, ``(n_rows,)``."""


class Climb(NamedTuple):
    """State of hill climbing."""

    alone: Longs
    """Number of samples that each classifier decides right alone, ``(n_classifiers,)``."""
    tally: ShortTable
    """Votes of the members for each row and class, in the shape of ``no_votes``."""
    scores: Longs
    """Increase of the score by adding each classifier, ``(n_classifiers,)``."""
    left: Mask
    """Mask of the classifiers that may still join, ``(n_classifiers,)``."""


def coded_rows(votes: ClassVotes) -> CodedRows:
    """Return votes in the form that the kernels take."""
    return CodedRows(votes.codes, votes.columns, votes.labels, votes.counts)


@kernel("int64(int32[:, ::1], int64, int64)")
def lead(tally: Shorts, row: int, label: np.int64) -> np.int64:
    """Return the lead of a row, as a number of votes."""
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
    """Return the index of the classifier with the highest score among those left, or :data:`NO_ONE`.

    Of equal scores, the classifier that is right most often alone (`alone`) wins, then the lowest index.
    """
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
    """Add the votes of classifier `member`, `change` times, to the tally of the first `n_rows` of `rows`."""
    for position in range(n_rows):
        i = rows[position]
        tally[i, columns[member, i]] += change


@kernel("void(uint8[:, ::1], uint8[::1], int64[::1], int64[::1])")
def count_right(codes: ClassCodes, labels: ClassCodes, counts: Counts, right: Longs) -> None:
    """Add to `right` the number of samples that each classifier decides right alone."""
    for i in range(len(labels)):
        label = labels[i]
        weight = counts[i]
        for k in range(len(right)):
            right[k] += weight if codes[i, k] == label else 0


@kernel("void(CodedRows, int32[:, ::1], int64[::1], int64[::1])")
def count_prefixes(rows: CodedRows, tally: Shorts, order: Longs, right: Longs) -> None:
    """Set ``right[k]`` to the number of samples that the first k + 1 classifiers of an order decide right."""
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
    """Return the number of samples decided right; set ``gains[k]`` to its change if classifier k joins.

    Only the rows ``listed[:n_rows]`` are counted.
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
    """Set `near` to the rows whose decision one replacement of a member can change; return their number.

    ``right[0]`` is set to the number of samples in rows that stay right after any one replacement.
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
    """Add the classifier with which most samples are right, one at a time, until all are members."""
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
    """Add classifiers as :func:`climb_by_accuracy`; after each addition replace members while that helps.

    Row s of `members` receives the s + 1 members after the replacements, and ``right[s]`` the number of
    samples that these members decide right.
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
