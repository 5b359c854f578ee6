"""SXFM, the format of SPLOT: XML around a text tree and clauses (Mendonca, Branco & Cowan 2009)."""

import re
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from shortlist.errors import BadInputError
from shortlist.files import Source
from shortlist.products.formats.shared import (
    Element,
    WrittenModel,
    expressed,
    is_clause,
    parse_xml,
    xml_names,
    xml_text,
)
from shortlist.products.formulas import Formula, Literal, Or
from shortlist.products.model import (
    Constraint,
    FeatureModel,
    Group,
    GroupKind,
    make_group,
    make_model,
    with_details,
)

_LINE = re.compile(r"(\s*+):([rmog]?)(?:\s(.*))?", re.DOTALL)
_BOUNDS = re.compile(r"\[\s*+(\d++)\s*+,\s*+(\d++|\*)\s*+\]$")
_BARE_AMPERSAND = re.compile(r"&(?!(?:#\d+|#x[0-9a-fA-F]+|[A-Za-z_][\w.-]*);)")
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


@dataclass(frozen=True)
class _Element:
    line: int
    indent: str
    kind: str
    name: str
    identifier: str
    bounds: tuple[int, int | None]


def read_sxfm(source: Source) -> FeatureModel:
    """Read an SXFM model.

    Files of SPLOT's own editor may have two faults, which are corrected and noted. Bare ampersands are
    escaped, and control characters, which XML forbids, are removed. A feature that is repeated under one
    parent, with the same identifier and the same features below it, counts once. Raises BadFileError if the
    file is not a well-formed SXFM model, defines an identifier twice or uses an unknown one.
    """
    notes = []
    text = _FORBIDDEN.sub("", _BARE_AMPERSAND.sub("&amp;", source.text))
    if text != source.text:
        notes.append("bare ampersands or control characters were mended")
    root = parse_xml(Source(source.path, text))
    tree = root.child("feature_tree")
    if tree is None:
        raise source.error("the model must have a <feature_tree>, got none.", line=root.line)
    nodes, repeated = _without_repetitions(source, _tree_lines(source, tree))
    notes += [f"{node.name or node.identifier} stood twice (line {node.line})" for node in repeated]
    names, ids, groups, numbers = _built(source, nodes)
    constraints = root.child("constraints")
    try:
        model = make_model(
            names,
            ids=ids,
            root=0,
            groups=groups,
            constraints=_constraints(source, constraints, numbers) if constraints else [],
            name=root.attributes.get("name", ""),
        )
    except BadInputError as error:
        raise source.located(error) from None
    return with_details(model, notes=notes)


def _tree_lines(source: Source, tree: Element) -> list[_Element]:
    nodes = []
    for line, text in tree.numbered_lines():
        if not text.strip():
            continue
        found = _LINE.fullmatch(text.rstrip())
        if found is None:
            raise source.error(
                f"a line of the tree must start with :r, :m, :o, :g or :, got {text.strip()!r}.",
                line=line,
                column=len(text) - len(text.lstrip()) + 1,
            )
        indent, kind, rest = found[1], found[2], (found[3] or "").strip()
        bounds: tuple[int, int | None] = (0, 0)
        if kind == "g":
            cut = _BOUNDS.search(rest)
            if cut is None:
                raise source.error(f"a group must end in bounds like [1,*], got {text.strip()!r}.", line=line)
            upper = None if cut[2] == "*" else source.whole_number(cut[2], "a group's bound", line)
            bounds = source.whole_number(cut[1], "a group's bound", line), upper
            rest = rest[: cut.start()].rstrip()
        name, identifier = rest, ""
        if rest.endswith(")") and "(" in rest:
            name, _, identifier = rest[:-1].rpartition("(")
        name, identifier = name.strip(), identifier.strip()
        if kind != "g" and not (name or identifier):
            raise source.error("a feature must have a name or an identifier, got none.", line=line)
        nodes.append(_Element(line, indent, kind, name, identifier, bounds))
    if not nodes:
        raise source.error("the feature tree must hold features, got none.", line=tree.line)
    return nodes


def _without_repetitions(source: Source, nodes: list[_Element]) -> tuple[list[_Element], list[_Element]]:
    """Remove subtrees that repeat an earlier one under the same parent.

    Any other repetition of a feature is an error.
    """
    kept: list[_Element] = []
    left_out: list[_Element] = []
    first: dict[str, tuple[int, int]] = {}  # identifier -> index in nodes, index of its parent
    path: list[int] = []
    skip_until = 0
    for place, node in enumerate(nodes):
        while path and len(nodes[path[-1]].indent) >= len(node.indent):
            path.pop()
        parent = path[-1] if path else -1
        path.append(place)
        if place < skip_until:
            continue
        if node.identifier and node.identifier in first:
            earlier, earlier_parent = first[node.identifier]
            block, same = _block(nodes, place), _block(nodes, earlier)
            if parent != earlier_parent or [_bare(n) for n in block] != [_bare(n) for n in same]:
                raise source.error(
                    f"feature {node.identifier!r} is defined twice, first in line {nodes[earlier].line}. "
                    "Rename one.",
                    line=node.line,
                )
            left_out.append(node)
            skip_until = place + len(block)
            continue
        if node.identifier:
            first[node.identifier] = (place, parent)
        kept.append(node)
    return kept, left_out


