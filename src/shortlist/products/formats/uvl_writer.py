"""Feature models and products as UVL."""

import re
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike

from shortlist._words import any_of
from shortlist.errors import BadInputError
from shortlist.files import write_text
from shortlist.products.formats.shared import WrittenModel, distinct_names, free_name, rewritten
from shortlist.products.formulas import Formula, Linear, Literal, Or, formula_text
from shortlist.products.model import FeatureModel, Group, GroupKind, Value
from shortlist.tables.spreadsheets import guarded

_SIMPLE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_MOST_LEVELS = 1_000
"""Most levels of a tree in UVL, where each level indents its lines further."""
_RESERVED = {
    *(
        "features",
        "constraints",
        "imports",
        "include",
        "namespace",
        "or",
        "alternative",
        "optional",
        "mandatory",
    ),
    *("cardinality", "constraint", "true", "false", "sum", "avg", "len", "floor", "ceil", "as"),
    *("Boolean", "Integer", "Real", "String"),
}


def uvl_model(model: FeatureModel) -> WrittenModel:
    """Return a model as UVL; reading it back gives the same products.

    A model without a tree gets an abstract root that is selected in every product, with all features
    optional below it. A linear constraint is written over an attribute of its own, ``sum(weight_1) <= 5``.
    Repeated names get their number (see :attr:`~shortlist.products.model.FeatureModel.labels`). Double
    quotes, dots and line ends, which UVL cannot express in names, become underscores if the names stay
    distinct. Names of attributes are made distinct with further underscores. Raises BadInputError if two
    names become equal, or the tree has more than 1,000 levels.

    >>> from shortlist.products.model import make_group, make_model
    >>> model = make_model(["Shop", "Pop-ups"], root=0, groups=[make_group(0, [1], "optional")])
    >>> print(uvl_model(model).text.expandtabs(2), end="")
    features
      Shop
        optional
          "Pop-ups"
    """
    names = _names(model.labels)
    fit = distinct_names(model.attributes, lambda name: _bare(_quoted(name)))
    attributes = {fit[name]: dict(column) for name, column in model.attributes.items()}
    constraints = [
        formula_text(c.formula, names, linear=lambda node: _weighted(node, attributes))
        for c in model.constraints
    ]
    if model.clauses is not None:
        for clause in model.clauses:
            formula: Formula = Or(tuple(map(Literal, clause)))
            constraints.append(formula_text(formula, names))
    lines = [f"namespace {_quoted(model.name)}", ""] if model.name and "\n" not in model.name else []
    lines += ["features", *_tree_lines(model, names, attributes)]
    if constraints:
        lines += ["constraints", *(f"\t{constraint}" for constraint in constraints)]
    variables = {_bare(name): variable for variable, name in enumerate(names, start=1)}
    if model.root is None:
        variables[free_name("every_product", names)] = 0
    own = len(attributes) - len(model.attributes)
    notes = (
        *rewritten(int(model.root is None), "root", "added, as the format needs a tree"),
        *rewritten(own, "linear comparison", "written over attributes of their own, weight_1 and so on"),
    )
    return WrittenModel("\n".join(lines) + "\n", variables, notes)


def product_text(model: FeatureModel, selected: Sequence[bool]) -> str:
    """Return one product as a UVL model: its features in the tree, all mandatory, without constraints.

    >>> from shortlist.products.model import make_group, make_model
    >>> model = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "or")])
    >>> print(product_text(model, [True, False, True]).expandtabs(2), end="")
    features
      Shop
        mandatory
          Cash
    """
    names = _names(model.labels)
    groups = [
        Group(group.parent, (child,), GroupKind.MANDATORY, 1, 1)
        for group in model.groups
        for child in group.children
        if selected[child]
    ]
    chosen = [i for i in range(model.n_features) if selected[i]]
    root = model.root
    if root is None:
        names = [*names, free_name("every_product", names)]
        root = len(names) - 1
        groups = [Group(root, (i,), GroupKind.MANDATORY, 1, 1) for i in chosen]
    return "\n".join(["features", *_lines_below(root, groups, names, {})]) + "\n"


def _tree_lines(model: FeatureModel, names: list[str], attributes: dict[str, dict[int, Value]]) -> list[str]:
    braces = _braces(model, attributes)
    if model.root is not None:
        return _lines_below(model.root, model.groups, names, braces)
    root = model.n_features
    groups = [Group(root, (i,), GroupKind.OPTIONAL, 0, 1) for i in range(root)]
    return _lines_below(
        root, groups, [*names, free_name("every_product", names)], {**braces, root: " {abstract}"}
    )


