"""Few points of a front with the least maximum regret over customers with linear weights.

A customer weighs the objectives, each scaled to the front: 1 for its best value, 0 for its worst. Her regret
is the share of her best point's worth that she loses with the best of the few :cite:p:`Nanongkai2010`. The
regret of a few points is the largest regret over all customers. A vertex of a polytope, or a single
objective, reaches this regret, so it is computed without a solver. The polytope holds the weights that value
each of the few points at most 1.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist.arrays import Floats, Mask
from shortlist.errors import BadInputError
from shortlist.milp.backends import open_solver
from shortlist.milp.program import LinearObjective, make_program
from shortlist.milp.solution import Limits
from shortlist.results.objective import Objective
from shortlist.results.picking import LimitsAsked, within_limits
from shortlist.results.proof import FrontPoints, Status
from shortlist.runs.budget import Budget, processor_seconds

MOST_VERTICES = 200_000
"""Most vertices that are enumerated; twenty points and six objectives have about as many."""

GAP, SHARE = 1e-4, 0.05
"""Distances of regret and bound at which the search ends: an absolute one, and a share of the regret."""

MOST_ROUNDS = 40
"""Most rounds of the search for each number of points, with at most one small integer program each."""

MOST_SECONDS = 6.0
"""Most seconds of the search for bounds and for points better than the greedy choice; the bound proved by the
end is reported.
"""

NEW_CUSTOMERS = 6
"""Number of customers of largest regret that each round adds to the known customers."""


@dataclass(frozen=True)
class FewPoints:
    """A few points of a front, and their regret."""

    points: tuple[int, ...]
    """Indices of the points, rising."""
    weights: tuple[dict[str, float], ...]
    """For each point, weights by objective that sum to 1: the centre of the weights for which this point is
    the best of the few.
    """
    regret: float
    """Largest regret over all customers, as a share."""
    bound: float
    """Proved lower bound on the regret of any choice of this size; with two objectives the regret itself,
    but for rounding.
    """
    curve: tuple[tuple[int, float, float], ...]
    """Choices of one point, two points and so on: number of points, least regret found, and its lower
    bound.
    """


def few_points(
    front: FrontPoints, n_points: int, limits: LimitsAsked = None, *, seconds: float = MOST_SECONDS
) -> FewPoints:
    """Choose a few points with the least maximum regret.

    With two objectives the answer is exact. A point is good enough for an interval of weights, and a greedy
    search finds the fewest intervals that cover all weights; bisection finds the least regret. With more
    objectives, points are first added where regret is largest. Then an integer program chooses points that
    are good enough for all known customers. The customer who regrets the chosen points most becomes known.
    The two steps repeat until no customer regrets the points too much. A regret that no points reach for the
    known customers is a proved bound.

    Raises BadInputError if no point is within the limits, or the points and objectives have too many
    vertices.

    `front`: front of at least one point. `n_points`: most points; fewer if more would change nothing.
    `limits`: bounds on the objectives; other points are neither chosen nor compared with. `seconds`:
    longest search for better points and bounds, with three objectives and more.

    >>> from shortlist.results.front import Front
    >>> from shortlist.results.proof import Proof, ProofKind
    >>> points, proof = np.array([[1, 9], [2, 4], [4, 2], [9, 1]]), Proof(ProofKind.COMPLETE)
    >>> goals = [Objective("price"), Objective("hours")]
    >>> front = Front.from_points(goals, points, np.eye(4, dtype=int), ["a", "b", "c", "d"], proof)
    >>> found = few_points(front, 2)
    >>> found.points, round(found.regret, 3)
    ((1, 2), 0.125)
    """
    as_count(n_points, "n_points", at_least=1)
    allowed = np.flatnonzero(within_limits(front, limits))
    values = front.values[allowed] * np.array([objective.sign for objective in front.objectives])
    lows, highs = values.min(axis=0), values.max(axis=0)
    counts = np.flatnonzero(highs > lows)
    gains: Floats = (highs - values)[:, counts] / (highs - lows)[counts]
    if not len(counts):
        nothing = {name: 1 / len(front.names) for name in front.names}
        return FewPoints((int(allowed[0]),), (nothing,), 0.0, 0.0, ((1, 0.0, 0.0),))
    most = min(n_points, len(np.unique(gains, axis=0)))
    if math.comb(most + len(counts), len(counts)) > MOST_VERTICES:
        raise BadInputError(
            f"the regret of {most} points by {len(counts)} objectives has too many vertices to look at. "
            "Ask for fewer points."
        )
    found = _by_intervals(gains, most) if len(counts) < 3 else _by_customers(gains, most, seconds)
    chosen, regret, bound = found[-1]
    places, middles = _best_for(gains, chosen)
    names = [front.names[place] for place in counts]
    weights = tuple(dict(zip(names, middle.tolist(), strict=True)) for middle in middles)
    curve = tuple((number, own, least) for number, (_, own, least) in enumerate(found, start=1))
    order = np.argsort(allowed[places])
    return FewPoints(
        tuple(int(allowed[places[one]]) for one in order),
        tuple(weights[one] for one in order),
        regret,
        bound,
        curve,
    )


def customers_who_regret(gains: Floats, chosen: Sequence[int]) -> tuple[Floats, Floats]:
    """Return weights of customers, one of them with the largest regret, and the regret of each.

    `gains`: value of every point in each objective, 0 to 1, ``(n_points, n_objectives)``. `chosen`: rows of
    the few points. Not all weights are vertices of the polytope of :mod:`shortlist.methods.few_points`; each
    regret is computed for its own weights.

    >>> gains = np.array([[1.0, 0.0], [0.7, 0.7], [0.0, 1.0]])
    >>> float(customers_who_regret(gains, [0, 2])[1].max())  # who weighs both alike has 1 in place of 1.4
    0.2857142857142857
    """
    own, n = gains[list(chosen)], gains.shape[1]
    rows = np.vstack([own, np.eye(n)])
    limits = np.append(np.ones(len(own)), np.zeros(n))
    weights = [np.eye(n)]
    tight = itertools.combinations(range(len(rows)), n)
    while len(part := np.array(list(itertools.islice(tight, 20_000)), dtype=np.int64)):
        systems, sides = rows[part], limits[part]
        solvable = np.abs(np.linalg.det(systems)) > 1e-12
        solved = np.linalg.solve(systems[solvable], sides[solvable][:, :, None])[:, :, 0]
        weights.append(solved[(solved >= -1e-9).all(axis=1) & (solved.sum(axis=1) > 1e-9)])
    every = np.maximum(np.vstack(weights), 0.0)
    every = np.unique(np.round(every / every.sum(axis=1, keepdims=True), 12), axis=0)
    return every, regrets(gains, chosen, every)


def regrets(gains: Floats, chosen: Sequence[int], weights: Floats) -> Floats:
    """Return the regret of customers with these weights, as a share, ``(n_customers,)``."""
    best = np.concatenate([(part @ gains.T).max(axis=1) for part in _parts(weights, len(gains))])
    lost: Floats = 1 - (weights @ gains[list(chosen)].T).max(axis=1) / best
    return np.maximum(lost, 0.0)


def _parts(weights: Floats, n_points: int) -> Iterator[Floats]:
    size = max(1, 4_000_000 // n_points)
    for start in range(0, len(weights), size):
        yield weights[start : start + size]


Found = tuple[list[int], float, float]
"""Rows of chosen points, their regret, and a lower bound on it."""


def _by_intervals(gains: Floats, most: int) -> list[Found]:
    """Return the best choices of one point, two points and so on, with one or two objectives."""
    if gains.shape[1] == 1:
        return [([int(np.argmax(gains[:, 0]))], 0.0, 0.0)]
    intervals = _Intervals(gains)
    found: list[Found] = []
    for number in range(1, most + 1):
        least, chosen = 0.0, intervals.cover(1.0, number) or []
        regret = float(customers_who_regret(gains, chosen)[1].max())
        if exact := intervals.cover(0.0, number):
            chosen, regret = exact, float(customers_who_regret(gains, exact)[1].max())
        while regret - least > 1e-12 and least < (middle := (least + regret) / 2) < regret:
            better = intervals.cover(middle, number)
            if better is None:
                least = middle
            else:
                own = float(customers_who_regret(gains, better)[1].max())
                if own >= regret:
                    break  # a rounding error
                chosen, regret = better, own
        found.append((chosen, regret, min(least, regret)))
        if regret < 1e-12:
            break
    return found


class _Intervals:
    """Intervals of the first objective's weight, out of two; in each interval one point is good enough."""

    def __init__(self, gains: Floats) -> None:
        self._gains = gains
        order = np.lexsort((gains[:, 1], gains[:, 0]))
        hull: list[int] = []
        for place in order.tolist():
            while len(hull) > 1 and not _turns_right(gains[hull[-2]], gains[hull[-1]], gains[place]):
                hull.pop()
            hull.append(place)
        while len(hull) > 1 and gains[hull[0], 1] <= gains[hull[1], 1]:
            hull.pop(0)
        self._hull = gains[hull]
        steps = np.diff(self._hull, axis=0)
        ties = -steps[:, 1] / (steps[:, 0] - steps[:, 1])
        self._breaks = np.concatenate([[0.0], ties, [1.0]])
        ends = np.column_stack([self._breaks, 1 - self._breaks])
        there = np.minimum(np.arange(len(ends)), len(self._hull) - 1)
        self._best = (ends * self._hull[there]).sum(axis=1)
        angles = np.arctan2(self._hull[:, 0], self._hull[:, 1])  # a point gains up to its own
        self._peaks = np.searchsorted(angles, np.arctan2(gains[:, 0], gains[:, 1]), side="left")

    def cover(self, regret: float, most: int) -> list[int] | None:
        """Return up to `most` points that cover all weights within the regret.

        Returns None if no such points exist.
        """
        lower, upper = self._ends(1 - regret)
        order = np.argsort(lower, kind="stable")
        farthest = np.maximum.accumulate(upper[order])
        is_new = np.append(True, farthest[1:] > farthest[:-1])
        places = order[np.maximum.accumulate(np.where(is_new, np.arange(len(order)), 0))]
        chosen, reached = list[int](), 0.0
        for _ in range(most):
            n_open = int(np.searchsorted(lower[order], reached, side="right"))
            if not n_open or (upper[places[n_open - 1]] <= reached and chosen):
                return None
            chosen.append(int(places[n_open - 1]))
            reached = float(upper[chosen[-1]])
            if reached >= 1:
                return chosen
        return None

    def _ends(self, share: float) -> tuple[Floats, Floats]:
        """Return the interval in which each point has this share of the best worth; (2, -1) if empty."""
        n, last = len(self._gains), len(self._breaks) - 1
        first = self._search(np.zeros(n, dtype=np.int64), self._peaks, share, rising=True)
        end = self._search(self._peaks, np.full(n, last), share, rising=False)
        never = self._ratio(self._peaks) < share
        lower = np.where(first == 0, 0.0, self._crossing(np.maximum(first - 1, 0), share))
        upper = np.where(end == last, 1.0, self._crossing(np.minimum(end, last - 1), share))
        return np.where(never, 2.0, lower), np.where(never, -1.0, upper)

    def _search(
        self, low: NDArray[np.int64], high: NDArray[np.int64], share: float, *, rising: bool
    ) -> NDArray[np.int64]:
        """Return the first, or the last, breakpoint at which each point has the share of the best worth."""
        low, high = low.copy(), high.copy()
        while (low < high).any():
            middle = (low + high) // 2 if rising else (low + high + 1) // 2
            enough = self._ratio(middle) >= share
            if rising:
                low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
                low = np.minimum(low, high)
            else:
                low, high = np.where(enough, middle, low), np.where(enough, high, middle - 1)
                high = np.maximum(low, high)
        return low

    def _ratio(self, places: NDArray[np.int64]) -> Floats:
        weight = self._breaks[places]
        ratio: Floats = (weight * self._gains[:, 0] + (1 - weight) * self._gains[:, 1]) / self._best[places]
        return ratio

    def _crossing(self, pieces: NDArray[np.int64], share: float) -> Floats:
        """Return the weight, on a hull piece, at which each point has exactly `share` of the best worth."""
        off = self._gains - share * self._hull[np.minimum(pieces, len(self._hull) - 1)]
        slope = off[:, 0] - off[:, 1]
        found: Floats = -off[:, 1] / np.where(slope == 0, 1.0, slope)
        ends = self._breaks[pieces], self._breaks[pieces + 1]
        return np.clip(found, *ends)


