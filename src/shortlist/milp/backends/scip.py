"""SCIP, through pyscipopt, an extra."""

import contextlib
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count
from shortlist.arrays import Costs
from shortlist.errors import MissingDependencyError, SolverError
from shortlist.milp.current import Change
from shortlist.milp.engine import CheckedSession
from shortlist.milp.program import Program
from shortlist.milp.solution import Claim, Limits
from shortlist.milp.watch import Post
from shortlist.milp.whole_rows import FINEST_TOLERANCE, tolerance_for
from shortlist.results.proof import Status

try:
    from pyscipopt import Eventhdlr, Model
    from pyscipopt.scip import PY_SCIP_EVENTTYPE, Expr, ExprCons, Term
except ImportError:
    raise MissingDependencyError(
        "SCIP needs the pyscipopt package. Install it: pip install 'shortlist[scip]'."
    ) from None

SCIP_STATUSES = {
    "optimal": (Status.OPTIMAL, ""),
    "gaplimit": (Status.OPTIMAL, ""),
    "infeasible": (Status.INFEASIBLE, ""),
    "unbounded": (Status.UNBOUNDED, ""),
    "inforunbd": (Status.UNBOUNDED, ""),  # the session finds out which
    "timelimit": (Status.FEASIBLE, "seconds"),
    "nodelimit": (Status.FEASIBLE, "nodes"),
    "totalnodelimit": (Status.FEASIBLE, "nodes"),
    "userinterrupt": (Status.FEASIBLE, "interrupted"),
}
"""What SCIP says, and what stopped it; FEASIBLE counts only if there are values."""

INFINITE = 1e20
"""From here on, numbers are infinite to SCIP."""


class Scip:
    """SCIP: integer and continuous columns; `nodes` are branch-and-bound nodes. It works in one thread."""

    name = "scip"
    handles_continuous = True
    tolerance = FINEST_TOLERANCE

    def open(self, program: Program, *, seed: int = 0, threads: int = 1) -> CheckedSession:
        """Load `program`; its first objective, if any, gives the costs. More `threads` change nothing."""
        seed = as_count(seed, "seed", at_least=0) % 2**31  # what solvers take
        as_count(threads, "threads")
        return CheckedSession(
            program, lambda clean, costs: _ScipEngine(clean, costs, seed), tolerance=self.tolerance, seed=seed
        )


class _Hear(Eventhdlr):
    """Posts objective and bound of the running solve."""

    kinds = (
        PY_SCIP_EVENTTYPE.BESTSOLFOUND,
        PY_SCIP_EVENTTYPE.DUALBOUNDIMPROVED,
        PY_SCIP_EVENTTYPE.NODESOLVED,
    )

    def __init__(self) -> None:
        self.post: Post | None = None

    def eventinit(self) -> None:
        for kind in self.kinds:
            self.model.catchEvent(kind, self)

    def eventexit(self) -> None:
        for kind in self.kinds:
            self.model.dropEvent(kind, self)

    def eventexec(self, _event: object) -> None:
        if self.post is not None:
            objective = self.model.getPrimalbound() if self.model.getNSols() else math.nan
            self.post(_number(objective), _number(self.model.getDualbound()))


