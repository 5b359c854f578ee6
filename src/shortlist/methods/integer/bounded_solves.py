"""Repeated solves of one program under bounds on its objectives, each answer checked in integers."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count, as_seed
from shortlist._words import all_of
from shortlist.arrays import Floats
from shortlist.errors import BadInputError, SolverError
from shortlist.methods.integer.dual_bounds import Interval
from shortlist.methods.integer.integer_objectives import (
    UNLIMITED,
    Archive,
    IntegerObjectives,
    Vector,
    integer_objectives,
)
from shortlist.methods.integer.program_parts import Parts, ProgramPart
from shortlist.methods.integer.recorded_solves import RecordedSolves, Solved
from shortlist.milp.backends import open_solver
from shortlist.milp.program import Program
from shortlist.milp.solution import NO_LIMITS, Limits, Session, Solution, Solver
from shortlist.milp.whole_rows import tells_apart, whole_rows
from shortlist.results.front import Front
from shortlist.results.proof import Proof, Status
from shortlist.runs.budget import Budget, Progress
from shortlist.runs.study import NO_STUDY, Study

LARGEST_OBJECTIVE = 4 * 10**8
"""Upper limit of weighted objectives for an exact solver; for other solvers their tolerance sets the limit.
"""

LARGEST_COEFFICIENT = 1e15
"""Coefficient size from which HiGHS refuses programs; CP-SAT decides such programs in integers."""

WITHIN_A_STEP = 0.5
"""Absolute gap: as weighted objectives are integers, it proves optimality and leaves the solver room for
rounding.
"""

N_ATTEMPTS = 3


class LimitReachedError(Exception):
    """Error of a whole search that reached a limit; `limit` names it for people."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


Box: TypeAlias = tuple[Vector, Vector]
"""Least and largest objectives of a search, both included."""


