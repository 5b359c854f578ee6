"""Interactions of which no two occur in one product: no covering sample has fewer products than there are."""

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask

MOST_VARIABLES = 2_000
"""Above so many open features, literals are not compared: the table would take too much memory."""

MOST_SEEDS = 400
"""Literals from which sets of literals that exclude each other are grown."""

MOST_SETS = 40
"""The largest of these that are put together."""


def exclusive_interactions(
    places: NDArray[np.int32], occurs: Mask, n_variables: int
) -> list[tuple[int, int]]:
    """Return interactions, by row and code, that exclude each other for a reason that is plain to see.

    Literals exclude each other where no interaction with both occurs. From t sets of literals of which every
    two exclude each other, as the features of an alternative are, one literal each makes interactions that
    differ in one of the sets, so no product has two of them. The best sets are looked for greedily.

    Parameters
    ----------
    places : ndarray of int32, shape (n_rows, t)
        The variables of each row of interactions, from 0.
    occurs : ndarray of bool, shape (n_rows, 2**t)
        Whether an interaction occurs in a product; all must be decided.
    n_variables : int
        How many variables there are.

    Examples
    --------
    >>> places = np.array([[0, 1], [0, 2], [1, 2]], dtype=np.int32)
    >>> occurs = np.ones((3, 4), dtype=bool)
    >>> occurs[0, 3] = False  # the first two features never occur together
    >>> len(exclusive_interactions(places, occurs, 3))
    4
    """
    t = places.shape[1]
    if not len(places) or n_variables > MOST_VARIABLES:
        return []
    possible, excluding = _literals(places, occurs, n_variables)
    sets = _exclusive_sets(possible, excluding)
    rows = {tuple(row): number for number, row in enumerate(places.tolist())}
    best: list[tuple[int, int]] = []
    for some in itertools.combinations_with_replacement(sets, t):
        if math.prod(map(len, some)) <= len(best):
            continue
        found = set()
        for literals in itertools.product(*some):
            values = sorted((literal >> 1, literal & 1) for literal in literals)
            row = rows.get(tuple(variable for variable, _ in values))
            if row is None:
                continue
            code = sum((1 - negative) << k for k, (_, negative) in enumerate(values))
            if occurs[row, code]:
                found.add((row, code))
        if len(found) > len(best):
            best = sorted(found)
    return best


def _literals(places: NDArray[np.int32], occurs: Mask, n_variables: int) -> tuple[Mask, Mask]:
    """Return which literals are possible, and which two exclude each other; v is 2v true and 2v + 1 false."""
    t = places.shape[1]
    together = np.zeros((2 * n_variables, 2 * n_variables), dtype=bool)
    compared = np.zeros((n_variables, n_variables), dtype=bool)  # variables that are in a row together
    codes = np.arange(occurs.shape[1])
    for one, other in itertools.combinations_with_replacement(range(t), 2):
        compared[places[:, one], places[:, other]] = compared[places[:, other], places[:, one]] = True
        for first, second in itertools.product((0, 1), repeat=2):
            columns = ((codes >> one & 1) != first) & ((codes >> other & 1) != second)
            some = occurs[:, columns].any(axis=1)
            mine, theirs = 2 * places[some, one] + first, 2 * places[some, other] + second
            together[mine, theirs] = together[theirs, mine] = True
    possible = together.diagonal().copy()
    return possible, ~together & np.repeat(np.repeat(compared, 2, axis=0), 2, axis=1)


def _exclusive_sets(possible: Mask, excluding: Mask) -> list[tuple[int, ...]]:
    """Return large sets of literals that exclude each other, the largest first, grown from many literals."""
    excluding = excluding & possible[:, None] & possible[None, :]
    degrees = excluding.sum(axis=1)
    found: set[tuple[int, ...]] = set()
    for seed in np.argsort(-degrees, kind="stable")[:MOST_SEEDS].tolist():
        members, left = [seed], excluding[seed].copy()
        while left.any():
            candidates = np.flatnonzero(left)
            inside = excluding[np.ix_(candidates, candidates)].sum(axis=1)
            best = int(candidates[int(np.argmax(inside))])
            members.append(best)
            left &= excluding[best]
        found.add(tuple(sorted(members)))
    return sorted(found, key=lambda each: (-len(each), each))[:MOST_SETS]
