"""Tables with numbers on features, in every format of tables."""

import bz2
import gzip
import io
import re
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

from shortlist.errors import BadFileError
from shortlist.products.attribute_files import read_attributes, save_attributes
from shortlist.products.model import make_model, with_details
from tests.stored import Stored

MODEL = make_model(["A", "B", "C"])

TEXT = "feature,cost,note\nA,0.10,new\nB,12345678901234567.5,\n\nC,3,old\n"

EXPECTED = {"cost": {0: "0.10", 1: "12345678901234567.5", 2: "3"}, "note": {0: "new", 2: "old"}}


def _parquet() -> bytes:
    frame = pd.read_csv(io.StringIO(TEXT), dtype=str)
    return bytes(frame.to_parquet(engine="pyarrow"))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(TEXT.encode(), id="commas"),
        pytest.param(TEXT.replace(",", "\t").encode(), id="tabs"),
        pytest.param(TEXT.replace(",", ";").encode(), id="semicolons"),
        pytest.param(TEXT.replace(",", ";").replace(".", ",").encode(), id="decimal commas"),
        pytest.param(TEXT.encode("utf-16"), id="UTF-16"),
        pytest.param(TEXT.replace("\n", "\r\n").encode("utf-8-sig"), id="Windows"),
        pytest.param(gzip.compress(TEXT.encode()), id="gzip"),
        pytest.param(bz2.compress(TEXT.encode()), id="bzip2"),
        pytest.param(_parquet(), id="Parquet"),
    ],
)
def test_every_format_gives_the_same_numbers_as_written(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    table = read_attributes(tmp_path / "a.txt", MODEL)
    assert table.columns == EXPECTED


def test_notes_say_how_the_file_was_read(tmp_path: Path, stored: Stored) -> None:
    path, notes = tmp_path / "a.csv", list[str]()
    path.write_text("feature;cost\nA;1,5\nB;2\nC;3\n", encoding="utf-8")
    read_attributes(path, MODEL, notes=notes)
    stored(*notes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("feature\tcost\nA\t1\nD\t2\n", ":3: the model has no feature 'D'", id="feature"),
        pytest.param('feature,cost\nA,1\n"B,2\n', ":3: ", id="quote"),
        pytest.param(" \n", " is empty. Is it the right file?", id="empty"),
    ],
)
def test_an_error_names_the_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadFileError, match=re.escape(f"{path}{message}")):
        read_attributes(path, MODEL)


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_attributes_are_read_back_as_they_were_written(ending: str, tmp_path: Path) -> None:
    plain = make_model(["A", "A", "=1+1", "-x", "B, C"], ids=list("12345"))
    texts = {0: "=cmd", 2: "-", 4: "two words"}
    numbers = {0: Decimal("1.50"), 1: Decimal(-3), 3: Decimal("12345678901234567.5")}
    model = with_details(plain, attributes={"@note": texts, "cost": numbers, "ok": {1: True, 2: False}})
    path = tmp_path / f"a{ending}"

    save_attributes(path, model)
    columns = read_attributes(path, model).columns

    assert columns["@note"] == texts
    assert {i: Decimal(str(text)) for i, text in columns["cost"].items()} == numbers
    assert columns["ok"] == {1: "true", 2: "false"}
