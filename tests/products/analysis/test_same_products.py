"""Whether two models have the same products, against lists of them."""

from hypothesis import given

from shortlist.products.analysis.same_products import first_difference
from shortlist.products.feature_models.formulas import Linear
from shortlist.products.feature_models.model import FeatureModel, make_group, make_model
from tests.examples import examples
from tests.products import oracles, strategies


@given(model=strategies.models(max_features=4), other=strategies.models(max_features=4))
@examples(60)
def test_other_products_are_never_taken_for_the_same(model: FeatureModel, other: FeatureModel) -> None:
    if model.n_features != other.n_features:
        return
    same = oracles.products(model) == oracles.products(other)
    found = first_difference(model, other, range(1, model.n_features + 1))
    assert (found is None) == same
    if found is not None:
        row = tuple(found.tolist())
        assert oracles.is_product(model, row) != oracles.is_product(other, row)


def test_a_new_root_must_be_in_every_product_and_auxiliary_values_be_one() -> None:
    pair = make_model(["A", "B"], constraints=[Linear((1, 1), (1, 2), 1)])
    below = [make_group(2, [0], "optional"), make_group(2, [1], "optional")]
    rooted = make_model(["A", "B", "Root"], root=2, groups=below, constraints=[Linear((1, 1), (1, 2), 1)])
    assert first_difference(pair, rooted, [1, 2, 0]) is None
    free = make_model(["A", "B", "Root"], constraints=[Linear((1, 1), (1, 2), 1)])
    assert first_difference(pair, free, [1, 2, 0]) is not None, "each product would be there twice"
