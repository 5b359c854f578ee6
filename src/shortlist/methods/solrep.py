"""A representation of the front by reference points: one integer program each (SolRep, Algorithm 3 of Xue & Li 2018).

Three things differ from the paper's program. The anchors belong to the answer; without them the ends of the front are
missing. The minimised objective does not decide alone: the others count too, with positive weights, so that an optimal
answer is non-dominated even where the first objective leaves ties. And a program is left out where an earlier one has
answered it: an optimum over larger bounds that lies within smaller ones, or larger bounds that nothing meets.
"""

import functools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_choice, as_count, as_positive_seconds
from shortlist.arrays import Points
from shortlist.errors import BadInputError, SolverError
from shortlist.front import Front, Proof, ProofKind, Status, relative_gap
from shortlist.logic.clauses import Clauses
from shortlist.methods.bounded_solves import LARGEST_OBJECTIVE, Budget, LimitReachedError, safe_weights
from shortlist.methods.integer_objectives import UNLIMITED, IntegerObjectives, Vector, integer_objectives
from shortlist.methods.limited_solves import LimitedSolves, Outcome
from shortlist.methods.reduced_program import ReducedProgram, reduce_program
from shortlist.methods.reference_points import autocorrelation, hit_and_run, hull_of, neighbour_order
from shortlist.methods.solve_journal import Journal, Record, open_journal
from shortlist.methods.unexplored_boxes import UnexploredBoxes
from shortlist.milp.program import Program
from shortlist.milp.session import Solver
from shortlist.milp.solution import Limits
from shortlist.pareto.dominance import nondominated
from shortlist.runs.cancellation import Cancellation
from shortlist.runs.progress import Progress, Report, silent
from shortlist.runs.units import Unit, run_units

RULES = ("hit-and-run", "adaptive")

STAGE = "reference points"


@dataclass(frozen=True, eq=False)
class _Setting:
    """What every worker needs; it pickles."""

    program: Program
    solver: str | Solver
    seed: int
    limits: Limits
    deadline: float
    journal: Journal

    def open(self, cancellation: Cancellation | None) -> LimitedSolves:
        """Return a session."""
        left = None if math.isinf(self.deadline) else max(1e-3, self.deadline - time.time())
        budget = Budget(time_limit_s=left, cancellation=cancellation)
        return LimitedSolves(self.program, solver=self.solver, seed=self.seed, budget=budget, stage=STAGE)

    def solve(
        self, solves: LimitedSolves, key: str, weights: Vector, upper: Vector, start: Vector | None
    ) -> Record:
        """Solve one program and write down what came out."""
        outcome = solves.attempt(weights, upper, start=start, limits=self.limits)
        record = Record(key, outcome, 1)
        self.journal.append(record)
        return record


@dataclass(frozen=True, eq=False)
class _Found:
    """All that a search has: its records by key, and the limit that ended it, if one did."""

    records: dict[str, Record]
    limit: str = ""


