"""Engines of solvers that get the whole program anew for every run."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Costs
from shortlist.milp.current import Change
from shortlist.milp.program import Program


@dataclass
class Rebuilt:
    """A program, its costs, cutoff and start as they now are; a subclass runs a solver on it."""

    program: Program
    costs: Costs
    seed: int
    threads: int = 1
    cutoff: float = math.inf
    start: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        names = ("row_lower", "row_upper", "column_lower", "column_upper")
        self.program = replace(self.program, **{name: getattr(self.program, name).copy() for name in names})

    def change_costs(self, costs: Costs) -> None:
        """Minimise these from now on."""
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
        """Admit only what costs at most `cutoff`."""
        self.cutoff = cutoff

    def offer_start(self, values: NDArray[np.float64]) -> None:
        """Start the next run from a solution."""
        self.start = values

    def taken_start(self) -> NDArray[np.float64] | None:
        """Return the start of this run; the next has none."""
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
