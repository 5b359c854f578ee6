"""Tangents of large tables: a bound from few classifiers at a time, which all others are then priced by.

A step of :func:`shortlist.ensembles.averaging._kernels.better_tangents` reads every number of the table, and
hundreds of steps are needed. Nearly all classifiers have no part in the best mean, however. So the steps are
taken among those that have one and those that would gain most, and every round ends with one look at all,
which bounds them and says who joins next: column generation.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.ensembles.averaging._kernels import (
    FREE,
    Envelopes,
    FoundTangents,
    Looked,
    MeanTerms,
    better_tangents,
    take_tangents,
)


@dataclass(frozen=True, kw_only=True)
class RoundSettings:
    """How rounds go on.

    Parameters
    ----------
    joining : int
        Classifiers that join in a round, those that gain most.
    rounds : int
        Most rounds.
    steps : int
        Steps of a round among few classifiers.
    near : float
        Share of the distance to the target by which the bound may be above what the parts reach.
    """

    joining: int = 24
    rounds: int = 30
    steps: int = 200
    near: float = 0.02


def tangents_in_rounds(
    terms: MeanTerms,
    looked: Looked,
    envelopes: Envelopes,
    parts: Floats,
    found: FoundTangents,
    *,
    stopped: Callable[[], bool],
    settings: RoundSettings | None = None,
) -> float:
    """Look for tangents of low bound, as :func:`better_tangents` does, and return that bound.

    Parameters
    ----------
    terms, looked, envelopes
        As of the kernel; its number of steps is that of the settings here.
    parts : ndarray of float, shape (n_classifiers,)
        How far each classifier is in, which is improved; few of them should be above 0.
    found : FoundTangents
        Gets the best tangents.
    stopped : callable
        Asked after every round, of which there is one at least.
    settings : RoundSettings, optional
        How rounds go on.

    Notes
    -----
    A round takes O(n_forms · n_classifiers) time once, and O(n_forms · n_few) for each of its steps.
    """
    settings = settings or RoundSettings()
    now = FoundTangents(found.gains.copy(), found.lowest.copy(), found.tilts.copy())
    best = _priced(terms, looked, envelopes, parts, found)
    for _ in range(settings.rounds):
        if best <= looked.target or stopped():
            break
        few = few_of(parts, found.gains, looked.fixed == FREE, settings.joining)
        part, own = terms._replace(columns=np.ascontiguousarray(terms.columns[few])), parts[few]
        among = looked._replace(fixed=looked.fixed[few], n_steps=settings.steps)
        apart = FoundTangents(np.empty(len(few)), np.empty_like(found.lowest), np.empty_like(found.tilts))
        better_tangents(part, among, envelopes, own, apart)
        parts[few] = own
        reach = own @ part.columns
        reached = take_tangents(part, looked.unit, envelopes, reach, apart.lowest, apart.tilts)
        bound = _priced(terms, looked, envelopes, parts, now)
        if bound < best:
            best = bound
            for to, of in zip(found, now, strict=True):
                to[:] = of
        if best - reached < settings.near * (best - looked.target):
            break
    return float(best)


def few_of(parts: Floats, gains: Floats, free: NDArray[np.bool_], n_joining: int) -> NDArray[np.intp]:
    """Return who has a part, and so many of the others that gain most, increasing.

    Examples
    --------
    >>> few_of(np.array([0.5, 0, 0, 0.5]), np.array([1.0, 3, 2, 4]), np.ones(4, dtype=bool), 1).tolist()
    [0, 1, 3]
    """
    others = np.flatnonzero(free & (parts == 0))
    joining = others[np.argsort(-gains[others], kind="stable")[:n_joining]]
    return np.sort(np.concatenate([np.flatnonzero(parts > 0), joining]))


def _priced(
    terms: MeanTerms, looked: Looked, envelopes: Envelopes, parts: Floats, found: FoundTangents
) -> float:
    """Bound all classifiers by the tangents where the parts are; one step may change these after that."""
    return float(better_tangents(terms, looked._replace(n_steps=1), envelopes, parts, found))
