"""SCIP as part of OR-Tools, through MathOpt."""

import contextlib
import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import ortools
from numpy.typing import NDArray
from ortools.math_opt import callback_pb2, model_parameters_pb2, model_pb2, parameters_pb2, result_pb2
from ortools.math_opt.core.python import solver as mathopt
from ortools.util.python import solve_interrupter

from shortlist.arrays import Costs
from shortlist.errors import SolverError
from shortlist.milp.backends import Backend, Rebuilt
from shortlist.milp.program import Program
from shortlist.milp.solution import Claim, Limits, Post, SolverEngine
from shortlist.milp.whole_rows import tolerance_for
from shortlist.results.proof import Status

SCIP_STATUSES = {
    result_pb2.TERMINATION_REASON_OPTIMAL: Status.OPTIMAL,
    result_pb2.TERMINATION_REASON_INFEASIBLE: Status.INFEASIBLE,
    result_pb2.TERMINATION_REASON_UNBOUNDED: Status.UNBOUNDED,
    result_pb2.TERMINATION_REASON_INFEASIBLE_OR_UNBOUNDED: Status.UNBOUNDED,  # the session finds out which
    result_pb2.TERMINATION_REASON_FEASIBLE: Status.FEASIBLE,
    result_pb2.TERMINATION_REASON_NO_SOLUTION_FOUND: Status.UNKNOWN,
}
"""Shortlist's status for each status of SCIP; FEASIBLE counts only with values."""

SCIP_LIMITS = {
    result_pb2.LIMIT_TIME: "seconds",
    result_pb2.LIMIT_NODE: "nodes",
    result_pb2.LIMIT_INTERRUPTED: "interrupted",
}
"""Shortlist's name of each limit of SCIP."""

INFINITE = 1e20
"""Size from which numbers are infinite to SCIP."""

LOG_COLUMNS, LOG_BOUND, LOG_OBJECTIVE = 18, 14, 15
"""Number of columns in a line of SCIP's log, and the indices of bound and objective."""

LOG_ERROR = 1e-6
"""Relative rounding error of a number in the log."""


@dataclass
class Scip(Backend):
    """SCIP: integer and continuous columns; `nodes` are branch-and-bound nodes. It works in one thread.

    `proof_only`: whether to skip cuts and the search for solutions. They waste time if the program already
    has cuts and the start is as good as any solution.
    """

    proof_only: bool = False
    name = "scip"

    def load(self, program: Program, costs: Costs, seed: int, threads: int) -> SolverEngine:
        """Return an engine with the program; more `threads` change nothing."""
        return _ScipEngine(program, costs, seed, threads, proof_only=self.proof_only)


class _ScipEngine(Rebuilt):
    """Program that SCIP loads anew for every run."""

    def __init__(self, program: Program, costs: Costs, seed: int, threads: int, *, proof_only: bool) -> None:
        super().__init__(program, costs, seed, threads)
        self._proof_only = proof_only
        self._interrupter = solve_interrupter.SolveInterrupter()
        _say_nothing()

    def run(self, limits: Limits, post: Post, *, size: float) -> Claim:
        """Solve without holding the interpreter's lock."""
        self._interrupter = solve_interrupter.SolveInterrupter()

        def hear(lines: Sequence[str]) -> None:
            for line in lines:
                if (news := _news(line)) is not None:
                    post(*news)

        try:
            result = mathopt.solve(
                _model(self.whole(), self.costs),
                parameters_pb2.SOLVER_TYPE_GSCIP,
                parameters_pb2.SolverInitializerProto(),
                self._parameters(limits, size),
                _hints(self.taken_start()),
                hear,
                callback_pb2.CallbackRegistrationProto(),
                None,
                self._interrupter.pybind_interrupter,
            )
        except Exception as error:  # each code of a status has an error of its own
            raise SolverError(f"SCIP failed: {error} Use another solver.") from error
        return _claim(result)

    def stop(self) -> None:
        self._interrupter.interrupt()

    def _parameters(self, limits: Limits, size: float) -> parameters_pb2.SolveParametersProto:
        parameters = parameters_pb2.SolveParametersProto(
            threads=1,
            random_seed=self.seed,
            absolute_gap_tolerance=limits.absolute_gap,
            relative_gap_tolerance=0.0,
        )
        if self._proof_only:
            parameters.cuts = parameters.heuristics = parameters_pb2.EMPHASIS_OFF
        if math.isfinite(limits.seconds):
            parameters.time_limit.FromNanoseconds(int(min(limits.seconds, 1e8) * 1e9))
        if limits.nodes is not None:
            parameters.node_limit = limits.nodes
        parameters.gscip.real_params["numerics/feastol"] = tolerance_for(size)
        parameters.gscip.bool_params["misc/catchctrlc"] = False  # the value False, not an option here
        return parameters


