"""Kernels over all sets of members, the bits of a number: what each leaves open, and what that costs."""

from typing import NamedTuple

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Longs, LongTable, ShortTable, Whole


class AnsweredRows(NamedTuple):
    """What members add on rows, and how answers are counted."""

    added: LongTable
    """To the totals of each row, class after class, ``(n_members, n_rows * n_classes)``."""
    counts: Longs
    """How many samples each row stands for, ``(n_rows,)``."""
    labels: Longs
    groups: Longs
    """Their true classes, and with which others they are counted, ``(n_rows,)``."""
    start: Longs
    most: Longs
    """Of a :class:`~shortlist.ensembles.committees.ballots.Ballot`, ``(n_classes,)``."""
    largest: int
    """Sets with more members are passed by."""


@kernel("void(int64, int64, AnsweredRows, int64[:,::1], int32[:,:,::1], int32[:,::1])")
def count_open_rows(
    first: Whole, last: Whole, rows: AnsweredRows, totals: LongTable, opened: ShortTable, right: ShortTable
) -> None:
    """Count, for the sets from `first` up to `last`, how many missing answers leave each row open.

    Adds to ``opened[set, group, n]`` the rows of a group that `n` missing answers leave open, and no
    fewer; the last place of the axis takes those that more of them do. Adds to ``right[set, class]`` the rows
    that the set alone is right on. ``totals[k]`` belongs to the last set whose least member is k.
    """
    n_members, width, n_classes = len(rows.added), opened.shape[2], len(rows.start)
    for chosen in range(first, last):
        size = 0
        for k in range(n_members):
            size += (chosen >> k) & 1
        if size > rows.largest:
            continue
        least = n_members
        for k in range(n_members - 1, -1, -1):
            if (chosen >> k) & 1:
                least = k
        rest = chosen & (chosen - 1)
        before = n_members
        for k in range(n_members - 1, -1, -1):
            if (rest >> k) & 1:
                before = k
        own, known = totals[least], totals[before]
        if chosen:
            added = rows.added[least]
            for i in range(len(own)):
                own[i] = known[i] + added[i]
        for row in range(len(rows.counts)):
            at = row * n_classes
            leader = 0
            for c in range(1, n_classes):
                if own[at + c] > own[at + leader]:
                    leader = c
            missing = width - 1
            for c in range(n_classes):
                if c != leader and rows.most[c] > 0:
                    ahead = own[at + leader] - own[at + c] - (1 if c < leader else 0)
                    missing = min(missing, ahead // rows.most[c] + 1)
            label = rows.labels[row]
            opened[chosen, rows.groups[row], missing] += rows.counts[row]
            if leader == label:
                right[chosen, label] += rows.counts[row]


@kernel("void(int32[:,::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def cheapest_beginnings(
    opened: ShortTable, sizes: Longs, low: Longs, high: Longs, prices: Longs, least: Longs
) -> None:
    """Find what the cheapest order of each set costs over all rows, as a beginning of larger committees.

    Of a set of s members, as ``sizes`` has it, ``opened[set, high[s]] - opened[set, low[s]]`` rows are open.
    Sets of ``len(high)`` members are ends, and larger ones are passed by. ``least`` begins with 0 for none,
    and with what is more than any cost elsewhere.
    """
    n_members = len(prices)
    for chosen in range(len(least)):
        size = sizes[chosen]
        if size >= len(high):
            continue
        n_open = np.int64(opened[chosen, high[size]] - opened[chosen, low[size]])
        for k in range(n_members):
            if not (chosen >> k) & 1:
                after = chosen | (1 << k)
                least[after] = min(least[after], least[chosen] + prices[k] * n_open)
