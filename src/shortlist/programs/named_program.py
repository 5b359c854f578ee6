"""Integer program with names of columns and rows, and the parts that readers collect."""

import dataclasses
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from scipy import sparse

from shortlist._words import all_of
from shortlist.errors import BadInputError
from shortlist.exact import as_decimal, seen
from shortlist.files import Source
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.milp.whole_rows import implied_bounds
from shortlist.results.objective import Objective, Sense

INFINITE = 10**20
"""Size from which a bound, or a limit of a row, in a file is infinite."""

MAXIMISED_ROWS = "Rows without limits are maximised, as the file maximises"
"""Beginning of the note on a sense that the file states for all rows without limits."""

_FORTRAN = re.compile(r"^([+-]?[0-9.]++)[dD](?=[+-]?[0-9]+$)")
"""Pattern of a number up to Fortran's mark of an exponent."""

Terms: TypeAlias = dict[int, Fraction]
"""Coefficients by index of the column."""

Number: TypeAlias = Fraction | float
"""Bound or limit as written: a fraction, or an infinite double."""

Place: TypeAlias = tuple[str, str | int, int]
"""Position of a number: its kind; its row, column or objective; for a coefficient its column, else 0."""

DIGITS = 15
"""Number of digits up to which every decimal has a double of its own, and can be restored from the double."""


@dataclass(frozen=True, eq=False)
class NamedProgram:
    """Program as it was read.

    `program`: the program; its objectives are the objectives of the file, or the chosen objectives.
    `columns`, `rows`: names of the columns and of the rows. `notes`: sentences for users about the reading.
    `long`: numbers of a file with more than 15 digits; the program has the nearest doubles. A bound of an
    integer column is rounded to an integer.
    """

    program: Program
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    notes: tuple[str, ...] = ()
    long: Mapping[Place, Fraction] = field(default_factory=dict)

    def row(self, number: int) -> tuple[Terms, Number, Number]:
        """Return the coefficients and the limits of a row as written."""
        rows, program = self.program.rows, self.program
        part = slice(rows.indptr[number], rows.indptr[number + 1])
        terms = {
            column: self._written(("row", number, column), value)
            for column, value in zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True)
            if value
        }
        lower, upper = float(program.row_lower[number]), float(program.row_upper[number])
        return terms, self._limit(("lower", number, 0), lower), self._limit(("upper", number, 0), upper)

    def goal(self, number: int) -> tuple[Terms, Fraction]:
        """Return the costs and the constant of an objective as written, in the user's sign."""
        linear = self.program.objectives[number]
        name = linear.objective.name
        charged = np.flatnonzero(linear.costs).tolist()
        costs = {
            column: self._written(("cost", name, column), float(linear.costs[column])) for column in charged
        }
        return costs, self._written(("offset", name, 0), float(linear.offset))

    def bounds(self, column: int) -> tuple[Number, Number]:
        """Return the bounds of a column as written."""
        lower, upper = float(self.program.column_lower[column]), float(self.program.column_upper[column])
        return self._limit(("from", column, 0), lower), self._limit(("to", column, 0), upper)

    def _limit(self, place: Place, value: float) -> Number:
        return self._written(place, value) if math.isfinite(value) else value

    def _written(self, place: Place, value: float) -> Fraction:
        return self.long[place] if place in self.long else seen(value)

    @property
    def candidates(self) -> tuple[str, ...]:
        """Names of the integer columns, the candidates of a front."""
        return tuple(
            name for name, whole in zip(self.columns, self.program.integer.tolist(), strict=True) if whole
        )


@dataclass(eq=False)
class NamedRow:
    """Row under construction.

    A row without limits is an objective, and its constant is added to the objective.
    """

    name: str
    terms: Terms = field(default_factory=dict)
    lower: Number = -math.inf
    upper: Number = math.inf
    constant: Fraction = Fraction(0)

    @property
    def free(self) -> bool:
        """Whether the row has no limits."""
        return self.lower == -math.inf and self.upper == math.inf


@dataclass(eq=False)
class Goal:
    """Objective under construction."""

    name: str
    sense: Sense = Sense.MIN
    terms: Terms = field(default_factory=dict)
    offset: Fraction = Fraction(0)


