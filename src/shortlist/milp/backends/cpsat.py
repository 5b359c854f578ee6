"""CP-SAT of OR-Tools: integer columns, and rows as clauses where possible."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model_helper as sat

from shortlist.arrays import Costs, Mask
from shortlist.errors import BadInputError
from shortlist.exact import LARGEST_INTEGER, MOST_DECIMALS, decimal_steps
from shortlist.milp.backends import Backend
from shortlist.milp.current import Change
from shortlist.milp.program import Program
from shortlist.milp.solution import Claim, Limits, Post, SolverEngine
from shortlist.milp.whole_rows import implied_bounds
from shortlist.results.proof import Status


def scaled_to_integers(
    values: NDArray[np.float64], starts: NDArray[np.integer[Any]], what: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Scale rows of decimals to integers; return the integers, and the power of ten of each row.

    The powers are those of :func:`~shortlist.exact.decimal_steps`.

    `what`: name of the values in the message.

    Raises BadInputError if a value has more than nine decimals, or is no integer below 2^53 after scaling.

    >>> scaled_to_integers(np.array([1.0, 2.0, 0.25, 3.0]), np.array([0, 2, 4]), "rows")
    (array([  1,   2,  25, 300]), array([  1, 100]))
    """
    scaled, scales, decimal = decimal_steps(values, starts)
    if decimal.all():
        return scaled, scales
    row = int(np.argmin(decimal))
    shown = ", ".join(f"{value:g}" for value in values[starts[row] : starts[row + 1]][:5].tolist())
    raise BadInputError(
        f"CP-SAT needs {what} with at most {MOST_DECIMALS} decimals and "
        f"{int(np.log10(LARGEST_INTEGER))} digits, got {shown} in row {row}. Round them, or "
        "use `solver='highs'`."
    )


CPSAT_STATUSES = {
    sat.CpSolverStatus.OPTIMAL: Status.OPTIMAL,
    sat.CpSolverStatus.FEASIBLE: Status.FEASIBLE,
    sat.CpSolverStatus.INFEASIBLE: Status.INFEASIBLE,
    sat.CpSolverStatus.UNKNOWN: Status.UNKNOWN,
}

LOWEST, HIGHEST = -(2**63), 2**63 - 1
LARGEST_BOUND = 2**53
DETERMINISTIC_PER_NODE = 1e-3
ALL_STRATEGIES = 8
"""Number of threads from which CP-SAT runs all its kinds of search side by side."""


@dataclass
class CpSat(Backend):
    """CP-SAT: integer columns only; `nodes` are thousandths of deterministic time.

    Coefficients, costs and limits are scaled to integers by a power of ten, row by row. With fewer than eight
    threads the kinds of search take turns in small batches, which is deterministic; alone, the first kind
    often has no useful bound. For short programs the first kind runs alone: with some hundred columns it ends
    before the other kinds begin.

    `bound_tree`: whether the proof is a best-first tree on the objective's bound, with at most a second
    thread that looks for solutions.
    """

    bound_tree: bool = False
    name = "cpsat"
    handles_continuous = False
    tolerance = 0.0

    def check(self, program: Program) -> None:
        """Raise BadInputError for continuous columns."""
        if not program.integer.all():
            raise BadInputError(
                f"CP-SAT needs integer columns, but column {int(np.argmin(program.integer))} is "
                "continuous. Use `solver='highs'`."
            )

    def load(self, program: Program, costs: Costs, seed: int, threads: int) -> SolverEngine:
        """Return an engine with the program.

        Raises BadInputError if a column is continuous or unbounded, or a coefficient has more than nine
        decimals.
        """
        self.check(program)
        return _CpSatEngine(
            program, costs, seed, threads, self.bound_tree, takes_turns=not self.short_programs
        )


