"""Kernels of selection by margins: rows sorted by their margins, and candidates compared by histograms."""

from typing import NamedTuple

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Longs, LongTable, Shorts
from shortlist.ensembles._rule_kernels import CodedRows, lead


class SortedRows(NamedTuple):
    """Buffers for sorting rows by their margins."""

    rows: LongTable
    """Rows in order, with the margin and the strongest rival's votes of each, ``(3, n_rows)``."""
    ends: Longs
    """Index after the last row of each margin, the lowest margin first."""
    totals: Longs
    """Number of samples with each margin."""
    span: Longs
    """The lowest and the highest margin."""


@kernel("int64(CodedRows, int32[:, ::1], SortedRows)")
def sort_by_margin(votes: CodedRows, tally: Shorts, by_margin: SortedRows) -> int:
    """Sort the rows by margin (Eqs. 3 and 4), and return the number of samples decided right."""
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
    """Add the candidate with the best margin histogram (Eq. 5), one at a time, until all are members.

    `tally` holds the votes of the start ensemble at first, and the votes of all members at the end.

    A vote moves a row's margin by one at most, so a candidate changes the histogram only by the rows that
    rise and the rows that fall. Levels are compared from the lowest up, and only candidates still equal are
    counted on the next level. At level m the difference between candidates is rises(m − 1) − rises(m) −
    falls(m) + falls(m + 1). `left` holds the candidates in increasing order. The rows of `equal` are the
    indices of the candidates still equal, and their rises(m − 1), rises(m), falls(m), rises(m + 1), falls(m +
    1).
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