class BoundedSolves:
    """A program in a solver's memory, with its objectives as rows.

    Keeps every point of its answers.

    The objective rows are appended once. Afterwards only costs and bounds of rows change.

    `integers`: the objectives. `met`: the answers, each with its first solution. `n_programs`: number of
    integer programs solved so far, repeated ones included. `largest_objective`: size below which weighted
    objectives should stay, so that the solver resolves one step. `recorded`: answers recorded in `study`.
    With a study, each program has a session of its own, so that answers do not depend on earlier solves.
    `short_programs`: whether HiGHS is set up for programs of a fraction of a second.
    """

    short_programs = False

    def __init__(
        self,
        program: Program,
        *,
        solver: str | Solver,
        budget: Budget,
        stage: str,
        max_solves: int | None = None,
        study: Study = NO_STUDY,
    ) -> None:
        self.integers = integer_objectives(program)
        self.n_programs = 0
        self.program = program
        self._rows = program.n_rows + np.arange(len(self.integers))
        self._with_objectives = dataclasses.replace(program, objectives=()).with_rows(
            self.integers.costs.astype(np.float64),
            np.full(len(self.integers), -math.inf),
            _as_limits(self.integers.upper),
        )
        large = max_coefficient(self._with_objectives) >= LARGEST_COEFFICIENT
        if solver == "highs" and large and program.integer.all():
            solver = "cpsat"
        self._asked_for = solver
        short = self.short_programs and solver == "highs"
        self._solver = open_solver(solver, short_programs=short) if isinstance(solver, str) else solver
        self._parts: Parts | None = None
        self.largest_objective = largest_objective(self._solver.tolerance)
        self._n_handed_over = 0
        self._n_searched = 0
        self._seed = as_seed(budget.seed)
        self._session: Session | None = None
        self._upper = self.integers.upper
        self.budget = budget
        self._max_solves = None if max_solves is None else as_count(max_solves, "max_solves")
        self._stage = stage
        self.met = Archive(len(self.integers))
        asked = {"the search": stage, "solver": self._solver.name, "seed": self._seed}
        self.recorded = RecordedSolves(study, program, self.integers, asked)

    @property
    def solver_name(self) -> str:
        """Name of the requested solver, or CP-SAT if the numbers are too large for it."""
        return "cpsat" if self._n_handed_over else self._solver.name

    def minimise(self, weights: Vector, upper: Vector, *, start: Vector | None = None) -> Vector | None:
        """Return the objectives of a solution that minimises ``weights @ f`` with ``f <= upper``.

        Returns None if there is no such solution.

        `start` is an earlier answer within `upper`, from whose solution the solver starts.

        Raises LimitReachedError if the search has to end. Raises BadInputError if the objective is
        unbounded. Raises SolverError if no attempt gives an answer that passes the check in integers.
        """
        return self._answer(
            lambda attempt: self._solve(weights, upper, start, attempt),
            weights,
            (np.full_like(upper, -UNLIMITED), upper),
        )

    def minimise_part(
        self,
        weights: Vector,
        box: Box,
        part: ProgramPart,
        *,
        most: int | None = None,
        presolve: bool = True,
    ) -> Vector | None:
        """Return the objectives of a solution of `part` that minimises ``weights @ f``.

        Returns None if there is no solution.

        The part, made by :meth:`part_within`, gets a session of its own. With `most`, only solutions of
        weight up to it count. Without `presolve`, HiGHS skips its presolve.

        Raises LimitReachedError, BadInputError, SolverError as :meth:`minimise`.
        """
        solver = self._solver_of(part, presolve=presolve)

        def solve(attempt: int) -> Solution:
            solution = self._solve_part(part, most, solver, attempt)
            if solution.values is None:
                return solution
            return dataclasses.replace(solution, values=part.whole(solution.values))

        limit = np.array([UNLIMITED if most is None else most, presolve])
        return self._answer(solve, weights, box, limit, part.free, part.values, part.costs, *part.bounds)

    def keep_searched(self, values: NDArray[Any] | None, box: Box) -> Vector | None:
        """Return the objectives of a solution from a search in integers, counted as one program.

        Returns None if `values` is None, which means that the search proved that there is no solution.

        Raises LimitReachedError if the whole search has to end. Raises SolverError if the objectives are not
        within `box`.
        """
        self._check_limits()
        self.n_programs += 1
        self._n_searched += 1
        self.budget.report(Progress(self._stage, self.n_programs))
        if values is None:
            return None
        vector = self.integers.vector(values.astype(np.float64))
        if (vector < box[0]).any() or (vector > box[1]).any():
            raise SolverError("the search of a part passed its bounds. Please report it.")
        self._keep(vector, values.astype(np.float64))
        return vector

    def part_within(
        self, box: Box, narrowed: Interval, weights: Vector, duals: Floats | None = None
    ) -> ProgramPart:
        """Return the part of the program in a box of objectives, with narrower bounds of the columns.

        The costs of the part are given by `weights`. They are shifted by `duals` of the rows, if these are
        given and small enough.
        """
        if self._parts is None:
            self._parts = Parts(whole_rows(self._with_objectives).program)
        parts = self._parts
        own = self.program.n_rows
        limits = (
            np.append(parts.program.row_lower[:own], -_as_limits(-box[0])),
            np.append(parts.program.row_upper[:own], _as_limits(box[1])),
        )
        costs = (weights @ self.integers.costs).astype(np.float64)
        part = parts.part(narrowed, limits, costs, duals)
        shifted = duals is not None and not tells_apart(part.size, 0.0)
        return parts.part(narrowed, limits, costs) if shifted else part

    def _solver_of(self, part: ProgramPart, *, presolve: bool) -> Solver:
        """Return the solver of a part: CP-SAT in place of HiGHS if costs exceed its tolerance."""
        if self._asked_for == "highs" and not self.tells_apart(part) and self.in_integers(part):
            self._n_handed_over += 1
            return open_solver("cpsat", short_programs=True)
        if isinstance(self._asked_for, str):
            return open_solver(self._asked_for, short_programs=True, presolve=presolve)
        return self._solver

    def excess(self, part: ProgramPart) -> float:
        """Return the factor by which the costs of a part exceed the solver's tolerance."""
        return part.size * self._solver.tolerance / 0.5

    def tells_apart(self, part: ProgramPart) -> bool:
        """Whether the solver's tolerance resolves one unit of the costs of a part."""
        return tells_apart(part.size, self._solver.tolerance)

    def in_integers(self, part: ProgramPart) -> bool:
        """Whether CP-SAT can solve a part whose costs the solver's tolerance does not resolve."""
        program = part.program
        bounded = np.isfinite(program.column_lower) & np.isfinite(program.column_upper)
        whole = (program.integer & bounded).all() and whole_rows(program).whole.all()
        return bool(whole) and tells_apart(part.size, 0.0)

    def _answer(
        self, solve: Callable[[int], Solution], weights: Vector, box: Box, *further: NDArray[Any]
    ) -> Vector | None:
        """Return the objectives of an answer, from the study if it has one.

        `further` distinguishes questions.
        """
        key, solved = self.recorded.known(weights, box, *further)
        if solved is None:
            before = self.n_programs, self._n_handed_over
            values = self._solution(solve, weights, box)
            solved = Solved(values, self.n_programs - before[0], self._n_handed_over - before[1])
            self.recorded.add(key, solved)
        else:
            self._check_limits()
            self.n_programs += solved.n_programs
            self._n_handed_over += solved.n_handed_over
            self.budget.report(Progress(self._stage, self.n_programs))
        if solved.values is None:
            return None
        vector = self.integers.vector(solved.values)
        self._keep(vector, solved.values)
        return vector

    def _solution(self, solve: Callable[[int], Solution], weights: Vector, box: Box) -> Floats | None:
        """Solve, with one seed after the other, until an answer passes the check in integers."""
        if self.recorded.keeps:
            self._session = None
        for attempt in range(N_ATTEMPTS):
            solution = solve(attempt)
            if solution.status is Status.INFEASIBLE:
                return None
            if solution.status is Status.UNBOUNDED:
                names = all_of([name for name, w in zip(self.integers.names, weights, strict=True) if w])
                if (weights <= 0).all():
                    raise BadInputError(
                        f"this method needs the worst value of each objective, but {names} can get worse for "
                        "ever. Bound the columns, or use method 'exact', which does not need it."
                    )
                raise BadInputError(
                    f"`objectives` must be bounded, but {names} can improve for ever. Bound the columns."
                )
            if solution.status is Status.OPTIMAL and solution.values is not None:
                vector = self.integers.vector(solution.values)
                if (vector <= box[1]).all() and (vector >= box[0]).all():
                    return solution.values
        raise SolverError(
            f"the solver gave no exact answer in {N_ATTEMPTS} attempts ({solution.status}, "
            f"{solution.limit or 'bounds missed'}). Use another solver, or a coarser scale."
        )

    def front(
        self,
        vectors: Sequence[Vector],
        proof: Proof,
        *,
        method: str,
        candidates: Sequence[str] | None,
        **extras: Any,
    ) -> Front:
        """Return earlier answers `vectors` as the points of a front, with their first solutions.

        Also writes new answers to the study.
        """
        self.recorded.write()
        names = candidate_names(self.program, candidates)
        decisions = [self.columns_of(vector) for vector in vectors]
        facts: dict[str, Any] = {"solver": self._solver.name, "n_programs": self.n_programs} | extras
        if self._n_handed_over:
            facts["n_handed_over"] = self._n_handed_over
        if self._n_searched:
            facts["n_searched"] = self._n_searched
        return Front.from_points(
            self.integers.objectives,
            self.integers.points(vectors),
            np.array(decisions, dtype=np.int64).reshape(len(vectors), len(names)),
            names,
            proof,
            method=method,
            seconds=self.budget.elapsed,
            extras=facts,
        )

    def _solve(
        self, weights: Vector, upper: Vector, start: Vector | None, attempt: int, each: Limits = NO_LIMITS
    ) -> Solution:
        """Solve once within the limits of `each` program; later attempts take a session with another seed.

        Raises LimitReachedError if the whole search has to end.
        """
        self._check_limits()
        if self._session is None or attempt:
            self._session = self._open(attempt)
        session = self._session
        session.set_costs((weights @ self.integers.costs).astype(np.float64))
        changed = np.flatnonzero(upper != self._upper)
        if len(changed):
            session.set_row_bounds(self._rows[changed], -math.inf, _as_limits(upper[changed]))
            self._upper = upper.copy()
        if start is not None and self.program.integer.all():
            session.set_start(self.columns_of(start))
        return self._limited(session, each)

    def _limited(self, session: Session, each: Limits) -> Solution:
        """Solve within the limits of `each` program and of the whole search.

        Raises LimitReachedError if the whole search has to end.
        """
        budget = self.budget
        limits = dataclasses.replace(each, absolute_gap=WITHIN_A_STEP).within(budget)
        solution = session.solve(limits, cancellation=budget.cancellation)
        self._count(solution)
        if solution.status in {Status.FEASIBLE, Status.UNKNOWN}:
            if solution.limit == "interrupted":
                raise LimitReachedError("interrupted")
            if solution.limit == "seconds" and limits.seconds < each.seconds:
                raise LimitReachedError(budget.time_text)
        return solution

    def _count(self, solution: Solution) -> None:
        """Count and report a program.

        Raises BadInputError if the numbers are too large for any solver to decide.
        """
        self.n_programs += 1
        self._n_handed_over += solution.handed_over
        self.budget.report(Progress(self._stage, self.n_programs))
        if solution.limit == "size":
            raise BadInputError(
                "limits and objectives must add up to numbers that a solver tells apart: below "
                f"{largest_objective(self._solver.tolerance):,} for {self._solver.name!r}, and below 2^53 "
                "for integer columns with bounds. Round their coefficients to fewer digits."
            )

    def _solve_part(
        self, part: ProgramPart, most: int | None, solver: Solver, attempt: int, each: Limits = NO_LIMITS
    ) -> Solution:
        """Solve a part once, in a session of its own, within the limits of `each` program.

        Raises LimitReachedError if the whole search has to end.
        """
        self._check_limits()
        session = solver.open(part.program, seed=self._seed + attempt)
        session.set_costs(part.costs)
        if most is not None:
            session.set_cutoff(float(most) - part.constant)
        return self._limited(session, each)

    def _open(self, attempt: int) -> Session:
        self._upper = self.integers.upper.copy()
        return self._solver.open(self._with_objectives, seed=self._seed + attempt)

    def _check_limits(self) -> None:
        if self.budget.stopped:
            raise LimitReachedError(self.budget.limit_text)
        if self._max_solves is not None and self.n_programs >= self._max_solves:
            raise LimitReachedError(f"{self._max_solves} solves")

    def columns_of(self, vector: Vector) -> NDArray[np.int64]:
        """Return the first solution that was found with the objectives `vector`."""
        return self.met.columns_of(vector)

    def _keep(self, vector: Vector, columns: NDArray[np.float64]) -> None:
        """Store the solution as the witness of its vector, unless there is one already."""
        self.met.add(vector, np.rint(columns[self.program.integer]).astype(np.int64))


