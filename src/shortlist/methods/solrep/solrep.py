"""A representation of the front by reference points (SolRep, Algorithm 3 of :cite:t:`Xue2018`).

:data:`DEVIATIONS` lists the deviations from the printed algorithm, with reasons.
"""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from shortlist._options import count
from shortlist._validation import as_choice, as_positive_seconds, as_seed
from shortlist.arrays import Points
from shortlist.errors import BadInputError
from shortlist.logic.clauses import Clauses
from shortlist.methods.integer.bounded_solves import LimitReachedError
from shortlist.methods.integer.integer_objectives import IntegerObjectives, integer_objectives
from shortlist.methods.integer.reduced_program import reduce_program
from shortlist.methods.solrep.limited_solves import ProgramOutcome, Record, answers_front, known_records
from shortlist.methods.solrep.reference_points import (
    STAGE,
    JumpLimits,
    SolveSetting,
    anchor_keys,
    distinct_anchors,
    find_anchors,
    hit_and_run,
    is_ideal,
    plane_dimension,
    plane_scales,
)
from shortlist.methods.solrep.reference_solves import Answers, solve_adaptively, solve_reference_points
from shortlist.methods.solrep.settings import ReferenceSettings
from shortlist.milp.program import Program
from shortlist.milp.solution import Limits, Solver
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind, Status
from shortlist.runs import NO_STUDY, Budget, Study
from shortlist.runs.budget import Progress, Report, silent
from shortlist.runs.workers import Where

DEVIATIONS = (
    (
        "Line 2: of all points with the least value of its objective an anchor has the least sum of the "
        "objectives in steps. The paper takes any, which may be dominated and depends on the solver."
    ),
    (
        "Line 2: where one vector is the anchor of several objectives, another non-dominated optimum of one"
        " of them replaces it if that gives the plane another dimension. The printed algorithm does not say"
        " so, but the authors' program does it."
    ),
    (
        "Line 4: the first point has uniformly drawn shares of the anchors; the paper says only that the "
        "point is random."
    ),
    (
        "Line 8: directions are drawn after dividing each objective by the range of its anchors, so that "
        "cents do not outweigh features."
    ),
    (
        "Line 9: the limits of a jump are rounded inwards, by at most 2^-19 of the anchors' ranges, so that "
        "the last digits of a linear program do not decide where a repeated walk goes. A limit that has no "
        "optimum is 0, as in the authors' program."
    ),
    (
        "Line 9: fixed and equivalent features are taken out before, and clauses are shortened. The products"
        " stay the same, and the linear programs become tighter."
    ),
    (
        "Line 16: reference points are rounded down to whole steps of the objectives, which excludes no "
        "product."
    ),
    (
        "Line 16: unless another objective is named, programs minimise the one whose anchors have the "
        "widest range in steps. Where the range is narrow, the bounds on the others leave nothing: on JCS 1 "
        "all of 40 points with the features not used before."
    ),
    (
        "Line 16: the other objectives count too, with positive weights, so that an optimum is "
        "non-dominated. The authors' programs do the same, with other weights."
    ),
    (
        "Line 16: a program is left out where an earlier one has answered it: an optimum over larger bounds"
        " that lies within smaller ones, or larger bounds that nothing meets."
    ),
    "Line 17: the anchors belong to the answer; without them the ends of the front are missing.",
)
"""Deviations of the hit-and-run rule from Algorithm 3 as it is printed, with reasons, line by line.

The walk itself is as printed: every step gives a point, without thinning and without burn-in.
"""


