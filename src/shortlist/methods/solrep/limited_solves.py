"""Bounded solves, each with a limit of its own; an answer comes with its proof and a bound."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Points
from shortlist.errors import BadInputError, SolverError
from shortlist.methods.integer.bounded_solves import N_ATTEMPTS, BoundedSolves, candidate_names
from shortlist.methods.integer.integer_objectives import (
    UNLIMITED,
    IntegerObjectives,
    Vector,
    integer_objectives,
)
from shortlist.methods.integer.recorded_solves import (
    opened_columns,
    packed_columns,
    program_fingerprint,
)
from shortlist.methods.integer.reduced_program import ReducedProgram
from shortlist.methods.integer.relaxed_zones import RelaxedZones
from shortlist.milp.program import Program
from shortlist.milp.solution import NO_LIMITS, Limits
from shortlist.pareto import nondominated
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind, Status, relative_gap
from shortlist.runs import Finished, Study

MANY_COLUMNS = 300
"""Number of columns from which HiGHS presolves a part: on eCos presolve reduces the time to a third, on the
smaller parts of E-Shop and uClinux it takes longer than the program.
"""

MOST_COLUMNS = 2000
"""Most columns of a program for the search in integers; larger programs go to a solver. On compact Linux,
5,602 columns, a linear program takes .2 s, and hundreds of linear programs decide no reference point.
"""

LEAST_NODES, ROWS_PER_NODE = 40, 5
"""Most linear programs of a search: one for every five rows, but at least 40; a solver then answers in
about as long. HiGHS and its check take as long as 180 linear programs on eCos (919 rows), 65 on E-Shop
(216) and 22 on uClinux.
"""


@dataclass(frozen=True, eq=False)
class ProgramOutcome:
    """Outcome of solving one program.

    `status`: OPTIMAL: `vector` is proved best. FEASIBLE: found, not proved. INFEASIBLE: nothing is within
    the bounds. UNKNOWN: stopped before anything was found. `vector`: objectives found, in steps,
    ``(n_objectives,)``. `bound`: lower bound on the weighted objectives within the bounds; -UNLIMITED if
    unknown. `columns`: the solution, ``(n_integer_columns,)``. `value`: weighted objectives of `vector`; 0
    without one. `checked`: whether integers prove the answer, or a second program found nothing better.
    """

    status: Status
    vector: Vector | None
    bound: int
    columns: NDArray[np.int64] | None = None
    value: int = 0
    checked: bool = False


class LimitedSolves(BoundedSolves):
    """Bounded solves in which each program has a limit of its own.

    `checks`: whether a proved answer is checked by a search for costs one unit lower. The relaxation excludes
    such costs in integers, or leaves columns for a second program, which is solved with another seed. The
    limits of each program hold for the check too; if they end it, the answer stays proved, but is not
    checked.
    """

    checks = False
    short_programs = True

    @cached_property
    def relaxed(self) -> RelaxedZones:
        """Linear relaxation of the program."""
        return RelaxedZones(self.program, self.integers, self.budget)

    def remember(self, vector: Vector, columns: NDArray[np.int64]) -> None:
        """Store a solution that another session found, so that programs can start from it."""
        self.met.add(vector, columns)

    def attempt(
        self, weights: Vector, upper: Vector, *, start: Vector | None = None, each: Limits = NO_LIMITS
    ) -> ProgramOutcome:
        """Minimise ``weights @ f`` with ``f <= upper`` within the limits of `each` program.

        Each program has a session of its own: its answer does not depend on earlier solves, so that a
        search resumed from a study finds the same answers.

        `start` is an earlier answer, or a stored one, within `upper`.

        Raises LimitReachedError if the whole search has to end; the program's results so far are dropped.
        Raises BadInputError if the objective is unbounded. Raises SolverError if no attempt gives an answer
        that passes the check in integers.
        """
        searched = self._by_branching(weights, upper, start) if each == NO_LIMITS else None
        if searched is not None:
            return searched
        self._session = None
        for number in range(N_ATTEMPTS):
            solution = self._solve(weights, upper, start, number, each)
            if solution.status is Status.UNBOUNDED:
                raise BadInputError("`objectives` must be bounded. Bound the columns.")
            if solution.status is Status.INFEASIBLE:
                return ProgramOutcome(Status.INFEASIBLE, None, UNLIMITED)
            bound = math.ceil(solution.bound - 1e-6) if math.isfinite(solution.bound) else -UNLIMITED
            if solution.values is None:
                if solution.limit in {"seconds", "nodes"}:
                    return ProgramOutcome(Status.UNKNOWN, None, bound)
                continue
            vector = self.integers.vector(solution.values)
            if (vector > upper).any():
                continue
            proved = solution.status is Status.OPTIMAL
            if proved or solution.limit in {"seconds", "nodes"}:
                self._keep(vector, solution.values)
                value = int(weights @ vector)
                bound = value if proved else min(bound, value)
                status = Status.OPTIMAL if bound == value else Status.FEASIBLE
                better = (
                    status is Status.OPTIMAL and self.checks and self._better(weights, upper, value, each)
                )
                if better:
                    continue
                checked = better is False and self.checks
                return ProgramOutcome(status, vector, bound, self.columns_of(vector), value, checked)
        raise SolverError(
            f"the solver gave no exact answer in {N_ATTEMPTS} attempts. Use another solver, or a coarser "
            "scale."
        )

    def _by_branching(self, weights: Vector, upper: Vector, start: Vector | None) -> ProgramOutcome | None:
        """Return an answer that is proved in integers; None if the program is too large or too hard."""
        if self._asked_for != "highs" or self.program.n_columns > MOST_COLUMNS:
            return None
        self._check_limits()
        most = None if start is None else int(weights @ start) - 1
        nodes = max(LEAST_NODES, self.program.n_rows // ROWS_PER_NODE)
        found = self.relaxed.best_by_branching(weights, upper, most, max_nodes=nodes)
        if found is None or not found.finished:
            return None
        columns = self.columns_of(start) if found.values is None and start is not None else found.values
        vector = self.keep_searched(columns, (np.full_like(upper, -UNLIMITED), upper))
        if vector is None:
            return ProgramOutcome(Status.INFEASIBLE, None, UNLIMITED)
        value = int(weights @ vector)
        return ProgramOutcome(Status.OPTIMAL, vector, value, self.columns_of(vector), value, checked=True)

    def _better(self, weights: Vector, upper: Vector, value: int, each: Limits) -> bool | None:
        """Look for a solution with weighted objectives below `value`; None if a limit ends the search."""
        relaxed = self.relaxed.relax(weights, upper)
        narrowed = None if relaxed is None else relaxed.within(value - 1)
        if narrowed is None:
            return False
        box = np.full_like(upper, -UNLIMITED), upper
        part = self.part_within(box, narrowed.bounds, weights)
        solver = self._solver_of(part, presolve=len(part.free) >= MANY_COLUMNS)
        solution = self._solve_part(part, value - 1, solver, N_ATTEMPTS, each)  # a seed that no attempt used
        if solution.status is Status.INFEASIBLE:
            return False
        return None if solution.values is None else True


@dataclass(frozen=True, eq=False)
class Record:
    """Finished step of a search: its key, its outcome, and its number of programs."""

    key: str
    outcome: ProgramOutcome
    n_programs: int


def known_records(study: Study, program: Program, settings: Mapping[str, Any]) -> dict[str, Record]:
    """Bind a study to a program and the settings of its search, and return its records.

    Raises BadInputError if the study belongs to another program or other settings.
    """
    if not study.keeps:
        return {}
    study.bind({"the program": program_fingerprint(program), **settings})
    return {key: _as_record(key, result) for key, result in study.results().items()}


def finished(record: Record, seconds: float = 0.0) -> Finished:
    """Return a record as a study keeps it."""
    return Finished(record.key, _as_dict(record), seconds)


def _as_dict(record: Record) -> dict[str, Any]:
    """Return a record as a JSON object."""
    outcome = record.outcome
    return {
        "status": str(outcome.status),
        "vector": None if outcome.vector is None else outcome.vector.tolist(),
        "bound": outcome.bound,
        "value": outcome.value,
        "columns": None if outcome.columns is None else packed_columns(outcome.columns),
        "programs": record.n_programs,
        "checked": outcome.checked,
    }


def _as_record(key: str, line: Mapping[str, Any]) -> Record:
    """Undo :func:`_as_dict`."""
    columns = line["columns"]
    vector: Vector | None = None if line["vector"] is None else np.array(line["vector"], dtype=np.int64)
    outcome = ProgramOutcome(
        Status(line["status"]),
        vector,
        line["bound"],
        None if columns is None else opened_columns(columns).astype(np.int64),
        line["value"],
        line.get("checked", False),
    )
    return Record(key, outcome, line["programs"])


def answers_front(
    program: Program,
    reduced: ReducedProgram,
    records: Mapping[str, Record],
    proof: Proof,
    *,
    candidates: Sequence[str] | None,
    seconds: float,
    extras: Mapping[str, Any],
) -> Front:
    """Return the non-dominated answers among `records`.

    `proof`: the proof if every answer is optimal. `extras` receives `gaps`, per point of the front, and
    `n_unproved`.

    Raises SolverError if an answer does not satisfy the original program, has other objectives there, or was
    proved non-dominated although another answer dominates it.
    """
    integers = integer_objectives(reduced.program)
    best: dict[tuple[int, ...], tuple[float, NDArray[np.int64]]] = {}
    for key, record in records.items():
        outcome = record.outcome
        if outcome.vector is None or outcome.columns is None or key.startswith("least "):
            continue
        gap = _gap(key, records)
        vector = tuple(outcome.vector.tolist())
        if vector not in best or gap < best[vector][0]:
            best[vector] = gap, outcome.columns
    vectors: Points = np.array(list(best), dtype=np.int64).reshape(-1, len(integers))
    gaps = np.array([gap for gap, _ in best.values()], dtype=np.float64)
    kept = nondominated(vectors)
    if (gaps[~kept] == 0).any():
        raise SolverError("the solver proved a point that another one dominates. Use another solver or seed.")
    n_columns = int(reduced.program.integer.sum())
    columns = np.array([columns for _, columns in best.values()], dtype=np.int64).reshape(
        len(best), n_columns
    )
    decisions = reduced.restore(columns[kept])
    points = integers.points(vectors[kept])
    _check(program, decisions, points)
    names = candidate_names(program, candidates)
    n_unproved = int((gaps[kept] > 0).sum())
    if n_unproved:
        proof = Proof(
            ProofKind.APPROXIMATE, missing=proof.missing, n_unresolved=proof.n_unresolved, limit=proof.limit
        )
    by_point = dict(zip(map(tuple, points.tolist()), gaps[kept].tolist(), strict=True))
    order = np.lexsort(points.T[::-1])
    facts = {
        **extras,
        "n_unproved": n_unproved,
        "gaps": [by_point[tuple(point)] for point in points[order].tolist()],
    }
    return Front.from_points(
        integers.objectives, points, decisions, names, proof, method="solrep", seconds=seconds, extras=facts
    )


def _gap(key: str, records: Mapping[str, Record]) -> float:
    """Return the relative gap of an answer's program; for an anchor, the larger gap of its two programs."""
    outcomes = [records[key].outcome]
    if key.startswith("anchor "):
        outcomes.append(records["least " + key.removeprefix("anchor ")].outcome)
    return max(
        0.0 if outcome.status is Status.OPTIMAL else relative_gap(outcome.value, outcome.bound) or 1e-12
        for outcome in outcomes
    )


def _check(program: Program, decisions: NDArray[np.int64], points: Points) -> None:
    if not program.integer.all():
        return  # the session has checked the continuous columns, which have no costs
    integers: IntegerObjectives = integer_objectives(program)
    for decision, point in zip(decisions, points, strict=True):
        columns = decision.astype(np.float64)
        rows = program.rows @ columns
        slack = np.where(program.integral_rows(), 0.0, 1e-6 * (1 + abs(program.rows) @ np.abs(columns)))
        within = (rows >= program.row_lower - slack) & (rows <= program.row_upper + slack)
        bounded = (columns >= program.column_lower) & (columns <= program.column_upper)
        same = (integers.points([integers.vector(columns)])[0] == point).all()
        if not within.all() or not bounded.all() or not same:
            raise SolverError(
                "an answer does not satisfy the original program. Check that every solution satisfies the "
                "clauses."
            )
