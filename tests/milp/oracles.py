"""Slow and plain answers for small programs."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from shortlist.errors import MissingDependencyError
from shortlist.milp import Program
from shortlist.milp.backends import SOLVERS, open_solver


def grid(program: Program) -> list[tuple[int, ...]]:
    """List every choice of the integer columns."""
    ranges = [
        range(math.ceil(low), math.floor(high) + 1)
        for low, high, whole in zip(program.column_lower, program.column_upper, program.integer, strict=True)
        if whole
    ]
    return list(itertools.product(*ranges))


def best_objective(program: Program, costs: NDArray[np.float64], cutoff: float = math.inf) -> float:
    """Cost of the cheapest solution that costs at most `cutoff`, inf if there is none, -inf if there is no best."""
    best = math.inf
    for choice in grid(program):
        best = min(best, _best_rest(program, costs, np.array(choice, dtype=np.float64)))
    return best if best <= cutoff + 1e-9 else math.inf


def _best_rest(program: Program, costs: NDArray[np.float64], whole: NDArray[np.float64]) -> float:
    """Cost of the best continuous columns for these integer ones."""
    matrix = program.rows.toarray()
    fixed = matrix[:, program.integer] @ whole
    lower, upper = program.row_lower - fixed, program.row_upper - fixed
    paid = float(costs[program.integer] @ whole)
    if program.integer.all():
        return paid if (lower <= 0).all() and (upper >= 0).all() else math.inf
    free = matrix[:, ~program.integer]
    above, below = np.isfinite(upper), np.isfinite(lower)
    answer = linprog(
        costs[~program.integer],
        A_ub=np.vstack([free[above], -free[below]]),
        b_ub=np.concatenate([upper[above], -lower[below]]),
        bounds=np.column_stack([program.column_lower, program.column_upper])[~program.integer],
    )
    if answer.status == 3:
        return -math.inf
    return paid + float(answer.fun) if answer.status == 0 else math.inf


def installed_solvers() -> Iterator[str]:
    for name in SOLVERS:
        try:
            open_solver(name)
        except MissingDependencyError:
            continue
        yield name
