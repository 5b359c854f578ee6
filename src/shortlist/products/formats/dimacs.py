"""DIMACS clauses with names in comments, as feature-model tools write them."""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import BadInputError
from shortlist.files import Source
from shortlist.logic.clauses import Clauses
from shortlist.products.clauses import to_clauses
from shortlist.products.formats.shared import WrittenModel, rewritten
from shortlist.products.model import FeatureModel, make_model, with_details

_NAME = re.compile(r"^c[ \t]++(\d{1,10}+)(\$?)[ \t]++(\S.*)$", re.MULTILINE)
_HEADER = re.compile(r"^p[ \t].*$", re.MULTILINE)


def read_dimacs(source: Source) -> FeatureModel:
    """Read a model without a tree: every variable is a feature, every clause a constraint.

    A comment ``c 12 NAME`` names a variable; a ``$`` after the number marks a variable that a translation
    generated. A variable without a name is called by its number. Raises BadFileError if the header is
    missing, repeated or disagrees with the clauses, or a literal is malformed.
    """
    headers = list(_HEADER.finditer(source.text))
    if len(headers) != 1:
        line = source.text.count("\n", 0, headers[1].start()) + 1 if headers else None
        raise source.error(
            f"there must be one header 'p cnf VARIABLES CLAUSES', got {len(headers)}.", line=line
        )
    header = headers[0]
    line = source.text.count("\n", 0, header.start()) + 1
    found = re.fullmatch(r"p\s++cnf\s++(\d{1,10})\s++(\d{1,10})\s*+", header[0])
    if found is None or not int(found[1]):
        raise source.error(
            f"the header must read 'p cnf VARIABLES CLAUSES', got {header[0][:60]!r}.", line=line
        )
    n_variables, n_clauses = int(found[1]), int(found[2])
    if n_variables >= 2**31 or n_variables > 10 * len(source.text) + 10**6:
        raise source.error(
            f"the header says {n_variables} variables, which the file is too small for.", line=line
        )
    clauses = _clauses(source, header.end(), n_variables, n_clauses, line)
    names = [str(number) for number in range(1, n_variables + 1)]
    given: dict[int, str] = {}
    generated = []
    for comment in _NAME.finditer(source.text):
        number, name = int(comment[1]), comment[3].rstrip()
        if not 1 <= number <= n_variables:
            continue  # a comment that resembles a name, such as a year
        if given.get(number, name) != name:
            raise source.error(
                f"variable {number} is called {given[number]!r} and {name!r}. Keep one name.",
                line=source.text.count("\n", 0, comment.start()) + 1,
            )
        given[number] = names[number - 1] = name
        if comment[2]:
            generated.append(number - 1)
    ids = [str(number) for number in range(1, n_variables + 1)]
    try:
        model = make_model(names, ids=ids, clauses=clauses, name=Path(source.path).name)
    except BadInputError as error:
        raise source.located(error) from None
    return with_details(model, generated=generated)


def _clauses(source: Source, start: int, n_variables: int, n_clauses: int, header_line: int) -> Clauses:
    body = source.text[start:]
    if re.search(r"^[ \t]*[c%]", body, re.MULTILINE):
        body = re.sub(
            r"^[ \t]*c.*$",
            "",
            re.split(r"^[ \t]*%", body, maxsplit=1, flags=re.MULTILINE)[0],
            flags=re.MULTILINE,
        )
    try:
        numbers: NDArray[np.int64] = np.fromiter(map(int, body.split()), dtype=np.int64)
    except (ValueError, OverflowError):
        numbers = np.array([n_variables + 1])
    if len(numbers) and np.abs(numbers).max() > n_variables:
        raise _bad_literal(source, body, n_variables, header_line)
    ends = np.flatnonzero(numbers == 0)
    if len(numbers) and numbers[-1] != 0:
        raise source.error("the last clause does not end with 0: the file was cut off. Get it again.")
    if len(ends) != n_clauses:
        raise source.error(
            f"the header says {n_clauses} clauses, the file has {len(ends)}. "
            f"{'It was cut off: get it again.' if len(ends) < n_clauses else 'Correct the header.'}",
            line=header_line,
        )
    offsets = np.concatenate([[0], ends - np.arange(len(ends))])
    return Clauses(n_variables, numbers[numbers != 0].astype(np.int32), offsets)


def _bad_literal(source: Source, body: str, n_variables: int, header_line: int) -> BadInputError:
    for line, text in enumerate(body.split("\n"), start=header_line):
        for word in re.finditer(r"\S+", text):
            if not re.fullmatch(r"[+-]?\d{1,10}", word[0]) or abs(int(word[0])) > n_variables:
                return source.error(
                    f"a literal must be a number from -{n_variables} to {n_variables}, got {word[0][:40]!r}.",
                    line=line,
                    column=word.start() + 1,
                )
    raise AssertionError("some word is no literal")


def dimacs_model(model: FeatureModel) -> WrittenModel:
    """Return a model as DIMACS: features are variables 1 to n, auxiliary variables are marked with ``$``.

    Reading the text gives the same products, cut to the features. A tree becomes clauses; attributes are
    left out.

    >>> from shortlist.products.model import make_group, make_model
    >>> pair = make_model(["A", "B"], root=0, groups=[make_group(0, [1], "optional")])
    >>> print(dimacs_model(pair).text, end="")
    c 1 A
    c 2 B
    p cnf 2 2
    1 0
    -2 1 0
    """
    clauses = to_clauses(model)
    names = [
        f"c {i}{'$' if i - 1 in model.generated else ''} {_line(n)}" for i, n in enumerate(model.labels, 1)
    ]
    added = range(model.n_features + 1, clauses.n_variables + 1)
    names += [f"c {i}$ _X{i}" for i in added]
    lines = [" ".join(map(str, (*clause, 0))) for clause in clauses]
    header = f"p cnf {clauses.n_variables} {clauses.n_clauses}"
    notes = (
        *rewritten(len(model.groups), "group", "written as clauses"),
        *rewritten(len(added), "auxiliary variable", "added, with one value in each product"),
    )
    variables = {str(v): v for v in range(1, clauses.n_variables + 1)}
    return WrittenModel("\n".join([*names, header, *lines]) + "\n", variables, notes)


def _line(name: str) -> str:
    return " ".join(name.split())
