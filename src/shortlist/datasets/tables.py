"""Tables of rows and named columns."""

import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shortlist._words import any_of
from shortlist.errors import BadFileError, BadInputError
from shortlist.files import read_parquet

if TYPE_CHECKING:
    import pandas as pd

EXAMPLE_PREFIX = "example:"


def _breast_cancer() -> "pd.DataFrame":
    """Load Wisconsin's diagnostic breast-cancer data as scikit-learn ships it, with class names as target."""
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer(as_frame=True)
    return bunch.data.assign(target=bunch.target_names[bunch.target])


EXAMPLES: dict[str, Callable[[], "pd.DataFrame"]] = {"breast-cancer": _breast_cancer}
"""Tables that are always there, as ``example:NAME``; the class is in the column ``target``."""


def read_table(source: str | Path) -> "pd.DataFrame":
    """Read a table: CSV (also ``.gz``, ``.bz2``, ``.xz``, ``.zip``), Parquet, or ``example:NAME``.

    Raises
    ------
    BadFileError
        If the file is missing, empty or not a table.
    """
    import pandas as pd

    name = str(source)
    if name.startswith(EXAMPLE_PREFIX):
        return _example(name.removeprefix(EXAMPLE_PREFIX))
    try:
        table = (
            read_parquet(source).to_pandas(use_threads=False)
            if name.endswith((".parquet", ".pq"))
            else pd.read_csv(source)
        )
    except BadFileError:
        raise
    except pd.errors.EmptyDataError:
        raise BadFileError(f"{source} must hold a header and rows, got an empty file.") from None
    except gzip.BadGzipFile as error:
        raise BadFileError(f"{source} must be CSV or Parquet, but unpacking it failed: {error}.") from None
    except OSError as error:
        raise BadFileError(f"{source} cannot be read: {error.strerror or error}. Check the path.") from None
    except (ValueError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        first_line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadFileError(f"{source} must be CSV or Parquet, but reading it failed: {first_line}.") from None
    if table.empty:
        raise BadFileError(f"{source} must hold at least one row and one column, got {table.shape[0]} rows.")
    table.columns = [str(column) for column in table.columns]
    return table


def split_target(
    table: "pd.DataFrame", target: str, *, drop: Sequence[str] = ()
) -> "tuple[pd.DataFrame, pd.Series]":
    """Return the features and the target of a table, without the columns named in `drop`.

    Raises
    ------
    BadInputError
        If a named column is missing, no feature is left, or a row has no target.
    """
    columns = list(table.columns)
    if len(columns) == 1 and any(mark in columns[0] for mark in ";\t"):
        raise BadInputError(
            f"the table must have its columns parted by commas, got {columns[0]!r}. Convert it first."
        )
    for name in (target, *drop):
        if name not in columns:
            raise BadInputError(
                f"the table must have a column {name!r}, got {shown(columns)}. Check the spelling."
            )
    if target in drop:
        raise BadInputError(f"--drop {target} is the target, the column to predict. Drop other columns only.")
    y = table[target]
    if y.isna().any():
        raise BadInputError(
            f"the target {target!r} must be known in every row, got {int(y.isna().sum())} gaps. Drop them."
        )
    X = table.drop(columns=[target, *drop])
    if not X.shape[1]:
        raise BadInputError("the table must have a column beside the target, got none. Drop fewer columns.")
    return X, y


def select_columns(table: "pd.DataFrame", names: Sequence[str]) -> "pd.DataFrame":
    """Return the named columns in order; missing ones are an error, others are left out."""
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise BadInputError(
            f"the table must have the columns that the model was fitted on; missing: {shown(missing)}."
        )
    return table[list(names)]


def shown(names: Sequence[str], most: int = 8) -> str:
    """List names for people, the first few of many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def _example(name: str) -> "pd.DataFrame":
    if name not in EXAMPLES:
        raise BadInputError(f"example must be one of {any_of(sorted(EXAMPLES))}, got {name!r}.")
    return EXAMPLES[name]()
