"""Kernels of sums over rows of functions of mean probabilities: their worth, and what bounds it.

A term is one summand, and has forms: whole numbers `s`, each a sum over the members. Its worth is the least
of ``g(s)`` over its forms. The concave envelope of g over all `s` that are possible bounds it; where g is
concave that is g itself. A tangent of the envelope is linear in the members, so that the largest sum of
tangents is found by sorting.
"""

from typing import NamedTuple

import numpy as np

from shortlist._jit import kernel
from shortlist.arrays import Bytes, Floats, HalfTable, Longs

LOG, SQUARE, SIGMOID, STEP = 0, 1, 2, 3
"""What g is: ``log(mean)``, ``-(mean - aim)²``, a sigmoid of half the mean, or whether ``s >= aim``."""

FREE, IN, OUT = 0, 1, 2
"""Whether a classifier is decided."""

_SHRINKS = 12
"""Steps of a search along a line."""


class MeanTerms(NamedTuple):
    """Terms, as kernels want them."""

    columns: HalfTable
    """What each classifier adds to each form, ``(n_classifiers, n_forms)``."""
    starts: Longs
    """The first form of each term, ``(n_terms + 1,)``."""
    worth: Floats
    """What g = 1 is worth, above 0, ``(n_terms,)``."""
    aims: Floats
    """Of squares and steps, ``(n_forms,)``."""
    kind: int
    """What g is."""
    slope: float
    """Of a sigmoid."""
    whole: float
    """What mean 1 is for a single member."""


class Envelopes(NamedTuple):
    """Where the envelope of each form is a straight line: from `low`, `base` high, up to `knot`."""

    low: Floats
    base: Floats
    chord: Floats
    knot: Floats
    """Each of shape ``(n_forms,)``."""


class Looked(NamedTuple):
    """What tangents are looked for: of whom, and how long."""

    unit: float
    """What mean 1 is for all members together."""
    fixed: Bytes
    """:data:`FREE`, :data:`IN` or :data:`OUT`, ``(n_classifiers,)``."""
    need: int
    """How many free classifiers join those that are in."""
    n_steps: int
    """Most steps."""
    target: float
    """A bound that is low enough."""


class FoundTangents(NamedTuple):
    """Tangents that were found."""

    gains: Floats
    """What each classifier adds to all of them, ``(n_classifiers,)``."""
    lowest: Longs
    """The form that each is of, ``(n_terms,)``."""
    tilts: Floats
    """How steep each is, ``(n_terms,)``."""


@kernel("float64(int64, float64, float64, float64, float64)")
def worth_of_reach(kind: int, slope: float, aim: float, unit: float, reach: float) -> float:
    """Return g of one form, which reaches so much of `unit`."""
    if kind == STEP:
        return 1.0 if reach >= aim else 0.0
    mean = reach / unit
    if kind == LOG:
        worth: float = np.log(mean)
    elif kind == SQUARE:
        worth = -((mean - aim) ** 2)
    else:
        worth = 1.0 / (1.0 + np.exp(-slope * mean / 2.0))
    return worth


@kernel("float64(int64, float64, float64, float64, float64)")
def steepness_at(kind: int, slope: float, aim: float, unit: float, reach: float) -> float:
    """Return the derivative of g by the reach, where g is not a step."""
    mean = reach / unit
    if kind == LOG:
        return 1.0 / reach
    if kind == SQUARE:
        return -2.0 * (mean - aim) / unit
    value: float = 1.0 / (1.0 + np.exp(-slope * mean / 2.0))
    return value * (1.0 - value) * slope / 2.0 / unit


@kernel("void(MeanTerms, float64, uint8[::1], int64, float64, Envelopes)", makes_arrays=True)
def find_envelopes(
    terms: MeanTerms, unit: float, fixed: Bytes, need: int, aim_share: float, envelopes: Envelopes
) -> None:
    """Find where envelopes are straight, over all that `need` free ones beside those that are in reach.

    Steps are over `aim_share` of their aim.
    """
    n_classifiers, n_forms = terms.columns.shape
    free = np.empty(n_classifiers)
    for form in range(n_forms):
        sure = 0.0
        n_free = 0
        for k in range(n_classifiers):
            if fixed[k] == IN:
                sure += terms.columns[k, form]
            elif fixed[k] == FREE:
                free[n_free] = terms.columns[k, form]
                n_free += 1
        ranked = np.sort(free[:n_free])
        low, high = sure, sure
        for i in range(need):
            low += ranked[i]
            high += ranked[n_free - 1 - i]
        aim = terms.aims[form]
        envelopes.low[form] = low
        if terms.kind == STEP:
            aim *= aim_share
            envelopes.base[form] = 1.0 if low >= aim else 0.0
            envelopes.chord[form] = 0.0 if low >= aim or high < aim else 1.0 / (aim - low)
            envelopes.knot[form] = aim
            continue
        base = worth_of_reach(terms.kind, terms.slope, aim, unit, low)
        envelopes.base[form] = base
        envelopes.knot[form] = low
        envelopes.chord[form] = 0.0
        if low >= 0 or high <= low:
            continue
        # the chord from the low end grows as long as the sigmoid is steeper than it
        left, right = max(low, 0.0), high
        rise = worth_of_reach(terms.kind, terms.slope, aim, unit, high) - base
        touches = high > 0 and steepness_at(terms.kind, terms.slope, aim, unit, high) * (high - low) < rise
        if touches:
            for _ in range(60):
                middle = (left + right) / 2
                rise = worth_of_reach(terms.kind, terms.slope, aim, unit, middle) - base
                if steepness_at(terms.kind, terms.slope, aim, unit, middle) * (middle - low) >= rise:
                    left = middle
                else:
                    right = middle
        else:
            left = high
        envelopes.knot[form] = left if touches else np.inf
        envelopes.chord[form] = (worth_of_reach(terms.kind, terms.slope, aim, unit, left) - base) / (
            left - low
        )


