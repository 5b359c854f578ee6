"""HiGHS, through highspy, in process."""

import math
from collections.abc import Mapping
from typing import Any

import highspy
import numpy as np
from highspy import HighsModelStatus, HighsStatus, cb
from numpy.typing import NDArray

from shortlist.arrays import Costs
from shortlist.errors import RefusedProgramError
from shortlist.milp.backends import Backend
from shortlist.milp.current import Change
from shortlist.milp.program import Program
from shortlist.milp.solution import Claim, Limits, Post, SolverEngine
from shortlist.milp.whole_rows import tolerance_for
from shortlist.results.proof import Status

HIGHS_STATUSES = {
    HighsModelStatus.kOptimal: (Status.OPTIMAL, ""),
    HighsModelStatus.kInfeasible: (Status.INFEASIBLE, ""),
    HighsModelStatus.kUnbounded: (Status.UNBOUNDED, ""),
    HighsModelStatus.kUnboundedOrInfeasible: (Status.UNBOUNDED, ""),  # the session finds out which
    HighsModelStatus.kTimeLimit: (Status.FEASIBLE, "seconds"),
    HighsModelStatus.kSolutionLimit: (Status.FEASIBLE, "nodes"),
    HighsModelStatus.kInterrupt: (Status.FEASIBLE, "interrupted"),
    HighsModelStatus.kHighsInterrupt: (Status.FEASIBLE, "interrupted"),
}
"""Shortlist's status and limit for each status of HiGHS; FEASIBLE counts only with values."""

ROWWISE = 2
MINIMISE = 1
SOLUTION_FEASIBLE = 2

INTERRUPTS = (
    cb.HighsCallbackType.kCallbackMipInterrupt,
    cb.HighsCallbackType.kCallbackSimplexInterrupt,
    cb.HighsCallbackType.kCallbackIpmInterrupt,
)


SHORT_PROGRAMS: dict[str, bool | float | str] = {
    "presolve": "off",
    "mip_heuristic_effort": 0.0,
    "mip_heuristic_run_rens": False,
    "mip_heuristic_run_rins": False,
    "mip_heuristic_run_root_reduced_cost": False,
}
"""Options for programs that the root node solves, such as programs of reference points, whose rows are
reduced already. Without presolve HiGHS 1.14 called dominated points optimal at tolerances of 5e-8 and below,
never at the tolerances in use here (:data:`shortlist.milp.whole_rows.TOLERANCE`).
"""


class Highs(Backend):
    """HiGHS: integer and continuous columns; `nodes` are branch-and-bound nodes.

    `short_programs`: whether a session solves many programs of fractions of a second, which heuristics on
    smaller programs would delay. `presolve`: whether short programs are presolved all the same.
    """

    name = "highs"

    def load(self, program: Program, costs: Costs, seed: int, threads: int) -> SolverEngine:
        """Return an engine with the program."""
        options = dict(SHORT_PROGRAMS) if self.short_programs else {}
        if self.short_programs and self.presolve:
            del options["presolve"]
            options["mip_allow_restart"] = False
        return _HighsEngine(program, costs, seed, threads, options)


