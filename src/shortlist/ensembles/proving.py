"""The engine of exact pruning: a strong selection, then bounds made for the problem, then a solver that knows both.

In order: the minimum cut of conflicts for a first bound; orderings and tabu search for the value; combinatorial
Benders cuts for a tighter bound; and CP-SAT on the integer program with all cuts as clauses, from the selection. The last
two take turns where there is a time limit: the solver comes early where the gap is small, as it then often ends the proof, or
where there is no selection yet, and late where it is not, as the cuts then bring more; on large programs with a large gap only
when no more cuts are found. Every step stops the rest once value and bound meet.
"""

import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from shortlist.ensembles.certificate import make_certificate
from shortlist.ensembles.conflicts import Conflicts, find_conflicts
from shortlist.ensembles.cut_bounds import min_cut_bound, tighten_by_cuts
from shortlist.ensembles.cuts import Cut, CutBound
from shortlist.ensembles.incumbent import EnsembleSelection, Incumbent
from shortlist.ensembles.last_solver import open_last
from shortlist.ensembles.local_search import search_selection
from shortlist.ensembles.pruning_program import PruningProgram, without_selection
from shortlist.ensembles.right_rows import RightRows, normalise
from shortlist.ensembles.tight_program import as_votes, tight_program
from shortlist.errors import SolverError
from shortlist.front import Status
from shortlist.milp import Limits
from shortlist.runs import Cancellation, Progress, Report
from shortlist.runs.progress import SECONDS

SEARCH_SHARE = 0.1
"""Part of the time limit after which the search gives way; it usually ends sooner."""

LONG_SEARCH_SHARE = 0.3
"""The same where no program follows."""

TURNS = (0.1, 0.25, 0.6, 0.8, 1.0)
"""Parts of the time limit at which the solver, cuts, the solver, cuts and the solver end where the gap is small; quick cuts come first."""

NEAR = 8
"""How many usual rows lie between value and bound where the solver may end the proof; it is then called early, and however large
the program is."""

FAR_CELLS = 200_000
"""Rows times classifiers up to which the solver lowers a bound further away within seconds; beyond, the cuts lower it more, as
long as they find any."""

SEARCH_STEPS = 20_000
CUT_ROUNDS = 60
"""Limits of the search, and of the cuts where no clock ends them."""

MAX_PAIRS = 200_000
"""Most conflicts that the integer program gets as rows."""

PROGRAM_CELLS = 20_000_000
"""Rows times classifiers beyond which no integer program is built: solvers would need minutes to read it."""


def prove(
    best: Incumbent,
    *,
    time_limit_s: float,
    node_limit: int | None,
    seed: int,
    threads: int,
    report: Report,
    cancellation: Cancellation | None,
) -> EnsembleSelection:
    """Improve `best` and its bound until they meet or a limit is hit.

    Parameters
    ----------
    best : Incumbent
        The problem, with a selection or without one.
    time_limit_s : float
        Wall-clock limit in seconds; inf for none.
    node_limit : int or None
        Thousandths of CP-SAT's deterministic time; unless the time limit ends a step first, the answer then does not depend
        on the clock, nor on `threads`.
    seed, threads : int
        With more than one thread CP-SAT looks for selections beside its proof.
    report, cancellation
        As everywhere.

    Returns
    -------
    EnsembleSelection
        OPTIMAL, FEASIBLE, INFEASIBLE or UNKNOWN, with the history of value and bound.

    Raises
    ------
    SolverError
        If a solver contradicts a selection or a bound that is proved.
    """
    return _Run(
        best=best,
        rows=normalise(best.votes, best.weights, best.limits),
        time_limit_s=time_limit_s,
        node_limit=node_limit,
        seed=seed,
        threads=threads,
        report=report,
        cancellation=cancellation or Cancellation(),
    ).run()


