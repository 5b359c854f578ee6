"""Search for the order of asking members that costs least until the outcome is settled.

The kernels go over all sets of members, coded as the bits of a number: the rows that each set leaves open,
and their cost.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel
from shortlist.arrays import Floats, Longs, LongTable, ShortTable, Whole
from shortlist.ensembles.committees.asking import AskingOrder
from shortlist.ensembles.committees.ballots import Ballot


class AnsweredRows(NamedTuple):
    """Increments by members on rows, with the number of samples per row."""

    added: LongTable
    """Increments of the totals of each row, class after class, ``(n_members, n_rows * n_classes)``."""
    counts: Longs
    """Number of samples that each row stands for, ``(n_rows,)``."""
    start: Longs
    most: Longs
    """Fields `start` and `most` of a :class:`~shortlist.ensembles.committees.ballots.Ballot`,
    ``(n_classes,)`` each.
    """


@kernel("void(int64, int64, AnsweredRows, int64[:,::1], int32[:,::1])")
def count_open_rows(  # noqa: C901
    first: Whole, last: Whole, rows: AnsweredRows, totals: LongTable, opened: ShortTable
) -> None:
    """Count the rows left open by each number of missing answers, for the sets `first` to `last` - 1.

    A row is counted in ``opened[set, n]`` if n is the least number of missing answers that leaves it open.
    The last index of this axis takes the rows that need more missing answers. ``totals[k]`` belongs to the
    last set with the least member k.
    """
    n_members, width, n_classes = len(rows.added), opened.shape[1], len(rows.start)
    for chosen in range(first, last):
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
            opened[chosen, missing] += rows.counts[row]


FEW_MEMBERS = 12
"""Largest number of members for which the best order of all is found; beyond it, a good order."""

MOST_EXCHANGES = 50
"""Largest number of passes over all pairs of neighbours that might be swapped."""


MOST_ORDERING_ROWS = 2_000
"""Largest number of selection rows that decide the order, for means and for many members; they are evenly
spread.
"""


def cheapest_order(
    ballot: Ballot,
    added: NDArray[np.int64],
    costs: Floats,
    *,
    copies: NDArray[np.int64] | None = None,
    counts: NDArray[np.int64] | None = None,
    few_members: int = FEW_MEMBERS,
) -> AskingOrder:
    """Return the order of asking with the least cost, summed over rows that leave when they are settled.

    The answers of a set of members settle a row or not, whatever the order of asking. So the cost of an order
    is the sum, over its beginnings, of the next member's cost times the number of rows that are not settled.
    The least cost of continuing from a set follows from the sets with one member more, by dynamic programming
    over all sets. With more than `few_members`, the next member is the one with the largest progress per cost
    on the rows that are not settled. Then neighbours are swapped as long as that lowers the cost.

    Takes O(2^n_members · n_rows · n_classes) time for few members, and O(n_members² · n_rows · n_classes) a
    sweep for more.

    `added`: increments by the members on the selection rows, with all copies, ``(n_rows, n_members,
    n_classes)``. `costs`: price of asking each member, at least 0, ``(n_members,)``. `copies`: number of
    times that the answer of each member counts, by default 1, ``(n_members,)``; it is asked once. `counts`:
    number of samples that each row stands for, by default 1, ``(n_rows,)``; used for few members.
    `few_members`: largest number of members for which the best order of all is found.
    """
    copies = np.ones(added.shape[1], dtype=np.int64) if copies is None else copies
    counts = np.ones(len(added), dtype=np.int64) if counts is None else counts
    if added.shape[1] <= few_members:
        return AskingOrder(_best_order(ballot, added, costs, copies, counts), is_best=True)
    begun = _greedy(ballot, added, costs, copies)
    return AskingOrder(_with_better_neighbours(ballot, added, costs, copies, begun), is_best=False)


def order_by_record(
    ballot: Ballot,
    added: NDArray[np.int64],
    costs: NDArray[Any],
    *,
    copies: NDArray[np.int64] | None = None,
) -> AskingOrder:
    """Return the order in which members are asked, from their increments on rows.

    The order of few members that vote is computed from all rows, since many rows of votes are alike. Any
    other order is computed from up to :data:`MOST_ORDERING_ROWS` rows.
    """
    costs = np.asarray(costs, dtype=np.float64)
    if not ballot.by_mean and added.shape[1] <= FEW_MEMBERS:
        rows, place = np.unique(added.reshape(len(added), -1), axis=0, return_inverse=True)
        alike = np.bincount(place.ravel(), minlength=len(rows)).astype(np.int64)
        rows = rows.reshape(-1, *added.shape[1:])
        return cheapest_order(ballot, rows, costs, copies=copies, counts=alike)
    chosen = np.unique(np.linspace(0, len(added) - 1, min(len(added), MOST_ORDERING_ROWS)).astype(np.intp))
    return cheapest_order(ballot, added[chosen], costs, copies=copies)


def open_rows(
    ballot: Ballot, added: NDArray[np.int64], *, width: int, counts: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return, for every set of members, the number of rows that missing answers leave open.

    `added`, ``(n_rows, n_members, n_classes)``: increments by the members. `width`: largest number of missing
    answers, plus two. `counts`: number of samples that each row stands for, ``(n_rows,)``.

    The array has the shape ``(2 ** n_members, width)``. Column n counts the rows that n missing answers leave
    open, and the last column counts all rows. Bit k of a set is 1 where member k belongs to it.
    """
    n_rows, n, n_classes = added.shape
    answers = np.ascontiguousarray(added.transpose(1, 0, 2).reshape(n, -1))
    rows = AnsweredRows(answers, counts, ballot.start, ballot.most)
    totals = np.zeros((n + 1, n_rows * n_classes), dtype=np.int64)
    totals[n] = np.tile(ballot.start, n_rows)
    opened = np.zeros((1 << n, width), dtype=np.int32)
    count_open_rows(0, 1 << n, rows, totals, opened)
    return np.cumsum(opened, axis=1, out=opened)


