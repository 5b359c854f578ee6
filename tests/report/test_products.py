"""Products as trees: sums of branches are those of the features in them."""

from pathlib import Path

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.products import chosen_attributes, configure, model_attributes, read_model
from shortlist.products.attributes import Attribute
from shortlist.products.model import make_group, make_model
from shortlist.report.page import Branch, Explorer, Heading, Table, Text, Tree
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


def test_a_page_begins_with_the_pick_what_its_features_cost_and_the_picture() -> None:
    answer = configure(MODEL, "min cost, max selected", attributes={"cost": COST})
    largest = answer.front.point(int(answer.front.values[:, 1].argmax()))
    parts = product_parts(answer.front, MODEL, {"cost": COST}, pick=largest)
    kinds = [type(part) for part in parts]
    assert kinds[:5] == [Heading, Text, Text, Text, Table]
    assert (parts[0], kinds.index(Explorer) < kinds.index(Tree)) == (Heading("What to do"), True)
    table = parts[4]
    assert isinstance(table, Table)
    assert table.columns == ("feature", "cost (EUR)")
    assert [row[1] for row in table.rows] == ["4.2", "3", "2", "0.1", "0", "9.3"]
    assert [row[0] for row in table.rows][:4] == ["gps", "screen", "camera", "extras"]


def test_many_features_of_the_pick_are_told_together() -> None:
    model = make_model([f"f{i}" for i in range(20)])
    cost = Attribute("cost", np.arange(20, dtype=np.int64), scale=1)
    front = configure(model, "max selected, min cost", attributes={"cost": cost}).front
    pick = front.point(int(front.values[:, 0].argmax()))
    (table,) = [
        part
        for part in product_parts(front, model, {"cost": cost}, pick=pick)
        if isinstance(part, Table) and part.columns[0] == "feature" and "cost" in part.columns
    ]
    assert [row[1] for row in table.rows] == [*(str(n) for n in range(19, 13, -1)), "91", "190"]
    assert [row[0] for row in table.rows][-2:] == ["14 more features", "all together"]
    without = [part.text for part in product_parts(front, pick=pick) if isinstance(part, Text)]
    assert "In it: f0, f1, f2, f3, f4, f5 and 14 more." in without


def test_attributes_of_the_models_own_file_are_added_up_where_they_are_those_of_the_front(
    tmp_path: Path,
) -> None:
    lines = "features\n  Phone\n    optional\n      Camera {cost 18, grams 3}\n      Stylus {cost 9}\n"
    (tmp_path / "phone.uvl").write_text(lines)
    line = read_model(tmp_path / "phone.uvl")
    names_ = ("cost", "grams")
    own = chosen_attributes(names_, [model_attributes(line)], line, defaults=dict.fromkeys(names_, 0))
    answer = configure(line, "max selected, min cost, min grams", attributes=own)
    pick = answer.front.point(len(answer.front) - 1)
    (tree,) = [part for part in product_parts(answer.front, line, pick=pick) if isinstance(part, Tree)]
    known = [f"{name} {pick.values[name]:g}" for name in names_ if pick.values[name]]
    assert all(word in tree.branches[0].text for word in known)
    dearer = {**own, "cost": Attribute("cost", 2 * own["cost"].values, scale=1)}
    other = configure(line, "max selected, min cost", attributes=dearer).front
    (tree,) = [part for part in product_parts(other, line, pick=other.point(0)) if isinstance(part, Tree)]
    assert other.point(0).values["cost"] > 0
    assert "cost" not in tree.branches[0].text
