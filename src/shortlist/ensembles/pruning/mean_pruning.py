"""Selection of the members with the best mean of probabilities, with proof.

The method is branch and bound over sizes and members. The value of a row is a concave function of its mean,
so the largest sum over fractional members bounds every selection. If each function is replaced by a tangent,
the sum is linear, and the members with the largest gains maximise it; this maximum is the bound in a
certificate. A mean of more members is a mean of means of fewer members. So a bound for one size with
fractional members is valid for all larger sizes too.
"""

import dataclasses
import heapq
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Bytes, Floats, Mask
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.proofs.incumbent import Incumbent, KeptBest
from shortlist.ensembles.pruning._tangent_kernels import (
    FREE,
    IN,
    OUT,
    FoundTangents,
    Looked,
    better_tangents,
    tangents_in_rounds,
)
from shortlist.ensembles.pruning.mean_problem import (
    MeanGoal,
    MeanProblem,
    Tangents,
    asks_for_choice,
    few_members,
    mean_certificate,
    mean_goal,
    total_of,
)
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget

BRANCHES = "branch and bound"
"""Name of branch and bound as the prover of a bound."""

TANGENTS = "tangents"
"""Name of the prover of a bound that the certificate alone proves."""

FIRST_BOUND_SHARE = 0.3
"""Share of the time left for the first bound of a large table; classifiers with a part in the bound are then
tried.
"""

PRICE_STEPS, GOLDEN = 24, (5**0.5 - 1) / 2
"""Number of steps in the search for the price of a unit of the budget, and share of the search interval that
each step keeps.
"""

WHY_SMALL = "tangents bound means of members", "decision 25"
WHY_LARGE = "a large table is bounded by few columns at a time", "decision 40"
"""Reason for this engine, and the measurement that supports it."""


@dataclass(frozen=True, kw_only=True)
class MeanSettings:
    """Settings on the size of a proof."""

    first_steps: int = 1_000
    steps: int = 60
    """Number of steps for the bound of a range of sizes, and for the bound of a node below it."""
    most_open: int = 300_000
    """Largest number of open nodes; the proof is given up beyond it."""
    most_numbers: int = 30_000_000
    """Largest number of table entries under the tangents of a certificate. A larger certificate would take
    minutes to recheck, so none is made.
    """
    news_seconds: float = 0.1
    """Seconds between two entries of the history that differ in the bound alone."""
    large_numbers: int = 6_000_001
    """Number of table entries from which on the bound is computed among few classifiers at a time."""


def prune_means(
    votes: SoftVotes,
    goal: MeanGoal,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    settings: MeanSettings | None = None,
) -> PrunedSelection:
    """Return the selection within limits with the best mean probabilities, with proof.

    OPTIMAL: no selection is better by more than the tolerance in the proof. The tolerance is less than a
    billionth of the largest value of a row; for the Brier score with several classes, of a row and class.
    INFEASIBLE and UNKNOWN have a reason and no selection.

    `limits`: limits on size, at least one member, and on cost. The bound in the certificate is by tangents
    alone, which ignore the cost. `budget`: its limit in nodes counts nodes of the branch and bound; default
    no limit. `settings`: limits on the size of the proof.

    >>> from shortlist.ensembles.pruning.mean_problem import mean_goal
    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> from shortlist.ensembles.votes.soft_votes import soft_votes
    >>> votes = soft_votes([[[0.9, 0.1], [0.4, 0.6]], [[0.6, 0.4], [0.1, 0.9]]], [0, 1])
    >>> result = prune_means(votes, mean_goal("log-loss", votes), selection_limits(2))
    >>> result.mask.tolist(), str(result.status), round(result.value, 4)
    ([True, True], 'optimal', 0.4308)
    """
    budget = budget or Budget()
    limits = dataclasses.replace(limits, min_size=max(1, limits.min_size))
    tree = _MeanTree(MeanProblem(votes, goal, limits), budget, settings or MeanSettings())
    if conflict := limits.conflict():
        return tree.best.no_selection(Status.INFEASIBLE, limit="", seconds=budget.elapsed, reason=conflict)
    return tree.result()


