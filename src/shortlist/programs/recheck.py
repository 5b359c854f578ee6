"""Solutions and fronts of programs, checked again in integers against the program as read."""

import dataclasses
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of, number_text
from shortlist.errors import BadInputError
from shortlist.exact import LARGEST_INTEGER, seen
from shortlist.methods.boxes import BoxSearch
from shortlist.methods.front_check import FrontCheck, check_claims, finder_of, other_objectives
from shortlist.methods.integer.integer_objectives import integer_objectives
from shortlist.milp.current import empty_intervals
from shortlist.milp.program import Program
from shortlist.milp.whole_rows import exact_program, whole_rows
from shortlist.programs.named_program import NamedProgram, chosen_objectives, with_steps
from shortlist.results.front import Front
from shortlist.results.proof import rounding
from shortlist.runs.budget import Budget

FINEST_PART = 10**6
"""Continuous columns are taken for the nearest fractions with a denominator up to this."""


def recheck_front(named: NamedProgram, front: Front, *, budget: Budget | None = None) -> FrontCheck:
    """Check every point of a front, and ask again what it claims of the others.

    Each solution is checked in integers against rows and bounds as read, its objectives are added up again,
    and no point may dominate another. Continuous columns are no part of a front: HiGHS proposes some for each
    solution again, and where they do not keep every row in fractions, they rest on its tolerance. What is
    said to be complete is asked of a solver that did not find it, as far as sums of integers do not prove it
    (:func:`shortlist.methods.boxes.search_boxes`).

    Raises BadInputError if the front is of another program: its objectives or columns are others.

    `named`: the program as read, with every objective it has. `front`: what was found for it.

    >>> from shortlist.milp.program import LinearObjective, make_program
    >>> from shortlist.programs.solve import solve_program
    >>> from shortlist.results.objective import Objective
    >>> costs = [LinearObjective(Objective(n), np.array(c)) for n, c in (("a", [1.0, 2]), ("b", [2.0, 1]))]
    >>> program = make_program(
    ...     [[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True, objectives=costs
    ... )
    >>> named = NamedProgram(program, ("x", "y"), ("row",))
    >>> recheck_front(named, solve_program(named)).status
    'rechecked'
    """
    budget = budget or Budget()
    known = [linear.objective.name for linear in named.program.objectives]
    if missing := [name for name in front.names if name not in known]:
        raise BadInputError(
            f"the front must be of this program, which lacks its objective{'s' * (len(missing) > 1)} "
            f"{all_of(missing)}. Name the program it was made from."
        )
    named = chosen_objectives(named, [(one.sense, one.name) for one in front.objectives])
    if named.candidates != front.candidates:
        raise BadInputError(
            f"the front must be of this program, whose {len(named.candidates):,} integer columns differ from "
            f"the {len(front.candidates):,} of the front. Name the program it was made from."
        )
    steps = dict(front.extras.get("program", {}).get("tolerance", {}))
    program = exact_program(with_steps(named, steps).program)
    failures, n_near = _other_facts(named, program, front, steps), 0
    if not failures:
        failures, n_near = _wrong_points(named, front, steps)
    if failures:
        return FrontCheck(failures, len(front), front.proof.kind, None, finder_of(front), budget.elapsed)
    if leaves_nothing(program):  # then the front is empty, and objective space is one empty box
        nowhere = BoxSearch(1, n_by_sums=1, n_by_solver=0, n_open=0, solver="")
        return FrontCheck((), 0, front.proof.kind, nowhere, "", budget.elapsed)
    found = check_claims(program, front, budget=budget, exact=bool(steps))
    return dataclasses.replace(found, n_completed=n_near, rounded=rounding(front))


def program_facts(named: NamedProgram, program: Program, steps: Mapping[str, float]) -> dict[str, Any]:
    """Return what the file of a front says of its program.

    `program`: the one that was searched, with the steps of objectives with continuous columns.
    """
    facts: dict[str, Any] = {"columns": named.program.n_columns, "rows": named.program.n_rows}
    if within := int((~whole_rows(program).whole).sum()):
        facts["rows_within_tolerance"] = within
    if not named.program.integer.all():
        facts["continuous"] = int((~named.program.integer).sum())
    if steps:
        facts["tolerance"] = dict(steps)
    return facts


