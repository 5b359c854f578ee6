"""`shortlist model convert`."""

from collections.abc import Callable
from pathlib import Path

import pytest

from shortlist.products.attribute_files import read_attributes
from shortlist.products.formats import read_model
from shortlist.tables.files import read_table_file
from tests.cli.refusals import refusals, refuse
from tests.cli.running import done, facts_of, shortlist
from tests.products.oracles import named_products
from tests.stored import Stored

SLICED_MODEL = """features
    Phone
        mandatory
            Screen
                alternative
                    Small {cost 2.5}
                    Big
        optional
            GPS
            "Wi-Fi, fast"
constraints
    GPS => Big
"""


@pytest.fixture
def sliced(tmp_path: Path) -> Path:
    (tmp_path / "m.uvl").write_text(SLICED_MODEL, encoding="utf-8")
    return tmp_path


def test_a_slice_is_a_model_with_the_cut_products(sliced: Path, stored: Stored) -> None:
    (sliced / "names.txt").write_text("GPS\n\nphone\n", encoding="utf-8")
    words = ["m.uvl", "--out", "s.uvl", "--keep", "Small, Wi-Fi, fast", "--keep", "names.txt"]
    refuse("model", "slice", *words, message="--keep names no feature: ", cwd=sliced)
    words[4:5] = ["Small", "--keep", "Wi-Fi, fast"]
    stored(shortlist("model", "slice", *words, cwd=sliced))
    kept = {"Phone", "Small", "GPS", "Wi-Fi, fast"}
    cut = read_model(sliced / "s.uvl")
    assert named_products(cut) == {p & kept for p in named_products(read_model(sliced / "m.uvl"))}
    assert list(cut.attributes["cost"]) == [cut.labels.index("Small")]


def test_json_says_how_it_was_found(sliced: Path) -> None:
    words = ["m.uvl", "--out", "s.sxfm", "--keep", "GPS,Small"]
    facts = facts_of("model", "slice", *words, cwd=sliced)
    assert (facts["command"], facts["method"], facts["status"]) == ("model slice", "elimination", "optimal")
    assert (facts["n_features"], facts["n_new_clauses"], facts["format"]) == (2, 1, "sxfm")
    assert facts["changes"][0] == "1 root added, as the format needs a tree"


@refusals("model-slice")
def test_what_makes_no_sense_is_refused_in_a_sentence(sliced: Path, refused: Callable[[Path], None]) -> None:
    refused(sliced)


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


def test_what_a_format_cannot_hold_is_told_and_the_products_are_proved(folder: Path, stored: Stored) -> None:
    stored(done("model", "convert", "m.uvl", "--out", "m.xml", cwd=folder))
    assert named_products(read_model(folder / "m.xml")) == named_products(read_model(folder / "m.uvl"))


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_attributes_go_along_as_a_table(ending: str, folder: Path) -> None:
    words = ["m.uvl", "--out", "m.cnf", "--out", f"a.{ending}"]
    facts = facts_of("model", "convert", *words, cwd=folder)
    assert (facts["status"], facts["proved"], facts["format"]) == ("optimal", True, "dimacs")
    assert "2 attributes left out: cost and note" in facts["changes"]
    columns = read_attributes(folder / f"a.{ending}", read_model(folder / "m.cnf")).columns
    assert columns["cost"] == {1: "2.5", 5: "3"}
    assert columns["note"] == {5: "=1+1"}
    questions = ["--objectives", "min cost, max selected", "--set", "default=cost=0", "--out"]
    tables = []
    for given in (["m.uvl"], ["m.cnf", "--attributes", f"a.{ending}"]):
        done("configure", *given, *questions, f"{len(given)}.{ending}", cwd=folder)
        tables.append(read_table_file(folder / f"{len(given)}.{ending}").iloc[:, :3])
    assert tables[0].equals(tables[1])
    assert list(tables[0].columns) == ["point", "objective: min cost", "objective: max selected"]