def first_selections(problem: MeanProblem) -> list[Mask]:
    """Return the first selections to try: the full ensemble, and two selections of the least size.

    The two selections are the cheapest classifiers, and the best single classifiers that the budget allows.

    Takes O(n_terms · n_classifiers) time.
    """
    limits, n, terms = problem.limits, problem.n_classifiers, problem.terms
    alone = [total_of(terms, column.astype(np.int64), 1) for column in terms.columns]
    by_worth = np.argsort(-np.array(alone), kind="stable")
    by_cost = by_worth if limits.costs is None else np.argsort(limits.costs, kind="stable")
    fewest = [affordable(limits, n, order, limits.min_size) for order in (by_cost, by_worth)]
    return [np.ones(n, dtype=bool), *fewest]


def affordable(limits: SelectionLimits, n_classifiers: int, order: NDArray[np.intp], most: int) -> Mask:
    """Return the mask of at most `most` members that the budget allows, taken in `order`.

    A classifier is taken if its cost fits into the rest of the budget.

    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> limits = selection_limits(4, member_costs=[3, 2, 2, 1], max_cost=4)
    >>> affordable(limits, 4, np.array([0, 1, 2, 3]), 2).tolist()
    [True, False, False, True]
    """
    mask = np.zeros(n_classifiers, dtype=bool)
    if limits.costs is None:
        mask[order[:most]] = True
        return mask
    left = limits.budget
    for one in order.tolist():
        if most and limits.costs[one] <= left:
            mask[one], left, most = True, left - limits.costs[one], most - 1
    return mask


@dataclass(frozen=True, eq=False)
class _Node:
    """Selections of `first` to `last` members that are not ruled out yet.

    `parts`: start of the search for the node's bound. `above`: tangents for a range of sizes that includes
    `first` to `last`; None at the root, and for a node with decided members.
    """

    first: int
    last: int
    fixed: Bytes
    parts: Floats
    bound: float
    above: Tangents | None = None