def solrep(
    program: Program,
    n_points: int = 1000,
    *,
    rule: str = "hit-and-run",
    clauses: Clauses | None = None,
    objective: str | None = None,
    solver: str | Solver = "highs",
    solve_limit_s: float | None = None,
    solve_limit_nodes: int | None = None,
    time_limit_s: float | None = None,
    thinning: int = 10,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    n_jobs: int | None = 1,
    chunk_size: int = 25,
    candidates: Sequence[str] | None = None,
    report: Report = silent,
    cancellation: Cancellation | None = None,
) -> Front:
    """Return non-dominated points spread over the front of a program with two or more linear objectives.

    Parameters
    ----------
    program : Program
        Objectives must be exact integers after scaling; see
        :func:`shortlist.methods.integer_objectives.integer_objectives`.
    n_points : int, default=1000
        Reference points, each with one program at most. The anchors take two programs per objective besides.
    rule : {"hit-and-run", "adaptive"}, default="hit-and-run"
        Where the reference points lie: uniformly in the anchors' convex hull, chosen beforehand; or each in the corner
        of the largest box that may still hold points, with weights that balance the objectives
        (:mod:`shortlist.methods.unexplored_boxes`). Adaptive points depend on each other, so they take one worker.
    clauses : Clauses, optional
        What every solution satisfies, variable v being column v - 1: used to make the program smaller
        (:func:`shortlist.methods.reduced_program.reduce_program`).
    objective : str, optional
        The objective that hit-and-run programs minimise, the others being bounded. Default: that of the widest range.
    solver : str or Solver, default="highs"
        Backend of the integer programs.
    solve_limit_s, solve_limit_nodes : float and int, optional
        Limits of each program. Nodes do not depend on the clock.
    time_limit_s : float or None, default=None
        Wall-clock limit of the whole search.
    thinning : int, default=10
        Steps of the random walk from one reference point to the next; 1 is the paper's.
    seed : int, default=0
        Seed of the random walk and of the solver.
    checkpoint : str or Path, optional
        A file to which each finished program is appended. With the same problem and settings, a later call goes on
        from there. What is resumed is proved as before; among equally good answers of a program another may be found.
    n_jobs : int or None, default=1
        Workers for hit-and-run points. The answer does not depend on it, unless a wall-clock limit is hit: points are
        split into chunks beforehand, each with a session of its own.
    chunk_size : int, default=25
        Reference points per chunk, neighbours together.
    candidates : sequence of str, optional
        Names of the integer columns; ``x0``, ``x1``, ... by column number if not given.
    report : callable, optional
        Receives an event after every reference point, or chunk of them with several workers.
    cancellation : Cancellation, optional
        Stops the search with what it has; with several workers, after the chunks that are being solved.

    Returns
    -------
    front : Front
        NONDOMINATED if every point is proved non-dominated, APPROXIMATE if a limit left one unproved, COMPLETE if the
        anchors coincide or the adaptive rule left no box. `proof.missing` is known with the adaptive rule.
        `proof.n_unresolved` counts reference points without an answer. `extras` holds `n_reference_points`,
        `n_infeasible`, `n_without_program`, `n_programs`, `n_unproved`, `gaps` (per point, relative, 0 where proved), `anchors`,
        `hull_dimension` and, for hit-and-run, `autocorrelation` of neighbouring reference points. An infeasible
        program has a complete front without points.

    Raises
    ------
    BadInputError
        If the objectives are no exact integers or are unbounded, or the checkpoint belongs to another search.
    SolverError
        If the solver contradicts itself, or `clauses` exclude a solution so that an answer does not stand the check.

    Examples
    --------
    >>> from shortlist.front import Objective
    >>> from shortlist.milp.program import LinearObjective, make_program
    >>> price = LinearObjective(Objective("price"), np.array([3.0, 5.0, 4.0]))
    >>> quality = LinearObjective(Objective("quality", "max"), np.array([1.0, 4.0, 2.0]))
    >>> shop = make_program(
    ...     [[1, 1, 1]], row_lower=0, row_upper=1, column_lower=0, column_upper=1, integer=True,
    ...     objectives=[price, quality],
    ... )
    >>> front = solrep(shop, 5, rule="adaptive")
    >>> front.values.tolist(), str(front.proof.kind)
    ([[0.0, 0.0], [3.0, 1.0], [4.0, 2.0], [5.0, 4.0]], 'complete')
    """
    begin = time.time()
    as_choice(rule, "rule", RULES)
    n_points, chunk_size = as_count(n_points, "n_points", at_least=0), as_count(chunk_size, "chunk_size")
    if rule == "adaptive" and n_jobs != 1:
        raise BadInputError(f"n_jobs must be 1 with rule 'adaptive', got {n_jobs}. Its points depend on each other.")
    solve_limit = as_positive_seconds(solve_limit_s, "solve_limit_s")
    deadline = begin + as_positive_seconds(time_limit_s, "time_limit_s")
    reduced = reduce_program(program, clauses)
    integers = integer_objectives(reduced.program)
    settings = {
        "n_points": n_points,
        "rule": rule,
        "objective": objective,
        "solver": solver if isinstance(solver, str) else solver.name,
        "solve_limit_s": solve_limit_s,
        "solve_limit_nodes": solve_limit_nodes,
        "thinning": thinning,
        "seed": seed,
        "chunk_size": chunk_size,
    }
    journal, records = open_journal(checkpoint, reduced.program, settings)
    limits = Limits(solve_limit, solve_limit_nodes)
    setting = _Setting(reduced.program, solver, seed, limits, deadline, journal)
    facts: dict[str, Any] = {"rule": rule, "solver": settings["solver"]}
    found, keys = _Found(records), _anchor_keys(integers)
    try:
        anchors = _anchors(setting, integers, records, cancellation)
    except LimitReachedError as stop:
        found = _Found(records, stop.limit)
        anchors = []
    infeasible = any(records[key].outcome.status is Status.INFEASIBLE for key in keys if key in records)
    proof, asked = Proof(ProofKind.COMPLETE, missing=(0.0,) * len(integers)), 0
    if anchors and not infeasible and _is_ideal(anchors):
        facts["hull_dimension"] = 0
    elif not infeasible:
        proof = Proof(ProofKind.NONDOMINATED)
        if anchors:
            corners = np.array([anchor.vector for anchor in anchors])
            facts["hull_dimension"] = hull_of(corners).dimension
            tell = functools.partial(_tell, report, n_points)
            if rule == "adaptive":
                boxes, found = _adaptive(setting, integers, anchors, records, n_points, tell, cancellation)
                missing = boxes.missing() * integers.steps
                scales = [one.scale or 1 for one in integers.objectives]
                proof = Proof(
                    ProofKind.NONDOMINATED if boxes.open.any() else ProofKind.COMPLETE,
                    missing=tuple((missing / scales).tolist()),
                )
                asked = sum(key.startswith("point ") for key in found.records)
            else:
                walk = hit_and_run(corners, n_points, rng=np.random.default_rng(seed), thinning=thinning)
                facts["autocorrelation"] = autocorrelation(walk)
                points = np.floor(walk + 1e-9).astype(np.int64)
                first = _first_objective(integers, objective, corners)
                found = _hit_and_run_points(
                    setting, anchors, points, first, records, chunk_size, n_jobs, tell, cancellation
                )
                asked = n_points
        else:
            asked = n_points
    facts["n_reference_points"] = asked
    facts["anchors"] = integers.points([a.vector for a in anchors if a.vector is not None]).tolist()
    return _front(program, reduced, integers, found, proof, asked, candidates, facts, solve_limit_s, begin)


