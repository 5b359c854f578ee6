"""The steps that prove weighted sums of decisions, of two classes and of several.

In order: the minimum cut of conflicts for a first bound; rules and tabu search for the value; with few
classifiers a walk over all selections, which ends the proof; combinatorial Benders cuts for a tighter bound;
and CP-SAT on the integer program with all cuts as clauses, from the selection. The last two take turns where
there is a time limit: the solver comes early where the gap is small, as it then often ends the proof, or
where there is no selection yet, and late where it is not, as the cuts then bring more; on large programs with
a large gap only when no more cuts are found.
"""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.proofs.conflicts import Conflicts, find_conflicts
from shortlist.ensembles.proofs.cut_bounds import min_cut_bound, tighten_by_cuts
from shortlist.ensembles.proofs.cuts import Cut, CutBound, make_cut
from shortlist.ensembles.proofs.pruning_program import without_selection
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.ensembles.proofs.subset_walk import count_selections, walk_subsets
from shortlist.ensembles.pruning.problems import PruningProblem, SolverProgram
from shortlist.ensembles.pruning.run import Run, Step
from shortlist.milp import Limits, Program, Session
from shortlist.milp.solution import Solution
from shortlist.milp.watch import OnBound
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
) -> Iterator[Solution]:
    """Yield what a solver answers, each time without the selection that it proposed before.

    Solvers keep rows with fractions up to a tolerance only, so that a proposal may miss a limit on cost or
    diversity. Whoever asks stops at a proposal that keeps them all. The last answer is the first one
    without a proposal, and there is none at all where fewer than `least_seconds` are left.

    `program`: its first columns are the classifiers. `n_classifiers`: how many these are. `opened`: loads a
    program into a solver, with what is known already. `absolute_gap`: costs that differ by no more are equal.
    `on_bound`: receives cost and bound as they get better. `least_seconds`: with less time than this no solve
    is begun.
    """
    while not budget.stopped and budget.left >= least_seconds:
        solution = opened(program).solve(
            Limits(budget.left, budget.nodes, absolute_gap=absolute_gap),
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


CUTS, WALK, CP_SAT = "cuts", "a walk over all selections", "CP-SAT"
"""Whose a bound is."""


@dataclass(eq=False)
class VoteSteps:
    """The steps of one run, in order, and what they know of each other."""

    run: Run
    problem: PruningProblem
    conflicts: Conflicts | None = None
    cut_bound: CutBound | None = None

    @property
    def no_limit(self) -> str:
        """What ended the proof where no limit did."""
        too_large = f"{self.run.settings.program_cells:,} votes in an integer program"
        return "precision" if self._has_program else too_large

    def certified(self, result: PrunedSelection) -> PrunedSelection:
        """Add what proves the bound of the cuts, or that every selection was looked at where they are few."""
        best, found = self.run.best, count_selections(self.problem.rows)
        walked = best.bound_by == WALK and found <= self.run.settings.few_selections
        # without a cut all gain is the bound, which a selection that is right everywhere meets at once
        no_cuts = CutBound(self.problem.rows.total_gain, (), np.zeros(0, dtype=np.int64), 1)
        proof = found if walked else self.cut_bound or no_cuts
        certificate = self.problem.certificate(proof, result.mask, best.threshold, best.total)
        certified = self.problem.value(certificate["bound"])
        return dataclasses.replace(result, certificate=certificate, certified_bound=certified)

    def __iter__(self) -> Iterator[tuple[Step, Budget]]:
        """Yield the steps in order, each with its part of the budget."""
        run, settings, rows = self.run, self.run.settings, self.problem.rows
        if run.solver is not None:
            self.solve(self.problem.plain_program(), run.budget)
            return
        run.best.lower_bound_to(self.problem.first_bound, CUTS)
        if count_selections(rows) <= settings.few_selections:
            self._walk(run.budget)
        if not run.is_open:
            return
        run.tell("bounding")
        self.conflicts = find_conflicts(rows, run.budget.until(settings.search_share))
        self._take_cuts(min_cut_bound(rows, self.conflicts))
        run.tell("searching")
        yield self._search, run.budget
        few = rows.n_classifiers <= settings.walk_classifiers
        if few or count_selections(rows) * rows.n_classifiers <= settings.walk_nodes:
            yield self._walk, run.budget.until(settings.walk_share)
        for step, share in self._turns():
            yield step, run.budget.until(share)

    def _turns(self) -> Iterator[tuple[Step, float]]:
        """Yield cuts and solver in turns, each with the part of the time limit at which it ends."""
        if not self._has_program:
            yield self._tighten, 1.0
            return
        turns = self.run.settings.turns
        *_, last_cuts, end = turns
        if self.run.budget.is_counted:
            yield self._tighten, last_cuts
            yield self._prove_rest, end
            return
        yield self._tighten_quickly, turns[1]
        early = self._is_near or self.run.best.mask is None
        steps = (self._prove_rest, self._tighten, self._prove_rest)
        yield from zip(steps, turns, strict=False) if early else ()
        yield self._tighten, last_cuts
        assert self.cut_bound is not None, "the run begins with a cut"
        large = self.problem.rows.signs.size > self.run.settings.far_cells
        if large and not (self._is_near or self.run.best.mask is None or self.cut_bound.exhausted):
            yield self._tighten, end
        yield self._prove_rest, end

    @property
    def _is_near(self) -> bool:
        """Whether few rows lie between value and bound."""
        rows = self.problem.rows
        if self.run.best.mask is None or not rows.n_rows:
            return False
        usual = int(np.median(rows.gains)) * rows.step
        return self.run.best.bound - self.run.best.total <= self.run.settings.near * usual

    @property
    def _has_program(self) -> bool:
        """Whether an integer program is small enough to be built."""
        return self.problem.rows.signs.size <= self.run.settings.program_cells

    def _search(self, budget: Budget) -> None:
        settings = self.run.settings
        share = settings.search_share if self._has_program else settings.long_search_share
        target = self.run.best.bound - self.problem.slack
        self.problem.search(budget.until(share), self.run.best.offer, target, settings.effort)
        self.run.tell("searching")

    def _walk(self, budget: Budget) -> None:
        rows, best = self.problem.rows, self.run.best
        known = None if best.mask is None else (best.total - rows.offset) // rows.step
        walked = walk_subsets(
            rows,
            budget,
            above=known,
            max_nodes=self.run.settings.walk_nodes,
            on_nodes=lambda _: self.run.tell("walking"),
        )
        if walked.mask is not None:
            best.offer(walked.mask)
        if walked.complete:
            self.run.infeasible = best.mask is None
            if best.mask is not None:
                best.lower_bound_to(best.total, WALK)
        self.run.tell("walking")

    def _tighten_quickly(self, budget: Budget) -> None:
        """Add cuts while they are found fast."""
        self._tighten(budget, quick=True)

    def _tighten(self, budget: Budget, *, quick: bool = False) -> None:
        """Add cuts while they help."""

        def on_bound(gain: int) -> None:
            self.run.best.lower_bound_to(rows.weighted_sum(gain), CUTS)
            self.run.tell("cutting")

        assert self.cut_bound is not None, "the run begins with a cut"
        assert self.conflicts is not None, "the run begins with conflicts"
        best, rows = self.run.best, self.problem.rows
        target = None
        if best.mask is not None:
            target = (best.total + self.problem.slack - rows.offset) // rows.step
        self._take_cuts(
            tighten_by_cuts(
                rows,
                self.conflicts,
                self.cut_bound,
                budget,
                max_rounds=self.run.settings.cut_rounds if budget.is_counted else None,
                target=target,
                quick=quick,
                on_bound=on_bound,
                settings=self.run.settings.cuts,
            )
        )

    def _take_cuts(self, bound: CutBound) -> None:
        """Keep cuts, for the certificate and for whoever goes on from them."""
        self.cut_bound = bound
        self.run.best.lower_bound_to(self.problem.rows.weighted_sum(bound.bound), CUTS)

    def _prove_rest(self, budget: Budget) -> None:
        """Give the program with all cuts to the last solver."""
        assert self.cut_bound is not None, "the run begins with a cut"
        assert self.conflicts is not None, "the run begins with conflicts"
        pairs = pair_cuts(self.problem.rows, self.conflicts, self.run.settings.most_pairs)
        self.solve(self.problem.tight_program([*self.cut_bound.pool, *pairs]), budget)

    def solve(self, built: SolverProgram, budget: Budget) -> None:
        """Give a program to a solver, until it has proved the rest or the budget ends."""
        best, who = self.run.best, CP_SAT if self.run.solver is None else self.run.solver_name

        def on_bound(cost: float, bound: float) -> None:
            best.lower_bound_to(built.total_bound(bound, best.bound), who)
            self.run.tell("proving", total=built.total_of(cost))

        def opened(program: Program) -> Session:
            session = self._open(program)
            session.set_start(None if best.mask is None else built.encode(best.mask, best.threshold))
            return session

        self.run.last_limit = budget.time_text
        for solution in solutions_until_kept(
            built.program, self.problem.n_classifiers, opened, budget, absolute_gap=built.absolute_gap,
            on_bound=on_bound, least_seconds=0.0 if self.run.solver else self.run.settings.least_solve_s,
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

    def _open(self, program: Program) -> Session:
        """Load a program into the solver that was asked for, or into the last one of the engine.

        That is CP-SAT's best-first tree on the objective's bound, measured on the paper's sets
        (docs/decisions/0008): it proves sooner than its usual strategies side by side, and lowers the bound
        where they do not. One thread where the answer must not depend on the clock, else a second one for
        selections.
        """
        budget = self.run.budget
        if self.run.solver is not None:
            return self.run.solver.open(program, seed=budget.seed, threads=budget.threads)
        from shortlist.milp.backends.cpsat import CpSat

        several = budget.threads > 1 and budget.nodes is None
        return CpSat(bound_tree=True).open(program, seed=budget.seed, threads=2 if several else 1)


def pair_cuts(rows: RightRows, conflicts: Conflicts, most: int) -> list[Cut]:
    """Return conflicts as cuts, as many as the program gets."""
    alone = [make_cut(rows, (form,), (1,)) for form in conflicts.never.tolist()]
    return alone + [conflicts.cut(rows, i) for i in range(min(most, len(conflicts.pairs)))]
