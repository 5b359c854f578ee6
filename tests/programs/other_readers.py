"""Files of programs as the readers of other solvers have them, in one form to compare."""

import contextlib
import importlib.util
import math
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shortlist.programs.named_program import NamedProgram

Terms = dict[str, float]

INFINITE = 1e20


class UnreadableError(Exception):
    """A file that a reader refuses."""


@dataclass(frozen=True)
class Reading:
    """A program as it was read.

    `objectives`: terms and constant of each that has any, then of the rows without limits. `columns`: bounds,
    and whether it is integer, by name. `rows`: limits and terms, in the order of the file.
    """

    sense: str
    objectives: tuple[tuple[Terms, float], ...]
    columns: dict[str, tuple[float, float, bool]]
    rows: tuple[tuple[float, float, Terms], ...]


def reading(
    sense: str,
    objectives: list[tuple[Terms, float]],
    columns: dict[str, tuple[float, float, bool]],
    rows: list[tuple[float, float, Terms]],
    *,
    free_rows: bool = True,
) -> Reading:
    """Return a reading without zeros; `free_rows`: whether rows without limits are among the objectives."""
    limited = [(_limit(low), _limit(high), _without_zeros(terms)) for low, high, terms in rows]
    free = [(terms, 0.0) for low, high, terms in limited if low == -math.inf and high == math.inf]
    told = [(_without_zeros(terms), float(offset)) for terms, offset in objectives]
    told = [one for one in told + free * free_rows if one[0] or one[1]]
    return Reading(
        sense if told else "min",
        tuple(told if free_rows else told[:1]),
        {name: (_limit(low), _limit(high), whole) for name, (low, high, whole) in columns.items()},
        tuple(row for row in limited if row[0] > -math.inf or row[1] < math.inf),
    )


def _limit(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) >= INFINITE else float(value)


def _without_zeros(terms: Terms) -> Terms:
    return {name: float(value) for name, value in terms.items() if value}


def our_reading(named: NamedProgram, *, free_rows: bool = True) -> Reading:
    """Return a program that our readers read; its sense is that of the first objective."""
    program = named.program
    bounds = zip(
        program.column_lower.tolist(), program.column_upper.tolist(), program.integer.tolist(), strict=True
    )
    table = program.rows.toarray().tolist()
    limits = zip(program.row_lower.tolist(), program.row_upper.tolist(), table, strict=True)
    objectives = program.objectives
    return reading(
        str(objectives[0].objective.sense) if objectives else "min",
        [(dict(zip(named.columns, one.costs.tolist(), strict=True)), one.offset) for one in objectives],
        dict(zip(named.columns, bounds, strict=True)),
        [(low, high, dict(zip(named.columns, row, strict=True))) for low, high, row in limits],
        free_rows=free_rows,
    )


def by_highs(path: Path, *, free_rows: bool = True) -> Reading:
    """Return what HiGHS reads."""
    import highspy

    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    if solver.readModel(str(path)) == highspy.HighsStatus.kError:
        raise UnreadableError
    lp = solver.getLp()
    names = list(lp.col_names_)
    kinds = list(lp.integrality_) or [highspy.HighsVarType.kContinuous] * len(names)
    whole = [kind != highspy.HighsVarType.kContinuous for kind in kinds]
    matrix, terms = lp.a_matrix_, [Terms() for _ in range(lp.num_row_)]
    by_column = matrix.format_ == highspy.MatrixFormat.kColwise
    for major in range(len(matrix.start_) - 1):
        for place in range(matrix.start_[major], matrix.start_[major + 1]):
            column, row = (major, matrix.index_[place])[:: 1 if by_column else -1]
            terms[row][names[column]] = terms[row].get(names[column], 0.0) + matrix.value_[place]
    return reading(
        "min" if lp.sense_ == highspy.ObjSense.kMinimize else "max",
        [(dict(zip(names, lp.col_cost_, strict=True)), lp.offset_)],
        dict(zip(names, zip(lp.col_lower_, lp.col_upper_, whole, strict=True), strict=True)),
        list(zip(lp.row_lower_, lp.row_upper_, terms, strict=True)),
        free_rows=free_rows,
    )


