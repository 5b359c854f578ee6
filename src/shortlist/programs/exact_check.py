"""Solutions of a program, checked in integers against its rows as they were read."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shortlist.exact import LARGEST_INTEGER, seen
from shortlist.milp.current import empty_intervals
from shortlist.milp.program import Program
from shortlist.milp.whole_rows import whole_rows
from shortlist.programs.named_program import NamedProgram


def broken_limits(named: NamedProgram, solutions: NDArray[np.int64]) -> list[str]:
    """Say of each solution what it breaks first, nothing where it keeps every row and bound.

    Rows of decimals are added up in integers, others in fractions. Rows with continuous columns are passed
    over: their values belong to no front.

    `named`: the program as it was read. `solutions`: values of the integer columns, ``(n_solutions,
    n_integer_columns)``.

    >>> from shortlist.milp.program import make_program
    >>> program = make_program(
    ...     [[2, 3]], row_lower=-np.inf, row_upper=4, column_lower=0, column_upper=1, integer=True
    ... )
    >>> broken_limits(NamedProgram(program, ("x", "y"), ("weight",)), np.array([[0, 1], [1, 1], [2, 0]]))
    ['', "row 'weight'", "the bounds of 'x'"]
    """
    program = named.program
    columns = np.flatnonzero(program.integer)
    values = np.asarray(solutions, dtype=np.int64).reshape(-1, len(columns))
    outside = (values < program.column_lower[columns]) | (values > program.column_upper[columns])
    said = [
        f"the bounds of {named.columns[columns[np.argmax(marks)]]!r}" if marks.any() else ""
        for marks in outside
    ]
    full = np.zeros((len(values), program.n_columns), dtype=np.int64)
    full[:, columns] = values
    missed = _missed_rows(program, full)
    return [
        text or (f"row {named.rows[np.argmax(rows)]!r}" if rows.any() else "")
        for text, rows in zip(said, missed, strict=True)
    ]


def leaves_nothing(program: Program) -> bool:
    """Whether the bounds of a column, or the limits of a row, hold no number.

    >>> from shortlist.milp.program import make_program
    >>> program = make_program(
    ...     [[1]], row_lower=0, row_upper=9, column_lower=3, column_upper=2, integer=True
    ... )
    >>> leaves_nothing(program)
    True
    """
    columns = empty_intervals(program.column_lower, program.column_upper)
    return bool(columns.any() or empty_intervals(program.row_lower, program.row_upper).any())


def _missed_rows(program: Program, full: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark the rows that solutions miss, ``(n_solutions, n_rows)``; none with a continuous column."""
    made = whole_rows(program, written=True)
    matrix, lower, upper = made.program.rows, made.program.row_lower, made.program.row_upper
    sizes = abs(matrix) @ np.abs(full).T.astype(np.float64)
    activity = (matrix.astype(np.float64) @ full.T.astype(np.float64)).T
    missed: NDArray[np.bool_] = ((activity < lower) | (activity > upper)) & made.whole
    continuous = np.asarray((abs(program.rows) @ (~program.integer).astype(np.float64)) > 0)
    by_fractions = ~continuous & (~made.whole | (sizes.max(axis=1, initial=0.0) >= LARGEST_INTEGER))
    for row in np.flatnonzero(by_fractions).tolist():
        missed[:, row] = [_misses(program, row, solution) for solution in full.tolist()]
    return missed


def keeps_all(program: Program, values: Sequence[Fraction]) -> bool:
    """Whether every row and bound holds, added up in fractions.

    >>> from shortlist.milp.program import make_program
    >>> thirds = make_program(
    ...     [[3, 1]], row_lower=1, row_upper=1, column_lower=0, column_upper=1, integer=[False, True]
    ... )
    >>> keeps_all(thirds, [Fraction(1, 3), Fraction(0)]), keeps_all(thirds, [Fraction(1, 3), Fraction(1)])
    (True, False)
    """
    bounds = zip(values, program.column_lower.tolist(), program.column_upper.tolist(), strict=True)
    return all(_is_within(*one) for one in bounds) and not any(
        _misses(program, row, values) for row in range(program.n_rows)
    )


def _misses(program: Program, row: int, solution: Sequence[Fraction | int]) -> bool:
    part = slice(program.rows.indptr[row], program.rows.indptr[row + 1])
    terms = zip(program.rows.indices[part].tolist(), program.rows.data[part].tolist(), strict=True)
    total = sum((seen(factor) * solution[column] for column, factor in terms), Fraction(0))
    return not _is_within(total, float(program.row_lower[row]), float(program.row_upper[row]))


def _is_within(value: Fraction, lower: float, upper: float) -> bool:
    return not (np.isfinite(lower) and value < seen(lower)) and not (
        np.isfinite(upper) and value > seen(upper)
    )
