"""Programs without the columns that no front needs, and parts over the free columns."""

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Costs, Floats, Mask
from shortlist.methods.integer.dual_bounds import Interval
from shortlist.milp.program import Program
from shortlist.milp.whole_rows import whole_rows


@dataclass(frozen=True, eq=False)
class ProgramPart:
    """Program without its fixed columns, and the data to restore them.

    Columns whose bounds cross have no value; they stay in the part, which then has no solution.

    `program`: over the free columns, without objectives. `costs`, ``(n_free,)``: costs to minimise.
    `constant`: difference between the costs of the part and of the whole program, the same in every solution.
    `free`, ``(n_free,)``: indices of the free columns. `values`, ``(n_columns,)``: values of the other
    columns; 0 at the free columns.
    """

    program: Program
    costs: Costs
    constant: float
    free: NDArray[np.intp]
    values: Floats

    @property
    def size(self) -> float:
        """Largest sum of the costs; a solver must tell it from the sum one unit lower."""
        lower, upper = self.program.column_lower, self.program.column_upper
        reach = np.maximum(np.abs(lower), np.abs(upper))
        return float(np.abs(self.costs) @ np.where(np.isfinite(reach), np.maximum(reach, 1.0), 1.0))

    @property
    def bounds(self) -> Interval:
        """Bounds of the free columns."""
        return self.program.column_lower, self.program.column_upper

    def whole(self, values: Floats) -> Floats:
        """Return all columns of the whole program for values of the free columns."""
        all_values = self.values.copy()
        all_values[self.free] = values
        return all_values


class Parts:
    """Program from which parts are taken repeatedly."""

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

        If `duals` of the rows are given, their nearest integers, times the equations, are subtracted from the
        costs. This changes the costs of every solution by the same constant. A solver then resolves a step of
        the costs, which are near 0; its tolerance would hide a step of large costs.
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


def needed_columns(program: Program, costs: NDArray[np.int64]) -> Mask:
    """Mark the columns that non-dominated vectors may need; all other columns can be fixed at 0.

    Integer columns with the same coefficient in every row, and 0 as their lower bound, form a group. Let t be
    the largest sum that a row allows a group. A member j can go if another member k costs no more in any
    objective and the upper bound of k is at least t: in every solution the value of j can be moved to k. No
    row changes, no objective grows, and k stays within its bounds because the whole group adds up to t at
    most. So every non-dominated vector keeps a solution. Of members with equal costs the first member stays.

    `program`: program with rows and bounds. `costs`, ``(n_objectives, n_columns)``: costs to minimise.

    Takes O(n_entries) time to group the columns, and the square of a group's size to compare its members.

    >>> from shortlist.milp.program import make_program
    >>> one_of = make_program(
    ...     [[1, 1, 1]], row_lower=1, row_upper=1, column_lower=0, column_upper=1, integer=True
    ... )
    >>> needed_columns(one_of, np.array([[3, 2, 4], [1, 1, 0]])).tolist()
    [False, True, True]
    """
    needed = np.ones(program.n_columns, dtype=bool)
    whole = whole_rows(program)
    limits = _Limits(whole.program, whole.whole)
    for group in _groups(program):
        most = limits.largest_sum(group)
        takers = program.column_upper[group] >= most
        if takers.any():
            needed[group] = ~_dominated(costs[:, group], takers)
    return needed


def _groups(program: Program) -> list[NDArray[np.intp]]:
    """Return the groups of two or more integer columns with lower bound 0 and equal entries."""
    columns = program.rows.tocsc()
    columns.eliminate_zeros()
    columns.sort_indices()
    starts = columns.indptr.tolist()
    by_entries: dict[tuple[bytes, bytes], list[int]] = {}
    for column in np.flatnonzero(program.integer & (program.column_lower == 0)).tolist():
        part = slice(starts[column], starts[column + 1])
        key = columns.indices[part].tobytes(), columns.data[part].tobytes()
        by_entries.setdefault(key, []).append(column)
    return [np.array(group) for group in by_entries.values() if len(group) > 1]


class _Limits:
    """Integer rows, and the least and largest value of each term."""

    def __init__(self, program: Program, whole: Mask) -> None:
        self._columns = program.rows.tocsc()
        self._whole = whole
        self._lower, self._upper = program.row_lower, program.row_upper
        positive, negative = program.rows.maximum(0), program.rows.minimum(0)
        low, high = program.column_lower, program.column_upper
        with np.errstate(invalid="ignore"):
            self._least = positive @ low + negative @ high
            self._most = positive @ high + negative @ low
        self._high = high

    def largest_sum(self, group: NDArray[np.intp]) -> float:
        """Return the largest sum of a group's columns within bounds and single rows."""
        column = slice(self._columns.indptr[group[0]], self._columns.indptr[group[0] + 1])
        rows, factors = self._columns.indices[column], self._columns.data[column]
        most = float(self._high[group].sum())
        for row, factor in zip(rows.tolist(), factors.tolist(), strict=True):
            if not self._whole[row] or factor == 0:
                continue
            # at 0 the group adds nothing to this end of the row
            left = self._upper[row] - self._least[row] if factor > 0 else self._most[row] - self._lower[row]
            if np.isfinite(left):
                most = min(most, float(np.floor(left / abs(factor))))
        return max(most, 0.0)


def _dominated(costs: NDArray[np.int64], takers: Mask) -> Mask:
    """Mark the columns that a taker makes unnecessary.

    The taker costs no more, and some taker of a marked column stays.
    """
    no_worse = (costs[:, :, None] <= costs[:, None, :]).all(axis=0)  # [k, j]: k costs no more than j
    equal = no_worse & no_worse.T
    order = np.arange(costs.shape[1])
    # among equal columns a taker comes first, then the first column
    before = (takers[:, None] & ~takers[None, :]) | (
        (takers[:, None] == takers[None, :]) & (order[:, None] < order[None, :])
    )
    beats = no_worse & takers[:, None] & (~equal | before)
    mask: Mask = beats.any(axis=0)
    return mask
