"""Slices of models, against the products of the whole."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.products.analysis import slicing
from shortlist.products.analysis.slicing import slice_model
from shortlist.products.feature_models.formulas import Implies, Literal
from shortlist.products.feature_models.model import FeatureModel, make_group, make_model, with_details
from shortlist.runs.budget import Budget
from shortlist.runs.cancellation import Cancellation
from tests.examples import examples
from tests.products import oracles, strategies


def _agree(model: FeatureModel, kept: list[int]) -> None:
    names = {model.labels[i] for i in kept}
    found = slice_model(model, kept)
    assert set(found.model.labels) == names
    assert oracles.named_products(found.model) == {p & names for p in oracles.named_products(model)}


@examples(120)
@given(model=strategies.models(max_features=7), data=st.data())
def test_the_products_of_a_slice_are_the_products_cut_to_it(model: FeatureModel, data: st.DataObject) -> None:
    kept = data.draw(st.sets(st.integers(0, model.n_features - 1), min_size=1))
    _agree(model, sorted(kept))


@examples(40)
@given(model=strategies.models(max_features=6), data=st.data())
def test_questions_give_the_same_products_as_elimination(model: FeatureModel, data: st.DataObject) -> None:
    kept = data.draw(st.sets(st.integers(0, model.n_features - 1), min_size=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slicing, "eliminated", lambda *_given, **_options: None)
        _agree(model, sorted(kept))


def test_what_is_kept_stays_as_it_was() -> None:
    names = ["Shop", "Pay", "Card", "Cash", "Gift", "Search"]
    groups = [
        make_group(0, [1], "mandatory"),
        make_group(1, [2, 3, 4], "alternative"),
        make_group(0, [5], "optional"),
    ]
    rule = Implies(Literal(6), Literal(3))
    shop = make_model(names, root=0, groups=groups, constraints=[rule])
    shop = with_details(shop, abstract=[1], attributes={"cost": {2: Decimal("1.5"), 4: Decimal(3)}})

    without = slice_model(shop, [0, 1, 2, 3, 5])
    assert [group.kind.value for group in without.model.groups] == [
        "mandatory", "optional", "optional", "optional",
    ]  # fmt: skip
    assert without.model.constraints[0].formula == Implies(Literal(5), Literal(3))
    assert without.n_new_clauses == 1, "of the alternative that no two are together is left"
    assert sorted(without.model.abstract) == [1]
    assert dict(without.model.attributes["cost"]) == {2: Decimal("1.5")}

    tree = slice_model(shop, [0, 2, 3, 4])
    assert {group.parent for group in tree.model.groups} == {0}
    assert slice_model(shop, range(6)).model.groups == shop.groups
    assert slice_model(shop, [2, 3]).model.root is None


@pytest.mark.parametrize("features", [[], [-1], [7]])
def test_features_that_are_none_are_refused(features: list[int]) -> None:
    with pytest.raises(BadInputError, match="features must be some of 0 to 1"):
        slice_model(make_model(["A", "B"], root=0, groups=[make_group(0, [1], "optional")]), features)


def test_a_slice_that_does_not_end_is_refused_with_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slicing, "eliminated", lambda *_given, **_options: None)
    monkeypatch.setattr(slicing, "asked", lambda *_given, **_options: None)
    with pytest.raises(BadInputError, match="more than 1,000,000 literals, and there are more than 20,000"):
        slice_model(make_model(["A", "B"], root=0, groups=[make_group(0, [1], "optional")]), [1])


def test_a_stopped_slice_says_what_stopped_it() -> None:
    stopped = Cancellation()
    stopped.cancel()
    pair = make_model(["A", "B"], root=0, groups=[make_group(0, [1], "optional")])
    with pytest.raises(BadInputError, match=r"before the search was stopped \(interrupted\)"):
        slice_model(pair, [1], budget=Budget(cancellation=stopped))
