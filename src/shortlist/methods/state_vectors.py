"""Non-dominated vectors over the paths through layers of states.

A vector and its state are one integer if they fit into 63 bits. The sets of vectors that meet in a state
are sorted, so that a plain stable sort merges them. One pass over the sorted integers drops the dominated
vectors, with the least value so far from a binary indexed tree (Fenwick 1994) in two dimensions.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel
from shortlist.arrays import Longs, Mask, Points, ShortTable
from shortlist.pareto import nondominated_unique
from shortlist.runs.budget import Budget, Progress

STAGE = "finding the front in another way"
LARGEST_TREE = 2**22
"""Most entries of a tree of least values."""


@dataclass(frozen=True, eq=False)
class Layer:
    """Layer of one decided column: states, values, and states of the next layer."""

    column: int
    before: NDArray[np.int64]
    values: NDArray[np.int64]
    after: NDArray[np.int64]
    n_after: int


def sweep_layers(
    layers: list[Layer],
    costs: NDArray[np.int64],
    ends: tuple[NDArray[np.int64], NDArray[np.int64]],
    most: NDArray[np.int64],
    *,
    most_vectors: int,
    few: int,
    budget: Budget,
) -> Points | None:
    """Return the non-dominated sums over the layers; None if a limit is reached.

    `costs`: costs of one unit of each column, ``(n_sums, n_columns)``: the objectives, and then sums that
    may be at most `most`. `ends`: least and largest summand of each column, of the same shape.
    `most_vectors`: most vectors in a layer. `few`: most vectors in a layer for moocore.
    """
    least, largest = ends
    n = len(costs) - len(most)
    room = most - least[n:].sum(axis=1)
    if (room < 0).any():
        return np.zeros((0, n), np.int64)
    n_states = max((layer.n_after for layer in layers), default=1)
    code = _code((largest - least).sum(axis=1), n_states, few)
    keys = np.zeros((1, code.n_words), np.int64)
    for number, layer in enumerate(layers):
        order = np.argsort(layer.after, kind="stable")
        before, values, after = layer.before[order], layer.values[order], layer.after[order]
        states = code.states(keys)
        first = np.searchsorted(states, before)
        counts = np.searchsorted(states, before, side="right") - first
        if counts.sum() > most_vectors or budget.stopped:
            return None
        starts = np.cumsum(counts) - counts
        rows = np.repeat(first - starts, counts) + np.arange(counts.sum())
        added = values[:, None] * costs[:, layer.column] - least[:, layer.column]
        fresh = keys[rows] + np.repeat(code.written(after - before, added), counts, axis=0)
        if len(room):
            fresh = fresh[(code.sums(fresh)[:, n:] <= room).all(axis=1)]
        keys = code.best(fresh)
        budget.report(Progress(STAGE, number, len(layers)))
    found: Points = code.sums(keys)[:, :n] + least[:n].sum(axis=1)
    found = found[nondominated_unique(found)]
    return found[np.lexsort(found.T[::-1])]


def best_of_each(vectors: Points, states: NDArray[np.int64]) -> Mask:
    """Mark the non-dominated vectors of each state, of equal vectors the first; `states` are sorted."""
    kept = np.ones(len(vectors), dtype=bool)
    ends = np.flatnonzero(np.diff(states, prepend=-1, append=-1)) if len(states) else np.zeros(0, np.int64)
    for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        if stop - start > 1:
            kept[start:stop] = nondominated_unique(vectors[start:stop])
    return kept


class _Words:
    """Encoding of a state and its vector as a row: a word for the state, and one for each sum."""

    def __init__(self, n_sums: int) -> None:
        self.n_words = 1 + n_sums

    def written(self, states: NDArray[np.int64], sums: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.column_stack([states, sums])

    def states(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        return keys[:, 0]

    def sums(self, keys: NDArray[np.int64]) -> Points:
        return keys[:, 1:]

    def best(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the non-dominated vectors of each state; vectors of a state are adjacent."""
        return keys[best_of_each(self.sums(keys), self.states(keys))]


