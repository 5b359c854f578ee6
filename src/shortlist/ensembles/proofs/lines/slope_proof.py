"""The best sum of sigmoids of margins, with proof: branch and bound over sizes, thresholds and members.

A node is a size, a range of thresholds, and classifiers that are in or out. Lines above the rows' worths
bound it (:mod:`shortlist.ensembles.proofs.lines.line_bounds`): the worth of all rows is then linear, and the
members that gain most are its largest. That bound is as tight as the linear relaxation of the integer program
with one binary per row and distance (:mod:`shortlist.ensembles.proofs.lines.slope_program`), and takes a
small part of the time (docs/decisions/0009).
"""

import dataclasses
import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.proofs.incumbent import Incumbent
from shortlist.ensembles.proofs.lines._kernels import FREE, IN, OUT
from shortlist.ensembles.proofs.lines.line_bounds import LineBounds, Tilts, TreePart, affordable
from shortlist.ensembles.proofs.lines.slope_rows import SlopeRows, first_bounds
from shortlist.ensembles.proofs.lines.slope_settings import SlopeSettings
from shortlist.runs.budget import Budget

LINES = "branch and bound"
"""Whose the bound is."""


@dataclass(frozen=True, eq=False)
class Lines:
    """Tilts of lines that bound the selections of one size with thresholds from `first` to `last`.

    Attributes
    ----------
    size, first, last : int
    tilts : ndarray of int32, shape (n_forms,)
        How steep each line is.
    bound : int
        What they prove of these selections.
    """

    size: int
    first: int
    last: int
    tilts: Tilts
    bound: int


@dataclass(frozen=True, eq=False)
class Grown:
    """What a proof came to, beside what the incumbent keeps.

    Attributes
    ----------
    nodes : int
        Nodes that were bounded.
    limit : str
        What stopped the proof before its end: ``"seconds"``, ``"nodes"``, ``"interrupted"`` or a number of
        open nodes; else empty. With an empty limit and no selection there is none.
    cover : tuple of Lines
        Every threshold of every size once, with what bounds it before any classifier is decided: a part of
        the proof that can be rechecked. Empty where the proof was stopped before it had one, or where it
        would be larger than the settings allow.
    """

    nodes: int
    limit: str
    cover: tuple[Lines, ...] = ()


@dataclass(frozen=True, eq=False)
class _Node(TreePart):
    """Selections that are not ruled out.

    `tilts` are None before it is bounded, `pick` is the classifier to decide next.
    """

    tilts: Tilts | None = None
    pick: int = -1
    decided: bool = False
    """Whether any classifier is."""


@dataclass(frozen=True, eq=False)
class _Bounded:
    """What bounding a node found.

    It is the node again, unless nothing is left in it, and a selection that keeps the limits.
    """

    bound: int
    node: _Node | None
    mask: Mask | None = None
    threshold: int = 0
    total: int = 0


def prove_slope(
    rows: SlopeRows,
    best: Incumbent,
    budget: Budget,
    *,
    on_news: Callable[[], None] | None = None,
    settings: SlopeSettings | None = None,
) -> Grown:
    """Find the selection and threshold that are worth most, and prove it as far as the limits allow.

    Parameters
    ----------
    rows : SlopeRows
        The problem. Cost and diversity limits are kept by the selections and left out of the bounds, which
        keeps these valid.
    best : Incumbent
        Keeps the best selection and the bound, in the unit of :meth:`SlopeRows.rate`.
    budget : Budget
        With a limit in nodes alone the answer depends on nothing but the problem and the selection at the
        beginning. As many nodes are bounded side by side as there are threads, at most eight, which changes
        no answer.
    on_news : callable, optional
        Called whenever the best selection or the bound changed.
    settings : SlopeSettings, optional
        How many steps a bound gets, and how large the proof may become.

    Notes
    -----
    A step for a lower bound takes O(n_forms · (n_classifiers + log n_classifiers)) time, a node 30 of them at
    most.
    """
    return _Tree(rows, best, budget, on_news, settings or SlopeSettings()).grow()


