"""Backends: one file per solver, and shared parts.

Only the file of a solver imports it; solvers are opened by name.

A new solver takes a file here, and a row of `SOLVERS` in ``shortlist/solvers.py``.
"""

import importlib
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist import solvers
from shortlist._validation import as_choice, as_count
from shortlist.arrays import Costs
from shortlist.milp.current import Change
from shortlist.milp.engine import CheckedSession
from shortlist.milp.program import Program
from shortlist.milp.solution import Solver, SolverEngine
from shortlist.milp.whole_rows import FINEST_TOLERANCE

SOLVERS = tuple(solvers.SOLVERS)
"""Names of the solvers; the first one is the default."""

LARGEST_SEED = 2_000_000_000
"""Largest seed that every solver accepts."""


def open_solver(name: str = "highs", *, short_programs: bool = False, presolve: bool = False) -> Solver:
    """Return the backend called `name`; only now is its solver imported.

    `short_programs`: whether each session solves programs that take fractions of a second; only HiGHS and
    CP-SAT use this. `presolve`: whether HiGHS presolves short programs all the same.

    Raises
    ------
    BadInputError
        If there is no such solver.
    MissingDependencyError
        If the solver is an extra that is not installed; the message says how to install it.
    """
    as_choice(name, "solver", SOLVERS)
    return _backend(name)(short_programs, presolve)


def _backend(name: str) -> "type[Backend]":
    found: type[Backend] = getattr(
        importlib.import_module(f"{__name__}.{name}"), solvers.SOLVERS[name].backend
    )
    return found


@dataclass
class Backend:
    """Solver with sessions that check input and output; a subclass loads the solver."""

    short_programs: bool = False
    presolve: bool = False
    name = ""
    handles_continuous = True
    tolerance = FINEST_TOLERANCE

    def open(self, program: Program, *, seed: int = 0, threads: int = 1) -> CheckedSession:
        """Load `program`; its first objective, if any, gives the costs.

        Raises BadInputError if the solver does not accept the program.
        """
        seed = as_count(seed, "seed", at_least=0) % LARGEST_SEED
        as_count(threads, "threads")
        self.check(program)
        return CheckedSession(
            program,
            lambda clean, costs: self.load(clean, costs, seed, threads),
            tolerance=self.tolerance,
            load_exactly=lambda clean, costs: _backend("cpsat")().load(clean, costs, seed, threads),
        )

    def check(self, program: Program) -> None:
        """Raise BadInputError for a program that the solver does not accept."""

    def load(self, program: Program, costs: Costs, seed: int, threads: int) -> SolverEngine:
        """Return an engine with the program, without empty intervals."""
        raise NotImplementedError  # the file of each solver defines it; this class alone loads none


@dataclass
class Rebuilt:
    """Current program, costs, cutoff and start of a solver that loads all these data anew for every run."""

    program: Program
    costs: Costs
    seed: int
    threads: int = 1
    cutoff: float = math.inf
    start: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        self.program = self.program.to_change()

    def change_costs(self, costs: Costs) -> None:
        """Replace the costs to minimise."""
        self.costs = costs

    def change_column_bounds(self, change: Change) -> None:
        """Replace bounds of columns."""
        columns, lower, upper = change
        self.program.column_lower[columns] = lower
        self.program.column_upper[columns] = upper

    def change_row_bounds(self, change: Change) -> None:
        """Replace limits of rows."""
        rows, lower, upper = change
        self.program.row_lower[rows] = lower
        self.program.row_upper[rows] = upper

    def change_cutoff(self, cutoff: float) -> None:
        """Admit only solutions that cost at most `cutoff`."""
        self.cutoff = cutoff

    def offer_start(self, values: NDArray[np.float64]) -> None:
        """Store a solution as the start of the next run."""
        self.start = values

    def taken_start(self) -> NDArray[np.float64] | None:
        """Return the start of this run, and clear it so that the next run has no start."""
        start, self.start = self.start, None
        return start

    def whole(self) -> Program:
        """Return the program without entries of 0, with a last row that limits the costs to the cutoff."""
        program = self.program
        if math.isfinite(self.cutoff):
            program = program.with_rows(self.costs[None, :], -np.inf, self.cutoff)
        rows = sparse.csr_array(program.rows, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        return replace(program, rows=rows)
