"""Current program of a session, against which every answer is checked."""

import dataclasses
import math
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.arrays import Costs, Mask
from shortlist.errors import BadInputError
from shortlist.milp.program import Program
from shortlist.milp.whole_rows import RowSizes, common_step, whole_rows

Change: TypeAlias = tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]
"""Indices of the changed rows or columns, their new lower limits, and their new upper limits."""


class CurrentProgram:
    """Program with the current costs, bounds, limits, cutoff and start.

    Rows of decimals at integer columns are kept in whole steps (:mod:`shortlist.milp.whole_rows`); solves
    and checks use this form.

    `program`: the program; its bounds and limits are own copies, changed in place. `costs`: costs to
    minimise, ``(n_columns,)``. `integral_costs`: whether every cost is an integer at an integer column, so
    that objective values are integers. `step`: greatest common divisor of integral costs, 1 for other costs;
    objective values are multiples of the step. `cutoff`: largest cost of a solution; inf without a limit.
    `start`: start of the next solve, ``(n_columns,)``.
    """

    def __init__(self, program: Program) -> None:
        self._rows = whole_rows(program)
        self.program = self._rows.program.to_change()
        self._sizes = RowSizes(self._rows)
        self.cutoff = math.inf
        self.start: NDArray[np.float64] | None = None
        costs = program.minimised_costs()
        self.set_costs(costs[0] if len(costs) else np.zeros(program.n_columns))

    def set_costs(self, costs: ArrayLike) -> Costs:
        """Check and store `costs`."""
        self.costs = _finite("costs", costs, self.program.n_columns)
        charged = self.costs != 0
        self.integral_costs = bool(
            (self.costs == np.rint(self.costs)).all() and self.program.integer[charged].all()
        )
        self.step = common_step(self.costs) if self.integral_costs else 1.0
        return self.costs

    def set_column_bounds(self, columns: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Change:
        """Check and store the bounds of `columns`."""
        change = _change("columns", columns, lower, upper, self.program.n_columns)
        self.program.column_lower[change[0]] = change[1]
        self.program.column_upper[change[0]] = change[2]
        if self._sizes.widened(*change):
            self._sizes.update(self.program)
        return change

    def set_row_bounds(self, rows: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Change:
        """Check and store the limits of `rows`."""
        which, low, high = _change("rows", rows, lower, upper, self.program.n_rows)
        change = which, *self._rows.limits(which, low, high)
        self.program.row_lower[change[0]] = change[1]
        self.program.row_upper[change[0]] = change[2]
        return change

    def set_cutoff(self, cutoff: float | None) -> None:
        """Check and store the cutoff."""
        if cutoff is not None and math.isnan(cutoff):
            raise BadInputError("cutoff", "must be a number or None", "NaN")
        self.cutoff = math.inf if cutoff is None else float(cutoff)

    def set_start(self, values: ArrayLike | None) -> None:
        """Check and store the start."""
        self.start = None if values is None else _finite("start", values, self.program.n_columns)

    @property
    def tight_cutoff(self) -> float:
        """Cutoff, lowered to the next possible value of the objective."""
        if not self.integral_costs or not math.isfinite(self.cutoff):
            return self.cutoff
        return float(math.floor((self.cutoff + 1e-6) / self.step) * self.step)

    @property
    def size(self) -> float:
        """Largest sum of a row, or of the costs in steps; a solver must tell it from the next lower sum."""
        charged = self._sizes.of(self.costs) / self.step if self.integral_costs else 0.0
        return max(self._sizes.largest(self.program), charged)

    @property
    def empty(self) -> bool:
        """Whether some row or column has a lower limit above its upper limit."""
        program = self.program
        return bool(
            empty_intervals(program.row_lower, program.row_upper).any()
            or empty_intervals(program.column_lower, program.column_upper).any()
            or self.cutoff == -math.inf
        )

    def objective(self, values: NDArray[np.float64]) -> float:
        """Return the cost of `values`, without rounding errors in the sum."""
        return math.fsum((self.costs * values).tolist())

    def cost_size(self, values: NDArray[np.float64]) -> float:
        """Return the size of the terms of the objective, at least 1; tolerances are relative to this size."""
        return float(max(1.0, np.abs(self.costs * values).sum()))


def empty_intervals(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> Mask:
    """Mark the intervals that contain no finite number."""
    mask: Mask = (lower > upper) | (lower == math.inf) | (upper == -math.inf)
    return mask


def without_empty_intervals(program: Program) -> Program:
    """Return the program with every empty interval widened.

    Solvers refuse empty intervals; the session handles them.
    """
    rows = empty_intervals(program.row_lower, program.row_upper)
    columns = empty_intervals(program.column_lower, program.column_upper)
    if not rows.any() and not columns.any():
        return program
    return dataclasses.replace(
        program,
        row_lower=np.where(rows, -math.inf, program.row_lower),
        row_upper=np.where(rows, math.inf, program.row_upper),
        column_lower=np.where(columns, 0.0, program.column_lower),
        column_upper=np.where(columns, 0.0, program.column_upper),
    )


def _finite(name: str, values: ArrayLike, length: int) -> NDArray[np.float64]:
    array = np.array(values, dtype=np.float64)
    if array.shape != (length,) or not np.isfinite(array).all():
        raise BadInputError(
            name,
            f"must be {length} finite numbers, one for each column",
            f"shape {array.shape}{('' if np.isfinite(array).all() else ' with NaN or infinity')}",
        )
    return array


def _change(name: str, numbers: ArrayLike, lower: ArrayLike, upper: ArrayLike, length: int) -> Change:
    which = np.atleast_1d(np.asarray(numbers))
    if which.size == 0:
        which = which.astype(np.int32)
    if which.ndim != 1 or which.dtype.kind not in "iu" or (which < 0).any() or (which >= length).any():
        raise BadInputError(name, f"must be whole numbers from 0 to {length - 1}", repr(numbers))
    if len(np.unique(which)) < len(which):
        raise BadInputError(name, "must differ", repr(numbers), "Name each only once.")
    limits = []
    for side, values in (("lower", lower), ("upper", upper)):
        array = np.asarray(values, dtype=np.float64)
        if array.shape not in {(), which.shape} or np.isnan(array).any():
            raise BadInputError(side, f"must be one number or {len(which)} of them, not NaN", repr(values))
        limits.append(np.array(np.broadcast_to(array, which.shape)))
    return which.astype(np.int32), limits[0], limits[1]
