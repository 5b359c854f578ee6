"""Repeated choice: all parts of the rows but one choose, and the part left out measures the choice.

Rows are dealt to halves, several times. In each partition a choice made without a row answers the row.
Committees, evolved ensembles, stages and panels all take their figures from here if no other rows measure
them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Labels
from shortlist.tables.splits import IN_NO_FOLD, Cases, RowNumbers, deal_folds

N_PARTS = 2
"""Number of parts of a partition. Two parts, as a row that helps nine of ten choices by chance then harms the
tenth (decision 134).
"""

MOST_PARTITIONS = 10
"""Number of partitions for the reported mean (decision 134)."""

LEAST_PARTITIONS = 5
"""Number of partitions for large tables. With one partition, intervals hold the true difference in 81 % of
the cases (decision 134).
"""

MOST_NUMBERS = 2_000_000
"""Largest number of rows times candidates, added over partitions; :data:`LEAST_PARTITIONS` takes precedence.
"""

Parts = NDArray[np.int8]
"""Part of every row in every partition, ``(n_partitions, n_rows)``; -1 for the only row of a class, which
takes part in every choice.
"""


def deal_parts(
    y: Labels,
    seed: int,
    cases: Cases | None = None,
    *,
    n_parts: int = N_PARTS,
    n_candidates: int = 1,
    most: int = MOST_PARTITIONS,
) -> Parts:
    """Deal rows, or whole cases, to parts, class by class, in one or more partitions.

    `y`, ``(n_rows,)``: classes. `cases`, ``(n_rows,)``: case of each row, if cases have several rows.
    `n_parts`: number of parts of a partition. `n_candidates`: number of candidates; with many rows and
    candidates there are :data:`LEAST_PARTITIONS`, if `most` allows.

    >>> y = np.repeat([0, 1], 50)
    >>> deal_parts(y, 0).shape, deal_parts(y, 0, n_candidates=8000).shape
    ((10, 100), (5, 100))
    """
    n = min(most, max(LEAST_PARTITIONS, MOST_NUMBERS // max(1, len(y) * n_candidates)))
    # seeded apart from the folds that fit
    return np.stack([deal_folds(y, n_parts, (seed + one) % 2**32, cases) for one in range(1, n + 1)])


def choose_again(
    parts: Parts, answer: Callable[[RowNumbers, RowNumbers], Mapping[str, NDArray[Any]]]
) -> dict[str, NDArray[Any]]:
    """Return, for each rule, its answers to the measured rows; the choice for a part uses the other parts.

    `answer`: function of the selection rows and of the rows of a part. It returns, for each rule, an answer
    for each row of the part, ``(n_rows_of_part, ...)``. The returned arrays hold the answers to the rows that
    are in a part, in the order of the rows, partition after partition.

    >>> parts = np.array([[0, 1, 0], [0, 0, 1]], dtype=np.int8)
    >>> choose_again(parts, lambda kept, held: {"kept": np.full(len(held), len(kept))})
    {'kept': array([1, 2, 1, 1, 1, 2])}
    """
    again = choices_again(parts)
    return joined(again, [answer(one.kept, one.held) for one in again])


class ChoiceAgain(NamedTuple):
    """Repeated choice in one partition: the selection rows, and the rows of the part that measures."""

    partition: int
    kept: RowNumbers
    held: RowNumbers


def choices_again(parts: Parts) -> list[ChoiceAgain]:
    """Return one choice for each part, made on the other parts; partition after partition.

    >>> again = choices_again(np.array([[0, 1, 0], [0, 0, 1]], dtype=np.int8))
    >>> [(one.partition, one.kept.tolist(), one.held.tolist()) for one in again]
    [(0, [1], [0, 2]), (0, [0, 2], [1]), (1, [2], [0, 1]), (1, [0, 1], [2])]
    """
    found = []
    for partition, part_of in enumerate(parts):
        for part in range(int(part_of.max()) + 1):
            held = np.flatnonzero(part_of == part)
            if len(held):
                found.append(ChoiceAgain(partition, np.flatnonzero(part_of != part), held))
    return found


def joined(
    again: Sequence[ChoiceAgain], found: Sequence[Mapping[str, NDArray[Any]]]
) -> dict[str, NDArray[Any]]:
    """Return answers of repeated choices in the order of the rows, partition after partition.

    `found`: for each choice the answers on the rows of its part, by rule.
    """
    order = np.lexsort((
        np.concatenate([one.held for one in again]),
        np.concatenate([np.full(len(one.held), one.partition) for one in again]),
    ))  # fmt: skip
    return {name: np.concatenate([one[name] for one in found])[order] for name in found[0]}


def measured_rows(parts: Parts) -> RowNumbers:
    """Return the indices of the measured rows, which are the rows in a part, ``(n_measured,)``."""
    return np.flatnonzero(parts[0] != IN_NO_FOLD)
