"""The best mean of probabilities, with proof: branch and bound over sizes and members.

The worth of a row is a concave function of its mean, and the largest sum over all fractions of members bounds
every selection. A tangent of each function makes that sum linear, and the members that gain most are its
largest: the bound that a certificate shows. As means do not grow with the number of members, what bounds one
size with members in parts bounds all larger sizes too.
"""

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Bytes, Floats, Mask
from shortlist.ensembles.averaging._tangent_kernels import (
    FREE,
    IN,
    OUT,
    FoundTangents,
    Looked,
    MeanTerms,
    better_tangents,
    take_tangents,
)
from shortlist.ensembles.averaging.mean_problem import MeanProblem, Tangents
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.proofs.incumbent import Incumbent
from shortlist.runs.budget import Budget


@dataclass(frozen=True, kw_only=True)
class RoundSettings:
    """How rounds go on."""

    joining: int = 24
    """Classifiers that join in a round, those that gain most."""
    rounds: int = 30
    """Most rounds."""
    steps: int = 200
    """Steps of a round among few classifiers."""
    near: float = 0.02
    """Share of the distance to the target by which the bound may be above what the parts reach."""


def tangents_in_rounds(
    terms: MeanTerms,
    looked: Looked,
    parts: Floats,
    found: FoundTangents,
    *,
    stopped: Callable[[], bool],
    settings: RoundSettings | None = None,
) -> float:
    """Look for tangents of low bound, as :func:`better_tangents` does, and return that bound.

    A round takes O(n_terms · n_classifiers) time once, and O(n_terms · n_few) for each of its steps.

    `terms`, `looked`: as of the kernel; its number of steps is that of the settings here.
    `parts`: how far each classifier is in, which is improved, ``(n_classifiers,)``; few of them should be
    above 0. `found`: gets the best tangents. `stopped`: asked after every round, of which there is one at
    least.
    """
    settings = settings or RoundSettings()
    now = FoundTangents(found.gains.copy(), found.tilts.copy())
    best = _priced(terms, looked, parts, found)
    for _ in range(settings.rounds):
        if best <= looked.target or stopped():
            break
        few = few_of(parts, found.gains, looked.fixed == FREE, settings.joining)
        part, own = terms._replace(columns=np.ascontiguousarray(terms.columns[few])), parts[few]
        among = looked._replace(fixed=looked.fixed[few], n_steps=settings.steps)
        apart = FoundTangents(np.empty(len(few)), np.empty_like(found.tilts))
        better_tangents(part, among, own, apart)
        parts[few] = own
        reach = own @ part.columns
        reached = take_tangents(part, looked.unit, reach, apart.tilts)
        bound = _priced(terms, looked, parts, now)
        if bound < best:
            best = bound
            for to, of in zip(found, now, strict=True):
                to[:] = of
        if best - reached < settings.near * (best - looked.target):
            break
    return float(best)


def few_of(parts: Floats, gains: Floats, free: NDArray[np.bool_], n_joining: int) -> NDArray[np.intp]:
    """Return the places with a part, and the others that gain most, increasing.

    >>> few_of(np.array([0.5, 0, 0, 0.5]), np.array([1.0, 3, 2, 4]), np.ones(4, dtype=bool), 1).tolist()
    [0, 1, 3]
    """
    others = np.flatnonzero(free & (parts == 0))
    joining = others[np.argsort(-gains[others], kind="stable")[:n_joining]]
    return np.sort(np.concatenate([np.flatnonzero(parts > 0), joining]))


def _priced(terms: MeanTerms, looked: Looked, parts: Floats, found: FoundTangents) -> float:
    """Bound all classifiers by the tangents where the parts are; one step may change these after that."""
    return float(better_tangents(terms, looked._replace(n_steps=1), parts, found))


BRANCHES = "branch and bound"
"""Name of the method that proved the bound."""


@dataclass(frozen=True, kw_only=True)
class MeanSettings:
    """How large a proof may become."""

    first_steps: int = 1_000
    steps: int = 60
    """Steps for the bound of sizes, and for that of a node below them."""
    most_open: int = 300_000
    """Open nodes at which a proof gives up."""
    most_numbers: int = 30_000_000
    """Numbers under the tangents of a certificate: with more it would take minutes to recheck, and there is
    none.
    """
    news_seconds: float = 0.1
    """Seconds between two entries of the history where only the bound has changed."""
    large_numbers: int = 6_000_001
    """Numbers of a table from which on a bound is looked for among few classifiers at a time."""


@dataclass(frozen=True, eq=False)
class _Node:
    """Selections of `first` to `last` members that are not ruled out; `parts` is where its bound begins.

    `above` are tangents that bound more sizes, these among them; None at the root, and where members are
    decided.
    """

    first: int
    last: int
    fixed: Bytes
    parts: Floats
    bound: float
    above: Tangents | None = None


