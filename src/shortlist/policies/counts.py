"""What a policy does where all its stages ask for a threshold as well: the numbers behind every promise."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Floats
from shortlist.policies._kernels import count_stages


class AnswerCounts(NamedTuple):
    """How many of some cases are answered, and rightly, from each threshold on, ``(n_thresholds,)``.

    `n_rows`: cases, answered or not. `price`: what the stages that are reached cost, of all cases together.
    """

    n_rows: int
    answered: NDArray[np.int64]
    right: NDArray[np.int64]
    price: NDArray[np.int64] = np.zeros(0, dtype=np.int64)


def count_answers(
    scores: Sequence[Floats] | Floats,
    right: Sequence[NDArray[Any]] | NDArray[Any],
    thresholds: Floats,
    prices: Sequence[NDArray[np.int64]] | NDArray[np.int64] | None = None,
) -> AnswerCounts:
    """Count what stages do with each threshold: a case ends at the first stage that is so sure of it.

    Takes n_stages · n_cases · log(n_thresholds) steps.

    `scores`, `right`, `prices`: of each stage, ``(n_cases,)``: how sure its answer is, -1 where it has none;
    whether that is right; and what the stage costs, by default nothing. `thresholds`: falling, at least 0.

    >>> first, second = np.array([0.9, 0.4, -1.0]), np.array([0.2, 0.7, 0.6])
    >>> told = count_answers([first, second], [first > 0.5, second > 0.5], np.array([0.65, 0.0]))
    >>> told.answered.tolist(), told.right.tolist()
    ([2, 3], [2, 2])
    """
    own = np.ascontiguousarray(scores, dtype=np.float64)
    costs = np.ascontiguousarray(np.zeros(own.shape) if prices is None else prices, dtype=np.int64)
    counts = np.empty((3, len(thresholds)), dtype=np.int64)
    count_stages(own, np.ascontiguousarray(right, dtype=bool), costs, thresholds, counts)
    return AnswerCounts(own.shape[1], *counts)
