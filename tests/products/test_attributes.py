"""None"""

import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadFileError, BadInputError
from shortlist.products import chosen_attributes, model_attributes, read_attributes, read_model
from shortlist.products.attribute_files import attributes_beside
from shortlist.products.attributes import (
    Attribute,
    AttributeTable,
    exact_attribute,
    needs_rounding,
    numeric_attributes,
    random_attributes,
    scaled_attribute,
)
from shortlist.products.configuration.question import parse_limit, parse_objectives
from shortlist.products.model import make_group, make_model
from shortlist.results.objective import Sense
from tests.products import oracles

MODEL = make_model(["Web Server", "Pop-ups", "Logging"])

COST = Attribute("cost", np.array([125, 300, 50]), 100, "EUR")


def _table(folder: Path, text: str) -> Path:
    path = folder / "attributes.csv"
    path.write_text(text, encoding="utf-8")
    return path


@given(numbers=st.lists(st.decimals(-9999, 9999, places=3), min_size=1, max_size=6))
def test_scaling_loses_nothing_and_takes_the_smallest_power_of_ten(numbers: list[Decimal]) -> None:
    attribute = scaled_attribute("a", numbers)
    assert [Decimal(v) / attribute.scale for v in attribute.values.tolist()] == numbers
    if attribute.scale > 1:
        assert any(value % 10 for value in attribute.values.tolist())


def test_a_table_is_read_by_name_whatever_the_order_and_spelling(tmp_path: Path) -> None:
    path = _table(tmp_path, "id,feature,cost,reuse\n7,Popups,3,1\n8,web_server,1.25,0\n\n9,Logging,0.50,1\n")
    table = read_attributes(path, MODEL)
    cost = exact_attribute(table, "Cost", MODEL, unit="EUR")
    assert (cost.name, cost.values.tolist(), cost.scale, cost.unit) == ("cost", [125, 300, 50], 100, "EUR")
    assert exact_attribute(table, "reuse", MODEL).scale == 1


def test_repeated_names_are_told_apart_by_id_or_number(tmp_path: Path) -> None:
    model = make_model(["A", "A"], ids=["x", "y"])
    by_id = read_attributes(_table(tmp_path, "id,feature,cost\ny,A,2\nx,A,1\n"), model)
    assert exact_attribute(by_id, "cost", model).values.tolist() == [1, 2]
    by_number = read_attributes(_table(tmp_path, "feature,cost\nA_1,2\nA,1\n"), model)
    assert exact_attribute(by_number, "cost", model).values.tolist() == [1, 2]
    with pytest.raises(BadFileError, match=r":3: feature 'A' has a second row, after line 2"):
        read_attributes(_table(tmp_path, "feature,cost\nA,2\nA,1\n"), model)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("name,cost\nA,1\n", r":1: the header must have a column 'feature'", id="no feature column"),
        pytest.param("feature,cost\nLoging,1\n", r":2: .*'Loging'. Did you mean 'Logging'", id="unknown feature"),
        pytest.param("feature,cost\nLogging,1,2\n", r":2: the row must have 2 columns, got 3", id="wide row"),
        pytest.param("feature,cost,cost\n", r"names the column 'cost' twice", id="column twice"),
        pytest.param("feature,selected\n", r"would hide the built-in objective", id="built-in name"),
        pytest.param(
            "#INDEX COST\n1 2\n", r":1: the header must start with #FEATURE_INDEX", id="augment header"
        ),
        pytest.param(
            "#FEATURE_INDEX COST\n4 2\n", r":2: the feature number must be 1 to 3", id="augment number"
        ),
        pytest.param(
            f"#FEATURE_INDEX COST\n{'9' * 5000} 2\n",
            r":2: the feature number must be 1 to 3",
            id="augment number of 5,000 digits",
        ),
        pytest.param(
            "#FEATURE_INDEX COST\n1 2\n1 2\n", r":3: feature 1 has a second row", id="augment twice"
        ),
        pytest.param(
            "#FEATURE_INDEX COST\n1\n", r":2: the row must have 2 numbers, got 1", id="augment short"
        ),
    ],
)  # fmt: skip
def test_a_bad_table_gets_a_sentence_with_the_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match=message):
        read_attributes(_table(tmp_path, text), MODEL)


