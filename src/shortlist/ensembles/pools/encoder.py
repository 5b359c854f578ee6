"""Encoding of tables of numbers and words as one matrix of standardised numbers, and of labels as indices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.utils import check_array

from shortlist.arrays import Labels, Mask
from shortlist.errors import BadInputError
from shortlist.pickles import saved_from
from shortlist.tables.fit_inputs import classes_of, refuse_quantities

MISSING = "missing"
"""Category of an absent word."""

MOST_CATEGORIES = 30
"""Largest number of encoded columns for one column of words; the rarest words share one encoded column."""

FARTHEST = 1000.0
"""Limit at which standardised numbers are clipped, so that no classifier overflows on an absurd row."""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True)
class FoldedColumns:
    """Groups of the columns of an encoded table; each group stands for one column of the original table."""

    gaps: tuple[tuple[int, int], ...] = ()
    """Pairs of a column of numbers and the column that marks its gaps, as indices."""
    words: tuple[tuple[int, int], ...] = ()
    """Range of indices of the 0-1 columns of each column of words: the first index, and the index after the
    last.
    """

    def numbers(self, n_columns: int) -> NDArray[np.intp]:
        """Return the indices of the columns of numbers among `n_columns`, without marks of gaps and words."""
        kept = np.ones(n_columns, dtype=bool)
        kept[[mark for _, mark in self.gaps]] = False
        for start, stop in self.words:
            kept[start:stop] = False
        return np.flatnonzero(kept)

    def unfold(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a table with one column per feature: words as indices, then numbers with NaN in gaps."""
        numbers = self.numbers(X.shape[1])
        table = np.empty((len(X), len(self.words) + len(numbers)))
        for place, (start, stop) in enumerate(self.words):
            table[:, place] = np.where(X[:, start:stop].any(axis=1), X[:, start:stop].argmax(axis=1), np.nan)
        table[:, len(self.words) :] = X[:, numbers]
        for number, mark in self.gaps:
            table[X[:, mark] > 0, len(self.words) + np.searchsorted(numbers, number)] = np.nan
        return table


NO_FOLDED_COLUMNS = FoldedColumns()
"""Groups of a table of numbers without gaps: none."""


