"""`shortlist model convert`."""

import json
from pathlib import Path

import pytest

from shortlist.products.attributes.attribute_files import read_attributes
from shortlist.products.formats import read_model
from shortlist.tables.files import read_table_file
from tests.cli.running import shortlist
from tests.products.oracles import named_products

MODEL = """features
    Phone
        mandatory
            Screen {cost 2.5}
                [1..2]
                    Small
                    Big
                    Huge
        optional
            GPS {cost 3, note '=1+1'}
            NFC
constraints
    NFC => Big
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.uvl").write_text(MODEL, encoding="utf-8")
    return tmp_path


def test_what_a_format_cannot_hold_is_told_and_the_products_are_proved(folder: Path) -> None:
    run = shortlist("model", "convert", "m.uvl", "--out", "m.xml", cwd=folder)
    assert run.returncode == 0
    assert run.stdout.splitlines() == [
        "7 features written to m.xml as featureide.",
        "  1 group written as optional features with constraints",
        "Proved: the file has the same products.",
    ]
    assert named_products(read_model(folder / "m.xml")) == named_products(read_model(folder / "m.uvl"))


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_attributes_go_along_as_a_table(ending: str, folder: Path) -> None:
    words = ["m.uvl", "--out", "m.cnf", "--out", f"a.{ending}", "--json"]
    facts = json.loads(shortlist("model", "convert", *words, cwd=folder).stdout)
    assert (facts["status"], facts["proved"], facts["format"]) == ("optimal", True, "dimacs")
    assert "2 attributes left out: cost and note" in facts["changes"]
    columns = read_attributes(folder / f"a.{ending}", read_model(folder / "m.cnf")).columns
    assert columns["cost"] == {1: "2.5", 5: "3"}
    assert columns["note"] == {5: "=1+1"}
    questions = ["--objectives", "min cost, max selected", "--set", "default=cost=0", "--out"]
    tables = []
    for given in (["m.uvl"], ["m.cnf", "--attributes", f"a.{ending}"]):
        assert (
            shortlist("configure", *given, *questions, f"{len(given)}.{ending}", cwd=folder).returncode == 0
        )
        tables.append(read_table_file(folder / f"{len(given)}.{ending}").iloc[:, :3])
    assert tables[0].equals(tables[1])
    assert list(tables[0].columns) == ["point", "objective: min cost", "objective: max selected"]
