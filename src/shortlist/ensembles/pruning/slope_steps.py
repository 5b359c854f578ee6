"""The steps that prove sums of sigmoids: a search for the value, then branch and bound, or a solver."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field

from shortlist.arrays import Mask
from shortlist.ensembles.committees.selections import PrunedSelection
from shortlist.ensembles.proofs.lines.slope_program import solve_slope_programs
from shortlist.ensembles.proofs.lines.slope_proof import Lines, prove_slope
from shortlist.ensembles.pruning.run import Run, Step
from shortlist.ensembles.pruning.slope_problem import SlopeProblem
from shortlist.runs.budget import Budget


@dataclass(eq=False)
class SlopeSteps:
    """The steps of one run, in order, and the lines that they leave."""

    run: Run
    problem: SlopeProblem
    cover: tuple[Lines, ...] = field(default=())

    @property
    def no_limit(self) -> str:
        """What ended the proof where no limit did: nothing does."""
        return ""

    def __iter__(self) -> Iterator[tuple[Step, Budget]]:
        """Yield the steps in order, each with its part of the budget."""
        self._tell("searching")
        yield self._search, self.run.budget.until(self.run.settings.slopes.search_share)
        self._prove()

    def certified(self, result: PrunedSelection) -> PrunedSelection:
        """Add the lines, which prove a bound before any classifier is decided."""
        if not self.cover:
            return result
        best = self.run.best
        certificate = self.problem.certificate(self.cover, result.mask, best.threshold, best.total)
        return dataclasses.replace(
            result,
            certificate=certificate,
            certified_bound=self.problem.value(certificate["bound"]),
            proved_by="lines" if certificate["bound"] == best.bound else best.bound_by,
        )

    def _search(self, budget: Budget) -> None:
        """Look for a good selection."""

        def offer(mask: Mask) -> int | None:
            total = self.run.best.offer(mask)
            self._tell("searching")
            return total

        self.problem.search(budget, offer, self.run.settings.slopes)

    def _prove(self) -> None:
        """Prove the rest, as far as the budget goes."""
        run, best = self.run, self.run.best

        def on_news() -> None:
            self._tell("proving")

        if run.solver is None:
            grown = prove_slope(
                self.problem.rows, best, run.budget, on_news=on_news, settings=run.settings.slopes
            )
            run.last_limit, self.cover = grown.limit, grown.cover
        else:
            run.last_limit = solve_slope_programs(
                self.problem.rows, best, run.solver, run.budget, solver_name=run.solver_name, on_news=on_news,
                settings=run.settings.slopes,
            )  # fmt: skip
            run.infeasible_by = run.solver.name
        run.infeasible = best.mask is None and not run.last_limit

    def _tell(self, stage: str) -> None:
        """Note and report value and bound; bounds fall without a pause."""
        self.run.tell(stage, every=self.run.settings.slopes.news_seconds)