@saved_from("shortlist.ensembles")
@dataclass(frozen=True, eq=False)
class TableEncoder:
    """Encoding of a table, as learnt by :func:`fit_table`."""

    words: Mask
    """True for columns of words, False for columns of numbers, ``(n_features,)``."""
    numbers: Pipeline | None
    """Fitted steps for the columns of numbers: the median in place of a missing number, with an indicator
    column, then mean 0 and variance 1.
    """
    categories: OneHotEncoder | None
    """Fitted encoder of the columns of words; None if the table has no column of words."""

    @property
    def known_words(self) -> list[set[str] | None]:
        """Words of each column in the fitted rows.

        None for a column of numbers, and for a column of words whose rare words share an encoded column.
        """
        known: list[set[str] | None] = [None] * len(self.words)
        if self.categories is not None:
            rare = self.categories.infrequent_categories_
            for place, seen, few in zip(
                np.flatnonzero(self.words), self.categories.categories_, rare, strict=True
            ):
                known[place] = set(seen.tolist()) if few is None else None
        return known

    @property
    def folded(self) -> FoldedColumns:
        """Groups of the encoded columns that belong to one column of the table."""
        gaps: tuple[tuple[int, int], ...] = ()
        start = 0
        if self.numbers is not None:
            start = int(np.count_nonzero(~self.words))
            marker = self.numbers.named_steps["impute"].indicator_
            gaps = tuple((int(number), start + at) for at, number in enumerate(marker.features_))
            start += len(gaps)
        words = []
        if self.categories is not None:
            rare = self.categories.infrequent_categories_
            for seen, few in zip(self.categories.categories_, rare, strict=True):
                stop = start + len(seen) - (0 if few is None else len(few) - 1)
                words.append((start, stop))
                start = stop
        return FoldedColumns(gaps, tuple(words))

    def unknown_words(self, X: Any) -> Mask:
        """Return the mask of the cells with a word that is in no fitted row, ``(n_rows, n_features)``.

        If the rarest words share an encoded column, an unknown word counts as a rare word and is not marked.
        """
        frame, known = as_frame(X), self.known_words
        unknown = np.zeros(frame.shape, dtype=bool)
        for place, seen in enumerate(known):
            if seen is not None:
                column = frame.iloc[:, place].astype(object)
                places, different = pd.factorize(column)
                unknown[:, place] = np.isin(
                    places, [at for at, word in enumerate(different) if _text(word) not in seen]
                )
        return unknown

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the rows as standardised finite numbers, ``(n_samples, n_encoded)``.

        An unknown word counts as a rare word. If the column has no rare words, an unknown word counts as
        missing, and :meth:`unknown_words` marks it. Raises BadInputError if `X` is no table with the fitted
        number of columns, has words where numbers were, or holds infinity.
        """
        frame = as_frame(X)
        if frame.shape[1] != len(self.words):
            raise BadInputError(
                f"X has {frame.shape[1]} features, but the pool is expecting {len(self.words)} "
                "features as input."
            )
        blocks = []
        if self.numbers is not None:
            scaled = self.numbers.transform(_numbers(frame, ~self.words))
            blocks.append(np.clip(scaled, -FARTHEST, FARTHEST))
        if self.categories is not None:
            known = [seen for seen, is_words in zip(self.known_words, self.words, strict=True) if is_words]
            blocks.append(self.categories.transform(_words(frame, self.words, known)))
        return np.asarray(np.hstack(blocks), dtype=np.float64)


def fit_table(X: Any) -> TableEncoder:
    """Return an encoder that turns tables like `X` into standardised numbers with its method ``transform``.

    A column of a frame holds words if its type is text or category, or if its type is object and a cell is
    text. A column of an array holds words if a value cannot be read as a number. All other columns hold
    numbers. Raises BadInputError if `X` is sparse, is no table, is empty, or holds dates, complex numbers or
    infinity. Raises TypeError if a cell is neither a number nor text.

    `X`, ``(n_samples, n_features)``: numbers, truth values and words; missing cells are NaN, None or pd.NA.

    >>> fit_table([[-8], [8]]).transform([[-8], [8], [4]]).tolist()
    [[-1.0], [1.0], [0.5]]
    """
    frame = as_frame(X)
    # an array has one type for all cells, so its numbers may have become text; a frame's column chose its
    # type
    of_array = not isinstance(X, pd.DataFrame)
    words = np.array(
        [_is_words(frame.iloc[:, index], text_may_be_numbers=of_array) for index in range(frame.shape[1])]
    )
    numbers = categories = None
    if not words.all():
        # MaxAbsScaler first: the variance of numbers near the largest float would overflow
        numbers = Pipeline(
            [
                ("impute", SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)),
                ("shrink", MaxAbsScaler()),
                ("standardise", StandardScaler()),
            ]
        ).fit(_numbers(frame, ~words))
    if words.any():
        categories = OneHotEncoder(
            handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False
        ).fit(_words(frame, words))
    return TableEncoder(words, numbers, categories)


def as_frame(X: Any) -> pd.DataFrame:
    """Return a table as a frame; arrays of objects or text keep their cells."""
    if isinstance(X, pd.DataFrame):
        _check_frame(X)
        return X
    if issparse(X):
        # scikit-learn's words, which its checks look for
        raise BadInputError(
            "Sparse data was passed for X, but dense data is required. Use '.toarray()' to convert."
        )
    try:
        array = check_array(X, dtype=None, ensure_all_finite=False, input_name="X")
    except ValueError as error:
        raise BadInputError(str(error)) from None
    if array.dtype.kind in "biuf":
        return pd.DataFrame(array)
    if array.dtype.kind not in "OUS":
        raise BadInputError(
            "X", "must hold numbers or text", f"an array of {array.dtype}", "Convert it first."
        )
    return pd.DataFrame(array.astype(object), dtype=object)


def as_classes(y: ArrayLike) -> tuple[Labels, NDArray[np.intp]]:
    """Return the sorted classes, ``(n_classes,)``, and the index of every row's class, ``(n_rows,)``."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.ndim != 1:
        raise BadInputError("y", "must have shape (n_samples,)", labels.shape)
    if pd.isna(labels).any():
        raise BadInputError("y", "must not hold missing labels", pd.isna(labels).sum(), "Drop those rows.")
    try:
        refuse_quantities(labels)
        classes = classes_of(labels)
    except TypeError:
        raise BadInputError("y", "must hold labels of one type", "several that cannot be sorted") from None
    return classes, np.searchsorted(classes, labels).astype(np.intp)


