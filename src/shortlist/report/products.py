"""Product lines as parts of a page: the front, a configuration as a tree, and what its branches add up to."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.products.attributes.attribute import Attribute, exact_attribute, model_attributes
from shortlist.products.feature_models.model import FeatureModel
from shortlist.report.fronts import RULES, frequency_chart, front_parts
from shortlist.report.parts import Branch, Heading, Parts, Text, Tree
from shortlist.results.front import Front
from shortlist.results.picking import Pick

MOST_BRANCHES = 3000
"""A tree with more features shows those only that are chosen."""


def product_parts(
    front: Front,
    model: FeatureModel | None = None,
    attributes: Mapping[str, Attribute] | None = None,
    *,
    pick: Pick | None = None,
) -> Parts:
    """Return the parts of a page that show products.

    Parameters
    ----------
    front : Front
        Of products.
    model : FeatureModel, optional
        What the products are configurations of; without it there is no tree.
    attributes : mapping of str to Attribute, optional
        What is added up per branch of the tree. By default the objectives that are attributes in the
        model's own file, where they add up to the values of the point.
    pick : Pick, optional
        The point whose product is the tree; by default the one at the knee.

    Raises
    ------
    BadInputError
        If the features of the front are not those of the model.
    """
    if model is not None and model.labels != front.candidates:
        raise BadInputError("the model must be the one that the front was made from: its features differ.")
    name = front.method or "front"
    finite = bool(len(front)) and bool(np.isfinite(front.values).all())
    chosen = pick or (front.pick("knee") if finite else None)
    why = "" if chosen is None else RULES.get(chosen.rule, f"It was chosen by {chosen.rule}.")
    parts: list[Any] = [*front_parts({name: front}, picks=[(name, chosen, why)] if chosen else [])]
    if model is not None and chosen is not None and model.root is not None:
        selected = chosen.decision.astype(bool)
        words = ", ".join(f"{name} {value:g}" for name, value in chosen.values.items())
        parts += [
            Heading("The product of the pick"),
            Text(f"Point {chosen.index}, by {chosen.rule}: {words}."),
            configuration_tree(
                model, selected, _own_attributes(model, chosen) if attributes is None else attributes
            ),
        ]
    elif model is None and len(front):
        parts.append(Text("Without the feature model there is no tree of the product.", note=True))
    chart = frequency_chart(front, noun="feature")
    return [*parts, *([chart] if chart else [])]


def _own_attributes(model: FeatureModel, pick: Pick) -> dict[str, Attribute]:
    """Return the attributes of the model's file that add up to what the point says of them.

    Others were given apart from the model, or have features without a value, and are not known here.
    """
    found = {}
    table = model_attributes(model)
    for name in set(table.columns) & set(pick.values):
        attribute = exact_attribute(table, name, model, default=0)
        if int(attribute.values @ pick.decision) == round(pick.values[name] * attribute.scale):
            found[name] = attribute
    return {name: found[name] for name in pick.values if name in found}


def configuration_tree(model: FeatureModel, selected: Mask, attributes: Mapping[str, Attribute]) -> Tree:
    """Return a configuration as a tree whose branches add up attributes.

    Parameters
    ----------
    model : FeatureModel
        With a root.
    selected : ndarray of bool, shape (n_features,)
        What is in.
    attributes : mapping of str to Attribute
        Each branch shows the sum over its own feature and all below it that are in.
    """
    assert model.root is not None, "a model without a tree has no branches"
    below: dict[int, list[int]] = {}
    for feature, parent in enumerate(model.parents):
        below.setdefault(parent, []).append(feature)
    order, stack = [], [model.root]
    while stack:
        order.append(stack.pop())
        stack.extend(below.get(order[-1], ()))
    sums = {name: np.where(selected, one.values, 0) for name, one in attributes.items()}
    counts = selected.astype(np.int64)
    branches: dict[int, Branch] = {}
    only_chosen = model.n_features > MOST_BRANCHES
    for feature in reversed(order):
        children = below.get(feature, ())
        for child in children:
            counts[feature] += counts[child]
            for column in sums.values():
                column[feature] += column[child]
        shown = [branches[child] for child in children if selected[child] or not only_chosen]
        text = model.labels[feature]
        if selected[feature]:
            facts = [f"{counts[feature]:,} features"] if children else []
            facts += [
                f"{name} {sums[name][feature] / one.scale:g}{f' {one.unit}' if one.unit else ''}"
                for name, one in attributes.items()
                if sums[name][feature]
            ]
            text += f" ({', '.join(facts)})" if facts else ""
        branches[feature] = Branch(text, bool(selected[feature]), tuple(shown) if selected[feature] else ())
    title = "The product as a tree" + (", chosen features only" if only_chosen else "")
    return Tree(title, (branches[model.root],))
