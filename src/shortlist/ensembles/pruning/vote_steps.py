"""Steps that prove weighted sums of decisions, with two classes and with several.

Rules and tabu search find the best selection. The minimum cut of conflicts gives a first bound, and pair cuts
a closer bound. If the gap is small, SCIP solves the integer program with the pair cuts. With few classifiers
a full search ends the proof. Combinatorial Benders cuts give a tighter bound. CP-SAT solves the program with
all cuts, starting from the best selection. The order of the engines, and the condition of each engine, are in
the table of :mod:`shortlist.ensembles.pruning.engines`.
"""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np

from shortlist.arrays import Mask
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.proofs.certificate import Cut, CutBound, make_cut
from shortlist.ensembles.proofs.conflicts import Conflicts, find_conflicts
from shortlist.ensembles.proofs.cut_bounds import min_cut_bound, tighten_by_cuts
from shortlist.ensembles.proofs.incumbent import NONE_FEASIBLE, Incumbent, KeptBest
from shortlist.ensembles.proofs.pair_cuts import bound_by_pairs
from shortlist.ensembles.proofs.pruning_program import PruningProgram, without_selection
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.ensembles.proofs.subset_walk import count_selections, walk_subsets
from shortlist.ensembles.pruning import engines
from shortlist.ensembles.pruning.engines import EngineSettings, PruningShape, Turn
from shortlist.ensembles.pruning.problems import PruningProblem
from shortlist.errors import SolverError
from shortlist.milp import Limits, Program, Session, Solver
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget

Step: TypeAlias = Callable[[Budget], None]
"""Function that continues the search or the proof until the budget that it gets ends."""


def prove(
    problem: PruningProblem,
    budget: Budget,
    *,
    solver: Solver | None = None,
    solver_name: str = "",
    settings: EngineSettings | None = None,
) -> PrunedSelection:
    """Return the best selection with a bound on all selections, when both meet or a limit ends the run.

    Raises SolverError if a solver contradicts a selection or a proved bound.

    `budget`: with more than one thread CP-SAT also searches for selections during its proof. A limit in nodes
    is in thousandths of CP-SAT's deterministic time. Unless the time limit ends a step first, the result then
    depends neither on the clock nor on the threads. `solver`: a backend that solves the plain program alone,
    in place of the engines; a limit in nodes is then in the unit of the backend.

    The status is OPTIMAL, FEASIBLE, INFEASIBLE or UNKNOWN, with the history of value and bound. The status is
    OPTIMAL if value and bound are the same integer.
    """
    steps = VoteSteps(problem, budget, settings or EngineSettings(), solver, solver_name)
    best = steps.best
    if conflict := problem.limits.conflict():
        return best.no_selection(Status.INFEASIBLE, limit="", seconds=budget.elapsed, reason=conflict)
    best.offer_simple_selections()
    steps.run_all()
    kept = KeptBest(best, budget)
    if steps.is_open:
        kept.take()
    if not steps.is_open:
        kept.note_end()
    limit = budget.limit_text or steps.last_limit or steps.no_limit if steps.is_open else ""
    if best.mask is not None:
        if steps.infeasible:
            raise SolverError("the solver calls the program infeasible, but a selection keeps every limit.")
        result = best.selection(limit=limit, seconds=budget.elapsed)
        result = dataclasses.replace(result, found_by=best.found_by)
        if solver is not None:
            return dataclasses.replace(result, why="it was asked for")
        turn = steps.turn
        why, measured = (engines.NOTHING_LOWER, "") if turn is None else (turn.why, turn.measured)
        result = dataclasses.replace(
            result, why="" if best.proved and turn is None else why, measured=measured
        )
        return steps.certified(result)
    status = Status.INFEASIBLE if steps.infeasible else Status.UNKNOWN
    reason = (
        f"{NONE_FEASIBLE}, says {steps.infeasible_by}" if steps.infeasible and steps.infeasible_by else ""
    )
    return best.no_selection(status, limit=limit, seconds=budget.elapsed, reason=reason)


