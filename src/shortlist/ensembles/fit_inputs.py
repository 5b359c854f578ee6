"""What every estimator here asks of the rows it is given, and how it splits them."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from shortlist.arrays import Labels
from shortlist.errors import BadInputError

VALIDATION_SHARE = 0.3
"""Without a pool, this share of the rows prunes and the rest fits it: the paper's 27 : 63."""


def checked_fit(estimator: BaseEstimator, X: Any, y: Any) -> tuple[Any, Labels]:
    """Check shapes and feature names of rows to fit on, and their classes; frames stay frames."""
    X = _checked_shape(estimator, X)
    if y is None:
        raise BadInputError("y should be a 1d array of classes, got None. Pass the class of every row.")
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    if len(X) != len(y):
        raise BadInputError(f"X and y must have one entry per row, got {len(X)} and {len(y)} rows.")
    check_classification_targets(y)
    validate_data(estimator, X, y, skip_check_array=True)
    return X, y


def checked_rows(estimator: BaseEstimator, X: Any) -> Any:
    """Check shapes and feature names of rows to answer."""
    X = _checked_shape(estimator, X)
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return X


def several_classes(y: Labels) -> Labels:
    """Return the classes, sorted.

    Raises
    ------
    BadInputError
        If there are fewer than 2 or more than 256, which a byte cannot number.
    """
    classes = np.unique(y)
    if not 2 <= len(classes) <= 256:
        which = f"one class only: {classes[0]!r}" if len(classes) == 1 else f"{len(classes)} classes"
        raise BadInputError(f"y must hold from 2 to 256 classes, got {which}. Add rows, or join classes.")
    return np.asarray(classes)


def integer_seed(random_state: Any) -> int:
    """Return one integer seed from scikit-learn's `random_state`."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def rows_to_fit_and_prune(y: Labels, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split rows 70 : 30, stratified; a class with one row only is fitted and takes no part in pruning.

    Raises
    ------
    BadInputError
        If no class has two rows.
    """
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    lonely = counts[codes] < 2
    rest = np.flatnonzero(~lonely)
    n_classes = int((counts >= 2).sum())
    if not n_classes:
        raise BadInputError("a class needs at least 2 rows to fit and to prune on, got 1 of each. Add rows.")
    size = max(n_classes, math.ceil(VALIDATION_SHARE * len(rest)))
    fitted, validation = train_test_split(rest, test_size=size, stratify=codes[rest], random_state=seed)
    return np.sort(np.concatenate([np.flatnonzero(lonely), fitted])), np.sort(validation)


def take_rows(X: Any, rows: NDArray[np.integer]) -> Any:
    """Return some rows of a frame or an array."""
    return X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]


def _checked_shape(estimator: BaseEstimator, X: Any) -> Any:
    """Check arrays; frames stay frames, so that text columns survive until the pool reads them."""
    if hasattr(X, "columns"):
        return X
    finite: Any = "allow-nan" if _is_float(X) else False
    return check_array(X, dtype=None, ensure_all_finite=finite, estimator=estimator)


def _is_float(X: Any) -> bool:
    return getattr(getattr(X, "dtype", None), "kind", "f") == "f"