def _turns_right(first: Floats, second: Floats, third: Floats) -> bool:
    one, other = second - first, third - first
    return bool(one[0] * other[1] - one[1] * other[0] < 0)


def _by_customers(gains: Floats, most: int, seconds: float) -> list[Found]:
    """Return good choices of one point, two points and so on, each with its regret and bound."""
    greedy = _added_one_by_one(gains, most)
    customers = np.vstack([np.eye(gains.shape[1]), np.full((1, gains.shape[1]), 1 / gains.shape[1])])
    found: list[Found] = []
    bound, budget = 0.0, Budget(seconds, clock=processor_seconds)
    for chosen, regret in reversed(greedy):  # a bound holds for fewer points too
        if len(chosen) == 1:  # the first point is the best one: the largest regret is of a single objective
            found.insert(0, (chosen, regret, regret))
            break
        share = 0.5 if len(chosen) == len(greedy) else 1 / (len(chosen) - 1)
        search = _Customers(gains, customers, len(chosen), budget.share(share))
        found.insert(0, search.improved(chosen, bound))
        customers, bound = search.customers, found[0][2]
    for number in range(1, len(found)):  # nor does regret grow with the number of points
        if found[number][1] > found[number - 1][1]:
            found[number] = (*found[number - 1][:2], found[number][2])
    return found