@dataclass(eq=False)
class MeanTree:
    """Open nodes by their bounds, the largest first."""

    problem: MeanProblem
    """What is to be proved."""
    best: Incumbent
    """Keeps the best selection and the bound."""
    budget: Budget
    """With a limit in nodes alone the answer depends on nothing but the problem."""
    on_news: Callable[[], None]
    """Called whenever the best selection or the bound changed."""
    settings: MeanSettings = field(default_factory=MeanSettings)
    """How large the proof may become."""
    n_nodes: int = 0
    """Nodes that were bounded."""
    cover: list[Tangents] = field(default_factory=list)
    """Every size, with what bounds it before any classifier is decided."""
    heap: list[tuple[float, int, _Node]] = field(default_factory=list)
    ruled_out: int = -(2**62)

    def __post_init__(self) -> None:
        terms = self.problem.terms
        self.is_large = terms.columns.size >= self.settings.large_numbers  # then few are looked at at a time
        self._found = FoundTangents(np.zeros(self.problem.n_classifiers), np.zeros(len(terms.aims)))
        self._count = itertools.count()
        self._root: _Node | None = None

    @property
    def leaders(self) -> NDArray[np.intp]:
        """The classifiers that have a part where the last bound was found, those of the largest first."""
        parts = np.zeros(self.problem.n_classifiers) if self._root is None else self._root.parts
        order = np.lexsort((-self._found.gains, -parts))
        return order[: int((parts > 0).sum())]

    def bound_all(self, budget: Budget) -> None:
        """Bound all sizes at once, before anything else; :meth:`grow` goes on from there."""
        root = self._whole()
        if root is not None:
            bound = self._bound(root, budget)
            self._root = replace(root, bound=bound)
            self.best.lower_bound_to(self.problem.whole_bound(bound), BRANCHES)
            self.on_news()

    def grow(self) -> str:
        """Open nodes until value and bound meet; return what ended that before, or nothing."""
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
        self.on_news()

    def _open(self, node: _Node) -> None:
        of_sizes = self._is_of_sizes(node)
        if not of_sizes and self._is_ruled_out(node.bound):
            return
        bound = self._bound(node)
        self.n_nodes += 1
        self.best.offer(self._rounded(node))
        done = self._is_ruled_out(bound)
        if of_sizes and not done and node.first < node.last:
            below, above = min(node.bound, bound), self._tangents(node, bound)
            grown = _repaired(node.fixed, node.parts, node.first + 1, few=self.is_large)
            self._push(replace(node, last=node.first, bound=below, above=above))
            self._push(replace(node, first=node.first + 1, parts=grown, bound=below, above=above))
            return
        if of_sizes:
            self.cover.append(self._tangents(node, bound))
        if not done:
            self._split(node, bound)

    def _rounded(self, node: _Node) -> Mask:
        """Return the members of a node with the largest parts, as far as they can be paid."""
        order = np.lexsort((-self._found.gains, -node.parts))
        order = order[node.fixed[order] != OUT]
        return affordable(self.problem.limits, len(node.fixed), order, node.first)

    def complete_cover(self) -> tuple[Tangents, ...]:
        """Return tangents for every size; nothing where those would be too many to recheck.

        Sizes that a limit has left open are bounded as they were with others, so that it takes no time.
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
        """Whether no classifier is decided yet, but those that exceed the budget."""
        limits = self.problem.limits
        out = np.zeros(len(node.fixed), dtype=bool) if limits.costs is None else limits.costs > limits.budget
        return bool((node.fixed == np.where(out, OUT, FREE)).all())

    def _bound(self, node: _Node, budget: Budget | None = None) -> float:
        """Return a bound of a node; its tangents are left in the tree's arrays, and its parts changed."""
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

    def _split(self, node: _Node, bound: float) -> None:
        """Decide a classifier, in or out, after those whose exchange would cost too much."""
        fixed = node.fixed.copy()
        free = np.flatnonzero(fixed == FREE)
        need = node.first - int((fixed == IN).sum())
        if need in {0, len(free)}:
            return  # a single selection, which was offered
        if self.best.mask is not None:
            self._fix_by_exchanges(fixed, free, need, bound)
        bound = min(bound, node.bound)
        if self.best.mask is not None:
            free = np.flatnonzero(fixed == FREE)
            need = node.first - int((fixed == IN).sum())
        parts = _repaired(fixed, node.parts, node.first, few=self.is_large)
        if need in {0, len(free)}:
            self._push(_Node(node.first, node.last, fixed, parts, bound))
            return
        scale = np.abs(self._found.gains[free]).max() or 1.0
        undecided = np.minimum(parts[free], 1 - parts[free]) + 1e-6 * self._found.gains[free] / scale
        pick = int(free[undecided.argmax()])
        for side in (IN, OUT):
            child = fixed.copy()
            child[pick] = side
            repaired = _repaired(child, parts, node.first, few=self.is_large)
            self._push(_Node(node.first, node.last, child, repaired, bound))

    def _fix_by_exchanges(self, fixed: Bytes, free: NDArray[np.intp], need: int, bound: float) -> None:
        """Decide whom to exchange for the next one would cost more than lies between bound and value."""
        order = free[np.argsort(-self._found.gains[free], kind="stable")]
        last_in, first_out = self._found.gains[order[need - 1]], self._found.gains[order[need]]
        slack = bound - self.problem.worth_to_beat(self.best.total)
        gains = self._found.gains[order]
        fixed[order[:need][gains[:need] - first_out > slack]] = IN
        fixed[order[need:][last_in - gains[need:] > slack]] = OUT


def affordable(limits: SelectionLimits, n_classifiers: int, order: NDArray[np.intp], most: int) -> Mask:
    """Return at most that number of members, the first in an order that can be paid.

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


def _repaired(fixed: Bytes, parts: Floats, size: int, *, few: bool) -> Floats:
    """Return parts that agree with what is decided and add up to the size, near to those given.

    With `few`, who has none gets one only where those who have one leave no room.
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
