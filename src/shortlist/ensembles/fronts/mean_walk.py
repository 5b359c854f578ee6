"""The walk over committees that answer by a mean of probabilities, size after size.

A committee that is not whole is left out where a line above the worth of every number of members shows that
nothing undominated can come of it. A size that was walked is final.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.ensembles.fronts.committee_problem import MeanFrontProblem
from shortlist.ensembles.fronts.front_claims import committee_arrays, kept_committees
from shortlist.ensembles.fronts.front_walk import NOT_KEPT, FoundCommittee, WalkedFront
from shortlist.ensembles.pruning._tangent_kernels import (
    FREE,
    FoundTangents,
    Looked,
    better_tangents,
)
from shortlist.ensembles.pruning.mean_problem import MeanProblem
from shortlist.pareto import nondominated_unique
from shortlist.runs.budget import Budget
from shortlist.runs.records import KeptState
from shortlist.runs.study import Checkpoint

TANGENT_STEPS, AIMED_BELOW = 200, (0.5, 0.1, 0.02)
"""Steps that look for the tangents of a size, and how far below the last bound a row may be aimed at."""


NOT_TRIED = -1
"""Mark in place of the last tried member, where there is none."""


def walk_means(
    problem: MeanFrontProblem,
    budget: Budget,
    *,
    starts: Sequence[FoundCommittee] = (),
    max_nodes: int | None = None,
    on_nodes: Callable[[int, int], None] | None = None,
    checkpoint: Checkpoint = NOT_KEPT,
) -> WalkedFront:
    """Look for all committees that no other dominates.

    There are up to 2^K committees of K classifiers; each that is not left out takes O(n_rows) time.

    Final to a size.
    """
    walker = _MeanWalker(problem, budget, max_nodes)
    last = checkpoint.last()
    for start in [*starts, *([] if last is None else walker.resume(last))]:
        walker.offer(start)
    final_to = -1
    for size in range(problem.limits.min_size, problem.limits.max_size + 1):
        for _ in walker.walk(size):
            checkpoint.keep(walker.state)
            if on_nodes is not None:
                on_nodes(final_to, len(walker.known))
        if walker.stopped:
            break
        final_to = size
    checkpoint.keep(walker.state, now=True)
    return WalkedFront(walker.known, final_to, complete=not walker.stopped, nodes=walker.nodes)


@dataclass
class _Branches:
    """Ways on from a committee that is not whole: further members, with what can come of each at best.

    `members`: the committee, by places in the order of the walk. `left`: members to come. `gained`, `paid`:
    what the members add to the lines of the values, and to prices, ``(n_values,)``. `points`: what no
    committee with a further member beats, from the first place on, ``(n_places, n_objectives)``. `open`:
    places whose points nothing dominated when they were counted, in the order in which they are tried.
    `tried`: the member tried last, by its place.
    """

    members: list[int]
    left: int
    gained: Floats
    paid: NDArray[np.int64]
    points: NDArray[np.int64]
    first: int
    open: Iterator[int]
    tried: int = NOT_TRIED


class _MeanWalker:
    def __init__(self, problem: MeanFrontProblem, budget: Budget, max_nodes: int | None) -> None:
        self.problem, self.budget, self.max_nodes = problem, budget, max_nodes
        self.nodes, self.stopped = 0, False
        self.known: list[FoundCommittee] = []
        self._points = np.zeros((0, len(problem.objectives)), dtype=np.int64)
        self.order = np.argsort(problem.prices.sum(axis=0), kind="stable")
        self._prices = problem.prices[:, self.order]
        self._size, self._kept_way = -1, list[int]()
        self._way: list[_Branches] = []

    def offer(self, found: FoundCommittee) -> None:
        if not self._covers(found.point[None])[0]:
            self.known.append(found)
            kept = nondominated_unique(np.array([one.point for one in self.known]))
            self.known = [self.known[i] for i in np.flatnonzero(kept).tolist()]
            self._points = np.array([one.point for one in self.known])

    def walk(self, size: int) -> Iterator[None]:
        """Walk over all committees of a size; yield wherever the walk can go on from.

        A search that goes on passes by what it had finished before.
        """
        if size < self._size:
            return
        self._kept_way = self._kept_way if size == self._size else []
        self._size = size
        lines = [self._line(value, size) for value in self.problem.values if not self.budget.stopped]
        if self.budget.stopped:
            self.stopped = True
            return
        self._constants = np.array([constant for constant, _ in lines])
        self._gains = np.array([gains[self.order] for _, gains in lines]).reshape(-1, len(self.order))
        self._most = np.array([_suffix_sums(-gains, size) for gains in self._gains])
        self._least = np.array([_suffix_sums(price.astype(float), size) for price in self._prices])
        nothing = np.zeros(self.problem.n_values), np.zeros(len(self._prices), dtype=np.int64)
        whole = self._look([], size, *nothing)
        if self._kept_way:
            self._go_on(whole)
        else:
            self._enter(whole)
        while self._way and not self.stopped:
            yield
            self._step()
        if not self.stopped:
            self._size = size + 1

    def _go_on(self, branches: _Branches) -> None:
        """Go down to where a search was kept, without a look at the same places again."""
        self._way = [branches]
        for place in self._kept_way[:-1]:
            self._way.append(self._further(self._way[-1], place))
        for deeper, tried in zip(self._way, self._kept_way, strict=True):
            deeper.tried = tried
            deeper.open = iter([place for place in deeper.open if place > tried])
        self._kept_way = []

    def _enter(self, branches: _Branches) -> bool:
        nodes = self.nodes + len(branches.points)
        if self.budget.stopped or (self.max_nodes is not None and nodes > self.max_nodes):
            self.stopped = True
            return False
        self.nodes = nodes
        self._way.append(branches)
        return True

    def _step(self) -> None:
        branches = self._way[-1]
        for place in branches.open:
            if branches.left == 1:
                self._keep([*branches.members, place])
                continue
            point = branches.points[place - branches.first]
            if not self._covers(point[None])[0]:  # by what was found since
                if self._enter(self._further(branches, place)):
                    branches.tried = place
                return
        self._way.pop()

    def _keep(self, members: list[int]) -> None:
        mask = np.zeros(len(self.order), dtype=bool)
        mask[self.order[members]] = True
        self.offer(FoundCommittee(mask, 0, self.problem.point(mask)))

    def _further(self, branches: _Branches, place: int) -> _Branches:
        gained, paid = branches.gained + self._gains[:, place], branches.paid + self._prices[:, place]
        return self._look([*branches.members, place], branches.left - 1, gained, paid)

    def _look(self, members: list[int], left: int, gained: Floats, paid: NDArray[np.int64]) -> _Branches:
        """Bound what can come of every further member, all at once."""
        first = members[-1] + 1 if members else 0
        places = np.arange(first, len(self.order) - left + 1)
        worth = gained[:, None] + self._gains[:, places] - self._most_of(places + 1, left - 1)
        points = np.empty((len(places), len(self.problem.objectives)), dtype=np.int64)
        for v, value in enumerate(self.problem.values):
            whole = [value.whole_bound(one) for one in (self._constants[v] + worth[v]).tolist()]
            points[:, v] = -np.array(whole, dtype=np.int64)
        spent = paid[:, None] + self._prices[:, places]
        rest = np.rint(self._least_of(places + 1, left - 1)).astype(np.int64)
        points[:, self.problem.n_values :] = (spent + rest).T
        open_places = places[~self._covers(points)].tolist()
        return _Branches(members, left, gained, paid, points, first, iter(open_places))

    def state(self) -> KeptState:
        way = [branches.tried for branches in self._way] or self._kept_way
        return KeptState(
            committee_arrays(self.known, self.problem.n_classifiers) | {"way": np.array(way, dtype=np.int64)},
            {"size": self._size, "nodes": self.nodes},
        )

    def resume(self, state: KeptState) -> list[FoundCommittee]:
        self.nodes, self._size = state.facts["nodes"], state.facts["size"]
        self._kept_way = state.arrays["way"].tolist()
        return kept_committees(state, self.problem)

    def _most_of(self, places: NDArray[np.intp], left: int) -> Floats:
        """Return minus the most that members from each index on gain, by number, ``(n_values, n_places)``."""
        return self._most[:, left, places] if len(self._most) else np.zeros((0, len(places)))

    def _least_of(self, places: NDArray[np.intp], left: int) -> Floats:
        """Return the least that a number of members from each index on cost, ``(n_prices, n_places)``."""
        return self._least[:, left, places] if len(self._least) else np.zeros((0, len(places)))

    def _covers(self, points: NDArray[np.int64]) -> NDArray[np.bool_]:
        as_good = np.all(self._points[None] <= points[:, None], axis=2)
        return np.asarray(np.any(as_good, axis=1), dtype=bool)

    def _line(self, value: MeanProblem, size: int) -> tuple[float, Floats]:
        """Return a constant, and gains whose sum over members bounds what a number of members is worth."""
        terms, n = value.terms, value.n_classifiers
        unit, fixed = size * terms.whole, np.full(n, FREE, dtype=np.uint8)
        found = FoundTangents(np.zeros(n), np.zeros(len(terms.aims)))
        parts = np.full(n, size / n)
        bound = better_tangents(terms, Looked(unit, fixed, size, 1, -np.inf), parts, found)
        for near in AIMED_BELOW:
            if self.budget.stopped:
                break  # those that were found hold
            looked = Looked(unit, fixed, size, TANGENT_STEPS, bound - near * len(terms.aims))
            bound = better_tangents(terms, looked, parts, found)
        return float(bound - np.sort(found.gains)[n - size :].sum()), found.gains


def _suffix_sums(numbers: Floats, most: int) -> Floats:
    """Return the least sums of 0, 1, ... of the numbers from each place on, ``(most + 1, n + 1)``."""
    n = len(numbers)
    sums = np.full((most + 1, n + 1), np.inf)
    sums[0] = 0.0
    for start in range(n):
        ranked = np.sort(numbers[start:])[:most].cumsum()
        sums[1 : len(ranked) + 1, start] = ranked
    return sums