def opposite(sense: Sense) -> Sense:
    """Return the other sense."""
    return Sense.MAX if sense is Sense.MIN else Sense.MIN


@dataclass(eq=False)
class Collected:
    """Columns, rows and objectives while a file is read; every error names the line.

    `sense`: sense of the file, also for rows without limits.
    """

    source: Source
    sense: Sense = Sense.MIN
    columns: dict[str, int] = field(default_factory=dict)
    lower: list[Number] = field(default_factory=list)
    upper: list[Number] = field(default_factory=list)
    integer: list[bool] = field(default_factory=list)
    rows: dict[str, NamedRow] = field(default_factory=dict)
    goals: dict[str, Goal] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    own_names: set[str] = field(default_factory=set)
    """Generated names of unnamed rows and objectives; names of the file take precedence."""

    def column(self, name: str) -> int:
        """Return the index of a column; a new name becomes a column in 0 to infinity."""
        if name not in self.columns:
            self.columns[name] = len(self.columns)
            self.lower.append(Fraction(0))
            self.upper.append(math.inf)
            self.integer.append(False)
        return self.columns[name]

    def known_column(self, name: str, line: int) -> int:
        """Return the index of a known column."""
        if name not in self.columns:
            raise self.source.error(
                f"{name!r} must be a column of a row or an objective. Correct the name.", line=line
            )
        return self.columns[name]

    def add_row(self, row: NamedRow, line: int, *, named: bool = True) -> NamedRow:
        """Add a row with a new name; `named`: whether the file gives the name."""
        self._name(row, line, named=named)
        self.rows[row.name] = row
        return row

    def add_goal(self, goal: Goal, line: int, *, named: bool = True) -> Goal:
        """Add an objective with a new name; `named`: whether the file gives the name."""
        self._name(goal, line, named=named)
        self.goals[goal.name] = goal
        return goal

    def _name(self, one: NamedRow | Goal, line: int, *, named: bool) -> None:
        """Refuse a name that the file gives twice; a generated name is changed until it is free."""
        name = one.name
        if not named:
            one.name = self._free(name)
            self.own_names.add(one.name)
        elif name in self.own_names:
            other = self._free(name)
            self.own_names = self.own_names - {name} | {other}
            if name in self.rows:
                self.rows[name].name = other
                self.rows = {row.name: row for row in self.rows.values()}  # in their order
            else:
                self.goals[name].name = other
                self.goals = {goal.name: goal for goal in self.goals.values()}
        elif name in self.rows or name in self.goals:
            raise self.source.error(f"the name {name!r} is used twice for rows. Rename one.", line=line)

    def _free(self, name: str) -> str:
        """Return the name, with a number appended if it is taken."""
        found, number = name, 1
        while found in self.rows or found in self.goals:
            number += 1
            found = f"{name}_{number}"
        return found

    def number(self, word: str, line: int) -> Fraction:
        """Return a number as written; an exponent follows e or Fortran's d."""
        found = as_decimal(_with_e(word))
        if found is None:
            raise self.source.error(
                f"a number must be a decimal below 10^19, got {word[:40]!r}. Scale the program.", line=line
            )
        if found and not float(found):
            raise self.source.error(
                f"a number must be 0 or larger than 10^-323 in size, got {word[:40]!r}. Scale the program.",
                line=line,
            )
        return Fraction(found)

    def limit(self, word: str, line: int) -> Number:
        """Return a bound or the limit of a row, infinite from 10^20."""
        text = _with_e(word).lower().lstrip("+-")
        sign = -1 if word.startswith("-") else 1
        if text in {"inf", "infinity"} or _is_huge(text):
            return sign * math.inf
        return self.number(word, line)

    def finished(self) -> NamedProgram:
        """Return the program; rows without limits become objectives, with the sense of the file.

        Beside such rows an empty objective is a placeholder, and is left out.
        """
        free = [row for row in self.rows.values() if row.free]
        goals = [
            *(goal for goal in self.goals.values() if not free or any(goal.terms.values()) or goal.offset),
            *(Goal(row.name, self.sense, row.terms, row.constant) for row in free),
        ]
        if free and self.sense is Sense.MAX:
            names = all_of([row.name for row in free])
            self.notes.append(f"{MAXIMISED_ROWS}: {names}. Use `objectives` to minimise some.")
        kept = [row for row in self.rows.values() if not row.free]
        if not self.columns:
            raise self.source.error("the program must have at least one column, got none.")
        lower, upper = self._integer_bounds()
        try:
            program = make_program(
                _matrix([row.terms for row in kept], len(self.columns)),
                row_lower=np.array([float(row.lower) for row in kept]),
                row_upper=np.array([float(row.upper) for row in kept]),
                column_lower=np.array([float(bound) for bound in lower]),
                column_upper=np.array([float(bound) for bound in upper]),
                integer=np.array(self.integer),
                objectives=[_linear(goal, len(self.columns)) for goal in goals],
            )
        except BadInputError as error:
            raise self.source.located(error) from None
        return NamedProgram(
            program,
            tuple(self.columns),
            tuple(row.name for row in kept),
            tuple(dict.fromkeys(self.notes)),
            {
                place: value
                for place, value in _numbers(kept, goals, lower, upper)
                if isinstance(value, Fraction) and _is_long(value)
            },
        )

    def _integer_bounds(self) -> tuple[list[Number], list[Number]]:
        """Return the bounds of the columns; long bounds of integer columns are rounded to integers."""

        def inner(bounds: Sequence[Number], rounded: Callable[[Fraction], int]) -> list[Number]:
            return [
                Fraction(rounded(bound))
                if whole and isinstance(bound, Fraction) and _is_long(bound)
                else bound
                for bound, whole in zip(bounds, self.integer, strict=True)
            ]

        return inner(self.lower, math.ceil), inner(self.upper, math.floor)


