"""Ordered partitions of features into stages, written as chromosomes.

A *stage assignment* ``[Q]`` (Sec. 3.1 of :cite:t:`Hamilton2022`) gives every feature the number, from 0, of
the stage that acquires it; -1 removes the feature from all stages (the paper's Sec. 5.1). It is feasible if
no stage number below its largest is missing.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._validation import as_count
from shortlist.arrays import Mask
from shortlist.errors import BadInputError

REMOVED = -1
"""Stage number of a feature that is in no stage."""


def stage_counts(assignments: NDArray[np.int8]) -> NDArray[np.int64]:
    """Return the number of stages ‖Q‖ of each assignment, ``(n_assignments,)``.

    `assignments`, ``(n_assignments, n_features)``, without missing stage numbers.
    """
    return np.asarray(assignments.max(axis=1), dtype=np.int64) + 1


def has_gaps(assignment: ArrayLike) -> bool:
    """Return whether a stage number below the largest is missing (``gaps`` of Sec. 3.1).

    >>> has_gaps([0, 0, 0, 2]), has_gaps([1, 0, 0, 1])
    (True, False)
    """
    used = set(np.asarray(assignment).tolist()) - {REMOVED}
    return used != set(range(len(used)))


def compress(assignments: ArrayLike) -> NDArray[np.int8]:
    """Renumber stages densely, in their order (``compress`` of Sec. 3.1).

    The paper's loop replaces j + 1 by a missing j, and does not end if two numbers in a row are missing. So
    the stages are ranked instead; the result is the same wherever the paper's loop ends.

    `assignments`, ``(n_features,)``: stage numbers from 0, -1 for removed features. Not modified.

    >>> compress([0, 0, 0, 2])
    array([0, 0, 0, 1], dtype=int8)
    """
    given = np.asarray(assignments, dtype=np.int64)
    rows = np.atleast_2d(given)
    if not rows.size:
        return given.astype(np.int8)
    used = np.zeros((len(rows), rows.max() + 2), dtype=np.int64)
    np.put_along_axis(used, rows + 1, 1, axis=1)
    used[:, 0] = 0
    ranks = np.cumsum(used, axis=1) - 1
    ranks[:, 0] = REMOVED
    return np.take_along_axis(ranks, rows + 1, axis=1).reshape(given.shape).astype(np.int8)


def n_ordered_partitions(n_features: int, n_stages: int) -> int:
    """Return j!·S2(n, j), the number of assignments with exactly `n_stages` stages (Eq. 1).

    >>> n_ordered_partitions(4, 2)
    14
    """
    j = as_count(n_stages, "n_stages", at_least=0)
    n = as_count(n_features, "n_features", at_least=0)
    return sum((-1) ** (j - i) * math.comb(j, i) * i**n for i in range(j + 1))


def space_size(n_features: int, max_stages: int) -> int:
    """Return ‖S(n, k)‖, the number of assignments with 1 to `max_stages` stages (Eq. 2).

    >>> space_size(14, 4)
    254152083
    """
    return sum(n_ordered_partitions(n_features, j) for j in range(1, max_stages + 1))


def completions(n_features: int, max_stages: int, *, removal: bool = False) -> NDArray[np.int64]:
    """Return the number of ways in which m features can follow in at most s stages, as a table ``[m, s]``.

    The entry is 1 where m is 0. With `removal` any of the features may be left out.

    >>> completions(2, 2).tolist(), completions(2, 2, removal=True).tolist()
    ([[1, 1, 1], [0, 1, 1], [0, 1, 3]], [[1, 1, 1], [1, 2, 2], [1, 4, 6]])
    """
    ways = np.zeros((n_features + 1, max_stages + 1), dtype=np.int64)
    ways[:, 0] = removal
    ways[0] = 1
    for m in range(1, n_features + 1):
        for s in range(1, max_stages + 1):
            # the next stage takes a features
            next_stage = sum(math.comb(m, a) * int(ways[m - a, s - 1]) for a in range(1, m + 1))
            ways[m, s] = removal + next_stage
    return ways


def acquired(assignments: NDArray[np.int8], max_stages: int) -> Mask:
    """Mark the features acquired up to each stage, ``(n_assignments, max_stages, n_features)``."""
    rows = np.asarray(assignments)[:, None, :]
    return np.asarray((rows >= 0) & (rows <= np.arange(max_stages)[None, :, None]))


def assignment_of_chain(chain: Sequence[int], n_features: int, *, removal: bool = False) -> NDArray[np.int8]:
    """Turn growing feature sets, as bit masks, into an assignment.

    `chain`: feature set after each stage, which contains the previous set; bit i stands for feature i.
    `removal`: whether features in no set are removed; if false, these features form one more stage, the last.

    >>> assignment_of_chain([0b01], 2), assignment_of_chain([0b01], 2, removal=True)
    (array([0, 1], dtype=int8), array([ 0, -1], dtype=int8))
    """
    stages = np.full(n_features, REMOVED if removal else len(chain), dtype=np.int8)
    for stage in reversed(range(len(chain))):
        inside = [feature for feature in range(n_features) if chain[stage] >> feature & 1]
        stages[inside] = stage
    return stages


def check_max_stages(max_stages: int, n_features: int) -> int:
    """Return `max_stages`; raise BadInputError if there are fewer features than stages."""
    k = as_count(max_stages, "max_stages")
    if k > n_features:
        raise BadInputError(
            "max_stages",
            f"must be at most the number of features, {n_features}",
            k,
            f"Pass `max_stages={n_features}` or less.",
        )
    return k
