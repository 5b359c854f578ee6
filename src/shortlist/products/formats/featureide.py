"""FeatureIDE's XML (Thüm, Kästner, Benduhn, Meinicke, Saake & Leich 2014)."""

from decimal import Decimal
from itertools import combinations
from math import comb
from xml.sax.saxutils import escape, quoteattr

from shortlist.errors import BadInputError
from shortlist.exact import as_decimal
from shortlist.files import Source
from shortlist.products.formats.shared import (
    Element,
    WrittenModel,
    distinct_names,
    expressed,
    parse_xml,
    xml_names,
    xml_text,
)
from shortlist.products.formulas import And, Formula, Iff, Implies, Linear, Literal, Not, Or, children
from shortlist.products.model import (
    Constraint,
    FeatureModel,
    Group,
    GroupKind,
    Value,
    make_group,
    make_model,
    with_details,
)

_KINDS = {"and": "and", "or": "or", "alt": "alternative", "feature": "and"}
_BESIDE = {"description", "graphics", "property", "attribute", "tags", "imports"}
_CONNECTIVES = {"var", "not", "conj", "disj", "imp", "eq", "atmost1"}
_MOST_PAIRS = 100_000
"""Most pairs of parts of an ``atmost1``, which becomes one formula per pair."""


def read_featureide(source: Source) -> FeatureModel:
    """Read a FeatureIDE model: tree, abstract features, attributes and rules.

    An empty ``conj`` is true and an empty ``disj`` false; ``atmost1`` allows at most one of its parts.
    Raises BadFileError if the file is not a well-formed FeatureIDE model, defines a feature twice or names
    an unknown one.
    """
    root = parse_xml(source)
    struct = root.child("struct")
    if struct is None:
        raise source.error("the model must have a <struct> with its features, got none.", line=root.line)
    tops = [child for child in struct.children if child.tag in _KINDS]
    if len(tops) != 1:
        raise source.error(f"<struct> must hold one root feature, got {len(tops)}.", line=struct.line)
    names: list[str] = []
    abstract: list[int] = []
    groups: list[Group] = []
    attributes: dict[str, dict[int, Value]] = {}
    numbers: dict[str, int] = {}
    lines: dict[str, int] = {}
    stack = [(tops[0], -1)]
    members: dict[int, list[tuple[Element, int]]] = {}
    elements: list[Element] = []
    while stack:
        element, parent = stack.pop()
        name = _name(source, element, lines)
        number = numbers[name] = len(names)
        names.append(name)
        lines[name] = element.line
        elements.append(element)
        members.setdefault(parent, []).append((element, number))
        if element.attributes.get("abstract", "").lower() == "true":
            abstract.append(number)
        _take_attributes(element, number, attributes)
        stack.extend((child, number) for child in reversed(_features(source, element)))
    for parent, element in enumerate(elements):
        groups += _groups(parent, element, members.get(parent, []))
    constraints = root.child("constraints")
    try:
        model = make_model(
            names,
            root=0,
            groups=groups,
            constraints=_rules(source, constraints, numbers) if constraints else [],
            name=names[0],
        )
    except BadInputError as error:
        raise source.located(error) from None
    placed = [lines[name] for name in names]
    return with_details(model, abstract=abstract, attributes=attributes, lines=placed)


def _name(source: Source, element: Element, lines: dict[str, int]) -> str:
    name = element.attributes.get("name", "")
    if not name:
        raise element.wrong(source, "a feature must have a name, got none.")
    if name in lines:
        raise element.wrong(
            source, f"feature {name!r} is defined twice, first in line {lines[name]}. Rename one."
        )
    return name


def _features(source: Source, element: Element) -> list[Element]:
    below = []
    for child in element.children:
        if child.tag in _KINDS:
            below.append(child)
        elif child.tag not in _BESIDE:
            raise child.wrong(
                source, f"a feature must be <and>, <or>, <alt> or <feature>, got <{child.tag}>."
            )
    return below


def _groups(parent: int, element: Element, members: list[tuple[Element, int]]) -> list[Group]:
    if not members:
        return []
    kind = _KINDS[element.tag]
    if kind != "and":
        return [make_group(parent, [number for _, number in members], kind)]
    return [
        make_group(
            parent,
            [number],
            "mandatory" if child.attributes.get("mandatory", "").lower() == "true" else "optional",
        )
        for child, number in members
    ]