def _added_one_by_one(gains: Floats, most: int) -> list[tuple[list[int], float]]:
    """Return greedy choices of one point, two points and so on.

    Each adds the best point of the customer of largest regret.
    """
    alone = 1 - gains.min(axis=1)  # the largest regret is of a single objective
    chosen = [int(np.lexsort((-gains.sum(axis=1), alone))[0])]
    found = []
    for _ in range(most):
        weights, lost = customers_who_regret(gains, chosen)
        worst = int(np.argmax(lost))
        found.append((list(chosen), float(lost[worst])))
        if lost[worst] < 1e-12:
            break
        chosen.append(int(np.argmax(gains @ weights[worst])))
    return found


class _Customers:
    """Search for a given number of points, by known customers of large regret."""

    def __init__(self, gains: Floats, customers: Floats, most: int, budget: Budget) -> None:
        self._gains, self._most, self._budget = gains, most, budget
        self.customers = customers

    def improved(self, chosen: list[int], bound: float) -> Found:
        """Return points no worse than `chosen`, their regret, and a bound of at least `bound`."""
        regret = self._learn(chosen, -1.0)
        for _ in range(MOST_ROUNDS):
            if regret - bound <= max(GAP, SHARE * regret) or self._budget.stopped:
                break
            middle = (regret + bound) / 2
            ratios = self.customers @ self._gains.T
            enough = ratios >= (1 - middle) * ratios.max(axis=1, keepdims=True)
            cover = covering(enough, self._most, self._budget)
            if cover is None:
                break  # the solver finds no proved answer
            if not cover:
                bound = middle
                continue
            own = self._learn(cover, middle)
            if own < regret:
                chosen, regret = cover, own
        return chosen, regret, min(bound, regret)

    def _learn(self, chosen: Sequence[int], middle: float) -> float:
        """Return the regret of points, and add the customer of largest regret to the known customers."""
        weights, lost = customers_who_regret(self._gains, chosen)
        worst = np.argsort(-lost, kind="stable")[:NEW_CUSTOMERS]
        new = weights[worst][lost[worst] > middle]
        self.customers = np.unique(np.vstack([self.customers, new]), axis=0)
        return float(lost.max())