class _CpSatEngine:
    """Program as a CP-SAT model; constraint i is row i, a clause where possible."""

    def __init__(
        self,
        program: Program,
        costs: Costs,
        seed: int,
        threads: int,
        bound_tree: bool,
        *,
        takes_turns: bool,
    ) -> None:
        self._program = program.to_change()
        self._scaled, self._scales = scaled_to_integers(program.rows.data, program.rows.indptr, "rows")
        self._seed, self._threads, self._bound_tree = seed, threads, bound_tree
        self._takes_turns = takes_turns
        self._cutoff = math.inf
        self._start_cost = HIGHEST
        self._wrapper = sat.SolveWrapper()
        self._stopped = False
        self._model = sat.CpModelProto()
        self._model.variables.extend([_variable(0, 0)] * program.n_columns)
        self._model.constraints.extend([sat.ConstraintProto()] * program.n_rows)
        self._lower = self._upper = np.zeros(program.n_columns, dtype=np.int64)  # bounds in the model
        self._any_empty = False
        self._stale = True  # whether bounds changed since the last write
        self._clausal: Mask = np.zeros(program.n_rows, dtype=bool)  # rows that are clauses in the model
        self._write_columns()
        self._write_rows(np.flatnonzero(~self._clausal), self._clausal)
        self.change_costs(costs)

    def change_costs(self, costs: Costs) -> None:
        scaled, scales = scaled_to_integers(costs, np.array([0, len(costs)]), "costs")
        self._scale = int(scales[0])
        charged = np.flatnonzero(scaled)
        objective = self._model.objective
        objective.vars.clear()
        objective.coeffs.clear()
        objective.vars.extend(charged.tolist())
        objective.coeffs.extend(scaled[charged].tolist())

    def change_column_bounds(self, change: Change) -> None:
        columns, lower, upper = change
        self._program.column_lower[columns] = lower
        self._program.column_upper[columns] = upper
        self._stale = True

    def change_row_bounds(self, change: Change) -> None:
        rows, lower, upper = change
        self._program.row_lower[rows] = lower
        self._program.row_upper[rows] = upper
        self._write_rows(rows, self._clausal)
        self._stale = True  # rows may imply bounds

    def change_cutoff(self, cutoff: float) -> None:
        self._cutoff = cutoff

    def offer_start(self, values: NDArray[np.float64]) -> None:
        """Limit the costs to the cost of the start; CP-SAT gets no hint.

        With a hint, OR-Tools 9.15 ends the process by a failed check (``solution->size() ==
        postsolve_mapping.size()``) if the time limit or a stop comes between its presolve and its search: 5
        of 2,000 solves of 0.3 to 50 ms, none of 6,000 without a hint. If a limit leaves no solution, the
        session returns the start.
        """
        objective = self._model.objective
        whole = np.rint(values[list(objective.vars)]).astype(np.int64).tolist()
        self._start_cost = sum(c * x for c, x in zip(objective.coeffs, whole, strict=True))

    def run(self, limits: Limits, post: Post, *, size: float) -> Claim:  # noqa: ARG002  # exact at any size
        """Solve without results of earlier solves: CP-SAT keeps only the model."""
        self._wrapper = wrapper = sat.SolveWrapper()
        self._stopped = False
        self._write_columns()
        if self._any_empty:
            return Claim(Status.INFEASIBLE)
        self._model.objective.domain.clear()
        most = min(_down(self._cutoff * self._scale), self._start_cost)
        self._start_cost = HIGHEST
        self._model.objective.domain.extend([LOWEST, most])
        wrapper.set_parameters(self._parameters(limits))
        scale = self._scale

        def hear_bound(bound: float) -> None:
            post(math.nan, bound / scale)

        class Hear(sat.SolutionCallback):
            def OnSolutionCallback(self) -> None:  # noqa: N802  # CP-SAT calls this name
                post(self.ObjectiveValue() / scale, self.BestObjectiveBound() / scale)

        hear = Hear()
        wrapper.add_solution_callback(hear)
        wrapper.add_best_bound_callback(hear_bound)
        try:
            response = wrapper.solve(self._model)  # type: ignore[no-untyped-call]  # the stub has no types
        finally:
            wrapper.clear_solution_callback(hear)
        return self._claim(response, limits)

    def stop(self) -> None:
        self._stopped = True
        self._wrapper.stop_search()

    def _parameters(self, limits: Limits) -> sat.SatParameters:
        parameters = sat.SatParameters()
        self._choose_strategies(parameters)
        parameters.random_seed = self._seed
        parameters.catch_sigint_signal = False
        # this presolve step cuts off optima in 9.15 (google/or-tools#5293), on our own programs too
        parameters.presolve_inclusion_work_limit = 0
        parameters.relative_gap_limit = 0.0
        parameters.absolute_gap_limit = limits.absolute_gap * self._scale
        if math.isfinite(limits.seconds):
            parameters.max_time_in_seconds = limits.seconds
        if limits.nodes is not None:
            parameters.max_deterministic_time = limits.nodes * DETERMINISTIC_PER_NODE
        return parameters

    def _choose_strategies(self, parameters: sat.SatParameters) -> None:
        if not self._bound_tree:
            parameters.num_workers = self._threads
            parameters.interleave_search = self._takes_turns and self._threads < ALL_STRATEGIES
            return
        parameters.num_workers = min(self._threads, 2)
        if self._threads == 1:
            parameters.optimize_with_lb_tree_search = True
            parameters.linearization_level = 2
        else:
            parameters.subsolvers.append("lb_tree_search")

    def _claim(self, response: sat.CpSolverResponse, limits: Limits) -> Claim:
        if response.status == sat.CpSolverStatus.MODEL_INVALID:
            reason = sat.CpSatHelper.validate_model(self._model).strip().splitlines()
            raise BadInputError(
                "CP-SAT cannot hold this program: "
                f"{(reason[0] if reason else 'its numbers are too large')}. Use `solver='highs'`."
            )
        values = np.array(list(response.solution), dtype=np.float64)
        # the other field, a double, is off by up to 7 in 10^7 if presolve took a constant out of the
        # objective
        bound = float(response.inner_objective_lower_bound)
        # this value also stands for "none"
        if response.status == sat.CpSolverStatus.UNKNOWN and bound == 0:
            bound = self._plain_bound()
        return Claim(
            CPSAT_STATUSES.get(response.status, Status.UNKNOWN),
            values if len(values) else None,
            bound / self._scale,
            response.num_branches,
            "" if response.status == sat.CpSolverStatus.OPTIMAL else self._limit(response, limits),
        )

    def _plain_bound(self) -> float:
        """Return the bound on the scaled costs implied by the bounds of the columns."""
        least = 0
        for column, cost in zip(self._model.objective.vars, self._model.objective.coeffs, strict=True):
            least += cost * int(self._lower[column] if cost > 0 else self._upper[column])
        return float(least) if abs(least) < LARGEST_BOUND else -math.inf

    def _limit(self, response: sat.CpSolverResponse, limits: Limits) -> str:
        """Return the limit that ended the search.

        If kinds of search take turns, CP-SAT ends as soon as no time is left for another turn.
        """
        if self._stopped:
            return "interrupted"
        if limits.nodes is None:
            return "seconds" if math.isfinite(limits.seconds) else "solver"
        spent = response.deterministic_time / max(limits.nodes * DETERMINISTIC_PER_NODE, 1e-12)
        return "nodes" if spent >= response.wall_time / max(limits.seconds, 1e-12) else "seconds"

    def _write_columns(self) -> None:
        """Write the changed bounds, and the rows whose form changed between clause and linear row."""
        if not self._stale:
            return
        lower, upper = _whole_bounds(self._program)
        self._stale = False
        self._any_empty = bool((lower > upper).any())
        if self._any_empty:
            self._stale = True
            return
        for column in np.flatnonzero((lower != self._lower) | (upper != self._upper)).tolist():
            self._model.variables[column].copy_from(_variable(int(lower[column]), int(upper[column])))
        self._lower, self._upper = lower, upper
        clauses = self._clauses()
        self._write_rows(np.flatnonzero(clauses != self._clausal), clauses)
        self._clausal = clauses

    def _write_rows(self, rows: NDArray[np.integer[Any]], clausal: Mask) -> None:
        """Write `rows` with their current limits, as clauses where `clausal`."""
        scaled, indices, indptr = self._scaled, self._program.rows.indices, self._program.rows.indptr
        constraints = self._model.constraints
        for row in rows.tolist():
            part = slice(indptr[row], indptr[row + 1])
            scale = int(self._scales[row])
            least = -_down(-float(self._program.row_lower[row]) * scale)
            most = _down(float(self._program.row_upper[row]) * scale)
            write = _as_clause if clausal[row] else _as_linear
            constraints[row].copy_from(write(indices[part].tolist(), scaled[part].tolist(), least, most))

    def _clauses(self) -> Mask:
        """Mark the rows with coefficients 1 and -1 over columns that are boolean in the model."""
        boolean = (self._lower >= 0) & (self._upper <= 1)
        others = ~boolean[self._program.rows.indices] | (np.abs(self._scaled) != 1)
        before = np.concatenate([[0], np.cumsum(others)])
        mask: Mask = before[self._program.rows.indptr[1:]] == before[self._program.rows.indptr[:-1]]
        return mask