def test_missing_values_are_counted_unless_there_is_a_default(tmp_path: Path) -> None:
    table = read_attributes(_table(tmp_path, "feature,cost\nLogging,2.5\nPop-ups,\n"), MODEL)
    with pytest.raises(BadInputError, match=r"2 of 3 lack it: Web .* or pass `defaults={'cost': 0}`"):
        exact_attribute(table, "cost", MODEL)
    assert exact_attribute(table, "cost", MODEL, default=1).values.tolist() == [10, 10, 25]


@pytest.mark.parametrize("value", ["cheap", "nan", "inf", "1_000", "1e400", "0x10"])
def test_a_value_that_is_no_number_is_named_with_its_line(value: str, tmp_path: Path) -> None:
    table = read_attributes(_table(tmp_path, f"feature,cost\nLogging,{value}\n"), MODEL)
    with pytest.raises(BadInputError, match=rf":2: 'cost' of 'Logging' must be a number.*got '{value}'"):
        exact_attribute(table, "cost", MODEL, default=0)


def test_the_header_is_read_in_any_case(tmp_path: Path) -> None:
    model = make_model(["A", "A"], ids=["x", "y"])
    table = read_attributes(_table(tmp_path, "ID,Feature,Cost (EUR)\ny,A,2\nx,A,1\n"), model)
    assert table.columns == {"Cost (EUR)": {1: "2", 0: "1"}}
    both = read_attributes(_table(tmp_path, "feature,Feature\nLogging,big\n"), MODEL)
    assert both.columns == {"Feature": {2: "big"}}


def test_rows_of_unknown_features_are_passed_over_and_counted_on_request(tmp_path: Path) -> None:
    text = "feature,cost\nLogging,4\nTotal,9\nVAT,1\nFee,1\nTax,1\n"
    with pytest.raises(BadFileError, match=r":3: the model has no feature 'Total'.* `ignore_unknown=True`"):
        read_attributes(_table(tmp_path, text), MODEL)
    notes: list[str] = []
    table = read_attributes(_table(tmp_path, text), MODEL, ignore_unknown=True, notes=notes)
    assert table.columns == {"cost": {2: "4"}}
    assert notes[0].endswith(": Total, VAT, Fee and 1 more.")
    with pytest.raises(BadFileError, match="no row is of a feature of the model, got Total"):
        read_attributes(_table(tmp_path, "feature,cost\nTotal,9\n"), MODEL, ignore_unknown=True)


def test_features_that_group_others_need_no_value(tmp_path: Path) -> None:
    groups = [make_group(0, [1], "mandatory"), make_group(1, [2, 3], "or")]
    model = make_model(["Shop", "Pay", "Card", "Cash"], root=0, groups=groups)
    notes: list[str] = []
    table = read_attributes(_table(tmp_path, "feature,cost\nCard,2\nCash,1\n"), model)
    assert exact_attribute(table, "cost", model, notes=notes).values.tolist() == [0, 0, 2, 1]
    assert notes[0].startswith("2 features with children and without 'cost'")
    assert notes[0].endswith("count 0: Shop and Pay.")
    assert exact_attribute(table, "cost", model, default=5).values.tolist() == [5, 5, 2, 1]
    table = read_attributes(_table(tmp_path, "feature,cost\nCard,2\nPay,3\n"), model)
    with pytest.raises(BadInputError, match="without children, but 1 of 2 lacks it: Cash"):
        exact_attribute(table, "cost", model)


def test_renames_mend_a_misspelt_feature(tmp_path: Path) -> None:
    path = _table(tmp_path, "feature,cost\nLoging,4\n")
    table = read_attributes(path, MODEL, renames={"Loging": "Logging"})
    assert table.columns["cost"] == {2: "4"}