def _lines_below(
    root: int, groups: Sequence[Group], names: Sequence[str], braces: dict[int, str]
) -> list[str]:
    """Return the lines of a tree; adjacent mandatory and optional features share a heading."""
    below: dict[int, list[tuple[str, list[int]]]] = {}
    for group in groups:
        headings = below.setdefault(group.parent, [])
        single = group.kind in {GroupKind.MANDATORY, GroupKind.OPTIONAL}
        heading = (
            f"[{group.lower}..{group.upper}]" if group.kind is GroupKind.CARDINALITY else group.kind.value
        )
        if single and headings and headings[-1][0] == heading:
            headings[-1][1].extend(group.children)
        else:
            headings.append((heading, list(group.children)))
    lines = []
    stack: list[tuple[int, int | str]] = [(1, root)]
    while stack:
        depth, entry = stack.pop()
        if depth > 2 * _MOST_LEVELS:
            raise BadInputError(
                f"a model can be written as UVL with up to {_MOST_LEVELS:,} features below each other, got "
                "more. Write it as DIMACS."
            )
        if isinstance(entry, str):
            lines.append("\t" * depth + entry)
            continue
        lines.append("\t" * depth + names[entry] + braces.get(entry, ""))
        for heading, children in reversed(below.get(entry, ())):
            stack.extend((depth + 2, child) for child in reversed(children))
            stack.append((depth + 1, heading))
    return lines


def _braces(model: FeatureModel, attributes: dict[str, dict[int, Value]]) -> dict[int, str]:
    parts: dict[int, list[str]] = {feature: ["abstract"] for feature in model.abstract}
    for name, column in attributes.items():
        for feature, value in column.items():
            parts.setdefault(feature, []).append(f"{_quoted(name)} {_value(value)}")
    return {feature: f" {{{', '.join(texts)}}}" for feature, texts in parts.items()}


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}"
    text = " ".join(value.split())
    return '"' + text.replace('"', "'") + '"' if "'" in text else f"'{text}'"


def _weighted(node: Linear, attributes: dict[str, dict[int, Value]]) -> str:
    """Write a linear comparison over a new attribute with its coefficients."""
    number = 1
    while f"weight_{number}" in attributes:
        number += 1
    name = f"weight_{number}"
    pairs = zip(node.variables, node.coefficients, strict=True)
    attributes[name] = {variable - 1: Decimal(factor) for variable, factor in pairs}
    if not attributes[name]:
        attributes[name] = {0: Decimal(0)}
    bound = str(node.upper) if node.upper >= 0 else f"0 - {-node.upper}"
    return f"sum({name}) <= {bound}"


def _names(labels: Sequence[str]) -> list[str]:
    fit = [_quoted(label) for label in labels]
    if len(set(fit)) < len(fit):
        twice = next(name for name in fit if fit.count(name) > 1)
        raise BadInputError(
            f"`names` must differ in UVL, but two become {twice}. Rename one: UVL has no dots and "
            "double quotes in names."
        )
    return fit


def _quoted(name: str) -> str:
    if _SIMPLE.fullmatch(name) and name not in _RESERVED:
        return name
    return '"' + re.sub(r'["\n\r.]', "_", name) + '"'


def _bare(name: str) -> str:
    """Return a name without the quotes around it."""
    return name[1:-1] if name.startswith('"') else name


CONFIGURATION_ENDINGS = (".uvl", ".csv", ".config")
"""Endings of the files that :func:`write_configuration` writes."""


def write_configuration(path: str | Path, model: FeatureModel, selection: ArrayLike) -> None:
    """Write one configuration in the format of the ending of `path`.

    ``.uvl``: a model of exactly the selected features, all mandatory. ``.csv``: a row ``feature,selected``
    per feature, 1 or 0; a name that a spreadsheet would take for a formula begins with ``'``. ``.config``:
    XML as FeatureIDE writes it, with ``manual="selected"`` or ``"unselected"`` for every feature; FeatureIDE
    derives the implied values (``automatic``) when it opens the file. A ``.csv`` or ``.config`` file can be
    read back as requirements. Raises BadInputError if the ending is unknown or the shape does not fit the
    model.
    """
    chosen = np.asarray(selection).astype(bool)
    if chosen.shape != (model.n_features,):
        raise BadInputError("selection", f"must have shape ({model.n_features},)", chosen.shape)
    ending = Path(path).suffix.lower()
    if ending not in CONFIGURATION_ENDINGS:
        raise BadInputError(
            f"a product must be written to a file ending in {any_of(CONFIGURATION_ENDINGS)}, "
            f"got {str(path)!r}."
        )
    writers = {".uvl": product_text, ".csv": _csv_text, ".config": _config_text}
    write_text(path, writers[ending](model, chosen.tolist()))


def _csv_text(model: FeatureModel, selected: Sequence[bool]) -> str:
    rows = (f"{_cell(guarded(label))},{int(s)}" for label, s in zip(model.labels, selected, strict=True))
    return "\n".join(["feature,selected", *rows]) + "\n"


def _config_text(model: FeatureModel, selected: Sequence[bool]) -> str:
    states = ("selected" if chosen else "unselected" for chosen in selected)
    rows = [
        f'    <feature manual="{state}" name={quoteattr(label)}/>'
        for label, state in zip(model.labels, states, strict=True)
    ]
    head = '<?xml version="1.0" encoding="UTF-8" standalone="no"?>'
    return "\n".join([head, "<configuration>", *rows, "</configuration>"]) + "\n"


def _cell(text: str) -> str:
    if any(sign in text for sign in ',"\n') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text