def _tell(report: Report, total: int, done: int) -> None:
    """Report how many reference points are done."""
    report(Progress(STAGE, done, total))


def _anchor_keys(integers: IntegerObjectives) -> list[str]:
    """Return the keys of the anchors' programs: the least value of each objective, and the tie-break after it."""
    return [f"{what} {name}" for name in integers.names for what in ("least", "anchor")]


def _anchors(
    setting: _Setting,
    integers: IntegerObjectives,
    records: dict[str, Record],
    cancellation: Cancellation | None,
) -> list[Outcome]:
    """Find one anchor per objective: its least value, and with that the least sum of all objectives in steps.

    An anchor whose second program ends without an answer keeps the first one's, as FEASIBLE. Empty if the program is
    infeasible or an objective has no answer at all.
    """
    solves = setting.open(cancellation)
    ones = np.ones(len(integers), dtype=np.int64)
    anchors = []
    for index, name in enumerate(integers.names):
        unit = np.eye(len(integers), dtype=np.int64)[index]
        key = f"least {name}"
        if key not in records:
            records[key] = setting.solve(solves, key, unit, integers.upper, None)
        first = records[key].outcome
        if first.vector is None or first.columns is None:
            return []
        solves.remember(first.vector, first.columns)
        key = f"anchor {name}"
        if key not in records:
            upper = integers.upper.copy()
            upper[index] = first.vector[index]
            records[key] = setting.solve(solves, key, ones, upper, first.vector)
        second = records[key].outcome
        best = first if second.vector is None else second
        proved = first.status is Status.OPTIMAL and second.status is Status.OPTIMAL
        status = Status.OPTIMAL if proved else Status.FEASIBLE
        anchors.append(Outcome(status, best.vector, first.bound, best.columns))
    return anchors


def _is_ideal(anchors: Sequence[Outcome]) -> bool:
    """Whether one vector is proved best in every objective, so that it is the whole front."""
    vectors = np.array([anchor.vector for anchor in anchors])
    proved = all(anchor.status is Status.OPTIMAL for anchor in anchors)
    return proved and bool((vectors == vectors[0]).all())


def _first_objective(integers: IntegerObjectives, name: str | None, corners: Points) -> int:
    """Return the number of the objective to minimise."""
    if name is None:
        return int(np.argmax(np.ptp(corners, axis=0)))
    as_choice(name, "objective", integers.names)
    return integers.names.index(name)


def _hit_and_run_points(
    setting: _Setting,
    anchors: Sequence[Outcome],
    points: Points,
    first: int,
    records: dict[str, Record],
    chunk_size: int,
    n_jobs: int | None,
    tell: Any,
    cancellation: Cancellation | None,
) -> _Found:
    """Solve for reference points that are known beforehand, in chunks."""
    order = neighbour_order(points)
    alone = n_jobs == 1
    units = []
    done = 0
    for start in range(0, len(order), chunk_size):
        chunk = order[start : start + chunk_size]
        own = {key: records[key] for key in (f"point {i}" for i in chunk) if key in records}
        arguments = (setting, tuple(anchors), {i: points[i] for i in chunk}, first, own)
        extra = (cancellation, functools.partial(_offset, tell, start)) if alone else ()
        units.append(Unit(f"chunk {start // chunk_size}", _solve_chunk, (*arguments, *extra)))
    limit = ""
    tell(0)
    for _, (solved, stopped) in run_units(units, n_jobs=n_jobs, cancellation=cancellation):
        records.update(solved)
        done += len(solved)
        limit = limit or stopped
        if not alone:
            tell(done)
    if not limit and cancellation is not None and cancellation.cancelled:
        limit = "interrupted"
    return _Found(records, limit)


