"""The engine of exact pruning: a strong selection, bounds made for the problem, then a solver.

In order: the minimum cut of conflicts for a first bound; rules and tabu search for the value; with few
classifiers a walk over all selections, which ends the proof; combinatorial Benders cuts for a tighter bound;
and CP-SAT on the integer program with all cuts as clauses, from the selection. The last two take turns where
there is a time limit: the solver comes early where the gap is small, as it then often ends the proof, or
where there is no selection yet, and late where it is not, as the cuts then bring more; on large programs with
a large gap only when no more cuts are found. Every step stops the rest once value and bound meet.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from shortlist.ensembles.proofs.cuts.conflicts import Conflicts, find_conflicts
from shortlist.ensembles.proofs.cuts.cut_bounds import min_cut_bound, tighten_by_cuts
from shortlist.ensembles.proofs.cuts.cut_settings import CutSettings
from shortlist.ensembles.proofs.cuts.cuts import Cut, CutBound, make_cut
from shortlist.ensembles.proofs.incumbent import NONE_FEASIBLE, Incumbent, PrunedSelection
from shortlist.ensembles.proofs.programs.repeated_solves import limit_of, solutions_until_kept
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.ensembles.proofs.subset_walk import n_selections, walk_subsets
from shortlist.ensembles.pruning.problems import PruningProblem, SearchEffort, SolverProgram
from shortlist.errors import SolverError
from shortlist.milp import Program, Solver
from shortlist.milp.session import Session
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget

CUTS, WALK, CP_SAT = "cuts", "a walk over all selections", "CP-SAT"
"""Whose a bound is."""


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """How the engine shares its time between its steps; decisions 8 and 17 have the measurements.

    Parameters
    ----------
    search_share : float
        Part of the time limit after which the search gives way; it usually ends sooner.
    long_search_share : float
        The same where no integer program follows.
    effort : SearchEffort
        How many moves the search makes.
    turns : tuple of float
        Parts of the time limit at which the solver, cuts, the solver, cuts and the solver end where the gap
        is small; quick cuts come first.
    near : int
        How many usual rows lie between value and bound where the solver may end the proof; it is then called
        early, and however large the program is.
    far_cells : int
        Forms times classifiers up to which the solver lowers a bound further away within seconds; beyond,
        the cuts lower it more, as long as they find any.
    cuts : CutSettings
        How cuts are looked for.
    cut_rounds : int
        Rounds of cuts where no clock ends them.
    most_pairs : int
        Most conflicts that the integer program gets as rows.
    program_cells : int
        Forms times classifiers beyond which no integer program is built: solvers would need minutes to read
        it.
    walk_classifiers : int
        Most classifiers for which a walk over all selections is begun: with more it hardly ever ends.
    walk_nodes : int
        Nodes after which a walk gives up: a few seconds.
    walk_share : float
        Part of the time limit after which it gives up.
    few_selections : int
        Up to so many selections within the sizes the walk comes first and is written down as the proof:
        whoever rechecks it looks at every selection again.
    least_solve_s : float
        Seconds below which CP-SAT is not asked: it has ended the whole process under limits of milliseconds.
    """

    search_share: float = 0.1
    long_search_share: float = 0.3
    effort: SearchEffort = field(default_factory=SearchEffort)
    turns: tuple[float, float, float, float, float] = (0.1, 0.25, 0.6, 0.8, 1.0)
    near: int = 8
    far_cells: int = 200_000
    cuts: CutSettings = field(default_factory=CutSettings)
    cut_rounds: int = 60
    most_pairs: int = 200_000
    program_cells: int = 20_000_000
    walk_classifiers: int = 36
    walk_nodes: int = 8_000_000
    walk_share: float = 0.4
    few_selections: int = 2**16
    least_solve_s: float = 0.1


def prove(
    problem: PruningProblem,
    budget: Budget,
    *,
    solver: Solver | None = None,
    solver_name: str = "",
    settings: EngineSettings | None = None,
) -> PrunedSelection:
    """Look for the best selection and bound what any can be worth, until the two meet or a limit is hit.

    Parameters
    ----------
    problem : PruningProblem
        Of two or of several classes.
    budget : Budget
        With more than one thread CP-SAT looks for selections beside its proof. A limit in nodes is in
        thousandths of CP-SAT's deterministic time; unless the time limit ends a step first, the answer then
        does not depend on the clock, nor on the threads.
    solver : Solver, optional
        A backend: that one alone, on the plain program, in place of the engine. A limit in nodes is then in
        its unit.
    solver_name : str
        What that backend is called.
    settings : EngineSettings, optional
        How the steps share the time.

    Returns
    -------
    PrunedSelection
        OPTIMAL, FEASIBLE, INFEASIBLE or UNKNOWN, with the history of value and bound.

    Raises
    ------
    SolverError
        If a solver contradicts a selection or a bound that is proved.
    """
    best = Incumbent(problem)
    if conflict := problem.limits.conflict():
        return best.no_selection(Status.INFEASIBLE, limit="", seconds=budget.elapsed, reason=conflict)
    run = _Run(problem, best, budget, settings or EngineSettings(), solver, solver_name)
    best.offer_simple_selections()
    if solver is None:
        run.take_steps()
    else:
        run.solve(problem.plain_program(), budget)
    return run.answer()


@dataclass(eq=False)
class _Run:
    """One run of the engine."""

    problem: PruningProblem
    best: Incumbent
    budget: Budget
    settings: EngineSettings
    solver: Solver | None
    solver_name: str
    infeasible: bool = False
    infeasible_by: str = ""
    last_limit: str = ""
    cut_bound: CutBound | None = None

    def take_steps(self) -> None:
        """Take the steps in order."""
        settings, rows = self.settings, self.problem.rows
        self.best.lower_bound_to(self.problem.first_bound, CUTS)
        if n_selections(rows) <= settings.few_selections:
            self._walk(self.budget)
        if self.best.proved or self.infeasible:
            return
        self._tell("bounding")
        early = self.budget.until(settings.search_share)
        conflicts = find_conflicts(rows, early)
        self._take_cuts(min_cut_bound(rows, conflicts))
        self._tell("searching")
        if self._goes_on(self.budget):
            self._search()
        few = rows.n_classifiers <= settings.walk_classifiers
        if few or n_selections(rows) * rows.n_classifiers <= settings.walk_nodes:
            part = self.budget.until(settings.walk_share)
            if self._goes_on(part):
                self._walk(part)
        for step, share in self._turns():
            part = self.budget.until(share)
            if self._goes_on(part):
                step(conflicts, part)

    def _turns(self) -> Iterator[tuple[Callable[[Conflicts, Budget], None], float]]:
        """Yield cuts and solver in turns, each with the part of the time limit at which it ends."""
        if not self._has_program:
            yield self._tighten, 1.0
            return
        turns = self.settings.turns
        *_, last_cuts, end = turns
        if self.budget.is_counted:
            yield self._tighten, last_cuts
            yield self._prove_rest, end
            return
        yield self._tighten_quickly, turns[1]
        early = self._is_near or self.best.mask is None
        steps = (self._prove_rest, self._tighten, self._prove_rest)
        yield from zip(steps, turns, strict=False) if early else ()
        yield self._tighten, last_cuts
        assert self.cut_bound is not None, "the run begins with a cut"
        large = self.problem.rows.signs.size > self.settings.far_cells
        if large and not (self._is_near or self.best.mask is None or self.cut_bound.exhausted):
            yield self._tighten, end
        yield self._prove_rest, end

    @property
    def _is_near(self) -> bool:
        """Whether few rows lie between value and bound."""
        rows = self.problem.rows
        if self.best.mask is None or not rows.n_rows:
            return False
        usual = int(np.median(rows.gains)) * rows.step
        return self.best.bound - self.best.total <= self.settings.near * usual

    @property
    def _has_program(self) -> bool:
        """Whether an integer program is small enough to be built."""
        return self.problem.rows.signs.size <= self.settings.program_cells

    def _goes_on(self, budget: Budget) -> bool:
        """Whether there is something left to prove, and time for it."""
        return not (self.best.proved or self.infeasible or budget.stopped)

    def _tell(self, stage: str, total: float = math.nan) -> None:
        """Note and report value and bound; `total` is a weighted sum that a solver claims."""
        best, value = self.best, self.problem.value
        best.record(self.budget.elapsed)
        claimed = None if math.isnan(total) else value(round(total))
        known = [one for one in (claimed, best.value) if one is not None]
        self.budget.tell(stage, value=max(known, default=None), bound=value(best.bound))

    def _search(self) -> None:
        """Look for a good selection."""
        settings = self.settings
        share = settings.search_share if self._has_program else settings.long_search_share
        target = self.best.bound - self.problem.slack
        self.problem.search(self.budget.until(share), self.best.offer, target, settings.effort)
        self._tell("searching")

    def _walk(self, budget: Budget) -> None:
        """Walk over all selections."""
        rows, best = self.problem.rows, self.best
        known = None if best.mask is None else (best.total - rows.offset) // rows.step
        walked = walk_subsets(
            rows,
            budget,
            above=known,
            max_nodes=self.settings.walk_nodes,
            on_nodes=lambda _: self._tell("walking"),
        )
        if walked.mask is not None:
            best.offer(walked.mask)
        if walked.complete:
            self.infeasible = best.mask is None
            if best.mask is not None:
                best.lower_bound_to(best.total, WALK)
        self._tell("walking")

    def _tighten_quickly(self, conflicts: Conflicts, budget: Budget) -> None:
        """Add cuts while they are found fast."""
        self._tighten(conflicts, budget, quick=True)

    def _tighten(self, conflicts: Conflicts, budget: Budget, *, quick: bool = False) -> None:
        """Add cuts while they help."""

        def on_bound(gain: int) -> None:
            self.best.lower_bound_to(rows.weighted_sum(gain), CUTS)
            self._tell("cutting")

        assert self.cut_bound is not None, "the run begins with a cut"
        best, rows = self.best, self.problem.rows
        target = None
        if best.mask is not None:
            target = (best.total + self.problem.slack - rows.offset) // rows.step
        self._take_cuts(
            tighten_by_cuts(
                rows,
                conflicts,
                self.cut_bound,
                budget,
                max_rounds=self.settings.cut_rounds if budget.is_counted else None,
                target=target,
                quick=quick,
                on_bound=on_bound,
                settings=self.settings.cuts,
            )
        )

    def _take_cuts(self, bound: CutBound) -> None:
        """Keep cuts, for the certificate and for whoever goes on from them."""
        self.cut_bound = bound
        self.best.lower_bound_to(self.problem.rows.weighted_sum(bound.bound), CUTS)

    def _prove_rest(self, conflicts: Conflicts, budget: Budget) -> None:
        """Give the program with all cuts to the last solver."""
        assert self.cut_bound is not None, "the run begins with a cut"
        pairs = pair_cuts(self.problem.rows, conflicts, self.settings.most_pairs)
        self.solve(self.problem.tight_program([*self.cut_bound.pool, *pairs]), budget)

    def solve(self, built: SolverProgram, budget: Budget) -> None:
        """Give a program to a solver, until it has proved the rest or the budget ends."""
        best, who = self.best, CP_SAT if self.solver is None else self.solver_name

        def on_bound(cost: float, bound: float) -> None:
            best.lower_bound_to(built.total_bound(bound, best.bound), who)
            self._tell("proving", built.total_of(cost))

        def opened(program: Program) -> Session:
            session = self._open(program)
            session.set_start(None if best.mask is None else built.encode(best.mask, best.threshold))
            return session

        self.last_limit = budget.time_text
        for solution in solutions_until_kept(
            built.program, self.problem.n_classifiers, opened, budget, absolute_gap=built.absolute_gap,
            on_bound=on_bound, least_seconds=0.0 if self.solver else self.settings.least_solve_s,
        ):  # fmt: skip
            self.infeasible, self.last_limit = (
                solution.status is Status.INFEASIBLE,
                limit_of(solution, budget),
            )
            self.infeasible_by = who
            if not self.infeasible:
                best.lower_bound_to(built.total_bound(solution.bound, best.bound), who)
            if solution.values is None:
                return
            kept = best.offer(built.members(solution.values, self.problem.n_classifiers)) is not None
            self._tell("proving")
            if kept or not self._goes_on(budget):
                return

    def _open(self, program: Program) -> Session:
        """Load a program into the solver that was asked for, or into the last one of the engine.

        That is CP-SAT's best-first tree on the objective's bound, measured on the paper's sets
        (docs/decisions/0008): it proves sooner than its usual strategies side by side, and lowers the bound
        where they do not. One thread where the answer must not depend on the clock, else a second one for
        selections.
        """
        budget = self.budget
        if self.solver is not None:
            return self.solver.open(program, seed=budget.seed, threads=budget.threads)
        from shortlist.milp.backends.cpsat import CpSat

        several = budget.threads > 1 and budget.nodes is None
        return CpSat(bound_tree=True).open(program, seed=budget.seed, threads=2 if several else 1)

    def answer(self) -> PrunedSelection:
        """Return what is chosen and proved."""
        best, budget = self.best, self.budget
        limit = ""
        if not best.proved and not self.infeasible:
            too_large = f"{self.settings.program_cells:,} votes in an integer program"
            limit = budget.limit_text or self.last_limit or ("precision" if self._has_program else too_large)
        if best.mask is None:
            status = Status.INFEASIBLE if self.infeasible else Status.UNKNOWN
            reason = (
                f"{NONE_FEASIBLE}, says {self.infeasible_by}"
                if self.infeasible_by and self.infeasible
                else ""
            )
            return best.no_selection(status, limit=limit, seconds=budget.elapsed, reason=reason)
        if self.infeasible:
            raise SolverError("the solver calls the program infeasible, but a selection keeps every limit.")
        return self._certified(best.selection(limit=limit, seconds=budget.elapsed))

    def _certified(self, result: PrunedSelection) -> PrunedSelection:
        """Add what proves the bound of the cuts, or that every selection was looked at where they are few."""
        found = n_selections(self.problem.rows)
        walked = self.best.bound_by == WALK and found <= self.settings.few_selections
        proof = found if walked else self.cut_bound
        if proof is None:
            return result
        certificate = self.problem.certificate(proof, result.mask, self.best.threshold)
        certified = self.problem.value(certificate["bound"])
        return dataclasses.replace(result, certificate=certificate, certified_bound=certified)


def pair_cuts(rows: RightRows, conflicts: Conflicts, most: int) -> list[Cut]:
    """Return conflicts as cuts, as many as the program gets."""
    alone = [make_cut(rows, (form,), (1,)) for form in conflicts.never.tolist()]
    return alone + [conflicts.cut(rows, i) for i in range(min(most, len(conflicts.pairs)))]
