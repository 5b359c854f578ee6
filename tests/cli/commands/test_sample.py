"""`shortlist model sample`."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from shortlist.products.formats import read_model
from tests.cli.refusals import refusals, refuse
from tests.cli.running import done, facts_of, shortlist
from tests.products.oracles import is_product
from tests.stored import Stored

MODEL = """features
    Phone
        mandatory
            Screen
                alternative
                    Small
                    Big
        optional
            GPS {cost 3}
            NFC
constraints
    NFC => Big
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.uvl").write_text(MODEL, encoding="utf-8")
    return tmp_path


def test_a_sample_is_saved_as_a_table_of_products(folder: Path) -> None:
    facts = facts_of("model", "sample", "m.uvl", "--n", "7", "--out", "s.csv", cwd=folder)
    table = pd.read_csv(folder / "s.csv")

    assert list(table.columns) == list(read_model(folder / "m.uvl").labels)
    chosen = [[name for name in table.columns if row[name]] for _, row in table.iterrows()]
    assert (chosen, facts["n_products"]) == (facts["products"], 7)


def test_uniform_products_have_a_seed(folder: Path) -> None:
    def drawn(seed: int) -> list[list[str]]:
        words = ["model", "sample", "m.uvl", "--n", "6", "--seed", str(seed), "--json"]
        products: list[list[str]] = json.loads(shortlist(*words, cwd=folder).stdout)["products"]
        return products

    line = read_model(folder / "m.uvl")
    for chosen in drawn(1):
        assert is_product(line, tuple(label in chosen for label in line.labels))
    assert drawn(1) == drawn(1) != drawn(2)


def test_diverse_products_come_from_a_front_where_there_is_one(folder: Path, stored: Stored) -> None:
    words = [
        "m.uvl", "--objectives", "max selected, min cost", "--set", "default=cost=0", "--out", "f.parquet",
    ]  # fmt: skip
    done("configure", *words, cwd=folder)
    own = ["model", "sample", "m.uvl", "--kind", "diverse", "--front", "f.parquet", "--n", "2"]
    stored(shortlist(*own, cwd=folder))
    (folder / "other.uvl").write_text("features\n    Phone\n", encoding="utf-8")
    refuse("model", "sample", "other.uvl", *own[3:], message="--front", cwd=folder)


@refusals("model-sample")
def test_what_makes_no_sense_is_refused_in_a_sentence(folder: Path, refused: Callable[[Path], None]) -> None:
    refused(folder)
