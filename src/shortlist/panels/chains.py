"""The complete front of thresholds of a chain: step functions of loss and price, sorted and merged.

Loss and price of a chain are sums over groups of cases, one group for each class that a stage decides. Each
group has a threshold of its own: its surest cases end there, and the others go on. So a group is a list of
points of loss and price, one for each threshold that tells two of its cases apart. The front of the chain
is the front of all sums of one point of each group. Sums of points that their group dominates are dominated,
so they are left out first. Everything is counted in integers, and nothing is left to a grid.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.errors import BadInputError
from shortlist.panels._kernels import group_steps, merge_steps
from shortlist.panels.decisions import Decided
from shortlist.panels.policy import NEVER

MOST_LOSSES = 1 << 24
"""So many losses may lie between the least and the largest of a chain."""


class ChainFront(NamedTuple):
    """Loss and price that no other thresholds of the same chain dominate, and the thresholds.

    `points`: loss and price of all cases, with rising loss and falling price, ``(n_points, 2)``.
    `thresholds`: how sure the first stage has to be of each class, ``(n_points, n_classes)``; infinite for
    one that it decides about no case.
    """

    points: NDArray[np.int64]
    thresholds: Floats


def threshold_front(
    decided: Decided, stopped: NDArray[np.int64], going_on: NDArray[np.int64], n_classes: int
) -> ChainFront:
    """Return the complete front of the thresholds of one stage, one threshold for each class.

    Raises BadInputError if losses are so many steps apart that they do not fit into a table.

    Takes time for sorting the cases, and for each class the product of the numbers of points that are merged.

    `decided`: what the stage decides about each case. Cases without a decision go on. `stopped`, `going_on`:
    loss and price of each case if it ends here, and if it goes on, ``(n_cases, 2)``. Going on is no cheaper.

    >>> sure = Decided(np.array([0, 0, 1]), np.array([0.9, 0.6, 0.7]))
    >>> stopped = np.array([[0, 1], [1, 1], [0, 1]])
    >>> front = threshold_front(sure, stopped, np.array([[0, 5], [0, 5], [0, 5]]), 2)
    >>> front.points.tolist(), front.thresholds.tolist()
    ([[0, 7], [1, 3]], [[0.75, 0.0], [0.0, 0.0]])
    """
    open_cases = decided.codes < 0
    points = going_on[open_cases].sum(axis=0, dtype=np.int64)[None, :]
    thresholds = np.full((1, n_classes), NEVER)  # of a class that it never decides nothing is known
    for code in range(n_classes):
        cases = np.flatnonzero(decided.codes == code)
        if not len(cases):
            continue
        own, least = _group(cases, decided.sure, stopped, going_on)
        points, parts = merged(points, own)
        thresholds = thresholds[parts[:, 0]]
        thresholds[:, code] = least[parts[:, 1]]
    return ChainFront(points, thresholds)


def _group(
    cases: NDArray[np.int64], sure: Floats, stopped: NDArray[np.int64], going_on: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Floats]:
    """Return the points of the thresholds of one group that none of them dominates, and these thresholds."""
    order = cases[np.argsort(-sure[cases], kind="stable")]
    values = sure[order]
    breaks = np.ones(len(order) + 1, dtype=np.int64)
    breaks[1:-1] = values[:-1] - values[1:] > 1e-9
    between = np.concatenate([[NEVER], (values[:-1] + values[1:]) / 2, [0.0]])
    cuts, points = np.empty(len(order) + 1, dtype=np.int64), np.empty((len(order) + 1, 2), dtype=np.int64)
    count = group_steps(order, breaks, stopped, going_on, cuts, points)
    return points[:count].copy(), between[cuts[:count]]


def merged(
    first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the front of all sums of a point of one group and one of another, and the places of both.

    Raises BadInputError if losses are so many steps apart that they do not fit into a table.
    """
    lowest = int(first[:, 0].min() + second[:, 0].min())
    width = int(first[:, 0].max() + second[:, 0].max()) - lowest + 1
    if width > MOST_LOSSES:
        raise BadInputError("error costs", "must be coarser", f"{width:,} different losses", "Round them.")
    best, source = np.empty(width, dtype=np.int64), np.empty(width, dtype=np.int64)
    most = min(width, len(first) * len(second))
    points, parts = np.empty((most, 2), dtype=np.int64), np.empty((most, 2), dtype=np.int64)
    count = merge_steps(first, np.ascontiguousarray(second), lowest, best, source, points, parts)
    return points[:count].copy(), parts[:count].copy()
