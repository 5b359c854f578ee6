"""Conflicts: two rows that no selection is right on together.

Row r is *below* row s if no selection gives r more votes than s: ``min(a, most) <= forced``. Here a is the
number of classifiers that vote for r and not for s. `forced` is the least number of members that vote for s
and not for r; it is above 0 if too few other classifiers are left for the least size. Arrays of words have
the shape ``(n_rows, n_words)``, without classifiers that exceed the budget alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._bits import Words, WordTable, pack, popcount
from shortlist._jit import kernel
from shortlist.arrays import Longs, Shorts
from shortlist.ensembles.proofs.certificate import Cut, make_cut
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.ensembles.votes.hard_votes import tally
from shortlist.runs.budget import Budget


class Sizes(NamedTuple):
    """Limits on the number of members."""

    n_usable: int
    """Number of classifiers that do not exceed the budget alone."""
    most: int
    """Largest number of members."""
    least: int
    """Least number of members."""


class SignedForms(NamedTuple):
    """Forms as bit sets of classifiers, in 64-bit words."""

    plus: WordTable
    """Bit set of classifiers with sign 1 in each form, ``(n_forms, n_words)``."""
    minus: WordTable
    """Bit set of classifiers with sign -1 in each form, ``(n_forms, n_words)``."""
    least: Longs
    """Least sum of signs that fulfils each form, ``(n_forms,)``."""
    row_of: Longs
    """Index of the row of each form, ``(n_forms,)``."""


@kernel("boolean(uint64[:, ::1], Sizes, int64, int64)")
def is_below(words: Words, sizes: Sizes, low: np.int64, high: np.int64) -> bool:
    """Return whether no selection gives row `low` more votes than row `high`."""
    alone = apart = np.int64(0)
    for w in range(words.shape[1]):
        alone += popcount(words[low, w] & ~words[high, w])
        apart += popcount(words[low, w] ^ words[high, w])
    joining = np.minimum(alone, np.int64(sizes.most))
    forced = sizes.least - alone - (sizes.n_usable - apart)
    return bool(joining <= (max(0, forced)))


@kernel("int64(uint64[:, ::1], Sizes, int64[::1], int64[::1], int64, int32[:, ::1], int64)")
def list_pairs(  # noqa: PLR0917
    words: Words, sizes: Sizes, lows: Longs, highs: Longs, most: int, pairs: Shorts, found: int
) -> int:
    """Append the pairs of a row in `lows` that is below a row in `highs`, after the first `found` pairs.

    Each row in `lows` gets at most `most` pairs. Returns the new number of pairs.
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
def list_opposed(  # noqa: PLR0917
    forms: SignedForms, sizes: Sizes, start: int, end: int, pairs: Shorts, found: int
) -> int:
    """Append pairs of forms that cannot both hold; the second form is from `start` to `end` - 1.

    Returns the new number of pairs. Only pairs are found in which the sum of the two signs is above 0 for no
    classifier.

    The sum of the two forms over the members is then at most 0. The sum is below 0 if a classifier with a
    negative sum must join, as too few classifiers have a sum of 0.
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
def list_subsets(  # noqa: PLR0917
    words: Words,
    columns: Words,
    rarest: Shorts,
    lows: Longs,
    highs: Longs,
    most: int,
    pairs: Shorts,
    found: int,
) -> int:
    """Append pairs as :func:`list_pairs` does, if only subsets conflict; compare 64 rows at a time.

    ``columns[k]``: bit set of the rows in `highs` with bit k. `rarest`: order in which bits are tried.
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


Pairs = NDArray[np.int32]

TESTS_PER_CHUNK = 100_000_000
"""Number of pairs compared between two checks of the clock; they take a fraction of a second."""


@dataclass(frozen=True, eq=False)
class Conflicts:
    """Pairs of rows that cannot both be right."""

    pairs: Pairs
    """Pairs of row indices, sorted by the first row, then by the second row, ``(n_pairs, 2)``. With two
    classes the first row is on the positive side, and the second row on the negative side.
    """
    forms: Pairs
    """Pairs of indices of forms that cannot both hold, one form of each row of the pair, ``(n_pairs, 2)``."""
    never: NDArray[np.int64]
    """Indices of forms that hold for no selection, at most one form of a row, ``(n_never,)``."""
    complete: bool
    """Whether `pairs` has all conflicts; bounds from some of the conflicts are valid, but weaker."""

    def cut(self, rows: RightRows, index: int) -> Cut:
        """Return the conflict with this index as a cut."""
        return make_cut(rows, sorted(self.forms[index].tolist()), (1, 1))


