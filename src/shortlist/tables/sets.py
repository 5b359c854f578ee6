"""Public sets as tables, from a folder or from the cache."""

from pathlib import Path
from typing import TYPE_CHECKING

from shortlist.datasets.registry import IDENTIFIER, public_set
from shortlist.datasets.store import table_bytes
from shortlist.errors import BadFileError
from shortlist.tables.files import table_of_bytes

if TYPE_CHECKING:
    import pandas as pd


def read_set(name: str, folder: str | Path | None = None) -> "pd.DataFrame | None":
    """Read a public set without the names and numbers of its rows; None where it is not.

    Raises BadFileError if a file that is there is not that set: it has other columns or another number of
    rows. Raises BadInputError if there is no set of that name.

    `name`: see ``sets.toml`` in :mod:`shortlist.datasets`; underscores are as good as hyphens. `folder`:
    looked into before the cache; see :func:`shortlist.datasets.store.table_bytes`.

    Returns
    -------
    DataFrame or None
        Features, and the class in the last column, ``target``.
    """
    data_set = public_set(name)
    found = table_bytes(data_set, folder)
    if found is None:
        return None
    file, content = found
    table = table_of_bytes(file, content, [])
    if tuple(table.columns) != data_set.columns or len(table) != data_set.rows:
        raise BadFileError(
            f"{file} must hold {data_set.rows:,} rows with the columns of {data_set.name}, the last of them "
            f"'target', got {len(table):,} rows and {table.shape[1]} columns. Fetch it again."
        )
    return table.drop(columns=[column for column in table if column.startswith(IDENTIFIER)])
