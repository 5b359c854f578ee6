"""Anchors: for each objective a non-dominated vector with its least value, and the solves that find them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shortlist.methods.integer.integer_objectives import IntegerObjectives, Vector
from shortlist.methods.solrep.limited_solves import LimitedSolves, Outcome
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
            open_solver(self.solver, short_programs=True) if isinstance(self.solver, str) else self.solver
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
