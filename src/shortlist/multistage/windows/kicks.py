"""Kicks: a few features get other stages at random, and moves of one feature mend what that broke."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Values
from shortlist.multistage.problem.stages import REMOVED, compress
from shortlist.multistage.windows.candidates import single_moves

MOST_MOVED = 64
"""Features whose moves are looked at in one pass of mending; of more, as many drawn at random."""

Rate: TypeAlias = Callable[[NDArray[np.int8]], tuple[NDArray[np.int8], Values]]
"""Makes assignments, ``(n, n_features)``, valid, and returns them with what each is worth, ``(n,)``."""


def kicked(
    assignment: NDArray[np.int8], n_changed: int, max_stages: int, rng: np.random.Generator, *, removal: bool
) -> NDArray[np.int8]:
    """Return an assignment where so many features, drawn at random, have stages drawn at random.

    Parameters
    ----------
    assignment : ndarray of int8, shape (n_features,)
    n_changed : int
        Features drawn; of fewer, all.
    max_stages : int
        Most stages.
    rng : numpy.random.Generator
    removal : bool
        Whether a drawn feature may leave all stages.
    """
    features = rng.choice(len(assignment), size=min(n_changed, len(assignment)), replace=False)
    changed = assignment.copy()
    changed[features] = rng.integers(REMOVED if removal else 0, max_stages, len(features))
    return compress(changed) if (changed != REMOVED).any() else assignment


def mended(
    assignment: NDArray[np.int8], rate: Rate, max_stages: int, rng: np.random.Generator, *, removal: bool
) -> tuple[NDArray[np.int8], float]:
    """Take moves of one feature that gain, until a pass over the features finds none.

    Each feature in turn, in random order, makes its best move if that gains: with few fits this goes
    further than the best move of all.

    Parameters
    ----------
    assignment : ndarray of int8, shape (n_features,)
    rate : callable
        Tells what assignments are worth.
    max_stages : int
        Most stages.
    rng : numpy.random.Generator
    removal : bool
        Whether features may leave all stages.

    Returns
    -------
    assignment : ndarray of int8, shape (n_features,)
    worth : float
    """
    tried, worths = rate(assignment[None, :])
    assignment, worth = tried[0], float(worths[0])
    before = -np.inf
    while worth > before:
        before = worth
        for feature in rng.permutation(len(assignment))[:MOST_MOVED]:
            moves, _ = single_moves(
                assignment, max_stages, removal=removal, features=np.array([feature], dtype=np.int64)
            )
            if len(moves):
                tried, worths = rate(moves)
                place = int(worths.argmax())
                if worths[place] > worth:
                    assignment, worth = tried[place], float(worths[place])
    return assignment, worth
