"""UVL, the Universal Variability Language (Benavides et al. 2025)."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from shortlist.errors import BadFileError, BadInputError
from shortlist.exact import as_decimal
from shortlist.files import Source
from shortlist.products.formats.uvl_expressions import ExpressionReader
from shortlist.products.model import (
    Constraint,
    FeatureModel,
    Group,
    Value,
    make_group,
    make_model,
    with_details,
)
from shortlist.tables.numbers import readings

_KEY = re.compile(r"""\s*+(?:"([^"\n]*+)"|([^\s"'{}\[\],()]++))\s*+""")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_NO_FIRST_SIGNS = frozenset("0123456789+-.")
"""Characters that an unquoted name cannot begin with, as they would continue a decimal number."""
_MOST_LEVELS = 100
"""Most levels of nested attribute lists."""
_QUOTED = re.compile(r""""([^"\n]*)"|'([^'\n]*)'""")


def read_attribute_list(text: str, fail: Callable[[str], BadFileError]) -> tuple[dict[str, Value], list[str]]:
    """Read an attribute list between braces.

    A nested list gets names joined by a dot; a key without a value is true; vectors are kept as text. Texts
    may have double quotes, as FeatureIDE writes them, or single quotes, as the language requires.

    Returned are `values`, the values by name, and `constraints`, the texts after ``constraint`` and in the
    brackets after ``constraints``.

    >>> read_attribute_list("{abstract, cost 2.50, unit 'ms', constraint A => B}", ValueError)
    ({'abstract': True, 'cost': Decimal('2.50'), 'unit': 'ms'}, ['A => B'])
    """
    values: dict[str, Value] = {}
    constraints: list[str] = []
    todo = [("", text.strip()[1:-1], 1)]
    while todo:
        prefix, inner, level = todo.pop()
        if level > _MOST_LEVELS:
            raise fail(f"attributes may be nested {_MOST_LEVELS} levels deep, got more.")
        before = ""
        for part in _split(inner, fail):
            key = _KEY.match(part)
            if key is None:
                raise fail(f"an attribute must start with its name, got {part.strip()[:40]!r}.")
            if key[2] and key[2][0] in _NO_FIRST_SIGNS:
                raise _no_name(before, part, fail)
            before = part
            name, rest = prefix + (key[1] or key[2]), part[key.end() :].strip()
            if name == "constraint" and rest:
                constraints.append(rest)
            elif name == "constraints" and rest.startswith("["):
                constraints += [item.strip() for item in _split(rest[1:-1], fail)]
            elif rest.startswith("{"):
                todo.append((f"{name}.", rest[1:-1], level + 1))
            elif name in values:
                raise fail(f"attribute {name!r} is given twice. Keep one.")
            else:
                values[name] = _value(name, rest, fail)
    return values, constraints


def _no_name(before: str, part: str, fail: Callable[[str], BadFileError]) -> BadFileError:
    """Return the error about a name that may be the rest of a number, with the number if there is one."""
    number = f"{(before.split() or [''])[-1]},{part.strip()}"
    meant = readings(number)
    if meant and before:
        return fail(f"a number must have a decimal point, got {number[:40]!r}: write {meant[-1]}.")
    return fail(
        f"an attribute's name must begin with a letter, got {part.strip()[:40]!r}. Put it in double quotes; "
        "if it is the rest of a number with a decimal comma, write a decimal point."
    )


def _value(name: str, text: str, fail: Callable[[str], BadFileError]) -> Value:
    if text in {"", "true"}:
        return True
    if text == "false":
        return False
    if _NUMBER.fullmatch(text):
        number = as_decimal(text)
        return text if number is None else number
    quoted = _QUOTED.fullmatch(text)
    if quoted:
        return quoted[1] if quoted[1] is not None else quoted[2]
    if text.startswith("["):
        return text
    raise fail(f"the value of {name!r} must be true, false, a number or a quoted text, got {text[:40]!r}.")


def _split(text: str, fail: Callable[[str], BadFileError]) -> list[str]:
    """Split at the commas outside quotes and brackets."""
    parts, depth, start = [], 0, 0
    for found in re.finditer(r""""[^"\n]*"|'[^'\n]*'|[\[\](){},]""", text):
        sign = found[0]
        if sign in "[({":
            depth += 1
        elif sign in "])}":
            depth -= 1
        elif sign == "," and not depth:
            parts.append(text[start : found.start()])
            start = found.end()
        if depth < 0:
            raise fail("a bracket was never opened.")
    if depth:
        raise fail("a bracket is never closed.")
    if text[start:].strip() or parts:
        parts.append(text[start:])
    return parts


