"""Small product lines with attributes and limits, and what is left of them by trying everything."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from shortlist.products.attributes import Attribute
from shortlist.products.configuration.question import FeatureObjective, parse_limit, parse_objectives
from shortlist.products.model import Constraint, FeatureModel, make_group, make_model
from tests.products import oracles
from tests.products.strategies import models

PHONE = make_model(
    ["Phone", "Screen", "Basic", "HD", "GPS", "Camera"],
    root=0,
    groups=[
        make_group(0, [1], "mandatory"),
        make_group(1, [2, 3], "alternative"),
        make_group(0, [4, 5], "optional"),
    ],
)

COST = {"cost": Attribute("cost", np.array([100, 0, 20, 55, 40, 30]), 10, "EUR")}


@st.composite
def lines(
    draw: st.DrawFn, *, max_features: int = 5
) -> tuple[FeatureModel, tuple[FeatureObjective, ...], list[Constraint]]:
    """A model, two objectives and up to two limits; some have no product."""
    model = draw(models(max_features=max_features))
    n = model.n_features
    attributes = {
        "cost": Attribute("cost", np.array(draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))), 10),
        "worth": Attribute("worth", np.array(draw(st.lists(st.integers(-2, 3), min_size=n, max_size=n)))),
    }
    texts = draw(
        st.lists(st.sampled_from(["cost<=1.7", "worth>=0", "deselected>=1", "cost>0.2"]), max_size=2)
    )
    goals = parse_objectives(
        draw(st.sampled_from(["min cost, max worth", "min deselected"])), model, attributes
    )
    return model, goals, [parse_limit(text, model, attributes) for text in texts]


def left(
    model: FeatureModel, limits: Sequence[Constraint], literals: Sequence[int]
) -> list[tuple[bool, ...]]:
    """List the products within the limits in which literals hold."""
    return [
        selected
        for selected in oracles.products(model)
        if all(oracles.truth(limit.formula, selected) for limit in limits)
        and all(selected[abs(v) - 1] == (v > 0) for v in literals)
    ]


def shared(products: Sequence[tuple[bool, ...]]) -> tuple[int, ...]:
    """Return the literals that hold in all of them, by feature."""
    return tuple(
        i if column[0] else -i
        for i, column in enumerate(zip(*products, strict=True), start=1)
        if len(set(column)) == 1
    )
