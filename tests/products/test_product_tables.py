"""Products in tables, read and judged."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from shortlist.errors import BadFileError
from shortlist.products.attributes import Attribute
from shortlist.products.configuration.question import parse_objectives
from shortlist.products.model import FeatureModel, make_group, make_model
from shortlist.products.product_tables import check_products, read_products
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind
from shortlist.tables.spreadsheets import Cell, save_rows
from tests.products import oracles

NAMES = ["Shop", "Card", "=Cash", "Gift, red"]
MODEL = make_model(NAMES, root=0, groups=[make_group(0, [1, 2, 3], "cardinality", 1, 2)])
PRICE = Attribute("price", np.array([0, 125, 200, 50]), 100)


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_a_front_is_read_back_and_every_value_counted_again(ending: str, tmp_path: Path) -> None:
    goals = parse_objectives("min price, max selected", MODEL, {"price": PRICE})
    rows = np.array(oracles.products(MODEL))
    points = np.column_stack([goal.points(rows) for goal in goals])
    front = Front.from_points(
        [goal.objective for goal in goals], points, rows.astype(int), NAMES, Proof(ProofKind.COMPLETE)
    )
    front.save(tmp_path / f"f{ending}")

    table = read_products(tmp_path / f"f{ending}", MODEL)
    checks = check_products(table, MODEL, goals)

    assert table.selections.tolist() == front.decisions.astype(bool).tolist()
    assert all(check.is_right for check in checks)
    assert [check.values["min price"] for check in checks] == [Decimal(str(v)) for v in front.values[:, 0]]


def test_every_configuration_is_judged_as_its_definition_says(tmp_path: Path) -> None:
    every = oracles.configurations(4)
    save_rows(tmp_path / "t.csv", NAMES, [list(map(int, row)) for row in every])
    checks = check_products(read_products(tmp_path / "t.csv", MODEL), MODEL)
    assert [not check.broken for check in checks] == [oracles.is_product(MODEL, row) for row in every]
    assert [check.line for check in checks] == list(range(2, 18))
    assert checks[0].broken == ("every product has Shop",)


def test_values_that_are_not_so_are_told(tmp_path: Path) -> None:
    goals = parse_objectives("min price", MODEL, {"price": PRICE})
    rows: list[list[Cell]] = [[Decimal("1.25"), 1, 1, 0, 0], [Decimal("1.24"), True, True, False, False]]
    rows.append([None, 1, 1, 1, 1])
    save_rows(tmp_path / "t.csv", ["objective: minimise price", *NAMES], rows)
    checks = check_products(read_products(tmp_path / "t.csv", MODEL), MODEL, goals)
    assert [dict(check.wrong) for check in checks] == [{}, {"min price": Decimal("1.24")}, {}]
    assert [check.is_right for check in checks] == [True, False, False]
    assert checks[2].broken == ("1 to 2 of Card, =Cash, Gift, red below Shop",)


def test_one_configuration_a_file_is_read_too(tmp_path: Path) -> None:
    rows: list[list[Cell]] = [[name, int(name == "Shop")] for name in NAMES]
    save_rows(tmp_path / "t.xlsx", ["feature", "selected"], rows)
    table = read_products(tmp_path / "t.xlsx", MODEL)
    assert table.selections.tolist() == [[True, False, False, False]]


@pytest.mark.parametrize("numbered", [False, True])
def test_a_feature_called_point_is_no_number_of_a_point(numbered: bool, tmp_path: Path) -> None:
    model = make_model(["A", "point"], root=0, groups=[make_group(0, [1], "optional")])
    header = ["point", "feature: A", "feature: point"] if numbered else ["A", "point"]
    rows: list[list[Cell]] = [[7, 1, 0], [8, 1, 1]] if numbered else [[1, 0], [1, 1]]
    save_rows(tmp_path / "t.csv", header, rows)
    assert read_products(tmp_path / "t.csv", model).selections.tolist() == [[True, False], [True, True]]


def _model() -> FeatureModel:
    return make_model(["A", "B"], root=0, groups=[make_group(0, [1], "optional")])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        ("A,B\n", "has a header and no rows"),
        ("A,B,C\n1,0,1\n", "the column 'C' is no feature"),
        ("A\n1\n", "has none for B. Add them"),
        ("A,A,B\n1,1,0\n", "has feature 'A' twice"),
        ("A,B\n1,2\n", ":2: the cell of 'B' must be 1, 0, true or false, got '2'"),
        ("A,B\n1,\n", "the cell of 'B' must be"),
        ("A,B\n1\n", ":2: the row must have 2 cells, got 1"),
        ("A,B,objective: cost\n1,1,2\n", "must be called like 'objective: min cost'"),
        ("A,B,objective: min cost\n1,1,x\n", "the cell of 'objective: min cost' must be a number, got 'x'"),
    ],
)
def test_what_is_no_table_of_products_is_refused(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    with pytest.raises(BadFileError, match=r".*") as told:
        read_products(tmp_path / "t.csv", _model())
    assert sentence in str(told.value)


def test_columns_are_left_out_by_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id;A;B\nx;1;TRUE\n", encoding="utf-8")
    assert read_products(tmp_path / "t.csv", _model(), drop=["id"]).selections.tolist() == [[True, True]]
    with pytest.raises(BadFileError, match="has no column 'name' to leave out"):
        read_products(tmp_path / "t.csv", _model(), drop=["name"])
