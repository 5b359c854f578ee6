"""Which features a window takes: what moves of one feature gain, and what the labels still need."""

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask, Values
from shortlist.multistage.problem.stages import REMOVED, compress
from shortlist.multistage.subclassifiers.logistic_fits import standardised
from shortlist.multistage.subclassifiers.subclassifiers import StageRows

PULL_DIGITS = 9
"""Decimals of what a feature tells, of which the last bits of a double differ from processor to processor."""


def single_moves(
    assignment: NDArray[np.int8],
    max_stages: int,
    *,
    removal: bool,
    features: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Return every assignment where one feature has another stage, or a new one of its own.

    A new stage comes before one that there is. Only `features` move, by default all.

    Returns
    -------
    moves : ndarray of int8, shape (n_moves, n_features)
    moved : ndarray of int64, shape (n_moves,)
        The feature that each moves.
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
    """Return the best worth of a move of each feature, minus infinity where there is none."""
    gains = np.full(n_features, -np.inf)
    np.maximum.at(gains, moved, worths)
    return gains


class Promise:
    """What columns tell of the labels beyond a set of features, on the rows that fit."""

    def __init__(self, rows: StageRows) -> None:
        self.rows = rows
        columns, _, _ = standardised(rows.fit_rows)
        self._columns = columns[:, :-1]
        classes = np.eye(rows.n_classes)[rows.fit_labels]
        self._classes = classes - classes.mean(axis=0)
        self._features = np.repeat(np.arange(rows.n_features), np.diff(rows.encoding.starts))

    def beyond(self, bought: Mask) -> Values:
        """Return for each feature the squared pulls of its columns on what a least-squares fit leaves.

        As in orthogonal matching pursuit, as parts of the largest; `bought` is ``(n_features,)``, and gets 0.
        They are rounded, so that features that tell the same keep their order on every processor.
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
    """Return places in the order of two scores: the best by the first, by the second, and so on.

    Examples
    --------
    >>> interleaved(np.array([3.0, 2.0, 1.0, 0.0]), np.array([0.0, 1.0, 2.0, 3.0])).tolist()
    [0, 3, 1, 2]
    """
    turns = np.argsort(np.argsort(-np.stack([first, second]), axis=1, kind="stable"), axis=1)
    return np.argsort(np.minimum(2 * turns[0], 2 * turns[1] + 1), kind="stable")


def is_late(assignment: NDArray[np.int8], *, removal: bool) -> Mask:
    """Mark the features of the last stage; those of none, where that may be. No window has to name them."""
    return np.asarray(assignment == (REMOVED if removal else assignment.max()))


def window_items(
    assignment: NDArray[np.int8], order: NDArray[np.int64], *, n_new: int, width: int, removal: bool
) -> Mask:
    """Return the items of a window around an assignment, ``(n_items, n_features)``, at most `width`.

    Single features are the first `n_new` of `order` that are late, and as many of the others as there is
    room for. What is left of each stage is an item; where these are too many, the last ones are one.
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
