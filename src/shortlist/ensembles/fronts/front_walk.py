"""Full search of committees, size after size, that keeps the non-dominated committees.

If the size is an objective, no larger committee dominates a committee of m members. So the points of every
finished size are final, long before the walk is over. If the cost is an objective and the size is not, the
same is true of the cost, and the walk is repeated with a rising limit on the cost.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._bits import Words, pack
from shortlist.arrays import Mask
from shortlist.ensembles.fronts import _walk_kernels as records
from shortlist.ensembles.fronts.committee_problem import CommitteeProblem
from shortlist.ensembles.votes.hard_votes import Votes
from shortlist.errors import SolverError
from shortlist.runs.budget import Budget
from shortlist.runs.records import KeptState
from shortlist.runs.study import Checkpoint

NOT_KEPT = Checkpoint("walk")
"""Checkpoint that keeps nothing."""

Caps: TypeAlias = NDArray[np.int64]
"""Upper bound on each value over all committees, then the bound on the sum of values, ``(n_values + 1,)``;
the last bound is used with two values only.
"""

BLOCK_WORK = 20_000_000
"""Number of machine words read between two looks at the clock, which takes some hundredths of a second."""

FIRST_ROOM = 1024
"""Number of points that a new archive has room for."""


@dataclass(frozen=True, eq=False)
class FoundCommittee:
    """Members of a committee, the threshold of their vote, and the objectives as integers to minimise.

    `mask`, ``(n_classifiers,)``. `threshold`: 0 where a plurality decides. `point`, ``(n_objectives,)``:
    counted from the votes.
    """

    mask: Mask
    threshold: int
    point: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WalkedFront:
    """Result of a full search."""

    found: list[FoundCommittee]
    """Committees found; none of them dominates another."""
    final_to: int
    """Sum of the objective `by` up to which every committee was counted or ruled out; -1: none was."""
    complete: bool
    """Whether every committee was counted or ruled out."""
    nodes: int
    """Number of committees visited, incomplete committees included."""


def walk_front(
    problem: CommitteeProblem,
    budget: Budget,
    *,
    starts: Sequence[FoundCommittee] = (),
    by: int | None = None,
    caps: Caps | None = None,
    max_nodes: int | None = None,
    room: int = FIRST_ROOM,
    on_nodes: Callable[[int, int], None] | None = None,
    checkpoint: Checkpoint = NOT_KEPT,
) -> WalkedFront:
    """Search all committees for the non-dominated ones.

    Raises SolverError if a committee exceeds the caps.

    A node takes O(size · n_left · n_rows / 64) time, where n_left is the number of members still to add; by
    plurality the time is multiplied by the number of classes. The kernels release the interpreter's lock.

    `budget`: its time limit and its cancellation stop the walk, which returns the committees found so far;
    its limit in nodes is not used. `starts`: committees that are known. `by`: index of the objective of
    members that rises from walk to walk; None: nothing is final before the end. `caps`: proved upper bounds
    on each value, then on the sum of two values, ``(n_values + 1,)``. `max_nodes`: limit in nodes,
    independent of the clock. `room`: number of points that a new archive has room for. `on_nodes`: receives
    the sum of `by` up to which the walk is final, and the number of points, several times a second.
    `checkpoint`: keeps the state of the walk; the walk continues from a kept state, with its committees and
    its count of nodes.
    """
    walker = _CommitteeWalker(problem, problem.highest() if caps is None else caps, by, budget, max_nodes)
    last = checkpoint.last()
    found = [*starts, *([] if last is None else walker.resume(last))]
    walker.make_room(max(room, 2 * len(found)))
    walker.take(found)
    final_to, sizes = -1, range(problem.limits.min_size, problem.limits.max_size + 1)
    by_size = by is not None and problem.is_size(by)
    for upto in [0] if by is None else problem.rising(by):
        for size in [upto] if by_size else sizes:
            if walker.cheapest(size) > upto:
                break
            for _ in walker.walk(size, upto):
                checkpoint.keep(walker.state)
                if on_nodes is not None:
                    on_nodes(final_to, walker.n_points)
            if walker.stopped:
                checkpoint.keep(walker.state, now=True)
                return WalkedFront(walker.found(), final_to, complete=False, nodes=walker.nodes)
        final_to = -1 if by is None else upto
    return WalkedFront(walker.found(), final_to, complete=True, nodes=walker.nodes)


@dataclass(frozen=True)
class _WalkPlace:
    """Kept state of a walk: its limit on the cost, its size, and the members chosen up to a depth."""

    upto: int
    size: int
    depth: int
    chosen: tuple[int, ...]


class _CommitteeWalker:
    def __init__(
        self, problem: CommitteeProblem, caps: Caps, by: int | None, budget: Budget, max_nodes: int | None
    ) -> None:
        self.problem, self.caps, self.by, self.budget, self.max_nodes = problem, caps, by, budget, max_nodes
        self.nodes, self.stopped = 0, False
        self.place, self.chosen = _WalkPlace(-1, -1, 0, ()), np.zeros(0, dtype=np.int64)
        prices = problem.prices / np.maximum(1, problem.prices.sum(axis=1, keepdims=True))
        self.order = np.argsort(prices.sum(axis=0), kind="stable")
        self.planes = _planes(problem, self.order)
        self.places = np.zeros(1, dtype=records.HERE)
        self.here = self.places[0]
        self.here.has_threshold = problem.has_threshold

    @property
    def n_points(self) -> int:
        return int(self.here.n_points)

    def cheapest(self, size: int) -> int:
        return 0 if self.by is None else self.problem.least(self.by, size)

    def make_room(self, n: int, old: records.CommitteeArchive | None = None) -> None:
        width = len(self.problem.objectives)
        self.archive = records.CommitteeArchive(
            np.zeros((n, width), dtype=np.int64),
            np.zeros((n, self.problem.n_classifiers), dtype=np.uint8),
            np.zeros(n, dtype=np.int64),
            np.arange(n, dtype=np.int64),
        )
        if old is not None:
            self.archive.points[: len(old.order)] = old.points
            self.archive.members[: len(old.order)] = old.members
            self.archive.thresholds[: len(old.order)] = old.thresholds
            self.archive.order[: len(old.order)] = old.order

    def take(self, starts: Sequence[FoundCommittee]) -> None:
        """Put known committees into the archive; some may dominate or equal others."""
        different = list({start.point.tobytes(): start for start in starts}.values())
        for start in different:
            if not any((other.point <= start.point).all() for other in different if other is not start):
                n = self.n_points
                self.archive.points[n], self.archive.thresholds[n] = start.point, start.threshold
                self.archive.members[n] = start.mask[self.order]
                self.here.n_points = n + 1

    def walk(self, size: int, upto: int) -> Iterator[None]:
        """Walk over all committees of a size that cost no more than `upto`; yield now and then.

        A continued search skips the sizes and limits that it had finished.
        """
        if (upto, size) < (self.place.upto, self.place.size):
            return
        rows, walk = self._arrays(size, upto)
        self.here.n_members, self.here.depth = size, 0
        self.here.done = self.here.nodes = 0
        if (upto, size) == (self.place.upto, self.place.size):
            self._go_on(rows, walk)
        self.place, self.chosen = _WalkPlace(upto, size, 0, ()), walk.chosen
        n_words = len(rows.full) * (1 + rows.rival.shape[1])
        block = max(1, BLOCK_WORK // (n_words * (size + 1)))
        while not self.here.done:
            nodes = self.nodes + int(self.here.nodes)
            left = block if self.max_nodes is None else min(block, self.max_nodes - nodes)
            if left <= 0 or self.budget.stopped:
                self.stopped = True
                break
            if self.n_points + size + 2 >= len(self.archive.order):
                self.make_room(2 * len(self.archive.order), self.archive)
            records.walk_committees(left, rows, walk, self.archive)
            yield
        self.nodes += int(self.here.nodes)
        self.here.nodes = 0

    def _go_on(self, rows: records.CommitteeRows, walk: records.CommitteeWalk) -> None:
        walk.chosen[: len(self.place.chosen)] = self.place.chosen
        for depth in range(self.place.depth):
            self.here.depth = depth
            records.add_member(int(walk.chosen[depth]), rows, walk)
        self.here.depth = self.place.depth

    def state(self) -> KeptState:
        n, place = self.n_points, self.place
        return KeptState(
            {
                "members": self.archive.members[:n].copy(),
                "thresholds": self.archive.thresholds[:n].copy(),
                "caps": self.caps,
                "chosen": self.chosen.copy(),
            },
            {
                "upto": place.upto,
                "size": place.size,
                "depth": int(self.here.depth),
                "nodes": self.nodes + int(self.here.nodes),
            },
        )

    def resume(self, state: KeptState) -> list[FoundCommittee]:
        arrays, facts = state.arrays, state.facts
        self.nodes, self.caps = facts["nodes"], np.minimum(self.caps, arrays["caps"])
        self.place = _WalkPlace(
            facts["upto"], facts["size"], facts["depth"], tuple(arrays["chosen"].tolist())
        )
        return [
            self._committee(members, threshold)
            for members, threshold in zip(arrays["members"], arrays["thresholds"].tolist(), strict=True)
        ]

    def _committee(self, members: NDArray[np.uint8], threshold: int) -> FoundCommittee:
        mask = np.zeros(self.problem.n_classifiers, dtype=bool)
        mask[self.order] = members.astype(bool)
        return FoundCommittee(mask, threshold, self.problem.point(mask, threshold))

    def _arrays(self, size: int, upto: int) -> tuple[records.CommitteeRows, records.CommitteeWalk]:
        problem, (right, rival, tied, full, starts) = self.problem, self.planes
        n_words = len(full)
        n_classes, n_prices = len(starts) - 1, len(problem.prices)
        prices = np.ascontiguousarray(problem.prices[:, self.order])
        budgets = problem.budgets.copy()
        if self.by is not None:
            budgets[self.by] = min(budgets[self.by], upto)
        rows = records.CommitteeRows(
            right, _suffixes(right, full, size), rival, tied, full, starts, problem.gains,
            self.caps, prices, _least(prices, size), budgets,
        )  # fmt: skip
        counts = np.zeros((size + 1, size + 2, n_words), dtype=np.uint64)
        counts[:, 0] = full
        rivals = np.zeros((size + 1, rival.shape[1] * (size + 2), n_words), dtype=np.uint64)
        rivals[:, :: size + 2] = np.uint64(2**64 - 1)
        walk = records.CommitteeWalk(
            np.zeros(size + 1, dtype=np.int64), counts, rivals,
            np.zeros((size + 1, n_prices), dtype=np.int64),
            np.zeros((size + 2, n_classes), dtype=np.int64),
            np.zeros(len(problem.objectives), dtype=np.int64), self.places,
        )  # fmt: skip
        return rows, walk

    def found(self) -> list[FoundCommittee]:
        committees = []
        for i in range(self.n_points):
            one = self._committee(self.archive.members[i], int(self.archive.thresholds[i]))
            if (one.point != self.archive.points[i]).any():  # values in the archive are cut at the caps
                raise SolverError(
                    "a committee is worth more than was proved possible: a solver is wrong. Use another seed."
                )
            committees.append(one)
        return committees


def _planes(
    problem: CommitteeProblem, order: NDArray[np.intp]
) -> tuple[Words, Words, Words, Words, NDArray[np.int64]]:
    """Return masks of right rows, votes for rivals, lost ties and all rows, and each class's first word."""
    votes = problem.votes
    answers = (votes.votes if isinstance(votes, Votes) else votes.codes)[:, order]
    samples = np.repeat(np.arange(len(votes.labels)), votes.counts)
    blocks = [samples[votes.labels[samples] == c] for c in range(problem.gains.shape[1])]
    widths = [max(1, -(-len(block) // 64)) for block in blocks]
    starts = np.cumsum([0, *widths]).astype(np.int64)

    def packed(flags: list[NDArray[np.bool_]]) -> Words:
        parts = [pack(own, width) for own, width in zip(flags, widths, strict=True)]
        return np.ascontiguousarray(np.concatenate(parts, axis=-1))

    right = packed([(answers[block] == c).T for c, block in enumerate(blocks)])
    full = packed([np.ones(len(block), dtype=bool) for block in blocks])
    n_rivals = 0 if problem.has_threshold else len(blocks)
    rival = np.zeros((len(order), n_rivals, len(full)), dtype=np.uint64)
    tied = np.zeros((n_rivals, len(full)), dtype=np.uint64)
    for r in range(n_rivals):
        rival[:, r] = packed([((answers[block] == r) & (c != r)).T for c, block in enumerate(blocks)])
        tied[r] = packed([np.full(len(block), r < c) for c, block in enumerate(blocks)])
    return right, rival, tied, full, starts


def _suffixes(right: Words, full: Words, most: int) -> Words:
    """Return the rows on which at least q members from index k on are right.

    The array has the shape ``(n + 1, most + 1, n_words)``, with index k, then q.
    """
    n, n_words = right.shape
    left = np.zeros((n + 1, most + 1, n_words), dtype=np.uint64)
    left[:, 0] = full
    for k in range(n - 1, -1, -1):
        left[k, 1:] = left[k + 1, 1:] | (left[k + 1, :-1] & right[k])
    return left


def _least(prices: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return the least sum of prices over r of the members from index k on.

    The array has the shape ``(n_prices, n + 1, most + 1)``, with index k, then r.
    """
    n_prices, n = prices.shape
    least = np.zeros((n_prices, n + 1, most + 1), dtype=np.int64)
    for k in range(n):
        ranked = np.sort(prices[:, k:], axis=1)[:, :most].cumsum(axis=1)
        least[:, k, 1 : ranked.shape[1] + 1] = ranked
        least[:, k, ranked.shape[1] + 1 :] = ranked[:, -1:]
    return least
