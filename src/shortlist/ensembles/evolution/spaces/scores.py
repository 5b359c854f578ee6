"""From scores to classes, the same in every space that computes scores."""

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import kernel
from shortlist.arrays import Floats
from shortlist.ensembles.votes.class_votes import ClassCodes


def n_scores(n_classes: int) -> int:
    """Return how many scores a classifier computes: one for two classes, otherwise one per class."""
    return 1 if n_classes == 2 else n_classes


@kernel("void(float64[:, ::1], float64[:, ::1], float64[:, ::1])")
def add_products(rows: Floats, factors: Floats, sums: Floats) -> None:
    """Add to the sums of each row its products with the `factors` of each column, column by column."""
    for row in range(len(rows)):
        for column in range(rows.shape[1]):
            value = rows[row, column]
            for place in range(sums.shape[1]):
                sums[row, place] += value * factors[column, place]


def weighted_sums(X: NDArray[np.float64], weights: NDArray[np.float32]) -> Floats:
    """Return what linear functions are on every row, ``(n_rows, n_functions)``.

    The row, rounded to single precision, is multiplied and added up column by column in double precision, the
    intercept first. So the class of a row hangs neither on the rows beside it nor on the processor, and a
    policy finds the same sums.

    Parameters
    ----------
    X : ndarray of float, shape (n_rows, n_columns)
    weights : ndarray of float32, shape (n_functions, n_columns + 1)
        The intercept is last.
    """
    rows = np.array(X, dtype=np.float32, order="C").astype(np.float64)
    factors = np.array(weights.T, dtype=np.float64, order="C")
    sums = np.tile(factors[-1], (len(rows), 1))
    add_products(rows, factors, sums)
    return sums


def highest_class(scores: NDArray[np.floating]) -> ClassCodes:
    """Return the class of the largest score on the last axis.

    A single score stands for class 1 where above 0.
    """
    if scores.shape[-1] == 1:
        return (scores[..., 0] > 0).astype(np.uint8)
    return np.asarray(scores.argmax(axis=-1), dtype=np.uint8)
