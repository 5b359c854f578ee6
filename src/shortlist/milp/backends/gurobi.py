"""Gurobi through gurobipy, an extra; the licence that comes with it takes small programs."""

import contextlib
import math
import signal
from typing import Any

import numpy as np

from shortlist.arrays import Costs
from shortlist.errors import MissingDependencyError, SolverError
from shortlist.milp.backends import Backend, Rebuilt
from shortlist.milp.program import Program
from shortlist.milp.solution import Claim, Limits, Post, SolverEngine
from shortlist.milp.whole_rows import tolerance_for
from shortlist.results.proof import Status

try:
    import gurobipy
    from gurobipy import GRB
except ImportError:
    raise MissingDependencyError(
        "Gurobi needs the gurobipy package. Install it: pip install 'shortlist[gurobi]'."
    ) from None

GUROBI_STATUSES = {
    GRB.OPTIMAL: (Status.OPTIMAL, ""),
    GRB.INFEASIBLE: (Status.INFEASIBLE, ""),
    GRB.UNBOUNDED: (Status.UNBOUNDED, ""),
    GRB.INF_OR_UNBD: (Status.UNBOUNDED, ""),  # the session finds out which
    GRB.TIME_LIMIT: (Status.FEASIBLE, "seconds"),
    GRB.NODE_LIMIT: (Status.FEASIBLE, "nodes"),
    GRB.INTERRUPTED: (Status.FEASIBLE, "interrupted"),
}
"""Shortlist's status and limit for each status of Gurobi; FEASIBLE counts only with values."""

LICENCE_ERRORS = {GRB.Error.NO_LICENSE, GRB.Error.SIZE_LIMIT_EXCEEDED}


class Gurobi(Backend):
    """Gurobi: integer and continuous columns; `nodes` are branch-and-bound nodes."""

    name = "gurobi"

    def load(self, program: Program, costs: Costs, seed: int, threads: int) -> SolverEngine:
        """Return an engine with the program."""
        return _GurobiEngine(program, costs, seed, threads)


class _GurobiEngine(Rebuilt):
    _model: Any = None
    _stopped = False

    def run(self, limits: Limits, post: Post, *, size: float) -> Claim:
        """Solve without holding the interpreter's lock."""

        def hear(model: Any, where: int) -> None:
            if where == GRB.Callback.MIP:
                objective = model.cbGet(GRB.Callback.MIP_OBJBST)
                known = abs(objective) < GRB.INFINITY
                post(objective if known else math.nan, model.cbGet(GRB.Callback.MIP_OBJBND))

        self._stopped = False
        try:
            with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.Model(env=env) as model:
                self._load(model, limits, tolerance_for(size))
                self._model = model
                model.optimize(hear)
                if model.Status == GRB.INTERRUPTED and not self._stopped:
                    signal.raise_signal(signal.SIGINT)  # Ctrl-C, caught by Gurobi's own handler
                return _claim(model)
        except gurobipy.GurobiError as error:
            if error.errno in LICENCE_ERRORS:
                raise SolverError(
                    f"Gurobi's licence refuses a program of {self.program.n_rows:,} rows and "
                    f"{self.program.n_columns:,} columns. Use a full licence, or another solver."
                ) from error
            raise SolverError(f"Gurobi failed: {error} Use another solver.") from error
        finally:
            self._model = None

    def stop(self) -> None:
        model, self._stopped = self._model, True
        if model is not None:
            with contextlib.suppress(gurobipy.GurobiError):  # too late: the call is repeated until it ends
                model.terminate()

    def _load(self, model: Any, limits: Limits, tolerance: float) -> None:
        program = self.whole()
        columns = model.addMVar(
            program.n_columns,
            lb=program.column_lower,
            ub=program.column_upper,
            obj=self.costs,
            vtype=np.where(program.integer, GRB.INTEGER, GRB.CONTINUOUS).tolist(),
        )
        above, below = np.isfinite(program.row_lower), np.isfinite(program.row_upper)
        equal = above & below & (program.row_lower == program.row_upper)
        for kept, sense, sides in (
            (equal, GRB.EQUAL, program.row_lower),
            (above & ~equal, GRB.GREATER_EQUAL, program.row_lower),
            (below & ~equal, GRB.LESS_EQUAL, program.row_upper),
        ):
            if kept.any():
                model.addMConstr(program.rows[np.flatnonzero(kept)], columns, sense, sides[kept])
        if (start := self.taken_start()) is not None:
            columns.Start = start
        parameters = {
            "Threads": self.threads,
            "Seed": self.seed,
            "MIPGap": 0.0,
            "MIPGapAbs": limits.absolute_gap,
            "IntFeasTol": tolerance,
            "FeasibilityTol": tolerance,
            "TimeLimit": min(limits.seconds, GRB.INFINITY),
            "NodeLimit": GRB.INFINITY if limits.nodes is None else limits.nodes,
        }
        for name, value in parameters.items():
            model.setParam(name, value)


def _claim(model: Any) -> Claim:
    status, limit = GUROBI_STATUSES.get(model.Status, (Status.UNKNOWN, "solver"))
    values = np.array(model.getAttr("X"), dtype=np.float64) if model.SolCount else None
    if model.IsMIP:
        bound = model.ObjBound if abs(model.ObjBound) < GRB.INFINITY else -math.inf
    else:
        bound = model.ObjVal if status is Status.OPTIMAL else -math.inf
    return Claim(status, values, bound, int(model.NodeCount), limit)