class _ScipEngine:
    """One program in one SCIP object, thrown back to the original problem before every change."""

    def __init__(self, program: Program, costs: Costs, seed: int) -> None:
        self._model = Model()
        self._model.hideOutput()
        self._model.setParam("randomization/randomseedshift", seed)
        self._model.setParam("misc/catchctrlc", False)  # a value, not an option of ours
        self._hear = _Hear()
        self._model.includeEventhdlr(self._hear, "shortlist", "posts bounds")
        self._columns = [
            self._model.addVar(vtype="I" if whole else "C", lb=_side(low), ub=_side(high), obj=cost)
            for whole, low, high, cost in zip(
                program.integer.tolist(),
                program.column_lower.tolist(),
                program.column_upper.tolist(),
                costs.tolist(),
                strict=True,
            )
        ]
        self._terms = [Term(column) for column in self._columns]
        self._costs, self._cutoff = costs, math.inf
        self._cutoff_row: Any = None
        self._rows = [self._add_row(program, row) for row in range(program.n_rows)]

    def change_costs(self, costs: Costs) -> None:
        self._drop_cutoff_row()
        self._costs = costs
        self._model.setObjective(self._sum(range(len(costs)), costs.tolist()))

    def change_column_bounds(self, change: Change) -> None:
        self._model.freeTransform()
        for column, lower, upper in zip(*(part.tolist() for part in change), strict=True):
            variable = self._columns[column]
            if variable.vtype() == "BINARY":  # what SCIP makes of an integer column in [0, 1]
                self._model.chgVarType(variable, "INTEGER")
            self._model.chgVarLb(variable, None)  # so that no step on the way is an empty interval
            self._model.chgVarUb(variable, _side(upper))
            self._model.chgVarLb(variable, _side(lower))

    def change_row_bounds(self, change: Change) -> None:
        self._model.freeTransform()
        for row, lower, upper in zip(*(part.tolist() for part in change), strict=True):
            self._model.chgLhs(self._rows[row], None)
            self._model.chgRhs(self._rows[row], _side(upper))
            self._model.chgLhs(self._rows[row], _side(lower))

    def change_cutoff(self, cutoff: float) -> None:
        self._cutoff = cutoff
        self._drop_cutoff_row()

    def offer_start(self, values: NDArray[np.float64]) -> None:
        self._model.freeTransform()
        start = self._model.createOrigSol()
        for column, value in zip(self._columns, values.tolist(), strict=True):
            self._model.setSolVal(start, column, value)
        self._model.addSol(start)

    def run(self, limits: Limits, post: Post, *, size: float) -> Claim:
        """Solve without the interpreter's lock."""
        model = self._model
        model.freeTransform()
        self._limit_costs()
        model.setParam("numerics/feastol", tolerance_for(size))
        model.setParam("limits/time", min(limits.seconds, INFINITE))
        model.setParam("limits/totalnodes", -1 if limits.nodes is None else limits.nodes)
        model.setParam("limits/absgap", limits.absolute_gap)
        self._hear.post = post
        try:
            model.optimizeNogil()
        except Exception as error:  # pyscipopt raises nothing more special
            raise SolverError(f"SCIP failed: {error} Use another solver.") from error
        finally:
            self._hear.post = None
        status, limit = SCIP_STATUSES.get(model.getStatus(), (Status.UNKNOWN, "solver"))
        values = None
        best = model.getBestSol() if model.getNSols() else None
        if status in {Status.OPTIMAL, Status.FEASIBLE} and best is not None:
            values = np.array([best[column] for column in self._columns], dtype=np.float64)
        return Claim(status, values, _number(model.getDualbound()), model.getNTotalNodes(), limit)

    def stop(self) -> None:
        with contextlib.suppress(Exception):  # too early or too late: the call is repeated until the run ends
            self._model.interruptSolve()

    def _add_row(self, program: Program, row: int) -> Any:
        part = slice(program.rows.indptr[row], program.rows.indptr[row + 1])
        terms = self._sum(program.rows.indices[part].tolist(), program.rows.data[part].tolist())
        lower, upper = float(program.row_lower[row]), float(program.row_upper[row])
        return self._model.addCons(ExprCons(terms, lhs=max(lower, -INFINITE), rhs=min(upper, INFINITE)))

    def _sum(self, columns: Iterable[int], coefficients: list[float]) -> Expr:
        pairs = zip(columns, coefficients, strict=True)
        return Expr({self._terms[column]: value for column, value in pairs if value})

    def _limit_costs(self) -> None:
        """Add a row that limits the costs: SCIP lets solutions of earlier solves pass its objective limit."""
        if self._cutoff_row is None and math.isfinite(self._cutoff):
            terms = self._sum(range(len(self._costs)), self._costs.tolist())
            self._cutoff_row = self._model.addCons(ExprCons(terms, lhs=-INFINITE, rhs=self._cutoff))

    def _drop_cutoff_row(self) -> None:
        self._model.freeTransform()
        if self._cutoff_row is not None:
            self._model.delCons(self._cutoff_row)
            self._cutoff_row = None


def _side(value: float) -> float | None:
    """Return a bound as pyscipopt wants it: None if infinite."""
    return value if abs(value) < INFINITE else None


def _number(value: float) -> float:
    return value if abs(value) < INFINITE else math.copysign(math.inf, value)
