"""Kernels that join sorted sets of objective vectors, and look vectors up in them."""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel
from shortlist.arrays import Longs, ShortTable

Keys: TypeAlias = NDArray[np.int64]
"""Vectors of non-negative integers as rows, ``(n_vectors, n_words)``, sorted and unique. A single word holds
all objectives of a vector, so that vectors are added and compared as integers. With several words, each
objective has a word of its own.
"""

BLOCK = 64
"""Number of vectors with a common lower bound in :func:`join_rows`."""


class Packing(NamedTuple):
    """Layout of packed keys, and the staircase of the kept vectors."""

    stairs: ShortTable
    """``stairs[i, j]`` is the least last value among vectors kept so far with middle values of at most i
    and j.
    """
    width: int
    """Number of rows of `stairs` in use."""
    depth: int
    """Number of columns of `stairs` in use."""
    places: Longs
    """Shift of each value, in bits."""
    masks: Longs
    """Bit mask of each value."""


@kernel("void(int32[:, ::1], int64, int64, int64, int64, int64)")
def lower(stairs: NDArray[np.int32], row: int, column: int, width: int, depth: int, last: int) -> None:
    """Enter a vector into the staircase: entries from its cell onwards become at most `last`."""
    for a in range(row, width):
        if stairs[a, column] <= last:
            break
        for b in range(column, depth):
            if stairs[a, b] <= last:
                break
            stairs[a, b] = last


