"""The complete front of the threshold of a stage: what its surest cases cost, one after the other."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.errors import BadInputError
from shortlist.panels._kernels import group_steps, merge_steps
from shortlist.panels.decisions import Decided
from shortlist.panels.policy import NEVER

MOST_LOSSES = 1 << 24
"""Most losses between the least and the largest of a chain."""


class ChainFront(NamedTuple):
    """Loss and price that no other threshold of the same chain dominates, and the thresholds.

    `points`: loss and price of all cases, with rising loss and falling price, ``(n_points, 2)``.
    `thresholds`: how sure the stage has to be, ``(n_points,)``.
    """

    points: NDArray[np.int64]
    thresholds: Floats


def threshold_front(decided: Decided, stopped: NDArray[np.int64], going_on: NDArray[np.int64]) -> ChainFront:
    """Return the complete front of the threshold of one stage, in integers.

    Takes the time of sorting the cases.

    `decided`: what the stage decides about each case. Cases without a decision go on. `stopped`, `going_on`:
    loss and price of each case if it ends here, and if it goes on, ``(n_cases, 2)``. Going on is no cheaper.

    >>> sure = Decided(np.array([0, 0, 1]), np.array([0.9, 0.6, 0.7]))
    >>> stopped = np.array([[0, 1], [1, 1], [0, 1]])
    >>> front = threshold_front(sure, stopped, np.array([[0, 5], [0, 5], [0, 5]]))
    >>> front.points.tolist(), front.thresholds.round(6).tolist()
    ([[0, 7], [1, 3]], [0.65, 0.0])
    """
    cases = np.flatnonzero(decided.codes >= 0)
    rest = going_on[decided.codes < 0].sum(axis=0, dtype=np.int64)
    order = cases[np.argsort(-decided.sure[cases], kind="stable")]
    values = decided.sure[order]
    breaks = np.ones(len(order) + 1, dtype=np.int64)
    breaks[1:-1] = values[:-1] - values[1:] > 1e-9
    between = np.concatenate([[NEVER], (values[:-1] + values[1:]) / 2, [0.0] if len(order) else []])
    cuts, points = np.empty(len(order) + 1, dtype=np.int64), np.empty((len(order) + 1, 2), dtype=np.int64)
    count = group_steps(order, breaks, stopped, going_on, cuts, points)
    return ChainFront((points[:count] + rest)[::-1], between[cuts[:count]][::-1])


def merged(
    first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the front of all sums of a point of one group and one of another, and the places of both.

    Raises BadInputError if losses are too many steps apart to fit into a table.
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