def _offset(tell: Any, start: int, done: int) -> None:
    """Report points of a chunk after those of earlier chunks."""
    tell(start + done)


def _solve_chunk(
    setting: _Setting,
    anchors: Sequence[Outcome],
    points: dict[int, Vector],
    first: int,
    records: dict[str, Record],
    cancellation: Cancellation | None = None,
    tell: Any = None,
) -> tuple[dict[str, Record], str]:
    """Solve for some reference points one after the other; return their records, and the limit that was hit."""
    solves = setting.open(cancellation)
    corners = np.array([anchor.vector for anchor in anchors])
    weights, _ = safe_weights(solves.integers, first, corners.min(axis=0), corners.max(axis=0))
    known = []
    for anchor in anchors:
        assert anchor.vector is not None
        assert anchor.columns is not None
        solves.remember(anchor.vector, anchor.columns)
        known.append(anchor.vector)
    answered: list[tuple[Vector, Outcome]] = []
    solved: dict[str, Record] = {}
    for done, (index, point) in enumerate(points.items(), start=1):
        key = f"point {index}"
        upper = point.copy()
        upper[first] = UNLIMITED
        record = records.get(key)
        if record is None:
            earlier = _answer_from(answered, upper)
            if earlier is not None:
                record = Record(key, earlier, 0)
                setting.journal.append(record)
            else:
                try:
                    record = setting.solve(solves, key, weights, upper, _best_start(known, weights, upper))
                except LimitReachedError as stop:
                    return solved, stop.limit
        solved[key] = record
        outcome = record.outcome
        if outcome.vector is not None and outcome.columns is not None:
            solves.remember(outcome.vector, outcome.columns)
            known.append(outcome.vector)
        answered.append((upper, outcome))
        if tell is not None:
            tell(done)
    return solved, ""


def _answer_from(answered: Sequence[tuple[Vector, Outcome]], upper: Vector) -> Outcome | None:
    """Return the answer that an earlier program with the same weights gives for `upper`."""
    for bounds, outcome in answered:
        if (upper <= bounds).all():
            if outcome.status is Status.INFEASIBLE:
                return outcome
            if outcome.status is Status.OPTIMAL and (outcome.vector <= upper).all():
                return outcome
    return None


def _best_start(known: Sequence[Vector], weights: Vector, upper: Vector) -> Vector | None:
    """Return the best known vector within `upper`, None if there is none."""
    vectors = np.array(known)
    within = vectors[(vectors <= upper).all(axis=1)]
    return within[np.argmin(within @ weights)] if len(within) else None


def _adaptive(
    setting: _Setting,
    integers: IntegerObjectives,
    anchors: Sequence[Outcome],
    records: dict[str, Record],
    n_points: int,
    tell: Any,
    cancellation: Cancellation | None,
) -> tuple[UnexploredBoxes, _Found]:
    """Solve in the largest unexplored box, again and again."""
    if (integers.upper >= UNLIMITED).any() or (integers.lower <= -UNLIMITED).any():
        raise BadInputError("objectives must be bounded for rule 'adaptive'. Bound the columns.")
    solves = setting.open(cancellation)
    top = integers.upper + 1
    ideal = np.array([anchor.bound for anchor in anchors])
    boxes = UnexploredBoxes(np.maximum(ideal, integers.lower), top)
    known = []
    for anchor in anchors:
        assert anchor.vector is not None
        assert anchor.columns is not None
        solves.remember(anchor.vector, anchor.columns)
        boxes.add_vector(anchor.vector)
        known.append(anchor.vector)
    corners = np.array(known)
    ceiling = corners.max(axis=0) + 1
    for index, name in enumerate(integers.names):
        second = records.get(f"anchor {name}")
        if second is not None and second.outcome.bound > -UNLIMITED:
            corner = top.copy()
            corner[index] = corners[index][index] + 1
            boxes.add_bound(corner, np.ones(len(top), dtype=np.int64), second.outcome.bound)
    tell(0)
    for number in range(n_points):
        chosen = boxes.largest(ceiling)
        if chosen is None:
            break
        corner = boxes.upper[chosen].copy()
        weights = _balanced_weights(integers, boxes.lower[chosen], np.minimum(corner, ceiling))
        key = f"point {number}"
        if key not in records:
            start = _best_start(known, weights, corner - 1)
            try:
                records[key] = setting.solve(solves, key, weights, corner - 1, start)
            except LimitReachedError as stop:
                return boxes, _Found(records, stop.limit)
        outcome = records[key].outcome
        boxes.add_bound(corner, weights, outcome.bound)
        if outcome.vector is not None and outcome.columns is not None:
            solves.remember(outcome.vector, outcome.columns)
            known.append(outcome.vector)
            boxes.add_vector(outcome.vector)
        elif outcome.status is Status.UNKNOWN:
            boxes.give_up(chosen)
        tell(number + 1)
    return boxes, _Found(records)


