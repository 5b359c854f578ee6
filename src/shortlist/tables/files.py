"""Tables from files and standard input, in any of the known formats."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from shortlist._words import all_of, counted
from shortlist.datasets.registry import IDENTIFIER, public_set
from shortlist.datasets.store import table_bytes
from shortlist.errors import BadFileError
from shortlist.files import STDIN, parquet_frame, parquet_table, read_bytes
from shortlist.tables.numbers import USUAL, CellRules
from shortlist.tables.spreadsheets import DAMAGED, MOST_UNPACKED, is_workbook, workbook_as_text
from shortlist.tables.text import (
    decoded,
    first_repeated,
    parsed,
    parted,
    text_records,
    with_plain_numbers,
)

if TYPE_CHECKING:
    import pandas as pd


PARQUET = b"PAR1"
ZIP = b"PK\x03\x04"

UNPACKED: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    b"\x1f\x8b": lambda packed: cast("IO[bytes]", gzip.GzipFile(fileobj=packed)),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
"""Function that decompresses a file, by the first bytes of the file."""


def read_table_file(
    source: str | Path,
    notes: list[str] | None = None,
    *,
    words: Sequence[str] = (),
    marker: str | None = None,
    rules: CellRules = USUAL,
) -> "pd.DataFrame":
    """Read a table from a file, or from standard input for ``-``.

    The content decides the format, not the name: text with columns separated by commas, semicolons or tabs
    (UTF-8, or UTF-16 with its mark), the same compressed with gzip, bzip2, xz or zip, Parquet, or an Excel
    workbook. Raises BadFileError if the file cannot be read, is empty or no table, has a row with more or
    fewer cells than the header, or repeats a name. The message names the file and, where possible, the line.
    Raises MissingDependencyError for a workbook if the package that reads it is not installed.

    `notes`: receives sentences for readers of the answer about a separator other than the comma, decimal
    commas, a chosen sheet, or a dropped index. `words`: columns that are text, even if they look like
    numbers. `marker`: text of a cell that was not acquired yet; it may occur among numbers. `rules`: words
    for gaps, and decimal sign.

    The table has at least one row and one column. Names are distinct texts, and rows are numbered from 0.
    """
    name, content = read_content(source)
    return table_of_bytes(
        name, content, [] if notes is None else notes, words=words, marker=marker, rules=rules
    )


def table_of_bytes(
    name: str,
    content: bytes,
    notes: list[str],
    *,
    words: Sequence[str] = (),
    marker: str | None = None,
    rules: CellRules = USUAL,
) -> "pd.DataFrame":
    """Read a table from the bytes of a file; see :func:`read_table_file`.

    `name`: name of the file in messages.
    """
    content = unpacked(name, content)
    if not content or content.isspace():
        raise BadFileError(f"{name} is empty. A table needs a line of names and at least one row.")
    if content.startswith(PARQUET):
        table = without_gaps(_parquet(name, content, notes, words), rules)
    elif content.startswith(ZIP) and is_workbook(name, content):
        text = workbook_as_text(name, content, notes)
        table = parsed(name, text, notes, separator=",", words=words, marker=marker, place="row", rules=rules)
    else:
        table = parsed(name, decoded(name, content), notes, words=words, marker=marker, rules=rules)
    if table.empty:
        what = "a header and no rows" if table.shape[1] else "no columns"
        raise BadFileError(f"{name} has {what}. A table needs a line of names and at least one row.")
    return table


def without_gaps(table: "pd.DataFrame", rules: CellRules) -> "pd.DataFrame":
    """Return a table from JSON or Parquet in which the user's words for gaps are gaps."""
    if not rules.gaps:
        return table
    gaps = {*rules.gaps}
    words = [name for name in table.columns if table[name].dtype.kind in "OTU"]
    return table.assign(**{name: table[name].where(~table[name].isin(gaps), None) for name in words})


