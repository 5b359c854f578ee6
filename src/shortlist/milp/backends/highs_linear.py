"""Linear program kept in HiGHS while rows are added and removed."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Costs, Floats
from shortlist.errors import RefusedProgramError
from shortlist.runs.budget import Budget

if TYPE_CHECKING:
    import highspy

Columns = NDArray[np.int32]

DUAL, PRIMAL = 1, 4
EVERY = 32
"""Number of simplex steps between two checks of the budget."""
LARGEST_COST = 1e6

Basis: TypeAlias = "highspy.HighsBasis"


def cost_unit(costs: NDArray[Any]) -> float:
    """Return the divisor of large costs for HiGHS; multipliers from HiGHS are multiplied by it again."""
    return max(1.0, float(np.abs(costs).max(initial=0)) / LARGEST_COST)


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """Answer of HiGHS in floating point, to be checked by the caller.

    `optimal`: False if the limit or the cancellation came first; `values` and `duals` are then the last ones
    that HiGHS reached. `values`: the columns, ``(n_columns,)``. `duals`: at most 0 for rows with an upper
    limit, at least 0 for rows with a lower limit, ``(n_rows,)``. `ray`: multipliers of the rows that prove,
    with the bounds of the columns, that there is no solution (Farkas' lemma), ``(n_rows,)``.
    """

    optimal: bool
    values: Floats
    duals: Floats
    ray: Floats | None = None


class LinearProgram:
    """Linear program: columns with costs to minimise and bounds, and rows that can be added and deleted.

    Every solve starts from the last basis.
    """

    def __init__(self, costs: Costs, lower: Floats, upper: Floats, *, costs_change: bool = False) -> None:
        import highspy  # 0.3 s, which predictions of a pruned ensemble need not take

        self._solver = highspy.Highs()
        options = {
            "output_flag": False,
            "threads": 1,
            "solver": "simplex",
            "presolve": "off",
            # the last basis stays primal feasible when costs change, and dual feasible when rows are added
            "simplex_strategy": PRIMAL if costs_change else DUAL,
        }
        for option, value in options.items():
            self._check(self._solver.setOptionValue(option, value), f"option {option}")
        nothing = np.empty(0, dtype=np.int32)
        self._check(
            self._solver.addCols(len(costs), costs, lower, upper, 0, nothing, nothing, np.empty(0)), "columns"
        )

    @property
    def n_rows(self) -> int:
        """Current number of rows."""
        return int(self._solver.getNumRow())

    def add_rows(self, rows: Sequence[tuple[Columns, Floats]], lower: Floats, upper: Floats) -> None:
        """Append sparse rows, each with its columns and coefficients."""
        if not rows:
            return
        sizes = [len(columns) for columns, _ in rows]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
        columns = np.concatenate([columns for columns, _ in rows]).astype(np.int32)
        numbers = np.concatenate([coefficients for _, coefficients in rows])
        shape = len(rows), self._solver.getNumCol()
        self.add_matrix(
            sparse.csr_array((numbers, columns, np.append(starts, len(columns))), shape), lower, upper
        )

    def add_matrix(self, rows: sparse.csr_array, lower: Floats, upper: Floats) -> None:
        """Append the rows of a matrix, ``(n_rows, n_columns)``."""
        starts, columns = rows.indptr[:-1].astype(np.int32), rows.indices.astype(np.int32)
        numbers = rows.data.astype(np.float64)
        self._check(
            self._solver.addRows(len(starts), lower, upper, len(columns), starts, columns, numbers), "rows"
        )

    def delete_rows(self, places: NDArray[np.int64]) -> None:
        """Delete rows; later rows move up."""
        if len(places):
            self._check(self._solver.deleteRows(len(places), places.astype(np.int32)), "the rows to delete")

    def set_costs(self, costs: Costs) -> None:
        """Replace all costs."""
        self._check(
            self._solver.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs), "costs"
        )

    def set_column(self, column: int, rows: NDArray[np.int64], coefficients: Floats) -> None:
        """Replace the coefficients of a column in the given rows."""
        for row, coefficient in zip(rows.tolist(), coefficients.tolist(), strict=True):
            self._check(self._solver.changeCoeff(row, column, coefficient), "a coefficient")

    def set_column_bounds(self, columns: NDArray[np.int64], lower: Floats, upper: Floats) -> None:
        """Replace the bounds of the given columns."""
        if len(columns):
            self._check(
                self._solver.changeColsBounds(len(columns), columns.astype(np.int32), lower, upper),
                "bounds of columns",
            )

    @property
    def basis(self) -> Basis:
        """Basis of the last solve."""
        return self._solver.getBasis()

    @basis.setter
    def basis(self, basis: Basis) -> None:
        self._check(self._solver.setBasis(basis), "the basis")

    def set_row_bounds(self, rows: NDArray[np.int64], lower: Floats, upper: Floats) -> None:
        """Replace the limits of the given rows."""
        if len(rows):
            self._check(
                self._solver.changeRowsBounds(len(rows), rows.astype(np.int32), lower, upper),
                "limits of rows",
            )

    def solve(self, budget: Budget) -> LinearSolution:
        """Minimise from the last basis, until the budget ends."""
        import highspy

        solver = self._solver
        clock, deadline, cancellation = budget.clock, budget.deadline, budget.cancellation
        heard = itertools.count()

        def hear(_kind: int, _message: str, _news: Any, answer: Any, _data: object) -> None:
            if next(heard) % EVERY:
                return
            if cancellation.cancelled or clock() >= deadline:
                answer.user_interrupt = True

        solver.setCallback(hear, None)
        try:
            solver.startCallback(highspy.cb.HighsCallbackType.kCallbackSimplexInterrupt)
            self._check(solver.run(), "the solve")
        finally:
            solver.setCallback(None, None)
            highspy.Highs.resetGlobalScheduler(False)  # HiGHS keeps one for every thread that it ran in
        solution = solver.getSolution()
        return LinearSolution(
            solver.getModelStatus() == highspy.HighsModelStatus.kOptimal,
            np.array(solution.col_value, dtype=np.float64),
            np.array(solution.row_dual, dtype=np.float64),
            self._ray() if solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible else None,
        )

    def _ray(self) -> Floats | None:
        """Return the dual ray of a program found infeasible; None if HiGHS has none."""
        status, found, ray = self._solver.getDualRay()
        self._check(status, "the dual ray")
        return np.array(ray, dtype=np.float64) if found else None

    def _check(self, status: "highspy.HighsStatus", what: str) -> None:
        import highspy

        if status == highspy.HighsStatus.kError:
            raise RefusedProgramError(
                f"HiGHS refused {what}. Check the size of the numbers: it takes up to 1e15."
            )