def _balanced_weights(integers: IntegerObjectives, lower: Vector, upper: Vector) -> Vector:
    """Return weights that make a side of the box ``lower <= y < upper`` count the same in every objective."""
    sides = np.maximum(upper - lower, 1).astype(np.float64)
    size = np.maximum(np.abs(integers.lower), np.abs(integers.upper)).astype(np.float64)
    weights = sides.max() / sides
    weights *= min(1.0, LARGEST_OBJECTIVE / 2 / float(weights @ size))
    rounded: Vector = np.maximum(1, np.rint(weights)).astype(np.int64)
    return rounded


def _front(
    program: Program,
    reduced: ReducedProgram,
    integers: IntegerObjectives,
    found: _Found,
    proof: Proof,
    asked: int,
    candidates: Sequence[str] | None,
    facts: dict[str, Any],
    solve_limit_s: float | None,
    begin: float,
) -> Front:
    """Check every answer against the original program, drop what is dominated, and say what is proved."""
    points = {key: record for key, record in found.records.items() if key.startswith("point ")}
    best: dict[tuple[int, ...], tuple[Outcome, float]] = {}
    for key, record in found.records.items():
        outcome = record.outcome
        if outcome.vector is None or key.startswith("least "):
            continue
        gap = _gap(found.records, key, outcome, integers)
        vector = tuple(outcome.vector.tolist())
        if vector not in best or gap < best[vector][1]:
            best[vector] = outcome, gap
    vectors = np.array(list(best), dtype=np.int64).reshape(-1, len(integers))
    columns = np.array([outcome.columns for outcome, _ in best.values()], dtype=np.int64)
    gaps = np.array([gap for _, gap in best.values()])
    kept = nondominated(vectors)
    if (gaps[~kept] == 0).any():
        raise SolverError("the solver proved a point that another one dominates. Use another solver or seed.")
    vectors, gaps = vectors[kept], gaps[kept]
    all_columns = reduced.restore(columns.reshape(len(kept), -1)[kept]) if len(vectors) else None
    decisions = _checked_columns(program, integers, vectors, all_columns)
    n_unsolved = sum(record.outcome.vector is None and record.outcome.status is Status.UNKNOWN for record in points.values())
    n_unsolved += max(0, asked - len(points))
    limits = [found.limit] if found.limit else []
    unproved = gaps > 0
    if unproved.any() or n_unsolved > max(0, asked - len(points)):
        limits.append(f"{solve_limit_s:g} s per program" if solve_limit_s else "nodes per program")
    kind = proof.kind
    if unproved.any():
        kind = ProofKind.APPROXIMATE
    elif found.limit and kind is ProofKind.COMPLETE and not len(vectors):
        kind = ProofKind.NONDOMINATED
    names = _names(program, candidates)
    front = Front.from_points(
        integers.objectives,
        integers.points(vectors),
        decisions,
        names,
        Proof(kind, missing=proof.missing, n_unresolved=0 if kind is ProofKind.COMPLETE else n_unsolved, limit="; ".join(limits)),
        method="solrep",
        seconds=time.time() - begin,
    )
    by_point = dict(zip(map(tuple, integers.points(vectors).tolist()), gaps.tolist(), strict=True))
    facts |= {
        "n_infeasible": sum(record.outcome.status is Status.INFEASIBLE for record in points.values()),
        "n_without_program": sum(not record.n_programs for record in points.values()),
        "n_programs": sum(record.n_programs for record in found.records.values()),
        "n_unproved": int(unproved.sum()),
        "gaps": [by_point[tuple(point)] for point in front.points.tolist()],
    }
    front.extras |= facts  # type: ignore[operator]
    return front
