"""Helpers of readers and writers: XML trees, valid names, and models restricted to a format."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import Locator

from shortlist._words import counted
from shortlist.errors import BadFileError, BadInputError
from shortlist.files import Source
from shortlist.products.clauses import traced_clauses
from shortlist.products.cnf import Clause
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


@dataclass(eq=False)
class Element:
    """XML element: tag, attributes, children, position, and its pieces of text with their first lines."""

    tag: str
    attributes: dict[str, str]
    line: int
    column: int
    children: list["Element"] = field(default_factory=list)
    pieces: list[tuple[int, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Text directly in the element, stripped."""
        return "".join(piece for _, piece in self.pieces).strip()

    def numbered_lines(self) -> list[tuple[int, str]]:
        """Return the lines of the text, each with its number in the file."""
        lines: dict[int, str] = {}
        numbered, following = [], 0
        for first, piece in reversed(self.pieces):
            following = first or following - piece.count("\n")
            numbered.append((following, piece))
        for first, piece in reversed(numbered):
            for number, part in enumerate(piece.split("\n"), start=first):
                lines[number] = lines.get(number, "") + part
        return sorted(lines.items())

    def wrong(self, source: Source, sentence: str) -> BadFileError:
        """Return an error with the position of the element."""
        return source.error(sentence, line=self.line, column=self.column)

    def child(self, tag: str) -> "Element | None":
        """Return the first child with a tag; None if there is none."""
        return next((child for child in self.children if child.tag == tag), None)


class _TreeBuilder(ContentHandler):
    def __init__(self) -> None:
        super().__init__()
        self.root: Element | None = None
        self._open: list[Element] = []
        self._locator: Locator | None = None

    def setDocumentLocator(self, locator: Locator) -> None:  # noqa: N802  # the name is SAX's
        self._locator = locator

    def startElement(self, name: str, attrs: Any) -> None:  # noqa: N802  # the name is SAX's
        line, column = self._place()
        element = Element(name, dict(attrs.items()), line, column)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def endElement(self, _name: str) -> None:  # noqa: N802  # the name is SAX's
        self._open.pop()

    def characters(self, content: str) -> None:
        # Text is handled at its end: its first line is as many lines above as it has line feeds. Blank text
        # is common and its position slow to get: 0 stands for a line that follows from the next piece.
        line = 0 if content.isspace() else self._place()[0] - content.count("\n")
        self._open[-1].pieces.append((line, content))

    def _place(self) -> tuple[int, int]:
        assert self._locator is not None, "the parser announces itself first"
        return self._locator.getLineNumber() or 1, (self._locator.getColumnNumber() or 0) + 1


def parse_xml(source: Source) -> Element:
    """Return the root element; nothing outside the file is read.

    Raises BadFileError if the text is not well-formed, or declares or uses entities of its own.
    """
    from xml.sax import SAXParseException

    from defusedxml import DefusedXmlException
    from defusedxml.sax import make_parser

    builder = _TreeBuilder()
    declaration = source.text.find("?>") + 2 if source.text.lstrip("\ufeff \n\t").startswith("<?xml") else 0
    # The text is decoded already, so the encoding in the declaration no longer holds.
    blank = "\n" * source.text.count("\n", 0, declaration)
    parser = make_parser()
    parser.setContentHandler(builder)
    builder.setDocumentLocator(parser)
    try:
        # In one piece: a parser that is fed in blocks restarts a long comment with every block.
        parser.feed((blank + source.text[declaration:]).encode())
        parser.close()
    except SAXParseException as error:
        raise source.error(
            f"the XML must be well-formed, but: {error.getMessage()}. Correct it there.",
            line=error.getLineNumber(),
            column=(error.getColumnNumber() or 0) + 1,
        ) from None
    except DefusedXmlException:
        raise source.error(
            "the XML must not declare entities or name other files, as they can be misused. Write the text "
            "out."
        ) from None
    assert builder.root is not None, "a well-formed text has a root"
    return builder.root


