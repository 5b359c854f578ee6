"""Random programs of many kinds, small enough to list every solution, and their fronts by listing them."""

import itertools

import numpy as np
from numpy.typing import NDArray

from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.results.objective import Objective, Sense

KINDS = ("packing", "partitioning", "general", "large", "degenerate", "infeasible", "endless", "decimals")


def random_program(seed: int) -> Program:
    """Return a program whose kind, number of objectives (2 to 4) and everything else follow from the seed."""
    rng = np.random.default_rng(seed)
    kind, n_objectives = KINDS[seed % len(KINDS)], 2 + seed // len(KINDS) % 3
    n_columns, n_rows = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    rows = rng.integers(-4, 6, (n_rows, n_columns)).astype(float)
    row_lower, row_upper = np.full(n_rows, -np.inf), rng.integers(0, 9, n_rows).astype(float)
    lower, upper = np.zeros(n_columns), np.ones(n_columns)
    costs = rng.integers(-9, 10, (n_objectives, n_columns)).astype(float)
    offsets = rng.integers(-3, 4, n_objectives).astype(float)
    if kind in {"partitioning", "degenerate"}:
        rows = (rng.random((n_rows, n_columns)) < 0.6).astype(float)
        twins = rng.integers(0, n_columns, n_columns)
        rows = rows[:, twins]
        row_lower = row_upper = np.ones(n_rows)
        costs = rng.integers(0, 12 if kind == "partitioning" else 2, costs.shape).astype(float)
    if kind in {"general", "infeasible"}:
        n_columns = min(n_columns, 4)
        rows, costs = rows[:, :n_columns], costs[:, :n_columns]
        lower = rng.integers(-3, 1, n_columns).astype(float)
        upper = lower + rng.integers(0, 6, n_columns)
        row_lower = np.where(rng.random(n_rows) < 0.4, row_upper - rng.integers(0, 3, n_rows), -np.inf)
    if kind == "infeasible" and rng.random() < 0.7:
        rows = np.vstack([rows, 2 * np.ones((1, n_columns))])
        row_lower, row_upper = np.append(row_lower, 1.0), np.append(row_upper, 1.0)
    if kind == "large":
        rows, row_upper = rows * rng.integers(1, 4000), row_upper * rng.integers(1, 4000)
        costs = rng.integers(-(10 ** rng.integers(3, 10)), 10**9, costs.shape).astype(float)
    if kind == "endless":
        n_columns = min(n_columns, 4)
        rows, costs = np.abs(rows[:1, :n_columns]) + 1, costs[:, :n_columns]
        row_lower, row_upper = np.array([-np.inf]), rng.integers(0, 12, 1).astype(float)
        lower, upper = np.zeros(n_columns), np.full(n_columns, np.inf)
    if kind == "decimals":
        rows, row_upper, costs, offsets = rows / 10, row_upper / 10, costs / 4, offsets / 10
    senses = [Sense.MAX if rng.random() < 0.3 else Sense.MIN for _ in range(n_objectives)]
    return make_program(
        rows,
        row_lower=row_lower,
        row_upper=row_upper,
        column_lower=lower,
        column_upper=upper,
        integer=True,
        objectives=[
            LinearObjective(Objective(f"f{number}", sense, scale=None), row, float(offset))
            for number, (sense, row, offset) in enumerate(zip(senses, costs, offsets, strict=True))
        ],
    )


def listed_front(program: Program) -> NDArray[np.float64]:
    """Return the non-dominated values of every solution, in the user's signs, in lexicographic order minimised.

    Everything is multiplied by 100, which makes the generator's decimals integers, and counted in integers.
    """
    rows, limits = _hundredfold(program.rows.toarray()), (program.row_lower, program.row_upper)
    low, high = (_hundredfold(np.clip(limit, -1e9, 1e9)) for limit in limits)
    most = np.where(np.isfinite(program.column_upper), program.column_upper, 12.0)
    ranges = [range(int(a), int(b) + 1) for a, b in zip(program.column_lower, most, strict=True)]
    solutions = np.array(list(itertools.product(*ranges)), dtype=np.int64)
    sums = solutions @ rows.T
    solutions = solutions[((sums >= low) & (sums <= high)).all(axis=1)]
    signs = np.array([linear.objective.sign for linear in program.objectives])
    costs = _hundredfold(np.array([linear.costs for linear in program.objectives])) * signs[:, None]
    offsets = _hundredfold(np.array([linear.offset for linear in program.objectives])) * signs
    points = np.unique(solutions @ costs.T + offsets, axis=0)
    dominated = [((points <= point).all(axis=1) & (points != point).any(axis=1)).any() for point in points]
    kept: NDArray[np.float64] = points[~np.array(dominated, dtype=bool)] * signs / 100
    return kept


def _hundredfold(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(numbers * 100).astype(np.int64)