def _take_attributes(element: Element, number: int, attributes: dict[str, dict[int, Value]]) -> None:
    for child in element.children:
        if child.tag == "attribute" and "name" in child.attributes and "value" in child.attributes:
            text = child.attributes["value"]
            if not text.strip():
                continue  # an attribute of the feature without a value
            decimal = as_decimal(text)
            value: Value = text if decimal is None else decimal
            if text.lower() in {"true", "false"}:
                value = text.lower() == "true"
            attributes.setdefault(child.attributes["name"], {})[number] = value


def _rules(source: Source, element: Element, numbers: dict[str, int]) -> list[Constraint]:
    constraints = []
    for rule in element.children:
        if rule.tag != "rule":
            continue
        parts = [child for child in rule.children if child.tag in _CONNECTIVES]
        other = [c for c in rule.children if c.tag not in _CONNECTIVES | {"description", "tags", "graphics"}]
        if other:
            raise _unknown(source, other[0])
        if len(parts) != 1:
            raise source.error(f"a rule must hold one formula, got {len(parts)}.", line=rule.line)
        constraints.append(Constraint(_formula(source, parts[0], numbers), line=rule.line))
    return constraints


def _formula(source: Source, top: Element, numbers: dict[str, int]) -> Formula:
    """Return the formula of an element, parts first, without recursion."""
    order, stack = [], [top]
    while stack:
        element = stack.pop()
        order.append(element)
        if element.tag not in _CONNECTIVES:
            raise _unknown(source, element)
        stack.extend(element.children)
    values: list[Formula] = []
    for element in reversed(order):
        first = len(values) - len(element.children)
        parts = values[first:]
        del values[first:]
        values.append(_node(source, element, parts, numbers))
    return values[0]


def _node(  # noqa: PLR0911  # one return per kind of node
    source: Source, element: Element, parts: list[Formula], numbers: dict[str, int]
) -> Formula:
    match element.tag, parts:
        case "var", []:
            if element.text not in numbers:
                raise element.wrong(
                    source, f"the rule names {element.text!r}, which is no feature. Correct it."
                )
            return Literal(numbers[element.text] + 1)
        case "not", [Literal(value)]:
            return Literal(-value)
        case "not", [part]:
            return Not(part)
        case "conj", _:
            return And(tuple(parts))
        case "disj", _:
            return Or(tuple(parts))
        case "imp", [left, right]:
            return Implies(left, right)
        case "eq", [left, right]:
            return Iff(left, right)
        case "atmost1", _:
            return _at_most_one(source, element, parts)
    raise element.wrong(
        source, f"<{element.tag}> cannot have {len(parts)} parts. Give not one, imp and eq two."
    )


def _at_most_one(source: Source, element: Element, parts: list[Formula]) -> Formula:
    if comb(len(parts), 2) > _MOST_PAIRS:
        raise element.wrong(
            source,
            f"<atmost1> may have parts for {_MOST_PAIRS:,} pairs, got {len(parts)} parts. Make the features "
            "an alternative group.",
        )
    return And(tuple(Not(And(pair)) for pair in combinations(parts, 2)))


def _unknown(source: Source, element: Element) -> BadInputError:
    known = ", ".join(sorted(_CONNECTIVES))
    return element.wrong(source, f"a rule must be made of {known}, got <{element.tag}>.")


_TAGS = {And: "conj", Or: "disj", Implies: "imp", Iff: "eq", Not: "not"}
_SINGLE = {GroupKind.MANDATORY, GroupKind.OPTIONAL}
_CHOICES = {GroupKind.OR: "or", GroupKind.ALTERNATIVE: "alt"}


def featureide_model(model: FeatureModel) -> WrittenModel:
    """Return a model as FeatureIDE's XML.

    In FeatureIDE the children of a feature are of one kind: optional features, mandatory features, an
    or-group, or an alternative. Other groups, and linear constraints, become clauses
    (:mod:`shortlist.products.formats.shared`). Attributes are kept; names lose spaces at their ends. Raises
    BadInputError if names cannot be distinguished in XML, or a linear constraint needs too many clauses.

    >>> from shortlist.products.model import make_group, make_model
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
    """Return the lines of a constraint; the traversal is iterative, as formulas may be deep."""
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
            tag = "disj" if isinstance(node, And) else "conj"  # one holds always, both never
            lines.append(f"{indent}<{tag}>{both}</{tag}>")
        else:
            tag = _TAGS[type(node)]
            lines.append(f"{indent}<{tag}>")
            stack.append((depth, f"</{tag}>"))
            stack.extend((depth + 1, part) for part in reversed(children(node)))
    return [*lines, "\t\t</rule>"]
