"""Slow and plain: fronts by enumeration, in fractions."""

import csv
import itertools
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense

Point = tuple[Fraction, ...]


def decimal(number: float) -> Fraction:
    """The decimal that a person would read."""
    return Fraction(repr(float(number)))


def is_feasible(program: Program, columns: tuple[int, ...]) -> bool:
    """Whether integers in all columns satisfy the program, whose rows are integers."""
    for row, lower, upper in zip(program.rows.toarray(), program.row_lower, program.row_upper, strict=True):
        total = sum(int(a) * x for a, x in zip(row, columns, strict=True))
        if not lower <= total <= upper:
            return False
    return all(
        lower <= x <= upper
        for x, lower, upper in zip(columns, program.column_lower, program.column_upper, strict=True)
    )


def value(program: Program, columns: tuple[int, ...]) -> Point:
    """The objectives of a solution, in the user's signs."""
    return tuple(
        sum((decimal(c) * x for c, x in zip(linear.costs, columns, strict=True)), decimal(linear.offset))
        for linear in program.objectives
    )


def dominates(program: Program, a: Point, b: Point) -> bool:
    """Whether `a` is no worse than `b` everywhere and different from it."""
    signs = [1 if linear.objective.sense is Sense.MIN else -1 for linear in program.objectives]
    return a != b and all(s * x <= s * y for s, x, y in zip(signs, a, b, strict=True))


def front(program: Program) -> set[Point]:
    """The non-dominated points of a program with bounded integer columns."""
    ranges = [
        range(int(lower), int(upper) + 1)
        for lower, upper in zip(program.column_lower, program.column_upper, strict=True)
    ]
    points = {
        value(program, columns) for columns in itertools.product(*ranges) if is_feasible(program, columns)
    }
    return {a for a in points if not any(dominates(program, b, a) for b in points)}


def as_set(found: Front) -> set[Point]:
    """The points of a front as decimals."""
    return {tuple(decimal(number) for number in row) for row in found.values.tolist()}


def paper_program(path: Path) -> Program:
    """Read a program of the product-line study: objectives, variables, inequations and equations."""
    text = path.read_text()
    objectives, _, inequations, equations = re.split(r"\w+ ==", text)[1:]
    names, *rows = [line.strip() for line in objectives.strip().splitlines() if line.strip()]
    costs = [[float(number) for number in row.strip("[]").split(";")] for row in rows]
    n_columns = len(costs[0])
    matrix, lower, upper = [], [], []
    for block, is_equation in ((inequations, False), (equations, True)):
        for entries in re.findall(r"\{([^}]*)\}", block):
            row = np.zeros(n_columns + 1)
            for entry in entries.split(","):
                column, coefficient = entry.split("=")
                row[int(column)] += float(coefficient)
            matrix.append(row[:n_columns])
            lower.append(row[n_columns] if is_equation else -np.inf)
            upper.append(row[n_columns])
    return make_program(
        np.array(matrix),
        row_lower=lower,
        row_upper=upper,
        column_lower=0,
        column_upper=1,
        integer=True,
        objectives=[
            LinearObjective(Objective(name.strip(), scale=None), np.array(row))
            for name, row in zip(names.split(";"), costs, strict=True)
        ],
    )


def paper_front(path: Path, n_columns: int) -> NDArray[np.float64]:
    """Read a reference front in the order and the signs of :func:`paper_program`, sorted."""
    with path.open() as lines:
        rows = [[float(number) for number in row] for row in list(csv.reader(lines))[1:]]
    points = np.array(rows) - [n_columns, 0, 0, 0]  # the program minimises minus the selected features
    return points[np.lexsort(points.T[::-1])]