def _model(program: Program, costs: Costs) -> model_pb2.ModelProto:
    model = model_pb2.ModelProto()
    columns, rows, entries = model.variables, model.linear_constraints, model.linear_constraint_matrix
    columns.ids.extend(range(program.n_columns))
    columns.lower_bounds.extend(_sides(program.column_lower))
    columns.upper_bounds.extend(_sides(program.column_upper))
    columns.integers.extend(program.integer.tolist())
    charged = np.flatnonzero(costs)
    model.objective.linear_coefficients.ids.extend(charged.tolist())
    model.objective.linear_coefficients.values.extend(costs[charged].tolist())
    rows.ids.extend(range(program.n_rows))
    rows.lower_bounds.extend(_sides(program.row_lower))
    rows.upper_bounds.extend(_sides(program.row_upper))
    entries.row_ids.extend(np.repeat(np.arange(program.n_rows), np.diff(program.rows.indptr)).tolist())
    entries.column_ids.extend(program.rows.indices.tolist())
    entries.coefficients.extend(program.rows.data.tolist())
    return model


def _claim(result: result_pb2.SolveResultProto) -> Claim:
    end = result.termination
    values = None
    if result.solutions:
        solution = result.solutions[0].primal_solution.variable_values
        values = np.zeros(max(solution.ids, default=-1) + 1)
        values[list(solution.ids)] = solution.values
    return Claim(
        SCIP_STATUSES.get(end.reason, Status.UNKNOWN),
        values,
        end.objective_bounds.dual_bound,
        result.solve_stats.node_count,
        "" if end.reason == result_pb2.TERMINATION_REASON_OPTIMAL else SCIP_LIMITS.get(end.limit, "solver"),
    )


def _hints(start: NDArray[np.float64] | None) -> model_parameters_pb2.ModelSolveParametersProto:
    hints = model_parameters_pb2.ModelSolveParametersProto()
    if start is not None:
        hint = hints.solution_hints.add().variable_values
        hint.ids.extend(range(len(start)))
        hint.values.extend(start.tolist())
    return hints


def _news(line: str) -> tuple[float, float] | None:
    """Return objective and bound of a line of the log, the bound rounded down; NaN and -inf if missing."""
    columns = line.split("|")
    if len(columns) != LOG_COLUMNS:
        return None
    try:
        bound, objective = _number(columns[LOG_BOUND]), _number(columns[LOG_OBJECTIVE])
    except ValueError:  # the heading
        return None
    known = abs(objective) < INFINITE
    return (
        objective + LOG_ERROR * abs(objective) if known else math.nan,
        bound - LOG_ERROR * abs(bound) if abs(bound) < INFINITE else -math.inf,
    )


def _number(text: str) -> float:
    return math.inf if text.strip() in {"--", "-"} else float(text)


def _sides(values: NDArray[np.float64]) -> list[float]:
    sides: list[float] = np.where(np.abs(values) < INFINITE, values, np.copysign(math.inf, values)).tolist()
    return sides


def _say_nothing() -> None:
    """Keep SCIP from printing errors, as it also returns the errors.

    MathOpt stops SCIP through an event that SCIP 10 no longer has: SCIP stops all the same, but every start
    prints two lines (OR-Tools 9.15). If the library is not found, the lines are printed.
    """
    for library in (Path(ortools.__file__).parent / ".libs").glob("libscip*"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(str(library)).SCIPmessageSetErrorPrinting(None, None)
