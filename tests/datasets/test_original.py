"""Originals of public sets: the right file and no other, and every cell of it."""

import csv
import hashlib
import io
from pathlib import Path

import pytest

from shortlist.datasets.original import as_table_text, checked_original
from shortlist.datasets.registry import DataSet, SetSource, public_sets
from shortlist.errors import BadFileError
from tests.datasets.originals import original_of, table_rows, zipped

ROWS = b"1;a;?\n?;b;2.50\n"


def _source(content: bytes = ROWS, **more: object) -> SetSource:
    digest = hashlib.sha256(content).hexdigest()
    return SetSource("https://example.org/it.data", digest, len(content), **more)  # type: ignore[arg-type]  # fields of any type


@pytest.mark.parametrize(
    "name", [name for name, data_set in public_sets().items() if data_set.source is not None]
)
def test_a_table_of_another_copy_in_the_layout_of_the_original_has_the_hash_that_is_known(
    data_folder: Path, name: str
) -> None:
    data_set = public_sets()[name]
    rows = table_rows(data_set, data_folder)
    assert data_set.source is not None
    original = checked_original(data_set.source, original_of(data_set, rows), name)
    assert len(original) == data_set.source.size
    assert list(csv.reader(io.StringIO(as_table_text(data_set, original)))) == rows


def test_rows_are_written_as_the_set_has_them() -> None:
    source = _source(separator=";", missing="?", order=("size", "target"), classes={"a": "0"})
    data_set = DataSet("it", "It", "page", "free", 2, ("size", "weight", "target"), source=source)
    assert as_table_text(data_set, ROWS) == "size,weight,target\n1,,0\n,2.50,b\n"


def test_a_row_with_too_few_cells_is_named() -> None:
    data_set = DataSet(
        "it", "It", "page", "free", 1, ("size", "weight", "target"), source=_source(separator=";")
    )
    with pytest.raises(BadFileError, match=r"line 2 of it.data must have 3 cells, got 1. Fetch it again"):
        as_table_text(data_set, b"1;2;3\n4\n")


@pytest.mark.parametrize("content", [b"", ROWS[:-1], ROWS.replace(b"a", b"A"), ROWS + b"\n"])
def test_another_file_is_refused(content: bytes) -> None:
    with pytest.raises(
        BadFileError, match=f"must hold 15 bytes with the SHA-256 .*, got {len(content)} bytes"
    ):
        checked_original(_source(), content, "it.data")


def test_a_file_is_found_in_archives_in_archives() -> None:
    source = _source(members=("inner.zip", "a/it.data"), most_bytes=10_000)
    packed = zipped({"other": b"x", "inner.zip": zipped({"a/it.data": ROWS})})
    assert checked_original(source, packed, "it.zip") == ROWS


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(zipped({"it.data": bytes(10**8)}), "at most 15 bytes, got more", id="a bomb"),
        pytest.param(zipped({"it.data": ROWS + b"\n"}), "at most 15 bytes, got more", id="one byte more"),
        pytest.param(zipped({"other": ROWS}), "with a file it.data, got another one", id="another member"),
        pytest.param(b"PK no archive", "must be a zip archive", id="no archive"),
        pytest.param(zipped({"it.data": ROWS})[:40], "must be a zip archive", id="cut off"),
        pytest.param(
            zipped({"it.data": bytes(15)}), "must hold in its member it.data 15 bytes", id="another content"
        ),
    ],
)
def test_another_archive_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(BadFileError, match=said):
        checked_original(_source(members=("it.data",), most_bytes=100), content, "it.zip")
