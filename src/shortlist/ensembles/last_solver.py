"""The solver that ends a proof: CP-SAT on a program whose cuts are clauses to it."""

from shortlist.milp import Program, open_solver
from shortlist.milp.session import Session

SOLVER = "cpsat"
"""Measured on the paper's sets (benchmarks/results/pruning-engine.csv): with the cuts it proves sooner than HiGHS, with or
without diversity, and sooner than both beside each other on two cores."""

ALL_STRATEGIES = 8
"""From so many threads on CP-SAT runs its kinds of search side by side, which closes more than fewer do, on two cores too."""


def open_last(program: Program, *, threads: int, node_limit: int | None, seed: int) -> Session:
    """Load a program; one thread, whose kinds of search take turns, where the answer must not depend on the clock."""
    several = threads > 1 and node_limit is None
    return open_solver(SOLVER).open(program, seed=seed, threads=ALL_STRATEGIES if several else 1)
