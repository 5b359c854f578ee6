"""Conflicts: a positive row and a negative row that no selection is right on together."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.right_rows import RightRows, pack
from shortlist.ensembles.votes import tally

Pairs = NDArray[np.int32]
Places = NDArray[np.int64]

_TESTS_PER_CHUNK = 100_000_000  # a fraction of a second


@dataclass(frozen=True, eq=False)
class Conflicts:
    """Pairs of rows that cannot both be right.

    Attributes
    ----------
    pairs : ndarray of int32, shape (n_pairs, 2)
        A row of the positive side and one of the negative side, sorted.
    never : ndarray of int64, shape (n_never,)
        Rows of the positive side that cannot be right at all: nobody who may join votes for them.
    complete : bool
        Whether these are all; bounds by some of them are valid, and weaker.
    """

    pairs: NDArray[np.int32]
    never: NDArray[np.int64]
    complete: bool


def find_conflicts(rows: RightRows, *, max_pairs: int = 5_000_000, deadline: float = math.inf) -> Conflicts:
    """Return the pairs whose positive row never has more votes than the negative one.

    Without fixed members these are the pairs with ``votes[p] <= votes[q]`` for every classifier: any vote with a
    threshold is monotone in the votes. In general p and q conflict iff the largest ``(votes[p] - votes[q]) @ x`` over
    the completions x within the size limits is at most 0; otherwise the threshold ``L = votes[q] @ x`` makes both right.

    Parameters
    ----------
    rows : RightRows
        With members fixed or not.
    max_pairs : int, default=5_000_000
        If there are more, every positive row keeps its share of this many, the negatives of largest gain first.
    deadline : float, default=inf
        When to stop with the pairs at hand, on the clock ``time.monotonic``.

    Notes
    -----
    Takes O(n_positive · n_negative · n_classifiers / 64) time at most; far less without fixed members and with a
    `min_size` of at most 1, where 64 negatives are tested at a time. Memory for the pairs alone.
    """
    from shortlist.ensembles._conflict_kernels import list_pairs, list_subsets

    free = rows.free
    base = tally(rows.votes, rows.included)
    most_votes = base + np.minimum(tally(rows.votes, free), rows.room)
    never = np.flatnonzero(rows.is_positive & (most_votes == 0))
    lows = np.flatnonzero(rows.is_positive & (most_votes > 0))
    highs = np.flatnonzero(~rows.is_positive)
    highs = highs[np.lexsort((highs, -rows.gains[highs]))]
    words = rows.words & pack(free[None].astype(np.uint8))
    # if one must join, it may be one that p alone has, and where there is none p is below q anyway
    if not rows.included.any() and rows.need <= 1:
        columns = pack(np.ascontiguousarray(rows.votes[highs].T))
        rarity = rows.votes[highs].sum(axis=0, dtype=np.int64)
        rarest = np.argsort(rarity, kind="stable").astype(np.int32)
        append = partial(list_subsets, words, columns, rarest)
    else:
        append = partial(list_pairs, words, base, int(free.sum()), rows.room, rows.need)
    pairs, in_time = _collect(append, lows, highs, most=len(highs), room=max_pairs + 1, deadline=deadline)
    complete = in_time and len(pairs) <= max_pairs
    if len(pairs) > max_pairs:
        share = max(1, max_pairs // len(lows))
        pairs, _ = _collect(append, lows, highs, most=share, room=max_pairs, deadline=deadline)
    return Conflicts(pairs[np.lexsort(pairs.T[::-1])], never, complete)


def _collect(
    append: Callable[[Places, Places, int, Pairs, int], int],
    lows: Places,
    highs: Places,
    *,
    most: int,
    room: int,
    deadline: float,
) -> tuple[Pairs, bool]:
    """Call a kernel on some positives at a time; return the pairs, and whether the deadline left any out."""
    pairs = np.empty((min(room, len(lows) * len(highs)), 2), dtype=np.int32)
    found = 0
    size = max(1, _TESTS_PER_CHUNK // max(1, len(highs)))
    for start in range(0, len(lows), size):
        if time.monotonic() > deadline:
            return pairs[:found].copy(), False
        found = append(np.ascontiguousarray(lows[start : start + size]), highs, most, pairs, found)
    return pairs[:found].copy(), True
