"""Exact p-median: a few points that serve given customers at the least total cost.

The integer program has a column for each point, taken or not, and one for each customer and point. The rows
that give every customer one point are relaxed with multipliers :cite:p:`Narula1977`. A bound then takes one
pass over the costs and no solver: the worth of a point is its saving of the multipliers, and the few points
that save most are taken. Points that cannot be in a better solution drop out by these bounds, and branch and
bound decides the rest. All costs are integers, summed in doubles that hold them exactly.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask
from shortlist.errors import BadInputError
from shortlist.exact import LARGEST_INTEGER
from shortlist.runs.budget import Budget

ROOT_ROUNDS, NODE_ROUNDS = 300, 8
"""Steps that improve the multipliers, at the root and at each further node."""

PATIENCE = 12
"""Number of steps without a better bound after which the step length is halved."""

ROOT_TURNS, NEW_COLUMNS = 8, 400
"""Rounds that add columns for improving the multipliers, and most columns added per round."""

RESTARTS = 8
"""Number of random sets of points from which exchanges restart."""

BLOCK = 1 << 16
"""Number of costs per block, which fits in a cache."""


@dataclass(frozen=True)
class Medians:
    """Chosen points, and the proof."""

    points: tuple[int, ...]
    """Column indices of the points, rising."""
    total: int
    """Sum over the customers of the cost of the best chosen point for each."""
    bound: int
    """Proved lower bound on the total of any choice of this size."""


def p_median(
    costs: Floats, n_points: int, *, counts: Floats | None = None, budget: Budget | None = None
) -> Medians:
    """Choose points with the least total cost, where each customer takes her cheapest point.

    `costs`: integers of at least 0, ``(n_customers, n_candidates)``. `n_points`: most points, at least 1.
    `counts`: number of customers per row, ``(n_customers,)``; default 1. `budget`: ends the search; the
    bound is the one proved by then.

    >>> p_median(np.array([[0.0, 4.0, 1.0], [5.0, 0.0, 1.0], [9.0, 9.0, 3.0]]), 1)
    Medians(points=(2,), total=5, bound=5)
    """
    counts = np.ones(len(costs)) if counts is None else counts
    if float(counts @ costs.max(axis=1, initial=0.0)) >= LARGEST_INTEGER / 4:
        raise BadInputError("the costs of customers must sum to less than 2^51. Take fewer customers.")
    n_points = min(n_points, costs.shape[1])
    search = _Median(costs, counts, n_points, budget or Budget())
    search.run()
    return Medians(tuple(sorted(search.best)), int(search.total), int(min(search.bound, search.total)))


@dataclass
class _Open:
    """Node of the search: taken points, free points, and multipliers of a good bound."""

    taken: Mask
    free: Mask
    multipliers: Floats
    bound: float = 0.0


class _Root(NamedTuple):
    """Bound over all columns."""

    multipliers: Floats
    bound: float
    beyond: Floats
    """Increment of the bound once a column is taken, ``(n_candidates,)``."""


@dataclass
class _Median:
    """State of a search; `best` are indices in the original costs."""

    costs: Floats
    counts: Floats
    n_points: int
    budget: Budget
    best: list[int] = field(default_factory=list)
    total: float = np.inf
    bound: float = 0.0
    places: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    def run(self) -> None:
        """Find the best points; if the budget ends first, the best points found so far and a bound."""
        every = self.costs
        own = np.union1d(every.argmin(axis=1), np.arange(self.n_points))
        self._take_columns(every, own)  # points that are the best for a customer
        self._greedy()
        root = self._root(every)
        self._begin_anew()
        self.bound = root.bound
        if root.bound >= self.total or self.budget.stopped:
            return
        live = np.flatnonzero(root.bound + root.beyond < self.total)
        _, first = np.unique(every[:, live], axis=1, return_index=True)
        self._take_columns(every, np.union1d(live[first], self.best))
        self._swap()
        open_nodes = [self._open(root.multipliers, root.bound)]
        while open_nodes:
            if self.budget.stopped:
                self.bound = min(self.total, *(one.bound for one in open_nodes))
                return
            node = self._bounded(open_nodes.pop(), NODE_ROUNDS)
            if node.bound >= self.total:
                continue
            branch = self._branching(node)
            if branch is not None:
                open_nodes += [self._without(node, branch), self._with(node, branch)]
        self.bound = self.total

    def _root(self, every: Floats) -> _Root:
        """Return a bound over all columns; its multipliers are improved on some of the columns.

        Columns that save as much as the taken columns are added to these.
        """
        multipliers = self._first_multipliers()
        found = _Root(multipliers, 0.0, np.zeros(every.shape[1]))
        for _ in range(ROOT_TURNS):
            multipliers = self._bounded(self._open(multipliers), ROOT_ROUNDS, decides=False).multipliers
            savings = self._savings_of(every, multipliers)
            few = np.partition(savings, self.n_points - 1)[: self.n_points]
            bound = float(self.counts @ multipliers) + float(few.sum())
            if bound > found.bound:
                found = _Root(multipliers, bound, np.maximum(savings - few.max(), 0.0))
            new = np.setdiff1d(np.flatnonzero(savings <= few.max()), self.places)
            if found.bound >= self.total or not len(new) or self.budget.stopped:
                break
            near = np.argsort(savings, kind="stable")[: NEW_COLUMNS + self.n_points]
            self._take_columns(every, np.union1d(self.places, near))
        return found

    def _take_columns(self, every: Floats, places: NDArray[np.intp]) -> None:
        self.places = places
        self.costs = np.ascontiguousarray(every[:, places])

    def _open(self, multipliers: Floats, bound: float = 0.0) -> _Open:
        """Return a node with every column free."""
        n = len(self.places)
        return _Open(np.zeros(n, dtype=bool), np.ones(n, dtype=bool), multipliers, bound)

    def _begin_anew(self) -> None:
        """Exchange points from several random sets, and keep the best result."""
        rng = np.random.default_rng(self.budget.seed)
        best, total = self.best, self.total
        for _ in range(RESTARTS):
            if self.budget.stopped or len(self.places) <= self.n_points:
                break
            self.total = np.inf
            self._offer(rng.choice(len(self.places), self.n_points, replace=False).tolist())
            self._swap()
            if self.total < total:
                best, total = self.best, self.total
        self.best, self.total = best, total

    def _greedy(self) -> None:
        """Take one by one the point that lowers the sum most, then exchange points."""
        nearest = np.full(len(self.costs), np.inf)
        chosen: list[int] = []
        for _ in range(self.n_points):
            sums = self._sums(nearest)
            chosen.append(int(np.argmin(sums)))
            nearest = np.minimum(nearest, self.costs[:, chosen[-1]])
        self._offer(chosen)
        self._swap(most=3)

    def _swap(self, most: int = 50) -> None:
        """Exchange a chosen point for another while an exchange lowers the sum, the best exchange first."""
        chosen = self._columns_of_best()
        for _ in range(most):
            found = (self.total, -1, -1)
            for out in range(len(chosen)):
                if self.budget.stopped:
                    return
                others = chosen[:out] + chosen[out + 1 :]
                nearest = self.costs[:, others].min(axis=1, initial=np.inf)
                sums = self._sums(nearest)
                column = int(np.argmin(sums))
                found = min(found, (float(sums[column]), out, column))
            if found[1] < 0:
                return
            chosen[found[1]] = found[2]
            self._offer(chosen)

    def _columns_of_best(self) -> list[int]:
        where = {place: column for column, place in enumerate(self.places.tolist())}
        return [where[place] for place in self.best]

    def _sums(self, nearest: Floats) -> Floats:
        """Return the total cost with each further point; `nearest` are the customers' costs without it."""
        sums = np.zeros(self.costs.shape[1])
        for part in _blocks(self.costs):
            sums += self.counts[part] @ np.minimum(self.costs[part], nearest[part, None])
        return sums

    def _offer(self, chosen: list[int]) -> None:
        """Keep the columns `chosen` if they are better than the best columns so far."""
        total = float(self.counts @ self.costs[:, chosen].min(axis=1))
        if total < self.total:
            self.total, self.best = total, self.places[chosen].tolist()

    def _first_multipliers(self) -> Floats:
        """Return the cost of each customer at the second best of the chosen points."""
        own = np.sort(self.costs[:, self._columns_of_best()], axis=1)
        return own[:, min(1, own.shape[1] - 1)].copy()

    def _bounded(self, node: _Open, rounds: int, *, decides: bool = True) -> _Open:
        """Improve the multipliers of a node, and fix points that the bounds decide.

        `decides`: whether the node is over all columns, so that points may be fixed.
        """
        taken, free = node.taken.copy(), node.free.copy()
        multipliers, kept, bound = node.multipliers.copy(), node.multipliers.copy(), node.bound
        length, stale = 1.0, 0
        for turn in range(rounds + 1):
            n_more = self.n_points - int(taken.sum())
            if n_more <= 0 or free.sum() <= n_more:
                chosen = np.flatnonzero(taken | free if n_more > 0 else taken)
                self._offer(chosen.tolist())
                return _Open(taken, free, kept, np.inf)  # nothing is left to decide
            if turn == rounds:
                break
            savings = self._savings(multipliers, taken | free)
            order = np.flatnonzero(free)
            order = order[np.argsort(savings[order], kind="stable")]
            chosen = np.concatenate([np.flatnonzero(taken), order[:n_more]])
            own = float(self.counts @ multipliers) + float(savings[chosen].sum())
            self._offer(chosen.tolist())
            if own > bound:
                bound, kept, stale = own, multipliers.copy(), 0
            else:
                stale += 1
                if stale >= PATIENCE:
                    length, stale, multipliers = length / 2, 0, kept.copy()
                    if length < 0.002:
                        break
                    continue
            if bound >= self.total or self.budget.stopped:
                break
            multipliers = self._moved(multipliers, chosen, length * (self.total - own))
            if not decides:
                continue
            last, next_ = savings[order[n_more - 1]], savings[order[n_more]]
            out = free & (own + savings - last >= self.total)
            out[order[:n_more]] = False
            into = order[:n_more][own - savings[order[:n_more]] + next_ >= self.total]
            free &= ~out
            free[into], taken[into] = False, True
        return _Open(taken, free, kept, bound)

    def _savings(self, multipliers: Floats, live: Mask) -> Floats:
        """Return the saving of each point on the multipliers, at most 0; 0 for points that are not live."""
        columns = np.flatnonzero(live)
        is_whole = 2 * len(columns) > len(live)
        if is_whole:
            return self._savings_of(self.costs, multipliers)
        savings = np.zeros(len(live))
        savings[columns] = self._savings_of(self.costs[:, columns], multipliers)
        return savings

    def _savings_of(self, costs: Floats, multipliers: Floats) -> Floats:
        savings = np.zeros(costs.shape[1])
        for part in _blocks(costs):
            own = costs[part] - multipliers[part, None]
            savings += self.counts[part] @ np.minimum(own, 0.0, out=own)
        return savings

    def _moved(self, multipliers: Floats, chosen: NDArray[np.intp], length: float) -> Floats:
        """Raise multipliers of customers without a point; lower multipliers of customers with several."""
        served = (self.costs[:, chosen] < multipliers[:, None]).sum(axis=1)
        steps = 1.0 - served
        size = float(self.counts @ steps**2)
        if not size:
            return multipliers
        moved: Floats = np.maximum(multipliers + np.rint(length / size * steps), 0.0)
        return moved

    def _branching(self, node: _Open) -> int | None:
        """Return the free point of the largest saving; None if no point is free."""
        free = np.flatnonzero(node.free)
        if not len(free):
            return None
        savings = self._savings(node.multipliers, node.free)
        return int(free[np.argmin(savings[free])])

    def _with(self, node: _Open, column: int) -> _Open:
        taken, free = node.taken.copy(), node.free.copy()
        taken[column], free[column] = True, False
        return _Open(taken, free, node.multipliers, node.bound)

    def _without(self, node: _Open, column: int) -> _Open:
        free = node.free.copy()
        free[column] = False
        return _Open(node.taken, free, node.multipliers, node.bound)


def _blocks(costs: Floats) -> list[slice]:
    size = max(1, BLOCK // max(1, costs.shape[1]))
    return [slice(start, start + size) for start in range(0, len(costs), size)]