class _MeanTree:
    """Open nodes sorted by their bounds, the largest first."""

    def __init__(self, problem: MeanProblem, budget: Budget, settings: MeanSettings) -> None:
        self.problem, self.budget, self.settings = problem, budget, settings
        self.best = Incumbent(problem)
        self.n_nodes, self.ruled_out = 0, -(2**62)
        self.cover: list[Tangents] = []  # every size, with what bounds it before any classifier is decided
        self.heap: list[tuple[float, int, _Node]] = []
        terms = problem.terms
        self.is_large = terms.columns.size >= settings.large_numbers  # then few are looked at at a time
        self._found = FoundTangents(np.zeros(problem.n_classifiers), np.zeros(len(terms.aims)))
        self._count = itertools.count()
        self._root: _Node | None = None

    def result(self) -> PrunedSelection:
        best, budget = self.best, self.budget
        for mask in first_selections(self.problem):
            best.offer(mask)
        self._tell()
        best.finder = BRANCHES
        if self.is_large:
            self._offer_leaders()
        limit = self._grow()
        cover = self._complete_cover()
        if cover and limit:  # claim what the tangents prove, where a limit came before that was claimed
            bound = max(self.problem.whole_bound(part.bound) for part in cover)
            if bound < best.bound:
                best.lower_bound_to(bound, TANGENTS)
        if budget.study.keeps:
            self._end_in_study()
        if not best.bound_by:  # the bound that it began with
            best.lower_bound_to(best.bound, BRANCHES)
        if best.mask is None:
            status = Status.UNKNOWN if limit else Status.INFEASIBLE
            return best.no_selection(status, limit=limit, seconds=budget.elapsed)
        result = best.selection(limit="" if best.proved else limit, seconds=budget.elapsed)
        why, measured = WHY_LARGE if self.is_large else WHY_SMALL
        result = replace(result, found_by=best.found_by, why=why, measured=measured)
        if not cover:
            return result
        certificate = mean_certificate(self.problem, result.mask, best.total, cover)
        certified = self.problem.value(max(certificate["bound"], best.total))
        proved_by = TANGENTS if certificate["bound"] <= best.bound else best.bound_by
        return replace(result, certificate=certificate, certified_bound=certified, proved_by=proved_by)

    def _end_in_study(self) -> None:
        """Offer the best selection of an earlier run, and note in the study if nothing is left to prove."""
        kept = KeptBest(self.best, self.budget)
        kept.take()
        if self.best.proved:
            kept.note_end()

    def _offer_leaders(self) -> None:
        """Bound a large table at once; then try the classifiers with a part in the bound, by rising size."""
        root = self._whole()
        if root is None:
            return
        bound = self._bound(root, self.budget.share(FIRST_BOUND_SHARE))
        self._root = replace(root, bound=bound)
        self.best.lower_bound_to(self.problem.whole_bound(bound), BRANCHES)
        self._tell()
        leaders = np.lexsort((-self._found.gains, -root.parts))[: int((root.parts > 0).sum())]
        for size in range(1, len(leaders) + 1):
            self.best.offer(affordable(self.problem.limits, self.problem.n_classifiers, leaders, size))

    def _tell(self) -> None:
        if self.budget.study.keeps:
            KeptBest(self.best, self.budget).keep()
        if self.best.record(self.budget.elapsed, every=self.settings.news_seconds):
            self.budget.tell("proving", value=self.best.value, bound=self.problem.value(self.best.bound))

    def _grow(self) -> str:
        """Open nodes until value and bound meet; return the limit that ended it earlier, or an empty text."""
        root = self._root or self._whole()
        if root is not None:
            self._push(root)
        while self.heap:
            if limit := self._limit:
                self._lower_bound()
                return limit
            self._open(heapq.heappop(self.heap)[2])
            self._lower_bound()
        return ""

    def _whole(self) -> _Node | None:
        limits, n = self.problem.limits, self.problem.n_classifiers
        fixed = np.full(n, FREE, dtype=np.uint8)
        if limits.costs is not None:
            fixed[limits.costs > limits.budget] = OUT
        n_free = int((fixed == FREE).sum())
        first, last = limits.min_size, min(limits.max_size, n_free)
        if first > last:
            return None
        parts = np.where(fixed == FREE, first / max(1, n_free), 0.0)
        if self.is_large and self.best.mask is not None:
            parts = first / self.best.mask.sum() * self.best.mask
        return _Node(first, last, fixed, parts, np.inf)

    @property
    def _limit(self) -> str:
        if self.budget.stopped:
            return self.budget.limit_text
        if self.budget.nodes is not None and self.n_nodes >= self.budget.nodes:
            return "nodes"
        most = self.settings.most_open
        return f"{most:,} open nodes" if len(self.heap) >= most else ""

    def _push(self, node: _Node) -> None:
        if not self._is_of_sizes(node) and self._is_ruled_out(node.bound):
            return
        heapq.heappush(self.heap, (-node.bound, next(self._count), node))

    def _is_ruled_out(self, bound: float) -> bool:
        if self.best.mask is None or bound > self.problem.worth_to_beat(self.best.total):
            return False
        self.ruled_out = max(self.ruled_out, self.problem.whole_bound(bound))
        return True

    def _lower_bound(self) -> None:
        if self.heap and np.isinf(self.heap[0][0]):
            return
        known = [self.ruled_out]
        if self.heap:
            known.append(self.problem.whole_bound(-self.heap[0][0]))
        if self.best.mask is not None:
            known.append(self.best.total)
        if max(known) > -(2**62):
            self.best.lower_bound_to(max(known), BRANCHES)
        self._tell()

    def _open(self, node: _Node) -> None:
        of_sizes = self._is_of_sizes(node)
        if not of_sizes and self._is_ruled_out(node.bound):
            return
        bound = self._bound(node)
        paid = min(node.bound, self._bound_within_budget(node, bound))
        self.n_nodes += 1
        self.best.offer(self._rounded(node))
        done = np.isneginf(paid) or self._is_ruled_out(paid)
        if of_sizes and not done and node.first < node.last:
            below, above = paid, self._tangents(node, bound)
            grown = _repaired(node.fixed, node.parts, node.first + 1, few=self.is_large)
            self._push(replace(node, last=node.first, bound=below, above=above))
            self._push(replace(node, first=node.first + 1, parts=grown, bound=below, above=above))
            return
        if of_sizes:
            self.cover.append(self._tangents(node, bound))
        if not done:
            self._split(node, bound, paid)

    def _rounded(self, node: _Node) -> Mask:
        """Return the mask of the members with the largest parts in a node that the budget allows."""
        order = np.lexsort((-self._found.gains, -node.parts))
        order = order[node.fixed[order] != OUT]
        return affordable(self.problem.limits, len(node.fixed), order, node.first)

    def _complete_cover(self) -> tuple[Tangents, ...]:
        """Return tangents for every size; an empty tuple if a certificate of them would be too large.

        A size that a limit left open gets the tangents of the range of sizes that it belongs to, which takes
        no time.
        """
        most = self.settings.most_numbers // self.problem.terms.columns.size
        for _, _, node in self.heap if most else ():
            if not self._is_of_sizes(node):
                continue
            above = node.above or self._tangents(node, self._bound(node))
            if not any(part is above for part in self.cover):
                self.cover.append(above)
        return tuple(self.cover) if len(self.cover) <= most else ()

    def _tangents(self, node: _Node, bound: float) -> Tangents:
        found = self._found
        return Tangents(node.first, node.last, found.tilts.copy(), bound)

    def _is_of_sizes(self, node: _Node) -> bool:
        """Return whether no classifier is decided in a node, except those that exceed the budget alone."""
        limits = self.problem.limits
        out = np.zeros(len(node.fixed), dtype=bool) if limits.costs is None else limits.costs > limits.budget
        return bool((node.fixed == np.where(out, OUT, FREE)).all())

    def _bound(self, node: _Node, budget: Budget | None = None) -> float:
        """Return the bound of a node; store its tangents in the tree, and change the parts of the node."""
        budget = budget or self.budget
        terms = self.problem.terms
        unit, need = node.first * terms.whole, node.first - int((node.fixed == IN).sum())
        known = self.best.mask is not None
        target = self.problem.worth_to_beat(self.best.total) if known else -1e6 * len(terms.aims)
        steps = self.settings.first_steps if self._is_of_sizes(node) else self.settings.steps
        steps = 1 if budget.stopped else steps
        looked = Looked(unit, node.fixed, need, steps, target)
        if self.is_large:
            return tangents_in_rounds(terms, looked, node.parts, self._found, stopped=lambda: budget.stopped)
        return float(better_tangents(terms, looked, node.parts, self._found))

    def _bound_within_budget(self, node: _Node, bound: float) -> float:
        """Return a bound on the selections of a node that the budget allows, by its tangents.

        The bound is -inf if the budget allows no selection.

        Each unit of the budget gets a price, so that the largest sum of tangents is again found by sorting.
        """
        limits = self.problem.limits
        free, need = node.fixed == FREE, node.first - int((node.fixed == IN).sum())
        if limits.costs is None or need <= 0:
            return bound
        gains, costs = self._found.gains[free], limits.costs[free].astype(np.float64)
        left = limits.budget - int(limits.costs[node.fixed == IN].sum())
        if np.sort(costs)[:need].sum() > left:
            return -np.inf

        def most(price: float) -> float:
            return float(np.sort(gains - price * costs)[len(gains) - need :].sum() + price * left)

        without = most(0.0)
        low, high = 0.0, 2.0 * float(np.ptp(gains)) * need / max(1.0, left)
        for _ in range(PRICE_STEPS):
            one, other = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            low, high = (low, other) if most(one) <= most(other) else (one, high)
        return bound - without + min(without, most((low + high) / 2))

    def _split(self, node: _Node, bound: float, paid: float) -> None:
        """Split a node into one in which a classifier joins and one in which it stays out.

        Before the split, classifiers are decided by :meth:`_fix_by_exchanges`. `bound`: bound by the
        tangents. `paid`: bound on the selections that the budget allows.
        """
        fixed = node.fixed.copy()
        free = np.flatnonzero(fixed == FREE)
        need = node.first - int((fixed == IN).sum())
        if need in {0, len(free)}:
            return  # a single selection, which was offered
        if self.best.mask is not None:
            self._fix_by_exchanges(fixed, free, need, bound)
        if self.best.mask is not None:
            free = np.flatnonzero(fixed == FREE)
            need = node.first - int((fixed == IN).sum())
        parts = _repaired(fixed, node.parts, node.first, few=self.is_large)
        if need in {0, len(free)}:
            self._push(_Node(node.first, node.last, fixed, parts, paid))
            return
        scale = np.abs(self._found.gains[free]).max() or 1.0
        undecided = np.minimum(parts[free], 1 - parts[free]) + 1e-6 * self._found.gains[free] / scale
        pick = int(free[undecided.argmax()])
        for side in (IN, OUT):
            child = fixed.copy()
            child[pick] = side
            repaired = _repaired(child, parts, node.first, few=self.is_large)
            self._push(_Node(node.first, node.last, child, repaired, paid))

    def _fix_by_exchanges(self, fixed: Bytes, free: NDArray[np.intp], need: int, bound: float) -> None:
        """Decide each classifier whose exchange would lower the bound below the value."""
        order = free[np.argsort(-self._found.gains[free], kind="stable")]
        last_in, first_out = self._found.gains[order[need - 1]], self._found.gains[order[need]]
        slack = bound - self.problem.worth_to_beat(self.best.total)
        gains = self._found.gains[order]
        fixed[order[:need][gains[:need] - first_out > slack]] = IN
        fixed[order[need:][last_in - gains[need:] > slack]] = OUT


