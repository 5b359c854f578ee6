"""In which order members are asked, so that it costs least until the outcome is settled."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.ensembles.exits.ballots import Tallying

FEW_MEMBERS = 12
"""Up to so many members the best order of all is found; beyond, a good one."""

MOST_EXCHANGES = 50
"""So many times all neighbours are looked at that might change places."""


class AskingOrder(NamedTuple):
    """An order of members.

    Attributes
    ----------
    members : ndarray of int, shape (n_members,)
        Who is asked first, second, and so on.
    is_best : bool
        Whether no order costs less on the rows that it was chosen by.
    """

    members: NDArray[np.intp]
    is_best: bool


def cheapest_order(
    tallying: Tallying,
    added: NDArray[np.int64],
    costs: Floats,
    *,
    copies: NDArray[np.int64] | None = None,
    few_members: int = FEW_MEMBERS,
) -> AskingOrder:
    """Return the order in which asking costs least, summed over rows that leave when they are settled.

    What a set of members has answered settles a row or not, in whatever order they were asked. So the cost of
    an order is the sum, over its beginnings, of the next member's cost times the rows that are not settled.
    The least cost of all ways to end from a set follows from those of sets with one member more, which is
    dynamic programming over all sets. With more than `few_members` the next member is the one who brings the
    rows that are not settled nearest to it for the money. Then neighbours change places as long as that costs
    less.

    Parameters
    ----------
    tallying : Tallying
    added : ndarray of int64, shape (n_rows, n_members, n_classes)
        What the members add on the rows that choose, each with all its copies.
    costs : ndarray of float, shape (n_members,)
        What asking each costs, at least 0.
    copies : ndarray of int64, shape (n_members,), optional
        How often the answer of each counts, by default once. It is asked for once.
    few_members : int, default=12
        Up to so many the order is the best of all.

    Notes
    -----
    Takes O(2^n_members · n_rows · n_classes) time for few members, and O(n_members² · n_rows · n_classes) a
    sweep for more.
    """
    copies = np.ones(added.shape[1], dtype=np.int64) if copies is None else copies
    if added.shape[1] <= few_members:
        return AskingOrder(_best_order(tallying, added, costs, copies), is_best=True)
    begun = _greedy(tallying, added, costs, copies)
    return AskingOrder(_with_better_neighbours(tallying, added, costs, copies, begun), is_best=False)


def _best_order(
    tallying: Tallying, added: NDArray[np.int64], costs: Floats, copies: NDArray[np.int64]
) -> NDArray[np.intp]:
    """Return the best order, by dynamic programming over sets as bits."""
    n = added.shape[1]
    n_open = np.zeros(1 << n, dtype=np.int64)
    stack = [(0, 0, int(copies.sum()), np.tile(tallying.start, (len(added), 1)))]
    while stack:  # every set once, grown by members that come later
        asked, start, n_left, totals = stack.pop()
        n_open[asked] = int((~tallying.settled(totals, n_left)).sum())
        stack += [
            (asked | 1 << k, k + 1, n_left - int(copies[k]), totals + added[:, k]) for k in range(start, n)
        ]
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


def _greedy(
    tallying: Tallying, added: NDArray[np.int64], costs: Floats, copies: NDArray[np.int64]
) -> list[int]:
    """Ask next who puts the eventual winner of the open rows furthest ahead for the money."""
    n = added.shape[1]
    totals = np.tile(tallying.start, (len(added), 1))
    winner = (totals + added.sum(axis=1)).argmax(axis=1)
    rivals = np.where(np.arange(tallying.n_classes) == winner[:, None], -1, added.sum(axis=1))
    rows, rival = np.arange(len(added)), rivals.argmax(axis=1)
    lead = added[rows, :, winner] - added[rows, :, rival]
    left, order = list(range(n)), []
    while left:
        is_open = ~tallying.settled(totals, int(copies[left].sum()))
        brought = (lead[is_open][:, left] + copies[left] * int(tallying.most.max())).sum(axis=0)
        price = np.maximum(costs[left], 1e-12 * max(1.0, float(costs.max())))
        order.append(left.pop(int(np.argmax(brought / price))))
        totals = totals + added[:, order[-1]]
    return order


def _with_better_neighbours(
    tallying: Tallying,
    added: NDArray[np.int64],
    costs: Floats,
    copies: NDArray[np.int64],
    order: list[int],
) -> NDArray[np.intp]:
    """Let neighbours change places while that costs less, which changes only what the first leaves open."""
    n = len(order)
    for _ in range(MOST_EXCHANGES):
        changed = False
        totals, n_left = np.tile(tallying.start, (len(added), 1)), int(copies.sum())
        n_open = int((~tallying.settled(totals, n_left)).sum())
        for place in range(n - 1):
            one, other = order[place], order[place + 1]
            after = {
                k: int((~tallying.settled(totals + added[:, k], n_left - int(copies[k]))).sum())
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