@dataclass(eq=False)
class VoteSteps:
    """Steps of one run, in order, with their common state."""

    problem: PruningProblem
    budget: Budget
    """Budget of the whole run."""
    settings: EngineSettings
    """Settings of the engines, with their turns."""
    solver: Solver | None = None
    """Solver that was requested to run alone; None for the engines."""
    solver_name: str = ""
    """Name of the solver."""
    infeasible: bool = False
    """Whether a solver or a full search claims that no selection keeps the limits, and the name of this
    prover; empty if unknown.
    """
    infeasible_by: str = ""
    last_limit: str = ""
    """Name of the limit that ended the last step, if it was not the budget; otherwise empty."""
    turn: Turn | None = None
    """Last turn that lowered the bound; None if no turn lowered it."""
    conflicts: Conflicts | None = None
    cut_bound: CutBound | None = None
    pair_bound: CutBound | None = None
    starts: list[tuple[int, Mask]] = field(default_factory=list)
    """Weighted sums and masks of the selections by rules."""

    def __post_init__(self) -> None:
        self.best = Incumbent(self.problem)
        short = min(self.settings.short_walk_nodes, self.settings.walk_nodes)
        self._steps: dict[str, Step] = {
            engines.RULES: self._try_rules,
            engines.SEARCH: self._search,
            engines.LONG_SEARCH: self._search_on,
            engines.CONFLICTS: self._bound,
            engines.PAIRS: self._bound_by_pairs,
            engines.PATIENT_SEARCH: self._search_patiently,
            engines.SCIP: self._prove_by_pairs,
            engines.WALK: self._walk,
            engines.SHORT_WALK: partial(self._walk, max_nodes=short),
            engines.SHORT_CP_SAT: self._prove_quickly,
            engines.QUICK_CUTS: partial(self._tighten, quick=True),
            engines.CUTS: self._tighten,
            engines.CP_SAT: self._prove_rest,
        }

    @property
    def is_open(self) -> bool:
        """Whether value and bound still differ, so that there is something left to prove."""
        return not (self.best.proved or self.infeasible)

    def tell(self, stage: str, *, total: float = math.nan) -> None:
        """Store value and bound, and report them as progress.

        `total`: weighted sum that a solver claims; NaN if there is no such claim.
        """
        best, value = self.best, self.problem.value
        KeptBest(best, self.budget).keep()
        best.record(self.budget.elapsed)
        known = best.value
        if not math.isnan(total):
            claimed = value(round(total))
            known = claimed if known is None else max(claimed, known)
        self.budget.tell(stage, value=known, bound=value(best.bound))

    @property
    def no_limit(self) -> str:
        """Reason for the end of the proof, if no limit ended it."""
        too_large = f"{self.settings.program_cells:,} votes in an integer program"
        return "precision" if self.shape.has_program else too_large

    def certified(self, result: PrunedSelection) -> PrunedSelection:
        """Return the result with a certificate, where one is possible.

        The certificate holds the number of selections if they are few and a full search visited all, else the
        cuts of the lowest bound.
        """
        best, found = self.best, count_selections(self.problem.rows)
        walked = best.bound_by == engines.WALK and found <= self.settings.few_selections
        # without a cut all gain is the bound, which a selection that is right everywhere meets at once
        no_cuts = CutBound(self.problem.rows.total_gain, (), np.zeros(0, dtype=np.int64), 1)
        known = filter(None, (self.cut_bound, self.pair_bound, no_cuts))
        proof = found if walked else min(known, key=lambda one: one.bound)
        certificate = self.problem.certificate(proof, result.mask, best.threshold, best.total)
        certified = self.problem.value(certificate["bound"])
        return dataclasses.replace(result, certificate=certificate, certified_bound=certified)

    def run_all(self) -> None:
        """Call one engine after the other until nothing is left to prove, or no engine is left."""
        best = self.best
        if self.solver is not None:
            self._solve(self.problem.plain_program(), self.budget)
            return
        best.lower_bound_to(self.problem.first_bound, engines.COUNT)
        for turn in self.settings.turns:
            part = self.budget.share(turn.share)
            if self.is_open and not part.stopped and turn.fits(self.shape):
                before = (best.bound, self.infeasible)
                best.finder = turn.engine
                self._steps[turn.engine](part)
                if before != (best.bound, self.infeasible):
                    self.turn = turn

    @property
    def shape(self) -> PruningShape:
        """Size and properties of the question at this moment."""
        settings, rows, best = self.settings, self.problem.rows, self.best
        n_selections, n_cells = count_selections(rows), rows.signs.size
        has_few = rows.n_classifiers <= settings.walk_classifiers
        usual = int(np.median(rows.gains)) * rows.step if rows.n_rows else 0
        gap = math.inf if best.mask is None or best.bound < best.total else best.bound - best.total
        return PruningShape(
            is_few=n_selections <= settings.few_selections,
            is_walkable=settings.walk_nodes > 0
            and (has_few or n_selections * rows.n_classifiers <= settings.walk_nodes),
            has_program=n_cells <= settings.program_cells,
            is_large=n_cells > settings.far_cells,
            is_timed=not self.budget.is_counted,
            by_plurality=not rows.has_threshold,
            has_selection=best.mask is not None,
            is_near=gap <= settings.near * usual,
            is_close=gap <= settings.close * usual,
            no_more_cuts=self.cut_bound is not None and self.cut_bound.exhausted,
        )

    @property
    def _target_gain(self) -> int | None:
        best, rows = self.best, self.problem.rows
        if best.mask is None:
            return None
        return int(best.total + self.problem.slack - rows.offset) // rows.step

    def _try_rules(self, budget: Budget) -> None:
        """Offer the best selections of the rules, until the budget ends or a selection ends the proof."""
        self.tell("searching")
        for rule, mask in self.problem.rule_starts(budget):
            self.best.finder = rule
            total = self.best.offer(mask)
            if total is not None:
                self.starts.append((total, mask))
            if not self.is_open:
                return
        if (
            self.best.mask is not None
        ):  # an answer drops idle members, which may gain rows, before a search too
            self.best.offer_without_idle_members()

    def _search(self, budget: Budget) -> None:
        """Search for better selections, starting from the selections of the first rules.

        The clock hardly ever ends this search, so that a run with more time makes the same steps and then
        more.
        """
        self._walk_from([mask for _, mask in self.starts], budget, self.settings.effort.first_steps)

    def _search_on(self, budget: Budget) -> None:
        effort, shape = self.settings.effort, self.shape
        patient = shape.by_plurality and shape.is_timed
        self._walk_from(self._best_starts, budget, effort.patient_steps if patient else effort.steps)

    def _search_patiently(self, budget: Budget) -> None:
        """Search for longer, and for five times as long if a time limit ends the run and no proof is near."""
        times = 5 if self.shape.is_timed and not self.shape.is_near else 1
        self._walk_from(self._best_starts, budget, times * self.settings.effort.more_steps)

    @property
    def _best_starts(self) -> list[Mask]:
        ranked = sorted(self.starts, key=lambda one: -one[0])
        return [mask for _, mask in ranked[: self.settings.effort.n_starts]]

    def _walk_from(self, starts: list[Mask], budget: Budget, steps: int) -> None:
        best = self.best
        known = starts if best.mask is None else [best.mask, *starts]
        target = best.bound - self.problem.slack
        self.problem.search(budget, best.offer, known, target=target, max_steps=steps)
        self.tell("searching")

    def _bound(self, budget: Budget) -> None:
        self.tell("bounding")
        self._known_cuts(budget)
        self.tell("bounding")

    def _known_cuts(self, budget: Budget) -> tuple[Conflicts, CutBound]:
        if self.conflicts is None:
            self.conflicts = find_conflicts(self.problem.rows, budget)
        if self.cut_bound is None:
            self._take_cuts(min_cut_bound(self.problem.rows, self.conflicts))
        assert self.cut_bound is not None, "it was taken"
        return self.conflicts, self.cut_bound

    def _lower_bound(self, gain: int, *, by: str, stage: str) -> None:
        self.best.lower_bound_to(self.problem.rows.weighted_sum(gain), by)
        self.tell(stage)

    def _bound_by_pairs(self, budget: Budget) -> None:
        """Bound the value of all selections by pair cuts."""
        self.pair_bound = bound_by_pairs(
            self.problem.rows, budget, target=self._target_gain, settings=self.settings.pairs,
            on_bound=partial(self._lower_bound, by=engines.PAIRS, stage="bounding"),
        )  # fmt: skip

    def _prove_by_pairs(self, budget: Budget) -> None:
        from shortlist.milp.backends.scip import Scip

        pairs = [] if self.pair_bound is None else self.pair_bound.pool
        nodes = None if budget.nodes is None else max(1, budget.nodes // self.settings.node_effort)
        built, last = self.problem.tight_program(pairs), self.last_limit
        self._solve(built, budget, nodes=nodes, prover=Scip(proof_only=True))
        if self.is_open:
            self.last_limit = last or self.last_limit

    def _walk(self, budget: Budget, max_nodes: int | None = None) -> None:
        rows, best = self.problem.rows, self.best
        walked = walk_subsets(
            rows,
            budget,
            above=None if best.mask is None else (best.total - rows.offset) // rows.step,
            max_nodes=self.settings.walk_nodes if max_nodes is None else max_nodes,
            on_nodes=lambda _: self.tell("full search"),
        )
        if walked.mask is not None:
            best.offer(walked.mask)
        if walked.complete:
            self.infeasible = best.mask is None
            if best.mask is not None:
                best.lower_bound_to(best.total, engines.WALK)
        self.tell("full search")

    def _tighten(self, budget: Budget, *, quick: bool = False) -> None:
        conflicts, known = self._known_cuts(budget)
        self._take_cuts(
            tighten_by_cuts(
                self.problem.rows, conflicts, known, budget,
                max_rounds=self.settings.cut_rounds if budget.is_counted else None,
                target=self._target_gain, quick=quick, settings=self.settings.cuts,
                on_bound=partial(self._lower_bound, by=engines.CUTS, stage="cutting"),
            )
        )  # fmt: skip

    def _take_cuts(self, bound: CutBound) -> None:
        self.cut_bound = bound
        self.best.lower_bound_to(self.problem.rows.weighted_sum(bound.bound), engines.CUTS)

    def _prove_rest(self, budget: Budget) -> None:
        self._solve(self._tight_program(budget), budget)

    def _prove_quickly(self, budget: Budget) -> None:
        last, nodes = self.last_limit, self.settings.short_nodes
        self._solve(self._tight_program(budget), budget, nodes=min(nodes, budget.nodes or nodes))
        if self.is_open:
            self.last_limit = last

    def _tight_program(self, budget: Budget) -> PruningProgram:
        conflicts, known = self._known_cuts(budget)
        pairs = conflict_cuts(self.problem.rows, conflicts, self.settings.most_pairs)
        closer = () if self.pair_bound is None else self.pair_bound.pool
        return self.problem.tight_program([*known.pool, *pairs, *closer])

    def _solve(
        self,
        built: PruningProgram,
        budget: Budget,
        *,
        nodes: int | None = None,
        prover: Solver | None = None,
    ) -> None:
        """Run a solver on a program, until the proof is complete, or the budget or the nodes are used up.

        Solvers keep constraints with fractional coefficients only up to a tolerance, so a solution may miss a
        limit on cost or diversity. Such a solution is excluded by a constraint, and the solver continues.
        `prover`: solver in place of CP-SAT.
        """
        best, asked, program = self.best, prover or self.solver, built.program
        who = self.solver_name or (engines.CP_SAT if prover is None else engines.SCIP)
        best.finder = who

        def on_bound(cost: float, bound: float) -> None:
            best.lower_bound_to(built.total_bound(bound, best.bound), who)
            self.tell("proving", total=built.total_of(cost))

        self.last_limit = budget.time_text
        least_seconds = 0.0 if self.solver else self.settings.least_solve_s
        while not budget.stopped and budget.left >= least_seconds:
            session = self._open(program, asked)
            session.set_start(None if best.mask is None else built.encode(best.mask, best.threshold))
            solution = session.solve(
                Limits(
                    budget.left, budget.nodes if nodes is None else nodes, built.absolute_gap, budget.clock
                ),
                on_bound=on_bound,
                cancellation=budget.cancellation,
            )
            words = {"seconds": budget.time_text, "size": "what the solver can tell apart"}
            self.last_limit = words.get(solution.limit, solution.limit)
            self.infeasible, self.infeasible_by = solution.status is Status.INFEASIBLE, who
            if not self.infeasible:
                best.lower_bound_to(built.total_bound(solution.bound, best.bound), who)
            if solution.values is None:
                return
            proposed = built.members(np.asarray(solution.values))
            kept = best.offer(proposed) is not None
            self.tell("proving")
            if kept or not self.is_open:
                return
            program = without_selection(program, proposed)

    def _open(self, program: Program, asked: Solver | None) -> Session:
        """Return a session with the program, of the solver `asked`, or by default of CP-SAT.

        CP-SAT runs its best-first tree on the bound of the objective (docs/decisions/0008 has the
        measurements). This tree proves sooner than CP-SAT's usual strategies together, and lowers the bound
        in cases where these do not. It runs in one thread if the result must not depend on the clock;
        otherwise a second thread searches for selections.
        """
        budget = self.budget
        if asked is not None:
            return asked.open(program, seed=budget.seed, threads=budget.threads)
        from shortlist.milp.backends.cpsat import CpSat

        several = budget.threads > 1 and budget.nodes is None
        return CpSat(bound_tree=True).open(program, seed=budget.seed, threads=2 if several else 1)


def conflict_cuts(rows: RightRows, conflicts: Conflicts, most: int) -> list[Cut]:
    """Return the conflicts as cuts; if there are more than `most` pairs, only `most` of them."""
    alone = [make_cut(rows, (form,), (1,)) for form in conflicts.never.tolist()]
    return alone + [conflicts.cut(rows, i) for i in range(min(most, len(conflicts.pairs)))]