@kernel("float64(MeanTerms, float64, Envelopes, int64, float64)")
def envelope_at(terms: MeanTerms, unit: float, envelopes: Envelopes, form: int, reach: float) -> float:
    """Return how high the envelope of a form is."""
    if terms.kind < SIGMOID:
        return worth_of_reach(terms.kind, terms.slope, terms.aims[form], unit, reach)
    chord: float = envelopes.chord[form]
    low: float = envelopes.low[form]
    base: float = envelopes.base[form]
    if chord > 0 and reach < envelopes.knot[form]:
        return base + chord * (reach - low)
    if terms.kind == STEP:
        return 1.0 if chord > 0 else base
    return worth_of_reach(terms.kind, terms.slope, terms.aims[form], unit, reach)


@kernel("float64(MeanTerms, float64, Envelopes, int64, float64)")
def tilt_at(terms: MeanTerms, unit: float, envelopes: Envelopes, form: int, reach: float) -> float:
    """Return how steep the envelope of a form is."""
    if terms.kind < SIGMOID:
        return steepness_at(terms.kind, terms.slope, terms.aims[form], unit, reach)
    chord: float = envelopes.chord[form]
    if chord > 0 and reach < envelopes.knot[form]:
        return chord
    if terms.kind == STEP:
        return 0.0
    return steepness_at(terms.kind, terms.slope, terms.aims[form], unit, reach)


@kernel("int64(MeanTerms, float64, Envelopes, int64, float64[::1])")
def lowest_form(terms: MeanTerms, unit: float, envelopes: Envelopes, term: int, reach: Floats) -> int:
    """Return the form of a term whose envelope is lowest."""
    first, end = terms.starts[term], terms.starts[term + 1]
    best: int = first
    if end - first > 1:
        least = envelope_at(terms, unit, envelopes, first, reach[first])
        for form in range(first + 1, end):
            value = envelope_at(terms, unit, envelopes, form, reach[form])
            if value < least:
                least, best = value, form
    return best


@kernel("float64(MeanTerms, float64, Envelopes, float64[::1], int64[::1], float64[::1])")
def take_tangents(
    terms: MeanTerms, unit: float, envelopes: Envelopes, reach: Floats, lowest: Longs, tilts: Floats
) -> float:
    """Take the tangent of every term; return the sum of the envelopes."""
    total = 0.0
    for term in range(len(terms.worth)):
        form = lowest_form(terms, unit, envelopes, term, reach)
        lowest[term] = form
        tilts[term] = tilt_at(terms, unit, envelopes, form, reach[form])
        total += terms.worth[term] * envelope_at(terms, unit, envelopes, form, reach[form])
    return total


@kernel("void(MeanTerms, int64[::1], float64[::1], float64[::1])")
def gains_of_tangents(terms: MeanTerms, lowest: Longs, tilts: Floats, gains: Floats) -> None:
    """Add up what each classifier adds to all tangents."""
    for k in range(terms.columns.shape[0]):
        total = 0.0
        for term in range(len(terms.worth)):
            total += terms.worth[term] * tilts[term] * terms.columns[k, lowest[term]]
        gains[k] = total


@kernel("float64(float64[::1], uint8[::1], int64)", makes_arrays=True)
def most_gain_of(gains: Floats, fixed: Bytes, need: int) -> float:
    """Return what the classifiers that are in, and the best free ones, add together."""
    free = np.empty(len(gains))
    n_free = 0
    total = 0.0
    for k in range(len(gains)):
        if fixed[k] == IN:
            total += gains[k]
        elif fixed[k] == FREE:
            free[n_free] = gains[k]
            n_free += 1
    ranked = np.sort(free[:n_free])
    for i in range(need):
        total += ranked[n_free - 1 - i]
    return total


@kernel("float64(MeanTerms, float64, Envelopes, float64[::1], float64[::1], float64)")
def rise_along(
    terms: MeanTerms, unit: float, envelopes: Envelopes, reach: Floats, change: Floats, step: float
) -> float:
    """Return how the sum of the envelopes rises along a change, after a step."""
    total = 0.0
    for term in range(len(terms.worth)):
        first, end = terms.starts[term], terms.starts[term + 1]
        best, least = first, np.inf
        if end - first > 1:
            for form in range(first, end):
                value = envelope_at(terms, unit, envelopes, form, reach[form] + step * change[form])
                if value < least:
                    least, best = value, form
        tilt = tilt_at(terms, unit, envelopes, best, reach[best] + step * change[best])
        total += terms.worth[term] * tilt * change[best]
    return total