def _other_facts(
    named: NamedProgram, program: Program, front: Front, steps: Mapping[str, float]
) -> tuple[str, ...]:
    """Say what a front tells of its program, objectives or rounding that is not so."""
    meant = program_facts(named, program, steps)
    told = front.extras.get("program", {})
    said = [
        f"the front says otherwise what {name} the program has"
        for name in meant
        if told.get(name) != meant[name]
    ]
    said += [
        f"the front says of the program what nothing tells: {name}" for name in told if name not in meant
    ]
    if any(front.proof.tolerances) != bool(steps) or (
        steps and front.proof.tolerances != tuple(steps.get(name, 0.0) for name in front.names)
    ):
        said.append("the tolerances of the proof are not those by which values are rounded")
    nothing = leaves_nothing(program)
    objectives = (
        [one.objective for one in program.objectives] if nothing else integer_objectives(program).objectives
    )
    return (*said, *other_objectives(front, objectives))


def _wrong_points(
    named: NamedProgram, front: Front, steps: Mapping[str, float]
) -> tuple[tuple[str, ...], int]:
    """Say which solutions break a row or a bound, or have other objectives than their points.

    With it comes how many have continuous columns that keep rows within the tolerance of HiGHS only.
    """
    said = []
    solutions = front.decisions.astype(np.int64)
    for number, broken in enumerate(broken_limits(named, solutions)):
        if broken:
            said.append(f"the solution of point {number} breaks {broken}")
    said = said or _other_values(named.program, front, solutions)
    if said or named.program.integer.all():
        return tuple(said), 0
    completed = [_completion(named.program, front, number, steps) for number in range(len(front))]
    return tuple(
        f"the solution of point {number} has no continuous part with these values"
        for number, exact in enumerate(completed)
        if exact is None
    ), completed.count(False)


def _other_values(program: Program, front: Front, solutions: np.ndarray) -> list[str]:
    """Say which points are not the sums of their solutions, as far as only integer columns cost something."""
    even = np.array([not linear.costs[~program.integer].any() for linear in program.objectives])
    left_out = [
        linear if counted else dataclasses.replace(linear, costs=np.zeros(program.n_columns), offset=0.0)
        for linear, counted in zip(program.objectives, even.tolist(), strict=True)
    ]
    integers = integer_objectives(dataclasses.replace(program, objectives=tuple(left_out)))
    factors = np.array([one.sign * (one.scale or 1) for one in integers.objectives])
    sums = (solutions @ integers.costs[:, program.integer].T) * integers.steps + integers.offsets
    values = np.where(even, sums / factors, front.values)
    return [
        f"point {number} has other values than its solution: "
        + ", ".join(
            f"{name} {number_text(value)}"
            for name, value in zip(front.names, values[number].tolist(), strict=True)
        )
        for number in np.flatnonzero((values != front.values).any(axis=1)).tolist()
    ]


def _completion(program: Program, front: Front, number: int, steps: Mapping[str, float]) -> bool | None:
    """Whether continuous columns give a solution its point's values, rounded to steps, and keep every row.

    HiGHS proposes them. False where they keep rows within its tolerance only, None where it finds none.
    """
    from shortlist.milp.backends import open_solver

    whole = np.flatnonzero(program.integer)
    lower, upper = program.column_lower.copy(), program.column_upper.copy()
    lower[whole] = upper[whole] = front.decisions[number]
    most = np.array(
        [
            linear.objective.sign * float(seen(value) - seen(linear.offset))
            for linear, value in zip(program.objectives, front.values[number].tolist(), strict=True)
        ]
    )
    least = most - np.array([steps.get(linear.objective.name, 0.0) for linear in program.objectives])
    fixed = dataclasses.replace(program, column_lower=lower, column_upper=upper, objectives=())
    fixed = fixed.with_rows(program.minimised_costs(), least, most)
    values = open_solver("highs").open(fixed).solve().values
    if values is None:
        return None
    return keeps_all(fixed, [Fraction(value).limit_denominator(FINEST_PART) for value in values.tolist()])


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