@dataclass(frozen=True)
class SolRepSettings(ReferenceSettings):
    """Reference points, and how their programs are solved."""

    solve_limit_nodes: int | None = None
    """Limit of each program besides `solve_limit_s`; nodes do not depend on the clock."""
    check: bool = True
    """Whether an answer that rests on the solver is checked. Reduced costs prove that no solution is better,
    or they leave columns in which a second program, with another seed, looks for a better one.
    """
    chunk_size: Annotated[int, count()] = 25
    """Number of reference points per chunk; a chunk holds neighbouring points."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("n_points", "chunk_size"):  # a study records them as numbers of Python
            object.__setattr__(self, name, int(getattr(self, name)))

    @property
    def each(self) -> Limits:
        """Limits of each program."""
        return Limits(as_positive_seconds(self.solve_limit_s, "solve_limit_s"), self.solve_limit_nodes)


DEFAULT_SETTINGS = SolRepSettings()


def solrep(
    program: Program,
    settings: SolRepSettings = DEFAULT_SETTINGS,
    *,
    clauses: Clauses | None = None,
    solver: str | Solver = "highs",
    study: Study = NO_STUDY,
    workers: Where = 1,
    candidates: Sequence[str] | None = None,
    budget: Budget | None = None,
) -> Front:
    """Return non-dominated points spread over the front of a program with two or more linear objectives.

    Raises BadInputError if the objectives are no exact integers or are unbounded, or the study belongs to
    another search. Raises SolverError if the solver contradicts itself, or if an answer fails the check
    because `clauses` exclude a solution.

    The front returned is NONDOMINATED if every point is proved non-dominated, and APPROXIMATE if a limit left
    a point unproved. It is COMPLETE if the anchors coincide or the adaptive rule left no box. `proof.missing`
    is known with the adaptive rule. `proof.n_unresolved` counts reference points without an answer. `extras`
    holds `n_reference_points`, `n_infeasible`, `n_without_program`, `n_programs`, `n_checked` (answers that
    integers prove, or that a second program did not better), `n_unproved`, `gaps` (per point, relative, 0
    where proved), `anchors` and `plane_dimension`, the dimension of the plane through the anchors. An
    infeasible program has a complete front without points. `program`: objectives must be exact integers after
    scaling; see :func:`shortlist.methods.integer.integer_objectives.integer_objectives`. `settings`: rule for
    the reference points, and limits of their programs. `clauses`: clauses that every solution satisfies, for
    making the program smaller. Variable v is column v - 1; variables beyond the columns are auxiliary
    (:func:`shortlist.methods.integer.reduced_program.reduce_program`). `study`: study that records each
    finished program. With the same problem and settings, a later call resumes from the study and gives the
    same answer. `workers`: workers for hit-and-run points; see :func:`shortlist.runs.units.open_workers`. The
    answer does not depend on the workers, unless a wall-clock limit is hit: points are split into chunks
    beforehand, each with a session of its own. `candidates`: names of the integer columns; ``x0``, ``x1`` and
    so on by column number if not given. `budget`: time limit, the seed of the random walk and of the solver,
    and progress after every reference point, or after every chunk of points with several workers. With
    several processes, the cancellation is checked between chunks.

    >>> from shortlist.results.objective import Objective
    >>> from shortlist.milp.program import LinearObjective, make_program
    >>> price = LinearObjective(Objective("price"), np.array([3.0, 5.0, 4.0]))
    >>> quality = LinearObjective(Objective("quality", "max"), np.array([1.0, 4.0, 2.0]))
    >>> shop = make_program(
    ...     [[1, 1, 1]], row_lower=0, row_upper=1, column_lower=0, column_upper=1, integer=True,
    ...     objectives=[price, quality],
    ... )
    >>> front = solrep(shop, SolRepSettings(5, "adaptive"))
    >>> front.values.tolist(), str(front.proof.kind)
    ([[0.0, 0.0], [3.0, 1.0], [4.0, 2.0], [5.0, 4.0]], 'complete')
    """
    budget = budget or Budget()
    n_points, rule = settings.n_points, settings.rule
    if rule == "adaptive" and workers != 1:
        raise BadInputError(
            "workers", "must be 1 with rule 'adaptive'", workers, "Its points depend on each other."
        )
    reduced = reduce_program(program, clauses, budget)
    integers = integer_objectives(reduced.program)
    name = solver if isinstance(solver, str) else solver.name
    decisive = {**dataclasses.asdict(settings), "solver": name, "seed": budget.seed}
    del decisive["check"]  # it changes no answer
    if rule == "hit-and-run":
        decisive["thinning"] = 1  # studies of a walk in the anchors' hull have 10 here, and do not fit
    records = known_records(study, reduced.program, decisive)
    setting = SolveSetting(
        reduced.program,
        solver,
        dataclasses.replace(budget, report=silent),
        settings.each,
        settings.check,
        study,
    )
    facts: dict[str, Any] = {"rule": rule, "solver": name}
    tell = functools.partial(_tell, budget.report, n_points)
    found, missing = Answers(records), None
    anchors: list[ProgramOutcome] = []
    points: Points | None = None
    complete = False
    try:
        anchors = find_anchors(setting, integers, records)
        complete = _is_infeasible(records, integers) or (bool(anchors) and is_ideal(anchors))
        if anchors and not complete and rule == "hit-and-run":
            anchors = distinct_anchors(setting, anchors, records)
            points = _reference_points(reduced.program, _vectors(anchors), n_points, budget)
    except LimitReachedError as stop:
        found = Answers(records, stop.limit)
    asked = 0 if complete else n_points
    if anchors:
        facts["anchors"] = integers.points(_vectors(anchors)).tolist()
        facts["plane_dimension"] = plane_dimension(_vectors(anchors))
    if points is not None:
        found = solve_reference_points(
            setting,
            anchors,
            points,
            first=_chosen_objective(integers, settings.objective, _vectors(anchors)),
            records=records,
            chunk_size=settings.chunk_size,
            workers=workers,
            tell=tell,
        )
    elif anchors and not complete and rule == "adaptive":
        boxes, found = solve_adaptively(setting, anchors, records, n_points, tell=tell)
        scales = np.array([one.scale or 1 for one in integers.objectives])
        missing = tuple((boxes.missing() * integers.steps / scales).tolist())
        complete = not boxes.open.any()
        asked = _n_answered(found.records) if not found.limit else n_points
    proof = _proof(
        found,
        missing,
        asked,
        n_complete=len(integers) if complete else 0,
        solve_limit_s=settings.solve_limit_s,
    )
    facts["n_reference_points"] = asked
    facts |= _counts(found.records)
    return answers_front(
        program, reduced, found.records, proof, candidates=candidates, seconds=budget.elapsed, extras=facts
    )


def _n_answered(records: Mapping[str, Record]) -> int:
    return sum(key.startswith("point ") for key in records)


def _is_infeasible(records: Mapping[str, Record], integers: IntegerObjectives) -> bool:
    first = records.get(anchor_keys(integers)[0])
    return first is not None and first.outcome.status is Status.INFEASIBLE


def _counts(records: Mapping[str, Record]) -> dict[str, int]:
    points = [record for key, record in records.items() if key.startswith("point ")]
    return {
        "n_infeasible": sum(record.outcome.status is Status.INFEASIBLE for record in points),
        "n_without_program": sum(not record.n_programs for record in points),
        "n_programs": sum(record.n_programs for record in records.values()),
        "n_checked": sum(record.outcome.checked for record in records.values() if record.n_programs),
    }


def _proof(
    found: Answers,
    missing: tuple[float, ...] | None,
    asked: int,
    *,
    n_complete: int,
    solve_limit_s: float | None,
) -> Proof:
    """Return the proof if all answers are optimal; `n_complete`: number of objectives if complete, else 0."""
    if n_complete:
        return Proof(ProofKind.COMPLETE, missing=(0.0,) * n_complete)
    outcomes = [record.outcome for record in found.records.values()]
    n_unknown = sum(outcome.status is Status.UNKNOWN for outcome in outcomes)
    limits = [found.limit] if found.limit else []
    if any(outcome.status in {Status.UNKNOWN, Status.FEASIBLE} for outcome in outcomes):
        limits.append("nodes per program" if solve_limit_s is None else f"{solve_limit_s:g} s per program")
    n_open = max(0, asked - _n_answered(found.records))
    return Proof(
        ProofKind.NONDOMINATED, missing=missing, n_unresolved=n_unknown + n_open, limit="; ".join(limits)
    )


def _tell(report: Report, total: int, done: int) -> None:
    report(Progress(STAGE, done, total))


def _reference_points(program: Program, anchors: Points, n_points: int, budget: Budget) -> Points:
    """Return the reference points in whole steps: the walk, rounded down.

    Raises LimitReachedError if the budget ends, or is cancelled.
    """
    limits = JumpLimits(program, anchors[0], plane_scales(anchors), budget)
    rng = np.random.default_rng(as_seed(budget.seed))
    walk = hit_and_run(anchors, n_points, limits.between, rng=rng, report=budget.report)
    points: Points = np.floor(walk + 1e-9).astype(np.int64)  # a flat plane has integer coordinates
    return points


def _vectors(anchors: Sequence[ProgramOutcome]) -> Points:
    return np.array([anchor.vector for anchor in anchors], dtype=np.int64)


def _chosen_objective(integers: IntegerObjectives, name: str | None, anchors: Points) -> int:
    if name is None:
        return int(np.argmax(np.ptp(anchors, axis=0)))
    as_choice(name, "objective", integers.names)
    return integers.names.index(name)
