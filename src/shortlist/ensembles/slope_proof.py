"""The best sum of sigmoids of margins, with proof: branch and bound over sizes, thresholds and members.

A node is a size, a range of thresholds, and classifiers that are in or out. Lines above the rows' worths bound it
(:mod:`shortlist.ensembles._slope_kernels`): the worth of all rows is then linear, and the members that gain most are its largest.
That bound is as tight as the linear relaxation of the integer program with one binary per row and distance
(:mod:`shortlist.ensembles.slope_program`), and takes a thousandth of the time.
"""

import heapq
import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles import _slope_kernels as kernels
from shortlist.ensembles._slope_kernels import FREE, IN, OUT
from shortlist.ensembles.slope_rows import SlopeRows
from shortlist.runs import Cancellation

FIRST_STEPS, STEPS = 100, 30
"""Steps for lower bounds of a size, and of a node below it."""

BATCH = 4
"""Nodes that are opened at once, whatever the number of threads."""

MOST_OPEN = 1_000_000
"""Open nodes at which a proof gives up."""

STORED_SLOPES = 250_000_000
"""Slopes that open nodes keep at most, in all; beyond, nodes begin with those of their size."""

_WORK = 20_000_000
"""Votes read between two looks at the clock, some hundredths of a second."""


@dataclass(frozen=True, eq=False)
class SlopeAnswer:
    """The best selection that was met, and what none exceeds.

    Attributes
    ----------
    mask : ndarray of bool, shape (n_classifiers,), or None
        None when no selection that keeps the limits was met; with an empty `limit` there is none.
    threshold, total : int
        Its best threshold, and what it is worth there, as :func:`shortlist.ensembles.margin_utility.utility_total`.
    bound : int
        No selection within the limits is worth more.
    nodes : int
        Nodes that were bounded.
    limit : str
        What stopped the proof before its end: ``"seconds"``, ``"nodes"``, ``"interrupted"`` or a number of open nodes; else empty.
    """

    mask: Mask | None
    threshold: int
    total: int
    bound: int
    nodes: int
    limit: str


@dataclass(frozen=True, eq=False)
class _Node:
    """Selections of one size; `slopes` are None before it is bounded, `pick` is the classifier to decide next."""

    size: int
    first: int
    last: int
    fixed: NDArray[np.uint8]
    slopes: NDArray[np.int32] | None = None
    pick: int = -1


@dataclass(frozen=True, eq=False)
class _Bounded:
    """What bounding a node found: the node again unless nothing in it can be better, and a selection to try."""

    bound: int
    node: _Node | None
    mask: Mask | None
    threshold: int = 0
    total: int = 0


def prove_slope(
    rows: SlopeRows,
    first_bounds: NDArray[np.int64],
    *,
    start: tuple[Mask, int, int] | None = None,
    deadline: float = math.inf,
    max_nodes: int | None = None,
    threads: int = 1,
    cancellation: Cancellation | None = None,
    on_news: Callable[[int | None, int], None] | None = None,
) -> SlopeAnswer:
    """Find the selection and threshold that are worth most, and prove it as far as the limits allow.

    Parameters
    ----------
    rows : SlopeRows
        The problem. Cost and diversity limits are kept by the selections and left out of the bounds, which keeps these valid.
    first_bounds : ndarray of int64, shape (n_classifiers + 1,)
        A bound for every size.
    start : tuple of mask, threshold and total, optional
        A selection that keeps the limits; the answer is at least as good.
    deadline : float, default=inf
        When to stop, on the clock ``time.monotonic``.
    max_nodes : int, optional
        Most nodes; with this limit alone the answer depends on nothing but the problem and `start`, and `threads` change nothing.
    threads : int, default=1
        Nodes that are bounded side by side, at most eight.
    cancellation : Cancellation, optional
        Stops with the best so far.
    on_news : callable, optional
        Receives the best total, or None, and the bound whenever one of them changed.

    Notes
    -----
    A step for a lower bound takes O(n_rows · (n_classifiers + log n_classifiers)) time, a node 30 of them at most.
    """
    tree = _Tree(rows, deadline, cancellation, on_news, threads)
    if start is not None:
        tree.mask, tree.threshold, tree.total = start
    return tree.grow(first_bounds, max_nodes)