def max_coefficient(program: Program) -> float:
    """Return the largest absolute value of a coefficient in the rows."""
    return float(np.abs(program.rows.data).max(initial=0.0))


def largest_objective(tolerance: float) -> int:
    """Return the upper limit, with a margin, of weighted objectives for a solver with this tolerance."""
    return int(0.25 / tolerance) - 1 if tolerance else LARGEST_OBJECTIVE


def safe_weights(
    integers: IntegerObjectives, first: int, lower: Vector, upper: Vector, most: int
) -> tuple[Vector, bool]:
    """Return weights for ``W f_first + sum of the others``, and whether W gives `first` priority.

    With every other objective between `lower` and `upper`, one step of `first` outweighs all other objectives
    if W = 1 + the sum of their ranges. W is smaller if the weighted objective could exceed `most`. All
    weights are at least 1. So a minimum over a set is non-dominated if the set contains every vector below
    its members.
    """
    others = np.arange(len(integers)) != first
    needed = 1 + sum(
        max(0, high - low) for high, low in zip(upper[others].tolist(), lower[others].tolist(), strict=True)
    )
    size = np.maximum(np.abs(integers.lower), np.abs(integers.upper))
    room = (most - int(size[others].sum())) // max(1, int(size[first]))
    weights = np.ones(len(integers), dtype=np.int64)
    weights[first] = max(1, min(needed, room))
    return weights, bool(weights[first] == needed)


def _as_limits(upper: Vector) -> NDArray[np.float64]:
    return np.where(upper >= UNLIMITED, math.inf, upper.astype(np.float64))


def candidate_names(program: Program, candidates: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the integer columns; by default ``x0``, ``x1``, ... by column number.

    Raises BadInputError unless there is one name for each integer column.
    """
    columns = np.flatnonzero(program.integer)
    names = tuple(candidates) if candidates is not None else tuple(f"x{column}" for column in columns)
    if len(names) != len(columns):
        raise BadInputError(
            "candidates", f"must name the {len(columns)} integer columns", f"{len(names)} names"
        )
    return names
