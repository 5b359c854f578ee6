"""Slow and plain: what selections and completions can be right on, by going through all of them."""

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shortlist.ensembles.limits import SelectionLimits
from shortlist.ensembles.right_rows import RightRows


def completions(rows: RightRows) -> Iterator[NDArray[np.bool_]]:
    """Every selection within the limits that keeps what is fixed."""
    for bits in itertools.product([False, True], repeat=rows.n_classifiers):
        mask = np.array(bits, dtype=bool)
        if (
            rows.limits.satisfied_by(mask)
            and not (rows.included & ~mask).any()
            and not (rows.excluded & mask).any()
        ):
            yield mask


def right_sets(rows: RightRows) -> list[NDArray[np.bool_]]:
    """Which rows are right, for every completion and threshold."""
    return [
        np.array(
            [
                (sum(int(v) for v in row[mask]) > threshold) == side
                for row, side in zip(rows.votes, rows.is_positive, strict=True)
            ],
            dtype=bool,
        )
        for mask in completions(rows)
        for threshold in range(int(mask.sum()) + 1)
    ]


def best_gain(rows: RightRows) -> int | None:
    """The largest gain; None without a completion."""
    return max((sum(int(g) for g in rows.gains[right]) for right in right_sets(rows)), default=None)


def conflicts(rows: RightRows) -> tuple[set[tuple[int, int]], set[int]]:
    """Pairs that are never both right and positives never right, going by sizes and fixings alone."""
    sizes = SelectionLimits(rows.need + int(rows.included.sum()), rows.room + int(rows.included.sum()))
    masks = [
        np.array(bits)
        for bits in itertools.product([False, True], repeat=rows.n_classifiers)
        if sizes.satisfied_by(np.array(bits))
        and not (rows.included & ~np.array(bits)).any()
        and not (rows.excluded & np.array(bits)).any()
    ]
    tallies = [[int(row[mask].sum()) for row in rows.votes] for mask in masks]
    positive = [i for i in range(rows.n_rows) if rows.is_positive[i]]
    negative = [i for i in range(rows.n_rows) if not rows.is_positive[i]]
    never = {p for p in positive if all(tally[p] == 0 for tally in tallies)}
    pairs = {
        (p, q)
        for p in positive
        for q in negative
        if p not in never and all(tally[p] <= tally[q] for tally in tallies)
    }
    return pairs, never
