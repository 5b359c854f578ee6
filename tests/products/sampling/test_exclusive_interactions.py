"""Interactions that exclude each other, against all products."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.products.feature_models.model import FeatureModel, make_group, make_model
from shortlist.products.sampling.exclusive_interactions import exclusive_interactions
from shortlist.products.sampling.t_wise import covering_sample
from tests.products.oracles import products
from tests.products.strategies import models


@given(model=models(max_features=6), t=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_no_product_has_two_of_them_and_each_is_in_one(model: FeatureModel, t: int) -> None:
    rows = np.array(products(model), dtype=bool).reshape(-1, model.n_features)
    if model.n_features < t or not len(rows):
        return
    places = np.array(list(itertools.combinations(range(model.n_features), t)), dtype=np.int32)
    codes = rows[:, places] @ (1 << np.arange(t))
    occurs = np.zeros((len(places), 1 << t), dtype=bool)
    for row in codes:
        occurs[np.arange(len(places)), row] = True

    found = exclusive_interactions(places, occurs, model.n_features)

    having = np.array([codes[:, row] == code for row, code in found], dtype=int).reshape(len(found), -1)
    assert (having.sum(axis=0) <= 1).all()
    assert (having.sum(axis=1) >= 1).all()


@pytest.mark.parametrize(("sizes", "least"), [((3, 4), 12), ((5, 2, 2), 10)])
def test_alternatives_need_a_product_for_every_pair_of_theirs(sizes: tuple[int, ...], least: int) -> None:
    names, groups = ["Root"], []
    for number, size in enumerate(sizes):
        names.append(f"G{number}")
        parent = len(names) - 1
        groups.append(make_group(0, [parent], "mandatory"))
        children = range(len(names), len(names) + size)
        names += [f"G{number}_{i}" for i in range(size)]
        groups.append(make_group(parent, children, "alternative"))
    found = covering_sample(make_model(names, root=0, groups=groups), 2)
    assert found.lower_bound == least
    assert len(found.products) == least
