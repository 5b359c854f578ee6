"""Random programs of all kinds, and their fronts by trying everything."""

import dataclasses
import itertools
import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.exact import seen
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.programs.named_program import NamedProgram
from shortlist.results.objective import Objective, Sense


def random_program(rng: np.random.Generator) -> NamedProgram:
    """Return a small program: equalities, general integers, negative, large and decimal numbers, no solution."""
    n, n_rows, n_objectives = int(rng.integers(2, 6)), int(rng.integers(0, 4)), int(rng.integers(2, 5))
    factor = float(rng.choice([1, 1, 0.1, 1000]))
    rows = np.round(rng.integers(-4, 5, (n_rows, n)) * factor, 9)
    lower = rng.integers(-2, 2, n).astype(np.float64)
    upper = lower + rng.integers(0, 4, n)
    inside = rng.integers(lower.astype(np.int64), upper.astype(np.int64) + 1)
    middle = rows @ inside
    kinds = rng.integers(0, 3, n_rows)
    low = np.where(kinds == 0, -np.inf, middle - (kinds == 2) * factor)
    high = np.where(kinds == 1, np.inf, middle + (rng.random(n_rows) < 0.2) * -7 * factor)
    equal = rng.random(n_rows) < 0.2
    low, high = np.where(equal, middle, np.minimum(low, high)), np.where(equal, middle, high)
    low, high = np.round(low, 9), np.round(high, 9)
    scale = float(rng.choice([1, 0.25, 1000]))
    objectives = [
        LinearObjective(
            Objective(f"f{j}", Sense(str(rng.choice(["min", "max"]))), scale=None),
            np.asarray(rng.integers(-5, 6, n) * scale, dtype=np.float64),
            float(rng.integers(-3, 4)),
        )
        for j in range(n_objectives)
    ]
    program = make_program(
        rows.reshape(n_rows, n),
        row_lower=low,
        row_upper=high,
        column_lower=lower,
        column_upper=upper,
        integer=True,
        objectives=objectives,
    )
    return NamedProgram(program, tuple(f"x{i}" for i in range(n)), tuple(f"r{i}" for i in range(n_rows)))


def strange_program(rng: np.random.Generator) -> NamedProgram:
    """Return a random program with what files have besides.

    Limits fall between integers, by little or by much. A bound may be missing where a row replaces it, or
    cross the other one. An objective may have a decimal constant. A continuous column, the last one, may be
    there, in some of the rows and objectives.
    """
    named = random_program(rng)
    program = named.program
    shift = np.round(rng.choice([0.0, 0.5, 1e-7, -1e-7], (2, program.n_rows)), 9)
    lower, upper = program.column_lower.copy(), program.column_upper.copy()
    column, kind = int(rng.integers(program.n_columns)), int(rng.integers(6))
    rows = sparse.csr_array(sparse.vstack([program.rows, np.eye(1, program.n_columns, column)]))
    low, high = (
        np.append(program.row_lower + shift[0], lower[column]),
        np.append(program.row_upper + shift[1], 3.5),
    )
    if kind < 2:  # the last row says the same, but for a half
        lower[column], upper[column] = (-np.inf, upper[column]) if kind else (lower[column], np.inf)
    elif kind == 2:
        lower[column], upper[column] = upper[column] + 0.3, upper[column] + 0.6
    objectives = tuple(
        dataclasses.replace(one, offset=float(rng.choice([0.0, 0.25, -7.0]))) for one in program.objectives
    )
    made = dataclasses.replace(
        program, rows=rows, row_lower=np.round(low, 9), row_upper=np.round(high, 9),
        column_lower=lower, column_upper=upper, objectives=objectives,
    )  # fmt: skip
    names = named.columns, (*named.rows, "instead of a bound")
    return (
        _with_continuous(NamedProgram(made, *names), rng)
        if rng.random() < 0.3
        else NamedProgram(made, *names)
    )


def _with_continuous(named: NamedProgram, rng: np.random.Generator) -> NamedProgram:
    """Return the program with a continuous column, whose bounds may cross.

    Some rows have it, though none whose limits a solver in floating point could not tell from others, and
    some objectives, which then need the steps of :func:`steps_of`.
    """
    program = named.program
    told = [
        all(np.isinf(limit) or limit == round(limit, 3) for limit in limits)
        for limits in zip(program.row_lower.tolist(), program.row_upper.tolist(), strict=True)
    ]
    told[-1] = False  # it stands for a bound of an integer column, which brute force must know
    in_rows = np.where(told, rng.integers(-2, 3, program.n_rows), 0).astype(np.float64)
    counts = rng.permutation(len(program.objectives)) < rng.integers(
        0, 5 - len(program.objectives), endpoint=True
    )
    costs = [
        _unit(one) * float(rng.choice([-2, -1, 1, 2])) * bool(marked)
        for one, marked in zip(program.objectives, counts, strict=True)
    ]
    return dataclasses.replace(
        named,
        columns=(*named.columns, "z"),
        program=dataclasses.replace(
            program,
            rows=sparse.csr_array(sparse.hstack([program.rows, sparse.csr_array(in_rows[:, None])])),
            column_lower=np.append(program.column_lower, 0.5),
            column_upper=np.append(program.column_upper, rng.choice([0.5, 7.0, 7.0, 0.25])),
            integer=np.append(program.integer, False),
            objectives=tuple(
                dataclasses.replace(one, costs=np.append(one.costs, cost))
                for one, cost in zip(program.objectives, costs, strict=True)
            ),
        ),
    )