_SECTIONS = ("namespace", "include", "imports", "features", "constraints")
_GROUPS = ("or", "alternative", "optional", "mandatory")
_BOUNDS = re.compile(r"\[\s*+(?:(\d++)\s*+\.\.\s*+)?+(\d++|\*)\s*+\]")
_ONCE = re.compile(r"\[\s*+(?:1\s*+\.\.\s*+)?+1\s*+\]")
_FEATURE = re.compile(
    r"""(?:(Boolean|String|Integer|Real)\s++(?=["\w]))?
    (?:"([^"\n]*+)"|([^\s"'{}\[\],()]++))
    (?:\s++cardinality\s*+(\[[^\]\n]*+\]))?+\s*+(\{.*\})?+\s*+""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r"""("[^"\n]*+"|'[^'\n]*+')|//[^\n]*+|/\*.*?(?:\*/|\Z)""", re.DOTALL)
_TEXT = re.compile(r""""[^"\n]*+"|'[^'\n]*+'""")
_MOST_SPACE = 100_000
"""Most columns of a line's indentation."""
_TAB = 8


@dataclass(frozen=True)
class _Line:
    """Line without its indentation; open attributes and brackets have joined further lines to it."""

    number: int
    indent: int
    column: int
    text: str

    def wrong(self, source: Source, sentence: str) -> BadFileError:
        return source.error(sentence, line=self.number, column=self.column)


@dataclass(eq=False)
class _Tree:
    names: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    groups: list[tuple[int, str, list[int], _Line]] = field(default_factory=list)
    abstract: list[int] = field(default_factory=list)
    attributes: dict[str, dict[int, Value]] = field(default_factory=dict)
    constraints: list[tuple[str, int, int]] = field(default_factory=list)


def read_uvl(source: Source) -> FeatureModel:
    """Read a UVL model with Boolean features.

    Supported are groups (or, alternative, optional, mandatory, ``[n..m]``), attributes, constraints inside
    and outside of attributes, comparisons that are linear in attributes, and ``sum(attribute)``. Imports,
    repeated features, and features of other types are errors. Raises BadFileError if the file is not such a
    model, defines a feature twice or names an unknown one.
    """
    text = source.text
    if "//" in text or "/*" in text:
        text = _without_comments(source, text)
    sections, name = _sections(source, _lines(source, text))
    tree = _Tree()
    if not sections["features"]:
        raise source.error("the model must have a section 'features' with a root, got none.")
    _read_tree(source, tree, sections["features"])
    constraints = _read_constraints(source, tree, sections["constraints"])
    try:
        model = make_model(
            tree.names,
            root=0,
            groups=[group for entry in tree.groups for group in _groups(source, *entry)],
            constraints=constraints,
            name=name or tree.names[0],
        )
    except BadInputError as error:
        raise source.located(error) from None
    return with_details(model, abstract=tree.abstract, attributes=tree.attributes, lines=tree.lines)


def _without_comments(source: Source, text: str) -> str:
    def shortened(found: re.Match[str]) -> str:
        if found[1]:
            return found[1]
        if found[0].startswith("/*") and (len(found[0]) < 4 or not found[0].endswith("*/")):
            line = text.count("\n", 0, found.start()) + 1
            raise source.error("the comment is never closed. Close it with */.", line=line)
        return "\n" * found[0].count("\n")

    return _COMMENT.sub(shortened, text)


def _lines(source: Source, text: str) -> list[_Line]:
    """Split the text into lines that are not empty; an open bracket joins the following lines to its own."""
    lines: list[_Line] = []
    pieces: list[str] = []
    place = (0, 0, 0)
    braces = brackets = 0
    for number, raw in enumerate(text.split("\n"), start=1):
        body = raw.strip()
        if not body:
            continue
        if not pieces:
            white = raw[: len(raw) - len(raw.lstrip())]
            if _TAB * len(white) > _MOST_SPACE and len(white.expandtabs(_TAB)) > _MOST_SPACE:
                raise source.error(f"a line may be indented by {_MOST_SPACE:,} columns.", line=number)
            place = number, len(white.expandtabs(_TAB)), len(white) + 1
        pieces.append(body)
        if any(sign in body for sign in "{}()"):
            bare = _TEXT.sub("", body)
            braces += bare.count("{") - bare.count("}")
            brackets += bare.count("(") - bare.count(")")
        if braces <= 0 and brackets <= 0:
            lines.append(_Line(*place, " ".join(pieces)))
            pieces, braces, brackets = [], 0, 0
    if pieces:
        opening = "{" if braces > 0 else "("
        raise source.error(f"the bracket {opening!r} is never closed.", line=place[0])
    return lines


def _sections(source: Source, lines: list[_Line]) -> tuple[dict[str, list[_Line]], str]:
    sections: dict[str, list[_Line]] = {section: [] for section in _SECTIONS}
    current, name = "", ""
    seen: set[str] = set()
    for line in lines:
        if line.indent:
            if not current:
                raise source.error("the model must start with a section, such as features.", line=line.number)
            sections[current].append(line)
            continue
        current, _, rest = line.text.partition(" ")
        if current not in _SECTIONS or (rest.strip() and current != "namespace"):
            raise source.error(
                f"a section must be one of {', '.join(_SECTIONS)}, got {line.text[:40]!r}.",
                line=line.number,
                column=1,
            )
        if current in seen:
            raise source.error(f"the section {current!r} stands twice. Join them.", line=line.number)
        seen.add(current)
        if current == "namespace":
            name = rest.strip().strip('"')
    if sections["imports"]:
        raise source.error(
            "imports are not supported. Compose the models into one file first.",
            line=sections["imports"][0].number,
        )
    return sections, name


