"""Kernels of the bound on margin utilities, by one line above every row's worth.

A row is worth ``worth · table[d]`` at distance d (see :mod:`shortlist.ensembles.goals.margin_worth`). Above
that lies a line of tilt q, ``q · d + max(table[e] − q · e)`` over the distances e that the row can still
have. Lines make the worth of all rows linear in the members and the threshold, so that its maximum is the
sum of the largest coefficients.

`descend` looks for tilts that make this bound small, in floats; `bound_by` computes it in
integers from tilts in integers, so that it holds whatever was found.
"""

from typing import NamedTuple

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Bytes, ByteTable, Floats, FloatTable, Longs, LongTable, Shorts, Whole

FREE, IN, OUT = range(3)
"""States of a classifier."""
BASE, LOW, HIGH = range(3)
"""Rows of `ranges`: votes of the members so far, least and largest distance."""
NOW, STEP, AT = range(3)
"""Rows of `floats`: the tilts now, the direction, and votes of the best members."""
BEST, RELAX, IDLE = range(3)
"""Entries of `state`: the lowest bound so far, the factor of steps, and steps without a lower one."""


class LineRows(NamedTuple):
    """Rows of the bound."""

    votes: ByteTable
    """The vote of each classifier, ``(n_rows, n_classifiers)``."""
    columns: ByteTable
    """The same transposed."""
    side: Longs
    """1 where positive is worth more, else −1."""
    worth: Longs
    """What the margin of a row is multiplied by."""


class LinePart(NamedTuple):
    """The selections and thresholds that are bounded together."""

    table: Longs
    """Worth of a margin by distance, the middle entry for 0, for the members that are wanted."""
    ranges: LongTable
    """See the numbers above."""
    free: Longs
    """The free classifiers, first `n_free` entries."""
    n_free: int
    """How many there are."""
    need: int
    """How many of them must join."""
    first: int
    """Least threshold."""
    last: int
    """Largest threshold."""


class Descent(NamedTuple):
    """Where the steps are."""

    tilts: Floats
    """The best so far."""
    floats: FloatTable
    """See the numbers above."""
    gains: Floats
    """What each classifier adds to the bound."""
    order: Longs
    """Room to rank the free classifiers."""
    state: Floats
    """See the numbers above."""


_PATIENCE = 6
_SHRINK = 0.7
_UNKNOWN_GAP = 0.1


@kernel("int64(LineRows, uint8[::1], int64, int64, int64, int64[:, ::1], int64[::1])")
def note_ranges(
    rows: LineRows, fixed: Bytes, size: int, first: int, last: int, ranges: Longs, free: Longs
) -> int:
    """Write the range of every row's distance, list the free classifiers, and return how many there are.

    `size` members are wanted of those that are not OUT, with a threshold from `first` to `last`.
    """
    columns, side = rows.columns, rows.side
    n_rows = columns.shape[1]
    n_free = 0
    need = size
    for r in range(n_rows):
        ranges[BASE, r] = 0
        ranges[HIGH, r] = 0
    for k in range(columns.shape[0]):
        if fixed[k] == IN:
            need -= 1
            for r in range(n_rows):
                ranges[BASE, r] += columns[k, r]
        elif fixed[k] == FREE:
            free[n_free] = k
            n_free += 1
            for r in range(n_rows):
                ranges[HIGH, r] += columns[k, r]
    for r in range(n_rows):
        voters = ranges[HIGH, r]
        most = ranges[BASE, r] + min(need, voters)
        least = ranges[BASE, r] + max(0, need - (n_free - voters))
        if side[r] > 0:
            ranges[LOW, r] = least - last
            ranges[HIGH, r] = most - first
        else:
            ranges[LOW, r] = 1 - most + first
            ranges[HIGH, r] = 1 - least + last
    return n_free


