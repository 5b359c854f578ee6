"""Exact pruning for several classes, whose members decide by plurality."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_choice
from shortlist.arrays import Mask
from shortlist.ensembles.diversity import DiversityLimits, diversity_limits
from shortlist.ensembles.last_solver import open_last
from shortlist.ensembles.limits import SelectionLimits
from shortlist.ensembles.plurality import ClassVotes, merge_class_rows
from shortlist.ensembles.plurality_cuts import tighten_by_margin_cuts
from shortlist.ensembles.plurality_incumbent import ClassIncumbent, ClassSelection
from shortlist.ensembles.plurality_program import (
    MarginRows,
    PluralityProgram,
    conflicting_rows,
    margin_rows,
    plurality_program,
)
from shortlist.ensembles.plurality_search import rule_selections, search_plurality
from shortlist.ensembles.plurality_weights import class_weights
from shortlist.ensembles.pruning_program import without_selection
from shortlist.ensembles.votes import Votes
from shortlist.errors import SolverError
from shortlist.front import Status
from shortlist.milp import SOLVERS, Limits, Program, open_solver
from shortlist.milp.session import Session
from shortlist.runs import Cancellation, Progress, Report, silent
from shortlist.runs.progress import SECONDS

AUTO = "auto"
"""Search, cuts, then CP-SAT on the program with all cuts."""

SEARCH_SHARE, CUTS_SHARE = 0.1, 0.5
"""Parts of the time limit after which the search, and the cuts, give way."""

SEARCH_STEPS, CUT_ROUNDS = 20_000, 20
"""Limits of the search and of the cuts where there is no time limit; with one, ten times as many."""

N_STARTS = 8
"""How many of the rules' selections the search starts from."""

PROGRAM_CELLS = 20_000_000
"""Margins times classifiers beyond which no program is built: solvers would need minutes to read it."""


def prune_plurality_exactly(
    votes: ClassVotes,
    objective: str,
    limits: SelectionLimits,
    *,
    solver: str = AUTO,
    time_limit_s: float = math.inf,
    node_limit: int | None = None,
    seed: int = 0,
    threads: int = 1,
    report: Report = silent,
    cancellation: Cancellation | None = None,
) -> ClassSelection:
    """Return the members whose plurality vote is right most, within limits, and a bound on what any others reach.

    Parameters
    ----------
    votes : ClassVotes
        Validation rows, merged or not.
    objective : str
        A name in :data:`shortlist.ensembles.plurality_weights.CLASS_OBJECTIVES`.
    limits : SelectionLimits
        Size, cost and diversity; for the latter see :func:`class_diversity_limits`.
    solver : str, default="auto"
        ``"auto"``: the rules' selections and a tabu search for the value, combinatorial Benders cuts for the bound,
        then CP-SAT on the program of :mod:`shortlist.ensembles.plurality_program` with the cuts as clauses.
        The name of a backend: that one alone on the program as it stands.
    time_limit_s : float, default=inf
        Wall-clock limit, in seconds.
    node_limit : int, optional
        Limit that does not depend on the clock, in the solver's unit (see :class:`shortlist.milp.Limits`), for
        ``"auto"`` that of CP-SAT.
    seed, threads : int
        For the searches; with one thread and no limit but nodes the answer is reproducible.
    report : callable, optional
        Receives progress events with value and bound in the user's unit; done and total are seconds.
    cancellation : Cancellation, optional
        Stops with the best selection found.

    Returns
    -------
    ClassSelection
        Value and decisions are computed from the votes, whatever a solver says. OPTIMAL: the value equals the bound,
        both integers before they are scaled, up to the tolerance in the proof, if any; a solver's bound is its word.
        INFEASIBLE and UNKNOWN carry a reason and choose nothing.

    Raises
    ------
    BadInputError
        If the objective or the solver is unknown.
    SolverError
        If a solver's bound is below the value of a selection that keeps the limits: then it is wrong.

    Examples
    --------
    >>> from shortlist.ensembles.limits import selection_limits
    >>> from shortlist.ensembles.plurality import class_votes
    >>> votes = class_votes([[0, 0, 2], [2, 1, 1], [0, 2, 2], [1, 2, 0]], [0, 1, 2, 2])
    >>> result = prune_plurality_exactly(votes, "accuracy", selection_limits(3))
    >>> result.mask.tolist(), result.value, result.bound
    ([False, True, False], 1.0, 1.0)
    """
    as_choice(solver, "solver", [AUTO, *SOLVERS])
    start = time.monotonic()
    merged = merge_class_rows(votes)
    weights = class_weights(objective, merged)
    conflict = limits.conflict()
    if conflict:
        return ClassIncumbent(merged, weights, limits, bound=0).no_selection(
            Status.INFEASIBLE, limit="", seconds=time.monotonic() - start, reason=conflict
        )
    margins = margin_rows(merged, weights, limits)
    run = _Run(
        best=ClassIncumbent(merged, weights, limits, bound=margins.most_gain),
        margins=margins,
        solver=solver,
        time_limit_s=time_limit_s,
        node_limit=node_limit,
        seed=seed,
        threads=threads,
        report=report,
        cancellation=cancellation or Cancellation(),
        start=start,
    )
    return run.run()


