"""Figures by repeated choice: all parts of the rows but one choose, and that one is answered.

Each row is measured once, by a choice that it took no part in. Committees, stages and panels all take their
figures from here where no other rows measure them.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Labels
from shortlist.tables.splits import IN_NO_FOLD, Cases, RowNumbers, deal_folds

N_PARTS = 10
"""Parts in which a choice is repeated (decision 134)."""

DEPENDENCE = 1.0
"""Factor on the variance of a figure by repeated choice, above that of independent rows (decision 134)."""

Parts = NDArray[np.int8]
"""Part of every row, ``(n_rows,)``; -1 for the only row of a class, which chooses always."""


def deal_parts(y: Labels, seed: int, cases: Cases | None = None) -> Parts:
    """Deal rows, or whole cases, to parts, class by class.

    `y`, ``(n_rows,)``: classes. `cases`, ``(n_rows,)``: case of each row, where several rows are of one.
    """
    return deal_folds(y, N_PARTS, (seed + 1) % 2**32, cases)  # other parts than the folds that fit


def choose_again(
    parts: Parts, answer: Callable[[RowNumbers, RowNumbers], Mapping[str, NDArray[Any]]]
) -> dict[str, NDArray[Any]]:
    """Return for each rule its answers on the measured rows, each by a choice of the other parts.

    `answer`: gets the rows that choose and the rows of a part, and returns for each rule an answer for each
    row of the part, ``(n_rows_of_part, ...)``. The arrays returned hold the rows that are in a part, in their
    order.

    >>> parts = np.array([0, 1, 0], dtype=np.int8)
    >>> choose_again(parts, lambda kept, held: {"kept": np.full(len(held), len(kept))})
    {'kept': array([1, 2, 1])}
    """
    held = [np.flatnonzero(parts == part) for part in range(int(parts.max()) + 1)]
    held = [rows for rows in held if len(rows)]
    found = [answer(np.flatnonzero(parts != parts[rows[0]]), rows) for rows in held]
    order = np.argsort(np.concatenate(held))
    return {name: np.concatenate([one[name] for one in found])[order] for name in found[0]}


def measured_rows(parts: Parts) -> RowNumbers:
    """Return the rows that repeated choice measures: all that are in a part."""
    return np.flatnonzero(parts != IN_NO_FOLD)
