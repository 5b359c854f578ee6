"""Requirements of a customer: features to select, and features to deselect."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from shortlist.errors import BadInputError
from shortlist.files import MOST_DIGITS, Source, read_source
from shortlist.pickles import saved_from
from shortlist.products.model import FeatureModel, FeatureNames, feature_names, plain
from shortlist.tables.spreadsheets import unguarded


@saved_from("shortlist")
@dataclass(frozen=True)
class Requirements:
    """Features to select and features to deselect; build it with ``make_requirements``.

    Attributes
    ----------
    select, deselect : tuple of int
        Features, counted from 0, rising; no feature is in both.
    """

    select: tuple[int, ...] = ()
    deselect: tuple[int, ...] = ()

    @property
    def literals(self) -> tuple[int, ...]:
        """The requirements as literals: i + 1 for feature i selected, -(i + 1) for deselected."""
        return tuple(i + 1 for i in self.select) + tuple(-i - 1 for i in self.deselect)


def make_requirements(
    model: FeatureModel,
    *,
    select: Iterable[str] = (),
    deselect: Iterable[str] = (),
    fixed: Iterable[str | Path] = (),
) -> Requirements:
    """Join requirements given by name and by file.

    Raises BadInputError if a name is unknown or ambiguous, or a feature is to be selected and deselected.
    Feasibility of the requirements is not checked here.

    `model`: the model of the features. `select`, `deselect`: names or identifiers of features; case, spaces
    and signs need not match if only one feature fits. `fixed`: files, see :func:`read_requirements`.

    >>> from shortlist.products.model import make_model
    >>> model = make_model(["Web Server", "Pop-ups"])
    >>> make_requirements(model, select=["web server"], deselect=["Pop-ups"]).literals
    (1, -2)
    """
    names = feature_names(model)
    literals = [i + 1 for i in names.find_all(select, "select")]
    literals += [-i - 1 for i in names.find_all(deselect, "deselect")]
    for path in fixed:
        literals += read_requirements(path, model).literals
    return from_literals(model, literals)


def from_literals(model: FeatureModel, literals: Iterable[int]) -> Requirements:
    """Return the requirements of literals.

    Raises BadInputError if a literal names no feature, or contradicts another one.
    """
    wanted = set(literals)
    for literal in sorted(wanted, key=abs):
        if not 1 <= abs(literal) <= model.n_features:
            raise BadInputError("literals", f"must name variables 1 to {model.n_features}", literal)
        if -literal in wanted:
            name = model.labels[abs(literal) - 1]
            raise BadInputError(
                f"feature {name!r} is required to be selected and deselected at once. Drop one."
            )
    return Requirements(
        tuple(sorted(v - 1 for v in wanted if v > 0)), tuple(sorted(-v - 1 for v in wanted if v < 0))
    )


def read_requirements(path: str | Path, model: FeatureModel) -> Requirements:
    """Read a partial configuration; its content decides between the following forms.

    - ``feature,selected``: a CSV table with this header and 1, 0, true or false.
    - ``NAME -> true`` or ``false``, one per line.
    - ``12   NAME``, variable number and name, one per line; the file is called ``Yes_...`` if its features
      are selected, ``No_...`` if they are deselected. Number and name must agree. A last line like
      ``148ms`` is passed over.
    - literals ``12 -13 ...``, with lines ``c ...`` as comments, and ``v`` and 0 as solvers write them.
    - XML with the root ``configuration``, as FeatureIDE writes it:
      ``<feature manual="selected" name="..."/>``, or ``unselected``, or the same with ``automatic``; a
      feature without either is left open.
    - otherwise a name per line, with ``-`` before it if the feature is deselected, and ``#`` before comments;
      names may be in double quotes, as in FeatureIDE's plain lists.

    Raises
    ------
    BadFileError
        If a line cannot be read, names no feature, or disagrees with another line.
    """
    content = Path(path).read_bytes() if Path(path).is_file() else b"?"
    if not content.strip():
        return Requirements()
    source = read_source(path)
    lines = [(n, text.strip()) for n, text in enumerate(source.text.split("\n"), start=1) if text.strip()]
    seen: dict[int, int] = {}
    for line, literal in _entries(source, lines, feature_names(model)):
        if -literal in seen:
            raise source.error(
                f"feature {model.labels[abs(literal) - 1]!r} is selected and deselected, see line "
                f"{seen[-literal]}.",
                line=line,
            )
        seen[literal] = line
    return from_literals(model, seen)


_Lines: TypeAlias = Sequence[tuple[int, str]]
_Entries: TypeAlias = Iterator[tuple[int, int]]


def _entries(source: Source, lines: _Lines, names: FeatureNames) -> _Entries:
    """Return literals with their lines; lines and file name decide the form."""
    side = re.match(r"(yes|no)_", Path(source.path).name, re.IGNORECASE)
    first = lines[0][1]
    if side:
        return _numbered(source, lines, names, 1 if side[1].lower() == "yes" else -1)
    if re.fullmatch(r"feature\s*,\s*selected", first, re.IGNORECASE):
        return _table(source, lines[1:], names)
    if first.startswith("<"):
        return _featureide(source, names)
    if all(" -> " in text for _, text in lines):
        pairs = ((line, *text.rpartition(" -> ")[::2]) for line, text in lines)
        return (
            (line, _truth(source, line, truth) * _found(source, line, name.strip(), names))
            for line, name, truth in pairs
        )
    if all(re.fullmatch(r"c(\s.*)?|(v\s+)?[+-]?\d+(\s+[+-]?\d+)*", text) for _, text in lines):
        return _literals(source, lines, names.model.n_features)
    if all(re.fullmatch(r"\d+\s{2,}\S.*|\d+ms", text) for _, text in lines):
        raise source.error(
            "a list of numbers and names must be called Yes_... or No_..., to say which is meant. Rename "
            "the file."
        )
    return _plain_names(source, lines, names)


def _found(source: Source, line: int, name: str, names: FeatureNames) -> int:
    """Return the variable of a feature by its name."""
    try:
        feature = names.find(name)
    except BadInputError as error:
        raise source.error(str(error), line=line) from None
    if feature is None:
        raise source.error(f"the model has no feature {name!r}. {names.close_to(name)}", line=line)
    return feature + 1


def _truth(source: Source, line: int, text: str) -> int:
    """Return 1 for selected, -1 for deselected."""
    truth = {"1": 1, "true": 1, "0": -1, "false": -1}.get(text.strip().lower())
    if truth is None:
        raise source.error(f"selected must be 1, 0, true or false, got {text.strip()!r}.", line=line)
    return truth


def _table(source: Source, lines: _Lines, names: FeatureNames) -> _Entries:
    for line, text in lines:
        cells = next(csv.reader([text]))
        if len(cells) != 2:
            raise source.error(f"the row must have 2 columns, got {len(cells)}.", line=line)
        name = cells[0] if cells[0] in names.exact else unguarded(cells[0])
        yield line, _truth(source, line, cells[1]) * _found(source, line, name, names)


def _featureide(source: Source, names: FeatureNames) -> _Entries:
    """Read a configuration of FeatureIDE; a user's choice has precedence over an automatic one."""
    from shortlist.products.formats.shared import parse_xml

    root = parse_xml(source)
    if root.tag not in {"configuration", "extendedConfiguration"}:
        raise source.error(
            f"the XML must be a <configuration> of FeatureIDE, got <{root.tag}>. Is it the right file?",
            line=root.line,
        )
    for element in root.children:
        if element.tag != "feature" or "name" not in element.attributes:
            raise source.error(
                f"a <configuration> must hold <feature name=...>, got <{element.tag}>.", line=element.line
            )
        given = (element.attributes.get(kind, "undefined") for kind in ("manual", "automatic"))
        state = next((text for text in given if text != "undefined"), "undefined")
        if state not in {"selected", "unselected", "undefined"}:
            raise source.error(
                f"a feature must be selected, unselected or undefined, got {state!r}.", line=element.line
            )
        feature = _found(source, element.line, element.attributes["name"], names)
        if state != "undefined":
            yield element.line, feature if state == "selected" else -feature


