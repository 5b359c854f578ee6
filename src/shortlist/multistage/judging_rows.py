"""The rows that fit and the rows that judge, and the label of rejected rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from shortlist._words import any_of
from shortlist.arrays import Labels
from shortlist.errors import BadInputError
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.subclassifiers import StageRows
from shortlist.tables.fit_inputs import checked_rows, take_rows
from shortlist.tables.splits import cut_classes


def judging_rows(
    estimator: Any,
    X: Any,
    y: Labels,
    names: Sequence[str],
    *,
    validation: tuple[Any, Any] | None,
    share: float,
    seed: int,
) -> StageRows:
    """Split checked rows unless there are validation rows, and encode both parts.

    The encoding is learned from the rows that fit. The classes are the estimator's ``classes_``.
    """
    classes = estimator.classes_
    if validation is None:
        X, X_validation, y, y_validation = split_rows(X, y, share, seed)
    else:
        X_validation = checked_rows(estimator, validation[0])
        y_validation = checked_labels(validation[1], classes, len(X_validation))
    encoding = learn_encoding(X, names)
    everything = range(len(names))
    return StageRows(
        encoding,
        encoding.encode(everything, X),
        np.searchsorted(classes, y).astype(np.int64),
        encoding.encode(everything, X_validation),
        np.searchsorted(classes, y_validation).astype(np.int64),
        len(classes),
    )


def checked_labels(y: Any, classes: Labels, n_rows: int) -> Labels:
    """Check validation labels against the fitted classes."""
    y = column_or_1d(y, warn=True)
    if len(y) != n_rows or not n_rows:
        raise BadInputError(f"validation must have one label per row, got {n_rows} rows and {len(y)} labels.")
    unknown = sorted(set(y.tolist()) - set(classes.tolist()), key=str)
    if unknown:
        raise BadInputError(
            f"validation must hold the classes of y, {any_of(classes)}, got {unknown[0]!r} besides. Drop "
            "those rows."
        )
    if len(np.unique(y)) < 2:
        raise BadInputError(
            f"validation must hold at least two classes to judge by, got {y.tolist()[0]!r} only. "
            "Add rows of another class."
        )
    return np.asarray(y)


def split_rows(X: Any, y: Labels, share: float, seed: int) -> tuple[Any, Any, Labels, Labels]:
    """Split rows into those that fit and those that judge, by class; a class with one row only fits."""
    if not isinstance(share, int | float) or not 0 < share < 1:
        raise BadInputError(f"validation_share must be in (0, 1), got {share!r}.")
    judge, fit = cut_classes(y, lambda n: [min(n - 1, max(1, round(share * n)))], np.random.default_rng(seed))
    if not len(judge):
        raise BadInputError(
            f"some class needs 2 rows, one to fit and one to judge, got {len(y)} rows of {len(y)} classes. "
            "Add rows, or pass validation rows."
        )
    return take_rows(X, fit), take_rows(X, judge), y[fit], y[judge]


def reject_label_for(label: Any, classes: Labels) -> Any:
    """Return the label of rejected rows, which must not be a class; None chooses one."""
    if label is not None:
        if label in classes.tolist():
            raise BadInputError(
                f"reject_label must not be one of the classes, {any_of(classes)}, got {label!r}."
            )
        return label
    if classes.dtype.kind in "iuf":
        return -1 if -1 not in classes.tolist() else classes.min().item() - 1
    return "REJECT" if "REJECT" not in classes.tolist() else "REJECTED"


def labels_of(numbers: NDArray[np.int64], classes: Labels, reject_label: Any) -> Labels:
    """Turn class numbers into labels; a number below 0 becomes the reject label."""
    rejected = numbers < 0
    if not rejected.any():
        return np.asarray(classes[numbers])
    reject = np.array([reject_label])
    dtype = np.result_type(classes, reject) if reject.dtype.kind == classes.dtype.kind else object
    labels = classes[np.where(rejected, 0, numbers)].astype(dtype)
    labels[rejected] = reject_label
    return np.asarray(labels)