def _as_clause(columns: list[int], coefficients: list[int], least: int, most: int) -> sat.ConstraintProto:
    """Write ``least <= ±x ± y ... <= most`` over booleans, as a clause where possible.

    Clauses are the fastest form.

    With a literal for each term, x for +x and not-x for -x, the sum is the number of true literals minus the
    number of negative terms.
    """
    constraint = sat.ConstraintProto()
    literals = [c if a > 0 else -c - 1 for c, a in zip(columns, coefficients, strict=True)]
    negated = [-literal - 1 for literal in literals]
    n_negative = coefficients.count(-1)
    n = len(literals)
    least_true, most_true = max(0, least + n_negative), min(n, most + n_negative)
    if least_true == 0 and most_true == n:
        return constraint
    if least_true == 1 and most_true == 1:
        constraint.exactly_one.literals.extend(literals)
    elif least_true == 1 and most_true == n:
        constraint.bool_or.literals.extend(literals)
    elif least_true == 0 and most_true == 1:
        constraint.at_most_one.literals.extend(literals)
    elif least_true == 0 and most_true == n - 1:
        constraint.bool_or.literals.extend(negated)
    elif least_true == n - 1 and most_true == n:
        constraint.at_most_one.literals.extend(negated)
    else:
        return _as_linear(columns, coefficients, least, most)
    return constraint


