"""Windows of features for a local search over stage assignments, with moves of features and kicks.

A window is a list of sets of features; the features of a set stay together in every assignment.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask, Values
from shortlist.errors import FitsStoppedError
from shortlist.multistage.problem.stages import REMOVED, compress
from shortlist.multistage.search.enumeration import space_of
from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.multistage.search.walkers import Walker
from shortlist.multistage.subclassifiers.logistic_fits import standardised
from shortlist.multistage.subclassifiers.subclassifiers import STOPPED, StageRows
from shortlist.runs import Budget

PULL_DIGITS = 9
"""Number of decimals of a feature's pull; the last bits of a double differ between processors."""


MOST_MOVED = 64
"""Largest number of features whose moves one pass tries; of more features this number is drawn at random."""

Rate: TypeAlias = Callable[[NDArray[np.int8]], tuple[NDArray[np.int8], Values]]
"""Function that makes assignments valid, ``(n, n_features)``. It returns the assignments with their worth,
``(n,)``.
"""


def single_moves(
    assignment: NDArray[np.int8], max_stages: int, *, removal: bool, features: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Return every assignment in which one feature has another stage, or a new stage of its own.

    A new stage comes before an existing one. Only `features` move, by default all.

    `moves`, which it returns, ``(n_moves, n_features)``: the assignments. `moved`, which it returns,
    ``(n_moves,)``: index of the feature that moved in each assignment.
    """
    n_stages = int(assignment.max()) + 1
    features = np.arange(len(assignment)) if features is None else features
    doubled = np.where(assignment == REMOVED, REMOVED, 2 * assignment.astype(np.int64) + 1)
    targets = list(range(1, 2 * n_stages, 2))
    if n_stages < max_stages:
        targets += list(range(0, 2 * n_stages, 2))
    if removal:
        targets.append(REMOVED)
    moved = np.repeat(features, len(targets))
    moves = np.tile(doubled, (len(moved), 1))
    moves[np.arange(len(moved)), moved] = np.tile(targets, len(features))
    kept = (moves != doubled).any(axis=1) & (moves != REMOVED).any(axis=1)
    return compress(moves[kept]), moved[kept]


def gains_of_features(worths: Values, moved: NDArray[np.int64], n_features: int) -> Values:
    """Return the worth of the best move of each feature, ``(n_features,)``; minus infinity without a move."""
    gains = np.full(n_features, -np.inf)
    np.maximum.at(gains, moved, worths)
    return gains


def kicked(
    assignment: NDArray[np.int8], n_changed: int, max_stages: int, rng: np.random.Generator, *, removal: bool
) -> NDArray[np.int8]:
    """Return an assignment in which `n_changed` random features have random stages."""
    features = rng.choice(len(assignment), size=min(n_changed, len(assignment)), replace=False)
    changed = assignment.copy()
    changed[features] = rng.integers(REMOVED if removal else 0, max_stages, len(features))
    return compress(changed) if (changed != REMOVED).any() else assignment


def mended(
    assignment: NDArray[np.int8], rate: Rate, max_stages: int, rng: np.random.Generator, *, removal: bool
) -> tuple[NDArray[np.int8], float]:
    """Return an assignment after moves of single features that raise its worth, and the worth.

    In each pass the features come in random order, and each feature makes its best move if the move raises
    the worth. The passes end when a pass makes no move. With few fits this gets further than taking the best
    move of all features each time.

    `assignment`, which it returns, ``(n_features,)``.
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


class Promise:
    """Information that columns give on the labels in addition to a set of features, on the rows that fit."""

    def __init__(self, rows: StageRows) -> None:
        self.rows = rows
        columns, _, _ = standardised(rows.fit_rows)
        self._columns = columns[:, :-1]
        classes = np.eye(rows.n_classes)[rows.fit_labels]
        self._classes = classes - classes.mean(axis=0)
        self._features = np.repeat(np.arange(rows.n_features), np.diff(rows.encoding.starts))

    def beyond(self, bought: Mask) -> Values:
        """Return the squared pull of each feature on the residuals of a fit, ``(n_features,)``.

        The fit is by least squares on the features `bought`, and the squared pulls of a feature's columns are
        added up. As in orthogonal matching pursuit, the pulls are relative to the largest pull. `bought`,
        ``(n_features,)``: features of the fit, which get 0. The pulls are rounded, so that features with the
        same information keep their order on every processor.
        """
        own = self._columns[:, bought[self._features]]
        left = self._classes
        if own.shape[1]:
            left = left - own @ np.linalg.lstsq(own, left, rcond=None)[0]
        pulls = np.zeros(self.rows.n_features)
        np.add.at(pulls, self._features, ((self._columns.T @ left) ** 2).sum(axis=1))
        pulls[bought] = 0.0
        return np.asarray(np.round(pulls / (pulls.max(initial=0.0) or 1.0), PULL_DIGITS))


def interleaved(first: Values, second: Values) -> NDArray[np.int64]:
    """Return indices in turn by two scores: the best by `first`, then the best by `second`, and so on.

    >>> interleaved(np.array([3.0, 2.0, 1.0, 0.0]), np.array([0.0, 1.0, 2.0, 3.0])).tolist()
    [0, 3, 1, 2]
    """
    turns = np.argsort(np.argsort(-np.stack([first, second]), axis=1, kind="stable"), axis=1)
    return np.argsort(np.minimum(2 * turns[0], 2 * turns[1] + 1), kind="stable")


def is_late(assignment: NDArray[np.int8], *, removal: bool) -> Mask:
    """Return a mask of the features in the last stage; of the removed features if removal is allowed."""
    return np.asarray(assignment == (REMOVED if removal else assignment.max()))


def window_items(
    assignment: NDArray[np.int8], order: NDArray[np.int64], *, n_new: int, width: int, removal: bool
) -> Mask:
    """Return the items of a window around an assignment, ``(n_items, n_features)``, at most `width`.

    Single features are the first `n_new` late features of `order`, and as many of the other features as there
    is room for. The remaining features of a stage are one item; if there are too many such items, the last
    items are joined.
    """
    late = is_late(assignment, removal=removal)
    early, new = order[~late[order]], order[late[order]][:n_new]
    room = width - len(new)
    stages = np.unique(assignment[early])
    single = early if len(early) <= room else early[: max(0, room - len(stages))]
    left = ~late
    left[single] = False
    blocks = [left & (assignment == stage) for stage in stages if (left & (assignment == stage)).any()]
    if len(blocks) > room - len(single):
        blocks = [*blocks[: room - 1], np.any(blocks[room - 1 :], axis=0)]
    alone = np.eye(len(assignment), dtype=bool)[np.concatenate([single, new])]
    return np.concatenate([alone, np.array(blocks, dtype=bool).reshape(-1, len(assignment))])


SETS_AT_ONCE = 256
"""Number of feature sets fitted between two checks of the clock."""
FEW_ITEMS = 8
"""Largest number of items whose full search takes less than a second, and is not stopped."""


@dataclass(frozen=True, eq=False)
class Window:
    """Disjoint sets of features, the items; the search chooses one stage for all features of an item.

    All other features are bought in the last stage, together with at least one item, or, where features may
    be removed, by no stage.
    """

    problem: StageProblem
    items: Mask
    """Mask of the features of each item, ``(n_items, n_features)``."""

    def sets(self) -> Mask:
        """Return the features of each set of items, by bit mask, ``(2**n_items, n_features)``."""
        n_items = len(self.items)
        chosen = (np.arange(1 << n_items)[:, None] >> np.arange(n_items)) & 1
        sets: Mask = chosen.astype(np.int32) @ self.items.astype(np.int32) > 0
        if not self.problem.removal:
            sets[-1] = True
        return sets


def walk_window(window: Window, known: NDArray[np.int64], budget: Budget) -> tuple[NDArray[np.int8], bool]:
    """Return stage assignments of a window's items, one for each non-dominated outcome.

    Every assignment of the items to at most `max_stages` stages is accounted for, by the walk of
    :func:`shortlist.multistage.search.enumeration.enumerate_front`. A set without a classifier gets one that
    is never confident, which amounts to skipping the set. Raises FitsStoppedError if the budget ends within a
    walk of more than :data:`FEW_ITEMS` items.

    `known`, ``(n_known, n_measures)``: measures of known assignments, mutually non-dominated; assignments
    that a known one dominates may be left out. `assignments`, which it returns, ``(n_assignments,
    n_features)``: some assignments may be dominated. `whole`, which it returns: false where the budget ended
    before all classifiers were fitted; sets without one count as invalid.
    """
    problem = window.problem
    sets = window.sets()
    valid = np.asarray(sets.any(axis=1))
    bits, calls, fitted = _bits(window, sets, valid)
    whole = bool(fitted[valid].all())
    valid &= fitted
    space = space_of(problem, sets, bits, problem.costs.price(sets), calls)
    n_items, k = len(window.items), min(problem.max_stages, len(window.items))
    walker = Walker(problem, space, k, known, bounds=True)
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
    """Fit missing sets; return the decision bits and call price of each set, and a mask of the fitted sets.

    An invalid or unfitted set is skipped, so a call of such a set costs nothing.
    """
    decisions = window.problem.decisions
    bits = np.zeros((len(sets), *decisions.bits.shape[1:]), dtype=np.uint64)
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
    """Turn chains of sets of items into assignments; in a chain, 0 stands for no set.

    Each assignment buys at least one feature.
    """
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