@dataclass(eq=False)
class _Tree:
    """Open nodes by their bounds, the largest first, and the best selection so far."""

    rows: SlopeRows
    deadline: float
    cancellation: Cancellation | None
    on_news: Callable[[int | None, int], None] | None
    threads: int
    mask: Mask | None = None
    threshold: int = 0
    total: int = 0
    n_bounded: int = 0
    heap: list[tuple[int, int, _Node]] = field(default_factory=list)
    roots: dict[int, NDArray[np.int32]] = field(default_factory=dict)
    news: tuple[int | None, int] = (None, -1)

    def __post_init__(self) -> None:
        self._count = itertools.count()
        self._twins = twins(self.rows)
        self._spaces = [_Space(self.rows) for _ in range(min(self.threads, 2 * BATCH))]
        self._most_stored = STORED_SLOPES // max(1, len(self.rows.worth))

    def grow(self, first_bounds: NDArray[np.int64], max_nodes: int | None) -> SlopeAnswer:
        """Open nodes until value and bound meet."""
        rows = self.rows
        free = np.full(rows.n_classifiers, FREE, dtype=np.uint8)
        if rows.limits.costs is not None:
            free[rows.limits.costs > rows.limits.budget] = OUT
        for size in range(rows.limits.min_size, rows.limits.max_size + 1):
            self._push(int(first_bounds[size]), _Node(size, 0, size, free))
        limit = ""
        with ThreadPoolExecutor(len(self._spaces)) as workers:
            while self._is_open and not limit:
                self._tell()
                limit = self._limit(max_nodes)
                if not limit:
                    self._open(workers)
        self._tell()
        return SlopeAnswer(self.mask, self.threshold, self.total, self._bound, self.n_bounded, limit)

    @property
    def _bound(self) -> int:
        """The largest total that is not ruled out."""
        return max(-self.heap[0][0] if self.heap else 0, self.total)

    @property
    def _is_open(self) -> bool:
        return bool(self.heap) and (self.mask is None or -self.heap[0][0] > self.total)

    def _limit(self, max_nodes: int | None) -> str:
        """Say which limit is reached, if one is."""
        if self.cancellation is not None and self.cancellation.cancelled:
            return "interrupted"
        if time.monotonic() >= self.deadline:
            return "seconds"
        if max_nodes is not None and self.n_bounded >= max_nodes:
            return "nodes"
        return f"{MOST_OPEN:,} open nodes" if len(self.heap) >= MOST_OPEN else ""

    def _tell(self) -> None:
        """Report the best total and the bound if they changed."""
        news = (None if self.mask is None else self.total, self._bound)
        if self.on_news is not None and news != self.news:
            self.news = news
            self.on_news(*news)

    def _push(self, bound: int, node: _Node) -> None:
        heapq.heappush(self.heap, (-bound, next(self._count), node))

    def _open(self, workers: ThreadPoolExecutor) -> None:
        """Bound the children of the nodes with the largest bounds."""
        jobs: list[tuple[int, _Node]] = []
        for _ in range(BATCH):
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
        if found.mask is not None and (self.mask is None or found.total > self.total):
            self.mask, self.threshold, self.total = found.mask, found.threshold, found.total
        node = found.node
        if node is None or (self.mask is not None and found.bound <= self.total):
            return
        assert node.slopes is not None, "a bounded node has slopes"
        if node.first == 0 and node.last == node.size:
            self.roots[node.size] = node.slopes
        elif len(self.heap) > self._most_stored:
            node = _Node(node.size, node.first, node.last, node.fixed, self.roots[node.size], node.pick)
        self._push(found.bound, node)

    def _children(self, node: _Node) -> Iterator[_Node]:
        """Split the thresholds, then decide a classifier; equal classifiers join in their order. A node unbounded is its own child."""
        if node.slopes is None:
            yield node
        elif node.first < node.last:
            between = (node.first + node.last) // 2
            yield _Node(node.size, node.first, between, node.fixed, node.slopes)
            yield _Node(node.size, between + 1, node.last, node.fixed, node.slopes)
        else:
            places = np.arange(len(node.fixed))
            equal = (self._twins == self._twins[node.pick]) & (node.fixed == FREE)
            for state, which in ((IN, places <= node.pick), (OUT, places >= node.pick)):
                fixed = node.fixed.copy()
                fixed[equal & which] = state
                yield _Node(node.size, node.first, node.last, fixed, node.slopes)

    def _bound_all(self, space: "_Space", jobs: Sequence[tuple[int, _Node]]) -> list[_Bounded]:
        """Bound some nodes, one after the other."""
        return [self._bound_node(space, most, node) for most, node in jobs]

    def _bound_node(self, space: "_Space", most: int, node: _Node) -> _Bounded:
        """Bound a node, fix what the bound decides, and look at the selection that the bound prefers."""
        rows = self.rows
        fixed = node.fixed
        nothing = _Bounded(most, None, None)
        if rows.limits.costs is not None:
            left = rows.limits.budget - int(rows.limits.costs[fixed == IN].sum())
            if left < 0:
                return nothing
            fixed = np.where((fixed == FREE) & (rows.limits.costs > left), OUT, fixed).astype(np.uint8)
        n_free, need = int((fixed == FREE).sum()), node.size - int((fixed == IN).sum())
        if not 0 <= need <= n_free:
            return nothing
        if need in {0, n_free}:
            return self._tried(most, None, (fixed == IN) | ((fixed == FREE) if need else False))
        value = None if self.mask is None else self.total
        own, slopes, gains = space.bound(
            node, fixed, need, value, deadline=self.deadline, cancellation=self.cancellation
        )
        bound = min(own, most)
        free = np.flatnonzero(fixed == FREE)
        order = free[np.argsort(-gains[free], kind="stable")]
        chosen, others = order[:need], order[need:]
        mask = fixed == IN
        mask[chosen] = True
        if value is not None:
            if bound <= value:
                return self._tried(bound, None, mask)
            slack = own - value  # gains are those of this bound
            fixed = fixed.copy()
            fixed[chosen[gains[chosen] - gains[others[0]] >= slack]] = IN
            fixed[others[gains[chosen[-1]] - gains[others] >= slack]] = OUT
        still = chosen[fixed[chosen] == FREE]
        if node.first == node.last and (not len(still) or not (fixed[others] == FREE).any()):
            return self._tried(bound, None, mask)
        pick = int(still[0]) if len(still) else -1
        return self._tried(bound, _Node(node.size, node.first, node.last, fixed, slopes, pick), mask)

    def _tried(self, bound: int, node: _Node | None, mask: Mask) -> _Bounded:
        """Add what a selection is worth, if it keeps the limits."""
        if not self.rows.limits.satisfied_by(mask):
            return _Bounded(bound, node, None)
        return _Bounded(bound, node, mask, *self.rows.best_threshold(mask))