_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class WrittenModel:
    """Feature model as text of some format."""

    text: str
    """Content of the file."""
    variables: dict[str, int]
    """Variable of the model's clauses (:func:`~shortlist.products.clauses.to_clauses`) by identifier of a
    feature in the file. 1 to n are the model's features, higher numbers auxiliary ones; 0 is a root that
    the format needs.
    """
    notes: tuple[str, ...] = ()
    """Sentences about parts that the format cannot express as the model does."""


def xml_text(text: str) -> str:
    """Return a text as one line, without the characters that XML forbids."""
    return _CONTROL.sub("_", " ".join(text.split()))


def xml_names(names: Sequence[str]) -> list[str]:
    """Return names without characters that XML cannot hold, stripped.

    Raises BadInputError if two of the results are equal, or one is empty.
    """
    fit = list(map(xml_text, names))
    places = {name: i for i, name in reversed(list(enumerate(fit)))}
    for i, name in enumerate(fit):
        if places[name] != i or not name:
            raise BadInputError(
                f"names must differ in XML, but {names[places[name]]!r} and {names[i]!r} become {name!r}. "
                "Rename one: XML does not keep spaces and control characters."
                if name
                else f"a name must have a character that XML can hold, got {names[i]!r}. Rename it."
            )
    return fit


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return the name, with underscores appended until it is not among the names `taken`."""
    known = set(taken)
    while name in known:
        name += "_"
    return name


def distinct_names(names: Iterable[str], fit: Callable[[str], str]) -> dict[str, str]:
    """Map each name to a valid and distinct one for a format, with underscores appended if it would repeat.

    Names that are valid already stay.

    >>> distinct_names(["a.b", "a_b"], lambda name: name.replace(".", "_"))
    {'a.b': 'a_b_', 'a_b': 'a_b'}
    """
    made = {name: fit(name) for name in names}
    taken = {name for name, shown in made.items() if name == shown}
    for name, shown in made.items():
        if name != shown:
            made[name] = free_name(shown, taken)
            taken.add(made[name])
    return made


def rewritten(count: int, thing: str, what: str) -> tuple[str, ...]:
    """Return a note that `count` things were rewritten; no note for 0.

    >>> rewritten(2, "group", "became constraints"), rewritten(0, "group", "became constraints")
    (('2 groups became constraints',), ())
    """
    return (f"{counted(count, thing)} {what}",) if count else ()


@dataclass(frozen=True, eq=False)
class ExpressedModel:
    """Model restricted to the constructs of a format."""

    model: FeatureModel
    """Model with a tree and without clauses. Its features are those of the original model, then auxiliary
    features, then the root if it is new.
    """
    variables: tuple[int, ...]
    """Variable, in the original model's clauses, of each feature; 0 for a new root."""
    notes: tuple[str, ...]
    """Sentences about rewritten parts."""


