"""Product lines as parts of a page: the pick with its parts, the front, and the pick as a tree."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import counted, number_text
from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.products.attributes import Attribute, exact_attribute, model_attributes
from shortlist.products.model import FeatureModel
from shortlist.report.fronts import frequency_chart, front_parts, pick_parts, why_picked
from shortlist.report.page import Branch, Heading, Parts, Table, Text, Tree
from shortlist.results.front import Front
from shortlist.results.picking import Pick

MOST_BRANCHES = 3000
"""Number of features above which a tree shows only the chosen features."""

MOST_PARTS = 6
"""Largest number of features of the pick listed at the beginning of a page."""


def product_parts(
    front: Front,
    model: FeatureModel | None = None,
    attributes: Mapping[str, Attribute] | None = None,
    *,
    pick: Pick | None = None,
) -> Parts:
    """Return the parts of a page about products.

    Raises BadInputError if the features of the front are not those of the model.

    `front`: front of products. `model`: feature model of the products; without it there is no tree.
    `attributes`: numbers of each feature of the pick, added up per branch of the tree. By default these are
    the objectives among the attributes in the model's own file, if the sums equal the values of the point.
    `pick`: point whose product is shown; by default the point at the knee.
    """
    if model is not None and model.labels != front.candidates:
        raise BadInputError("the model must be the one that the front was made from: its features differ.")
    name = front.method or "front"
    finite = bool(len(front)) and bool(np.isfinite(front.values).all())
    chosen = pick or (front.pick("knee") if finite else None)
    parts: list[Any] = []
    picks = []
    if chosen is not None:
        picks = [(name, chosen, why_picked(chosen))]
        given = _own_attributes(model, chosen) if attributes is None and model is not None else attributes
        parts += _picked(front, chosen, given or {})
    parts += front_parts({name: front}, picks=picks)
    if model is not None and chosen is not None and model.root is not None:
        selected = chosen.decision.astype(bool)
        parts += [Heading("The product of the pick"), configuration_tree(model, selected, given or {})]
    elif model is None and len(front):
        parts.append(Text("Without the feature model there is no tree of the product.", note=True))
    chart = frequency_chart(front, noun="feature")
    return [*parts, *([chart] if chart else [])]


def _picked(front: Front, pick: Pick, attributes: Mapping[str, Attribute]) -> Parts:
    selected, first = np.flatnonzero(pick.decision), pick_parts(front, pick)
    columns = {name: one for name, one in attributes.items() if _adds_up(one, pick, name)}
    if not columns:
        names = [front.candidates[i] for i in selected]
        more = f" and {len(names) - MOST_PARTS:,} more" if len(names) > MOST_PARTS else ""
        return [
            *first,
            Text(f"In it: {', '.join(names[:MOST_PARTS]) or 'no feature, as the model allows'}{more}."),
        ]
    values = np.column_stack([one.values[selected] for one in columns.values()])
    counts = values.any(axis=1)
    order = np.flatnonzero(counts)[np.argsort(-values[counts, 0], kind="stable")]
    rest = np.r_[order[MOST_PARTS:], np.flatnonzero(~counts)]
    scales = [one.scale for one in columns.values()]

    def row(name: str, sums: NDArray[np.int64]) -> tuple[str, ...]:
        return (name, *(number_text(n / scale) for n, scale in zip(sums.tolist(), scales, strict=True)))

    rows = [row(front.candidates[selected[i]], values[i]) for i in order[:MOST_PARTS]]
    if len(rest):
        rows.append(row(f"{counted(len(rest), 'more feature')}", values[rest].sum(axis=0)))
    rows.append(row("all together", values.sum(axis=0)))
    heads = (f"{name} ({one.unit})" if one.unit else name for name, one in columns.items())
    return [*first, Table("What each of its features adds", ("feature", *heads), tuple(rows))]


def _own_attributes(model: FeatureModel, pick: Pick) -> dict[str, Attribute]:
    """Return the attributes in the model's file whose sums equal the values of the point.

    Any other attribute came from another file, or has features without a value.
    """
    table = model_attributes(model)
    names = [name for name in pick.values if name in table.columns]
    found = {name: exact_attribute(table, name, model, default=0) for name in names}
    return {name: one for name, one in found.items() if _adds_up(one, pick, name)}


def _adds_up(attribute: Attribute, pick: Pick, name: str) -> bool:
    value = pick.values.get(name)
    return value is not None and int(attribute.values @ pick.decision) == round(value * attribute.scale)


def configuration_tree(model: FeatureModel, selected: Mask, attributes: Mapping[str, Attribute]) -> Tree:
    """Return a configuration as a tree whose branches add up attributes.

    `model`: with a root. `selected`, ``(n_features,)``: mask of the selected features. `attributes`:
    attributes to add up; each branch shows the sum over its own feature and all selected features below.
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