def find_conflicts(rows: RightRows, budget: Budget, *, max_pairs: int = 5_000_000) -> Conflicts:
    """Return pairs of forms that no selection fulfils together.

    With a threshold, a pair conflicts if its positive row never has more votes than its negative row, as a
    decision by threshold is monotone in the votes. In general, two forms conflict if their sum stays below
    the sum of their least values for every selection. :func:`shortlist.ensembles.proofs.certificate.proves`
    decides this with multipliers 1 and 1. For several classes, only pairs are found in which the sum of the
    two signs is positive for no classifier.

    `budget`: if it runs out, the pairs found so far are returned. `max_pairs`: largest number of pairs. If
    there are more pairs with a threshold, every positive row keeps an equal share of this number, and the
    negative rows of largest gain are taken first. Without a threshold, pairs of rows with large gains are
    taken first.

    All pairs are compared, 64 classifiers or 64 negative rows at a time. Only the pairs found take memory.
    """
    find = _by_votes if rows.has_threshold else _by_signs
    return find(rows, max_pairs, budget)


def _by_votes(rows: RightRows, max_pairs: int, budget: Budget) -> Conflicts:
    usable = rows.affordable
    most_votes = np.minimum(tally(rows.votes, usable), rows.most_members)
    never = np.flatnonzero(rows.is_positive & (most_votes == 0))
    lows = np.flatnonzero(rows.is_positive & (most_votes > 0))
    highs = np.flatnonzero(~rows.is_positive)
    highs = highs[np.lexsort((highs, -rows.gains[highs]))]
    words = pack(rows.votes * usable)
    # if one must join, it may be one that p alone has, and where there is none p is below q anyway
    if rows.least_members <= 1:
        columns = pack(np.ascontiguousarray(rows.votes[highs].T))
        rarity = rows.votes[highs].sum(axis=0, dtype=np.int64)
        rarest = np.argsort(rarity, kind="stable").astype(np.int32)
        append = partial(list_subsets, words, columns, rarest)
    else:
        sizes = Sizes(int(usable.sum()), rows.most_members, rows.least_members)
        append = partial(list_pairs, words, sizes)
    pairs, in_time = _collect(append, lows, highs, most=len(highs), room=max_pairs + 1, budget=budget)
    complete = in_time and len(pairs) <= max_pairs
    if len(pairs) > max_pairs:
        share = max(1, max_pairs // len(lows))
        pairs, _ = _collect(append, lows, highs, most=share, room=max_pairs, budget=budget)
    pairs = pairs[np.lexsort(pairs.T[::-1])]
    return Conflicts(pairs, pairs, never, complete)


def _by_signs(rows: RightRows, max_pairs: int, budget: Budget) -> Conflicts:
    """Return the conflicts of several classes; forms of rows with large gains are compared first."""
    usable = rows.affordable
    signs = rows.signs * usable
    forward, backward = (signs > 0).sum(axis=1), (signs < 0).sum(axis=1)
    forced = np.maximum(0, rows.least_members - (int(usable.sum()) - backward))
    never = np.flatnonzero(np.minimum(forward, rows.most_members) - forced < rows.least)
    never = never[np.unique(rows.row_of[never], return_index=True)[1]]
    order = np.argsort(-rows.gains[rows.row_of], kind="stable")
    plus, minus = (pack((signs[order] == sign).astype(np.uint8)) for sign in (1, -1))
    append = partial(
        list_opposed,
        SignedForms(plus, minus, rows.least[order], rows.row_of[order]),
        Sizes(int(usable.sum()), rows.most_members, rows.least_members),
    )
    found = 0
    places = np.empty((max_pairs + 1, 2), dtype=np.int32)
    size = max(1, TESTS_PER_CHUNK // max(1, len(order)))
    complete = True
    for start in range(0, len(order), size):
        if budget.stopped or found > max_pairs:
            complete = False
            break
        found = append(start, min(start + size, len(order)), places, found)
    complete = complete and found <= max_pairs
    forms = order[places[: min(found, max_pairs)]].astype(np.int32).reshape(-1, 2)
    pairs = rows.row_of[forms].astype(np.int32)
    swapped = pairs[:, 0] > pairs[:, 1]
    pairs[swapped], forms[swapped] = pairs[swapped, ::-1], forms[swapped, ::-1]
    pairs, first = np.unique(pairs, axis=0, return_index=True)
    return Conflicts(pairs.reshape(-1, 2), forms[first].reshape(-1, 2), never, complete)


def _collect(
    append: Callable[[Longs, Longs, int, Pairs, int], int],
    lows: Longs,
    highs: Longs,
    *,
    most: int,
    room: int,
    budget: Budget,
) -> tuple[Pairs, bool]:
    """Return the pairs that a kernel finds on blocks of positive rows, and whether all blocks were compared.

    When the budget ends, the remaining blocks are left out.
    """
    pairs = np.empty((min(room, len(lows) * len(highs)), 2), dtype=np.int32)
    found = 0
    size = max(1, TESTS_PER_CHUNK // max(1, len(highs)))
    for start in range(0, len(lows), size):
        if budget.stopped:
            return pairs[:found].copy(), False
        found = append(np.ascontiguousarray(lows[start : start + size]), highs, most, pairs, found)
    return pairs[:found].copy(), True