class _Packed(_Words):
    """Encoding of a state and its vector as one integer.

    From high to low bits: the state, the sum of the largest range, up to two other sums, and the sum of the
    second largest range.

    `ranges`: ranges of at most four sums, ``(n_sums,)``. `few`: most vectors for which no kernel is loaded.
    """

    def __init__(self, ranges: NDArray[np.int64], few: int) -> None:
        super().__init__(0)
        self._few = few
        by_range = np.argsort(-ranges, kind="stable")
        order = np.concatenate([by_range[:1], by_range[2:], by_range[1:2]])
        bits = np.array([int(one).bit_length() for one in ranges])
        self._places = np.zeros(len(ranges), np.int64)
        self._places[order] = np.cumsum(bits[order][::-1])[::-1] - bits[order]
        self._masks = 2**bits - 1
        self.n_bits = int(bits.sum())
        compared = np.zeros((2, 3), np.int64)  # shifts and masks of row, column and stored value
        others = order[1:-1]
        compared[:, : len(others)] = self._places[others], self._masks[others]
        if len(order) > 1:
            compared[:, 2] = self._places[order[-1]], self._masks[order[-1]]
        self._compared = compared
        self.shape = int(compared[1, 0]) + 2, int(compared[1, 1]) + 2

    @property
    def fits(self) -> bool:
        """Whether the tree of least values stays small, and its values within 31 bits."""
        return self.shape[0] * self.shape[1] <= LARGEST_TREE and self._compared[1, 2] < 2**31 - 1

    @cached_property
    def _tree(self) -> ShortTable:
        return np.zeros(self.shape, np.int32)

    def written(self, states: NDArray[np.int64], sums: NDArray[np.int64]) -> NDArray[np.int64]:
        keys: NDArray[np.int64] = (states << self.n_bits) + (sums << self._places).sum(axis=1)
        return keys[:, None]

    def states(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        return keys[:, 0] >> self.n_bits

    def sums(self, keys: NDArray[np.int64]) -> Points:
        sums: Points = (keys >> self._places) & self._masks
        return sums

    def best(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        if len(keys) <= self._few:
            return super().best(keys)
        flat = np.sort(keys[:, 0], kind="stable")  # merges the sets, which are sorted
        places, masks = self._compared
        n = keep_best(flat, self.n_bits, places, masks, self._tree)
        return flat[:n, None].copy()


def _code(ranges: NDArray[np.int64], n_states: int, few: int) -> _Words:
    """Return the encoding of states and vectors."""
    if len(ranges) <= 4:
        packed = _Packed(ranges, few)
        if packed.fits and packed.n_bits + n_states.bit_length() < 63:
            return packed
    return _Words(len(ranges))


@kernel("int64(int64[::1], int64, int64[::1], int64[::1], int32[:, ::1])")
def keep_best(keys: Longs, top: int, places: Longs, masks: Longs, tree: ShortTable) -> int:
    """Move the non-dominated vectors of each state to the front of sorted `keys`; return their number.

    `top`: lowest bit of the state. `places`, `masks`: shifts and masks of the three compared sums; a
    dominating vector comes first and is no worse in the leading sum. `tree`: Fenwick tree of the least
    third sum, indexed by the first and second.
    """
    n = 0
    start = 0
    while start < len(keys):
        state = keys[start] >> top
        stop = start
        low_row = low_column = np.int64(2**62)
        high_row = high_column = np.int64(0)
        while stop < len(keys) and keys[stop] >> top == state:
            row, column = (keys[stop] >> places[0]) & masks[0], (keys[stop] >> places[1]) & masks[1]
            low_row, high_row = min(low_row, row), max(high_row, row)
            low_column, high_column = min(low_column, column), max(high_column, column)
            stop += 1
        height, width = high_row - low_row + 1, high_column - low_column + 1
        tree[: height + 1, : width + 1] = np.int32(2**31 - 1)
        for k in range(start, stop):
            row = ((keys[k] >> places[0]) & masks[0]) - low_row + 1
            column = ((keys[k] >> places[1]) & masks[1]) - low_column + 1
            last = (keys[k] >> places[2]) & masks[2]
            covered = False
            a = row
            while a > 0 and not covered:
                b = column
                while b > 0 and not covered:
                    covered = tree[a, b] <= last
                    b -= b & -b
                a -= a & -a
            if covered:
                continue
            keys[n] = keys[k]
            n += 1
            a = row
            while a <= height and tree[a, column] > last:
                b = column
                while b <= width and tree[a, b] > last:
                    tree[a, b] = last
                    b += b & -b
                a += a & -a
        start = stop
    return n