def expressed(
    model: FeatureModel,
    *,
    holds_group: Callable[[Group, int], bool],
    holds_formula: Callable[[Formula], bool],
) -> ExpressedModel:
    """Return a model with the same products whose groups and formulas all fit the format.

    A group that does not fit becomes optional features and clauses. A formula that does not fit becomes
    clauses. The clauses may need auxiliary features, which are abstract, optional below the root, and fixed
    in every product. A model without a tree gets an abstract root that every product has. Raises
    BadInputError if a linear constraint has to become clauses and needs too many of them.

    `holds_group`: whether the format holds a group, given the number of groups of its parent with the
    auxiliary features. `holds_formula`: whether the format holds a constraint as it is.

    >>> some = make_model(list("ABC"), root=0, groups=[make_group(0, [1, 2], "cardinality", 0, 1)])
    >>> shown = expressed(some, holds_group=lambda group, n: False, holds_formula=lambda formula: True)
    >>> [group.kind.value for group in shown.model.groups], shown.model.constraints[0].formula
    (['optional', 'optional'], Or(parts=(Literal(value=-2), Literal(value=-3))))
    """
    first = int(model.root is not None)
    after = first + len(model.groups)
    spelled = {r for r, c in enumerate(model.constraints, start=after) if not holds_formula(c.formula)}
    siblings = Counter(group.parent for group in model.groups)

    def not_held() -> dict[int, Group]:
        pairs = enumerate(model.groups, start=first)
        return {rule: group for rule, group in pairs if not holds_group(group, siblings[group.parent])}

    loose = not_held()
    clauses, auxiliary = needed_clauses(model, {*loose, *spelled})
    if auxiliary and model.root is not None:
        siblings[model.root] += len(auxiliary)  # auxiliary features are groups of their own below the root
        if (crowded := not_held()) != loose:
            loose = crowded
            clauses, auxiliary = needed_clauses(model, {*loose, *spelled})
    in_tree = {(-child - 1, group.parent + 1) for group in loose.values() for child in group.children}
    clauses = [clause for clause in clauses if clause not in in_tree]

    variables = [*range(1, model.n_features + 1), *auxiliary]
    names = [*model.labels]
    for variable in auxiliary:
        names.append(free_name(f"_X{variable}", names))
    root = model.root
    if root is None:
        root = len(names)
        names.append(free_name("every_product", names))
        variables.append(0)
    groups: list[Group] = []
    for rule, group in enumerate(model.groups, start=first):
        groups += _optional(group.parent, group.children) if rule in loose else [group]
    groups += _optional(root, range(0 if model.root is None else model.n_features, len(names)), but=root)
    numbers = {variable: number for number, variable in enumerate(variables, start=1)}
    constraints = [c for r, c in enumerate(model.constraints, start=after) if r not in spelled]
    for listed in (clauses, model.clauses or ()):
        constraints += map(Constraint, _formulas(listed, numbers, root + 1))
    made = make_model(names, root=root, groups=groups, constraints=constraints, name=model.name)
    made = with_details(
        made, abstract={*model.abstract, *range(model.n_features, len(names))}, attributes=model.attributes
    )
    notes = (
        *rewritten(root in range(model.n_features, len(names)), "root", "added, as the format needs a tree"),
        *rewritten(len(loose), "group", "written as optional features with constraints"),
        *rewritten(len(spelled), "constraint", "written as clauses"),
        *rewritten(len(auxiliary), "auxiliary feature", "added, with one value in each product"),
    )
    return ExpressedModel(made, tuple(variables), notes)


def needed_clauses(model: FeatureModel, rules: Iterable[int]) -> tuple[list[Clause], list[int]]:
    """Return the clauses of rules and of their auxiliary variables, and a rising list of these variables.

    Every auxiliary variable has the same defining clauses as in the whole model.
    """
    wanted = set(rules)
    if not wanted:
        return [], []
    traced = traced_clauses(model)
    pairs = list(zip(traced.clauses, traced.rules.tolist(), strict=True))
    clauses = [clause for clause, rule in pairs if rule in wanted]
    definitions = [clause for clause, rule in pairs if rule < 0]
    having: dict[int, list[int]] = {}
    for place, clause in enumerate(definitions):
        for literal in clause:
            having.setdefault(abs(literal), []).append(place)
    n = model.n_features
    stack = [abs(literal) for clause in clauses for literal in clause if abs(literal) > n]
    found: set[int] = set()
    taken: set[int] = set()
    while stack:
        variable = stack.pop()
        if variable in found:
            continue
        found.add(variable)
        for place in having.get(variable, ()):
            if place not in taken:
                taken.add(place)
                stack += [abs(literal) for literal in definitions[place] if abs(literal) > n]
    return [*clauses, *(definitions[place] for place in sorted(taken))], sorted(found)


def is_clause(formula: Formula) -> bool:
    """Whether a formula is a literal, or a disjunction of one or more literals."""
    if isinstance(formula, Or):
        return bool(formula.parts) and all(isinstance(part, Literal) for part in formula.parts)
    return isinstance(formula, Literal)


def _optional(parent: int, children: Iterable[int], but: int = -1) -> Iterator[Group]:
    return (make_group(parent, [child], GroupKind.OPTIONAL) for child in children if child != but)


def _formulas(clauses: Iterable[Clause], numbers: Mapping[int, int], root: int) -> Iterator[Formula]:
    """Yield clauses as formulas; an empty clause, which never holds, as two contradictory formulas."""
    for clause in clauses:
        if not clause:
            yield from (Literal(root), Literal(-root))
        else:
            yield Or(tuple(Literal(numbers[abs(v)] * (1 if v > 0 else -1)) for v in clause))
