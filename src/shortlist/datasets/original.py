"""Reading the files of public sets as their makers wrote them."""

import csv
import hashlib
import io
import zipfile
import zlib
from collections.abc import Sequence

from shortlist._words import counted
from shortlist.datasets.registry import TARGET, DataSet, SetSource
from shortlist.errors import BadFileError


def checked_original(source: SetSource, content: bytes, name: str) -> bytes:
    """Return the file that is read, out of its archives, if it is the one whose hash is known.

    Parameters
    ----------
    source : SetSource
        What the file must be.
    content : bytes
        Of the download.
    name : str
        What messages call the download.

    Raises
    ------
    BadFileError
        If it is another file, or an archive without it. Never more is unpacked than the size that is known.
    """
    for depth, member in enumerate(source.members, start=1):
        most = source.size if depth == len(source.members) else source.most_bytes
        content = _member(content, member, most, name)
    digest = hashlib.sha256(content).hexdigest()
    if digest != source.sha256:
        inside = f" in its member {source.members[-1]}" if source.members else ""
        raise BadFileError(
            f"{name} must hold{inside} {source.size:,} bytes with the SHA-256 {source.sha256}, got "
            f"{len(content):,} bytes with {digest}. It was changed, or damaged on its way: fetch it again."
        )
    return content


def as_table_text(data_set: DataSet, content: bytes) -> str:
    """Return the rows of an original as a CSV table with a header, whose last column is ``target``.

    Cells are as the file has them, but for classes, which are written as the set does, and for what is not
    known, which is empty.

    Raises
    ------
    BadFileError
        If a row has more or fewer cells than the set has columns.
    """
    source = data_set.source
    assert source is not None
    order = [*source.order, *(name for name in data_set.columns if name not in source.order)]
    places = [order.index(name) for name in data_set.columns]
    lines = io.StringIO(content.decode("utf-8"), newline="")
    rows = csv.reader(lines, delimiter=source.separator)
    if source.header:
        next(rows, None)
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(data_set.columns)
    for row in rows:
        if not row:
            continue
        if len(row) != len(order):
            raise BadFileError(
                f"line {rows.line_num} of {source.file} must have {counted(len(order), 'cell')}, got "
                f"{len(row)}. Fetch {data_set.name} again."
            )
        table.writerow(_cells(source, data_set.columns, [row[place] for place in places]))
    return written.getvalue()


def _cells(source: SetSource, columns: Sequence[str], row: Sequence[str]) -> list[str]:
    known = ["" if source.missing and cell == source.missing else cell for cell in row]
    return [
        source.classes.get(cell, cell) if column == TARGET else cell
        for column, cell in zip(columns, known, strict=True)
    ]


def _member(content: bytes, member: str, most: int, name: str) -> bytes:
    """Return one file of a zip archive, of at most so many bytes."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, archive.open(member) as file:
            found = file.read(most + 1)
    # zipfile raises RuntimeError for a password and NotImplementedError for a compression it does not know
    except (KeyError, OSError, EOFError, RuntimeError, NotImplementedError, zlib.error, zipfile.BadZipFile):
        raise BadFileError(
            f"{name} must be a zip archive with a file {member}, got another one. Fetch it again."
        ) from None
    if len(found) > most:
        raise BadFileError(
            f"the file {member} in {name} must have at most {most:,} bytes, got more. Fetch it again."
        )
    return found
