"""Program with rows and objectives in integers small enough for solvers to resolve.

A row ``a @ x <= b`` of large integers is the same as two rows of smaller integers with one more integer
column c. With ``a = M h + l`` and ``b = M b1 + b0``, the two rows are ``h @ x + c <= b1`` and ``l @ x - M c
<= b0``. If the original row holds, ``c = b1 - h @ x`` satisfies the two rows. If the two rows hold, so does M
times the first plus the second, which is the original row. Coefficients of 17 digits become four rows in
which the tolerance of a solver hides no integer. An equality becomes equalities, and a row with two limits
becomes two such groups of rows.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Floats, Mask
from shortlist.errors import BadInputError
from shortlist.exact import LARGEST_INTEGER, MOST_DECIMALS, are_integers_over
from shortlist.milp.current import empty_intervals
from shortlist.milp.program import LinearObjective, Program
from shortlist.milp.whole_rows import (
    FINEST_TOLERANCE,
    TOLERANCE,
    exact_program,
    implied_bounds,
    whole_rows,
)
from shortlist.programs.named_program import NamedProgram, Number, Terms

LARGEST_SUM = int(0.4 / TOLERANCE)
"""Upper limit of a row's sums after splitting, if one row is too large; every solver resolves them.

The same limit holds if the program has continuous columns.
"""

LARGEST_INTEGER_SUM = LARGEST_INTEGER // 2
"""Upper limit of the rows' sums after splitting, if several rows of integer columns are too large; CP-SAT
takes them. Ten rows of 17 digits and 30 columns take 3.6 s of processor time; split into more and smaller
rows, they leave the front open after a minute. A single row of 60 columns takes 3.8 s with this limit, and .6
s with :data:`LARGEST_SUM`.
"""

LARGEST_VALUE = 2**50
"""Upper limit of the integer values of an objective with many decimals.

