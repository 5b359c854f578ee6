"""A program over those of its columns that are still free."""

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Costs, Floats
from shortlist.methods.integer.dual_bounds import Interval
from shortlist.milp.program import Program


@dataclass(frozen=True, eq=False)
class ProgramPart:
    """A program without the columns that have one value, and the way back.

    Columns whose bounds cross have none, and stay in it, which then has no solution.

    `program`: over the free columns, without objectives. `costs`, ``(n_free,)``: to minimise. `constant`:
    what the costs are less than those of the whole program, in every solution. `free`, ``(n_free,)``: the
    columns. `values`, ``(n_columns,)``: what the other columns are; 0 at the free ones.
    """

    program: Program
    costs: Costs
    constant: float
    free: NDArray[np.intp]
    values: Floats

    @property
    def size(self) -> float:
        """The largest sum of the costs that a solver has to tell from the next."""
        lower, upper = self.program.column_lower, self.program.column_upper
        reach = np.maximum(np.abs(lower), np.abs(upper))
        return float(np.abs(self.costs) @ np.where(np.isfinite(reach), np.maximum(reach, 1.0), 1.0))

    @property
    def bounds(self) -> Interval:
        """Bounds of the free columns."""
        return self.program.column_lower, self.program.column_upper

    def whole(self, values: Floats) -> Floats:
        """Return the columns of the whole program."""
        all_values = self.values.copy()
        all_values[self.free] = values
        return all_values


class Parts:
    """A program whose parts are taken again and again."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._columns = program.rows.tocsc()
        self._by_column = sparse.csr_array(self._columns.T)
        integral = program.integral_rows() & (program.row_lower == program.row_upper)
        self._equations = np.flatnonzero(integral)

    def part(
        self, bounds: Interval, limits: Interval, costs: Costs, duals: Floats | None = None
    ) -> ProgramPart:
        """Return the part within `bounds` of the columns and `limits` of the rows.

        Where `duals` of the rows are given, their nearest integers, times the equations, are taken from the
        costs. In every solution that changes them by a constant, and costs near 0 are told apart by a solver
        whose tolerance would hide a step of the large ones.
        """
        free = np.flatnonzero(bounds[0] != bounds[1])
        values = bounds[0].copy()
        values[free] = 0.0
        constants = self.program.rows @ values
        constant = 0.0
        if duals is not None:
            multipliers = np.zeros(self.program.n_rows)
            multipliers[self._equations] = np.rint(duals[self._equations])
            costs = costs - self._by_column @ multipliers
            constant = float(multipliers[self._equations] @ self.program.row_lower[self._equations])
        part = dataclasses.replace(
            self.program,
            rows=sparse.csr_array(self._columns[:, free]),
            row_lower=limits[0] - constants,
            row_upper=limits[1] - constants,
            column_lower=bounds[0][free],
            column_upper=bounds[1][free],
            integer=self.program.integer[free],
            objectives=(),
        )
        return ProgramPart(part, costs[free], constant + float(costs @ values), free, values)
