"""Bounds of columns that have none, as far as the rows imply them."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.milp.program import Program


def implied_bounds(program: Program) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return bounds of the columns in which the infinite ones are replaced by what the rows imply.

    In the row ``lower <= a @ x <= upper``, the other terms together are at least m, so
    ``a_j x_j <= upper - m``, and likewise from below. Bounds found are used for further ones until nothing
    more is found; finite bounds stay as they are. What no row implies stays infinite. Every point that
    satisfies rows and bounds stays within the result.

    Returns
    -------
    lower, upper : ndarray of float, shape (n_columns,)
        The bounds; new arrays.

    Notes
    -----
    Takes O(n_entries) per round, and at most one round per infinite bound.

    Examples
    --------
    >>> from shortlist.milp import make_program
    >>> budget = make_program(
    ...     [[2, 1]], row_lower=-np.inf, row_upper=7, column_lower=0, column_upper=np.inf, integer=True
    ... )
    >>> implied_bounds(budget)
    (array([0., 0.]), array([3.5, 7. ]))
    """
    lower, upper = program.column_lower.copy(), program.column_upper.copy()
    if np.isfinite(lower).all() and np.isfinite(upper).all():
        return lower, upper
    entries = program.rows.tocoo()
    rows, columns = entries.coords
    kept = entries.data != 0
    rows, columns, coefficients = rows[kept], columns[kept], entries.data[kept]
    while True:
        ends = coefficients * lower[columns], coefficients * upper[columns]
        least = _others(np.minimum(*ends), rows, program.n_rows)
        most = -_others(-np.maximum(*ends), rows, program.n_rows)
        one_side = (program.row_upper[rows] - least) / coefficients
        other_side = (program.row_lower[rows] - most) / coefficients
        positive = coefficients > 0
        above, below = upper.copy(), lower.copy()
        np.minimum.at(above, columns, np.where(positive, one_side, other_side))
        np.maximum.at(below, columns, np.where(positive, other_side, one_side))
        new_above = np.isinf(upper) & np.isfinite(above)
        new_below = np.isinf(lower) & np.isfinite(below)
        if not new_above.any() and not new_below.any():
            return lower, upper
        upper[new_above] = above[new_above]
        lower[new_below] = below[new_below]


def _others(terms: NDArray[np.float64], rows: NDArray[np.integer[Any]], n_rows: int) -> NDArray[np.float64]:
    """Return for each term the sum of the other terms of its row, where a term may be -inf."""
    endless = np.isinf(terms)
    n_endless = np.bincount(rows[endless], minlength=n_rows)[rows]
    finite = np.where(endless, 0.0, terms)
    sums = np.bincount(rows, weights=finite, minlength=n_rows)[rows] - finite
    return np.where(n_endless - endless > 0, -math.inf, sums)
