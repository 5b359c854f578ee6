"""How two models differ, against all their products."""

import dataclasses
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.logic.clauses import Clauses
from shortlist.products.analysis.differences import Edit, difference, first_breach, joined, renumbered
from shortlist.products.feature_models.model import FeatureModel, make_group, make_model
from shortlist.runs.budget import Budget
from shortlist.runs.cancellation import Cancellation
from tests.examples import examples
from tests.products.oracles import is_product
from tests.products.strategies import models


def _products(model: FeatureModel, names: tuple[str, ...]) -> set[tuple[bool, ...]]:
    """List the products over all names; a name that is no feature is not selected."""
    found = set()
    for bits in product([False, True], repeat=model.n_features):
        if is_product(model, bits):
            chosen = dict(zip(model.labels, bits, strict=True))
            found.add(tuple(chosen.get(name, False) for name in names))
    return found


@examples(80)
@given(first=models(max_features=5), second=models(max_features=6))
def test_the_witnesses_are_products_of_one_model_only(first: FeatureModel, second: FeatureModel) -> None:
    found = difference(first, second)
    one, other = _products(first, found.names), _products(second, found.names)
    assert (found.lost is None) == (one <= other)
    assert (found.gained is None) == (other <= one)
    if found.lost is not None:
        assert tuple(found.lost.tolist()) in one - other
    if found.gained is not None:
        assert tuple(found.gained.tolist()) in other - one
    kinds = {(True, True): Edit.REFACTORING, (False, True): Edit.SPECIALISATION}
    kinds |= {(True, False): Edit.GENERALISATION, (False, False): Edit.ARBITRARY}
    assert found.edit is kinds[one <= other, other <= one]


@pytest.mark.parametrize(
    ("kind", "names", "edit"),
    [
        ("or", ["Shop", "Card", "Cash"], "refactoring"),
        ("alternative", ["Shop", "Card", "Cash"], "specialisation"),
        ("cardinality", ["Shop", "Card", "Cash"], "generalisation"),
        ("alternative", ["Shop", "Card", "Coupon"], "arbitrary edit"),
    ],
)
def test_edits_have_the_names_of_the_field(kind: str, names: list[str], edit: str) -> None:
    before = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "or")])
    after = make_model(names, root=0, groups=[make_group(0, [1, 2], kind, 0, 2)])
    found = difference(before, after)
    assert found.edit is Edit(edit)
    assert found.removed == tuple(n for n in before.names if n not in names)
    assert found.added == tuple(n for n in names if n not in before.names)


def test_a_stopped_comparison_says_what_the_edit_may_be() -> None:
    before = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "or")])
    stopped = Cancellation()
    stopped.cancel()
    shop = make_model(["Shop"], root=0)
    found = difference(before, shop, budget=Budget(cancellation=stopped))
    assert (found.edit, found.unsure, found.lost, found.gained) == (None, ("lost", "gained"), None, None)
    assert set(found.edits) == set(Edit)
    same = difference(before, before, budget=Budget(cancellation=stopped))
    assert same.edit is Edit.REFACTORING, "the same clauses need no search"

    known = difference(before, shop)
    assert known.edits == (Edit.ARBITRARY,)
    half = dataclasses.replace(known, gained=None, unsure=("gained",))
    assert (half.edit, half.edits) == (None, (Edit.SPECIALISATION, Edit.ARBITRARY))


LITERALS = st.integers(1, 4).flatmap(lambda v: st.sampled_from([v, -v]))
LISTED = st.lists(st.lists(LITERALS, max_size=3), max_size=6)


@settings(max_examples=60, deadline=None)
@given(listed=LISTED, claims=LISTED)
def test_a_breach_is_a_model_of_the_clauses_and_of_no_claim(
    listed: list[list[int]], claims: list[list[int]]
) -> None:
    clauses = Clauses.from_clauses(4, listed)
    every = np.array(list(product([False, True], repeat=4)))
    broken = clauses.satisfied(every) & ~Clauses.from_clauses(4, claims).satisfied(every)

    found = first_breach(clauses, claims, budget=None)

    assert (found is None) == (not broken.any())
    if found is not None:
        assert broken[(every == found).all(axis=1)].all()


def test_renumbered_and_joined_clauses_say_what_they_said_of_other_variables() -> None:
    clauses = Clauses.from_clauses(2, [(1, -2), (2,)])
    assert list(renumbered(clauses, np.array([0, 3, 1]), 3)) == [(3, -1), (1,)]
    assert list(joined(3, clauses, [(3,)])) == [(1, -2), (2,), (3,)]
