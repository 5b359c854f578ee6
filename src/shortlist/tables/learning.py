"""Tables to learn from: features and a class column, without columns that name rows."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist._words import any_of, counted, did_you_mean
from shortlist.datasets.registry import PRICES, SHIPPED, public_sets, shipped_table
from shortlist.errors import BadInputError
from shortlist.files import EXAMPLE_PREFIX
from shortlist.tables.numbers import USUAL, CellRules

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from shortlist.tables.splits import Cases

FILE = "shortlist_file"
"""Key of a table's attribute with the name of its file."""

FEWEST_ROWS = 20
"""Least number of rows at which a column of distinct values is judged."""

MOST_NUMBERS = 20
"""Number of different values above which a numeric target counts as a quantity, unless each value has enough
rows.
"""

ROWS_PER_NUMBER = 5
"""Mean number of rows per value from which a numeric target counts as a class."""

NAMES_OF_ROWS = (
    "id",
    "ids",
    "uuid",
    "guid",
    "case",
    "patient",
    "subject",
    "person",
    "customer",
    "client",
    "user",
    "record",
    "row",
    "session",
    "encounter",
)
"""Words in the headings of identifiers. A heading names an identifier if it is one of these words, or begins
or ends with one of the first four words.
"""


NAMES_OF_JUDGES = (
    *("judge", "model", "rater", "annotator", "labeler", "labeller", "classifier", "reviewer", "coder"),
    *("expert", "worker", "test", "analyte", "measurement", "parameter", "variable"),
)
"""Words in the heading of the column of judges, or of tests, in a long log."""


class LearningTable(NamedTuple):
    """Features and classes for classifiers to learn from, with columns that name rows."""

    X: "pd.DataFrame"
    """Features of every row."""
    y: "pd.Series[Any]"
    """Class of every row."""
    ids: tuple[str, ...]
    """Columns that name rows or cases. These columns are no features, but are written beside the answers to
    new rows.
    """
    cases: "Cases | None" = None
    """Case of each row, ``(n_samples,)``; None without a column of cases."""

    @property
    def features(self) -> tuple[str, ...]:
        """Return the names of the features."""
        return tuple(map(str, self.X.columns))


def read_table(
    source: str | Path,
    notes: list[str] | None = None,
    *,
    words: Sequence[str] = (),
    marker: str | None = None,
    rules: CellRules = USUAL,
) -> "pd.DataFrame":
    """Read a table from a file or from standard input (``-``), or a known table (``example:NAME``).

    Known tables are those that scikit-learn ships, and the public sets that were fetched. Their class is in
    the column ``target``. Raises BadFileError if the file is missing, empty or not a table. Raises
    BadInputError if there is no such example, or the example must be fetched first.

    `source`: name of the file; for the formats see :func:`shortlist.tables.files.read_table_file`. `notes`:
    receives sentences about the reading, for readers of the answer. `words`: columns of a file that are
    text, even if they look like numbers. `marker`: text of a cell that was not acquired yet; it may occur
    among numbers. `rules`: words for gaps, and decimal sign.
    """
    name = str(source)
    if name.startswith(EXAMPLE_PREFIX):
        table = _example(name.removeprefix(EXAMPLE_PREFIX))
    else:
        from shortlist.tables.files import read_table_file

        table = read_table_file(source, notes, words=words, marker=marker, rules=rules)
    table.attrs[FILE] = name
    return table