def set_sums(prices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of prices of every set of members, ``(2 ** n_members,)``.

    >>> set_sums(np.array([3, 5])).tolist()
    [0, 3, 5, 8]
    """
    sums = np.zeros(1, dtype=np.int64)
    for price in prices.tolist():
        sums = np.concatenate([sums, sums + price])
    return sums


def _best_order(
    ballot: Ballot,
    added: NDArray[np.int64],
    costs: Floats,
    copies: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> NDArray[np.intp]:
    n = added.shape[1]
    n_left = copies.sum() - set_sums(copies)
    opened = open_rows(ballot, added, width=int(copies.sum()) + 2, counts=counts)
    n_open = opened[np.arange(1 << n), n_left].astype(np.int64)
    n_open[0] = counts.sum()  # nothing is settled before a member has answered
    least, first = np.zeros(1 << n), np.zeros(1 << n, dtype=np.intp)
    for asked in range((1 << n) - 2, -1, -1):
        left = [k for k in range(n) if not asked >> k & 1]
        ends = [costs[k] * n_open[asked] + least[asked | 1 << k] for k in left]
        place = int(np.argmin(ends))
        least[asked], first[asked] = ends[place], left[place]
    order: list[int] = []
    asked = 0
    while len(order) < n:
        order.append(int(first[asked]))
        asked |= 1 << order[-1]
    return np.array(order, dtype=np.intp)


def _greedy(ballot: Ballot, added: NDArray[np.int64], costs: Floats, copies: NDArray[np.int64]) -> list[int]:
    """Return a greedy order, as indices of members.

    The next member is the one that puts the eventual winners of the open rows furthest ahead per cost.
    """
    n = added.shape[1]
    totals = np.tile(ballot.start, (len(added), 1))
    winner = (totals + added.sum(axis=1)).argmax(axis=1)
    rivals = np.where(np.arange(ballot.n_classes) == winner[:, None], -1, added.sum(axis=1))
    rows, rival = np.arange(len(added)), rivals.argmax(axis=1)
    lead = added[rows, :, winner] - added[rows, :, rival]
    left, order = list(range(n)), list[int]()
    while left:
        is_open = ~ballot.settled(totals, int(copies[left].sum())) | (not order)
        brought = (lead[is_open][:, left] + copies[left] * int(ballot.most.max())).sum(axis=0)
        price = np.maximum(costs[left], 1e-12 * max(1.0, float(costs.max())))
        order.append(left.pop(int(np.argmax(brought / price))))
        totals = totals + added[:, order[-1]]
    return order


def _with_better_neighbours(
    ballot: Ballot, added: NDArray[np.int64], costs: Floats, copies: NDArray[np.int64], order: list[int]
) -> NDArray[np.intp]:
    """Return the order after swaps of neighbours that lower its cost, as indices, ``(n_members,)``.

    Passes end when no swap lowers the cost, or after :data:`MOST_EXCHANGES` passes.
    """
    n = len(order)
    for _ in range(MOST_EXCHANGES):
        changed = False
        totals, n_left = np.tile(ballot.start, (len(added), 1)), int(copies.sum())
        n_open = len(added)  # nothing is settled before a member has answered
        for place in range(n - 1):
            one, other = order[place], order[place + 1]
            after = {
                k: int((~ballot.settled(totals + added[:, k], n_left - int(copies[k]))).sum())
                for k in (one, other)
            }
            now = costs[one] * n_open + costs[other] * after[one]
            if costs[other] * n_open + costs[one] * after[other] < now - 1e-12 * abs(now):
                order[place : place + 2] = [other, one]
                changed = True
            totals = totals + added[:, order[place]]
            n_left -= int(copies[order[place]])
            n_open = after[order[place]]
        if not changed:
            break
    return np.array(order, dtype=np.intp)