class _HighsEngine:
    def __init__(
        self,
        program: Program,
        costs: Costs,
        seed: int,
        threads: int,
        further: Mapping[str, bool | float | str],
    ) -> None:
        self._solver = highspy.Highs()
        self._n_rows = program.n_rows
        self._costs = costs
        self._cutoff = math.inf
        self._cutoff_row = False  # whether a last row limits the costs to the cutoff
        self._integer = program.integer
        self._any_integer = bool(program.integer.any())
        self._stopped = False
        options = {
            "output_flag": False,
            "threads": threads,
            "random_seed": seed,
            "mip_rel_gap": 0.0,
            # 1.14 presolves min y - 2x, x <= y, x binary, y in [0, 1], to 0 instead of -1: only with
            # continuous columns
            "presolve": "choose" if program.integer.all() else "off",
            # takes two thirds of the time of a small program and finds no more
            "mip_heuristic_run_feasibility_jump": False,
        } | dict(further)
        for option, value in options.items():
            _checked(self._solver.setOptionValue(option, value), f"option {option}")
        if program.n_columns:
            _checked(_pass(self._solver, program, costs), "the program")

    def change_costs(self, costs: Costs) -> None:
        self._drop_cutoff_row()
        self._costs = costs
        columns = np.arange(len(costs), dtype=np.int32)
        _checked(self._solver.changeColsCost(len(costs), columns, costs), "costs")

    def change_column_bounds(self, change: Change) -> None:
        columns, lower, upper = change
        _checked(self._solver.changeColsBounds(len(columns), columns, lower, upper), "column bounds")

    def change_row_bounds(self, change: Change) -> None:
        rows, lower, upper = change
        _checked(self._solver.changeRowsBounds(len(rows), rows, lower, upper), "row bounds")

    def change_cutoff(self, cutoff: float) -> None:
        self._cutoff = cutoff

    def offer_start(self, values: NDArray[np.float64]) -> None:
        columns = np.arange(len(values), dtype=np.int32)
        self._solver.setSolution(len(values), columns, values)

    def run(self, limits: Limits, post: Post, *, size: float) -> Claim:
        """Solve; HiGHS reports through its interrupt callbacks, every few milliseconds."""
        told = (math.nan, -math.inf)
        self._stopped = False
        solver = self._solver
        self._limit_costs(limits.absolute_gap)
        _checked(solver.setOptionValue("mip_feasibility_tolerance", tolerance_for(size)), "the tolerance")
        _checked(solver.setOptionValue("time_limit", limits.seconds), "seconds")
        nodes = highspy.kHighsIInf if limits.nodes is None else min(limits.nodes, highspy.kHighsIInf)
        _checked(solver.setOptionValue("mip_max_nodes", nodes), "nodes")
        _checked(solver.setOptionValue("mip_abs_gap", limits.absolute_gap), "absolute_gap")

        def hear(_kind: int, _message: str, news: Any, answer: Any, _data: object) -> None:
            nonlocal told
            if self._stopped:
                answer.user_interrupt = True
            elif self._any_integer and told != (heard := (news.mip_primal_bound, news.mip_dual_bound)):
                told = heard  # each report wakes the waiting thread
                post(_objective(heard[0]), heard[1])

        solver.setCallback(hear, None)
        try:
            for kind in INTERRUPTS:
                solver.startCallback(kind)
            _checked(solver.run(), "the solve")
        finally:
            solver.setCallback(None, None)
            highspy.Highs.resetGlobalScheduler(False)  # HiGHS keeps one for every thread that it ran in
        return self._claim()

    def stop(self) -> None:
        self._stopped = True

    def _claim(self) -> Claim:
        status, limit = HIGHS_STATUSES.get(self._solver.getModelStatus(), (Status.UNKNOWN, "solver"))
        info = self._solver.getInfo()
        values = None
        if info.primal_solution_status == SOLUTION_FEASIBLE:
            values = np.array(self._solver.getSolution().col_value, dtype=np.float64)
        if self._any_integer:
            bound = info.mip_dual_bound
        else:
            bound = info.objective_function_value if status is Status.OPTIMAL else -math.inf
        nodes = max(0, info.mip_node_count)
        if (
            values is not None
            and self._costs_are_whole
            and info.objective_function_value > self._cutoff + 0.5
        ):
            # found on the way: HiGHS keeps it, and has excluded the rest
            if status is Status.OPTIMAL and not self._cutoff_row:
                return Claim(Status.INFEASIBLE, nodes=nodes)
            values = None
        return Claim(status, values, bound, nodes, limit)

    @property
    def _costs_are_whole(self) -> bool:
        return bool((self._costs == np.rint(self._costs)).all() and self._integer[self._costs != 0].all())

    def _limit_costs(self, absolute_gap: float) -> None:
        """Exclude solutions that cost more than the cutoff.

        If the objective takes integers only, HiGHS's bound on the objective excludes them: its branch and
        bound begins with this bound. A margin of half a unit covers rounding errors. Otherwise the last row
        limits the costs to the cutoff. Such a row has an entry in every column that costs: with such a row
        the programs one unit below the answers of uClinux took three times as long. The row is needed all the
        same with an absolute gap of a unit or more. HiGHS's solutions above the bound may then be within the
        gap of solutions below the cutoff, and end the search.
        """
        whole = self._any_integer and self._costs_are_whole
        highest = self._cutoff + 0.5 if whole else self._cutoff
        by_bound = whole and absolute_gap < 1
        objective_bound = highest if by_bound and math.isfinite(highest) else math.inf
        _checked(self._solver.setOptionValue("objective_bound", objective_bound), "objective_bound")
        if by_bound or math.isinf(self._cutoff):
            self._drop_cutoff_row()
            return
        if self._cutoff_row:
            self._solver.changeRowBounds(self._n_rows, -math.inf, highest)
            return
        columns = np.flatnonzero(self._costs).astype(np.int32)
        status = self._solver.addRow(-math.inf, highest, len(columns), columns, self._costs[columns])
        _checked(status, "cutoff")
        self._cutoff_row = True

    def _drop_cutoff_row(self) -> None:
        if self._cutoff_row:
            _checked(self._solver.deleteRows(1, np.array([self._n_rows], dtype=np.int32)), "cutoff")
            self._cutoff_row = False


def _pass(solver: highspy.Highs, program: Program, costs: Costs) -> HighsStatus:
    """Pass the whole program to HiGHS in one call."""
    rows = program.rows
    return solver.passModel(
        program.n_columns,
        program.n_rows,
        rows.nnz,
        ROWWISE,
        MINIMISE,
        0.0,
        costs,
        program.column_lower,
        program.column_upper,
        program.row_lower,
        program.row_upper,
        rows.indptr.astype(np.int32),
        rows.indices.astype(np.int32),
        rows.data,
        program.integer.astype(np.int32),
    )


def _objective(value: float) -> float:
    """Return the objective of the incumbent; NaN without one."""
    return value if abs(value) < highspy.kHighsInf else math.nan


def _checked(status: HighsStatus, what: str) -> None:
    """Raise SolverError if HiGHS refused the call; a warning is no refusal."""
    if status == HighsStatus.kError:
        raise RefusedProgramError(
            f"HiGHS refused {what}. Check the size of the numbers: it takes up to 1e15."
        )
