"""Reduction of a program by implications of clauses about its columns."""

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shortlist.arrays import Mask
from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.logic.compilation import Presolved, presolve_in_time, without_subsumed
from shortlist.logic.probing import shortened, without_chained
from shortlist.methods.integer.integer_objectives import integer_objectives
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.runs.budget import Budget


@dataclass(frozen=True, eq=False)
class ReducedProgram:
    """Smaller program, and the data to restore the columns of the original one.

    `program`: the smaller program; it has an unsatisfiable row if the clauses have no model. `signs`,
    ``(n_original_columns, n_columns)``: at most one entry per row, 1 or -1; over the integer columns only
    if nothing was reduced. `constants`, ``(n_original_columns,)``: the original columns are ``signs @
    columns + constants``.
    """

    program: Program
    signs: sparse.csr_array
    constants: NDArray[np.int64]

    def restore(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Convert solutions of the smaller program, ``(n, n_columns)``, to solutions of the original."""
        restored: NDArray[np.int64] = (self.signs @ columns.T).T + self.constants
        return restored


def reduce_program(
    program: Program, clauses: Clauses | None = None, budget: Budget | None = None
) -> ReducedProgram:
    """Return a program without fixed and equivalent columns.

    `program`: every column named by the clauses is integer within 0..1. `clauses`: clauses that every
    solution of `program` satisfies; variable v is column v - 1. Variables beyond the columns are auxiliary:
    for every solution, some values of these variables satisfy the clauses. Without clauses nothing changes.
    `budget`: implications not found in time are not used.

    Fixed columns are dropped, and equivalent columns become one column; see
    :func:`shortlist.logic.compilation.presolve`, which probes. Rows that always hold and repeated rows are
    dropped. Rows that are clauses lose literals that the other clauses make unnecessary. Clauses that contain
    another one, or follow from a chain of clauses of two literals, are dropped. Objectives keep their values
    exactly.

    Raises BadInputError if the clauses name a column that is not binary.
    """
    if clauses is None:
        n = int(program.integer.sum())
        return ReducedProgram(
            program, sparse.csr_array(sparse.eye_array(n, dtype=np.int64)), np.zeros(n, np.int64)
        )
    if clauses.n_variables > program.n_columns:
        clauses = _without_auxiliaries(clauses, program.n_columns, budget)
    found = presolve_in_time(clauses.with_units(_bound_literals(program, clauses)), budget, probe=True)
    signs, constants = _substitution(found, program.n_columns)
    kept = found.clauses.n_variables
    tail = slice(len(found.places), None)
    lower = np.concatenate([np.zeros(kept), program.column_lower[tail]])
    upper = np.concatenate([np.ones(kept), program.column_upper[tail]])
    shift = program.rows @ constants.astype(np.float64)
    integers = integer_objectives(program)
    whole = integers.costs * integers.steps[:, None]
    user_signs = np.array([objective.sign for objective in integers.objectives])
    objectives = [
        LinearObjective(
            objective, costs * sign / (objective.scale or 1), int(offset) * sign / (objective.scale or 1)
        )
        for objective, costs, offset, sign in zip(
            integers.objectives,
            (signs.T @ whole.T).T,
            whole @ constants + integers.offsets,
            user_signs.tolist(),
            strict=True,
        )
    ]
    smaller = make_program(
        sparse.csr_array(program.rows @ signs.astype(np.float64)),
        row_lower=program.row_lower - shift,
        row_upper=program.row_upper - shift,
        column_lower=lower,
        column_upper=upper,
        integer=np.concatenate([np.ones(kept, dtype=bool), program.integer[tail]]),
        objectives=objectives,
    )
    smaller = _tidied(smaller, found.clauses)
    if found.clauses.n_clauses and not len(found.clauses.literals):
        smaller = smaller.with_rows(np.zeros((1, smaller.n_columns)), 1.0, np.inf)  # no model: no solution
    return ReducedProgram(smaller, signs, constants)


def _without_auxiliaries(clauses: Clauses, n_columns: int, budget: Budget | None) -> Clauses:
    """Return the implications about the first variables only: clauses, fixed values, equivalences."""
    found = presolve_in_time(clauses, budget)
    if found.clauses.n_clauses and not len(found.clauses.literals):
        return Clauses.from_clauses(n_columns, [()])
    listed = [clause for clause in clauses if max(map(abs, clause)) <= n_columns]
    first: dict[int, int] = {}
    signs = np.where(found.polarities, 1, -1)[:n_columns]
    literals = (signs * np.arange(1, n_columns + 1)).tolist()
    for place, literal in zip(found.places[:n_columns].tolist(), literals, strict=True):
        if place < 0:
            listed.append((literal,))
        elif (same := first.setdefault(place, literal)) != literal:
            listed += [(-same, literal), (same, -literal)]
    return Clauses.from_clauses(n_columns, listed)


def _bound_literals(program: Program, clauses: Clauses) -> list[int]:
    """Return the literals implied by the bounds of the columns; check that clauses and columns fit."""
    n = clauses.n_variables
    lower, upper = program.column_lower[:n], program.column_upper[:n]
    if not program.integer.all() or (lower < 0).any() or (upper > 1).any():
        raise BadInputError(
            "all columns must be integers, and columns of clauses within 0..1. Leave the clauses out."
        )
    numbers = np.arange(1, n + 1)
    return [*numbers[lower > 0].tolist(), *(-numbers[upper < 1]).tolist()]


def _substitution(found: Presolved, n_columns: int) -> tuple[sparse.csr_array, NDArray[np.int64]]:
    """Return signs and constants of the original columns as functions of the kept columns."""
    kept, named = found.clauses.n_variables, len(found.places)
    live = np.flatnonzero(found.places >= 0)
    others = np.arange(named, n_columns)
    rows = np.concatenate([live, others])
    columns = np.concatenate([found.places[live], kept + np.arange(len(others))])
    entries = np.concatenate([np.where(found.polarities[live], 1, -1), np.ones(len(others), dtype=np.int64)])
    signs = sparse.csr_array(
        (entries, (rows, columns)), shape=(n_columns, kept + len(others)), dtype=np.int64
    )
    constants = np.zeros(n_columns, dtype=np.int64)
    constants[:named] = np.where(found.places >= 0, ~found.polarities, found.polarities)
    return signs, constants


def _tidied(program: Program, known: Clauses) -> Program:
    """Drop rows that always hold, repeated rows, and clauses that other clauses imply; shorten clauses.

    `known` are clauses over the first columns that every solution satisfies.
    """
    rows = program.rows.copy()
    rows.eliminate_zeros()
    rows.sort_indices()
    whole = program.integral_rows()
    least, most = _ends(rows, program)
    needed = ~(whole & (least >= program.row_lower) & (most <= program.row_upper))
    listed: list[tuple[int, ...]] = []
    seen: set[tuple[bytes, bytes, float, float]] = set()
    others = []
    for row in np.flatnonzero(needed).tolist():
        start, stop = rows.indptr[row], rows.indptr[row + 1]
        columns, factors = rows.indices[start:stop], rows.data[start:stop]
        limits = float(program.row_lower[row]), float(program.row_upper[row])
        if _is_clause(program, columns, factors, limits):
            listed.append(tuple(((columns + 1) * factors).astype(int).tolist()))
            continue
        key = columns.tobytes(), factors.tobytes(), *limits
        if key not in seen:
            seen.add(key)
            others.append(row)
    known = Clauses(program.n_columns, known.literals, known.offsets)
    shorter = shortened(Clauses.from_clauses(program.n_columns, listed), known)
    clauses = without_chained(without_subsumed(shorter))
    lengths = np.diff(clauses.offsets)
    numbers = np.repeat(np.arange(clauses.n_clauses), lengths)
    signs = np.sign(clauses.literals).astype(np.float64)
    matrix = sparse.csr_array(
        (signs, (numbers, np.abs(clauses.literals) - 1)), shape=(clauses.n_clauses, program.n_columns)
    )
    negative = np.bincount(numbers[signs < 0], minlength=clauses.n_clauses)
    left = dataclasses.replace(
        program, rows=rows[others], row_lower=program.row_lower[others], row_upper=program.row_upper[others]
    )
    return left.with_rows(matrix, 1.0 - negative, np.full(clauses.n_clauses, np.inf))


def _ends(rows: sparse.csr_array, program: Program) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the largest value of each row within the bounds of the columns."""
    positive, negative = rows.maximum(0), rows.minimum(0)
    lower, upper = program.column_lower, program.column_upper
    return positive @ lower + negative @ upper, positive @ upper + negative @ lower


def _is_clause(
    program: Program, columns: NDArray[np.int32], factors: NDArray[np.float64], limits: tuple[float, float]
) -> bool:
    """Whether a row is a clause: it requires one of some literals to be true."""
    binary: Mask = (
        program.integer[columns] & (program.column_lower[columns] == 0) & (program.column_upper[columns] == 1)
    )
    signed = bool((np.abs(factors) == 1).all() and binary.all() and len(columns))
    return signed and limits == (1.0 - int((factors < 0).sum()), np.inf)