Dividing such a value by its scale and multiplying again gives the same integer.
"""

LARGEST_VALUES = int(0.25 / FINEST_TOLERANCE)
"""Upper limit of the values of all objectives together if there are continuous columns, which need doubles.
"""

MOST_SCALED = 18
"""Most decimals of an objective in integers."""

LARGEST_REACH = 2**40
"""Largest size of a bound implied by rows, as it is computed in doubles."""

Whole: TypeAlias = dict[int, int]
"""Integer coefficients by index of the column."""

Ends: TypeAlias = tuple[int, int]
"""Least and largest value of an integer column."""


@dataclass(frozen=True)
class Rounding:
    """Rounding of an objective's costs for a search.

    `step`: unit of the rounded costs, without the constant. `most`: largest amount by which a solution may be
    better than the points of a front. These points have the values of exact costs, as the nearest doubles.
    """

    step: float
    most: float


@dataclass(frozen=True, eq=False)
class IntegerForm:
    """Program with integer rows and objectives, as far as possible.

    `program`: its columns are those of the original program, followed by the columns that split rows.
    `further`: names of the columns that split rows. `rounded`: rounding of the objectives whose costs do not
    fit, by name.
    """

    program: Program
    further: tuple[str, ...] = ()
    rounded: Mapping[str, Rounding] = field(default_factory=dict)


def integer_form(named: NamedProgram) -> IntegerForm:
    """Return a program in integers, exact in every row of bounded integer columns.

    Objectives are exact while their values stay below 2^50 in integers; with continuous columns, below the
    size that solvers resolve. The costs of larger objectives are rounded. Rows with continuous columns stay
    as they are.

    Raises BadInputError if a number of more than 15 digits belongs to an integer column without bounds.

    `named`: program whose objectives cost integer columns only, without empty bounds.

    >>> from shortlist.milp.program import make_program
    >>> shares = make_program(
    ...     [[1 / 3, 2 / 7]], row_lower=-np.inf, row_upper=0.5, column_lower=0, column_upper=1, integer=True
    ... )
    >>> form = integer_form(NamedProgram(shares, ("x", "y"), ("row",)))
    >>> form.program.n_rows, form.program.n_columns, form.further
    (3, 4, ('digits 0', 'digits 1'))
    """
    program = exact_program(named.program)
    reaches = _Reaches(program)
    split = _SplitRows(named, program, reaches).program()
    made = [_integer_goal(named, number, reaches) for number in range(len(program.objectives))]
    if not program.integer.all():
        made = _within(made)
    wider = split.n_columns - program.n_columns
    linears = tuple(
        dataclasses.replace(goal.linear, costs=np.append(goal.linear.costs, np.zeros(wider))) for goal in made
    )
    rounded = {
        goal.linear.objective.name: Rounding(float(goal.step), goal.most)
        for goal in made
        if goal.step is not None
    }
    further = tuple(f"digits {number}" for number in range(wider))
    return IntegerForm(dataclasses.replace(split, objectives=linears), further, rounded)


def searched_form(named: NamedProgram) -> IntegerForm:
    """Return a program in integers; a program with empty bounds stays as it is, as no search follows."""
    program = named.program
    whole, lower, upper = program.integer, program.column_lower, program.column_upper
    inner = dataclasses.replace(
        program,
        column_lower=np.where(whole, np.ceil(lower), lower),
        column_upper=np.where(whole, np.floor(upper), upper),
    )
    return IntegerForm(inner) if leaves_nothing(inner) else integer_form(named)


def leaves_nothing(program: Program) -> bool:
    """Whether the bounds of a column, or the limits of a row, contain no number.

    >>> from shortlist.milp.program import make_program
    >>> program = make_program(
    ...     [[1]], row_lower=0, row_upper=9, column_lower=3, column_upper=2, integer=True
    ... )
    >>> leaves_nothing(program)
    True
    """
    columns = empty_intervals(program.column_lower, program.column_upper)
    return bool(columns.any() or empty_intervals(program.row_lower, program.row_upper).any())


def exact_values(named: NamedProgram, number: int, solutions: NDArray[np.integer[Any]]) -> list[Fraction]:
    """Return the exact values of an objective of integer columns, by its costs as written.

    `solutions`: values of the integer columns, ``(n_solutions, n_integer_columns)``.
    """
    costs, offset = named.goal(number)
    scale = math.lcm(*(cost.denominator for cost in costs.values()))
    places = np.cumsum(named.program.integer) - 1
    whole = [(int(places[column]), int(cost * scale)) for column, cost in costs.items()]
    return [
        offset + Fraction(sum(cost * solution[place] for place, cost in whole), scale)
        for solution in solutions.tolist()
    ]


class _Reaches:
    """Least and largest values of the integer columns, and of sums over them."""

    def __init__(self, program: Program) -> None:
        lower, upper = implied_bounds(program)
        own = np.isfinite(program.column_lower), np.isfinite(program.column_upper)
        limits = [LARGEST_INTEGER if known else LARGEST_REACH for known in (True, False)]
        self._ends: list[tuple[int, int] | None] = []
        for column, whole in enumerate(program.integer.tolist()):
            low, high = float(lower[column]), float(upper[column])
            known = bool(own[0][column]), bool(own[1][column])
            fits = abs(low) <= limits[not known[0]] and abs(high) <= limits[not known[1]]
            ends = (math.ceil(low) - (not known[0]), math.floor(high) + (not known[1])) if fits else None
            self._ends.append(ends if whole else None)
        self.n_own = len(self._ends)

    def add(self, least: int, most: int) -> int:
        """Add a column with these bounds; return its index."""
        self._ends.append((least, most))
        return len(self._ends) - 1

    def __len__(self) -> int:
        return len(self._ends)

    def forget(self, known: int) -> None:
        """Remove the columns after the first `known`."""
        del self._ends[known:]

    def of(self, column: int) -> tuple[int, int]:
        """Return the least and the largest value of a bounded column."""
        ends = self._ends[column]
        assert ends is not None, "asked of columns with bounds alone"
        return ends

    @property
    def added(self) -> list[tuple[int, int]]:
        """Bounds of the new columns."""
        return [self.of(column) for column in range(self.n_own, len(self._ends))]

    def unbounded(self, columns: Sequence[int]) -> int | None:
        """Return the first of some columns without bounds; None if all have bounds."""
        return next((column for column in columns if self._ends[column] is None), None)

    def sizes(self) -> Floats:
        """Return the largest absolute value of each original column, at least 1, infinite without bounds."""
        ends = self._ends[: self.n_own]
        return np.array([math.inf if one is None else max(1, abs(one[0]), abs(one[1])) for one in ends])

    def size(self, terms: Whole) -> int:
        """Return the largest size of a sum: absolute coefficients times sizes of columns, at least 1."""
        return sum(abs(factor) * max(1, *map(abs, self.of(column))) for column, factor in terms.items())

    def sums(self, terms: Whole) -> tuple[int, int]:
        """Return the least and the largest value of a sum."""
        ends = [sorted(factor * end for end in self.of(column)) for column, factor in terms.items()]
        return sum(least for least, _ in ends), sum(most for _, most in ends)


@dataclass(frozen=True)
class _Row:
    """Sum of integers with limits; None for no limit."""

    terms: Whole
    lower: int | None
    upper: int | None

    @property
    def negated(self) -> "_Row":
        lower, upper = (None if one is None else -one for one in (self.upper, self.lower))
        return _Row({column: -factor for column, factor in self.terms.items()}, lower, upper)


class _SplitRows:
    """Rows of a program, of which some are replaced by several rows."""

    def __init__(self, named: NamedProgram, program: Program, reaches: _Reaches) -> None:
        self._named, self._program, self._reaches = named, program, reaches
        self._most = LARGEST_SUM
        self._long = {place[1] for place in named.long if place[0] in {"row", "lower", "upper"}}

    def program(self) -> Program:
        """Return the program with the new rows and columns, which follow the rows and columns that stay."""
        whole, chosen = self._chosen()
        several = chosen.sum() > 1 and self._program.integer.all()
        self._most = LARGEST_INTEGER_SUM if several else LARGEST_SUM
        replaced, rows = [], list[_Row]()
        for number in np.flatnonzero(chosen).tolist():
            made = self._made(number, whole=bool(whole[number]))
            if made is not None:
                replaced.append(number)
                rows += made
        if not replaced:
            return self._program
        return self._joined(np.delete(np.arange(self._program.n_rows), replaced), rows)

    def _chosen(self) -> tuple[Mask, Mask]:
        """Return the mask of the integer rows, and the mask of the rows of integer columns to change."""
        program = self._program
        whole = whole_rows(program, written=True).whole
        with np.errstate(invalid="ignore"):
            sizes = np.nan_to_num(abs(program.rows) @ self._reaches.sizes(), nan=math.inf)
            lower, upper = program.column_lower, program.column_upper
            positive, negative = program.rows.maximum(0), program.rows.minimum(0)
            least, most = positive @ lower + negative @ upper, positive @ upper + negative @ lower
        idle = (least >= program.row_lower) & (most <= program.row_upper)
        large = np.isfinite(sizes) & ~idle & (sizes >= 0.5 / FINEST_TOLERANCE)
        continuous = np.asarray(abs(program.rows) @ (~program.integer).astype(np.float64)) > 0
        long = np.isin(np.arange(program.n_rows), list(self._long))
        return whole & ~long, np.asarray(~continuous & (large | ~whole | long), dtype=bool)

    def _made(self, number: int, *, whole: bool) -> list[_Row] | None:
        """Return the rows that replace a row; None if it stays."""
        row = self._whole_row(number) if whole else self._written_row(number)
        if row.lower is not None and row.upper is not None and row.lower > row.upper:
            return [_Row({}, 1, 0)]
        if not row.terms:
            return None
        endless = self._reaches.unbounded(list(row.terms))
        if endless is None:
            for most in (self._most, LARGEST_INTEGER_SUM):
                known = len(self._reaches)
                if (made := _digits(row, self._reaches, most)) is not None:
                    return made
                self._reaches.forget(known)
        numbers = [*row.terms.values(), row.lower or 0, row.upper or 0]
        if max(map(abs, numbers)) < LARGEST_INTEGER:
            return [row]
        if number not in self._long:
            return None
        column = next(iter(row.terms)) if endless is None else endless
        raise BadInputError(
            f"row {self._named.rows[number]!r} has numbers of more than 15 digits, and "
            f"{self._named.columns[column]!r} has too wide a range for exact sums. Give it narrower "
            "bounds, or round the numbers."
        )

    def _whole_row(self, number: int) -> _Row:
        program = self._program
        part = slice(program.rows.indptr[number], program.rows.indptr[number + 1])
        columns, factors = program.rows.indices[part].tolist(), program.rows.data[part].tolist()
        limits = float(program.row_lower[number]), float(program.row_upper[number])
        lower, upper = (int(one) if math.isfinite(one) else None for one in limits)
        return _Row({c: int(f) for c, f in zip(columns, factors, strict=True) if f}, lower, upper)

    def _written_row(self, number: int) -> _Row:
        """Return a row as written, scaled so that its coefficients are integers without a common divisor."""
        terms, lower, upper = self._named.row(number)
        scale = Fraction(math.lcm(*(factor.denominator for factor in terms.values())))
        scale /= math.gcd(*(int(factor * scale) for factor in terms.values())) or 1

        def inner(limit: Number, sign: int) -> int | None:
            return sign * math.floor(sign * limit * scale) if isinstance(limit, Fraction) else None

        whole = {column: int(factor * scale) for column, factor in terms.items()}
        return _Row(whole, inner(lower, -1), inner(upper, 1))

    def _joined(self, kept: NDArray[np.int64], rows: Sequence[_Row]) -> Program:
        program, added = self._program, self._reaches.added
        n_columns = program.n_columns + len(added)
        entries = [
            (number, column, factor)
            for number, row in enumerate(rows)
            for column, factor in row.terms.items()
        ]
        numbers, columns, factors = zip(*entries, strict=True) if entries else ((), (), ())
        made = sparse.csr_array(
            (np.array(factors, dtype=np.float64), (np.array(numbers, int), np.array(columns, int))),
            shape=(len(rows), n_columns),
        )
        wider = sparse.hstack([program.rows[kept], sparse.csr_array((len(kept), len(added)))])
        ends = np.array(added, dtype=np.float64).reshape(-1, 2)
        used = sorted({column for _, column, _ in entries if column < program.n_columns})
        lower, upper = program.column_lower.copy(), program.column_upper.copy()
        for column in used:
            if self._reaches.unbounded([column]) is None:
                lower[column], upper[column] = self._reaches.of(column)
        return Program(
            rows=sparse.csr_array(sparse.vstack([wider, made])),
            row_lower=np.append(program.row_lower[kept], [_or(row.lower, -math.inf) for row in rows]),
            row_upper=np.append(program.row_upper[kept], [_or(row.upper, math.inf) for row in rows]),
            column_lower=np.append(lower, ends[:, 0]),
            column_upper=np.append(upper, ends[:, 1]),
            integer=np.append(program.integer, np.ones(len(added), dtype=bool)),
            objectives=program.objectives,
        )


def _or(limit: int | None, endless: float) -> float:
    return endless if limit is None else float(limit)


def _digits(row: _Row, reaches: _Reaches, most: int) -> list[_Row] | None:
    """Return rows with sums below `most` that are equivalent to the row, with new columns.

    Returns None if the columns of the row have too many values.
    """
    if row.lower is not None and row.upper is not None and row.lower != row.upper:
        halves = [_Row(row.terms, None, row.upper), _Row(row.terms, row.lower, None)]
        made = [_digits(half, reaches, most) for half in halves]
        return None if None in made else [one for half in made for one in half or ()]
    if row.upper is None:
        return [] if row.lower is None else _digits(row.negated, reaches, most)
    equal = row.lower is not None
    least, greatest = reaches.sums(row.terms)
    if row.upper < least or (equal and row.upper > greatest):
        return [_Row({}, 1, 0)]
    if reaches.size(row.terms) < most or (row.upper >= greatest and not equal):
        return [row] if row.upper < greatest or equal else []
    return _split(row, row.upper, reaches, most, equal=equal)


def _split(row: _Row, upper: int, reaches: _Reaches, most: int, *, equal: bool) -> list[_Row] | None:
    """Split a row into a row of its coefficients' last digits, and rows of their leading digits."""
    room = most // (reaches.size(dict.fromkeys(row.terms, 1)) + 3)
    if room < 4:
        return None
    base = 1 << (int(room).bit_length() - 1)
    low = {column: (factor + base // 2) % base - base // 2 for column, factor in row.terms.items()}
    high = {column: (factor - low[column]) // base for column, factor in row.terms.items()}
    above, rest = divmod(upper, base)
    ends = [-((rest - end) // base) for end in reaches.sums(low)]
    carry = reaches.add(*ends)
    last = _Row({**_filled(low), carry: -base}, rest if equal else None, rest)
    first = _Row({**_filled(high), carry: 1}, above if equal else None, above)
    others = _digits(first, reaches, most)
    return None if others is None else [last, *others]


def _filled(terms: Whole) -> Whole:
    return {column: factor for column, factor in terms.items() if factor}


@dataclass(frozen=True, eq=False)
class _IntegerGoal:
    """Objective with an integer scale, its costs times that scale, and their rounding.

    `costs`, `offset`: costs and constant as written. `step`: step of the rounded costs, None without
    rounding. `most`: see :class:`Rounding`. `size`: largest value in steps, without the constant; infinite
    without bounds.
    """

    linear: LinearObjective
    costs: Terms
    offset: Fraction
    sizes: Mapping[int, Ends]
    size: float
    step: Fraction | None = None
    most: float = 0.0


def _integer_goal(named: NamedProgram, number: int, reaches: _Reaches) -> _IntegerGoal:
    """Return an objective in integers: unchanged, with more decimals, or rounded."""
    linear = named.program.objectives[number]
    name = linear.objective.name
    long = any(place[:2] in {("cost", name), ("offset", name)} for place in named.long)
    costs, offset = named.goal(number)
    endless = reaches.unbounded(list(costs))
    sizes = {} if endless is not None else {column: reaches.of(column) for column in costs}
    if not long and (size := _plain_size(linear, reaches)) is not None:
        return _IntegerGoal(linear, costs, offset, sizes, size)
    decimals = max(_decimals(one) for one in (offset, *costs.values()))
    scale = 10**decimals
    values = _size(costs, sizes) if endless is None else sum(map(abs, costs.values()))
    if decimals <= MOST_SCALED and (values + abs(offset)) * scale < LARGEST_VALUE:
        exact = {column: int(cost * scale) for column, cost in costs.items()}
        divisor = math.gcd(*exact.values()) or 1
        size = math.inf if endless is not None else float(values * scale / divisor)
        made = _scaled(linear, exact, int(offset * scale), scale)
        return _IntegerGoal(made, costs, offset, sizes, size)
    if endless is not None:
        raise BadInputError(
            f"objective {name!r} has costs of too many digits to be exact, and "
            f"{named.columns[endless]!r} has no bounds within which "
            "their errors are known. Give it bounds, or round the costs."
        )
    return _rounded(_IntegerGoal(linear, costs, offset, sizes, math.inf), LARGEST_VALUE)


def _plain_size(linear: LinearObjective, reaches: _Reaches) -> float | None:
    """Return the largest value, in steps, of costs with at most nine decimals; None for more decimals."""
    terms = np.append(linear.costs, linear.offset)
    for decimals in range(MOST_DECIMALS + 1):
        if are_integers_over(terms, 10**decimals).all():
            break
    else:
        return None
    whole = np.rint(terms * 10**decimals)
    charged = np.flatnonzero(whole[:-1])
    values = float(np.abs(whole[charged]) @ reaches.sizes()[charged])
    if math.isinf(values):
        return values
    if values + abs(whole[-1]) >= LARGEST_INTEGER:
        return None
    return values / (math.gcd(*whole[charged].astype(np.int64).tolist()) or 1)


def _decimals(number: Fraction) -> int:
    """Return the number of decimals of a decimal fraction.

    >>> _decimals(Fraction("0.125")), _decimals(Fraction(7))
    (3, 0)
    """
    left, twos, fives = number.denominator, 0, 0
    while left % 2 == 0:
        left, twos = left // 2, twos + 1
    while left % 5 == 0:
        left, fives = left // 5, fives + 1
    return max(twos, fives)


def _size(costs: Mapping[int, Fraction], sizes: Mapping[int, Ends]) -> Fraction:
    return sum((abs(cost) * max(1, *map(abs, sizes[column])) for column, cost in costs.items()), Fraction(0))


def _scaled(linear: LinearObjective, costs: Whole, offset: int, scale: int) -> LinearObjective:
    """Return an objective whose costs, times its scale, are the integers `costs`."""
    objective = dataclasses.replace(linear.objective, scale=scale)
    divided = np.zeros(len(linear.costs))
    for column, cost in costs.items():
        divided[column] = cost / scale
    return LinearObjective(objective, divided, offset / scale)


def _rounded(goal: _IntegerGoal, most: int) -> _IntegerGoal:
    """Round the costs of an objective to the least round step with values below `most`."""
    values = _size(goal.costs, goal.sizes)
    for step in _steps(values / most):
        whole = {column: round(cost / step) for column, cost in goal.costs.items()}
        size = sum(abs(cost) * max(1, *map(abs, goal.sizes[column])) for column, cost in whole.items())
        if size <= most:
            break
    costs = np.zeros(len(goal.linear.costs))
    costs[list(whole)] = list(whole.values())
    made = LinearObjective(dataclasses.replace(goal.linear.objective, scale=1), costs)
    errors = (
        abs(cost - whole[column] * step) * (goal.sizes[column][1] - goal.sizes[column][0])
        for column, cost in goal.costs.items()
    )
    most_off = sum(errors, 2 * (values + abs(goal.offset)) / LARGEST_INTEGER)
    largest = math.nextafter(float(most_off), math.inf)
    return dataclasses.replace(goal, linear=made, size=float(size), step=step, most=largest)


def _steps(least: Fraction) -> Iterator[Fraction]:
    """Yield 1, 2 and 5 times powers of ten, starting from the positive number `least`.

    >>> [str(step) for step in itertools.islice(_steps(Fraction(3, 100)), 4)]
    ['1/20', '1/10', '1/5', '1/2']
    """
    power = len(str(least.numerator)) - len(str(least.denominator)) - 1
    for exponent in itertools.count(power):
        for factor in (1, 2, 5):
            step = factor * Fraction(10) ** exponent
            if step >= least:
                yield step


def _within(goals: Sequence[_IntegerGoal]) -> list[_IntegerGoal]:
    """Return objectives that solvers in floating point resolve; the largest objectives are rounded."""
    if not sum(goal.size for goal in goals) >= LARGEST_VALUES:
        return list(goals)
    made = list(goals)
    room, left = float(LARGEST_VALUES), len(goals)
    for place in sorted(range(len(goals)), key=lambda place: goals[place].size):
        goal = goals[place]
        if goal.size > room / left and not math.isinf(goal.size) and len(goal.costs) > 1:
            goal = made[place] = _rounded(goal, int(room / left))
        room, left = room - goal.size, left - 1
    return made