def split_target(
    table: "pd.DataFrame",
    target: str,
    *,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    group: str | None = None,
    notes: list[str] | None = None,
) -> LearningTable:
    """Return the features and the target of a table, without columns that name rows.

    In a table of at least 20 rows, a column names rows if all of its values differ, and the values are words
    or certain integers. The integers must be consecutive, rise from row to row, or have a heading such as
    ``id`` or ``patient_id``. Numbers with decimals are measurements. Raises BadInputError if a named column
    is missing, no feature is left, a row has no target, or all rows have one class. BadInputError is raised
    too if the target looks like a quantity: it has fractions, or more than 20 different values with fewer
    than 5 rows each on average.

    `table`: table from :func:`read_table`. `target`: the class column. `drop`: columns to leave out. `keep`:
    columns that are features even if they look like names of rows. `group`: column with the case of each row,
    which is no feature. `notes`: receives a sentence about columns that name rows, may name rows, or are
    empty.
    """
    _check_columns(table, target, drop, keep, group)
    y = table[target]
    if y.isna().any():
        raise BadInputError(
            f"the target {target!r} of {_file(table)} must be known in every row, got "
            f"{counted(int(y.isna().sum()), 'gap')}. Drop such rows."
        )
    if y.nunique() == 1:
        raise BadInputError(
            f"the target {target!r} of {_file(table)} must hold two classes or more, got one class only: "
            f"{str(y.iloc[0])!r}. Choose another column, or add rows of another class."
        )
    _refuse_numbers_to_predict(y, _file(table))
    cases = None if group is None else _cases(table, group, target)
    X = table.drop(columns=[target, *drop])
    if not X.shape[1]:
        raise BadInputError(
            _file(table), "must have a column besides the target", "none", "Drop fewer columns."
        )
    tells = len(X) >= FEWEST_ROWS  # fewer rows show nothing about a column, and there may be 100,000 columns
    ids = tuple(
        name for name in X.columns if name == group or (tells and name not in keep and _names_rows(X[name]))
    )
    X = X.drop(columns=list(ids))
    if not X.shape[1]:
        raise BadInputError(
            _file(table),
            "must have a column to learn from",
            f"only {shown(ids)}, different in every row as names of rows are",
            f"Pass `keep={ids[0]!r}` if it was measured.",
        )
    if notes is not None:
        unasked = [name for name in ids if name != group]
        if unasked:
            notes.append(
                f"left out as row identifiers (words or whole numbers, different in every row): "
                f"{shown(unasked)}. predict copies them to its output. Pass `keep={unasked[0]!r}` to "
                "learn from it."
            )
        is_long = long_log(table.drop(columns=list(drop)), target)
        if is_long:
            notes.append(is_long)
        elif cases is None and tells:
            notes += [note for name in X.columns if (note := _repeats(X[name], y))]
        notes += _suspicions(X[[name for name in X.columns if name not in keep]])
    return LearningTable(X, y, ids, cases)


def labelled_rows(
    table: "pd.DataFrame", features: Sequence[str], target: str, classes: Any
) -> "tuple[pd.DataFrame, NDArray[Any]]":
    """Return features and classes of rows that measure a choice made on other rows.

    Raises BadInputError if a column is missing, or the class of a row is missing or unknown.

    `table`: table from :func:`read_table`. `classes`, ``(n_classes,)``: the known classes.
    """
    import numpy as np

    if target not in table.columns:
        names = [str(name) for name in table.columns]
        raise BadInputError(
            f"{_file(table)} must have the column {target!r} with the true classes, got {shown(names)}."
            f"{did_you_mean(target, names) or ' Name it with `target`.'}"
        )
    y = table[target]
    if y.isna().any():
        raise BadInputError(
            f"the target {target!r} of {_file(table)} must be known in every row, got "
            f"{counted(int(y.isna().sum()), 'gap')}. Drop such rows."
        )
    known = {_as_typed(label): label for label in np.asarray(classes).tolist()}
    unknown = [str(label) for label in y.unique() if _as_typed(label) not in known]
    if unknown:
        raise BadInputError(
            f"the target {target!r} of {_file(table)} must hold {any_of(list(known))}, got {unknown[0]!r}. "
            "Correct it, or drop such rows."
        )
    truth = np.asarray([known[_as_typed(label)] for label in y.tolist()], dtype=np.asarray(classes).dtype)
    return select_columns(table, features), truth


