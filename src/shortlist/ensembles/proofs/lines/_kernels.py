"""Kernels of the bound on margin utilities, by one line above every row's worth.

A row is worth ``worth · table[d]`` at distance d, the smallest distance of its forms (see
:mod:`shortlist.ensembles.proofs.lines.slope_rows`). Above that lies a line of tilt q, ``q · d + max(table[e]
− q · e)`` over the distances e that the row can still have. The row's tilt is the sum of its forms', none of
which is negative, and ``q · d`` is at most the sum of each form's tilt times its distance. That makes the
worth of all rows linear in the members and the threshold, so that its maximum is the sum of the largest
coefficients.

`descend` looks for tilts that make this bound small, in floats; `bound_by` computes it in
integers from tilts in integers, so that it holds whatever was found.
"""

from typing import NamedTuple

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Bytes, Floats, Longs, Shorts, SignTable, Whole

FREE, IN, OUT = range(3)
"""States of a classifier."""
BEST, RELAX, IDLE = range(3)
"""Entries of `state`: the lowest bound so far, the factor of steps, and steps without a lower one."""

_PATIENCE = 6
_SHRINK = 0.7
_UNKNOWN_GAP = 0.1


class LineForms(NamedTuple):
    """Rows and their forms."""

    signs: SignTable
    """What each classifier adds to a form, ``(n_forms, n_classifiers)``: −1, 0 or 1."""
    columns: SignTable
    """The same by classifier."""
    levels: Longs
    """What the threshold adds, ``(n_forms,)``: −1, 0 or 1."""
    least: Longs
    """From what a form holds, ``(n_forms,)``: its distance is 1 there."""
    starts: Longs
    """The first form of each row, and the end, ``(n_rows + 1,)``."""
    worth: Longs
    """What utility 1 is worth, ``(n_rows,)``, above 0."""
    above: Longs
    """How many classifiers add 1 to a form, ``(n_forms,)``."""
    below: Longs
    """How many take 1 from it."""


class Ranges(NamedTuple):
    """What distances a part allows."""

    base: Longs
    """What the members so far add to each form."""
    low: Longs
    """The least distance of each row."""
    high: Longs
    """The largest distance of each row."""
    free: Longs
    """The free classifiers come first."""
    plus: Longs
    """How many free classifiers add 1 to each form."""
    minus: Longs
    """How many take 1 from it."""


class LinePart(NamedTuple):
    """The selections and thresholds that are bounded together."""

    table: Longs
    """Worth by distance, the middle entry for 0, for the members that are wanted."""
    ranges: Ranges
    """What distances they allow."""
    n_free: int
    """How many classifiers are free."""
    need: int
    """How many of them must join."""
    first: int
    """Least threshold."""
    last: int
    """Largest threshold."""


class Descent(NamedTuple):
    """Where the search for tilts is."""

    now: Floats
    """The tilts now, ``(n_forms,)``."""
    step: Floats
    """The direction."""
    reached: Floats
    """What the best members add to each form."""
    tilts: Floats
    """The best tilts so far."""
    gains: Floats
    """What each classifier adds to the bound."""
    order: Longs
    """Classifiers, those that add most first."""
    state: Floats
    """See the numbers above."""


@kernel("int64(LineForms, Ranges, uint8[::1], int64, int64, int64)")
def note_ranges(forms: LineForms, ranges: Ranges, fixed: Bytes, size: int, first: int, last: int) -> int:
    """Write the range of every row's distance, list the free classifiers, and return how many there are.

    `size` members are wanted of those that are not OUT, with a threshold from `first` to `last`.
    """
    base, plus, minus = ranges.base, ranges.plus, ranges.minus
    n_forms = len(base)
    for f in range(n_forms):
        base[f] = 0
        plus[f] = forms.above[f]
        minus[f] = forms.below[f]
    n_free = 0
    need = size
    for k in range(len(fixed)):
        if fixed[k] == FREE:
            ranges.free[n_free] = k
            n_free += 1
            continue
        for f in range(n_forms):
            plus[f] -= forms.columns[k, f] > 0
            minus[f] -= forms.columns[k, f] < 0
        if fixed[k] == IN:
            need -= 1
            for f in range(n_forms):
                base[f] += forms.columns[k, f]
    for r in range(len(forms.worth)):
        low = high = np.int64(2**62)
        for f in range(forms.starts[r], forms.starts[r + 1]):
            level, start = forms.levels[f], base[f] - forms.least[f] + 1
            most = start + min(need, plus[f]) - max(0, need - (n_free - minus[f]))
            least = start - min(need, minus[f]) + max(0, need - (n_free - plus[f]))
            high = min(high, most + max(level * first, level * last))
            low = min(low, least + min(level * first, level * last))
        ranges.low[r] = low
        ranges.high[r] = high
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