class _Space:
    """Memory of one thread for bounding nodes."""

    def __init__(self, rows: SlopeRows) -> None:
        n_rows, n_classifiers = rows.votes.shape
        self.rows = rows
        self.ranges = np.empty((3, n_rows), dtype=np.int64)
        self.free, self.order = np.empty((2, n_classifiers), dtype=np.int64)
        self.floats = np.empty((3, n_rows))
        self.slopes = np.empty(n_rows)
        self.float_gains = np.empty(n_classifiers)
        self.gains = np.empty(n_classifiers, dtype=np.int64)

    def bound(
        self,
        node: _Node,
        fixed: NDArray[np.uint8],
        need: int,
        value: int | None,
        *,
        deadline: float,
        cancellation: Cancellation | None,
    ) -> tuple[int, NDArray[np.int32], NDArray[np.int64]]:
        """Return a bound, the slopes that it is from, and what every classifier adds; `need` of the free ones join."""
        rows, table = self.rows, self.rows.table[node.size]
        middle = len(table) // 2
        n_free = kernels.note_ranges(
            rows.columns, rows.side, fixed, node.size, node.first, node.last, self.ranges, self.free
        )
        steepest = int(table[middle + 1] - table[middle])
        self.floats[kernels.NOW] = steepest / 2 if node.slopes is None else node.slopes
        self.slopes[:] = self.floats[kernels.NOW]
        state = np.array([np.inf, 1.0, 0.0])
        rounding = int(rows.worth.sum()) * (node.size + 2)
        target = -1.0 if value is None else float(value - rows.constant - rounding)
        left = FIRST_STEPS if node.slopes is None else STEPS
        block = max(1, _WORK // max(1, rows.votes.size))
        while left > 0:
            kernels.descend(
                rows.votes, rows.columns, rows.side, rows.worth, table, self.ranges, self.free, n_free, need,
                node.first, node.last, target, min(left, block), self.slopes, self.floats, self.float_gains,
                self.order, state,
            )  # fmt: skip
            left -= block
            cancelled = cancellation is not None and cancellation.cancelled
            if state[kernels.BEST] <= target or cancelled or time.monotonic() > deadline:
                break
        slopes = np.rint(self.slopes).astype(np.int32)
        bound = rows.constant + int(
            kernels.bound_by(
                rows.votes,
                rows.side,
                rows.worth,
                table,
                self.ranges,
                node.first,
                node.last,
                slopes,
                self.gains,
            )
        )
        free = self.free[:n_free]
        bound += int(np.sort(self.gains[free])[n_free - need :].sum())
        return bound, slopes, self.gains


def twins(rows: SlopeRows) -> NDArray[np.int64]:
    """Return a number for every classifier, equal for those with equal votes and costs, which may be exchanged.

    Where there are diversity limits, to which rows matter that are worth nothing, all numbers differ.
    """
    columns = rows.columns
    if rows.limits.diversity is not None:
        return np.arange(len(columns))
    if rows.limits.costs is not None:
        costs = rows.limits.costs[:, None].view(np.uint8).reshape(len(columns), -1)
        columns = np.hstack([columns, costs])
    return np.unique(columns, axis=0, return_inverse=True)[1].ravel().astype(np.int64)