def _repaired(fixed: Bytes, parts: Floats, size: int, *, few: bool) -> Floats:
    """Return parts close to `parts` that agree with the decided classifiers and add up to `size`.

    With `few`, a classifier without a part gets a part only if the other classifiers cannot take it.
    """
    repaired = np.where(fixed == IN, 1.0, np.where(fixed == OUT, 0.0, parts))
    free = np.flatnonzero(fixed == FREE)
    excess = repaired.sum() - size
    if not len(free):
        return repaired
    room = repaired[free] if excess > 0 else 1 - repaired[free]
    if few and excess < 0:
        own = repaired[free] > 0
        others = np.flatnonzero(~own)
        lacking = int(np.ceil(max(0.0, -excess - room[own].sum())))
        own[others[:lacking]] = True
        room = np.where(own, room, 0.0)
    if room.sum() > 0:
        repaired[free] -= np.sign(excess) * room * min(1.0, abs(excess) / room.sum())
    return np.clip(repaired, 0.0, 1.0)


def prune_soft(
    votes: SoftVotes,
    objective: str | Mapping[Any, float],
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    positive: int | None = None,
) -> tuple[PrunedSelection, MeanGoal, SelectionLimits]:
    """Return the selection with the best mean probabilities, the goal, and the limits on the selection.

    Raises BadInputError if the objective cannot be used.

    `objective`: as for :func:`shortlist.ensembles.pruning.mean_problem.mean_goal`. For ``auto``, or a name
    ending with ``+auto``, the limits on size are those of :func:`few_members`. `limits`: limits on size and
    cost. `positive`: index of the positive class of two.
    """
    budget = budget or Budget()
    if asks_for_choice(objective):
        limits = few_members(limits, votes.n_classifiers)
    goal = mean_goal(objective, votes, positive=positive)
    return prune_means(votes, goal, limits, budget), goal, limits