def by_scip(path: Path, *, free_rows: bool = True) -> Reading:
    """Return what SCIP reads."""
    import pyscipopt

    model = pyscipopt.Model()
    model.hideOutput()
    try:
        with _silence():
            model.readProblem(str(path))
    except OSError:
        raise UnreadableError from None
    columns = {
        one.name: (one.getLbOriginal(), one.getUbOriginal(), one.vtype() != "CONTINUOUS")
        for one in model.getVars()
    }
    if not all(row.isLinear() for row in model.getConss()):
        raise UnreadableError
    rows = [(model.getLhs(row), model.getRhs(row), model.getValsLinear(row)) for row in model.getConss()]
    costs = {one.name: one.getObj() for one in model.getVars()}
    sense = model.getObjectiveSense()[:3]
    return reading(sense, [(costs, model.getObjoffset())], columns, rows, free_rows=free_rows)


def by_gurobi(path: Path, *, free_rows: bool = True) -> Reading:
    """Return what Gurobi reads; a row with two limits has a column of its own there."""
    import gurobipy

    try:
        with (
            _silence(),
            gurobipy.Env(params={"OutputFlag": 0}) as env,
            gurobipy.read(str(path), env=env) as model,
        ):
            return _of_gurobi(model, free_rows=free_rows)
    except gurobipy.GurobiError:
        raise UnreadableError from None


def _of_gurobi(model: Any, *, free_rows: bool) -> Reading:
    if model.NumSOS or model.NumQConstrs or model.NumGenConstrs or model.NumObj > 1:
        raise UnreadableError
    columns = {one.VarName: (one.LB, one.UB, one.VType != "C") for one in model.getVars()}
    rows = []
    for row in model.getConstrs():
        terms = _gurobi_terms(model.getRow(row))
        low = -math.inf if row.Sense == "<" else row.RHS
        high = math.inf if row.Sense == ">" else row.RHS
        spare = f"Rg{row.ConstrName}"
        if spare in terms and spare in columns:
            least, most, _ = columns.pop(spare)
            ends = [row.RHS - terms[spare] * end for end in (least, most)]
            low, high = min(ends), max(ends)
            del terms[spare]
        rows.append((low, high, terms))
    total = model.getObjective()
    sense = "min" if model.ModelSense > 0 else "max"
    return reading(sense, [(_gurobi_terms(total), total.getConstant())], columns, rows, free_rows=free_rows)


def _gurobi_terms(total: Any) -> Terms:
    terms = Terms()
    for place in range(total.size()):
        name = total.getVar(place).VarName
        terms[name] = terms.get(name, 0.0) + total.getCoeff(place)
    return terms


def by_cplex(path: Path, *, free_rows: bool = True) -> Reading:
    """Return what CPLEX reads."""
    os.environ.setdefault("CPLEX_PY_DISABLE_SIGHANDLER", "1")
    import cplex

    with cplex.Cplex() as model:
        for quiet in (model.set_log_stream, model.set_results_stream, model.set_warning_stream):
            quiet(None)
        model.set_error_stream(None)
        try:
            model.read(str(path))
        except cplex.exceptions.CplexError:
            raise UnreadableError from None
        if model.SOS.get_num() or model.multiobj.get_num() > 1:
            raise UnreadableError
        names = model.variables.get_names()
        whole = [False] * len(names)
        with contextlib.suppress(cplex.exceptions.CplexError):  # raised where no column is integer
            whole = [kind != "C" for kind in model.variables.get_types()]
        bounds = zip(
            model.variables.get_lower_bounds(), model.variables.get_upper_bounds(), whole, strict=True
        )
        total = model.objective
        return reading(
            "min" if total.get_sense() == total.sense.minimize else "max",
            [(dict(zip(names, total.get_linear(), strict=True)), total.get_offset())],
            dict(zip(names, bounds, strict=True)),
            _cplex_rows(model.linear_constraints, names) if model.linear_constraints.get_num() else [],
            free_rows=free_rows,
        )