@kernel("void(float64[::1], int64[::1], int64, int64)")
def put_largest_first(values: Floats, order: Longs, n: int, m: int) -> None:
    """Move the `m` largest of the first `n` entries of `order` to the front (Hoare's selection)."""
    left = 0
    right = n - 1
    while left < right:
        pivot = values[order[(left + right) // 2]]
        i = left
        j = right
        while i <= j:
            while values[order[i]] > pivot:
                i += 1
            while values[order[j]] < pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if m - 1 <= j:
            right = j
        elif m - 1 >= i:
            left = i
        else:
            return


@kernel("int64(int64[::1], int64, int64, int64, float64)")
def touching(table: Longs, middle: int, low: int, high: int, tilt: float) -> int:
    """Return the distance in a range at which a line of this tilt touches the table from above.

    The steps of the table rise up to the one into distance 1 and fall from there on, but for rounding.
    """
    best = low
    most = table[middle + low] - tilt * low
    edge = min(high, 0)
    if edge > low:
        worth = table[middle + edge] - tilt * edge
        if worth > most:
            best = edge
            most = worth
    if high >= 1:
        near = max(low, 1)
        far = high
        while near < far:
            between = (near + far + 1) >> 1
            if table[middle + between] - table[middle + between - 1] >= tilt:
                near = between
            else:
                far = between - 1
        if table[middle + near] - tilt * near > most:
            best = near
    return best


@kernel("void(int64, float64, LineRows, LinePart, Descent)")
def descend(n_steps: int, target: float, rows: LineRows, part: LinePart, descent: Descent) -> None:
    """Take subgradient steps from ``floats[NOW]`` for lower bounds; leave the best tilts in `tilts`.

    Steps are as long as the way to `target` asks for (Polyak), shorter when nothing gets better. `state` and
    `floats` carry over: twice five steps are ten steps. Stops at a bound that is no larger than `target`; a
    target below 0 is unknown.
    """
    votes, columns, side, worth = rows.votes, rows.columns, rows.side, rows.worth
    table, ranges, free = part.table, part.ranges, part.free
    n_free, need, first, last = part.n_free, part.need, part.first, part.last
    tilts, floats, gains, order = descent.tilts, descent.floats, descent.gains, descent.order
    state = descent.state
    n_rows, n_classifiers = votes.shape
    middle = len(table) // 2
    steepest = float(table[middle + 1] - table[middle])
    for _ in range(n_steps):
        bound = 0.0
        by_threshold = 0.0
        for k in range(n_classifiers):
            gains[k] = 0.0
        for r in range(n_rows):
            tilt = floats[NOW, r]
            at = touching(table, middle, ranges[LOW, r], ranges[HIGH, r], tilt)
            y = side[r] * worth[r] * tilt
            bound += worth[r] * (table[middle + at] - tilt * at) + y * ranges[BASE, r]
            if side[r] < 0:
                bound -= y
            by_threshold -= y
            for k in range(n_classifiers):
                gains[k] += votes[r, k] * y
            floats[STEP, r] = -at
            floats[AT, r] = ranges[BASE, r]
        for j in range(n_free):
            order[j] = free[j]
        put_largest_first(gains, order, n_free, need)
        for j in range(need):
            k = order[j]
            bound += gains[k]
            for r in range(n_rows):
                floats[AT, r] += columns[k, r]
        threshold = last if by_threshold > 0 else first
        bound += threshold * by_threshold
        if bound < state[BEST]:
            state[BEST] = bound
            state[IDLE] = 0
            for r in range(n_rows):
                tilts[r] = floats[NOW, r]
            if bound <= target:
                return
        else:
            state[IDLE] += 1
            if state[IDLE] >= _PATIENCE:
                state[RELAX] *= _SHRINK
                state[IDLE] = 0
        norm = 0.0
        for r in range(n_rows):
            d = floats[AT, r] - threshold
            if side[r] < 0:
                d = 1 - d
            floats[STEP, r] = worth[r] * (floats[STEP, r] + d)
            norm += floats[STEP, r] * floats[STEP, r]
        if norm == 0:
            return
        gap = bound - target if target >= 0 else _UNKNOWN_GAP * bound
        length = state[RELAX] * gap / norm
        for r in range(n_rows):
            floats[NOW, r] = min(max(floats[NOW, r] - length * floats[STEP, r], 0.0), steepest)


@kernel("int64(LineRows, LinePart, int32[::1], int64[::1])")
def bound_by(rows: LineRows, part: LinePart, tilts: Shorts, gains: Longs) -> Whole:
    """Return the bound without its free members, and write what every classifier adds into `gains`.

    Integers throughout.
    """
    votes, side, worth, table, ranges = rows.votes, rows.side, rows.worth, part.table, part.ranges
    n_rows, n_classifiers = votes.shape
    middle = len(table) // 2
    bound: Whole = np.int64(0)
    by_threshold: Whole = np.int64(0)
    for k in range(n_classifiers):
        gains[k] = 0
    for r in range(n_rows):
        tilt = np.int64(tilts[r])
        most = table[middle + ranges[LOW, r]] - tilt * ranges[LOW, r]
        for d in range(ranges[LOW, r] + 1, ranges[HIGH, r] + 1):
            here = table[middle + d] - tilt * d
            if here > most:  # noqa: PLR1730  # numba compiles a comparison faster than max
                most = here
        y = side[r] * worth[r] * tilt
        bound += worth[r] * most + y * ranges[BASE, r]
        if side[r] < 0:
            bound -= y
        by_threshold -= y
        for k in range(n_classifiers):
            gains[k] += votes[r, k] * y
    return bound + max(part.first * by_threshold, part.last * by_threshold)