def _as_typed(label: Any) -> str:
    """Return a class as people type it; 1 and 1.0 give the same text."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def long_log(table: "pd.DataFrame", target: str) -> str:
    """Return a sentence about a table with one row per answer instead of one per case; "" otherwise.

    In such a log a column names the judge of each answer, and no judge answers a case twice. All rows of a
    case have the same class, and a case has two answers or more on average.
    """
    names = [str(name) for name in table.columns if name != target]
    judges = [name for name in names if not set(NAMES_OF_JUDGES).isdisjoint(_words_of(name))]
    for judge in judges:
        if table[judge].dtype.kind in "iufbmM" or not 2 <= table[judge].nunique() <= len(table) // 2:
            continue
        for case in names:
            others = [name for name in names if name not in (case, judge)]
            if others and case not in judges and _is_case_of(table, case, judge, target):
                index = [case, target]
                return (
                    f"{_file(table)} is a long log, with a row for each answer: {case!r} repeats, {judge!r} "
                    "says whose answer it is. Make a column of each first, for instance in pandas: "
                    f"table.pivot(index={index}, columns={judge!r}, values={others[-1]!r}).reset_index()."
                )
    return ""


def _is_case_of(table: "pd.DataFrame", case: str, judge: str, target: str) -> bool:
    """Return whether `case` names cases of one class each, with one answer of each judge at most."""
    n_cases = table[case].nunique()
    if table[case].dtype.kind in "fbmM" or not 2 <= n_cases <= len(table) // 2:
        return False
    once = not table.duplicated([case, judge]).any()
    return bool(once and table.groupby(case)[target].nunique().max() == 1)


def _check_columns(
    table: "pd.DataFrame", target: str, drop: Sequence[str], keep: Sequence[str], group: str | None
) -> None:
    """Refuse names of missing columns, and columns named for two purposes."""
    columns = list(table.columns)
    for name in (target, *drop, *keep, *([] if group is None else [group])):
        if name not in columns:
            parted = " Columns are separated by commas, semicolons or tabs." if len(columns) == 1 else ""
            named = " Name the column to predict with `target`." if name == target else " Check the spelling."
            near = did_you_mean(name, columns) or parted or named
            raise BadInputError(_file(table), f"must have a column {name!r}", shown(columns), near)
    if target in drop:
        raise BadInputError(
            f"`drop={target!r}` is the target, the column to predict. Drop other columns only."
        )
    if group is not None and group in drop:
        raise BadInputError(
            f"`group={group!r}` must stay in the table, got `drop={group!r}` as well. Leave it out."
        )
    both = [name for name in keep if name in (target, group) or name in drop]
    if both:
        what = "dropped as well" if both[0] in drop else "the target" if both[0] == target else "the group"
        raise BadInputError(
            f"`keep={both[0]!r}` must be a feature, got a column that is {what}. Leave it out."
        )


def select_columns(table: "pd.DataFrame", names: Sequence[str]) -> "pd.DataFrame":
    """Return the named columns in order, without other columns; raise an error for a missing column."""
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise BadInputError(
            f"{_file(table)} must have the columns that the model was fitted on; missing: {shown(missing)}."
            f"{did_you_mean(missing[0], table.columns)}"
        )
    return table[list(names)]


def _file(table: "pd.DataFrame") -> str:
    return str(table.attrs.get(FILE, "the table"))


def shown(names: Sequence[str]) -> str:
    """List names for people: all names, or the first eight of many."""
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(map(repr, names[:8])) + more


def _refuse_numbers_to_predict(y: "pd.Series[Any]", file: str) -> None:
    if y.dtype.kind not in "iuf":
        return
    n_values = y.nunique()
    fractions = y[y % 1 != 0] if y.dtype.kind == "f" else y[:0]
    if len(fractions):
        what = f"holds numbers with fractions, such as {fractions.iloc[0]:g}"
    elif n_values > MOST_NUMBERS and len(y) < ROWS_PER_NUMBER * n_values:
        what = f"holds {n_values} different numbers in {len(y)} rows"
    else:
        return
    raise BadInputError(
        f"the target {y.name!r} of {file} {what}: this looks like a number to predict, not a class. "
        "Choose another target, or write classes as words or as few whole numbers."
    )


def _suspicions(X: "pd.DataFrame") -> list[str]:
    """Return sentences about features that are empty, or different in every row."""
    notes = []
    for name, dtype, is_empty in zip(X.columns, X.dtypes, X.isna().all(), strict=True):
        if is_empty:
            notes.append(f"column {name!r} is empty in every row.")
        elif dtype.kind not in "fb" and len(X) >= FEWEST_ROWS and X[name].nunique(dropna=False) == len(X):
            notes.append(
                f"column {name!r} is different in every row, as names and numbers of rows are. "
                f"Leave it out with `drop={name!r}` unless it was measured."
            )
    return notes


def _names_rows(column: "pd.Series[Any]") -> bool:
    """Return whether a column names the rows, judged by its values and its heading."""
    if not _all_differ(column):
        return False
    if column.dtype.kind not in "iuf":
        return not _is_time(column)
    if (column % 1 != 0).any():
        return False
    steps = column.diff().iloc[1:]
    return bool(
        (steps > 0).all()
        or column.max() - column.min() == len(column) - 1
        or _is_called_like_an_id(str(column.name))
    )


def _cases(table: "pd.DataFrame", group: str, target: str) -> "Cases":
    import numpy as np
    import pandas as pd

    if group == target:
        raise BadInputError(
            f"`group={group!r}` is the target, the column to predict. Name the column of cases."
        )
    gaps = int(table[group].isna().sum())
    if gaps:
        raise BadInputError(
            f"`group={group!r}` must name the case of every row, got {counted(gaps, 'gap')}. Drop "
            "such rows, or name their cases."
        )
    return np.asarray(pd.factorize(table[group])[0], dtype=np.intp)


def _repeats(column: "pd.Series[Any]", y: "pd.Series[Any]") -> str:
    """Return a sentence about a column that seems to name cases of several rows; "" otherwise.

    Such a column is named like an identifier, or all rows of each of its values have the same class.
    """
    if column.dtype.kind in "fbmM":
        return ""
    n_values = column.nunique()
    if not FEWEST_ROWS <= n_values < len(column):
        return ""
    told = _is_called_like_an_id(str(column.name))
    if not told and (2 * n_values > len(column) or y.groupby(column).nunique().max() > 1):
        return ""
    return (
        f"column {column.name!r} seems to name cases: {n_values:,} in {len(column):,} rows. Rows of one case "
        f"on both sides of a split make every figure too good. Pass `group={column.name!r}` to keep them "
        "together and to learn nothing from the column."
    )


def _all_differ(column: "pd.Series[Any]") -> bool:
    return bool(column.nunique() == len(column))


def _is_time(column: "pd.Series[Any]") -> bool:
    """Return whether a column holds points in time or durations, which are measurements."""
    return column.dtype.kind in "mM"


def _is_called_like_an_id(name: str) -> bool:
    """Return whether a heading names an identifier, in any spelling.

    >>> [_is_called_like_an_id(name) for name in ("ID", "patientId", "case-id", "Patient", "humid", "age")]
    [True, True, True, True, False, False]
    """
    found = _words_of(name)
    return bool(found) and (
        not {found[0], found[-1]}.isdisjoint(NAMES_OF_ROWS[:4])
        or (len(found) == 1 and found[0] in NAMES_OF_ROWS)
    )


def _words_of(name: str) -> list[str]:
    """Return the words of a name in lower case.

    >>> _words_of("patientId"), _words_of("Model_name 2")
    (['patient', 'id'], ['model', 'name', '2'])
    """
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [str(word).casefold() for word in re.findall(r"[^\W_]+", parted)]


def _example(name: str) -> "pd.DataFrame":
    if name in SHIPPED or name in PRICES:
        return shipped_table(name)
    known = (*SHIPPED, *public_sets())
    wanted = name.replace("_", "-")
    if wanted not in known:
        raise BadInputError(
            f"example must be one of {any_of(known)}, got {name!r}.{did_you_mean(name, known)}"
        )
    from shortlist.tables.files import read_set

    table = read_set(wanted)
    if table is None:
        raise BadInputError(
            f"the example {wanted} must be fetched first: shortlist datasets fetch {wanted}. Then run this "
            "again."
        )
    return table
