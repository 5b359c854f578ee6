"""The files of public sets as their makers wrote them, made from tables that other copies hold."""

import csv
import gzip
import io
import zipfile
from pathlib import Path

from shortlist.datasets.registry import DataSet

CRLF = ("spambase", "qsar-biodegradation", "bank-additional-full")
"""Sets whose lines end as those of Windows."""

QUOTED = ("bank-additional-full",)
"""Sets that put words in quotes, and numbers not."""

TARGET_IS_CALLED = {"heart-failure-clinical-records": "DEATH_EVENT", "bank-additional-full": "y"}
"""Heading of the class in the header of the original."""


def table_rows(data_set: DataSet, folder: Path) -> list[list[str]]:
    """Return the rows of the table in a folder, with its header first."""
    with gzip.open(folder / "uci" / f"{data_set.stem}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def original_of(data_set: DataSet, rows: list[list[str]]) -> bytes:
    """Write rows, with their header first, in the layout of the original; in archives, if that is in some."""
    source = data_set.source
    assert source is not None
    word_of = {word: written for written, word in source.classes.items()}
    order = [*source.order, *(name for name in data_set.columns if name not in source.order)]
    header = [TARGET_IS_CALLED.get(data_set.name, "target") if one == "target" else one for one in order]
    lines = (
        [source.separator.join(_quoted(data_set, name, words=True) for name in header)]
        if source.header
        else []
    )
    for row in rows[1:]:
        cells = dict(zip(data_set.columns, row, strict=True))
        cells["target"] = word_of.get(cells["target"], cells["target"])
        written = (_quoted(data_set, cells[name] or source.missing) for name in order)
        lines.append(source.separator.join(written))
    end = "\r\n" if data_set.name in CRLF else "\n"
    content = "".join(line + end for line in lines).encode()
    for member in reversed(source.members):
        content = zipped({member: content})
    return content


def zipped(members: dict[str, bytes]) -> bytes:
    """Return a zip archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _quoted(data_set: DataSet, cell: str, *, words: bool = False) -> str:
    """Put a word in quotes where the original does."""
    if data_set.name not in QUOTED:
        return cell
    try:
        float(cell)
    except ValueError:
        words = True
    return f'"{cell}"' if words else cell
