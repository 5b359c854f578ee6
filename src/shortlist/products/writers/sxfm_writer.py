"""Feature models as SXFM, the format of SPLOT."""

import re
from xml.sax.saxutils import escape, quoteattr

from shortlist.products.feature_models.formulas import Formula, Literal, Or
from shortlist.products.feature_models.model import FeatureModel, Group, GroupKind
from shortlist.products.writers.expressed import expressed, is_clause
from shortlist.products.writers.written_model import WrittenModel, xml_names, xml_text

_SIMPLE = re.compile(r"(?!or$)[A-Za-z0-9_.\-]+", re.IGNORECASE)


def sxfm_model(model: FeatureModel) -> WrittenModel:
    """Return a model as SXFM: a tree with groups of any bounds, and clauses.

    Formulas become clauses (:mod:`shortlist.products.writers.expressed`). The format has no attributes and
    no abstract features. Identifiers are the names where all of these are plain words, and numbers otherwise.

    Raises
    ------
    BadInputError
        If names cannot be told apart in XML, or a linear constraint needs too many clauses.

    Examples
    --------
    >>> from shortlist.products.feature_models.formulas import Implies
    >>> from shortlist.products.feature_models.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "or")],
    ...     constraints=[Implies(Literal(2), Literal(3))])
    >>> print(sxfm_model(shop).text.expandtabs(1), end="")
    <feature_model name="">
    <feature_tree>
    :r Shop (Shop)
     :g [1,*]
      : Card (Card)
      : Cash (Cash)
    </feature_tree>
    <constraints>
    c1: ~Card or Cash
    </constraints>
    </feature_model>
    """
    shown = expressed(model, holds_group=lambda _group, _n: True, holds_formula=is_clause)
    names = xml_names(shown.model.names)
    plain = all(_SIMPLE.fullmatch(name) for name in names)
    ids = names if plain else [f"f{i}" for i in range(1, len(names) + 1)]
    lines = [f"<feature_model name={quoteattr(xml_text(model.name))}>", "<feature_tree>"]
    lines += _tree(shown.model, [f"{escape(name)} ({i})" for name, i in zip(names, ids, strict=True)])
    lines += ["</feature_tree>", "<constraints>"]
    clauses = [_clause(constraint.formula, ids) for constraint in shown.model.constraints]
    lines += [f"c{number}: {clause}" for number, clause in enumerate(clauses, start=1)]
    text = "\n".join([*lines, "</constraints>", "</feature_model>"]) + "\n"
    return WrittenModel(text, dict(zip(ids, shown.variables, strict=True)), shown.notes)


def _tree(model: FeatureModel, features: list[str]) -> list[str]:
    below: dict[int, list[Group]] = {}
    for group in model.groups:
        below.setdefault(group.parent, []).append(group)
    lines = []
    stack: list[tuple[int, str, int | Group]] = [(0, "r", model.root or 0)]
    while stack:
        depth, mark, entry = stack.pop()
        indent = "\t" * depth
        if isinstance(entry, Group):
            lines.append(f"{indent}:g {_bounds(entry)}")
            stack.extend((depth + 1, "", child) for child in reversed(entry.children))
            continue
        lines.append(f"{indent}:{mark} {features[entry]}")
        for group in reversed(below.get(entry, [])):
            if group.kind in {GroupKind.MANDATORY, GroupKind.OPTIONAL}:
                kind = "m" if group.kind is GroupKind.MANDATORY else "o"
                stack.extend((depth + 1, kind, child) for child in reversed(group.children))
            else:
                stack.append((depth + 1, "g", group))
    return lines


def _bounds(group: Group) -> str:
    every = group.upper == len(group.children)
    return f"[{group.lower},{'*' if every and group.kind is GroupKind.OR else group.upper}]"


def _clause(formula: Formula, ids: list[str]) -> str:
    parts = formula.parts if isinstance(formula, Or) else (formula,)
    values = [part.value for part in parts if isinstance(part, Literal)]
    return " or ".join(("" if value > 0 else "~") + ids[abs(value) - 1] for value in values)