@dataclass(eq=False)
class _Tree:
    """Open nodes by their bounds, the largest first.

    Until one threshold of the best size is all that a node has, thresholds are split and no classifier is
    decided; `closed` keeps what is ruled out meanwhile, for the cover.
    """

    rows: SlopeRows
    best: Incumbent
    budget: Budget
    on_news: Callable[[], None] | None
    settings: SlopeSettings
    n_bounded: int = 0
    heap: list[tuple[int, int, _Node]] = field(default_factory=list)
    roots: dict[int, Tilts] = field(default_factory=dict)
    closed: list[_Node] = field(default_factory=list)
    cover: tuple[Lines, ...] | None = None
    news: tuple[int | None, int] = (None, -1)

    def __post_init__(self) -> None:
        self._count = itertools.count()
        self._twins: NDArray[np.int64] | None = None
        settings = self.settings
        n_spaces = min(self.budget.threads, 2 * settings.batch)
        self._spaces = [LineBounds(self.rows, settings.block_votes) for _ in range(n_spaces)]
        self._most_stored = settings.stored_tilts // max(1, self.rows.forms.n_forms)

    def grow(self) -> Grown:
        """Split thresholds, note the cover, then open nodes until value and bound meet."""
        fixed, bounds = affordable(self.rows), first_bounds(self.rows)
        for size in range(self.rows.limits.min_size, self.rows.limits.max_size + 1):
            self._push(int(bounds[size]), _Node(size, 0, size if self.rows.has_threshold else 0, fixed))
        limit = ""
        with ThreadPoolExecutor(len(self._spaces)) as workers:
            for has_cover in (False, True):
                while self._is_open and not limit:
                    self._tell()
                    limit = self._limit
                    if not limit:
                        self._open(workers)
                if not (has_cover or limit):
                    self.cover = self._covered()
        self._tell()
        return Grown(self.n_bounded, limit, self.cover or ())

    def _covered(self) -> tuple[Lines, ...]:
        """Return lines for every threshold of every size, from the nodes so far.

        Nothing where that is too much or too late.
        """
        nodes = [node for _, _, node in self.heap] + self.closed
        self.closed = []
        most = self.settings.most_lines
        space, target, fixed = self._spaces[0], self._bound, affordable(self.rows)
        queue = [(dataclasses.replace(node, fixed=fixed), node.tilts is None) for node in nodes]
        cover: list[Lines] = []
        while queue:
            if self.budget.stopped or (len(queue) + len(cover)) * self.rows.forms.signs.size > most:
                return ()
            node, is_new = queue.pop()
            if node.need > node.n_free:
                continue
            tilts = node.tilts
            if tilts is None or is_new:  # a size that its first bound ruled out, or a part of it
                tilts = space.better_tilts(node, tilts, self.settings.first_steps, self.budget, value=target)
            bound, _ = space.by_tilts(node, tilts)
            if is_new and bound > target and node.first < node.last:
                queue += [(child, True) for child in self._children(dataclasses.replace(node, tilts=tilts))]
            else:
                cover.append(Lines(node.size, node.first, node.last, tilts, bound))
        return tuple(cover)

    @property
    def _bound(self) -> int:
        """The largest total that is not ruled out."""
        return max(-self.heap[0][0] if self.heap else 0, self.best.total)

    @property
    def _is_open(self) -> bool:
        """Whether the next node may hold something better, and is to be opened before there is a cover."""
        if not self.heap or (self.best.mask is not None and -self.heap[0][0] <= self.best.total):
            return False
        top = self.heap[0][2]
        return self.cover is not None or top.tilts is None or top.first < top.last

    @property
    def _limit(self) -> str:
        """What ends the proof before its end, if a limit is reached."""
        budget, most_open = self.budget, self.settings.most_open
        if budget.stopped:
            return budget.limit_text
        if budget.nodes is not None and self.n_bounded >= budget.nodes:
            return "nodes"
        return f"{most_open:,} open nodes" if len(self.heap) >= most_open else ""

    def _tell(self) -> None:
        """Note the bound, and report it and the best total if they changed."""
        self.best.lower_bound_to(self._bound, LINES)
        news = (None if self.best.mask is None else self.best.total, self.best.bound)
        if self.on_news is not None and news != self.news:
            self.news = news
            self.on_news()

    def _push(self, bound: int, node: _Node) -> None:
        heapq.heappush(self.heap, (-bound, next(self._count), node))

    def _open(self, workers: ThreadPoolExecutor) -> None:
        """Bound the children of the nodes with the largest bounds."""
        jobs: list[tuple[int, _Node]] = []
        for _ in range(self.settings.batch):
            if not self._is_open:
                break
            bound, _, node = heapq.heappop(self.heap)
            jobs += [(-bound, child) for child in self._children(node)]
        shares = [jobs[i :: len(self._spaces)] for i in range(len(self._spaces))]
        run = workers.map if len(shares) > 1 else map
        answers = list(run(self._bound_all, self._spaces, shares))
        self.n_bounded += len(jobs)
        for i in range(len(jobs)):
            self._take(answers[i % len(shares)][i // len(shares)])

    def _take(self, found: _Bounded) -> None:
        """Keep a selection if it is better, and a node if it may hold a better one."""
        if found.mask is not None:
            self.best.take(found.mask, found.threshold, found.total)
        node = found.node
        if node is None:
            return
        one_selection = node.first == node.last and node.pick < 0
        if one_selection or (self.best.mask is not None and found.bound <= self.best.total):
            if self.cover is None:
                self.closed.append(node)
            return
        if node.tilts is not None and node.first == 0 and node.last == node.size:
            self.roots[node.size] = node.tilts
        elif node.tilts is not None and len(self.heap) > self._most_stored:
            node = dataclasses.replace(node, tilts=self.roots[node.size])
        self._push(found.bound, node)

    def _children(self, node: _Node) -> Iterator[_Node]:
        """Split the thresholds, then decide a classifier; equal classifiers join in their order.

        A node unbounded is its own child.
        """
        if node.tilts is None:
            yield node
        elif node.first < node.last:
            between = (node.first + node.last) // 2
            yield dataclasses.replace(node, last=between)
            yield dataclasses.replace(node, first=between + 1)
        else:
            if self._twins is None:
                self._twins = twins(self.rows)
            places = np.arange(len(node.fixed))
            equal = (self._twins == self._twins[node.pick]) & (node.fixed == FREE)
            for state, which in ((IN, places <= node.pick), (OUT, places >= node.pick)):
                fixed = node.fixed.copy()
                fixed[equal & which] = state
                yield dataclasses.replace(node, fixed=fixed, decided=True)

    def _bound_all(self, space: LineBounds, jobs: Sequence[tuple[int, _Node]]) -> list[_Bounded]:
        """Bound some nodes, one after the other.

        Those that there is no time for keep the bound that they have.
        """
        return [
            _Bounded(most, node) if self.budget.stopped else self._bound_node(space, most, node)
            for most, node in jobs
        ]

    def _bound_node(self, space: LineBounds, most: int, node: _Node) -> _Bounded:
        """Bound a node, decide what the bound decides, and look at the selection that the bound prefers."""
        limits = self.rows.limits
        if limits.costs is not None:
            left = limits.budget - int(limits.costs[node.fixed == IN].sum())
            if left < 0:
                return _Bounded(most, None)
            too_dear = (node.fixed == FREE) & (limits.costs > left)
            node = dataclasses.replace(node, fixed=np.where(too_dear, np.uint8(OUT), node.fixed))
        need, n_free = node.need, node.n_free
        if not 0 <= need <= n_free:
            return _Bounded(most, None)
        if node.decided and need in {0, n_free}:
            return self._tried(most, None, (node.fixed == IN) | ((node.fixed == FREE) & (need > 0)))
        value = None if self.best.mask is None else self.best.total
        n_steps = self.settings.first_steps if node.tilts is None else self.settings.steps
        tilts = space.better_tilts(node, node.tilts, n_steps, self.budget, value=value)
        own, gains = space.by_tilts(node, tilts)
        free = np.flatnonzero(node.fixed == FREE)
        order = free[np.argsort(-gains[free], kind="stable")]
        chosen, others = order[:need], order[need:]
        mask = node.fixed == IN
        mask[chosen] = True
        fixed = node.fixed
        if value is not None and own > value and node.first == node.last and 0 < need < n_free:
            slack = own - value  # what the exchange of two classifiers must cost to rule it out
            fixed = fixed.copy()
            fixed[chosen[gains[chosen] - gains[others[0]] >= slack]] = IN
            fixed[others[gains[chosen[-1]] - gains[others] >= slack]] = OUT
        undecided = chosen[fixed[chosen] == FREE]
        pick = int(undecided[0]) if len(undecided) else -1
        again = dataclasses.replace(node, fixed=fixed, tilts=tilts, pick=pick)
        return self._tried(min(own, most), again, mask)

    def _tried(self, bound: int, node: _Node | None, mask: Mask) -> _Bounded:
        """Add a selection if it keeps the limits, with what it is worth."""
        if not self.rows.limits.satisfied_by(mask):
            return _Bounded(bound, node)
        return _Bounded(bound, node, mask, *self.rows.best_threshold(mask))


def twins(rows: SlopeRows) -> NDArray[np.int64]:
    """Return a number for every classifier, equal for those that have equal forms and costs.

    These may be exchanged.

    Where there are diversity limits, to which rows matter that are worth nothing, all numbers differ.
    """
    n_classifiers = rows.n_classifiers
    if rows.limits.diversity is not None:
        return np.arange(n_classifiers)
    keys = rows.lines.columns.view(np.uint8)
    if rows.limits.costs is not None:
        costs = rows.limits.costs[:, None].view(np.uint8).reshape(n_classifiers, -1)
        keys = np.hstack([keys, costs])
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(key.tobytes(), len(numbers)) for key in keys], dtype=np.int64)