def _as_linear(columns: list[int], coefficients: list[int], least: int, most: int) -> sat.ConstraintProto:
    """Write ``least <= coefficients @ x <= most``."""
    constraint = sat.ConstraintProto()
    if least > most:  # no integer between the limits
        constraint.bool_or.literals.clear()
        return constraint
    linear = constraint.linear
    linear.vars.extend(columns)
    linear.coeffs.extend(coefficients)
    linear.domain.extend([least, most])
    return constraint


def _whole_bounds(program: Program) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the bounds as integers, implied by the rows for columns without a bound."""
    lower, upper = implied_bounds(program)
    endless = ~(np.abs(lower) <= LARGEST_BOUND) | ~(np.abs(upper) <= LARGEST_BOUND)
    if endless.any():
        column = int(np.argmax(endless))
        raise BadInputError(
            f"CP-SAT needs bounded columns, but column {column} lies in "
            f"[{program.column_lower[column]}, {program.column_upper[column]}] and no row bounds "
            "it. Give it bounds below 2^53, or use `solver='highs'`."
        )
    return np.ceil(lower - 1e-6).astype(np.int64), np.floor(upper + 1e-6).astype(np.int64)


def _variable(lower: int, upper: int) -> sat.IntegerVariableProto:
    variable = sat.IntegerVariableProto()
    variable.domain.extend([lower, upper])
    return variable


def _down(value: float) -> int:
    """Round an upper limit down, with a tolerance for the error of a product of doubles.

    Infinite limits become the largest or the least integer.
    """
    if not abs(value) < 2.0**62:
        return HIGHEST if value > 0 else LOWEST
    return math.floor(value + 1e-6 + 2 * math.ulp(value)) if value % 1 else int(value)