def test_too_many_decimals_are_rounded_only_on_request() -> None:
    table = AttributeTable("t", {"cost": dict.fromkeys(range(3), "6.977981332638779")})
    with pytest.raises(BadInputError, match="at most 9 decimals to be exact, got 15"):
        exact_attribute(table, "cost", MODEL)
    assert exact_attribute(table, "cost", MODEL, decimals=2).values.tolist() == [698] * 3


def test_numbers_too_large_to_be_exact_are_refused() -> None:
    table = AttributeTable("t", {"cost": dict.fromkeys(range(3), str(2**52))})
    with pytest.raises(BadInputError, match=r"less than 2\^53"):
        exact_attribute(table, "cost", MODEL)


def test_attributes_come_from_the_first_table_that_has_them() -> None:
    first = AttributeTable("first", {"cost": dict.fromkeys(range(3), "1")})
    second = AttributeTable("second", {"Cost": dict.fromkeys(range(3), "2"), "risk": {0: True}})
    chosen = chosen_attributes(["cost", "selected", "risk"], [first, second], MODEL, defaults={"risk": 0})
    assert {name: a.values.tolist() for name, a in chosen.items()} == {"cost": [1, 1, 1], "risk": [1, 0, 0]}
    with pytest.raises(BadInputError, match=r"first and second has no attribute 'ris'\. Did you mean 'risk'"):
        chosen_attributes(["ris"], [first, second], MODEL)


def test_a_models_own_attributes_are_a_table(tmp_path: Path) -> None:
    path = tmp_path / "m.uvl"
    path.write_text("features\n\tA {cost 2.0, big}\n\t\toptional\n\t\t\tB {cost 3.5, big false}\n")
    model = read_model(path)
    chosen = chosen_attributes(["cost", "big"], [model_attributes(model)], model)
    assert chosen["cost"].values.tolist() == [20, 35]
    assert chosen["big"].values.tolist() == [1, 0]


SELECTIONS = np.array(oracles.configurations(3))