def class_diversity_limits(setting: str | Mapping[str, float], votes: ClassVotes) -> DiversityLimits | None:
    """Return the diversity limits of :func:`~shortlist.ensembles.diversity.diversity_limits` for several classes.

    Failure credit asks only who is right and who fails, so it is that of votes "right" on rows that are all positive.

    Examples
    --------
    >>> from shortlist.ensembles.plurality import class_votes
    >>> class_diversity_limits("average", class_votes([[0, 2], [1, 1]], [0, 1])).credit.tolist()
    [[0, 1000000000], [1000000000, 0]]
    """
    right = (votes.codes == votes.labels[:, None]).astype(np.uint8)
    return diversity_limits(setting, Votes(right, np.ones(len(right), dtype=np.uint8), votes.counts))


@dataclass(kw_only=True, eq=False)
class _Run:
    """One run of the engine."""

    best: ClassIncumbent
    margins: MarginRows
    solver: str
    time_limit_s: float
    node_limit: int | None
    seed: int
    threads: int
    report: Report
    cancellation: Cancellation
    start: float
    infeasible: bool = False
    last_limit: str = ""
    sets: list[NDArray[np.int64]] = field(default_factory=list)

    def run(self) -> ClassSelection:
        """Take the steps in order."""
        self.best.offer_simple_selections()
        self._tell("bounding")
        if self.solver == AUTO and self._goes_on():
            self._search()
        if self.solver == AUTO and self._goes_on():
            self._cut()
        if self._goes_on() and self.margins.signs.size <= PROGRAM_CELLS:
            self._solve()
        return self._answer()

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self.start

    def _goes_on(self) -> bool:
        """Whether there is something left to prove, and time for it."""
        return not (self.best.proved or self.cancellation.cancelled or self._seconds >= self.time_limit_s)

    def _until(self, share: float) -> float:
        """Return the time on the clock at which a share of the limit is gone."""
        return self.start + share * self.time_limit_s

    def _patience(self, limit: int) -> int:
        """Return a limit in steps: the clock is the tighter one where there is a time limit."""
        return limit if math.isinf(self.time_limit_s) or self.node_limit is not None else 10 * limit

    def _tell(self, stage: str, total: int | None = None) -> None:
        """Note and report value and bound; `total` is a weighted sum that a solver claims."""
        best = self.best
        best.record(self._seconds)
        known = [one for one in (total, None if best.mask is None else best.total) if one is not None]
        value = best.weights.value(max(known)) if known else None
        limit = None if math.isinf(self.time_limit_s) else self.time_limit_s
        self.report(
            Progress(stage, self._seconds, limit, value, best.weights.value(best.bound), unit=SECONDS)
        )

    def _search(self) -> None:
        """Look for a good selection: what the rules choose, then tabu search from the best of it."""
        best, deadline = self.best, self._until(SEARCH_SHARE)
        ranked: list[tuple[int, int, Mask]] = []
        for place, mask in enumerate(
            rule_selections(best.votes, best.limits, deadline=deadline, cancellation=self.cancellation)
        ):
            total = best.offer(mask)
            if total is not None:
                ranked.append((-total, place, mask))
            if best.proved:
                return
        self._tell("searching")
        ranked.sort(key=lambda one: one[:2])
        found = search_plurality(
            best.votes,
            best.weights,
            best.limits,
            starts=[mask for _, _, mask in ranked[:N_STARTS]],
            max_steps=self._patience(SEARCH_STEPS),
            target=best.bound - best.weights.slack,
            seed=self.seed,
            deadline=deadline,
            cancellation=self.cancellation,
        )
        if found is not None:
            best.offer(found.mask)
        self._tell("searching")

    def _cut(self) -> None:
        """Find sets of rows that cannot all be right, and bound the value by them."""

        def on_bound(bound: int) -> None:
            self.best.lower_bound_to(bound)
            self._tell("cutting")

        best, margins = self.best, self.margins
        conflicts = conflicting_rows(margins, best.limits)
        tight = tighten_by_margin_cuts(
            margins,
            best.limits,
            conflicts,
            deadline=self._until(CUTS_SHARE),
            max_rounds=self._patience(CUT_ROUNDS),
            seed=self.seed,
            target=None if best.mask is None else best.total + best.weights.slack,
            on_bound=on_bound,
            cancellation=self.cancellation,
        )
        self.sets = [*conflicts, *(np.array(cut.rows, dtype=np.int64) for cut in tight.cuts)]

    def _solve(self) -> None:
        """Give the program to the solvers, until one of them has proved the rest."""
        best = self.best
        built = plurality_program(best.votes, best.weights, best.limits, sets=self.sets, margins=self.margins)
        program = built.program

        def on_bound(cost: float, bound: float) -> None:
            best.lower_bound_to(_total_bound(built, bound, best.bound))
            self._tell("proving", None if math.isnan(cost) else -round(cost + built.offset))

        while self._goes_on():
            session = self._open(program)
            session.set_start(None if best.mask is None else built.encode(best.votes, best.mask))
            solution = session.solve(
                Limits(
                    max(0.01, self.time_limit_s - self._seconds),
                    self.node_limit,
                    absolute_gap=max(best.weights.slack, 1 - 1e-6),
                ),
                on_bound=on_bound,
                cancellation=self.cancellation,
            )
            self.infeasible, self.last_limit = solution.status is Status.INFEASIBLE, solution.limit
            if not self.infeasible:
                best.lower_bound_to(_total_bound(built, solution.bound, best.bound))
            if solution.values is None:
                return
            mask = built.members(solution.values)
            kept = best.offer(mask) is not None
            self._tell("proving")
            if kept:
                return
            program = without_selection(program, mask)  # solvers keep fractional rows up to a tolerance only

    def _open(self, program: Program) -> Session:
        """Load a program into the solver that was asked for, or into the last one of the engine."""
        if self.solver == AUTO:
            return open_last(program, threads=self.threads, node_limit=self.node_limit, seed=self.seed)
        return open_solver(self.solver).open(program, seed=self.seed, threads=self.threads)

    def _answer(self) -> ClassSelection:
        """Return what is chosen and proved."""
        best, limit = self.best, ""
        if self.cancellation.cancelled:
            limit = "interrupted"
        elif not best.proved and (self.last_limit == "seconds" or self._seconds >= self.time_limit_s):
            limit = f"{self.time_limit_s:g} s"
        elif not best.proved:
            too_large = self.margins.signs.size > PROGRAM_CELLS
            none = f"{PROGRAM_CELLS:,} votes in an integer program" if too_large else "precision"
            limit = self.last_limit or none
        if best.mask is not None:
            if self.infeasible:
                raise SolverError(
                    "the solver calls the program infeasible, but a selection keeps every limit."
                )
            return best.selection(limit=limit, seconds=self._seconds)
        if self.infeasible:
            return best.no_selection(Status.INFEASIBLE, limit="", seconds=self._seconds)
        return best.no_selection(Status.UNKNOWN, limit=limit, seconds=self._seconds)


def _total_bound(built: PluralityProgram, bound: float, otherwise: int) -> int:
    """Turn a bound on the cost into one on the weighted sum."""
    return otherwise if math.isinf(bound) else math.floor(-(bound + built.offset) + 1e-6)
