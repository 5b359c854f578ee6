"""States of a cell: an answer, a missing answer, "not queried yet", or a word that is no answer.

Every reader uses the same states. A judge or a test that was asked and gave no answer is silent: an empty
cell, NaN or None. A judge or a test that was not asked yet has no column, or :data:`NOT_ASKED` in its cell. A
judge's word that is no class is no answer, and is reported. A feature's word that no fitted row had counts as
missing, and is reported.
"""

import warnings
from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, any_of, counted
from shortlist.arrays import Labels, Mask
from shortlist.errors import BadInputError, UnknownWordWarning


class NotAsked(Enum):
    """Kind of a cell without a value; see :data:`NOT_ASKED`."""

    NOT_ASKED = "not asked"


NOT_ASKED = NotAsked.NOT_ASKED
"""Cell value in a frame for a judge not asked yet, or a feature not bought yet."""

ANSWERED, SILENT, UNASKED, UNKNOWN, FAILED = (np.int8(state) for state in range(5))
"""States of cells. A `FAILED` cell was asked in vain, as the caller reported, and is not asked again."""


def unasked_cells(column: Any) -> Mask:
    """Return the mask of the cells of a column, an array or a series, that were not asked yet."""
    values = np.asarray(column)
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    return np.array([value is NOT_ASKED for value in values.tolist()], dtype=bool)


def without_unasked(X: Any) -> tuple[Any, Mask | None]:
    """Return a frame with unasked cells made empty, and their mask; None if no cell is unasked.

    >>> import pandas as pd
    >>> table, unasked = without_unasked(pd.DataFrame({"a": [1.5, NOT_ASKED], "b": ["x", "y"]}))
    >>> table["a"].tolist(), unasked.tolist()
    ([1.5, nan], [[False, False], [True, False]])
    """
    if not hasattr(X, "columns"):
        return X, None
    unasked = np.zeros(X.shape, dtype=bool)
    for place, dtype in enumerate(X.dtypes):
        if dtype.kind == "O":
            unasked[:, place] = unasked_cells(X.iloc[:, place])
    if not unasked.any():
        return X, None
    return X.mask(unasked, np.nan).infer_objects(), unasked


def with_unasked(X: Any, marker: str) -> Any:
    """Return a table from a file in which cells with a marker became :data:`NOT_ASKED`.

    All other cells of a column with a marker are read again: as numbers or truth values if all of these cells
    are. An empty `marker` stands for all empty cells.
    """
    import io

    import pandas as pd

    table = X.copy()
    for name in table.columns:
        column = table[name]
        if not marker:
            marked = column.isna()
        elif column.dtype.kind in "iuf":
            marked = column == pd.to_numeric(marker, errors="coerce")
        else:
            marked = column.astype(str) == marker
        if not marked.any():
            continue
        if column.dtype.kind not in "iufb":
            text = column.mask(marked).to_csv(index=False, header=["cells"])
            column = pd.read_csv(
                io.StringIO(text), skip_blank_lines=False, keep_default_na=False, na_values=[""]
            )["cells"]
        cells = column.astype(object).to_numpy(copy=True)
        cells[marked.to_numpy()] = NOT_ASKED
        table[name] = pd.Series(cells, index=table.index, dtype=object)
    return table


def empty_rows(X: Any, unknown: Mask | bool = False) -> Mask:
    """Return the mask of the rows without any value; cells in the mask `unknown` count as empty."""
    import pandas as pd

    missing = np.asarray(X.isna()) if hasattr(X, "columns") else np.asarray(pd.isna(np.asarray(X)))
    if missing.ndim != 2:
        return np.zeros(len(missing), dtype=bool)
    return np.asarray((missing | unknown).all(axis=1))


def missing_words(table: Any, unknown: Mask) -> str:
    """Return a sentence on the words of a table that no fitted row had; empty if there are none.

    `unknown`, ``(n_rows, n_features)``: mask of the cells with such words.
    """
    columns = np.flatnonzero(unknown.any(axis=0)).tolist()
    names, words = list[str](), list[Any]()
    for place in columns:
        column = table.iloc[:, place].to_numpy() if hasattr(table, "iloc") else np.asarray(table)[:, place]
        found = dict.fromkeys(column[unknown[:, place]].tolist())
        names += [str(table.columns[place] if hasattr(table, "columns") else place)] * len(found)
        words += found
    if not words:
        return ""
    cells = counted(int(unknown.sum()), "cell")
    return f"{cells} with words that no fitted row had count as missing: {words_in(names, words)}."


def label_text(label: Any) -> str:
    """Return a label as text; the labels 1 and 1.0 have the same text."""
    whole = isinstance(label, float | np.floating) and float(label).is_integer()
    return str(int(label)) if whole else str(label)


def warn_of_unknown_words(table: Any, unknown: Mask) -> None:
    """Warn once of words that no fitted row had in their column; the warning names words and columns."""
    if said := missing_words(table, unknown):
        warnings.warn(said, UnknownWordWarning, stacklevel=5)


def words_in(names: Sequence[str], words: Sequence[Any]) -> str:
    """Return words that are no answer, each once with its column, such as ``'Error 429' of 'gpt'``."""
    pairs = dict.fromkeys(zip(words, names, strict=True))
    return all_of(f"{str(word)!r} of {name!r}" for word, name in pairs) if pairs else ""


def states_of(silent: Mask, unasked: Mask | None = None, unknown: Mask | None = None) -> NDArray[np.int8]:
    """Return the states of cells, from masks of one shape; an unasked cell has no other state.

    >>> states_of(np.array([False, True, True]), np.array([False, False, True])).tolist()
    [0, 1, 2]
    """
    states = np.where(silent, SILENT, ANSWERED)
    for mask, state in ((unknown, UNKNOWN), (unasked, UNASKED)):
        if mask is not None:
            states = np.where(mask, state, states)
    return np.asarray(states, dtype=np.int8)


def reject_label_for(label: Any, classes: Labels) -> Any:
    """Return the label of rejected rows, which must be no class; None chooses a label."""
    if label is not None:
        if label in classes.tolist():
            raise BadInputError(
                "reject_label", f"must not be one of the classes, {any_of(classes)}", repr(label)
            )
        return label
    if classes.dtype.kind in "iuf":
        return -1 if -1 not in classes.tolist() else classes.min().item() - 1
    return "REJECT" if "REJECT" not in classes.tolist() else "REJECTED"


def places_of(labels: Labels, classes: Labels) -> NDArray[np.int64]:
    """Return the index of each label among sorted classes; -1 for other labels, such as the reject label.

    >>> places_of(np.array(["b", "REJECT"]), np.array(["a", "b"])).tolist()
    [1, -1]
    """
    known = {label: place for place, label in enumerate(classes.tolist())}
    return np.array([known.get(label, -1) for label in np.asarray(labels).tolist()], dtype=np.int64)


def labels_of(numbers: NDArray[np.int64], classes: Labels, reject_label: Any) -> Labels:
    """Return the labels of class indices; an index below 0 becomes the reject label."""
    rejected = numbers < 0
    if not rejected.any():
        return np.asarray(classes[numbers])
    reject = np.array([reject_label])
    dtype = np.result_type(classes, reject) if reject.dtype.kind == classes.dtype.kind else object
    labels = classes[np.where(rejected, 0, numbers)].astype(dtype)
    labels[rejected] = reject_label
    return np.asarray(labels)