@kernel("int64(int64[:, ::1], int64, int64, int64[:, ::1], int64[::1])")
def settle(keys: Keys, n: int, k: int, floors: Keys, slack: Longs) -> int:
    """Append row `k` to the `n` kept rows, unless a kept row is worse than it by at most `slack`.

    Returns the new `n`.

    The first objective is not compared, as kept rows are no worse in it.
    """
    n_words = keys.shape[1]
    for block in range((n - 1) // BLOCK, -1, -1):
        possible = n > 0
        for w in range(1, n_words):
            if floors[block, w] > keys[k, w] + slack[w]:
                possible = False
                break
        if not possible:
            continue
        for other in range(min(n, (block + 1) * BLOCK) - 1, block * BLOCK - 1, -1):
            covered = True
            for w in range(1, n_words):
                if keys[other, w] > keys[k, w] + slack[w]:
                    covered = False
                    break
            if covered:
                return n
    block = n // BLOCK
    for w in range(n_words):
        keys[n, w] = keys[k, w]
        if n % BLOCK == 0 or keys[n, w] < floors[block, w]:
            floors[block, w] = keys[n, w]
    return n + 1


@kernel("int64(int64[::1], int64, int64[::1], int64, int64[::1], Packing)")
def join_packed(
    left: Longs, left_shift: int, right: Longs, right_shift: int, joined: Longs, packing: Packing
) -> int:
    """Write the non-dominated vectors of both shifted sets to `joined`, sorted; return their number.

    From high to low bits a key holds the swept objective, the two indices of the staircase, and the value
    that a cell of the staircase holds. Vectors come in rising order, so every dominating vector comes before
    the vectors that it dominates.
    """
    stairs, width, depth = packing.stairs, packing.width, packing.depth
    places, masks = packing.places, packing.masks
    stairs[:width, :depth] = np.int32(2**31 - 1)
    i = 0
    j = 0
    n = 0
    while i < len(left) or j < len(right):
        if j >= len(right) or (i < len(left) and left[i] + left_shift <= right[j] + right_shift):
            key = left[i] + left_shift
            i += 1
        else:
            key = right[j] + right_shift
            j += 1
        row = (key >> places[0]) & masks[0]
        column = (key >> places[1]) & masks[1]
        last = key & masks[2]
        if stairs[row, column] <= last:
            continue
        joined[n] = key
        n += 1
        lower(stairs, row, column, width, depth, last)
    return n


@kernel("int64(int64[::1], int64, Packing, int64[::1])")
def trim_packed(keys: Longs, n: int, packing: Packing, slack: Longs) -> int:
    """Keep some of the `n` sorted `keys`: for every key, a kept key is worse by at most `slack`.

    Returns the number kept.

    `slack` is in the order of the key. Keys are grouped by ranges of ``slack[0] + 1`` values of the swept
    objective, and scanned from the largest down within a range. Keys with large swept values are often better
    in the other objectives, and cover the other keys.
    """
    stairs, width, depth = packing.stairs, packing.width, packing.depth
    places, masks = packing.places, packing.masks
    stairs[:width, :depth] = np.int32(2**31 - 1)
    swept = places[2]
    kept = 0
    start = 0
    while start < n:
        end = ((keys[start] >> swept) // (slack[0] + 1) + 1) * (slack[0] + 1)
        stop = start
        while stop < n and (keys[stop] >> swept) < end:
            stop += 1
        for k in range(stop - 1, start - 1, -1):
            row = (keys[k] >> places[0]) & masks[0]
            column = (keys[k] >> places[1]) & masks[1]
            last = keys[k] & masks[2]
            if stairs[min(row + slack[1], width - 1), min(column + slack[2], depth - 1)] <= last + slack[3]:
                keys[k] = -1
            else:
                lower(stairs, row, column, width, depth, last)
        for k in range(start, stop):
            if keys[k] >= 0:
                keys[kept] = keys[k]
                kept += 1
        start = stop
    return kept


@kernel(
    "int64(int64[:, ::1], int64[::1], int64[:, ::1], int64[::1], int64[:, ::1], int64[:, ::1], int64[::1])"
)
def join_rows(
    left: Keys, left_shift: Longs, right: Keys, right_shift: Longs, joined: Keys, floors: Keys, slack: Longs
) -> int:
    """Join sets as :func:`join_packed` does, for any number of objectives, each in its own word.

    Each vector is compared with the kept vectors, block by block. `floors` holds the least value of each
    objective in a block; blocks that cannot hold a dominating vector are skipped.
    """
    n_words = left.shape[1]
    i = 0
    j = 0
    n = 0
    while i < len(left) or j < len(right):
        take_left = j >= len(right)
        if not take_left and i < len(left):
            take_left = True
            for w in range(n_words):
                difference = left[i, w] + left_shift[w] - right[j, w] - right_shift[w]
                if difference != 0:
                    take_left = difference < 0
                    break
        for w in range(n_words):
            joined[n, w] = left[i, w] + left_shift[w] if take_left else right[j, w] + right_shift[w]
        if take_left:
            i += 1
        else:
            j += 1
        n = settle(joined, n, n, floors, slack)
    return n


@kernel("int64(int64[:, ::1], int64, int64[:, ::1], int64[::1])")
def trim_rows(keys: Keys, n: int, floors: Keys, slack: Longs) -> int:
    """Trim rows as :func:`trim_packed` does, with no slack in the first objective."""
    kept = 0
    for k in range(n):
        kept = settle(keys, kept, k, floors, slack)
    return kept


@kernel("void(int64[:, ::1], int64[:, ::1], boolean[::1])")
def find_rows(rows: Keys, sought: Keys, found: NDArray[np.bool_]) -> None:
    """Mark in `found` the vectors of `sought` that are among the sorted `rows`."""
    n_words = rows.shape[1]
    for p in range(len(sought)):
        first = 0
        last = len(rows)
        while first < last:
            middle = (first + last) >> 1
            smaller = False
            for w in range(n_words):
                if rows[middle, w] != sought[p, w]:
                    smaller = rows[middle, w] < sought[p, w]
                    break
            if smaller:
                first = middle + 1
            else:
                last = middle
        found[p] = first < len(rows)
        for w in range(n_words):
            if found[p] and rows[first, w] != sought[p, w]:
                found[p] = False