def covering(enough: Mask, most: int, budget: Budget | None = None) -> list[int] | None:
    """Return up to `most` columns that cover every row; [] if no such columns exist, None if unknown.

    >>> covering(np.array([[True, False, True], [False, True, False], [False, False, True]]), 2)
    [1, 2]
    >>> covering(np.eye(3, dtype=bool), 2)
    []
    """
    columns = _largest(enough)
    if not enough[:, columns].any(axis=1).all():
        return []
    chosen, open_ = list[int](), np.ones(len(enough), dtype=bool)
    while open_.any() and len(chosen) < most:
        chosen.append(int(columns[np.argmax(enough[open_][:, columns].sum(axis=0))]))
        open_ &= ~enough[:, chosen[-1]]
    if not open_.any():
        return sorted(chosen)
    rows = np.vstack([enough[:, columns], np.ones((1, len(columns)))]).astype(np.float64)
    n = len(enough)
    program = make_program(
        rows,
        row_lower=np.append(np.ones(n), 0.0),
        row_upper=np.append(np.full(n, np.inf), float(most)),
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[LinearObjective(Objective("points"), np.ones(len(columns)))],
    )
    limits = Limits(seconds=MOST_SECONDS).within(budget or Budget())
    answer = open_solver("highs").open(program).solve(limits)
    if answer.status is Status.INFEASIBLE:
        return []
    if answer.values is None:
        return None
    return sorted(columns[answer.values > 0.5].tolist())