def _numbers(
    rows: Sequence[NamedRow], goals: Sequence[Goal], lower: Sequence[Number], upper: Sequence[Number]
) -> Iterator[tuple[Place, Number]]:
    """Yield every number of a program with its position."""
    for number, row in enumerate(rows):
        for column, value in row.terms.items():
            yield ("row", number, column), value
        yield ("lower", number, 0), row.lower
        yield ("upper", number, 0), row.upper
    for goal in goals:
        for column, value in goal.terms.items():
            yield ("cost", goal.name, column), value
        yield ("offset", goal.name, 0), goal.offset
    for kind, bounds in (("from", lower), ("to", upper)):
        for column, bound in enumerate(bounds):
            yield (kind, column, 0), bound


def _is_long(number: Fraction) -> bool:
    """Whether a number has more than 15 digits.

    >>> [_is_long(Fraction(text)) for text in ("0.1", "123456789012345", "0.1234567890123456")]
    [False, False, True]
    """
    if number.denominator == 1 and abs(number.numerator) < 10**DIGITS:
        return False
    return Fraction(f"{float(number):.{DIGITS}g}") != number


def _with_e(word: str) -> str:
    return _FORTRAN.sub(r"\1e", word)


def _is_huge(text: str) -> bool:
    try:
        found = Decimal(text)
    except ArithmeticError:
        return False
    return found.is_infinite() or (not found.is_nan() and abs(found) >= INFINITE)


def _matrix(rows: Sequence[Mapping[int, Fraction]], n_columns: int) -> "sparse.csr_array":
    rows = [{column: value for column, value in row.items() if value} for row in rows]
    numbers = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    columns = np.array([column for row in rows for column in row], dtype=np.int64)
    values = np.array([float(value) for row in rows for value in row.values()], dtype=np.float64)
    return sparse.csr_array((values, (numbers, columns)), shape=(len(rows), n_columns))


def _linear(goal: Goal, n_columns: int) -> LinearObjective:
    costs = np.zeros(n_columns)
    for column, value in goal.terms.items():
        costs[column] = float(value)
    return LinearObjective(Objective(goal.name, goal.sense, scale=None), costs, float(goal.offset))


