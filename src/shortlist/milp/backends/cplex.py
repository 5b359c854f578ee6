"""CPLEX through its Python package, an extra; the licence that comes with it takes small programs."""

import math
import os
from typing import Any

import numpy as np

from shortlist.arrays import Costs
from shortlist.errors import MissingDependencyError, SolverError
from shortlist.milp.backends import Backend, Rebuilt
from shortlist.milp.program import Program
from shortlist.milp.solution import Claim, Limits, Post, SolverEngine
from shortlist.milp.whole_rows import tolerance_for
from shortlist.results.proof import Status

os.environ.setdefault("CPLEX_PY_DISABLE_SIGHANDLER", "1")  # Ctrl-C is the caller's

try:
    import cplex
    from cplex.callbacks import Context
    from cplex.exceptions import CplexError, CplexSolverError
except ImportError:
    raise MissingDependencyError(
        "CPLEX needs the cplex package. Install it: pip install 'shortlist[cplex]'."
    ) from None

INFINITE = cplex.infinity
LICENCE_ERROR = cplex.exceptions.error_codes.CPXERR_RESTRICTED_VERSION


class Cplex(Backend):
    """CPLEX: integer and continuous columns; `nodes` are branch-and-bound nodes."""

    name = "cplex"

    def load(self, program: Program, costs: Costs, seed: int, threads: int) -> SolverEngine:
        """Return an engine with the program."""
        return _CplexEngine(program, costs, seed, threads)


class _CplexEngine(Rebuilt):
    _aborter: Any = None

    def run(self, limits: Limits, post: Post, *, size: float) -> Claim:
        """Solve without holding the interpreter's lock."""

        class Callback:
            def invoke(self, context: Any) -> None:
                info = Context.info
                objective = context.get_double_info(info.best_solution)
                bound = context.get_double_info(info.best_bound)
                post(objective if abs(objective) < INFINITE else math.nan, _bound(bound))

        try:
            with cplex.Cplex() as model:
                for quiet in (model.set_log_stream, model.set_results_stream, model.set_warning_stream):
                    quiet(None)
                model.set_error_stream(None)
                self._load(model, limits, tolerance_for(size))
                hear = Callback()
                if self.program.integer.any():  # linear programs have no such callback
                    model.set_callback(hear, Context.id.global_progress)
                self._aborter = model.use_aborter(cplex.Aborter())
                model.solve()
                return _claim(model)
        except CplexSolverError as error:
            if len(error.args) > 2 and error.args[2] == LICENCE_ERROR:
                raise SolverError(
                    f"CPLEX's licence refuses a program of {self.program.n_rows:,} rows and "
                    f"{self.program.n_columns:,} columns. Use a full licence, or another solver."
                ) from error
            raise SolverError(f"CPLEX failed: {error} Use another solver.") from error
        except CplexError as error:
            raise SolverError(f"CPLEX failed: {error} Use another solver.") from error
        finally:
            self._aborter = None

    def stop(self) -> None:
        aborter = self._aborter
        if aborter is not None:
            aborter.abort()

    def _load(self, model: Any, limits: Limits, tolerance: float) -> None:
        program = self.whole()
        kinds = "".join("I" if whole else "C" for whole in program.integer.tolist())
        model.variables.add(
            obj=self.costs.tolist(),
            lb=_sides(program.column_lower),
            ub=_sides(program.column_upper),
            types=kinds if program.integer.any() else "",
        )
        lower, upper = _sides(program.row_lower), _sides(program.row_upper)
        ends = program.rows.indptr.tolist()
        columns, values = program.rows.indices.tolist(), program.rows.data.tolist()
        free = [low == -INFINITE and high == INFINITE for low, high in zip(lower, upper, strict=True)]
        rows = [row for row in range(program.n_rows) if not free[row]]
        model.linear_constraints.add(
            lin_expr=[
                (columns[ends[row] : ends[row + 1]], values[ends[row] : ends[row + 1]]) for row in rows
            ],
            senses="".join(_sense(lower[row], upper[row]) for row in rows),
            rhs=[upper[row] if lower[row] == -INFINITE else lower[row] for row in rows],
            range_values=[
                upper[row] - lower[row] if _sense(lower[row], upper[row]) == "R" else 0.0 for row in rows
            ],
        )
        if (start := self.taken_start()) is not None and program.integer.any():
            pair = (list(range(program.n_columns)), start.tolist())
            model.MIP_starts.add(pair, model.MIP_starts.effort_level.auto)
        parameters = model.parameters
        parameters.threads.set(self.threads)
        parameters.parallel.set(1)  # deterministic
        parameters.randomseed.set(self.seed)
        parameters.mip.tolerances.mipgap.set(0.0)
        parameters.mip.tolerances.absmipgap.set(limits.absolute_gap)
        parameters.mip.tolerances.integrality.set(tolerance)
        parameters.simplex.tolerances.feasibility.set(tolerance)
        if math.isfinite(limits.seconds):
            parameters.timelimit.set(limits.seconds)
        if limits.nodes is not None:
            parameters.mip.limits.nodes.set(limits.nodes)


def _claim(model: Any) -> Claim:
    status, limit = _status(model)
    solution = model.solution
    values = None
    if solution.get_solution_type() != solution.type.none and solution.is_primal_feasible():
        values = np.array(solution.get_values(), dtype=np.float64)
    mixed = model.get_problem_type() != model.problem_type.LP
    if mixed:
        bound = _bound(solution.MIP.get_best_objective()) if status is not Status.UNBOUNDED else -math.inf
    else:
        bound = solution.get_objective_value() if status is Status.OPTIMAL else -math.inf
    return Claim(status, values, bound, solution.progress.get_num_nodes_processed() if mixed else 0, limit)


def _status(model: Any) -> tuple[Status, str]:
    """Return the status and the limit that stopped CPLEX; FEASIBLE counts only with values."""
    says, names = model.solution.get_status(), model.solution.status
    known = {
        Status.OPTIMAL: {names.optimal, names.MIP_optimal, names.optimal_tolerance},
        Status.INFEASIBLE: {names.infeasible, names.MIP_infeasible},
        Status.UNBOUNDED: {  # the session finds out whether it is infeasible
            names.unbounded, names.MIP_unbounded, names.infeasible_or_unbounded,
            names.MIP_infeasible_or_unbounded, names.relaxation_unbounded,
        },
    }  # fmt: skip
    for status, those in known.items():
        if says in those:
            return status, ""
    stopped = {
        "seconds": {names.abort_time_limit, names.MIP_time_limit_feasible, names.MIP_time_limit_infeasible},
        "nodes": {names.node_limit_feasible, names.node_limit_infeasible},
        "interrupted": {names.abort_user, names.MIP_abort_feasible, names.MIP_abort_infeasible},
    }
    for limit, those in stopped.items():
        if says in those:
            return Status.FEASIBLE, limit
    return Status.UNKNOWN, "solver"


def _sense(lower: float, upper: float) -> str:
    """Return the letter for the sense of a row: equal, at most, at least, or between."""
    if lower == upper:
        return "E"
    if lower == -INFINITE:
        return "L"
    return "G" if upper == INFINITE else "R"


def _bound(value: float) -> float:
    return value if abs(value) < INFINITE else -math.inf


def _sides(values: Any) -> list[float]:
    sides: list[float] = np.clip(values, -INFINITE, INFINITE).tolist()
    return sides
