"""Feature models: what is checked when one is made, how features are found by name, and what its rules say."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.products import FeatureModel
from shortlist.products.formulas import Literal
from shortlist.products.model import feature_names, make_group, make_model
from shortlist.products.rules import are_valid, broken_rules, evaluate, rule_text
from tests.examples import examples
from tests.products import oracles, strategies


@given(model=strategies.models())
@examples(25)
def test_exactly_the_products_break_no_rule(model: FeatureModel) -> None:
    configurations = oracles.configurations(model.n_features)
    expected = [oracles.is_product(model, c) for c in configurations]
    assert are_valid(model, configurations).tolist() == expected
    broken = broken_rules(model, configurations)
    assert broken.shape == (len(configurations), model.n_rules)


@given(model=strategies.models())
@examples(25)
def test_each_broken_rule_has_its_own_sentence(model: FeatureModel) -> None:
    selection = [False] * model.n_features
    broken = broken_rules(model, [selection])[0]
    assert evaluate(model, selection) == [rule_text(model, int(rule)) for rule in np.flatnonzero(broken)]
    assert all(rule_text(model, rule) for rule in range(model.n_rules))


def test_many_configurations_are_judged_in_blocks() -> None:
    model = make_model(["A", "B"], root=0, groups=[make_group(0, [1], "mandatory")])
    chosen = np.random.default_rng(0).integers(0, 2, size=(1500, 2))
    np.testing.assert_array_equal(are_valid(model, chosen), chosen.all(axis=1))
    assert are_valid(model, np.zeros((0, 2), dtype=bool)).tolist() == []


@given(n=st.integers(0, 130), seed=st.integers(0, 99))
@examples(25)
def test_clauses_are_judged_for_any_number_of_configurations(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    clauses = [rng.choice([-3, -2, -1, 1, 2, 3], size).tolist() for size in rng.integers(0, 4, 4)]
    model = make_model(["A", "B", "C"], clauses=Clauses.from_clauses(3, clauses))
    chosen = rng.integers(0, 2, (n, 3)).astype(bool)
    expected = [[not any(row[abs(v) - 1] == (v > 0) for v in c) for c in clauses] for row in chosen]
    assert broken_rules(model, chosen).tolist() == expected


@pytest.mark.parametrize(
    ("selections", "message"),
    [
        pytest.param([[1]], "shape (n_configurations, 2), got (1, 1)", id="too narrow"),
        pytest.param([[1, 2]], "0 and 1 only", id="a two"),
        pytest.param([[0.999999, 1]], "Round the values", id="a solver's value"),
    ],
)
def test_what_is_no_configuration_is_refused(selections: list[list[float]], message: str) -> None:
    model = make_model(["A", "B"])
    with pytest.raises(BadInputError, match=re.escape(message)):
        are_valid(model, selections)


def below(*groups: list[Any]) -> dict[str, object]:
    return {"names": ["A", "B", "C"], "root": 0, "groups": [make_group(*one) for one in groups]}


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        pytest.param({"names": []}, "at least one feature", id="no features"),
        pytest.param({"names": ["A", "A"]}, "'A' is defined twice", id="defined twice"),
        pytest.param({"names": ["A", "B"], "root": 0}, "no parent", id="without a parent"),
        pytest.param(below([1, [2], "optional"], [2, [1], "optional"]), "run in a circle", id="parents in a circle"),
        pytest.param(below([0, [1], "optional"], [0, [1], "mandatory"]), "two places", id="two parents"),
        pytest.param(below([0, [0, 1], "or"]), "or stands below itself", id="its own parent"),
        pytest.param(below([0, [1], "cardinality", 2, 1]), "lower <= upper", id="falling bounds"),
        pytest.param({"names": ["A"], "constraints": [Literal(2)]}, "1 to 1, got 2", id="unknown variable"),
        pytest.param({"names": ["A"], "groups": [make_group(0, [], "or")]}, "need a root", id="no root"),
    ],
)  # fmt: skip
def test_parts_that_are_no_model_are_refused(parts: dict[str, object], message: str) -> None:
    names = parts.pop("names")
    with pytest.raises(BadInputError, match=re.escape(message)):
        make_model(names, **parts)  # type: ignore[arg-type]  # wrong ones on purpose


def test_a_deep_tree_is_walked_without_recursion() -> None:
    n = 20_000
    groups = [make_group(i, [i + 1], "optional") for i in range(n - 1)]
    model = make_model([f"F{i}" for i in range(n)], root=0, groups=groups)
    assert are_valid(
        model, [[1] * n, [1] * (n // 2) + [0] * (n // 2), [1] + [0] * (n - 2) + [1]]
    ).tolist() == [
        True,
        True,
        False,
    ]


def test_repeated_names_are_told_apart() -> None:
    model = make_model(["Shop", "Catalog", "Catalog", "Catalog_1"], ids=["s", "c", "d", "e"])
    assert model.labels == ("Shop", "Catalog", "Catalog_2", "Catalog_1")
    names = feature_names(model)
    found = [names.find(name) for name in ("Catalog_2", "d", "catalog 1", "shop", "else")]
    assert found == [2, 2, 3, 0, None]
    assert names.find("Catalog", repeats=True) == 1
    with pytest.raises(BadInputError, match=r"2 features are called 'Catalog'.*c, d"):
        names.find("Catalog")


def test_names_that_differ_in_case_only_are_told_apart() -> None:
    names = feature_names(make_model(["Personal Information", "Personal information"]))
    asked = ("Personal_Information", "personal information", "Personalinformation")
    assert [names.find(name) for name in asked] == [0, None, 1]


def test_an_unknown_name_brings_the_ones_like_it() -> None:
    names = feature_names(make_model(["Encryption", "Logging"]))
    with pytest.raises(BadInputError, match=r"no feature: 'Enrcyption'\. Did you mean 'Encryption'"):
        names.find_all(["Enrcyption"], "select")


def test_an_unknown_kind_of_group_is_refused() -> None:
    with pytest.raises(BadInputError, match=r"kind must be one of.*got 'optionel'\. Did you mean 'optional'"):
        make_group(0, [1], "optionel")
