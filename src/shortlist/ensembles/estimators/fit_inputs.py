"""What the estimators here ask of classes, and how they split rows."""

import math

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Labels
from shortlist.errors import BadInputError

VALIDATION_SHARE = 0.3
"""Without a pool, this share of the rows prunes and the rest fits it: the paper's 27 : 63."""


def several_classes(y: Labels) -> Labels:
    """Return the classes, sorted.

    Raises
    ------
    BadInputError
        If there are fewer than 2 or more than 256, which a byte cannot number.
    """
    classes = np.unique(y)
    if not 2 <= len(classes) <= 256:
        which = f"one class only: {str(classes[0])!r}" if len(classes) == 1 else f"{len(classes)} classes"
        raise BadInputError(
            f"the target must hold from 2 to 256 classes, got {which}. Add rows, or join classes."
        )
    return np.asarray(classes)


def rows_to_fit_and_prune(y: Labels, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split rows 70 : 30, stratified; a class with one row only is fitted and takes no part in pruning.

    Raises
    ------
    BadInputError
        If no class has two rows.
    """
    from sklearn.model_selection import train_test_split

    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    lonely = counts[codes] < 2
    rest = np.flatnonzero(~lonely)
    n_classes = int((counts >= 2).sum())
    if not n_classes:
        raise BadInputError("a class needs at least 2 rows to fit and to prune on, got 1 of each. Add rows.")
    size = max(n_classes, math.ceil(VALIDATION_SHARE * len(rest)))
    fitted, validation = train_test_split(rest, test_size=size, stratify=codes[rest], random_state=seed)
    return np.sort(np.concatenate([np.flatnonzero(lonely), fitted])), np.sort(validation)