@kernel("float64(MeanTerms, float64, Envelopes, float64[::1], float64[::1], float64)")
def best_step(
    terms: MeanTerms, unit: float, envelopes: Envelopes, reach: Floats, change: Floats, most: float
) -> float:
    """Return the step along a change, up to `most`, after which the sum of the envelopes is largest."""
    low, high = 0.0, most
    at_low = rise_along(terms, unit, envelopes, reach, change, 0.0)
    if at_low <= 0:
        return 0.0
    at_high = rise_along(terms, unit, envelopes, reach, change, most)
    if at_high >= 0:
        return most
    for _ in range(_SHRINKS):
        step = low + (high - low) * min(0.9, max(0.1, at_low / (at_low - at_high)))
        rise = rise_along(terms, unit, envelopes, reach, change, step)
        if rise > 0:
            low, at_low = step, rise
        else:
            high, at_high = step, rise
        if high - low < 1e-9:
            break
    return low if low > 0 else high


@kernel("float64(MeanTerms, Looked, Envelopes, float64[::1], FoundTangents)", makes_arrays=True)
def better_tangents(
    terms: MeanTerms, looked: Looked, envelopes: Envelopes, parts: Floats, found: FoundTangents
) -> float:
    """Look for tangents with a low bound: the bound of those left in `found`.

    `parts`, from 0 to 1, say how far each classifier is in; they are improved by moving what one is in to
    another one, until the bound is at most `target`, or near enough to the sum of the envelopes.
    """
    unit, fixed, need, target = looked.unit, looked.fixed, looked.need, looked.target
    n_classifiers, n_forms = terms.columns.shape
    reach, change = np.zeros(n_forms), np.empty(n_forms)
    for k in range(n_classifiers):
        if parts[k] > 0:
            for form in range(n_forms):
                reach[form] += parts[k] * terms.columns[k, form]
    now_gains, now_tilts = np.empty_like(found.gains), np.empty_like(found.tilts)
    now_lowest = np.empty_like(found.lowest)
    best = np.inf
    for _ in range(looked.n_steps):
        total = take_tangents(terms, unit, envelopes, reach, now_lowest, now_tilts)
        gains_of_tangents(terms, now_lowest, now_tilts, now_gains)
        bound = total + most_gain_of(now_gains, fixed, need)
        for term in range(len(terms.worth)):
            bound -= terms.worth[term] * now_tilts[term] * reach[now_lowest[term]]
        if bound < best:
            best = bound
            found.gains[:], found.lowest[:], found.tilts[:] = now_gains, now_lowest, now_tilts
        if best <= target or best - total < 0.05 * (best - target):
            break
        to, of = -1, -1
        for k in range(n_classifiers):
            if fixed[k] == FREE:
                if parts[k] < 1 and (to < 0 or now_gains[k] > now_gains[to]):
                    to = k
                if parts[k] > 0 and (of < 0 or now_gains[k] < now_gains[of]):
                    of = k
        if to < 0 or of < 0 or now_gains[to] <= now_gains[of]:
            break
        for form in range(n_forms):
            change[form] = float(terms.columns[to, form]) - float(terms.columns[of, form])
        most = min(1.0 - parts[to], parts[of])
        step = best_step(terms, unit, envelopes, reach, change, most)
        if step <= 0:
            break
        parts[to] = min(1.0, parts[to] + step)
        parts[of] = 0.0 if step >= parts[of] else parts[of] - step
        for form in range(n_forms):
            reach[form] += step * change[form]
    return best


@kernel("float64(MeanTerms, float64, float64[::1])")
def total_worth(terms: MeanTerms, unit: float, reach: Floats) -> float:
    """Return the sum of the worths themselves."""
    total = 0.0
    for term in range(len(terms.worth)):
        least = np.inf
        for form in range(terms.starts[term], terms.starts[term + 1]):
            least = min(least, worth_of_reach(terms.kind, terms.slope, terms.aims[form], unit, reach[form]))
        total += terms.worth[term] * least
    return total


@kernel("void(MeanTerms, float64, float64[::1], int64[::1], int64[::1], float64[:, ::1])", makes_arrays=True)
def worth_of_exchanges(
    terms: MeanTerms, unit: float, reach: Floats, leaving: Longs, joining: Longs, worths: Floats
) -> None:
    """Rate the exchange of each that leaves for each that joins; -1 stands for nobody."""
    changed = np.empty(len(reach))
    for i in range(len(leaving)):
        for j in range(len(joining)):
            for form in range(len(reach)):
                changed[form] = reach[form]
                if leaving[i] >= 0:
                    changed[form] -= terms.columns[leaving[i], form]
                if joining[j] >= 0:
                    changed[form] += terms.columns[joining[j], form]
            worths[i, j] = total_worth(terms, unit, changed)