def _check_frame(frame: pd.DataFrame) -> None:
    """Raise BadInputError for empty frames, and for columns that hold neither numbers nor words."""
    for count, what in ((len(frame), "sample"), (frame.shape[1], "feature")):
        if count == 0:
            # scikit-learn's words, which its checks look for
            raise BadInputError(
                f"Found array with 0 {what}(s) (shape={frame.shape}) while a minimum of 1 is required."
            )
    for name, dtype in zip(frame.columns, frame.dtypes, strict=True):
        if pd.api.types.is_complex_dtype(dtype):
            raise BadInputError(f"Complex data not supported: column {name!r} of X is {dtype}.")
        if dtype.kind not in "biufOUS" and not isinstance(dtype, pd.CategoricalDtype | pd.StringDtype):
            raise BadInputError(
                f"column {name!r} of X must hold numbers or text, got {dtype}. "
                "Turn dates into numbers first, such as days since a fixed day."
            )
        if dtype.kind == "O":
            _check_cells(
                frame[name] if frame.columns.is_unique else frame.iloc[:, list(frame.columns).index(name)],
                name,
            )


def _check_cells(column: "pd.Series[Any]", name: Any) -> None:
    for row, cell in enumerate(column, start=1):
        if isinstance(cell, list | tuple | set | np.ndarray):
            raise BadInputError(
                f"column {name!r} of X must hold numbers or text, got a {type(cell).__name__} in row {row}. "
                "Give each of its values a column of its own."
            )


def _is_words(column: "pd.Series[Any]", *, text_may_be_numbers: bool) -> bool:
    if isinstance(column.dtype, pd.CategoricalDtype | pd.StringDtype):
        return True
    if column.dtype.kind not in "OUS" or not any(isinstance(value, str | bytes) for value in column):
        return False
    return not (text_may_be_numbers and _reads_as_numbers(column.dropna()))


def _reads_as_numbers(column: "pd.Series[Any]") -> bool:
    try:
        column.to_numpy(dtype=np.float64)
    except ValueError:
        return False
    return True


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _numbers(frame: Any, chosen: Mask) -> NDArray[np.float64]:
    block = np.empty((len(frame), int(chosen.sum())))
    for target, index in enumerate(np.flatnonzero(chosen)):
        column = frame.iloc[:, index]
        try:
            block[:, target] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        except ValueError:
            wrong = next((one for one in column.dropna().tolist() if not _is_number(one)), None)
            raise BadInputError(
                f"column {frame.columns[index]!r} held numbers when its classifiers were fitted, and holds "
                f"{wrong!r} now. Correct that value, or leave it empty."
            ) from None
    try:
        return np.asarray(check_array(block, ensure_all_finite="allow-nan", input_name="X"))
    except ValueError as error:
        infinite = np.flatnonzero(np.isinf(block).any(axis=0))
        where = f" In column {frame.columns[np.flatnonzero(chosen)[infinite[0]]]!r}." if len(infinite) else ""
        raise BadInputError(f"{error}{where}") from None


def _words(frame: Any, chosen: Mask, known: Sequence[set[str] | None] = ()) -> NDArray[Any]:
    """Return the chosen columns as text; missing cells and unknown words become :data:`MISSING`."""
    block = np.empty((len(frame), int(chosen.sum())), dtype=object)
    for target, index in enumerate(np.flatnonzero(chosen)):
        column = frame.iloc[:, index].astype(object)
        block[:, target] = [
            MISSING if absent else _text(value) for value, absent in zip(column, column.isna(), strict=True)
        ]
    for target, seen in enumerate(known):
        if seen is not None:
            block[[word not in seen for word in block[:, target]], target] = MISSING
    return block


def _text(value: Any) -> str:
    if isinstance(value, str | bytes | int | float | np.generic):
        return str(value)
    raise TypeError(f"a cell of X: argument must be a string or a number, got {type(value).__name__}.")
