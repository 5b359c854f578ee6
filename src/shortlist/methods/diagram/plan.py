"""Plan of a pass over a diagram: the sets of vectors to join, and their encoding as keys."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Points
from shortlist.logic.diagram import Diagram
from shortlist.methods.diagram._kernels import Keys

PACKED_BITS = 62
"""Most bits of a key for the objectives of a packed vector."""

MOST_STAIRS = 1 << 25
"""Most cells, of four bytes, of a packed set's staircase."""


@dataclass(frozen=True, eq=False)
class Coding:
    """Encoding of vectors of non-negative integers as sorted keys.

    `order`: objectives by their use, ``(n_objectives,)``: the swept objective, the two objectives whose
    values are row and column of the staircase, and the objective whose values its cells hold. With three
    objectives the row is missing, with two also the column; a single objective is both swept and held. For
    rows: the order of the words. `ranges`: largest vector that the levels from each level down can add up to,
    ``(n_levels + 1, n_objectives)``. `packed`: whether all objectives fit one word. `places`, `masks`: shifts
    of the two middle objectives and the swept one in a packed key, and masks of the middle two and the last,
    ``(3,)``. `shifts`: shift of each objective in a packed key, in `order`, ``(n_objectives,)``.
    """

    order: NDArray[np.int64]
    ranges: Points
    packed: bool
    places: NDArray[np.int64]
    masks: NDArray[np.int64]
    shifts: NDArray[np.int64]

    @property
    def n_words(self) -> int:
        """Number of words per key."""
        return 1 if self.packed else len(self.order)

    def encode(self, vectors: Points) -> Keys:
        """Encode vectors, ``(n, n_objectives)``, as keys; sums of vectors become sums of keys."""
        ordered = vectors[:, self.order]
        return ordered if not self.packed else (ordered << self.shifts).sum(axis=1, keepdims=True)

    def decode(self, keys: Keys) -> Points:
        """Decode keys to vectors, ``(n, n_objectives)``."""
        vectors = np.empty((len(keys), len(self.order)), np.int64)
        if self.packed:
            widths = np.diff(np.append(self.shifts[::-1], PACKED_BITS))[::-1]
            vectors[:, self.order] = (keys >> self.shifts) & ((1 << widths) - 1)
        else:
            vectors[:, self.order] = keys
        return vectors

    def widths(self, level: int) -> tuple[int, int]:
        """Return the number of rows and of columns of the staircase for vectors from `level` down."""
        middle = self.ranges[level][self.order[1:-1]] + 1
        return (*(1,) * (2 - len(middle)), *middle.tolist())

    def slack(self, allowed: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return an allowance per objective in the order of the kernels: swept, two in the middle, last.

        For unpacked vectors the order is that of the words in a row.
        """
        slack = allowed[self.order]
        if self.packed and len(slack) > 1:
            return np.concatenate([slack[:1], np.zeros(4 - len(slack), np.int64), slack[1:]])
        return np.concatenate([slack, np.zeros(3, np.int64)]) if self.packed else slack


def make_coding(costs: Points, packed_bits: int = PACKED_BITS) -> Coding:
    """Choose a coding for costs per level, ``(n_objectives, n_levels)``.

    The objective of largest range is swept; the two of least range index the staircase. Vectors are packed
    if their ranges fit `packed_bits` together, at most :data:`PACKED_BITS`.
    """
    n_objectives, n_levels = costs.shape
    ranges = np.zeros((n_levels + 1, n_objectives), np.int64)
    ranges[:-1] = np.cumsum(np.abs(costs)[:, ::-1], axis=1)[:, ::-1].T
    full = ranges[0]
    order = np.roll(np.argsort(full, kind="stable"), 1)
    bits = [int(full[k]).bit_length() for k in order]
    shifts = np.array([sum(bits[i + 1 :]) for i in range(n_objectives)], np.int64)
    cells = int(np.prod([float(full[k]) + 1 for k in order[1:-1]]))
    packed = (
        n_objectives <= 4
        and sum(bits) <= packed_bits
        and cells <= MOST_STAIRS
        and int(full[order[-1]]) < 2**30
    )
    places, masks = np.zeros(3, np.int64), np.zeros(3, np.int64)
    if packed:
        places[2] = shifts[0]
        masks[2] = (1 << bits[-1]) - 1
        for k in range(1, n_objectives - 1):
            slot = k + 3 - n_objectives
            places[slot], masks[slot] = shifts[k], (1 << bits[k]) - 1
    return Coding(order, ranges, packed, places, masks, shifts)


@dataclass(frozen=True, eq=False)
class SweepPlan:
    """Places of a pass: each is a node at its own level, or at a level that its parents skip.

    Places are numbered from the bottom: both successors of a place have smaller numbers, and place 0 is the
    end.

    `levels`, `low`, `high`: the level of each place, and its successors on the low and on the high side,
    ``(n_places,)``; -1 for a successor that does not exist or is not needed. `sources`: the place whose set,
    plus `offsets`, is the set of this place, ``(n_places,)``; the place itself if it joins two sets.
    `offsets`: summand for the keys of the source, ``(n_places, n_words)``. `low_shifts`, `high_shifts`:
    summand of each side of a level for a key, ``(n_levels, n_words)``. `joins`: places that join two sets,
    rising. `root`: last place of a pass; -1 if the diagram is false.
    """

    levels: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    sources: NDArray[np.int32]
    offsets: Keys
    low_shifts: Keys
    high_shifts: Keys
    joins: NDArray[np.int32]
    root: int


def make_plan(diagram: Diagram, costs: Points, coding: Coding) -> SweepPlan:
    """Return the places of `diagram` for costs per level, ``(n_objectives, n_levels)``.

    Each level adds a non-negative vector on either side: its excess over the cheaper side, objective by
    objective. If no objective is better on one side of a skipped level, the level continues on the other side
    only. A skipped level without cost merges both sides.
    """
    rising: list[bool] = np.all(costs >= 0, axis=0).tolist()
    falling: list[bool] = np.all(costs <= 0, axis=0).tolist()
    low_shifts, high_shifts = coding.encode(np.maximum(-costs, 0).T), coding.encode(np.maximum(costs, 0).T)
    zero = np.zeros(coding.n_words, np.int64)
    places: list[tuple[int, int, int]] = [(diagram.n_levels, -1, -1)]
    sources, offsets = [0], [zero]

    def add(level: int, low: int, high: int, *, free: bool = False) -> int:
        places.append((level, low, high))
        if free:
            sources.append(sources[low])
            offsets.append(offsets[low])
        elif high < 0:
            sources.append(sources[low])
            offsets.append(offsets[low] + low_shifts[level])
        elif low < 0:
            sources.append(sources[high])
            offsets.append(offsets[high] + high_shifts[level])
        else:
            sources.append(len(places) - 1)
            offsets.append(zero)
        return len(places) - 1

    raised: dict[tuple[int, int], int] = {(1, diagram.n_levels): 0}
    levels = diagram.levels.tolist()

    def raise_to(node: int, level: int) -> int:
        if node == 0:
            return -1
        at = level
        while (node, at) not in raised:
            at += 1
        place = raised[node, at]
        for skipped in range(at - 1, level - 1, -1):
            low = -1 if falling[skipped] and not rising[skipped] else place
            high = -1 if rising[skipped] and not falling[skipped] else place
            free = rising[skipped] and falling[skipped]
            place = raised[node, skipped] = add(skipped, low, high, free=free)
        return place

    low, high = diagram.low.tolist(), diagram.high.tolist()
    for node in range(2, diagram.n_nodes):
        level = levels[node]
        raised[node, level] = add(level, raise_to(low[node], level + 1), raise_to(high[node], level + 1))
    root = raise_to(diagram.root, 0)
    table = np.array(places, np.int32)
    source = np.array(sources, np.int32)
    joins = np.flatnonzero(source == np.arange(len(source)))[1:].astype(np.int32)
    return SweepPlan(
        levels=table[:, 0].copy(),
        low=table[:, 1].copy(),
        high=table[:, 2].copy(),
        sources=source,
        offsets=np.array(offsets).reshape(len(places), coding.n_words),
        low_shifts=low_shifts,
        high_shifts=high_shifts,
        joins=joins,
        root=root,
    )
