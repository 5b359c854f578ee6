"""Random programs of all kinds, and their fronts by trying everything."""

import itertools
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shortlist.exact import seen
from shortlist.milp.program import LinearObjective, make_program
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


def all_solutions(named: NamedProgram) -> list[tuple[int, ...]]:
    """Return every solution, each row added up in fractions."""
    program = named.program
    ranges = [
        range(int(low), int(high) + 1)
        for low, high in zip(program.column_lower, program.column_upper, strict=True)
    ]
    table = program.rows.toarray().tolist()
    found = []
    for x in itertools.product(*ranges):
        sums = [sum((seen(a) * v for a, v in zip(row, x, strict=True)), Fraction(0)) for row in table]
        limits = zip(sums, program.row_lower.tolist(), program.row_upper.tolist(), strict=True)
        if all(_within(total, low, high) for total, low, high in limits):
            found.append(x)
    return found


def _within(total: Fraction, low: float, high: float) -> bool:
    return (low == -np.inf or total >= seen(low)) and (high == np.inf or total <= seen(high))


def front_by_trying(named: NamedProgram) -> NDArray[np.float64]:
    """Return the non-dominated values in the user's signs, sorted as fronts are."""
    linears = named.program.objectives
    signs = [linear.objective.sign for linear in linears]
    points = {
        tuple(
            sign
            * (sum(seen(c) * v for c, v in zip(linear.costs.tolist(), x, strict=True)) + seen(linear.offset))
            for sign, linear in zip(signs, linears, strict=True)
        )
        for x in all_solutions(named)
    }
    kept = sorted(
        p
        for p in points
        if not any(q != p and all(b <= a for a, b in zip(p, q, strict=True)) for q in points)
    )
    return np.array([[float(sign * v) for sign, v in zip(signs, p, strict=True)] for p in kept])
