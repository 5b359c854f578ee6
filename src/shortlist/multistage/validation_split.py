"""The rows that fit and the validation rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from shortlist._words import any_of
from shortlist.arrays import Labels
from shortlist.errors import BadInputError
from shortlist.multistage.predict.stage_answers import LabelledCodes
from shortlist.multistage.subclassifiers.encoding import Encoding, learn_encoding
from shortlist.multistage.subclassifiers.subclassifiers import StageRows, rows_in_folds
from shortlist.tables.fit_inputs import checked_rows, take_rows
from shortlist.tables.splits import (
    N_FOLDS,
    Cases,
    RowNumbers,
    cut_classes,
    deal_folds,
    keep_rows_apart,
    one_row_a_case,
    split_cases,
)


def rows_to_fit_and_validate(
    estimator: Any,
    X: Any,
    y: Labels,
    names: Sequence[str],
    *,
    validation: tuple[Any, Any] | None,
    share: float,
    seed: int,
    cases: Cases | None = None,
) -> StageRows:
    """Split checked rows, or cases, unless there are validation rows, and encode both parts.

    The encoding is learned from the rows that fit; which features have gaps, from both. The classes are the
    estimator's ``classes_``.
    """
    classes = estimator.classes_
    if validation is None:
        X, X_validation, y, y_validation = split_rows(X, y, share, seed, cases)
    else:
        X_validation = checked_rows(estimator, validation[0])
        y_validation = checked_labels(validation[1], classes, len(X_validation))
    encoding = learn_encoding(X, names, X_validation)
    everything = range(len(names))
    return StageRows(
        encoding,
        encoding.encode(everything, X),
        np.searchsorted(classes, y).astype(np.int64),
        encoding.encode(everything, X_validation),
        np.searchsorted(classes, y_validation).astype(np.int64),
        len(classes),
    )


def numbered_cases(cases: Any, n_rows: int) -> Cases | None:
    """Return the cases of rows, which may have any names, as numbers; None where rows are of no cases."""
    if cases is None:
        return None
    numbers: Cases = np.unique(column_or_1d(cases), return_inverse=True)[1]
    if len(numbers) != n_rows:
        raise BadInputError(
            "cases", "must have one entry per row", f"{len(numbers)} and {n_rows} rows", "Pass those of X."
        )
    return numbers


def folded_rows(
    estimator: Any, X: Any, y: Labels, names: Sequence[str], *, cases: Cases | None, seed: int
) -> StageRows:
    """Deal checked rows to folds, whole cases where rows are of cases, and encode them.

    The encoding is learned from all of them: it knows no class.
    """
    classes = estimator.classes_
    encoding = learn_encoding(X, names)
    return rows_in_folds(
        encoding,
        encoding.encode(range(len(names)), X),
        np.searchsorted(classes, y).astype(np.int64),
        deal_folds(y, N_FOLDS, seed, cases),
        len(classes),
    )


def checked_labels(y: Any, classes: Labels, n_rows: int) -> Labels:
    """Check validation labels against the fitted classes."""
    y = column_or_1d(y, warn=True)
    if len(y) != n_rows or not n_rows:
        raise BadInputError("validation", "must have one label per row", f"{n_rows} rows and {len(y)} labels")
    unknown = sorted(set(y.tolist()) - set(classes.tolist()), key=str)
    if unknown:
        raise BadInputError(
            "validation",
            f"must hold the classes of y, {any_of(classes)}",
            f"{unknown[0]!r} besides",
            "Drop those rows.",
        )
    if len(np.unique(y)) < 2:
        raise BadInputError(
            "validation",
            "must hold at least two classes to validate on",
            f"{y.tolist()[0]!r} only",
            "Add rows of another class.",
        )
    return np.asarray(y)


def split_rows(
    X: Any, y: Labels, share: float, seed: int, cases: Cases | None = None
) -> tuple[Any, Any, Labels, Labels]:
    """Split rows, or cases, into those that fit and those that held, by class; one row of a class fits."""
    if not isinstance(share, int | float) or not 0 < share < 1:
        raise BadInputError("validation_share", "must be in (0, 1)", repr(share))

    fit, held = split_cases(
        y,
        cases,
        lambda labels: cut_classes(
            labels, lambda n: [min(n - 1, max(1, round(share * n)))], np.random.default_rng(seed)
        )[::-1],
    )
    if not len(held):
        raise BadInputError(
            f"some class needs 2 rows, one to fit and one to validate, got {len(y)} rows of {len(y)} "
            "classes. Add rows, or pass validation rows."
        )
    return take_rows(X, fit), take_rows(X, held), y[fit], y[held]


def calibration_rows(
    y: Labels, share: float, seed: int, cases: Cases | None = None
) -> tuple[RowNumbers, RowNumbers]:
    """Split rows into those that fit and held, and those that calibrate, which are any rows alike.

    Where several rows are of one case, whole cases are split, and one row of each calibrates.
    """
    if not isinstance(share, int | float) or not 0 < share < 1:
        raise BadInputError("calibration_share", "must be in (0, 1)", repr(share))
    rest, held = split_cases(y, cases, lambda labels: keep_rows_apart(len(labels), share, seed))
    lost = set(y[held].tolist()) - set(y[rest].tolist())
    if lost or not len(held):
        kind = f"all rows of class {min(lost, key=str)!r}" if lost else "no row"
        raise BadInputError(
            f"the rows that calibrate must leave rows of each class, got {kind} among them. Add rows, or "
            "join "
            "classes."
        )
    return rest, one_row_a_case(held, cases, seed)


def encoded_rows(estimator: Any, encoding: Encoding, X: Any, y: Any) -> LabelledCodes:
    """Check calibration rows, and encode them; a class that is not among the estimator's is never right."""
    X = checked_rows(estimator, X)
    y = column_or_1d(y, warn=True)
    if len(y) != len(X) or not len(y):
        raise BadInputError(
            "calibration", "must have one label per row", f"{len(X)} rows and {len(y)} labels"
        )
    places = {label: place for place, label in enumerate(estimator.classes_.tolist())}
    codes = np.array([places.get(label, -1) for label in y.tolist()], dtype=np.int64)
    rows, states = encoding.encode_known(X)
    return LabelledCodes(rows, codes, states)
