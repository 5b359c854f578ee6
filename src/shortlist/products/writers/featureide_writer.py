"""Feature models as FeatureIDE's XML."""

from decimal import Decimal
from xml.sax.saxutils import escape, quoteattr

from shortlist.products.feature_models.formulas import (
    And,
    Formula,
    Iff,
    Implies,
    Linear,
    Literal,
    Not,
    Or,
    children,
)
from shortlist.products.feature_models.model import FeatureModel, Group, GroupKind, Value
from shortlist.products.writers.expressed import expressed
from shortlist.products.writers.written_model import WrittenModel, distinct_names, xml_names, xml_text

_TAGS = {And: "conj", Or: "disj", Implies: "imp", Iff: "eq", Not: "not"}
_SINGLE = {GroupKind.MANDATORY, GroupKind.OPTIONAL}
_CHOICES = {GroupKind.OR: "or", GroupKind.ALTERNATIVE: "alt"}


def featureide_model(model: FeatureModel) -> WrittenModel:
    """Return a model as FeatureIDE's XML.

    A feature has children of one kind there: each optional or mandatory, or an or-group, or an alternative.
    Other groups, and linear constraints, become clauses (:mod:`shortlist.products.writers.expressed`).
    Attributes are kept; names lose spaces at their ends.

    Raises
    ------
    BadInputError
        If names cannot be told apart in XML, or a linear constraint needs too many clauses.

    Examples
    --------
    >>> from shortlist.products.feature_models.model import make_group, make_model
    >>> shop = make_model(["Shop", "Card", "Cash"], root=0, groups=[make_group(0, [1, 2], "or")])
    >>> print(featureide_model(shop).text.expandtabs(1), end="")
    <?xml version="1.0" encoding="UTF-8" standalone="no"?>
    <featureModel>
     <struct>
      <or mandatory="true" name="Shop">
       <feature name="Card"/>
       <feature name="Cash"/>
      </or>
     </struct>
     <constraints/>
    </featureModel>
    """
    shown = expressed(model, holds_group=_holds_group, holds_formula=_holds_formula)
    names = xml_names(shown.model.names)
    tag = "extendedFeatureModel" if model.attributes else "featureModel"
    lines = ['<?xml version="1.0" encoding="UTF-8" standalone="no"?>', f"<{tag}>", "\t<struct>"]
    lines += [*_tree(shown.model, names), "\t</struct>"]
    rules = [line for c in shown.model.constraints for line in _rule(c.formula, names)]
    lines += ["\t<constraints>", *rules, "\t</constraints>"] if rules else ["\t<constraints/>"]
    text = "\n".join([*lines, f"</{tag}>"]) + "\n"
    return WrittenModel(text, dict(zip(names, shown.variables, strict=True)), shown.notes)


def _holds_group(group: Group, n_siblings: int) -> bool:
    return group.kind in _SINGLE or (group.kind in _CHOICES and n_siblings == 1)


def _holds_formula(formula: Formula) -> bool:
    stack = [formula]
    while stack:
        node = stack.pop()
        if isinstance(node, Linear):
            return False
        stack.extend(children(node))
    return True


def _tree(model: FeatureModel, names: list[str]) -> list[str]:
    below: dict[int, list[int]] = {}
    tags: dict[int, str] = {}
    mandatory = {model.root}
    for group in model.groups:
        below.setdefault(group.parent, []).extend(group.children)
        tags[group.parent] = _CHOICES.get(group.kind, "and")
        if group.kind is GroupKind.MANDATORY:
            mandatory.update(group.children)
    told: dict[int, list[tuple[str, Value]]] = {}
    fit = distinct_names(model.attributes, xml_text)
    for name, column in model.attributes.items():
        for feature, value in column.items():
            told.setdefault(feature, []).append((fit[name], value))
    lines: list[str] = []
    assert model.root is not None, "an expressed model has a root"
    stack: list[tuple[int, int | str]] = [(2, model.root)]
    while stack:
        depth, entry = stack.pop()
        indent = "\t" * depth
        if isinstance(entry, str):
            lines.append(f"{indent}</{entry}>")
            continue
        tag = tags.get(entry, "feature")
        marks = ' abstract="true"' if entry in model.abstract else ""
        marks += ' mandatory="true"' if entry in mandatory else ""
        attributes = [_attribute(*pair) for pair in told.get(entry, ())]
        inside = entry in below or attributes
        lines.append(f"{indent}<{tag}{marks} name={quoteattr(names[entry])}{'' if inside else '/'}>")
        if inside:
            lines += [f"{indent}\t{text}" for text in attributes]
            stack.append((depth, tag))
            stack.extend((depth + 1, child) for child in reversed(below.get(entry, [])))
    return lines


def _attribute(name: str, value: Value) -> str:
    kind, text = "string", str(value)
    if isinstance(value, bool):
        kind, text = "boolean", text.lower()
    elif isinstance(value, Decimal):
        kind, text = ("long" if value == value.to_integral_value() else "double"), f"{value:f}"
    parts = {"name": name, "type": kind, "unit": "", "value": text}
    return f"<attribute {' '.join(f'{key}={quoteattr(xml_text(part))}' for key, part in parts.items())}/>"


def _rule(formula: Formula, names: list[str]) -> list[str]:
    """Return the lines of a constraint; every walk is iterative, as formulas may be deep."""
    lines = ["\t\t<rule>"]
    stack: list[tuple[int, Formula | str]] = [(3, formula)]
    while stack:
        depth, node = stack.pop()
        indent = "\t" * depth
        if isinstance(node, str):
            lines.append(f"{indent}{node}")
        elif isinstance(node, Literal):
            variable = f"<var>{escape(names[abs(node.value) - 1])}</var>"
            lines.append(indent + (variable if node.value > 0 else f"<not>{variable}</not>"))
        elif isinstance(node, And | Or) and not node.parts:
            both = f"<var>{escape(names[0])}</var><not><var>{escape(names[0])}</var></not>"
            tag = "disj" if isinstance(node, And) else "conj"  # one of them holds always, and both never
            lines.append(f"{indent}<{tag}>{both}</{tag}>")
        else:
            tag = _TAGS[type(node)]
            lines.append(f"{indent}<{tag}>")
            stack.append((depth, f"</{tag}>"))
            stack.extend((depth + 1, part) for part in reversed(children(node)))
    return [*lines, "\t\t</rule>"]
