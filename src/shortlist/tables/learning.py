"""Tables to learn from: rows, a column that holds the class, and what looks wrong with either."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist._words import any_of, counted, did_you_mean
from shortlist.datasets.registry import public_sets
from shortlist.datasets.shipped import PRICES, SHIPPED, shipped_table
from shortlist.errors import BadInputError

if TYPE_CHECKING:
    import pandas as pd

EXAMPLE_PREFIX = "example:"

FILE = "shortlist_file"
"""Key under which a table keeps the name of the file that it was read from."""

FEWEST_ROWS = 20
"""Below this many rows, a column whose values all differ says nothing."""

MOST_NUMBERS = 20
"""A target of more different numbers than these is a class only if each of them has rows enough."""

ROWS_PER_NUMBER = 5
"""So many rows each, on average, are enough."""


def read_table(
    source: str | Path, notes: list[str] | None = None, *, words: Sequence[str] = ()
) -> "pd.DataFrame":
    """Read a table from a file, from standard input (``-``), or a known one (``example:NAME``).

    Known are the tables that scikit-learn ships, and the public sets that were fetched. Their class is in the
    column ``target``.

    Parameters
    ----------
    source : str or Path
        What to read; see :func:`shortlist.tables.files.read_table_file` for the formats.
    notes : list of str, optional
        Gets a sentence for everything that a reader of the answer should know about how the file was read.
    words : sequence of str, default=()
        Columns of a file that are text, even if they look like numbers.

    Raises
    ------
    BadFileError
        If the file is missing, empty or not a table.
    BadInputError
        If there is no such example, or it must be fetched first.
    """
    name = str(source)
    if name.startswith(EXAMPLE_PREFIX):
        table = _example(name.removeprefix(EXAMPLE_PREFIX))
    else:
        from shortlist.tables.files import read_table_file

        table = read_table_file(source, notes, words=words)
    table.attrs[FILE] = name
    return table


def split_target(
    table: "pd.DataFrame", target: str, *, drop: Sequence[str] = (), notes: list[str] | None = None
) -> "tuple[pd.DataFrame, pd.Series]":
    """Return the features and the target of a table, without the columns named in `drop`.

    Parameters
    ----------
    table : DataFrame
        As :func:`read_table` returns it.
    target : str
        The column that holds the class.
    drop : sequence of str, default=()
        Columns to leave out.
    notes : list of str, optional
        Gets a sentence for every column that looks like a name or a number of the row, and for every empty
        one.

    Raises
    ------
    BadInputError
        If a named column is missing, no feature is left, a row has no target, all rows have one class, or the
        target looks like a number to predict: it has fractions, or more than 20 different values with fewer
        than 5 rows each.
    """
    columns = list(table.columns)
    for name in (target, *drop):
        if name not in columns:
            parted = " Columns are parted by commas, semicolons or tabs." if len(columns) == 1 else ""
            near = did_you_mean(name, columns) or parted or " Check the spelling."
            raise BadInputError(f"{_file(table)} must have a column {name!r}, got {shown(columns)}.{near}")
    if target in drop:
        raise BadInputError(f"drop={target!r} is the target, the column to predict. Drop other columns only.")
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
    X = table.drop(columns=[target, *drop])
    if not X.shape[1]:
        raise BadInputError(
            f"{_file(table)} must have a column beside the target, got none. Drop fewer columns."
        )
    if notes is not None:
        notes += _suspicions(X)
    return X, y


def select_columns(table: "pd.DataFrame", names: Sequence[str]) -> "pd.DataFrame":
    """Return the named columns in order; missing ones are an error, others are left out."""
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise BadInputError(
            f"{_file(table)} must have the columns that the model was fitted on; missing: {shown(missing)}."
            f"{did_you_mean(missing[0], table.columns)}"
        )
    return table[list(names)]


def _file(table: "pd.DataFrame") -> str:
    """Call a table by the file that it was read from."""
    return str(table.attrs.get(FILE, "the table"))


def shown(names: Sequence[str], most: int = 8) -> str:
    """List names for people, the first few of many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def _refuse_numbers_to_predict(y: "pd.Series[Any]", file: str) -> None:
    """Refuse a target that is a quantity rather than a class."""
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
    """Say which features tell nothing about new rows, without a look at each of very many alone."""
    notes = []
    for name, dtype, is_empty in zip(X.columns, X.dtypes, X.isna().all(), strict=True):
        if is_empty:
            notes.append(f"column {name!r} is empty in every row.")
        elif dtype.kind not in "fb" and len(X) >= FEWEST_ROWS and X[name].nunique(dropna=False) == len(X):
            notes.append(
                f"column {name!r} is different in every row, as names and numbers of rows are. "
                f"Leave it out with drop={name!r} unless it was measured."
            )
    return notes


def _example(name: str) -> "pd.DataFrame":
    """Return a table that scikit-learn ships, or a public set that was fetched."""
    if name in SHIPPED or name in PRICES:
        return shipped_table(name)
    known = (*SHIPPED, *public_sets())
    wanted = name.replace("_", "-")
    if wanted not in known:
        raise BadInputError(
            f"example must be one of {any_of(known)}, got {name!r}.{did_you_mean(name, known)}"
        )
    from shortlist.tables.sets import read_set

    table = read_set(wanted)
    if table is None:
        raise BadInputError(
            f"the example {wanted} must be fetched first: shortlist datasets fetch {wanted}. Then run this "
            "again."
        )
    return table