def _numbered(source: Source, lines: _Lines, names: FeatureNames, sign: int) -> _Entries:
    model = names.model
    named = any(re.match(r"\d+\s+\S", text) for _, text in lines)
    for line, text in lines:
        if re.fullmatch(r"\d+\s*ms|time:\s*\d+", text):
            continue  # time that the study's program took
        if named and line == lines[-1][0] and text.isdecimal():
            continue  # the same time without its unit: every variable of such a list has a name
        number, _, name = text.partition(" ")
        is_short = number.isdecimal() and len(number) <= MOST_DIGITS
        if not is_short or not 1 <= int(number) <= model.n_features:
            raise source.error(
                f"the line must start with a variable 1 to {model.n_features}, got {text[:60]!r}.", line=line
            )
        label = model.labels[int(number) - 1]
        if name.strip() and plain(name) != plain(label):
            raise source.error(
                f"variable {number} is {label!r} in the model, got {name.strip()!r}. Is it the right model?",
                line=line,
            )
        yield line, sign * int(number)


def _literals(source: Source, lines: _Lines, n_features: int) -> _Entries:
    for line, text in lines:
        if text.startswith("c"):
            continue
        for literal in map(int, text.removeprefix("v").split()):
            if abs(literal) > n_features:
                raise source.error(
                    f"a literal must name a variable 1 to {n_features}, got {literal}.", line=line
                )
            if literal:
                yield line, literal


def _plain_names(source: Source, lines: _Lines, names: FeatureNames) -> _Entries:
    for line, text in lines:
        if text.startswith("#"):
            continue
        if text not in names.exact and len(text) > 2 and text[0] == text[-1] == '"':
            text = text[1:-1]  # noqa: PLW2901  # FeatureIDE quotes names with spaces
        is_out = text not in names.exact and text.startswith("-")
        yield line, -_found(source, line, text[1:], names) if is_out else _found(source, line, text, names)