def test_objectives_are_exact_vectors_in_the_users_sign() -> None:
    text = "min deselected, MAX selected, minimise cost"
    objectives = parse_objectives(text, MODEL, {"cost": COST})
    for selected in SELECTIONS.tolist():
        spent = sum(v for v, s in zip([125, 300, 50], selected, strict=True) if s)
        expected = [3 - sum(selected), -sum(selected), spent]
        assert [int(o.points(np.array([selected]))[0]) for o in objectives] == expected
    assert [o.objective.sense for o in objectives] == [Sense.MIN, Sense.MAX, Sense.MIN]
    linear = objectives[2].linear()
    assert linear.costs.tolist() == [1.25, 3.0, 0.5]
    assert (linear.objective.scale, linear.objective.unit) == (100, "EUR")
    assert objectives[0].linear().offset == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("cost", r"must read like 'min cost, max selected', got 'cost'", id="no sense"),
        pytest.param("min", r"got 'min'", id="no name"),
        pytest.param("min cost,", r"got ''", id="trailing comma"),
        pytest.param("min cost, max cost", r"got 'cost' twice", id="twice"),
        pytest.param("min costs", r"there is no objective 'costs'. Did you mean 'cost'", id="unknown"),
    ],
)
def test_objectives_that_make_no_sense_are_refused(text: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        parse_objectives(text, MODEL, {"cost": COST})


@pytest.mark.parametrize("sign", ["<=", "<", ">=", ">", "=="])
@pytest.mark.parametrize("bound", ["1.25", "3.001", "0", "-1", "4.2499", "1.75"])
@pytest.mark.parametrize("name", ["cost", "selected", "deselected"])
def test_limits_compare_exact_decimals(name: str, sign: str, bound: str) -> None:
    constraint = parse_limit(f"{name} {sign} {bound}", MODEL, {"cost": COST})
    for selected in SELECTIONS.tolist():
        spent = sum(
            (Decimal(v) / 100 for v, s in zip([125, 300, 50], selected, strict=True) if s), Decimal(0)
        )
        value = {"cost": spent, "selected": Decimal(sum(selected)), "deselected": Decimal(3 - sum(selected))}[
            name
        ]
        limit = Decimal(bound)
        expected = {
            "<=": value <= limit,
            "<": value < limit,
            ">=": value >= limit,
            ">": value > limit,
            "==": value == limit,
        }[sign]
        assert oracles.truth(constraint.formula, tuple(selected)) is expected


@pytest.mark.parametrize("text", ["cost", "<=3", "cost<=", "cost<=many", "cost=<3"])
def test_a_malformed_limit_says_how_it_should_read(text: str) -> None:
    with pytest.raises(BadInputError, match="must read like 'cost<=120'"):
        parse_limit(text, MODEL, {"cost": COST})


def test_random_attributes_stay_in_their_ranges_and_follow_the_seed() -> None:
    model = make_model([f"F{i}" for i in range(4000)])
    drawn = random_attributes(model, rng=np.random.default_rng(5))
    again = random_attributes(model, rng=np.random.default_rng(5))
    cost, defects, fresh = (drawn[name].values for name in ("cost", "defects", "not_used_before"))
    assert cost.min() >= 500
    assert cost.max() <= 1500
    assert abs(cost.mean() - 1000) < 20
    assert abs(cost.std() - 163) < 15
    assert set(defects.tolist()) <= set(range(11))
    assert abs(defects.mean() - 5) < 0.2
    assert abs(fresh.mean() - 0.5) < 0.05
    for name, attribute in drawn.items():
        np.testing.assert_array_equal(attribute.values, again[name].values)


def test_what_was_renamed_and_what_is_a_number_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("feature,cost,note\nLoging,1.5,x\n")
    table = read_attributes(path, MODEL, renames={"Loging": "Logging", "Nothing": "Logging"})
    assert numeric_attributes(table, MODEL) == (["cost"], {"note": "its values are texts"})
    fine = AttributeTable("t", {"cost": {0: "0.1234567891", 1: "2"}, "risk": {0: "0.123456789000"}})
    assert (needs_rounding(fine, "cost"), needs_rounding(fine, "risk"), needs_rounding(fine, "x")) == (
        True, False, False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("model", "beside", "found"),
    [
        pytest.param("m.dimacs", ["m.dimacs.augment"], "m.dimacs.augment", id="plain"),
        pytest.param("m.dimacs", ["m.dimacs.augment.gz"], "m.dimacs.augment.gz", id="packed"),
        pytest.param("m.dimacs.gz", ["m.dimacs.augment"], "m.dimacs.augment", id="packed model"),
        pytest.param(
            "m.dimacs.gz", ["m.dimacs.augment", "m.dimacs.gz.augment"], "m.dimacs.gz.augment", id="two"
        ),
        pytest.param("m.dimacs", ["n.dimacs.augment", "m.augment"], None, id="other names"),
    ],
)
def test_a_file_beside_a_model_is_found_by_its_name(
    model: str, beside: list[str], found: str | None, tmp_path: Path
) -> None:
    for name in beside:
        (tmp_path / name).touch()
    assert attributes_beside(tmp_path / model) == (None if found is None else tmp_path / found)


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (["1.202,34", "2.500,00", "350.00 EUR ca."], ":4: 'cost' of 'C' must be a number like the others, such as '1.202,34', got '350.00 EUR ca.'"),
        (["5 €", "$6", "7 €"], ":3: 'cost' of 'B' must be a number like the others, such as '5 €', got '$6'"),
        (["0.5", "1,5 EUR", "2,5 EUR"], ":2: 'cost' of 'A' must be a number like the others, such as '1,5 EUR', got '0.5'"),
    ],
)  # fmt: skip
def test_the_cell_that_does_not_fit_the_others_is_named(cells: list[str], sentence: str) -> None:
    model = make_model(list("ABC"))
    table = AttributeTable("p.csv", {"cost": dict(enumerate(cells))}, {0: 2, 1: 3, 2: 4})
    with pytest.raises(BadFileError, match=re.escape(f"p.csv{sentence}")):
        exact_attribute(table, "cost", model)
    with pytest.raises(BadFileError, match=re.escape(f"p.csv{sentence}")):
        numeric_attributes(table, model)