def steps_of(named: NamedProgram) -> dict[str, float]:
    """Return a step for each objective that a continuous column counts in."""
    return {
        one.objective.name: _unit(one)
        for one in named.program.objectives
        if one.costs[~named.program.integer].any()
    }


def _unit(linear: LinearObjective) -> float:
    """Return what makes some dozen steps of an objective, however large its costs are."""
    return 1.0 if np.abs(linear.costs).max() <= 5 else 1000.0


def wide_program(rng: np.random.Generator) -> NamedProgram:
    """Return a program of 30 to 36 binary columns of which at most two are chosen."""
    n = int(rng.integers(30, 37))
    weights = rng.integers(1, 9, n)
    objectives = [
        LinearObjective(Objective(name, sense, scale=None), rng.integers(-9, 30, n).astype(np.float64))
        for name, sense in (("cost", Sense.MIN), ("value", Sense.MAX), ("risk", Sense.MIN))
    ]
    program = make_program(
        np.vstack([np.ones(n), weights * 0.1]), row_lower=[1, -np.inf], row_upper=[2, 0.95],
        column_lower=0, column_upper=1, integer=True, objectives=objectives,
    )  # fmt: skip
    return NamedProgram(program, tuple(f"x{i}" for i in range(n)), ("some", "weight"))


def all_solutions(named: NamedProgram) -> list[tuple[int, ...]]:
    """Return every solution, each row added up in fractions; columns without a bound are tried up to 9."""
    program = named.program
    columns = zip(program.column_lower, program.column_upper, program.integer, strict=True)
    ranges = [
        range(math.ceil(max(low, -9)), math.floor(min(high, 9)) + 1)
        if whole
        else range(1)  # a continuous column: see _room
        for low, high, whole in columns
    ]
    return _within_rows(named, itertools.product(*ranges))


def few_chosen(named: NamedProgram, most: int) -> list[tuple[int, ...]]:
    """Return the solutions of a program of binary columns that choose up to so many of them."""
    n = named.program.n_columns
    sets = itertools.chain.from_iterable(itertools.combinations(range(n), size) for size in range(most + 1))
    return _within_rows(named, (tuple(int(i in chosen) for i in range(n)) for chosen in map(set, sets)))


def _within_rows(named: NamedProgram, tried: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    table = named.program.rows.toarray().tolist()
    return [x for x in tried if _room(named.program, table, x) is not None]


def _room(program: Program, table: list[list[float]], x: tuple[int, ...]) -> tuple[Fraction, Fraction] | None:
    """Return between what the continuous column may lie, if there is one; None if `x` is no solution."""
    least, most = Fraction(0), Fraction(0)
    z = program.n_columns - 1
    if not program.integer[z]:
        least, most = (seen(bound[z]) for bound in (program.column_lower, program.column_upper))
    for row, low, high in zip(table, program.row_lower.tolist(), program.row_upper.tolist(), strict=True):
        total = sum((seen(a) * v for a, v in zip(row, x, strict=True)), Fraction(0))
        factor = Fraction(0) if program.integer[z] else seen(row[z])
        if not factor and not _within(total, low, high):
            return None
        for limit, is_upper in ((low, False), (high, True)):
            if factor and math.isfinite(limit):
                end = (seen(limit) - total) / factor
                least, most = (least, min(most, end)) if is_upper == (factor > 0) else (max(least, end), most)
    return (least, most) if least <= most else None


def _within(total: Fraction, low: float, high: float) -> bool:
    return (low == -np.inf or total >= seen(low)) and (high == np.inf or total <= seen(high))


def _points(named: NamedProgram, x: tuple[int, ...]) -> Iterator[tuple[Fraction, ...]]:
    """Yield the minimised values of a solution: where the continuous column counts, all steps it may come to."""
    steps, room = steps_of(named), _room(named.program, named.program.rows.toarray().tolist(), x)
    assert room is not None, "a solution has some room"

    def values(place: int, room: tuple[Fraction, Fraction]) -> Iterator[tuple[Fraction, ...]]:
        if place == len(named.program.objectives):
            yield ()
            return
        linear = named.program.objectives[place]
        sign, costs = linear.objective.sign, linear.costs.tolist()
        constant = sign * (sum(seen(c) * v for c, v in zip(costs, x, strict=True)) + seen(linear.offset))
        if linear.objective.name not in steps:
            for others in values(place + 1, room):
                yield (constant, *others)
            return
        step, factor = seen(steps[linear.objective.name]), sign * seen(costs[-1])
        ends = sorted(math.ceil((constant + factor * end) / step) for end in room)
        for number in range(ends[0], ends[1] + 1):
            end = (number * step - constant) / factor
            least, most = (room[0], min(room[1], end)) if factor > 0 else (max(room[0], end), room[1])
            if least <= most:
                for others in values(place + 1, (least, most)):
                    yield (number * step, *others)

    yield from values(0, room)


def front_by_trying(
    named: NamedProgram, solutions: list[tuple[int, ...]] | None = None
) -> NDArray[np.float64]:
    """Return the non-dominated values in the user's signs, sorted as fronts are."""
    signs = [linear.objective.sign for linear in named.program.objectives]
    tried = all_solutions(named) if solutions is None else solutions
    points = {point for x in tried for point in _points(named, x)}
    kept = sorted(
        p
        for p in points
        if not any(q != p and all(b <= a for a, b in zip(p, q, strict=True)) for q in points)
    )
    return np.array([[float(sign * v) for sign, v in zip(signs, p, strict=True)] for p in kept])
