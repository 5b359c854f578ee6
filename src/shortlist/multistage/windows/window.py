"""A window: some sets of features that are bought together, and every stage assignment of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.errors import FitsStoppedError
from shortlist.multistage.problem.stages import REMOVED, compress
from shortlist.multistage.search.enumeration import space_of
from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.multistage.search.walkers import make_walker
from shortlist.multistage.subclassifiers.subclassifiers import STOPPED
from shortlist.runs import Budget

SETS_AT_ONCE = 256
"""Feature sets whose classifiers are fitted between two looks at the clock."""
FEW_ITEMS = 8
"""Up to so many items a walk takes less than a second, and is not stopped."""


@dataclass(frozen=True, eq=False)
class Window:
    """Disjoint sets of features, the items, whose stages are free; the features of an item stay together.

    All other features are bought in the last stage, together with at least one item, or by no stage where
    features may be removed.

    Attributes
    ----------
    problem : StageProblem
    items : ndarray of bool, shape (n_items, n_features)
    """

    problem: StageProblem
    items: Mask

    def sets(self) -> Mask:
        """Return the features of each set of items, by bit mask, ``(2**n_items, n_features)``."""
        n_items = len(self.items)
        chosen = (np.arange(1 << n_items)[:, None] >> np.arange(n_items)) & 1
        sets: Mask = chosen.astype(np.int32) @ self.items.astype(np.int32) > 0
        if not self.problem.removal:
            sets[-1] = True
        return sets

    def valid(self, sets: Mask) -> Mask:
        """Mark the sets that may have been bought after a stage."""
        rules = self.problem.rules
        if rules is None:
            return np.asarray(sets.any(axis=1))
        return np.array([bool(bought.any()) and rules.is_valid(bought) for bought in sets])


def walk_window(window: Window, known: NDArray[np.int64], budget: Budget) -> tuple[NDArray[np.int8], bool]:
    """Return stage assignments of a window's items; for each outcome that nothing beats there is one.

    Every assignment of the items to at most `max_stages` stages is accounted for, by the walk of
    :func:`shortlist.multistage.search.enumeration.enumerate_front`. An invalid set gets a classifier that is
    never confident: going through it is the same as passing it by.

    Parameters
    ----------
    window : Window
    known : ndarray of int64, shape (n_known, n_measures)
        Measures of assignments that are known, mutually non-dominated; what they dominate may be left out.
    budget : Budget
        How long it may take.

    Returns
    -------
    assignments : ndarray of int8, shape (n_assignments, n_features)
        Some of them may be dominated.
    whole : bool
        False where the budget ended before all classifiers were fitted: sets without one count as invalid.

    Raises
    ------
    FitsStoppedError
        If the budget ends within a walk of more than :data:`FEW_ITEMS` items.
    """
    problem = window.problem
    sets = window.sets()
    valid = window.valid(sets)
    bits, calls, fitted = _bits(window, sets, valid)
    whole = bool(fitted[valid].all())
    valid &= fitted
    space = space_of(problem, sets, bits, problem.costs.price(sets), calls)
    n_items, k = len(window.items), min(problem.max_stages, len(window.items))
    walker = make_walker(problem, space, k, known, bounds=True)
    walker.begin(np.arange(1, 1 << n_items, dtype=np.int64))
    ended = False
    while not ended:
        if budget.stopped and n_items > FEW_ITEMS:
            raise FitsStoppedError(STOPPED)
        ended = walker.walk_on()
    chains = walker.found().chains
    chains = np.where(valid[chains], chains, 0)
    if not valid[1:].all() and problem.removal:  # what invalid sets alone decide, nothing, valid ones may too
        alone = np.zeros((np.count_nonzero(valid), chains.shape[1]), dtype=np.int64)
        alone[:, 0] = np.flatnonzero(valid)
        chains = np.concatenate([chains, alone])
    return _assignments(window, chains), whole


def _bits(window: Window, sets: Mask, valid: Mask) -> tuple[NDArray[np.uint64], NDArray[np.int64], Mask]:
    """Fit what is missing; return who is sure and right by each set, what a call costs, and who is fitted.

    A call of what is invalid or not fitted costs nothing, as it is passed by.
    """
    decisions = window.problem.decisions
    bits = np.zeros((len(sets), 2, decisions.bits.shape[2]), dtype=np.uint64)
    calls = np.zeros(len(sets), dtype=np.int64)
    fitted = np.zeros(len(sets), dtype=bool)
    wanted = np.flatnonzero(valid)
    pieces = [wanted[start : start + SETS_AT_ONCE] for start in range(0, len(wanted), SETS_AT_ONCE)]
    while pieces:
        piece = pieces.pop(0)
        try:
            slots = decisions.slots(sets[piece])
            bits[piece] = decisions.bits[slots]
            calls[piece] = window.problem.call_prices(sets[piece], slots)
        except FitsStoppedError:
            if len(piece) > 1:  # some of them may be
                pieces = [*np.array_split(piece, len(piece)), *pieces]
            continue
        fitted[piece] = True
    return bits, calls, fitted


def _assignments(window: Window, chains: NDArray[np.int64]) -> NDArray[np.int8]:
    """Turn chains of sets of items, with 0 for none, into assignments that buy something."""
    n_items, n_features = window.items.shape
    rest = REMOVED if window.problem.removal else chains.shape[1]
    stages = np.full((len(chains), n_items), rest, dtype=np.int64)
    for stage in reversed(range(chains.shape[1])):
        inside = (chains[:, stage, None] >> np.arange(n_items)) & 1 == 1
        stages[inside] = stage
    assignments = np.full((len(chains), n_features), rest, dtype=np.int64)
    for item, members in enumerate(window.items):
        assignments[:, members] = stages[:, item, None]
    return compress(assignments[(assignments != REMOVED).any(axis=1)])