def _largest(enough: Mask) -> NDArray[np.int64]:
    """Return the columns that no other column contains; of equal columns the first."""
    places = _different(enough)
    ordered = places[np.argsort(-enough[:, places].sum(axis=0), kind="stable")]
    kept = ordered[:0]
    for start in range(0, len(ordered), 500):
        part = ordered[start : start + 500]
        both = np.concatenate([kept, part])
        own, sizes = enough[:, part].astype(np.float32), enough[:, both].sum(axis=0)
        inside = own.T @ enough[:, both].astype(np.float32) >= sizes[len(kept) :, None]
        bigger = sizes[None, :] > sizes[len(kept) :, None]
        kept = np.concatenate([kept, part[~(inside & bigger).any(axis=1)]])
    return kept


def _different(enough: Mask) -> NDArray[np.int64]:
    """Return the first of each group of equal columns, by checked sums of random numbers."""
    numbers = np.random.default_rng(0).integers(0, 2**40, len(enough)).astype(np.float64)
    sums = numbers @ enough.astype(np.float64)
    _, places, same = np.unique(sums, return_index=True, return_inverse=True)
    if (enough[:, places[same]] != enough).any():
        _, places = np.unique(enough, axis=1, return_index=True)
    return np.asarray(places, dtype=np.int64)


def _best_for(gains: Floats, chosen: Sequence[int]) -> tuple[list[int], list[Floats]]:
    """Return the chosen points that are best for some weights, and the centre of each point's weights."""
    n = gains.shape[1]
    places, middles = list[int](), list[Floats]()
    for place in sorted(set(chosen)):
        rows = np.vstack([gains[place] - gains[list(chosen)], np.eye(n)])
        weights = [np.ones((1, n)) / n] if n == 1 else []
        for tight in itertools.combinations(range(len(rows)), n - 1):
            system = np.vstack([rows[list(tight)], np.ones(n)])
            if abs(np.linalg.det(system)) > 1e-12:
                weights.append(np.linalg.solve(system, np.append(np.zeros(n - 1), 1.0))[None, :])
        every = np.vstack(weights)
        every = every[(every @ rows.T >= -1e-9).all(axis=1)]
        if len(every):
            places.append(place)
            middles.append(np.unique(np.round(np.maximum(every, 0.0), 12), axis=0).mean(axis=0))
    return places, middles