@kernel("void(LineForms, LinePart, Descent, float64, int64)")
def descend(forms: LineForms, part: LinePart, descent: Descent, target: float, n_steps: int) -> None:
    """Take subgradient steps from ``descent.now`` for lower bounds; leave the best in ``descent.tilts``.

    Steps are as long as the way to `target` asks for (Polyak), shorter when nothing gets better. The descent
    carries over: twice five steps are ten steps. Stops at a bound that is no larger than `target`; a target
    below 0 is unknown.
    """
    table, ranges, first, last = part.table, part.ranges, part.first, part.last
    now, step, gains, order, state = descent.now, descent.step, descent.gains, descent.order, descent.state
    n_rows, n_classifiers, n_forms = len(forms.worth), forms.signs.shape[1], len(forms.least)
    middle = len(table) // 2
    steepest = float(table[middle + 1] - table[middle])
    for _ in range(n_steps):
        bound = 0.0
        by_threshold = 0.0
        for k in range(n_classifiers):
            gains[k] = 0.0
        for r in range(n_rows):
            tilt = 0.0
            for f in range(forms.starts[r], forms.starts[r + 1]):
                tilt += now[f]
            at = touching(table, middle, ranges.low[r], ranges.high[r], tilt)
            bound += forms.worth[r] * (table[middle + at] - tilt * at)
            for f in range(forms.starts[r], forms.starts[r + 1]):
                y = forms.worth[r] * now[f]
                bound += y * (ranges.base[f] - forms.least[f] + 1)
                by_threshold += y * forms.levels[f]
                if y != 0:
                    for k in range(n_classifiers):
                        gains[k] += forms.signs[f, k] * y
                step[f] = -at
                descent.reached[f] = ranges.base[f] - forms.least[f] + 1
        for j in range(part.n_free):
            order[j] = ranges.free[j]
        put_largest_first(gains, order, part.n_free, part.need)
        for j in range(part.need):
            k = order[j]
            bound += gains[k]
            for f in range(n_forms):
                descent.reached[f] += forms.columns[k, f]
        threshold = last if by_threshold > 0 else first
        bound += threshold * by_threshold
        if bound < state[BEST]:
            state[BEST] = bound
            state[IDLE] = 0
            for f in range(n_forms):
                descent.tilts[f] = now[f]
            if bound <= target:
                return
        else:
            state[IDLE] += 1
            if state[IDLE] >= _PATIENCE:
                state[RELAX] *= _SHRINK
                state[IDLE] = 0
        norm = 0.0
        for r in range(n_rows):
            for f in range(forms.starts[r], forms.starts[r + 1]):
                step[f] = forms.worth[r] * (step[f] + descent.reached[f] + forms.levels[f] * threshold)
                norm += step[f] * step[f]
        if norm == 0:
            return
        gap = bound - target if target >= 0 else _UNKNOWN_GAP * bound
        length = state[RELAX] * gap / norm
        for f in range(n_forms):
            now[f] = min(max(now[f] - length * step[f], 0.0), steepest)


@kernel("int64(LineForms, LinePart, int32[::1], int64[::1])")
def bound_by(forms: LineForms, part: LinePart, tilts: Shorts, gains: Longs) -> Whole:
    """Return the bound without its free members, and write what every classifier adds into `gains`.

    Integers throughout.
    """
    table, ranges, first, last = part.table, part.ranges, part.first, part.last
    n_classifiers = forms.signs.shape[1]
    middle = len(table) // 2
    bound: Whole = np.int64(0)
    by_threshold: Whole = np.int64(0)
    for k in range(n_classifiers):
        gains[k] = 0
    for r in range(len(forms.worth)):
        tilt = np.int64(0)
        for f in range(forms.starts[r], forms.starts[r + 1]):
            y = forms.worth[r] * np.int64(tilts[f])
            tilt += tilts[f]
            bound += y * (ranges.base[f] - forms.least[f] + 1)
            by_threshold += y * forms.levels[f]
            if y != 0:
                for k in range(n_classifiers):
                    gains[k] += forms.signs[f, k] * y
        most = table[middle + ranges.low[r]] - tilt * ranges.low[r]
        for d in range(ranges.low[r] + 1, ranges.high[r] + 1):
            here = table[middle + d] - tilt * d
            if here > most:  # noqa: PLR1730  # numba compiles a comparison faster than max
                most = here
        bound += forms.worth[r] * most
    return bound + max(first * by_threshold, last * by_threshold)
