"""Products as trees: sums of branches are those of the features in them."""

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.products import configure
from shortlist.products.attributes.attribute import Attribute
from shortlist.products.feature_models.model import make_group, make_model
from shortlist.report.parts import Branch, Tree
from shortlist.report.products import configuration_tree, product_parts


def names(branch: Branch) -> list[str]:
    return [branch.text, *(text for one in branch.below for text in names(one))]


MODEL = make_model(
    ["phone", "screen", "extras", "gps", "camera"],
    root=0,
    groups=[
        make_group(0, [1], "mandatory"),
        make_group(0, [2], "optional"),
        make_group(2, [3, 4], "optional"),
    ],
)
COST = Attribute("cost", np.array([0, 30, 1, 42, 20]), scale=10, unit="EUR")


def test_branches_add_up_what_is_in() -> None:
    tree = configuration_tree(MODEL, np.array([1, 1, 1, 1, 0], dtype=bool), {"cost": COST})
    assert names(tree.branches[0]) == [
        "phone (4 features, cost 7.3 EUR)", "screen (cost 3 EUR)", "extras (2 features, cost 4.3 EUR)",
        "gps (cost 4.2 EUR)", "camera",
    ]  # fmt: skip
    assert [one.chosen for one in tree.branches[0].below[1].below] == [True, False]


def test_a_page_of_products_has_the_tree_of_the_pick_and_refuses_another_model() -> None:
    answer = configure(MODEL, "min cost, max selected", attributes={"cost": COST})
    parts = product_parts(answer.front, MODEL, {"cost": COST})
    (tree,) = [part for part in parts if isinstance(part, Tree)]
    pick = answer.front.pick("knee")
    assert tree.branches[0].text.endswith(f"cost {pick.values['cost']:g} EUR)")
    with pytest.raises(BadInputError, match="its features differ"):
        product_parts(answer.front, make_model(["a"]))