@dataclass(kw_only=True, eq=False)
class _Run:
    """One run of the engine."""

    best: Incumbent
    rows: RightRows
    time_limit_s: float
    node_limit: int | None
    seed: int
    threads: int
    report: Report
    cancellation: Cancellation
    start: float = field(default_factory=time.monotonic)
    infeasible: bool = False
    last_limit: str = ""
    cut_bound: CutBound | None = None

    def run(self) -> EnsembleSelection:
        """Take the steps in order."""
        best = self.best
        best.offer_simple_selections()
        best.lower_bound_to(self.rows.weighted_sum(self.rows.total_gain))
        self._tell("bounding")
        conflicts = find_conflicts(self.rows, deadline=self._until(SEARCH_SHARE))
        bound = min_cut_bound(self.rows, conflicts)
        best.lower_bound_to(self.rows.weighted_sum(bound.bound))
        self._tell("searching")
        if self._goes_on():
            self._search()
        self.cut_bound = bound
        for step, share in self._turns():
            if self._goes_on() and time.monotonic() < self._until(share):
                step(conflicts, share)
        return self._answer()

    def _turns(self) -> Iterator[tuple[Callable[[Conflicts, float], None], float]]:
        """Yield cuts and solver in turns, each with the part of the time limit at which it ends."""
        if not self._has_program:
            yield self._tighten, 1.0
            return
        *_, last_cuts, end = TURNS
        if self._counts:
            yield self._tighten, last_cuts
            yield self._solve, end
            return
        yield self._tighten_quickly, TURNS[1]
        early = self._is_near or self.best.mask is None
        steps = (self._solve, self._tighten, self._solve)
        yield from zip(steps, TURNS, strict=False) if early else ()
        yield self._tighten, last_cuts
        assert self.cut_bound is not None, "the run begins with a cut"
        large = self.rows.votes.size > FAR_CELLS
        if large and not (self._is_near or self.best.mask is None or self.cut_bound.exhausted):
            yield self._tighten, end
        yield self._solve, end

    @property
    def _is_near(self) -> bool:
        """Whether few rows lie between value and bound."""
        if self.best.mask is None or not self.rows.n_rows:
            return False
        usual = int(np.median(self.rows.gains)) * self.rows.step
        return self.best.bound - self.best.total <= NEAR * usual

    @property
    def _has_program(self) -> bool:
        """Whether an integer program is small enough to be built."""
        return self.rows.votes.size <= PROGRAM_CELLS

    @property
    def _counts(self) -> bool:
        """Whether limits that are counted end the steps, and not the clock."""
        return self.node_limit is not None or math.isinf(self.time_limit_s)

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self.start

    def _until(self, share: float) -> float:
        """Return the time on the clock at which a share of the limit is gone; all of it where nodes limit the steps."""
        return self.start + (share if self.node_limit is None else 1.0) * self.time_limit_s

    def _goes_on(self) -> bool:
        """Whether there is something left to prove, and time for it."""
        settled = self.best.proved or self.infeasible
        return not (settled or self.cancellation.cancelled or self._seconds >= self.time_limit_s)

    def _tell(self, stage: str, value: float | None = None) -> None:
        """Note and report value and bound."""
        self.best.record(self._seconds)
        known = [one for one in (value, self.best.value) if one is not None]
        total = None if math.isinf(self.time_limit_s) else self.time_limit_s
        bound = self.best.weights.value(self.best.bound)
        self.report(Progress(stage, self._seconds, total, max(known, default=None), bound, unit=SECONDS))

    def _search(self) -> None:
        """Look for a good selection: the rules' prefixes, then tabu search from them."""
        best = self.best
        deadline = self._until(SEARCH_SHARE if self._has_program else LONG_SEARCH_SHARE)
        found = search_selection(
            best.votes,
            best.weights,
            best.limits,
            max_steps=SEARCH_STEPS,
            seed=self.seed,
            deadline=deadline,
            cancellation=self.cancellation,
            on_better=lambda found: best.offer(found.mask),
        )
        if found is not None:
            best.offer(found.mask)
        self._tell("searching")

    def _tighten_quickly(self, conflicts: Conflicts, share: float) -> None:
        """Add cuts while they are found fast."""
        self._tighten(conflicts, share, quick=True)

    def _tighten(self, conflicts: Conflicts, share: float, *, quick: bool = False) -> None:
        """Add cuts while they help."""

        def on_bound(gain: int) -> None:
            self.best.lower_bound_to(self.rows.weighted_sum(gain))
            self._tell("cutting")

        assert self.cut_bound is not None, "the run begins with a cut"
        best = self.best
        target = None if best.mask is None else self.rows.gain_of(best.mask, best.threshold)
        self.cut_bound = tighten_by_cuts(
            self.rows,
            conflicts,
            self.cut_bound,
            deadline=self._until(share),
            max_rounds=CUT_ROUNDS if self._counts else None,
            seed=self.seed,
            target=target,
            quick=quick,
            on_bound=on_bound,
            cancellation=self.cancellation,
        )

    def _solve(self, conflicts: Conflicts, share: float) -> None:
        """Give the program with all cuts to a solver, to prove the rest."""
        assert self.cut_bound is not None, "the run begins with a cut"
        best, rows = self.best, self.rows
        built = tight_program(rows, [*self.cut_bound.pool, *pair_cuts(conflicts)])
        program = built.program

        def on_bound(cost: float, limit: float) -> None:
            best.lower_bound_to(rows.weighted_sum(_gain_bound(built, limit, rows.total_gain)))
            found = None if math.isnan(cost) else rows.weighted_sum(-round(cost + built.offset))
            self._tell("proving", None if found is None else best.weights.value(found))

        while self._goes_on() and time.monotonic() < self._until(share):
            session = open_last(program, threads=self.threads, node_limit=self.node_limit, seed=self.seed)
            session.set_start(
                None if best.mask is None else built.encode(as_votes(rows), best.mask, best.threshold)
            )
            solution = session.solve(
                Limits(
                    max(0.01, self._until(share) - time.monotonic()), self.node_limit, absolute_gap=1 - 1e-6
                ),
                on_bound=on_bound,
                cancellation=self.cancellation,
            )
            self.infeasible, self.last_limit = solution.status is Status.INFEASIBLE, solution.limit
            if not self.infeasible:
                best.lower_bound_to(rows.weighted_sum(_gain_bound(built, solution.bound, rows.total_gain)))
            if solution.values is None:
                return
            mask = built.members(solution.values)
            best.offer(mask)
            if best.limits.satisfied_by(mask):
                return
            program = without_selection(program, mask)  # solvers keep fractional rows up to a tolerance only

    def _answer(self) -> EnsembleSelection:
        """Return what is chosen and proved."""
        limit = ""
        if self.cancellation.cancelled:
            limit = "interrupted"
        elif not self.best.proved and (self.last_limit == "seconds" or self._seconds >= self.time_limit_s):
            limit = f"{self.time_limit_s:g} s"
        elif not self.best.proved:
            none = "" if self._has_program else f"{PROGRAM_CELLS:,} votes in an integer program"
            limit = "" if self.infeasible else self.last_limit or none or "precision"
        if self.best.mask is not None:
            if self.infeasible:
                raise SolverError(
                    "the solver calls the program infeasible, but a selection keeps every limit."
                )
            return self._certified(self.best.selection(limit=limit, seconds=self._seconds))
        status = Status.INFEASIBLE if self.infeasible else Status.UNKNOWN
        return self.best.no_selection(status, limit=limit, seconds=self._seconds)

    def _certified(self, result: EnsembleSelection) -> EnsembleSelection:
        """Add what proves the bound of the cuts."""
        assert self.cut_bound is not None, "the run begins with a cut"
        certificate = make_certificate(
            self.best.votes,
            self.best.weights,
            self.rows,
            self.cut_bound,
            result.mask,
            threshold=result.threshold,
        )
        certified = self.best.weights.value(certificate["bound"])
        return dataclasses.replace(result, certificate=certificate, certified_bound=certified)


def pair_cuts(conflicts: Conflicts) -> list[Cut]:
    """Return conflicts as cuts, as many as the program gets."""
    pairs = np.sort(conflicts.pairs[:MAX_PAIRS], axis=1)
    alone = [Cut((row,), (1,)) for row in conflicts.never.tolist()]
    return alone + [Cut((first, second), (1, 1)) for first, second in pairs.tolist()]


def _gain_bound(built: PruningProgram, bound: float, otherwise: int) -> int:
    """Turn a bound on the cost into one on the gain."""
    return otherwise if math.isinf(bound) else math.floor(-(bound + built.offset) + 1e-6)
