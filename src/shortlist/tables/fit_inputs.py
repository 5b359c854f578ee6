"""Checks of the input rows of every estimator."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from shortlist._options import check_fields
from shortlist._validation import as_seed
from shortlist.arrays import Labels
from shortlist.errors import BadInputError


def checked_fit(estimator: BaseEstimator, X: Any, y: Any) -> tuple[Any, Labels]:
    """Check shapes, feature names and classes of rows for a fit; frames stay frames."""
    X = _checked_shape(estimator, X)
    if y is None:
        raise BadInputError("y should be a 1d array of classes, got None. Pass the class of every row.")
    y = column_or_1d(plain_labels(y), warn=True)
    assert_all_finite(y, input_name="y")
    if len(X) != len(y):
        raise BadInputError(f"X and y must have one entry per row, got {len(X)} and {len(y)} rows.")
    refuse_quantities(y)
    validate_data(estimator, X, y, skip_check_array=True)
    return X, y


def plain_labels(y: Any) -> Any:
    """Return classes as an array with the same values and type, also for pandas' nullable types.

    >>> import pandas as pd
    >>> plain_labels(pd.Series([2**60, 2**60 + 1], dtype="Int64")).tolist()
    [1152921504606846976, 1152921504606846977]
    """
    dtype = getattr(y, "dtype", None)
    plain = getattr(dtype, "numpy_dtype", None)  # of pandas' Int64, Float64 and boolean types
    if plain is not None and not y.isna().any():
        return y.to_numpy(dtype=plain)
    return np.asarray(y)


def checked_rows(estimator: BaseEstimator, X: Any) -> Any:
    """Check shapes and feature names of rows to predict."""
    X = _checked_shape(estimator, X)
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return X


def integer_seed(random_state: Any) -> int:
    """Return one integer seed from scikit-learn's `random_state`."""
    if isinstance(random_state, int | np.integer):
        return as_seed(random_state, "random_state")
    return int(check_random_state(random_state).randint(2**31 - 1))


def as_random_state(value: Any, argument: str) -> Any:
    """Return scikit-learn's `random_state`; a number must be from 0 to 2^32 - 1."""
    return as_seed(value, argument) if isinstance(value, int | np.integer) else value


def refuse_fit_options(estimator: BaseEstimator, given: Mapping[str, Any]) -> None:
    """Refuse arguments that ``fit`` does not have, and weights of rows with a sentence about them.

    Raises BadInputError for weights of rows, as estimators count every row once. Raises TypeError for any
    other argument, as Python does.
    """
    name = type(estimator).__name__
    if "sample_weight" in given:
        raise BadInputError(
            f"{name}.fit takes no sample_weight, because it counts whole rows, each once. Leave it out."
        )
    if given:
        raise TypeError(f"{name}.fit() got an unexpected keyword argument {next(iter(given))!r}")


def classes_of(y: Labels, *, name: str = "y", most: int | None = None) -> Labels:
    """Return the classes, sorted.

    Raises BadInputError if there are fewer than two classes, or more than `most`. `name`: name of the labels
    in the message.
    """
    classes: Labels = np.unique(y)
    n = len(classes)
    if n >= 2 and (most is None or n <= most):
        return classes
    got = {0: "none", 1: f"one class only: {classes.tolist()[0]!r}" if n else ""}.get(n, f"{n} classes")
    if most is None:
        raise BadInputError(name, "must hold two classes or more", got, "Add rows of another class.")
    raise BadInputError(name, f"must hold from 2 to {most} classes", got, "Add rows, or join classes.")


def take_rows(X: Any, rows: NDArray[np.integer]) -> Any:
    """Return the given rows of a frame or an array."""
    return X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]


def refuse_quantities(y: Labels) -> None:
    """Refuse labels that are quantities, such as numbers with fractions.

    The message contains the words that scikit-learn's checks look for.
    """
    try:
        check_classification_targets(y)
    except ValueError as error:
        fractions = y[y % 1 != 0] if y.dtype.kind == "f" else y[:0]
        if not len(fractions):
            raise BadInputError(str(error)) from None
        raise BadInputError(
            "y",
            "must hold classes, as words or whole numbers",
            f"{fractions[0]:g}",
            "Unknown label type: this looks like a number to predict, not a class.",
        ) from None


def _checked_shape(estimator: BaseEstimator, X: Any) -> Any:
    """Check the shape of rows; a frame stays a frame, so that text columns reach the pool."""
    if hasattr(X, "columns"):
        return X
    is_float = getattr(getattr(X, "dtype", None), "kind", "f") == "f"
    finite: Any = "allow-nan" if is_float else False
    return check_array(X, dtype=None, ensure_all_finite=finite, estimator=estimator)


Check: TypeAlias = Callable[[Any, str], object]
"""Function that refuses a bad value of the named option, with one sentence."""


@dataclass(kw_only=True, eq=False)
class SeedSettings:
    """Seed of an estimator."""

    random_state: Annotated[Any, as_random_state] = None


class TableClassifier(ClassifierMixin, BaseEstimator, SeedSettings, ABC):
    """Classifier of rows with text, categories and gaps, which counts every row once."""

    CHECKS: ClassVar[dict[str, Check]] = {}
    """Check of each option that is not a field and can be checked alone; the checks run in this order."""

    classes_: Labels

    MOST_CLASSES: ClassVar[int | None] = None
    """Largest supported number of classes; None for any number."""

    @abstractmethod
    def fit(self, X: Any, y: Any) -> Self:
        """Fit on these rows."""

    @abstractmethod
    def predict(self, X: Any) -> Labels:
        """Return the class of every row, ``(n_samples,)``."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows with the right class; a row without an answer counts as wrong."""
        known = set(self.classes_.tolist())
        pairs = zip(np.asarray(self.predict(X)).tolist(), plain_labels(y).tolist(), strict=True)
        return float(
            np.average([said in known and said == true for said, true in pairs], weights=sample_weight)
        )

    def check_options(self, y: Labels) -> None:
        """Refuse unusable classes and options, before any long work."""
        classes_of(y, name="the target", most=self.MOST_CLASSES)
        check_fields(self)
        for option, check in self.CHECKS.items():
            check(getattr(self, option), option)

    def _begin_fit(self, X: Any, y: Any, unsupported: Mapping[str, Any]) -> tuple[Any, Labels, int]:
        """Check the arguments of ``fit``, set ``classes_``, and return rows, classes and seed."""
        refuse_fit_options(self, unsupported)
        X, y = checked_fit(self, X, y)
        self.check_options(y)
        self.classes_ = np.unique(y)
        return X, y, integer_seed(self.random_state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
