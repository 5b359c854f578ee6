"""Slices of feature models, and clauses cut to some variables, beside what trying everything says."""

from decimal import Decimal
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.logic.probing import eliminated
from shortlist.products import slicing
from shortlist.products.formulas import Implies, Literal
from shortlist.products.model import FeatureModel, make_group, make_model, with_details
from shortlist.products.slicing import asked, slice_model
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


LITERALS = st.integers(1, 6).flatmap(lambda v: st.sampled_from([v, -v]))

LISTED = st.lists(st.lists(LITERALS, max_size=4).map(tuple), max_size=9)

EVERY = np.array(list(product([False, True], repeat=6)))


def _cut(clauses: Clauses, kept: list[int]) -> set[tuple[bool, ...]]:
    """List the models, cut to the kept variables."""
    return {tuple(row) for row in EVERY[clauses.satisfied(EVERY)][:, [v - 1 for v in kept]].tolist()}


@examples(100)
@given(listed=LISTED, gone=st.sets(st.integers(1, 6)))
def test_elimination_and_questions_say_what_is_left_of_all_models(
    listed: list[tuple[int, ...]], gone: set[int]
) -> None:
    clauses = Clauses.from_clauses(6, listed)
    kept = [v for v in range(1, 7) if v not in gone]

    resolved = eliminated(listed, gone)
    known = [clause for clause in listed if not {abs(v) for v in clause} & gone]
    answered = asked(clauses, kept, known)

    assert resolved is not None
    assert answered is not None
    for found in (resolved, [*known, *answered]):
        assert not {abs(v) for clause in found for v in clause} & gone
        assert _cut(Clauses.from_clauses(6, found), kept) == _cut(clauses, kept)


def test_limits_end_both_without_an_answer() -> None:
    pigeons = [(1, 2), (3, 4), (5, 6), (-1, -3), (-1, -5), (-3, -5), (-2, -4)]
    assert eliminated(pigeons, {1, 3}, most_literals=3) is None
    stopped = Cancellation()
    stopped.cancel()
    budget = Budget(cancellation=stopped)
    assert eliminated(pigeons, {1}, budget=budget) is None
    assert asked(Clauses.from_clauses(6, pigeons), [1, 2, 4], [], budget=budget) is None
    assert asked(Clauses.from_clauses(6, pigeons), [1, 2, 4], [], most_questions=1) is None
