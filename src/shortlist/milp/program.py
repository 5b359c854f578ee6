"""A mixed-integer linear program with named objectives, as plain data."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from shortlist.arrays import Costs, Mask
from shortlist.errors import BadInputError
from shortlist.results.objective import Objective


@dataclass(frozen=True, eq=False)
class LinearObjective:
    """A linear function of the columns, in the user's sign: ``costs @ x + offset``.

    Attributes
    ----------
    objective : Objective
        Name, sense, scale and unit.
    costs : ndarray of float, shape (n_columns,)
        Value of a unit of each column, in the objective's unit.
    offset : float
        Constant part.
    """

    objective: Objective
    costs: Costs
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class Program:
    """Program over columns x with ``row_lower <= rows @ x <= row_upper`` and bounds.

    Build it with :func:`make_program`.

    Attributes
    ----------
    rows : csr_array of float, shape (n_rows, n_columns)
        Coefficients.
    row_lower, row_upper : ndarray of float, shape (n_rows,)
        Limits of the rows; infinite for no limit.
    column_lower, column_upper : ndarray of float, shape (n_columns,)
        Bounds of the columns; infinite for no bound.
    integer : ndarray of bool, shape (n_columns,)
        Mask of the integer columns.
    objectives : tuple of LinearObjective
        One or several objectives.
    """

    rows: sparse.csr_array
    row_lower: NDArray[np.float64]
    row_upper: NDArray[np.float64]
    column_lower: NDArray[np.float64]
    column_upper: NDArray[np.float64]
    integer: Mask
    objectives: tuple[LinearObjective, ...] = field(default=())

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.row_lower)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.column_lower)

    def integral_rows(self) -> Mask:
        """Return the mask of the rows with integer coefficients and integer columns only."""
        fractions = (self.rows.data != np.rint(self.rows.data)) | ~self.integer[self.rows.indices]
        before = np.concatenate([[0], np.cumsum(fractions)])
        counts: Mask = before[self.rows.indptr[1:]] == before[self.rows.indptr[:-1]]
        return counts

    def with_rows(self, rows: ArrayLike | sparse.sparray, lower: ArrayLike, upper: ArrayLike) -> "Program":
        """Return the program with further rows after its own."""
        more = sparse.csr_array(sparse.coo_array(rows))
        return dataclasses.replace(
            self,
            rows=sparse.csr_array(sparse.vstack([self.rows, more])),
            row_lower=np.concatenate([self.row_lower, _per("lower", lower, more.shape[0])]),
            row_upper=np.concatenate([self.row_upper, _per("upper", upper, more.shape[0])]),
        )

    def to_change(self) -> "Program":
        """Return a copy of the program whose limits and bounds may be changed in place."""
        names = ("row_lower", "row_upper", "column_lower", "column_upper")
        return dataclasses.replace(self, **{name: getattr(self, name).copy() for name in names})

    def minimised_costs(self) -> NDArray[np.float64]:
        """Return the coefficients to minimise, ``(n_objectives, n_columns)``, unscaled."""
        shape = len(self.objectives), self.n_columns
        return np.array([o.objective.sign * o.costs for o in self.objectives], dtype=np.float64).reshape(
            shape
        )


def make_program(
    rows: ArrayLike | sparse.sparray | sparse.spmatrix,
    *,
    row_lower: ArrayLike,
    row_upper: ArrayLike,
    column_lower: ArrayLike,
    column_upper: ArrayLike,
    integer: ArrayLike | bool,
    objectives: Sequence[LinearObjective] = (),
) -> Program:
    """Check the parts of a program and join them; scalars stand for every row or column.

    Raises
    ------
    BadInputError
        If shapes disagree, or a coefficient is NaN or infinite.

    Examples
    --------
    >>> from shortlist.results.objective import Objective
    >>> cost = LinearObjective(Objective("cost"), np.array([3.0, 2.0]))
    >>> cover = make_program(
    ...     [[1, 1]], row_lower=1, row_upper=np.inf, column_lower=0, column_upper=1, integer=True,
    ...     objectives=[cost]
    ... )
    >>> cover.n_rows, cover.n_columns
    (1, 2)
    """
    matrix: sparse.csr_array[np.float64, tuple[int, int]] = sparse.csr_array(
        sparse.coo_array(rows), dtype=np.float64
    )
    n_rows, n_columns = matrix.shape
    if not np.isfinite(matrix.data).all():
        raise BadInputError(
            "rows", "must hold finite numbers", "NaN or infinity", "Infinity belongs in the bounds of rows."
        )
    for linear in objectives:
        costs = np.asarray(linear.costs, dtype=np.float64)
        of_objective = f"costs of objective {linear.objective.name!r}"
        if costs.shape != (n_columns,):
            raise BadInputError(
                f"{of_objective} must be {n_columns} finite numbers, got shape {costs.shape}."
            )
        if len(wrong := np.flatnonzero(~np.isfinite(costs))):
            shown = "NaN" if np.isnan(costs[wrong[0]]) else costs[wrong[0]]
            raise BadInputError(
                f"{of_objective} must be {n_columns} finite numbers, got {shown} for column {wrong[0]}."
            )
    return Program(
        rows=matrix,
        row_lower=_per("row_lower", row_lower, n_rows),
        row_upper=_per("row_upper", row_upper, n_rows),
        column_lower=_per("column_lower", column_lower, n_columns),
        column_upper=_per("column_upper", column_upper, n_columns),
        integer=np.array(np.broadcast_to(np.asarray(integer, dtype=bool), n_columns)),
        objectives=tuple(objectives),
    )


def _per(name: str, values: ArrayLike, length: int) -> NDArray[np.float64]:
    """Return `values` as one float for each of `length` rows or columns."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape not in {(), (length,)} or np.isnan(array).any():
        raise BadInputError(name, f"must be one number or {length} of them, not NaN", f"shape {array.shape}")
    return np.array(np.broadcast_to(array, length))