def _cplex_rows(rows: Any, names: list[str]) -> list[tuple[float, float, Terms]]:
    found = []
    for pairs, sense, limit, size in zip(
        rows.get_rows(), rows.get_senses(), rows.get_rhs(), rows.get_range_values(), strict=True
    ):
        ends = sorted((limit, limit + size)) if sense == "R" else (limit, limit)
        terms = {names[place]: value for place, value in zip(pairs.ind, pairs.val, strict=True)}
        found.append((-math.inf if sense == "L" else ends[0], math.inf if sense == "G" else ends[1], terms))
    return found


def by_ortools(path: Path, *, free_rows: bool = True) -> Reading:
    """Return what OR-Tools reads, of MPS files alone."""
    from ortools.linear_solver.python import model_builder

    model: Any = model_builder.Model()  # type: ignore[no-untyped-call]
    with _silence():
        found = path.suffix == ".mps" and model.import_from_mps_file(str(path))
    if not found:
        raise UnreadableError
    parts, helper = model.get_variables(), model.helper
    terms = []
    for row in model.get_linear_constraints():
        pairs = zip(
            helper.constraint_var_indices(row.index), helper.constraint_coefficients(row.index), strict=True
        )
        terms.append({parts[place].name: value for place, value in pairs})
    rows = [(row.lower_bound, row.upper_bound) for row in model.get_linear_constraints()]
    return reading(
        "max" if helper.maximize() else "min",
        [({one.name: one.objective_coefficient for one in parts}, helper.objective_offset())],
        {one.name: (one.lower_bound, one.upper_bound, one.is_integral) for one in parts},
        [(*limits, row) for limits, row in zip(rows, terms, strict=True)],
        free_rows=free_rows,
    )


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Drop what a library writes to the terminal past Python's streams."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        yield
    finally:
        for place, stream in enumerate(kept, start=1):
            os.dup2(stream, place)
            os.close(stream)
        os.close(nothing)


Reader = Callable[..., Reading]

READERS: dict[str, tuple[str, Reader]] = {
    "gurobi": ("gurobipy", by_gurobi),
    "cplex": ("cplex", by_cplex),
    "scip": ("pyscipopt", by_scip),
    "highs": ("highspy", by_highs),
    "ortools": ("ortools", by_ortools),
}
INSTALLED = [name for name, (package, _) in READERS.items() if importlib.util.find_spec(package)]
"""Readers whose packages are installed."""


def readings_of(path: Path) -> dict[str, Reading]:
    """Return what each reader that is installed reads, without those that refuse the file.

    In MPS files all but SCIP drop rows of the kind N after the first, so only the first objective counts.
    """
    found = {}
    for name in INSTALLED:
        with contextlib.suppress(UnreadableError):
            found[name] = READERS[name][1](path, free_rows=path.suffix == ".lp")
    return found


def read_alike(readings: dict[str, Reading]) -> list[tuple[list[str], Reading]]:
    """Return the readings that two or more readers share, with the names of these."""
    groups: list[tuple[list[str], Reading]] = []
    for name, one in readings.items():
        alike = next((names for names, other in groups if other == one), None)
        if alike is None:
            groups.append(([name], one))
        else:
            alike.append(name)
    return [group for group in groups if len(group[0]) > 1]


def agrees_with_highs(named: NamedProgram, path: Path) -> None:
    """Compare a program of one objective with HiGHS's reading."""
    assert len(named.program.objectives) == 1
    assert our_reading(named) == by_highs(path)