def chosen_objectives(
    named: NamedProgram, objectives: str | Sequence[tuple[Sense, str]] | None
) -> NamedProgram:
    """Return the program with some of its objectives, in another order or with other senses.

    Raises BadInputError if a name is none of the program's objectives.

    `named`: program with all its objectives. `objectives`: choice such as ``"min cost, max value"``; None for
    all objectives as they are.
    """
    if objectives is None:
        return named
    from shortlist._words import did_you_mean
    from shortlist.results.objective import objective_names

    known = {linear.objective.name: linear for linear in named.program.objectives}
    chosen = []
    for sense, name in objective_names(objectives) if isinstance(objectives, str) else objectives:
        if name not in known:
            has = all_of(known) if known else "none"
            raise BadInputError(
                f"`objectives` must name objectives of the program, {has}, got "
                f"{name!r}.{did_you_mean(name, list(known))}"
            )
        linear = known[name]
        chosen.append(
            dataclasses.replace(linear, objective=dataclasses.replace(linear.objective, sense=sense))
        )
    return dataclasses.replace(
        named,
        program=dataclasses.replace(named.program, objectives=tuple(chosen)),
        notes=tuple(note for note in named.notes if not note.startswith(MAXIMISED_ROWS)),
    )


def with_steps(named: NamedProgram, steps: Mapping[str, float]) -> NamedProgram:
    """Return a program whose objectives have costs at integer columns only.

    An objective with a continuous column takes every value of an interval, so its front may be infinite. With
    a step ε the objective f becomes a new integer column t, after all other columns, with the row ``f <= ε
    t``. For every solution there is then a point that is worse by less than ε in this objective, and no worse
    in any other.

    Raises BadInputError if an objective with a continuous column has no step, or any other objective has a
    step.

    `named`: program as read. `steps`: step of each such objective, in its unit.
    """
    program = named.program
    uneven = {
        linear.objective.name: linear
        for linear in program.objectives
        if (linear.costs[~program.integer] != 0).any()
    }
    for name, step in steps.items():
        if name not in uneven:
            raise BadInputError(
                f"`tolerance` names {name!r}, which is no objective with a continuous column. Leave it out."
            )
        if not (math.isfinite(step) and step > 0):
            raise BadInputError("tolerance", f"of {name!r} must be a number above 0", step)
    for name, linear in uneven.items():
        if name not in steps:
            column = named.columns[int(np.argmax((linear.costs != 0) & ~program.integer))]
            raise BadInputError(
                f"{name!r} depends on {column!r}, which may take any fraction, so there may be infinitely "
                f"many best trade-offs. Make {column!r} an integer, or pass `tolerance={{{name!r}: 1}}` to "
                f"round {name!r} to multiples of it."
            )
    for name, step in steps.items():
        named = _stepped(named, name, step)
    return named


def _stepped(named: NamedProgram, name: str, step: float) -> NamedProgram:
    program = named.program
    number = [linear.objective.name for linear in program.objectives].index(name)
    linear = program.objectives[number]
    sign = linear.objective.sign
    costs = sign * linear.costs
    lower, upper = implied_bounds(program)  # without bounds from rows, some steps would be unbounded
    with np.errstate(invalid="ignore"):
        ends = np.array([costs * lower, costs * upper])
    ends = np.where(costs == 0, 0.0, ends)
    offset = sign * linear.offset
    least, most = ends.min(axis=0).sum() + offset, ends.max(axis=0).sum() + offset
    objectives = [dataclasses.replace(one, costs=np.append(one.costs, 0.0)) for one in program.objectives]
    objectives[number] = LinearObjective(linear.objective, np.append(np.zeros(len(costs)), sign * step))
    columns = sparse.csr_array(sparse.hstack([program.rows, sparse.csr_array((program.n_rows, 1))]))
    wider = dataclasses.replace(
        program,
        rows=columns,
        column_lower=np.append(program.column_lower, np.floor(least / step)),
        column_upper=np.append(program.column_upper, np.ceil(most / step)),
        integer=np.append(program.integer, True),
        objectives=tuple(objectives),
    )
    wider = wider.with_rows(np.append(costs, -step)[None, :], -np.inf, -offset)
    return dataclasses.replace(
        named,
        program=wider,
        columns=(*named.columns, f"steps of {name}"),
        rows=(*named.rows, f"steps of {name}"),
    )