def _read_tree(source: Source, tree: _Tree, lines: list[_Line]) -> None:
    path: list[tuple[int, int, int]] = []  # indentation, feature, its group or -1
    for line in lines:
        level = -1
        while path and path[-1][0] >= line.indent:
            level = path.pop()[0]
        if level not in {-1, line.indent}:
            raise line.wrong(source, "the indentation fits no line above.")
        if path and path[-1][2] < 0:
            parent = path[-1][1]
            bounds = _BOUNDS.fullmatch(line.text)
            if line.text not in _GROUPS and bounds is None:
                raise line.wrong(
                    source,
                    f"below a feature there must be one of {', '.join(_GROUPS)}, [n..m], got "
                    f"{line.text[:40]!r}.",
                )
            tree.groups.append((parent, line.text, [], line))
            path.append((line.indent, parent, len(tree.groups) - 1))
            continue
        if not path and tree.names:
            raise source.error("there must be one root feature, got a second one.", line=line.number)
        number = _read_feature(source, tree, line, path[-1][1] if path else -1)
        if path:
            tree.groups[path[-1][2]][2].append(number)
        path.append((line.indent, number, -1))


def _read_feature(source: Source, tree: _Tree, line: _Line, parent: int) -> int:
    found = _FEATURE.fullmatch(line.text)
    if found is None:
        raise line.wrong(
            source,
            f"a feature must be a name with attributes in braces, got {line.text[:40]!r}. Quote unusual "
            "names.",
        )
    kind, quoted, bare, cardinality, attributes = found.groups()
    name = bare if quoted is None else quoted
    if kind not in {None, "Boolean"}:
        raise source.error(
            f"feature {name!r} is of type {kind}; only Boolean features are supported.", line=line.number
        )
    if cardinality and not _ONCE.fullmatch(cardinality):
        raise source.error(
            f"feature {name!r} has the cardinality {cardinality}; features that repeat are not supported.",
            line=line.number,
        )
    number = len(tree.names)
    if not name or name in tree.numbers:
        _refuse_name(source, tree, name, parent, line)
    tree.names.append(name)
    tree.numbers[name] = number
    tree.lines.append(line.number)
    tree.parents.append(parent)
    if attributes:
        _take_attributes(source, tree, number, attributes, line)
    return number


def _refuse_name(source: Source, tree: _Tree, name: str, parent: int, line: _Line) -> None:
    if not name:
        raise line.wrong(source, "a feature must have a name, got an empty one.")
    first, above = tree.numbers[name], parent
    while above not in {-1, first}:
        above = tree.parents[above]
    circle = "below itself, a cycle" if above == first else "twice"
    raise line.wrong(
        source, f"feature {name!r} is defined {circle}; first in line {tree.lines[first]}. Rename one."
    )


def _take_attributes(source: Source, tree: _Tree, number: int, text: str, line: _Line) -> None:
    def fail(sentence: str) -> BadFileError:
        return source.error(f"attributes of {tree.names[number]!r}: {sentence}", line=line.number)

    values, constraints = read_attribute_list(text, fail)
    for name, value in values.items():
        if name == "abstract" and isinstance(value, bool):
            if value:
                tree.abstract.append(number)
        else:
            tree.attributes.setdefault(name, {})[number] = value
    tree.constraints += [(constraint, line.number, line.column) for constraint in constraints]


def _groups(source: Source, parent: int, kind: str, children: list[int], line: _Line) -> list[Group]:
    if not children:
        raise source.error(f"the group {kind!r} must hold features, got none.", line=line.number)
    if kind in {"mandatory", "optional"}:
        return [make_group(parent, [child], kind) for child in children]
    bounds = _BOUNDS.fullmatch(kind)
    if bounds is None:
        return [make_group(parent, children, kind)]
    every = bounds[2] == "*"
    upper = len(children) if every else source.whole_number(bounds[2], "a group's bound", line.number)
    lower = 0 if every else upper
    if bounds[1]:
        lower = source.whole_number(bounds[1], "a group's bound", line.number)
    if lower > upper:
        raise source.error(f"a group's bounds must rise, got {kind}.", line=line.number)
    return [make_group(parent, children, "cardinality", lower, upper)]


def _read_constraints(source: Source, tree: _Tree, lines: list[_Line]) -> list[Constraint]:
    place = [0, 0]

    def fail(sentence: str, column: int) -> BadFileError:
        return source.error(sentence, line=place[0], column=place[1] + column)

    reader = ExpressionReader(tree.numbers, tree.attributes, fail)
    texts = [*tree.constraints, *((line.text, line.number, line.column) for line in lines)]
    constraints = []
    for text, number, column in texts:
        place[:] = number, column
        constraints.append(Constraint(reader.read(text), line=number))
    return constraints