def cells_of(name: str, content: bytes, notes: list[str]) -> list[tuple[int, list[str]]]:
    """Return every row of a table as unchanged text, with the number of the row's last line.

    The header is the first row. Formats are those of :func:`read_table_file`. A row may have more or fewer
    cells than the header; a row without cells stands for an unclosed quote. Raises BadFileError if the
    content is no table.
    """
    content = unpacked(name, content)
    if content.startswith(PARQUET):
        frame = _parquet(name, content, notes, ())
        rows = frame.astype(object).where(frame.notna(), "").astype(str).to_numpy().tolist()
        return list(enumerate([list(frame.columns), *rows], start=1))
    if content.startswith(ZIP) and is_workbook(name, content):
        rows = list(text_records(workbook_as_text(name, content, notes), ","))
        return with_plain_numbers(name, rows, notes, ",")
    text = decoded(name, content)
    text, separator = parted(name, text, notes)
    return with_plain_numbers(name, list(text_records(text, separator)), notes, separator)


def read_content(source: str | Path) -> tuple[str, bytes]:
    """Return the name of a file for messages, and its bytes; ``-`` is standard input."""
    if str(source) != STDIN:
        return str(source), read_bytes(source)
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise BadFileError("standard input is closed, so there is no table in '-'. Name a file.")
    return "standard input", bytes(stream.read())


def unpacked(name: str, content: bytes) -> bytes:
    """Return the decompressed bytes of a file, or of the only file of a zip archive.

    Workbooks stay as they are. Raises BadFileError if the file is damaged, holds several files, or unpacks
    to more than the limit for tables.
    """
    try:
        for start, unpack in UNPACKED.items():
            if content.startswith(start):
                with unpack(io.BytesIO(content)) as stream:
                    return read_up_to(name, stream)
        if content.startswith(ZIP) and not is_workbook(name, content):
            return _only_member(name, content)
    except BadFileError:
        raise
    except DAMAGED as error:
        raise BadFileError(
            f"{name} is compressed, but unpacking it failed: {error}. Compress the table again."
        ) from None
    return content


def _only_member(name: str, content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [
            one for one in archive.namelist() if not one.endswith("/") and not one.startswith("__MACOSX/")
        ]
        if len(members) != 1:
            raise BadFileError(
                f"{name} must hold one table, got an archive of {counted(len(members), 'file')}. Unpack it "
                "first."
            )
        with archive.open(members[0]) as stream:
            return read_up_to(name, stream)


def read_up_to(name: str, stream: IO[bytes], most: int = MOST_UNPACKED) -> bytes:
    """Return the content of a stream, as a defence against crafted files with a limit of `most` bytes.

    Raises BadFileError if the content is longer.
    """
    held = io.BytesIO()  # returns its bytes without a copy
    while block := stream.read(1 << 20):
        if held.tell() + len(block) > most:
            raise BadFileError(
                f"{name} unpacks to more than {most:,} bytes. Unpack it first if you trust it."
            )
        held.write(block)
    return held.getvalue()


def _parquet(name: str, content: bytes, notes: list[str], words: Sequence[str]) -> "pd.DataFrame":
    """Read a Parquet file; an index other than row numbers is left out, with a note."""
    import pandas as pd

    table = parquet_table(name, content)
    repeated = first_repeated(table.column_names)
    if repeated is not None:
        raise BadFileError(f"{name} has the column {repeated!r} twice. Rename one of them.")
    frame = parquet_frame(name, table)
    if not isinstance(frame.index, pd.RangeIndex) or frame.index.name is not None:
        labels = [str(one) for one in frame.index.names if one is not None]
        which = f"index {all_of(map(repr, labels))}" if labels else "index, which has no name,"
        notes.append(f"{name}: its {which} is left out. Make it a column (reset_index) to use it.")
        frame = frame.reset_index(drop=True)
    frame.columns = [str(column) for column in frame.columns]
    return frame.astype({column: str for column in words if column in frame and len(frame)})


def read_set(name: str, folder: str | Path | None = None) -> "pd.DataFrame | None":
    """Read a public set without row names and numbers; None if the set is not stored.

    Raises BadFileError if a stored file has other columns or another number of rows than the set. Raises
    BadInputError if there is no set of that name.

    `name`: see ``sets.toml`` in :mod:`shortlist.datasets`; underscores count as hyphens. `folder`: folder
    searched before the cache; see :func:`shortlist.datasets.store.table_bytes`.

    Returns the features, and the class as the last column, ``target``.
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
