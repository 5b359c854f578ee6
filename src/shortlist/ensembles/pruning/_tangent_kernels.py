"""Kernels for sums of concave functions of mean probabilities: values and upper bounds.

A term is one summand of the sum over rows: a concave function g of an integer `s`, which is a sum over the
members. A tangent of g is linear in the members, so the largest sum of tangents is found by sorting.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel
from shortlist.arrays import Bytes, Floats, HalfTable

LOG, SQUARE = 0, 1
"""Kinds of g: ``log(mean)`` or ``-(mean - aim)²``."""

FREE, IN, OUT = 0, 1, 2
"""States of a classifier: undecided, member, or left out."""

_SHRINKS = 12
"""Number of steps of a search along a line."""


class MeanTerms(NamedTuple):
    """Terms of a sum, in the form that kernels take."""

    columns: HalfTable
    """Part of each classifier in the sum `s` of each term, ``(n_classifiers, n_terms)``."""
    aims: Floats
    """Aims of squares, ``(n_terms,)``."""
    kind: int
    """Kind of g: :data:`LOG` or :data:`SQUARE`."""
    whole: float
    """Value of `s` at which a single member has the mean 1."""


class Looked(NamedTuple):
    """Arguments of a search for tangents: states of classifiers, the target and the number of steps."""

    unit: float
    """Value of `s` at which all members together have the mean 1."""
    fixed: Bytes
    """State of each classifier, :data:`FREE`, :data:`IN` or :data:`OUT`, ``(n_classifiers,)``."""
    need: int
    """Number of free classifiers that join the members."""
    n_steps: int
    """Largest number of steps."""
    target: float
    """Bound at which the search ends."""


class FoundTangents(NamedTuple):
    """Tangents as found by a search."""

    gains: Floats
    """Gain of each classifier in the sum of all tangents, ``(n_classifiers,)``."""
    tilts: Floats
    """Slope of each tangent, ``(n_terms,)``."""


@kernel("float64(int64, float64, float64, float64)")
def worth_of_reach(kind: int, aim: float, unit: float, reach: float) -> float:
    """Return the value of g for a sum `reach`, whose mean is `reach` / `unit`."""
    mean = reach / unit
    if kind == LOG:
        worth: float = np.log(mean)
        return worth
    return -((mean - aim) ** 2)


@kernel("float64(int64, float64, float64, float64)")
def steepness_at(kind: int, aim: float, unit: float, reach: float) -> float:
    """Return the derivative of g by the reach."""
    if kind == LOG:
        return 1.0 / reach
    return -2.0 * (reach / unit - aim) / unit


@kernel("float64(MeanTerms, float64, float64[::1], float64[::1])")
def take_tangents(terms: MeanTerms, unit: float, reach: Floats, tilts: Floats) -> float:
    """Set `tilts` to the slopes of the tangents of all terms at `reach`; return the sum of the terms."""
    total = 0.0
    for term in range(len(tilts)):
        tilts[term] = steepness_at(terms.kind, terms.aims[term], unit, reach[term])
        total += worth_of_reach(terms.kind, terms.aims[term], unit, reach[term])
    return total


@kernel("void(MeanTerms, float64[::1], float64[::1])")
def gains_of_tangents(terms: MeanTerms, tilts: Floats, gains: Floats) -> None:
    """Set `gains` to the gain of each classifier in the sum of all tangents."""
    for k in range(terms.columns.shape[0]):
        total = 0.0
        for term in range(len(tilts)):
            total += tilts[term] * terms.columns[k, term]
        gains[k] = total


@kernel("float64(float64[::1], uint8[::1], int64)", makes_arrays=True)
def most_gain_of(gains: Floats, fixed: Bytes, need: int) -> float:
    """Return the largest sum of gains: of all members, and of the `need` best free classifiers."""
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


@kernel("float64(MeanTerms, float64, float64[::1], float64[::1], float64)")
def rise_along(terms: MeanTerms, unit: float, reach: Floats, change: Floats, step: float) -> float:
    """Return the slope of the sum of the terms along `change`, after a step of length `step`."""
    total = 0.0
    for term in range(len(reach)):
        at = reach[term] + step * change[term]
        total += steepness_at(terms.kind, terms.aims[term], unit, at) * change[term]
    return total


@kernel("float64(MeanTerms, float64, float64[::1], float64[::1], float64)")
def best_step(terms: MeanTerms, unit: float, reach: Floats, change: Floats, most: float) -> float:
    """Return the step along `change`, from 0 to `most`, after which the sum of the terms is largest."""
    low, high = 0.0, most
    at_low = rise_along(terms, unit, reach, change, 0.0)
    if at_low <= 0:
        return 0.0
    at_high = rise_along(terms, unit, reach, change, most)
    if at_high >= 0:
        return most
    for _ in range(_SHRINKS):
        step = low + (high - low) * min(0.9, max(0.1, at_low / (at_low - at_high)))
        rise = rise_along(terms, unit, reach, change, step)
        if rise > 0:
            low, at_low = step, rise
        else:
            high, at_high = step, rise
        if high - low < 1e-9:
            break
    return low if low > 0 else high


@kernel("float64(MeanTerms, Looked, float64[::1], FoundTangents)", makes_arrays=True)
def better_tangents(terms: MeanTerms, looked: Looked, parts: Floats, found: FoundTangents) -> float:
    """Search for tangents with a low bound; store them in `found`, and return their bound.

    `parts`, from 0 to 1: degree to which each classifier is a member, changed in place. Each step moves a
    part from one classifier to another classifier. The search ends if the bound is at most the target, or
    near enough to the sum of the terms.
    """
    unit, fixed, need, target = looked.unit, looked.fixed, looked.need, looked.target
    n_classifiers, n_terms = terms.columns.shape
    reach, change = np.zeros(n_terms), np.empty(n_terms)
    for k in range(n_classifiers):
        if parts[k] > 0:
            for term in range(n_terms):
                reach[term] += parts[k] * terms.columns[k, term]
    now_gains, now_tilts = np.empty_like(found.gains), np.empty_like(found.tilts)
    best = np.inf
    for _ in range(looked.n_steps):
        total = take_tangents(terms, unit, reach, now_tilts)
        gains_of_tangents(terms, now_tilts, now_gains)
        bound = total + most_gain_of(now_gains, fixed, need)
        for term in range(n_terms):
            bound -= now_tilts[term] * reach[term]
        if bound < best:
            best = bound
            found.gains[:], found.tilts[:] = now_gains, now_tilts
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
        for term in range(n_terms):
            change[term] = float(terms.columns[to, term]) - float(terms.columns[of, term])
        most = min(1.0 - parts[to], parts[of])
        step = best_step(terms, unit, reach, change, most)
        if step <= 0:
            break
        parts[to] = min(1.0, parts[to] + step)
        parts[of] = 0.0 if step >= parts[of] else parts[of] - step
        for term in range(n_terms):
            reach[term] += step * change[term]
    return best


@dataclass(frozen=True, kw_only=True)
class RoundSettings:
    """Settings of a search in rounds, each among few classifiers."""

    joining: int = 24
    """Number of classifiers that join in a round; they have the largest gains."""
    rounds: int = 30
    """Largest number of rounds."""
    steps: int = 200
    """Number of steps of a round among few classifiers."""
    near: float = 0.02
    """Distance of the bound from the sum of the terms at which a round ends, as a share of the distance to
    the target.
    """


def tangents_in_rounds(
    terms: MeanTerms,
    looked: Looked,
    parts: Floats,
    found: FoundTangents,
    *,
    stopped: Callable[[], bool],
    settings: RoundSettings | None = None,
) -> float:
    """Search for tangents with a low bound, as :func:`better_tangents` does, and return the bound.

    A round takes O(n_terms · n_classifiers) time, and each of its steps O(n_terms · n_few) time; n_few is the
    number of classifiers in the round.

    `terms`, `looked`: as for :func:`better_tangents`, but `settings` has the number of steps. `parts`,
    ``(n_classifiers,)``: degree to which each classifier is a member, improved in place; few of them should
    be above 0. `found`: receives the best tangents. `stopped`: called after every round; the search ends if
    it returns True.
    """
    settings = settings or RoundSettings()
    now = FoundTangents(found.gains.copy(), found.tilts.copy())
    best = _priced(terms, looked, parts, found)
    for _ in range(settings.rounds):
        if best <= looked.target or stopped():
            break
        few = few_of(parts, found.gains, looked.fixed == FREE, settings.joining)
        part, own = terms._replace(columns=np.ascontiguousarray(terms.columns[few])), parts[few]
        among = looked._replace(fixed=looked.fixed[few], n_steps=settings.steps)
        apart = FoundTangents(np.empty(len(few)), np.empty_like(found.tilts))
        better_tangents(part, among, own, apart)
        parts[few] = own
        reach = own @ part.columns
        reached = take_tangents(part, looked.unit, reach, apart.tilts)
        bound = _priced(terms, looked, parts, now)
        if bound < best:
            best = bound
            for to, of in zip(found, now, strict=True):
                to[:] = of
        if best - reached < settings.near * (best - looked.target):
            break
    return float(best)


def few_of(parts: Floats, gains: Floats, free: NDArray[np.bool_], n_joining: int) -> NDArray[np.intp]:
    """Return increasing indices of all classifiers with a part, and of `n_joining` others of largest gain.

    >>> few_of(np.array([0.5, 0, 0, 0.5]), np.array([1.0, 3, 2, 4]), np.ones(4, dtype=bool), 1).tolist()
    [0, 1, 3]
    """
    others = np.flatnonzero(free & (parts == 0))
    joining = others[np.argsort(-gains[others], kind="stable")[:n_joining]]
    return np.sort(np.concatenate([np.flatnonzero(parts > 0), joining]))


def _priced(terms: MeanTerms, looked: Looked, parts: Floats, found: FoundTangents) -> float:
    """Return the bound on all selections by the tangents at `parts`; store these tangents in `found`.

    The search then makes at most one step, which may change `parts`.
    """
    return float(better_tangents(terms, looked._replace(n_steps=1), parts, found))
