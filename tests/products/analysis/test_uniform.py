"""Uniform products."""

import collections

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import chisquare

from shortlist.errors import BadInputError
from shortlist.products.analysis.uniform import uniform_sample
from shortlist.products.feature_models.model import FeatureModel, make_group, make_model
from tests.examples import examples
from tests.products.oracles import products
from tests.products.strategies import models as feature_models


@given(model=feature_models())
@examples(40)
def test_what_is_drawn_is_a_product(model: FeatureModel) -> None:
    every = set(products(model))
    if every:
        assert {tuple(row) for row in uniform_sample(model, 8).tolist()} <= every
    else:
        with pytest.raises(BadInputError, match="must have a product"):
            uniform_sample(model, 8)


def test_each_product_is_drawn_as_often() -> None:
    model = make_model(
        list("ABCDE"), root=0, groups=[make_group(0, [1, 2], "or"), make_group(1, [3, 4], "optional")]
    )
    drawn = collections.Counter(
        map(tuple, uniform_sample(model, 9000, rng=np.random.default_rng(1)).tolist())
    )
    assert len(drawn) == 9
    assert chisquare(list(drawn.values())).pvalue > 1e-4


def test_a_diagram_that_does_not_fit_is_refused() -> None:
    names = ["root", *(f"f{i}" for i in range(12))]
    model = make_model(names, root=0, groups=[make_group(0, range(1, 13), "cardinality", 6, 6)])
    with pytest.raises(BadInputError, match="did not fit into 16 nodes"):
        uniform_sample(model, 1, max_nodes=16)
