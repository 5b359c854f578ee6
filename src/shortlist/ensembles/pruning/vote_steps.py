"""The steps that prove weighted sums of decisions, of two classes and of several.

Rules and tabu search for the value; the minimum cut of conflicts for a first bound, and what pairs of rows
ask of the members for a closer one; SCIP on the integer program with the pairs where the gap is small; with
few classifiers a full search, which ends the proof; combinatorial Benders cuts for a tighter
bound; and CP-SAT on the program with all cuts, from the selection. Their order, and who is asked about which
question, is the table of :mod:`shortlist.ensembles.pruning.engines`.
"""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from shortlist.arrays import Mask
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.proofs.conflicts import Conflicts, find_conflicts
from shortlist.ensembles.proofs.cut_bounds import min_cut_bound, tighten_by_cuts
from shortlist.ensembles.proofs.cuts import Cut, CutBound, make_cut
from shortlist.ensembles.proofs.pair_cuts import bound_by_pairs
from shortlist.ensembles.proofs.pruning_program import without_selection
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.ensembles.proofs.subset_walk import count_selections, walk_subsets
from shortlist.ensembles.pruning import engines
from shortlist.ensembles.pruning.engines import PruningShape, Run, Step
from shortlist.ensembles.pruning.problems import PruningProblem, SolverProgram
from shortlist.milp import Limits, Program, Session, Solver
from shortlist.milp.solution import OnBound, Solution
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget


def solutions_until_kept(
    program: Program,
    n_classifiers: int,
    opened: Callable[[Program], Session],
    budget: Budget,
    *,
    absolute_gap: float,
    on_bound: OnBound,
    least_seconds: float = 0.0,
    nodes: int | None = None,
) -> Iterator[Solution]:
    """Yield what a solver answers, each time without the selection that it proposed before.

    Solvers keep rows with fractions up to a tolerance only, so that a proposal may miss a limit on cost or
    diversity. The caller stops at a proposal that keeps them all. The last answer is the first one
    without a proposal, and there is none at all where fewer than `least_seconds` are left.

    `program`: its first columns are the classifiers. `n_classifiers`: how many these are. `opened`: loads a
    program into a solver, with what is known already. `absolute_gap`: costs that differ by no more are equal.
    `on_bound`: receives cost and bound as they get better. `least_seconds`: with less time than this no solve
    is begun. `nodes`: limit of each solve, in the solver's unit.
    """
    while not budget.stopped and budget.left >= least_seconds:
        solution = opened(program).solve(
            Limits(budget.left, nodes, absolute_gap, budget.clock),
            on_bound=on_bound,
            cancellation=budget.cancellation,
        )
        yield solution
        if solution.values is None:
            return
        program = without_selection(program, np.asarray(solution.values[:n_classifiers] > 0.5))


def limit_of(solution: Solution, budget: Budget) -> str:
    """Return what ended a solve, in the user's terms."""
    words = {"seconds": budget.time_text, "size": "what the solver can tell apart"}
    return words.get(solution.limit, solution.limit)


