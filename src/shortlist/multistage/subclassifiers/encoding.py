"""Encoding of a table as numeric columns, each of which stays tied to its feature."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import any_of
from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.guarantees.cells import SILENT, UNASKED, UNKNOWN, label_text, states_of
from shortlist.pickles import saved_from


@saved_from("shortlist.multistage")
@dataclass(frozen=True, eq=False)
class FeatureCode:
    """Conversion of one feature to numeric columns."""

    name: str
    """Name of the feature."""
    fill: float
    """Value that replaces a missing number: the median of the fitted rows."""
    categories: tuple[Any, ...] | None
    """Values of a category, with one 0/1 column each; a value not listed is zero in all of these columns.
    None: the feature is a number.
    """
    allows_missing: bool
    """Whether the rows behind the classifier had gaps in the feature. If so, a last 0/1 column marks gaps,
    and a gap is a value like others. Otherwise a gap means that the feature is not known yet.
    """
    words: tuple[Any, ...] | None = None
    """All values of a category in the rows behind the classifier; any other value is an unknown word. None:
    not recorded, as in models saved before words were kept.
    """

    @property
    def width(self) -> int:
        """Number of columns."""
        return (1 if self.categories is None else len(self.categories)) + self.allows_missing


@saved_from("shortlist.multistage")
@dataclass(frozen=True, eq=False)
class Encoding:
    """Conversion of every feature to columns; build with :func:`learn_encoding`."""

    codes: tuple[FeatureCode, ...]

    @property
    def starts(self) -> NDArray[np.int64]:
        """First column of each feature, and one past the last column, ``(n_features + 1,)``."""
        return np.concatenate([[0], np.cumsum([code.width for code in self.codes])]).astype(np.int64)

    @property
    def plain(self) -> bool:
        """Whether the columns are the features themselves: all features are numbers without gaps."""
        return all(code.categories is None and not code.allows_missing for code in self.codes)

    def columns(self, subsets: Mask) -> Mask:
        """Return the columns of feature sets as a mask, ``(..., n_columns)``.

        `subsets`, ``(..., n_features)``.
        """
        return np.repeat(subsets, np.diff(self.starts), axis=-1)

    def encode(self, features: Sequence[int], values: Any) -> NDArray[np.float64]:
        """Return the columns of some features, for values of shape ``(n_rows, len(features))``.

        Raises BadInputError if a number is infinite or text, or missing in a feature that had no gaps when
        fitting.
        """
        if self.plain and not hasattr(values, "iloc"):
            return self._numbers(features, values)
        parts = [
            _encode(self.codes[feature], _column(values, place)) for place, feature in enumerate(features)
        ]
        return np.ascontiguousarray(np.concatenate(parts, axis=1))

    @property
    def allows_missing(self) -> Mask:
        """Mask of the features in which a gap is a value, ``(n_features,)``."""
        return np.array([code.allows_missing for code in self.codes], dtype=bool)

    def lacking(self, states: NDArray[np.int8], features: NDArray[np.integer]) -> Mask:
        """Return a mask of the features still to be requested before a stage, ``(n_rows, n_bought)``.

        The mask holds features not requested yet, and gaps in features that had no gaps when fitting; an
        unknown word is a gap.

        `states`, ``(n_rows, n_features)``: states of :mod:`shortlist.guarantees.cells`. `features`,
        ``(n_bought,)``: indices.
        """
        bought = states[:, features]
        is_gap = ((bought == SILENT) | (bought == UNKNOWN)) & ~self.allows_missing[features]
        return np.asarray((bought == UNASKED) | is_gap)

    def gaps(self, rows: NDArray[np.float64]) -> Mask:
        """Return a mask of the gaps that are values, ``(n_rows, n_features)``, in encoded rows."""
        return np.asarray((rows[:, self.starts[1:] - 1] == 1) & self.allows_missing)

    def refuse_unknown(self, values: Any, features: Sequence[int]) -> None:
        """Raise BadInputError if values, ``(n_rows, len(features))``, have a word that no fitted row has."""
        for place, feature in enumerate(features):
            code, column = self.codes[feature], _column(values, place)
            _, unknown = _matched(code, column)
            if unknown.any():
                word = str(column[int(unknown.argmax())])
                raise BadInputError(
                    f"feature {code.name!r} must be one of {any_of(code.words or ())}, as when fitting, got "
                    f"{word!r}. Correct it, or ask for it again."
                )

    def encode_known(self, values: Any) -> tuple[NDArray[np.float64], NDArray[np.int8] | None]:
        """Return the columns of all features, and whether each feature of each row has a value.

        The columns of a feature without a value mean nothing, unless its gaps are values. Raises
        BadInputError if a number is infinite or text.

        `columns`, which it returns, ``(n_rows, n_columns)``. `states`, which it returns, ``(n_rows,
        n_features)``: states of :mod:`shortlist.guarantees.cells`, such as a value, a gap, or an unknown
        word. None: all features have values.
        """
        places = range(len(self.codes))
        whole = self.plain and getattr(values, "dtype", None) == np.float64 and np.isfinite(values.sum())
        if whole:
            return self._numbers(places, values), None
        columns = [_column(values, place) for place in places]
        matched = [_matched(code, column) for code, column in zip(self.codes, columns, strict=True)]
        parts = [
            _encode(code, column, strict=False) for code, (column, _) in zip(self.codes, matched, strict=True)
        ]
        silent = np.column_stack([_missing(column) for column in columns])
        states = states_of(silent, unknown=np.column_stack([unknown for _, unknown in matched]))
        return np.ascontiguousarray(np.concatenate(parts, axis=1)), states if states.any() else None

    def _numbers(self, features: Sequence[int], values: Any) -> NDArray[np.float64]:
        """Return plain numbers as an array, ``(n_rows, len(features))``, after one check of all features."""
        try:
            # kernels take only arrays that could be written
            numbers = np.require(values, dtype=np.float64, requirements=["C", "W"])
        except (TypeError, ValueError):
            numbers = np.column_stack(
                [_as_numbers(self.codes[f].name, values[:, i]) for i, f in enumerate(features)]
            )
        if not np.isfinite(numbers.sum()) and not np.isfinite(numbers).all():
            row, place = np.argwhere(~np.isfinite(numbers))[0]
            _refuse(self.codes[features[place]].name, numbers[row, place])
        return numbers


def learn_encoding(X: Any, names: Sequence[str], validation: Any = None) -> Encoding:
    """Learn how to encode each feature from the rows that fit the classifiers.

    Numbers stay as they are and missing ones become the median. Text, booleans and a frame's categories, also
    of numbers, become one column per value. Feature i of `names` is column i of `X`.

    `validation`: the validation rows, ``(n_validation_rows, n_features)``. Gaps and words of the validation
    rows count as gaps and words of the fitted rows, so that the split does not decide which gaps are values
    and which words are known.
    """
    return Encoding(
        tuple(
            _learn(
                name,
                _column(X, place),
                None if validation is None else _column(validation, place),
                marked=_is_marked(X, place),
            )
            for place, name in enumerate(names)
        )
    )


def _learn(name: str, column: Any, validation: Any, *, marked: bool) -> FeatureCode:
    missing = _missing(column)
    gaps = bool(missing.any()) or (validation is not None and bool(_missing(validation).any()))
    if marked or _is_category(column):
        categories = _values(column)
        known = (
            categories if validation is None else tuple(dict.fromkeys((*categories, *_values(validation))))
        )
        # of two values one column says it all
        return FeatureCode(name, 0.0, categories[1:] if len(categories) == 2 else categories, gaps, known)
    numbers = _as_numbers(name, column)
    _check_finite(name, numbers)
    there = numbers[~missing]
    return FeatureCode(name, float(np.median(there)) if len(there) else 0.0, None, gaps)


def _values(column: Any) -> tuple[Any, ...]:
    seen = {value for value, gap in zip(column.tolist(), _missing(column), strict=True) if not gap}
    return tuple(sorted(seen, key=lambda value: (type(value).__name__, value)))


def _matched(code: FeatureCode, column: Any) -> tuple[Any, Mask]:
    """Return a column with its words as they were when fitting, and a mask of the unknown words.

    A number equals the word that it is written as, such as 1 and "1": files are read as numbers where all
    cells of a column look like numbers.
    """
    if code.words is None:
        return column, np.zeros(len(column), dtype=bool)
    import pandas as pd

    places, different = pd.factorize(column)
    known = {**{label_text(word): word for word in code.words}, **{word: word for word in code.words}}
    found = [known.get(value, known.get(label_text(value))) for value in different.tolist()]
    words = np.empty(len(found) + 1, dtype=object)
    words[: len(found)] = found
    is_gap = places < 0
    return words[places], np.asarray(
        ~is_gap & np.isin(places, [i for i, one in enumerate(found) if one is None])
    )


def _encode(code: FeatureCode, column: Any, *, strict: bool = True) -> NDArray[np.float64]:
    """Return the columns of one feature.

    `strict`: raise BadInputError for gaps in a feature that had no gaps when fitting.
    """
    missing = _missing(column)
    if strict and missing.any() and not code.allows_missing:
        _refuse(code.name, float("nan"))
    if code.categories is None:
        numbers = _as_numbers(code.name, column)
        _check_finite(code.name, numbers)
        parts = [np.where(missing, code.fill, numbers)]
    else:
        parts = [_is_value(column, value) for value in code.categories]
    if code.allows_missing:
        parts.append(missing.astype(np.float64))
    return np.column_stack(parts) if parts else np.empty((len(column), 0))


def _column(X: Any, place: int) -> Any:
    if not hasattr(X, "iloc"):
        return X[:, place]
    column = X.iloc[:, place]
    return column.to_numpy(dtype=object) if _is_extension(column) else column.to_numpy()


def _is_extension(column: Any) -> bool:
    return not isinstance(column.dtype, np.dtype)


def _is_marked(X: Any, place: int) -> bool:
    import pandas as pd

    return hasattr(X, "iloc") and isinstance(X.dtypes.iloc[place], pd.CategoricalDtype)


def _is_category(column: Any) -> bool:
    if column.dtype.kind in "USb":
        return True
    if column.dtype.kind != "O":
        return False
    return any(isinstance(value, str | bool | np.bool_) for value in column)


def _is_value(column: Any, value: Any) -> NDArray[np.float64]:
    """Return 1 for rows that hold a value and 0 for others.

    The result is 0 for a pandas NA, which cannot be compared.
    """
    if column.dtype.kind == "O":
        column = np.where(_missing(column), None, column)
    return np.asarray(column == value, dtype=np.float64)


def _missing(column: Any) -> Mask:
    import pandas as pd

    return np.asarray(pd.isna(column))


def _as_numbers(name: str, column: Any) -> NDArray[np.float64]:
    if column.dtype.kind in "Mm":  # their numbers depend on the unit that the table happens to have
        raise BadInputError(
            f"feature {name!r} must hold numbers or text, got times. Turn them into numbers, such as days "
            "since a date."
        )
    if column.dtype.kind != "O":
        try:
            return np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            column = np.asarray(column, dtype=object)
    gaps = _missing(column)
    return np.array(
        [np.nan if gap else _as_number(name, value) for value, gap in zip(column, gaps, strict=True)],
        dtype=np.float64,
    )


def _as_number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise BadInputError(
            f"feature {name!r} must hold numbers, as when fitting, got {value!r}. Convert the column."
        ) from None


def _check_finite(name: str, numbers: NDArray[np.float64]) -> None:
    if np.isinf(numbers).any():
        _refuse(name, float("inf"))


def _refuse(name: str, value: float) -> None:
    if np.isnan(value):
        raise BadInputError(
            f"feature {name!r} had no missing values when fitting, got NaN. Fill it, or fit on rows with "
            "gaps."
        )
    raise BadInputError(f"feature {name!r} must be finite, got infinity. Replace or drop those rows.")
