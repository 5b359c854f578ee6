"""Anchors: for each objective a non-dominated vector with its least value, and the solves that find them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shortlist.arrays import Points
from shortlist.methods.integer.integer_objectives import IntegerObjectives, Vector
from shortlist.methods.solrep.limited_solves import LimitedSolves, Outcome
from shortlist.methods.solrep.reference_points import plane_dimension
from shortlist.methods.solrep.solve_records import Record, finished
from shortlist.milp.program import Program
from shortlist.milp.session import Solver, open_solver
from shortlist.milp.solution import Limits
from shortlist.results.proof import Status
from shortlist.runs import Budget, Study
from shortlist.runs.clock import seconds_now

STAGE = "reference points"


@dataclass(frozen=True, eq=False)
class SolveSetting:
    """What every worker needs; it pickles, and then nobody sets its budget's cancellation.

    Attributes
    ----------
    program : Program
        What is solved.
    solver : str or Solver
        Backend.
    budget : Budget
        Of the whole search, telling nobody.
    each : Limits
        Of each program.
    checks : bool
        Whether a second program checks each proved answer.
    study : Study
        Where finished programs go; a copy in another process keeps nothing.
    """

    program: Program
    solver: str | Solver
    budget: Budget
    each: Limits
    checks: bool
    study: Study

    def open(self) -> LimitedSolves:
        """Return a session."""
        solver = (
            open_solver(self.solver, short_programs=self.solver == "highs")
            if isinstance(self.solver, str)
            else self.solver
        )
        solves = LimitedSolves(self.program, solver=solver, budget=self.budget, stage=STAGE)
        solves.checks = self.checks
        return solves

    def solve(
        self, solves: LimitedSolves, key: str, weights: Vector, upper: Vector, start: Vector | None
    ) -> Record:
        """Solve one program and write down what came out."""
        begun = seconds_now()
        outcome = solves.attempt(weights, upper, start=start, each=self.each)
        record = Record(key, outcome, 1)
        self.study.record(finished(record, seconds_now() - begun))
        return record


def anchor_keys(integers: IntegerObjectives) -> list[str]:
    """Return the keys of the anchors' programs: each objective's least value, then the tie-break."""
    return [f"{what} {name}" for name in integers.names for what in ("least", "anchor")]


def find_anchors(
    setting: SolveSetting, integers: IntegerObjectives, records: dict[str, Record]
) -> list[Outcome]:
    """Find one anchor per objective: its least value, and with that the least sum of all objectives in steps.

    An anchor whose second program ends without an answer keeps the first one's, as FEASIBLE. Empty if the
    program is infeasible or an objective has no answer at all.
    """
    solves = setting.open()
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
        anchors.append(Outcome(status, best.vector, first.bound, best.columns, first.value))
    return anchors


def distinct_anchors(
    setting: SolveSetting, anchors: Sequence[Outcome], records: dict[str, Record]
) -> list[Outcome]:
    """Return the anchors, with another optimum of its objective in place of one that repeats another.

    Where two objectives are best at once, the plane through the anchors loses a dimension. For each such
    objective other non-dominated vectors with its least value are looked for: those that have the least of an
    objective that the repeated vector is not the anchor of. The first that gives the plane one dimension more
    is taken. Takes a program for each pair of such objectives, and a second one where there is another
    optimum.

    Raises
    ------
    LimitReachedError
        If the search has to end.
    """
    found = list(anchors)
    solves = setting.open()
    remembered_vectors(solves, anchors)
    for index, anchor in enumerate(anchors):
        same = [_equal(anchor, other) for other in found]
        if sum(same) == 1 or anchor.status is not Status.OPTIMAL:
            continue
        dimension = plane_dimension(_vectors(found))
        for other in np.flatnonzero(np.logical_not(same)).tolist():
            outcome = _other_optimum(setting, solves, anchor, (index, other), records)
            replaced = [*found[:index], outcome or anchor, *found[index + 1 :]]
            if plane_dimension(_vectors(replaced)) > dimension:
                found = replaced
                break
    return found


def _other_optimum(
    setting: SolveSetting,
    solves: LimitedSolves,
    anchor: Outcome,
    pair: tuple[int, int],
    records: dict[str, Record],
) -> Outcome | None:
    """Return the vector with the least value of one objective and, with that, of another one.

    None if the anchor is one.
    """
    index, other = pair
    integers = solves.integers
    assert anchor.vector is not None, "anchors without an answer end the search"
    upper = integers.upper.copy()
    upper[index] = anchor.vector[index]
    named = f"{integers.names[other]} where {integers.names[index]} is least"
    key = f"least {named}"
    if key not in records:
        unit = np.eye(len(integers), dtype=np.int64)[other]
        records[key] = setting.solve(solves, key, unit, upper, anchor.vector)
    first = records[key].outcome
    if first.vector is None or first.status is not Status.OPTIMAL:
        return None
    if first.vector[other] >= anchor.vector[other]:
        return None
    remembered_vectors(solves, [first])
    key = f"other anchor, {named}"
    if key not in records:
        upper[other] = first.vector[other]
        ones = np.ones(len(integers), dtype=np.int64)
        records[key] = setting.solve(solves, key, ones, upper, first.vector)
    second = records[key].outcome
    return second if second.status is Status.OPTIMAL else None


def _equal(one: Outcome, other: Outcome) -> bool:
    """Whether two answers have the same vector."""
    assert one.vector is not None, "anchors without an answer end the search"
    assert other.vector is not None, "anchors without an answer end the search"
    return bool(np.array_equal(one.vector, other.vector))


def _vectors(outcomes: Sequence[Outcome]) -> Points:
    return np.array([outcome.vector for outcome in outcomes], dtype=np.int64)


def is_ideal(anchors: Sequence[Outcome]) -> bool:
    """Whether one vector is proved best in every objective, so that it is the whole front."""
    vectors = np.array([anchor.vector for anchor in anchors])
    proved = all(anchor.status is Status.OPTIMAL for anchor in anchors)
    return proved and bool((vectors == vectors[0]).all())


def best_start(known: Sequence[Vector], weights: Vector, upper: Vector) -> Vector | None:
    """Return the best known vector within `upper`, None if there is none."""
    vectors = np.array(known)
    within = vectors[(vectors <= upper).all(axis=1)]
    return within[np.argmin(within @ weights)] if len(within) else None


def remembered_vectors(solves: LimitedSolves, outcomes: Sequence[Outcome]) -> list[Vector]:
    """Let a session know the answers among `outcomes`, to start from; return their vectors."""
    vectors = []
    for outcome in outcomes:
        if outcome.vector is not None and outcome.columns is not None:
            solves.remember(outcome.vector, outcome.columns)
            vectors.append(outcome.vector)
    return vectors
