"""The front of committees that answer by the mean of their probabilities: log loss, Brier score, right rows.

Committees are walked size after size, member by member. A tangent of every row's envelope makes what a
committee of a size can be worth linear in its members, so that whatever the points so far beat is left out
without a look at its rows. A size that has been walked is final where the size matters.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats, Mask
from shortlist.ensembles.averaging._kernels import (
    FREE,
    SIGMOID,
    Envelopes,
    FoundTangents,
    Looked,
    better_tangents,
    find_envelopes,
)
from shortlist.ensembles.averaging.mean_problem import MeanProblem
from shortlist.ensembles.averaging.mean_pruning import prune_means
from shortlist.ensembles.averaging.mean_search import MeanEffort, search_means
from shortlist.ensembles.averaging.mean_terms import DIGITS, scale_of
from shortlist.ensembles.fronts.committee_problem import (
    MEMBER_OBJECTIVES,
    SIZE,
    price_objective,
    read_objectives,
)
from shortlist.ensembles.fronts.front_claims import LookedAt, ValueBounds
from shortlist.ensembles.fronts.front_walk import Committee
from shortlist.ensembles.goals.mean_goals import MEAN_LOSSES, mean_goal
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.proofs.incumbent import PrunedSelection
from shortlist.ensembles.pruning.evidence import bound_of_front
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.errors import BadInputError
from shortlist.pareto.dominance import nondominated_unique
from shortlist.results.front import LARGEST_POINT, Front
from shortlist.results.objective import Objective
from shortlist.results.proof import Proof, ProofKind, Status
from shortlist.runs.budget import Budget

BOUNDS_END, WALK_ENDS = 0.2, 0.85
"""Parts of the time limit at which proofs of the best values end, and the walk."""

TANGENT_STEPS, AIMED_BELOW = 200, (0.5, 0.1, 0.02)
"""Steps that look for the tangents of a size, and how far below the last bound a row may be aimed at."""

SIZES_SEARCHED = (2, 3, 5, 8, 13, 21)
"""Largest sizes of the committees that are searched where the walk does not get there."""

MOST_ROWS_OF_LOSSES = (LARGEST_POINT - 1) // (11 * 2**DIGITS)
"""A logarithm of a probability is above -11, and a point must stay below :data:`LARGEST_POINT`."""


@dataclass(frozen=True, eq=False)
class MeanFrontProblem:
    """Probabilities, and the objectives of a committee as integers; build with :func:`mean_front_problem`.

    Attributes
    ----------
    values : tuple of MeanProblem
        One for each objective of values; their totals are maximised.
    objectives : tuple of Objective
        Those of values first, then those of members; each has an integer scale.
    asked : ndarray of int, shape (n_objectives,)
        Place of every objective as it was asked for in that order.
    prices : ndarray of int64, shape (n_prices, n_classifiers)
        What each member adds to each objective of members, at least 0.
    limits : SelectionLimits
        Sizes, from 1.
    """

    values: tuple[MeanProblem, ...]
    objectives: tuple[Objective, ...]
    asked: NDArray[np.intp]
    prices: NDArray[np.int64]
    limits: SelectionLimits

    @property
    def has_threshold(self) -> bool:
        """Whether a threshold decides: never."""
        return False

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return int(self.prices.shape[1])

    @property
    def n_values(self) -> int:
        """Number of objectives of values."""
        return len(self.values)

    def is_size(self, price: int) -> bool:
        """Whether an objective of members is their number."""
        return self.objectives[self.n_values + price].name == SIZE

    @cached_property
    def _highest(self) -> NDArray[np.int64]:
        totals = np.array([value.first_bound for value in self.values], dtype=np.int64)
        return np.append(totals, totals.sum())

    def highest(self) -> NDArray[np.int64]:
        """Return what no total can exceed, row by row, and the sum of these, ``(n_values + 1,)``."""
        return self._highest.copy()

    def point(self, mask: Mask) -> NDArray[np.int64]:
        """Return the objectives of a committee, minimised, counted from the probabilities."""
        size = int(mask.sum())
        totals = [value.rate(value.tally(mask), size)[0] for value in self.values]
        return np.concatenate([-np.array(totals, dtype=np.int64), self.prices[:, mask].sum(axis=1)])


def mean_front_problem(
    votes: SoftVotes,
    objectives: Sequence[str],
    *,
    costs: Mapping[str, Sequence[float] | NDArray[Any]] | None = None,
    classes: Sequence[Any] | NDArray[Any] | None = None,
    limits: SelectionLimits | None = None,
) -> MeanFrontProblem:
    """Read objectives of means of probabilities, and write all of them as integers.

    Parameters
    ----------
    votes : SoftVotes
        Validation rows.
    objectives : sequence of str
        At least two of ``"min log-loss"``, ``"min brier"``, ``"max accuracy"`` and those of members.
    costs, classes, limits
        As of :func:`shortlist.ensembles.fronts.committee_problem.committee_problem`.

    Raises
    ------
    BadInputError
        As there; or if there are more than :data:`MOST_ROWS_OF_LOSSES` rows.
    """
    labels = range(votes.n_classes) if classes is None else classes
    names = read_objectives(objectives, [str(label) for label in labels])
    if MEAN_LOSSES.keys() & set(names):
        check_rows_of_losses(votes.n_samples)
    values = [name for name in names if name not in MEMBER_OBJECTIVES]
    limits = limits or selection_limits(votes.n_classifiers)
    if limits.min_size < 1 or limits.diversity is not None or limits.costs is not None:
        raise BadInputError("limits of a front must be on the size, from 1 on. Leave out the others.")
    problems = tuple(MeanProblem(votes, mean_goal(name, votes), limits) for name in values)
    charged = [
        price_objective(name, votes.n_classifiers, costs or {}, None) for name in names if name not in values
    ]
    return MeanFrontProblem(
        values=problems,
        objectives=tuple(_objective(one) for one in problems) + tuple(one for one, _, _ in charged),
        asked=np.array([[*values, *(n for n in names if n not in values)].index(name) for name in names]),
        prices=np.array([price for _, price, _ in charged], dtype=np.int64).reshape(-1, votes.n_classifiers),
        limits=limits,
    )


def check_rows_of_losses(n_rows: int) -> None:
    """Refuse more rows than losses can be compared exactly on.

    Raises
    ------
    BadInputError
        If there are more than :data:`MOST_ROWS_OF_LOSSES`.
    """
    if n_rows > MOST_ROWS_OF_LOSSES:
        raise BadInputError(
            f"a front of losses must have at most {MOST_ROWS_OF_LOSSES:,} rows that prune, to be compared "
            f"exactly, got {n_rows:,}. Prune on fewer rows, or leave the losses out."
        )


def _objective(problem: MeanProblem) -> Objective:
    """Return an objective of values with the scale of its totals."""
    goal = problem.goal
    return Objective(goal.objective.name, goal.objective.sense, scale_of(problem.terms) * goal.denominator)


def mean_front(
    problem: MeanFrontProblem,
    budget: Budget | None = None,
    *,
    names: Sequence[str] | None = None,
    max_nodes: int | None = None,
) -> Front:
    """Return the committees that no other dominates, and what is proved of them.

    Parameters
    ----------
    problem : MeanFrontProblem
        What matters.
    budget : Budget, optional
        For all of it; default no limit. Its limit in nodes is that of the proofs of the best values.
    names : sequence of str, optional
        What the classifiers are called; default their numbers.
    max_nodes : int, optional
        Nodes of the walk, which do not depend on the clock.

    Returns
    -------
    Front
        As of :func:`shortlist.ensembles.fronts.committee_front.committee_front`. Losses are compared in
        parts of 2^32 a row, as this machine computes logarithms.

    Notes
    -----
    There are up to 2^K committees of K classifiers; each that is not left out takes O(n_rows) time.
    """
    budget = budget or Budget()
    budget.tell("bounding")
    bounds = _bounds(problem, budget.until(BOUNDS_END))
    walk = _MeanWalk(problem, budget.until(WALK_ENDS), bounds.found, max_nodes)
    final: dict[int, int] = {}
    by_size = [price for price in range(len(problem.prices)) if problem.is_size(price)]
    for size in range(problem.limits.min_size, problem.limits.max_size + 1):
        walk.size(size, lambda: budget.tell("walking", value=len(walk.known)))
        if walk.stopped:
            break
        final |= dict.fromkeys(by_size, size)
    if walk.stopped:
        for found in _searched(problem, budget):
            walk.offer(found)
    looked = LookedAt(problem, bounds, final, not walk.stopped, walk.nodes)
    numbers = [str(number) for number in range(problem.n_classifiers)]
    return looked.front(walk.known, budget, numbers if names is None else list(names))


def mean_selection(problem: MeanFrontProblem, front: Front, mask: Mask) -> PrunedSelection:
    """Return a committee of a front as a selection, with its first value and what none can exceed."""
    value = problem.values[0]
    total, known = value.rate(value.tally(mask), int(mask.sum()))[0], front.extras["bounds"][0]
    shown = value.value(total)
    bound = float(known.get("at_most", known.get("at_least")))
    optimal = abs(bound - shown) <= max(value.tolerance, 1e-9)
    bound = shown if optimal else bound
    return value.result(mask, 0)(
        objective=value.objective,
        value=shown,
        bound=bound,
        status=Status.OPTIMAL if optimal else Status.FEASIBLE,
        proof=Proof(
            ProofKind.COMPLETE if optimal else ProofKind.APPROXIMATE,
            tolerances=(value.tolerance,) if value.tolerance else (),
            missing=(abs(bound - shown),),
            limit="" if optimal else front.proof.limit,
        ),
        seconds=front.seconds,
        proved_by=bound_of_front(known["proved_by"]),
    )


def _bounds(problem: MeanFrontProblem, budget: Budget) -> ValueBounds:
    """Prove how good each value can be by itself."""
    highest, proved_by, found = problem.highest(), [], list[Committee]()
    for place, value in enumerate(problem.values):
        part = budget.until((place + 1) / problem.n_values)
        result = prune_means(value.votes, value.goal, problem.limits, part)
        proved_by.append(result.proved_by)
        if result.reason:
            continue
        unit = scale_of(value.terms) * value.goal.denominator
        sign = -1 if value.objective.sense == "min" else 1
        highest[place] = min(highest[place], round(sign * result.bound * unit) + value.slack)
        found.append(Committee(result.mask, 0, problem.point(result.mask)))
    highest[-1] = highest[:-1].sum()
    return ValueBounds(highest, tuple(proved_by), found)


def _searched(problem: MeanFrontProblem, budget: Budget) -> Iterator[Mask]:
    """Look for good committees of some sizes, which proves nothing."""
    for most in SIZES_SEARCHED:
        for value in problem.values:
            if budget.stopped or not problem.limits.min_size <= most <= problem.limits.max_size:
                continue
            budget.tell("searching")
            offered: list[Mask] = []
            limited = MeanProblem(
                value.votes, value.goal, selection_limits(problem.n_classifiers, min_size=1, max_size=most)
            )
            search_means(limited, _keeper(limited, offered), budget, MeanEffort(kicks=0))
            yield from (mask for mask in offered if mask.sum() >= problem.limits.min_size)


def _keeper(problem: MeanProblem, offered: list[Mask]) -> Callable[[Mask], int | None]:
    def offer(mask: Mask) -> int | None:
        if not problem.limits.satisfied_by(mask):
            return None
        offered.append(mask)
        return problem.rate(problem.tally(mask), int(mask.sum()))[0]

    return offer


Branches: TypeAlias = Iterator["Branches"]
"""Ways on from a committee that is not complete, in the order in which they are to be tried."""


class _MeanWalk:
    """The committees so far that no other dominates, and the walk over those of a size."""

    def __init__(
        self, problem: MeanFrontProblem, budget: Budget, starts: Sequence[Committee], max_nodes: int | None
    ) -> None:
        self.problem, self.budget, self.max_nodes = problem, budget, max_nodes
        self.nodes, self.stopped = 0, False
        self.known: list[Committee] = []
        self._points = np.zeros((0, len(problem.objectives)), dtype=np.int64)
        self.order = np.argsort(problem.prices.sum(axis=0), kind="stable")
        for start in starts:
            self.offer(start.mask)

    def offer(self, mask: Mask) -> None:
        """Keep a committee unless another one is as good everywhere."""
        point = self.problem.point(mask)
        if not self._covers(point[None])[0]:
            self.known.append(Committee(mask, 0, point))
            kept = nondominated_unique(np.array([one.point for one in self.known]))
            self.known = [self.known[i] for i in np.flatnonzero(kept).tolist()]
            self._points = np.array([one.point for one in self.known])

    def size(self, size: int, on_news: Callable[[], None]) -> None:
        """Walk over all committees of a size."""
        order, prices = self.order, self.problem.prices[:, self.order]
        lines = [self._line(value, size) for value in self.problem.values if not self.budget.stopped]
        if self.budget.stopped:
            self.stopped = True
            return
        self._on_news = on_news
        self._constants = np.array([constant for constant, _ in lines])
        self._gains = np.array([gains[order] for _, gains in lines]).reshape(-1, len(order))
        self._most = np.array([_suffix_sums(-gains, size) for gains in self._gains])
        self._least = np.array([_suffix_sums(price.astype(float), size) for price in prices])
        self._prices = prices
        nothing = np.zeros(len(self.problem.values)), np.zeros(len(prices), dtype=np.int64)
        branches = [self._branches([], 0, size, *nothing)]
        while branches and not self.stopped:
            deeper = next(branches[-1], None)
            if deeper is None:
                branches.pop()
            else:
                branches.append(deeper)

    def _branches(
        self, chosen: list[int], start: int, left: int, gained: Floats, spent: NDArray[np.int64]
    ) -> "Branches":
        """Try every further member from `start` on, and yield those of whom something undominated can come.

        Each comes as what is to be tried with it, one after the other: a committee may have more members than
        calls may be nested.
        """
        places = np.arange(start, len(self.order) - left + 1)
        self.nodes += len(places)
        if self.budget.stopped or (self.max_nodes is not None and self.nodes > self.max_nodes):
            self.stopped = True
            return
        worth = gained[:, None] + self._gains[:, places] - self._most_of(places + 1, left - 1)
        points = np.empty((len(places), len(self.problem.objectives)), dtype=np.int64)
        for v, value in enumerate(self.problem.values):
            whole = [value.whole_bound(one) for one in (self._constants[v] + worth[v]).tolist()]
            points[:, v] = -np.array(whole, dtype=np.int64)
        paid = spent[:, None] + self._prices[:, places]
        least = paid if left == 1 else paid + np.rint(self._least_of(places + 1, left - 1)).astype(np.int64)
        points[:, self.problem.n_values :] = least.T
        for i in np.flatnonzero(~self._covers(points)).tolist():
            members = [*chosen, int(places[i])]
            if left == 1:
                mask = np.zeros(len(self.order), dtype=bool)
                mask[self.order[members]] = True
                self.offer(mask)
                continue
            if self._covers(points[i : i + 1])[0]:  # by what was found since
                continue
            if left == 2:
                self._on_news()
            added = gained + self._gains[:, places[i]]
            yield self._branches(members, int(places[i]) + 1, left - 1, added, paid[:, i])

    def _most_of(self, places: NDArray[np.intp], left: int) -> Floats:
        """Return minus the most that so many from each place on gain, ``(n_values, n_places)``."""
        return self._most[:, left, places] if len(self._most) else np.zeros((0, len(places)))

    def _least_of(self, places: NDArray[np.intp], left: int) -> Floats:
        """Return the least that so many from each place on cost, ``(n_prices, n_places)``."""
        return self._least[:, left, places] if len(self._least) else np.zeros((0, len(places)))

    def _covers(self, points: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark points that a known one is no worse than in anything."""
        as_good = np.all(self._points[None] <= points[:, None], axis=2)
        return np.asarray(np.any(as_good, axis=1), dtype=bool)

    def _line(self, value: MeanProblem, size: int) -> tuple[float, Floats]:
        """Return a constant, and gains whose sum over members bounds what so many are worth."""
        terms, n = value.terms, value.n_classifiers
        if not len(terms.worth):
            return 0.0, np.zeros(n)
        unit, fixed = size * terms.whole, np.full(n, FREE, dtype=np.uint8)
        envelopes = Envelopes(*(np.zeros(terms.columns.shape[1]) for _ in range(4)))
        if terms.kind >= SIGMOID:
            find_envelopes(terms, unit, fixed, size, 1.0, envelopes)
        found = FoundTangents(
            np.zeros(n), np.zeros(len(terms.worth), dtype=np.int64), np.zeros(len(terms.worth))
        )
        parts, whole = np.full(n, size / n), float(terms.worth.sum())
        bound = better_tangents(terms, Looked(unit, fixed, size, 1, -np.inf), envelopes, parts, found)
        for near in AIMED_BELOW:
            if self.budget.stopped:
                break  # those that were found hold
            looked = Looked(unit, fixed, size, TANGENT_STEPS, bound - near * whole)
            bound = better_tangents(terms, looked, envelopes, parts, found)
        return float(bound - np.sort(found.gains)[n - size :].sum()), found.gains


def _suffix_sums(numbers: Floats, most: int) -> Floats:
    """Return the least sum of so many of the numbers from each place on, ``(most + 1, n + 1)``."""
    n = len(numbers)
    sums = np.full((most + 1, n + 1), np.inf)
    sums[0] = 0.0
    for start in range(n):
        ranked = np.sort(numbers[start:])[:most].cumsum()
        sums[1 : len(ranked) + 1, start] = ranked
    return sums