def _block(nodes: list[_Element], place: int) -> list[_Element]:
    end = place + 1
    while end < len(nodes) and len(nodes[end].indent) > len(nodes[place].indent):
        end += 1
    return nodes[place:end]


def _bare(node: _Element) -> tuple[str, str, str, str, tuple[int, int | None]]:
    return node.indent, node.kind, node.name, node.identifier, node.bounds


def _built(source: Source, nodes: list[_Element]) -> tuple[list[str], list[str], list[Group], dict[str, int]]:
    names: list[str] = []
    numbers: dict[str, int] = {}
    counts: dict[str, int] = {}
    slots: list[tuple[int, str, list[int], _Element]] = []  # parent, kind, children, node
    path: list[tuple[int, int, int | None]] = []  # indent, feature, slot of an open group
    for node in nodes:
        depth = len(node.indent)
        while path and path[-1][0] >= depth:
            path.pop()
        in_group = bool(path) and path[-1][2] is not None
        _check_place(source, node, bool(path), in_group, bool(names))
        if node.kind == "g":
            slots.append((path[-1][1], "group", [], node))
            path.append((depth, -1, len(slots) - 1))
            continue
        number = len(names)
        names.append(node.name or node.identifier)
        numbers[node.identifier or _free(node.name, numbers, counts)] = number
        if in_group:
            slots[path[-1][2] or 0][2].append(number)
        elif path:
            kind = "mandatory" if node.kind == "m" else "optional"
            slots.append((path[-1][1], kind, [number], node))
        path.append((depth, number, None))
    return names, list(numbers), [_group(source, *slot) for slot in slots], numbers


def _free(name: str, taken: dict[str, int], counts: dict[str, int]) -> str:
    """Return an identifier for a feature without one: its name, with a number if the name is taken.

    `counts` keeps the last number by name.
    """
    identifier = name
    while identifier in taken:
        counts[name] = counts.get(name, 0) + 1
        identifier = f"{name}_{counts[name]}"
    return identifier


def _check_place(source: Source, node: _Element, below: bool, in_group: bool, started: bool) -> None:
    wrong = ""
    if node.kind == "r":
        wrong = "there must be one root, got a second one" if started else ""
    elif not below:
        wrong = "the tree must start with one root, marked :r, and all else must be indented below it"
    elif in_group and node.kind not in {"", "m"}:
        wrong = f"a group must hold features marked with a bare colon or :m, got :{node.kind}"
    elif not in_group and not node.kind:
        wrong = "a feature outside of a group must be marked :m or :o"
    if wrong:
        raise source.error(f"{wrong}.", line=node.line, column=len(node.indent) + 1)


def _group(source: Source, parent: int, kind: str, children: list[int], node: _Element) -> Group:
    if kind != "group":
        return make_group(parent, children, kind)
    if not children:
        raise source.error("a group must hold features, got none.", line=node.line)
    lower, upper = node.bounds[0], len(children) if node.bounds[1] is None else node.bounds[1]
    if lower > upper:
        raise source.error(f"a group's bounds must rise, got [{lower},{upper}].", line=node.line)
    if (lower, upper) == (1, 1):
        return make_group(parent, children, "alternative")
    if (lower, upper) == (1, len(children)):
        return make_group(parent, children, "or")
    return make_group(parent, children, "cardinality", lower, upper)


def _constraints(source: Source, element: Element, numbers: dict[str, int]) -> list[Constraint]:
    """Read the clauses, one per line: ``name: ~a or b``."""
    constraints = []
    for line, text in element.numbered_lines():
        if not text.strip():
            continue
        name, colon, body = text.partition(":")
        literals = re.split(r"(?<!\s)\s++or\s++", body.strip(), flags=re.IGNORECASE)
        if not colon or not body.strip():
            raise source.error(f"a constraint must read like 'c1: ~a or b', got {text.strip()!r}.", line=line)
        parts = tuple(_literal(source, literal, numbers, text, line) for literal in literals)
        constraints.append(Constraint(Or(parts), name.strip(), line))
    return constraints


def _literal(source: Source, written: str, numbers: dict[str, int], text: str, line: int) -> Literal:
    identifier = written.lstrip("~").strip()
    if identifier not in numbers:
        raise source.error(
            f"the constraint names {identifier!r}, which is no feature's identifier. Correct it.",
            line=line,
            column=text.find(identifier) + 1,
        )
    negative = (len(written) - len(written.lstrip("~"))) % 2
    return Literal((-1 if negative else 1) * (numbers[identifier] + 1))


_SIMPLE = re.compile(r"(?!or$)[A-Za-z0-9_.\-]+", re.IGNORECASE)


def sxfm_model(model: FeatureModel) -> WrittenModel:
    """Return a model as SXFM: a tree with groups of any bounds, and clauses.

    Formulas become clauses (:mod:`shortlist.products.formats.shared`). The format has no attributes and no
    abstract features. Identifiers are the names if all names are plain words, and numbers otherwise. Raises
    BadInputError if names cannot be distinguished in XML, or a linear constraint needs too many clauses.

    >>> from shortlist.products.formulas import Implies
    >>> from shortlist.products.model import make_group, make_model
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
