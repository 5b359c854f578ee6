"""The program files of Xue & Li (2018): objectives, ``<=`` rows and ``=`` rows over 0/1 columns."""

import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np
from scipy import sparse

from shortlist.errors import BadInputError
from shortlist.exact import as_decimal, n_decimals
from shortlist.files import Source, read_source
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.results.objective import Objective

_SECTIONS = {
    "objectives": "objectives",
    "variables": "variables",
    "inequations": "rows",
    "equations": "equal",
}


@dataclass(frozen=True, eq=False)
class ProgramFile:
    """A program and the names of its columns."""

    program: Program
    names: tuple[str, ...]


def read_program(path: str | Path) -> ProgramFile:
    """Read a program; gzip is undone.

    The file lists objective names and their coefficients, ``{name=column, ...}``, and rows
    ``{column=factor, ...}``, in which the key that equals the number of columns is the right-hand side. All
    objectives are to minimise, with the signs of the file (so ``variety`` is minus the number of selected
    features); each one's scale makes its decimals integers.

    Raises
    ------
    BadFileError
        If a section is missing or a line cannot be read; names the line.
    """
    source = read_source(path)
    sections = _sections(source)
    names = _names(source, sections["variables"])
    objectives = _objectives(source, sections["objectives"], len(names))
    inequations = _rows(source, sections["rows"], len(names))
    equations = _rows(source, sections["equal"], len(names))
    table = sparse.lil_array((len(inequations) + len(equations), len(names)))
    upper = np.zeros(table.shape[0])
    for number, row in enumerate(inequations + equations):
        for column, factor in row.items():
            if column == len(names):
                upper[number] = float(factor)
            else:
                table[number, column] = float(factor)
    lower = np.where(np.arange(len(upper)) < len(inequations), -np.inf, upper)
    try:
        program = make_program(
            table.tocsr(),
            row_lower=lower,
            row_upper=upper,
            column_lower=0,
            column_upper=1,
            integer=True,
            objectives=objectives,
        )
    except BadInputError as error:
        raise source.located(error) from None
    return ProgramFile(program, names)


def _sections(source: Source) -> dict[str, list[tuple[int, str]]]:
    sections: dict[str, list[tuple[int, str]]] = {section: [] for section in _SECTIONS.values()}
    current, seen = "", set()
    for line, text in enumerate(source.text.split("\n"), start=1):
        heading = re.fullmatch(r"\s*(\w+)\s*==\s*", text)
        if heading:
            current = _SECTIONS.get(heading[1].lower(), "")
            if not current or current in seen:
                raise source.error(f"a section must be one of {', '.join(_SECTIONS)}, once.", line=line)
            seen.add(current)
        elif text.strip():
            if not current:
                raise source.error("the file must start with the section 'objectives =='.", line=line)
            sections[current].append((line, text.strip()))
    missing = {"objectives", "variables"} - seen
    if missing:
        raise source.error(f"the program must have a section {min(missing)!r}, got none. Was it cut off?")
    return sections


def _names(source: Source, lines: list[tuple[int, str]]) -> tuple[str, ...]:
    numbered: dict[int, str] = {}
    for line, text in lines:
        for entry in text.strip("{} ").split(", "):
            name, _, number = entry.rpartition("=")
            if not name:
                raise source.error(f"a variable must read name=column, got {entry[:40]!r}.", line=line)
            column = source.whole_number(number.strip(), "a variable's column", line)
            if column in numbered:
                raise source.error(f"column {column} has two names. Keep one.", line=line)
            numbered[column] = name.strip()
    if not numbered or sorted(numbered) != list(range(len(numbered))):
        raise source.error(
            "the columns must be numbered from 0 without gaps.", line=lines[0][0] if lines else None
        )
    return tuple(numbered[i] for i in range(len(numbered)))


def _objectives(source: Source, lines: list[tuple[int, str]], n_columns: int) -> list[LinearObjective]:
    if not lines:
        raise source.error("the section 'objectives' must name objectives, got none.")
    names = [name.strip() for name in lines[0][1].split(";")]
    if len(names) != len(lines) - 1:
        raise source.error(
            f"{len(names)} objectives are named, {len(lines) - 1} rows given.", line=lines[0][0]
        )
    objectives = []
    for name, (line, text) in zip(names, lines[1:], strict=True):
        numbers = [_number(source, word, line) for word in text.strip("[] ").split(";")]
        if len(numbers) != n_columns:
            raise source.error(f"{name!r} must have {n_columns} coefficients, got {len(numbers)}.", line=line)
        scale = 10 ** n_decimals(numbers)
        objectives.append(LinearObjective(Objective(name, scale=scale), np.array(numbers, dtype=np.float64)))
    return objectives


def _rows(source: Source, lines: list[tuple[int, str]], n_columns: int) -> list[dict[int, Decimal]]:
    rows = []
    for line, text in lines:
        if not (text.startswith("[") and text.endswith("]")):
            raise source.error("the rows must stand between [ and ]. Was the file cut off?", line=line)
        for row in re.findall(r"\{([^{}]*)\}", text):
            entries: dict[int, Decimal] = {}
            for entry in row.split(","):
                key, _, factor = entry.partition("=")
                column = source.whole_number(key.strip(), "the column of an entry column=factor", line)
                if column > n_columns or column in entries:
                    raise source.error(
                        f"an entry must read column=factor with columns 0 to {n_columns}, each once, got "
                        f"{entry.strip()[:40]!r}.",
                        line=line,
                    )
                entries[column] = _number(source, factor, line)
            if n_columns not in entries:
                raise source.error(
                    f"a row must give its right-hand side as {n_columns}=..., got {{{row}}}.", line=line
                )
            rows.append(entries)
    return rows


def _number(source: Source, word: str, line: int) -> Decimal:
    number = as_decimal(word)
    if number is None:
        raise source.error(f"a coefficient must be a number, got {word.strip()[:40]!r}.", line=line)
    return number
