"""Kernels of the conflicts: which rows always have at least the votes of another.

Row r is *below* row s when no completion gives r more votes than s: ``base[r] - base[s] + min(a, room) <= forced``,
where `base` counts votes of included classifiers, a the free classifiers that vote for r alone, and `forced` those
voting for s alone that must join because too few others are left. All arrays of words are (n_rows, n_words), masked
to the free classifiers.
"""

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]
Places = NDArray[np.int32]


@kernel("int64(uint64)")
def count_bits(word: np.uint64) -> np.int64:
    """Return the number of ones, summed in parallel within the word."""
    pairs = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    fours = (pairs & np.uint64(0x3333333333333333)) + (
        (pairs >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    eights = (fours + (fours >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((eights * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel("boolean(uint64[:, ::1], int64[::1], int64, int64, int64, int64, int64)")
def is_below(
    words: Words, base: Integers, n_free: int, room: int, need: int, low: np.int64, high: np.int64
) -> bool:
    """Whether row `low` never has more votes than row `high`."""
    slack = base[high] - base[low]
    if need == 0:
        if slack < 0:
            return False
        if room <= slack:
            return True
    alone = np.int64(0)
    for w in range(words.shape[1]):
        here = words[low, w] & ~words[high, w]
        if here:
            alone += count_bits(here)
            if need == 0 and alone > slack:
                return False
    if need == 0:
        return True
    apart = np.int64(0)
    for w in range(words.shape[1]):
        apart += count_bits(words[low, w] ^ words[high, w])
    joining = alone if alone < room else np.int64(room)
    forced = need - alone - (n_free - apart)
    if forced > 0:
        joining -= forced
    return bool(joining <= slack)


@kernel(
    "int64(uint64[:, ::1], int64[::1], int64, int64, int64, int64[::1], int64[::1], int64, int32[:, ::1], int64)"
)
def list_pairs(
    words: Words,
    base: Integers,
    n_free: int,
    room: int,
    need: int,
    lows: Integers,
    highs: Integers,
    most: int,
    pairs: Places,
    found: int,
) -> int:
    """Append the pairs of `lows` below `highs`, at most `most` per low, after `found`; return how many there are."""
    for i in range(len(lows)):
        full = min(len(pairs), found + most)
        for j in range(len(highs)):
            if is_below(words, base, n_free, room, need, lows[i], highs[j]):
                if found == full:
                    break
                pairs[found, 0] = lows[i]
                pairs[found, 1] = highs[j]
                found += 1
    return found


@kernel(
    "int64(uint64[:, ::1], uint64[:, ::1], int32[::1], int64[::1], int64[::1], int64, int32[:, ::1], int64)"
)
def list_subsets(
    words: Words,
    columns: Words,
    rarest: Places,
    lows: Integers,
    highs: Integers,
    most: int,
    pairs: Places,
    found: int,
) -> int:
    """Do what :func:`list_pairs` does where only subsets conflict, 64 highs at a time.

    ``columns[k]`` holds which of `highs` have bit k; bits are tried in the order `rarest`.
    """
    for low in lows:
        full = min(len(pairs), found + most)
        for block in range(columns.shape[1]):
            left = ~np.uint64(0)
            for k in rarest:
                if (words[low, k >> 6] >> np.uint64(k & 63)) & np.uint64(1):
                    left &= columns[k, block]
                    if left == 0:
                        break
            while left and found < full:
                lowest = left & (~left + np.uint64(1))
                j = 64 * block + count_bits(lowest - np.uint64(1))
                left ^= lowest
                if j < len(highs):
                    pairs[found, 0] = low
                    pairs[found, 1] = highs[j]
                    found += 1
    return found