def test_features_with_children_are_not_among_those_counted_as_lacking() -> None:
    model = make_model(["R", "A", "B", "C"], root=0, groups=[make_group(0, [1, 2, 3], "or")])
    with pytest.raises(BadInputError, match=r"must give 'cost' for every.* but 2 of 3 lack it: B and C"):
        exact_attribute(AttributeTable("p.csv", {"cost": {1: "5"}}), "cost", model)


NUMBERS = ["1", "2.5", "-3", "4e2", " 5 "]


@pytest.mark.parametrize(
    "bad", ["n/a", "12,50", "€5", "5 %", "1e300", "1'000", "NaN", "inf", "1_0", "?", "x"]
)
def test_one_bad_value_among_numbers_is_an_error_and_removes_no_attribute(bad: str) -> None:
    model = make_model(list("ABCDEF"))
    table = AttributeTable("a.csv", {"cost": dict(enumerate([*NUMBERS, bad]))}, {5: 7})

    with pytest.raises(BadFileError, match=re.escape(f"a.csv:7: 'cost' of 'F' must be a number below 10^19, written like 12.50, got {bad!r}")):  # fmt: skip
        numeric_attributes(table, model)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        pytest.param("cost", ["12,50", "3,75", "1,00"], "must be a number", id="every comma"),
        pytest.param("cost", ["€5", "€ 7.50", "€1,200.00"], "must be a number", id="every currency"),
        pytest.param("cost", ["5 %", "7%", "n/a", "3"], "must be a number", id="percent"),
        pytest.param("cost", ["1", "n/a"], "must be a number", id="half"),
        pytest.param("cost", [], "a.csv: the column 'cost' has no values", id="none"),
        pytest.param("used_before", ["1", "0", "2"], "a.csv:4: 'used_before' of 'C' must be 0 or 1, got '2'", id="a mark"),
    ],
)  # fmt: skip
def test_a_column_that_is_written_like_numbers_is_an_attribute_and_so_an_error(
    name: str, values: list[str], message: str
) -> None:
    table = AttributeTable("a.csv", {name: dict(enumerate(values))}, {2: 4})
    with pytest.raises(BadFileError, match=message):
        numeric_attributes(table, make_model(list("ABCD")))


@pytest.mark.parametrize(
    ("columns", "names", "left_out"),
    [
        pytest.param({"a": ["x", "y", "3"]}, [], {"a": "its values are texts"}, id="texts"),
        pytest.param({"a": ["1.2.3", "2020-01-02", "v2"]}, [], {"a": "its values are texts"}, id="versions, dates"),
        pytest.param({"a": [True, False, True]}, ["a"], {}, id="truth counts 0 and 1"),
        pytest.param(
            {"used_before": ["1", "0", "1"], "not_used_before": ["0", "1", "0"]},
            ["not_used_before"], {"used_before": "not_used_before says the same"}, id="reuse",
        ),
        pytest.param(
            {"used_before": ["7", "0", "12"]},
            [], {"used_before": "more of it is better, and it is no 0 or 1 that could be reversed"}, id="counts of use",
        ),
        pytest.param(
            {"a,b": ["1", "2", "3"]}, [], {"a,b": "its name cannot be written in a list of objectives"}, id="comma"
        ),
    ],
)  # fmt: skip
def test_what_is_left_out_by_design_is_named_with_its_reason(
    columns: dict[str, list[str | bool]], names: list[str], left_out: dict[str, str]
) -> None:
    table = AttributeTable("a.csv", {name: dict(enumerate(column)) for name, column in columns.items()})

    assert numeric_attributes(table, make_model(list("ABC"))) == (names, left_out)
