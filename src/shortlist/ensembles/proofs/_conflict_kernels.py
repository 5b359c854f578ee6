"""Kernels of the conflicts: which rows have at least another's votes, and which forms oppose each other.

Row r is *below* row s when no selection gives r more votes than s: ``min(a, most) <= forced``, a being the
classifiers that vote for r alone, and `forced` those voting for s alone that must join because too few others
are left. All arrays of words are (n_rows, n_words), without classifiers that no budget allows.
"""

from typing import NamedTuple

import numpy as np

from shortlist._bits import Words, WordTable, popcount
from shortlist._jit import kernel
from shortlist.arrays import Longs, Shorts


class Sizes(NamedTuple):
    """How many members there may be."""

    n_usable: int
    """Classifiers that the budget allows alone."""
    most: int
    """Most members."""
    least: int
    """Fewest members."""


class SignedForms(NamedTuple):
    """Forms as words."""

    plus: WordTable
    """Classifiers that are for a form."""
    minus: WordTable
    """Those against it."""
    least: Longs
    """What the sum of signs must reach."""
    row_of: Longs
    """The row of each form."""


@kernel("boolean(uint64[:, ::1], Sizes, int64, int64)")
def is_below(words: Words, sizes: Sizes, low: np.int64, high: np.int64) -> bool:
    """Whether row `low` never has more votes than row `high`."""
    alone = apart = np.int64(0)
    for w in range(words.shape[1]):
        alone += popcount(words[low, w] & ~words[high, w])
        apart += popcount(words[low, w] ^ words[high, w])
    joining = np.minimum(alone, np.int64(sizes.most))
    forced = sizes.least - alone - (sizes.n_usable - apart)
    return bool(joining <= (max(0, forced)))


@kernel("int64(uint64[:, ::1], Sizes, int64[::1], int64[::1], int64, int32[:, ::1], int64)")
def list_pairs(
    words: Words, sizes: Sizes, lows: Longs, highs: Longs, most: int, pairs: Shorts, found: int
) -> int:
    """Append the pairs of `lows` below `highs`, at most `most` per low, after `found`.

    Return how many there are.
    """
    for i in range(len(lows)):
        full = min(len(pairs), found + most)
        for j in range(len(highs)):
            if is_below(words, sizes, lows[i], highs[j]):
                if found == full:
                    break
                pairs[found, 0] = lows[i]
                pairs[found, 1] = highs[j]
                found += 1
    return found


@kernel("int64(SignedForms, Sizes, int64, int64, int32[:, ::1], int64)")
def list_opposed(forms: SignedForms, sizes: Sizes, start: int, end: int, pairs: Shorts, found: int) -> int:
    """Append the pairs of forms, the second from `start` to `end`, that cannot both hold.

    No classifier is for both together.

    With a sum of signs that is nowhere positive the two together reach 0 at most; less where so few
    classifiers are not against both that others must join.
    """
    plus, minus, least, row_of = forms.plus, forms.minus, forms.least, forms.row_of
    n_usable, least_members = sizes.n_usable, sizes.least
    for s in range(start, end):
        for r in range(s):
            if row_of[r] == row_of[s]:
                continue
            wanted = least[r] + least[s]
            if wanted == 0 and least_members == 0:
                continue
            neutral = np.int64(n_usable)
            opposed = True
            for w in range(plus.shape[1]):
                if (plus[r, w] & ~minus[s, w]) | (plus[s, w] & ~minus[r, w]):
                    opposed = False
                    break
                if wanted == 0:
                    neutral -= popcount((minus[r, w] & ~plus[s, w]) | (minus[s, w] & ~plus[r, w]))
            if opposed and (wanted > 0 or neutral < least_members):
                if found == len(pairs):
                    return found
                pairs[found, 0] = r
                pairs[found, 1] = s
                found += 1
    return found


@kernel(
    "int64(uint64[:, ::1], uint64[:, ::1], int32[::1], int64[::1], int64[::1], int64, int32[:, ::1], int64)"
)
def list_subsets(
    words: Words,
    columns: Words,
    rarest: Shorts,
    lows: Longs,
    highs: Longs,
    most: int,
    pairs: Shorts,
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
                j = 64 * block + popcount(lowest - np.uint64(1))
                left ^= lowest
                if j < len(highs):
                    pairs[found, 0] = low
                    pairs[found, 1] = highs[j]
                    found += 1
    return found
