"""How rows are split where one part fits a pool and the other prunes it."""

import math

import numpy as np

from shortlist.arrays import Labels
from shortlist.errors import BadInputError
from shortlist.tables.splits import Cases, RowNumbers, classes_of_cases, hold_out, split_cases

VALIDATION_SHARE = 0.3
"""Without a pool, this share of the rows prunes and the rest fits it: the paper's 27 : 63."""


def rows_to_fit_and_prune(y: Labels, seed: int, cases: Cases | None = None) -> tuple[RowNumbers, RowNumbers]:
    """Split rows, or cases, 70 : 30, stratified; a class with one of them is fitted and does not prune.

    Raises
    ------
    BadInputError
        If no class has two rows.
    """
    if np.unique(classes_of_cases(y, cases), return_counts=True)[1].max(initial=0) < 2:
        raise BadInputError("a class needs at least 2 rows to fit and to prune on, got 1 of each. Add rows.")
    fitted, validation = split_cases(
        y, cases, lambda labels: hold_out(labels, VALIDATION_SHARE, seed, rounded=math.ceil)
    )
    return np.sort(fitted), np.sort(validation)
