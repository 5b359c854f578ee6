"""Tables in common formats."""

import bz2
import contextlib
import gzip
import io
import lzma
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shortlist.datasets.registry import public_sets
from shortlist.errors import BadFileError, BadInputError
from shortlist.tables.files import read_set, read_table_file, read_up_to
from shortlist.tables.text import first_repeated
from tests.tables.workbooks import workbook

WORDS = ["Zoë", "x,y", "", "b;c"]
TABLE = pd.DataFrame({"a": [1, 2, 3, 4], "größe": [0.5, 1.5, np.nan, 2.0], "word": WORDS})
TEXT = 'a,größe,word\n1,0.5,Zoë\n2,1.5,"x,y"\n3,,\n4,2.0,b;c\n'
EUROPEAN = 'a;größe;word\n1;0,5;Zoë\n2;1,5;x,y\n3;;\n4;2,0;"b;c"\n'
TABBED = "a\tgröße\tword\n1\t0.5\tZoë\n2\t1.5\tx,y\n3\t\t\n4\t2.0\tb;c\n"


def _zipped(*contents: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number, content in enumerate(contents):
            archive.writestr(f"folder/{number}.csv", content)
        archive.writestr("__MACOSX/folder/._t.csv", b"of no use")
    return file.getvalue()


def _parquet(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


FORMATS: dict[str, tuple[bytes, list[str]]] = {
    "commas": (TEXT.encode(), []),
    "commas, as Windows ends lines": (TEXT.replace("\n", "\r\n").encode(), []),
    "UTF-8 with a mark": (TEXT.encode("utf-8-sig"), []),
    "UTF-16": (TEXT.encode("utf-16"), []),
    "UTF-16, big end first": (b"\xfe\xff" + TEXT.encode("utf-16-be"), []),
    "UTF-32": (TEXT.encode("utf-32"), []),
    "tabs": (TABBED.encode(), ["t: its columns are separated by tabs."]),
    "semicolons": (
        EUROPEAN.encode(),
        [
            "t: its columns are separated by semicolons.",
            "t: decimal commas in 'größe' were read as decimal points.",
        ],
    ),
    "gzip": (gzip.compress(TEXT.encode()), []),
    "bzip2": (bz2.compress(TEXT.encode()), []),
    "xz": (lzma.compress(TEXT.encode()), []),
    "zip": (_zipped(TEXT.encode()), []),
    "Parquet": (_parquet(TABLE), []),
    "Excel": (workbook([["a", "größe", "word"], *TABLE.to_numpy().tolist()]), []),
    "Excel with another sheet and room around": (
        workbook(
            [["a", "größe", "word", ""], *([*row, ""] for row in TABLE.to_numpy().tolist()), [""] * 4],
            ["first", "<second>"],
        ),
        ["t: the sheet 'first' is read; '<second>' left out."],
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_table_from_a_file_and_from_standard_input(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, expected_notes = FORMATS[name]
    monkeypatch.chdir(tmp_path)
    Path("t").write_bytes(content)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    for source in ("t", "-"):
        notes: list[str] = []
        table = read_table_file(source, notes)
        assert table.columns.tolist() == ["a", "größe", "word"]
        assert table["a"].tolist() == [1, 2, 3, 4]
        np.testing.assert_array_equal(table["größe"], TABLE["größe"])
        assert table["word"].fillna("").tolist() == WORDS
        assert table.index.equals(pd.RangeIndex(4))
        called = "standard input" if source == "-" else "t"
        assert notes == [note.replace("t:", f"{called}:", 1) for note in expected_notes]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", r"^t is empty\.", id="nothing at all"),
        pytest.param(b" \n\n", r"^t is empty\.", id="blank lines"),
        pytest.param(b"a,b\n", r"^t has a header and no rows\.", id="a header only"),
        pytest.param(b"a,b\n1,2\n3\n", r"^t, line 3: expected 2 cells as in the header, got 1\.", id="short"),
        pytest.param(b'""\n1,2\n3,4\n', r"^t must begin with the names of its columns", id="empty cell first"),
        pytest.param(b"a,b\n1,2\n\n3,4,5\n", r"^t, line 4: expected 2 cells .*, got 3\.", id="long"),
        pytest.param(b"a,b\n1,2,3\n4,5,6\n", r"^t, line 2: .*got 3\.", id="every row is longer"),
        pytest.param(b'a,b\n1,"2\n' + b"3,4\n" * 50_000, r"^t, line \d+: a quote that opened", id="open quote"),
        pytest.param(b"x,a,x\n1,2,3\n", r"^t has the column 'x' more than once, as columns 1 and 3\.", id="a name twice"),
        pytest.param(workbook([["x", "x"], [1, 2]]), "has the column 'x' more than once", id="twice in Excel"),
        pytest.param("Zoë\n1\n".encode("latin-1"), r"byte 0xeb in line 1 is not UTF-8\. .*iconv", id="latin-1"),
        pytest.param("a,b\n1,2\n".encode("utf-16-le"), "holds zero bytes, as .* UTF-16 without", id="no mark"),
        pytest.param(b"\xff\xfea\n\x00", "is not UTF-16-LE", id="half a letter"),
        pytest.param(b"a,b;c\n1,5;2\n", r"ambiguous separator: commas and semicolons all fit", id="two separators"),
        pytest.param(
            b'a,b\n"1,234",x\n"12,345",y\n',
            r"numbers such as '1,234' in column 'a', which is 1234 or 1\.234\. Say which by `decimal=",
            id="thousands or decimals",
        ),
        pytest.param(gzip.compress(b"a,b\n1,2\n" * 99)[:30], "is compressed, but unpacking", id="cut gzip"),
        pytest.param(b"PK\x03\x04 and no more", "is compressed, but unpacking", id="cut zip"),
        pytest.param(_zipped(b"a\n1\n", b"a\n1\n"), "must hold one table, got an archive of 2", id="two files"),
        pytest.param(b"PAR1 and no more", "must be a Parquet file, but reading it failed", id="cut Parquet"),
        pytest.param(workbook([["a", "b"], [1, 2]])[:-30], "but unpacking it failed", id="cut workbook"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused_in_one_sentence(
    content: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t").write_bytes(content)
    with pytest.raises(BadFileError, match=message) as caught:
        read_table_file("t")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("index", "note"),
    [
        pytest.param(pd.RangeIndex(3), None, id="rows by number"),
        pytest.param(pd.Index([5, 3, 1], name="patient"), "index 'patient' is left out", id="a name"),
        pytest.param(pd.Index([5, 3, 1]), "index, which has no name, is left out", id="shuffled rows"),
        pytest.param(
            pd.MultiIndex.from_product([["x"], [1, 2, 3]], names=["site", "visit"]),
            "index 'site' and 'visit' is left out",
            id="two levels",
        ),
    ],
)
def test_the_index_of_a_parquet_file_is_said_to_be_left_out(
    index: pd.Index, note: str | None, tmp_path: Path
) -> None:
    (tmp_path / "t.parquet").write_bytes(_parquet(pd.DataFrame({"a": [1, 2, 3]}, index=index)))
    notes: list[str] = []
    table = read_table_file(tmp_path / "t.parquet", notes)
    assert table.columns.tolist() == ["a"]
    assert table.index.tolist() == [0, 1, 2]
    assert len(notes) == (note is not None)
    assert note is None or note in notes[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('"a;b",c\n1,2\n', ["a;b", "c"], id="a semicolon in quotes"),
        pytest.param("a (x;y),c\n1,2\n", ["a (x;y)", "c"], id="a semicolon in a name"),
        pytest.param("a, b;c\n1;2\n", ["a, b", "c"], id="a comma in a name"),
        pytest.param("a\n1;2\n", ["a"], id="one column"),
        pytest.param(",a\n0,1\n", ["Unnamed: 0", "a"], id="a column without a name"),
        pytest.param("\n a,b\n  \n0,1\n", [" a", "b"], id="blank lines"),
    ],
)
def test_the_separator_is_the_one_that_fits_the_rows(text: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    table = read_table_file(tmp_path / "t.csv")
    assert table.columns.tolist() == expected
    assert len(table) == 1


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"name,cost\n01,2\n", id="commas"),
        pytest.param(b"name\tcost\n01\t2\n", id="tabs"),
        pytest.param(_parquet(pd.DataFrame({"name": ["01"], "cost": [2]})), id="Parquet"),
        pytest.param(workbook([["name", "cost"], ["01", 2]]), id="Excel"),
    ],
)
def test_words_stay_words(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(content)
    assert read_table_file(tmp_path / "t", words=["name"]).to_numpy().tolist() == [["01", 2]]


def test_a_workbook_without_the_package_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.xlsx").write_bytes(workbook([["a"], [1]]))
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ImportError, match=r"pip install 'shortlist\[excel\]'"):
        read_table_file(tmp_path / "t.xlsx")


def test_a_word_in_a_column_of_numbers_is_noted_with_its_place(tmp_path: Path) -> None:
    path, notes = tmp_path / "t.csv", list[str]()
    path.write_text("a,b\n1,x\n\n2,y\nabc,3\n4,z\n", encoding="utf-8")
    read_table_file(path, notes)
    assert len(notes) == 1
    assert notes[0].startswith(f"{path}, line 5: column 'a' holds 'abc' among 3 numbers")


def test_an_integer_beyond_every_float_is_a_number_among_others(tmp_path: Path) -> None:
    path, notes = tmp_path / "t.csv", list[str]()
    path.write_text(f"a,b\n1,x\n{'9' * 400},y\n", encoding="utf-8")
    assert read_table_file(path, notes)["a"].astype(str).tolist() == ["1", "9" * 400]
    assert notes == []


def test_what_unpacks_to_too_much_is_refused() -> None:
    assert read_up_to("t.csv.gz", io.BytesIO(b"a,b\n"), most=4) == b"a,b\n"
    with pytest.raises(BadFileError, match=r"t\.csv\.gz unpacks to more than 3 bytes"):
        read_up_to("t.csv.gz", io.BytesIO(b"a,b\n"), most=3)


def test_unpacked_bytes_are_held_once() -> None:
    size = 2**25
    tracemalloc.start()
    try:
        content = read_up_to("t.csv.gz", io.BytesIO(bytes(size)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(content) == size
    assert peak < 2.5 * size, "the stream itself, and one copy"


def test_a_damaged_parquet_file_is_refused_by_name_whatever_its_reader_raises(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]}, index=["p", "q", "r"])
    frame.to_parquet(path)
    content = path.read_bytes()
    assert b"numpy_type" in content
    for word in (b"numpy_type", b"pandas_type", b"index_columns", b"metadata", b"PAR1"):
        path.write_bytes(content.replace(word, word[:-1] + b"?"))
        with contextlib.suppress(BadFileError):  # some of it is not needed
            read_table_file(path)
    path.write_bytes(content.replace(b"numpy_type", b"numpy_typo"))
    with pytest.raises(BadFileError, match=r"t\.parquet must be a Parquet file, but reading it failed"):
        read_table_file(path)


def test_many_columns_are_read_in_time_proportional_to_their_number() -> None:
    text = ",".join(f"c{place}" for place in range(30_000))
    looked_at = 0

    class Name(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            nonlocal looked_at
            looked_at += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    header = [Name(name) for name in text.split(",")]
    assert first_repeated(header) is None
    assert looked_at < 10 * len(header)
    assert first_repeated([*header, "c5"]) == "c5"


@pytest.mark.parametrize("name", public_sets())
def test_a_set_of_a_folder_has_the_rows_and_classes_that_the_list_says(data_folder: Path, name: str) -> None:
    data_set = public_sets()[name]
    table = read_set(name, data_folder)
    assert table is not None
    assert tuple(table.columns) == (*data_set.features, "target")
    assert len(table) == data_set.rows
    if data_set.classes:
        assert {str(word): rows for word, rows in table["target"].value_counts().items()} == data_set.classes


def test_a_set_that_is_nowhere_is_none(tmp_path: Path) -> None:
    assert read_set("musk-v1", tmp_path) is None


def test_another_table_of_that_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pima_diabetes.csv").write_text("a,target\n1,2\n")
    with pytest.raises(BadFileError, match=r"must hold 768 rows with the columns of pima-diabetes, .* got 1"):
        read_set("pima_diabetes", tmp_path)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(BadInputError, match=r"a public data set must be one of"):
        read_set("nothing")