@dataclass(eq=False)
class VoteSteps:
    """The steps of one run, in order, and what they know of each other."""

    run: Run
    problem: PruningProblem
    conflicts: Conflicts | None = None
    cut_bound: CutBound | None = None
    pair_bound: CutBound | None = None
    starts: list[tuple[str, int, Mask]] = field(default_factory=list)
    """Rules, what their selections are worth, and these."""

    @property
    def no_limit(self) -> str:
        """What ended the proof where no limit did."""
        too_large = f"{self.run.settings.program_cells:,} votes in an integer program"
        return "precision" if self._has_program else too_large

    def certified(self, result: PrunedSelection) -> PrunedSelection:
        """Add the cuts of the lowest bound, or that every selection was looked at where they are few."""
        best, found = self.run.best, count_selections(self.problem.rows)
        walked = best.bound_by == engines.WALK and found <= self.run.settings.few_selections
        # without a cut all gain is the bound, which a selection that is right everywhere meets at once
        no_cuts = CutBound(self.problem.rows.total_gain, (), np.zeros(0, dtype=np.int64), 1)
        known = filter(None, (self.cut_bound, self.pair_bound, no_cuts))
        proof = found if walked else min(known, key=lambda one: one.bound)
        certificate = self.problem.certificate(proof, result.mask, best.threshold, best.total)
        certified = self.problem.value(certificate["bound"])
        return dataclasses.replace(result, certificate=certificate, certified_bound=certified)

    def run_all(self) -> None:
        """Ask one engine after the other until nothing is left to prove or to ask."""
        run, best = self.run, self.run.best
        if run.solver is not None:
            self.solve(self.problem.plain_program(), run.budget)
            return
        best.lower_bound_to(self.problem.first_bound, engines.COUNT)
        for turn in run.settings.turns:
            part = run.budget.share(turn.share)
            if run.goes_on(part) and turn.fits(self.shape):
                before = (best.bound, run.infeasible)
                best.finder = turn.engine
                self._steps[turn.engine](part)
                if before != (best.bound, run.infeasible):
                    run.turn = turn

    @property
    def shape(self) -> PruningShape:
        """What the question looks like now."""
        settings, rows, best = self.run.settings, self.problem.rows, self.run.best
        n_selections, n_cells = count_selections(rows), rows.signs.size
        has_few = rows.n_classifiers <= settings.walk_classifiers
        usual = int(np.median(rows.gains)) * rows.step if rows.n_rows else 0
        return PruningShape(
            is_few=n_selections <= settings.few_selections,
            is_walkable=settings.walk_nodes > 0
            and (has_few or n_selections * rows.n_classifiers <= settings.walk_nodes),
            has_program=self._has_program,
            is_large=n_cells > settings.far_cells,
            is_timed=not self.run.budget.is_counted,
            by_plurality=not rows.has_threshold,
            has_selection=best.mask is not None,
            is_near=best.mask is not None and 0 <= best.bound - best.total <= settings.near * usual,
            is_close=best.mask is not None and 0 <= best.bound - best.total <= settings.close * usual,
            no_more_cuts=self.cut_bound is not None and self.cut_bound.exhausted,
        )

    @property
    def _steps(self) -> dict[str, Step]:
        return {
            engines.RULES: self._try_rules,
            engines.SEARCH: self._search,
            engines.LONG_SEARCH: self._search_on,
            engines.CONFLICTS: self._bound,
            engines.PAIRS: self._bound_by_pairs,
            engines.PATIENT_SEARCH: self._search_patiently,
            engines.SCIP: self._prove_by_pairs,
            engines.WALK: self._walk,
            engines.SHORT_WALK: self._walk_shortly,
            engines.SHORT_CP_SAT: self._prove_quickly,
            engines.QUICK_CUTS: self._tighten_quickly,
            engines.CUTS: self._tighten,
            engines.CP_SAT: self._prove_rest,
        }

    @property
    def _has_program(self) -> bool:
        return self.problem.rows.signs.size <= self.run.settings.program_cells

    @property
    def _target(self) -> int:
        return self.run.best.bound - self.problem.slack

    @property
    def _target_gain(self) -> int | None:
        best, rows = self.run.best, self.problem.rows
        if best.mask is None:
            return None
        return int(best.total + self.problem.slack - rows.offset) // rows.step

    def _try_rules(self, budget: Budget) -> None:
        """Take the best selections of rules, until the budget ends or one ends the proof."""
        self.run.tell("searching")
        for rule, mask in self.problem.rule_starts(budget):
            self.run.best.finder = rule
            total = self.run.best.offer(mask)
            if total is not None:
                self.starts.append((rule, total, mask))
            if not self.run.is_open:
                return
        best = self.run.best
        if best.mask is not None:  # an answer drops idle members, which may gain rows, before a search too
            best.offer_without_idle_members()

    def _search(self, budget: Budget) -> None:
        """Look for better selections, beginning at those of the first rules.

        The clock hardly ever cuts these short, so that with more time the search goes the same way further.
        """
        known = [] if self.run.best.mask is None else [self.run.best.mask]
        self._walk_from(
            known + [mask for _, _, mask in self.starts], budget, self.run.settings.effort.first_steps
        )

    def _search_on(self, budget: Budget) -> None:
        effort = self.run.settings.effort
        patient = self.shape.by_plurality and self.shape.is_timed
        known = [] if self.run.best.mask is None else [self.run.best.mask]
        self._walk_from(known + self._best_starts, budget, effort.patient_steps if patient else effort.steps)

    def _search_patiently(self, budget: Budget) -> None:
        """Go on for longer, five times as long where a clock ends the run and no proof is in sight."""
        known = [] if self.run.best.mask is None else [self.run.best.mask]
        steps = self.run.settings.effort.more_steps
        steps *= 5 if self.shape.is_timed and not self.shape.is_near else 1
        self._walk_from(known + self._best_starts, budget, steps)

    @property
    def _best_starts(self) -> list[Mask]:
        ranked = sorted(self.starts, key=lambda one: -one[1])
        return [mask for _, _, mask in ranked[: self.run.settings.effort.n_starts]]

    def _walk_from(self, starts: list[Mask], budget: Budget, steps: int) -> None:
        self.problem.search(budget, self.run.best.offer, starts, target=self._target, max_steps=steps)
        self.run.tell("searching")

    def _bound(self, budget: Budget) -> None:
        self.run.tell("bounding")
        self._known_cuts(budget)
        self.run.tell("bounding")

    def _known_cuts(self, budget: Budget) -> tuple[Conflicts, CutBound]:
        if self.conflicts is None:
            self.conflicts = find_conflicts(self.problem.rows, budget)
        if self.cut_bound is None:
            self._take_cuts(min_cut_bound(self.problem.rows, self.conflicts))
        assert self.cut_bound is not None, "it was taken"
        return self.conflicts, self.cut_bound

    def _bound_by_pairs(self, budget: Budget) -> None:
        """Bound all selections by what pairs of right rows ask of the members."""
        rows = self.problem.rows

        def on_bound(gain: int) -> None:
            self.run.best.lower_bound_to(rows.weighted_sum(gain), engines.PAIRS)
            self.run.tell("bounding")

        self.pair_bound = bound_by_pairs(
            rows, budget, target=self._target_gain, on_bound=on_bound, settings=self.run.settings.pairs
        )

    def _prove_by_pairs(self, budget: Budget) -> None:
        from shortlist.milp.backends.scip import Scip

        pairs = [] if self.pair_bound is None else self.pair_bound.pool
        nodes = None if budget.nodes is None else max(1, budget.nodes // self.run.settings.node_effort)
        built, last = self.problem.tight_program(pairs), self.run.last_limit
        self.solve(built, budget, nodes=nodes, prover=Scip(proof_only=True))
        if self.run.is_open:
            self.run.last_limit = last or self.run.last_limit

    def _walk_shortly(self, budget: Budget) -> None:
        settings = self.run.settings
        self._walk(budget, min(settings.short_walk_nodes, settings.walk_nodes))

    def _walk(self, budget: Budget, max_nodes: int | None = None) -> None:
        rows, best = self.problem.rows, self.run.best
        known = None if best.mask is None else (best.total - rows.offset) // rows.step
        walked = walk_subsets(
            rows,
            budget,
            above=known,
            max_nodes=self.run.settings.walk_nodes if max_nodes is None else max_nodes,
            on_nodes=lambda _: self.run.tell("full search"),
        )
        if walked.mask is not None:
            best.offer(walked.mask)
        if walked.complete:
            self.run.infeasible = best.mask is None
            if best.mask is not None:
                best.lower_bound_to(best.total, engines.WALK)
        self.run.tell("full search")

    def _tighten_quickly(self, budget: Budget) -> None:
        self._tighten(budget, quick=True)

    def _tighten(self, budget: Budget, *, quick: bool = False) -> None:
        def on_bound(gain: int) -> None:
            self.run.best.lower_bound_to(rows.weighted_sum(gain), engines.CUTS)
            self.run.tell("cutting")

        conflicts, known = self._known_cuts(budget)
        rows = self.problem.rows
        self._take_cuts(
            tighten_by_cuts(
                rows,
                conflicts,
                known,
                budget,
                max_rounds=self.run.settings.cut_rounds if budget.is_counted else None,
                target=self._target_gain,
                quick=quick,
                on_bound=on_bound,
                settings=self.run.settings.cuts,
            )
        )

    def _take_cuts(self, bound: CutBound) -> None:
        self.cut_bound = bound
        self.run.best.lower_bound_to(self.problem.rows.weighted_sum(bound.bound), engines.CUTS)

    def _prove_rest(self, budget: Budget) -> None:
        self.solve(self._tight_program(budget), budget)

    def _prove_quickly(self, budget: Budget) -> None:
        last, nodes = self.run.last_limit, self.run.settings.short_nodes
        self.solve(self._tight_program(budget), budget, nodes=min(nodes, budget.nodes or nodes))
        if self.run.is_open:
            self.run.last_limit = last

    def _tight_program(self, budget: Budget) -> SolverProgram:
        conflicts, known = self._known_cuts(budget)
        pairs = conflict_cuts(self.problem.rows, conflicts, self.run.settings.most_pairs)
        closer = () if self.pair_bound is None else self.pair_bound.pool
        return self.problem.tight_program([*known.pool, *pairs, *closer])

    def solve(
        self,
        built: SolverProgram,
        budget: Budget,
        *,
        nodes: int | None = None,
        prover: Solver | None = None,
    ) -> None:
        """Give a program to a solver, until it has proved the rest or the budget, or the nodes, end.

        `prover`: in place of CP-SAT.
        """
        best, asked = self.run.best, prover or self.run.solver
        who = self.run.solver_name or (engines.CP_SAT if prover is None else engines.SCIP)
        best.finder = who

        def on_bound(cost: float, bound: float) -> None:
            best.lower_bound_to(built.total_bound(bound, best.bound), who)
            self.run.tell("proving", total=built.total_of(cost))

        def opened(program: Program) -> Session:
            session = self._open(program, asked)
            session.set_start(None if best.mask is None else built.encode(best.mask, best.threshold))
            return session

        self.run.last_limit = budget.time_text
        for solution in solutions_until_kept(
            built.program, self.problem.n_classifiers, opened, budget, absolute_gap=built.absolute_gap,
            on_bound=on_bound, least_seconds=0.0 if self.run.solver else self.run.settings.least_solve_s,
            nodes=budget.nodes if nodes is None else nodes,
        ):  # fmt: skip
            self.run.infeasible, self.run.last_limit = (
                solution.status is Status.INFEASIBLE,
                limit_of(solution, budget),
            )
            self.run.infeasible_by = who
            if not self.run.infeasible:
                best.lower_bound_to(built.total_bound(solution.bound, best.bound), who)
            if solution.values is None:
                return
            kept = best.offer(built.members(solution.values, self.problem.n_classifiers)) is not None
            self.run.tell("proving")
            if kept or not self.run.goes_on(budget):
                return

    def _open(self, program: Program, asked: Solver | None) -> Session:
        """Load a program into the solver that is asked, or into the last one of the engine.

        That is CP-SAT's best-first tree on the objective's bound, measured on the paper's sets
        (docs/decisions/0008): it proves sooner than its usual strategies side by side, and lowers the bound
        where they do not. One thread where the answer must not depend on the clock, else a second one for
        selections.
        """
        budget = self.run.budget
        if asked is not None:
            return asked.open(program, seed=budget.seed, threads=budget.threads)
        from shortlist.milp.backends.cpsat import CpSat

        several = budget.threads > 1 and budget.nodes is None
        return CpSat(bound_tree=True).open(program, seed=budget.seed, threads=2 if several else 1)


def conflict_cuts(rows: RightRows, conflicts: Conflicts, most: int) -> list[Cut]:
    """Return conflicts as cuts, as many as the program gets."""
    alone = [make_cut(rows, (form,), (1,)) for form in conflicts.never.tolist()]
    return alone + [conflicts.cut(rows, i) for i in range(min(most, len(conflicts.pairs)))]
