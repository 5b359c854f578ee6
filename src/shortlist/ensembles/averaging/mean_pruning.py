"""From probabilities and an objective to the members whose mean is best, with proof."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from shortlist.arrays import Mask
from shortlist.ensembles.averaging.mean_problem import MeanProblem, Tangents, mean_certificate, total_of
from shortlist.ensembles.averaging.mean_tree import BRANCHES, MeanSettings, MeanTree, affordable
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.goals.mean_goals import MeanGoal
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.proofs.incumbent import Incumbent, KeptBest
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget


def first_selections(problem: MeanProblem) -> list[Mask]:
    """Return the full ensemble, and the fewest members: the cheapest, and the best alone that can be paid.

    Takes O(n_terms · n_classifiers) time.
    """
    limits, n, terms = problem.limits, problem.n_classifiers, problem.terms
    alone = [total_of(terms, column.astype(np.int64), 1) for column in terms.columns]
    by_worth = np.argsort(-np.array(alone), kind="stable")
    by_cost = by_worth if limits.costs is None else np.argsort(limits.costs, kind="stable")
    fewest = [affordable(limits, n, order, limits.min_size) for order in (by_cost, by_worth)]
    return [np.ones(n, dtype=bool), *fewest]


TANGENTS = "tangents"
"""Name of what proves a bound that the certificate proves alone."""

FIRST_BOUND_SHARE = 0.3
"""Part of the time that is left for the first bound of a large table, whose members are then tried."""

WHY_SMALL = "tangents bound means of members", "decision 25"
WHY_LARGE = "a large table is bounded by few columns at a time", "decision 40"
"""Why this is asked, and what measured that."""


def prune_means(
    votes: SoftVotes,
    goal: MeanGoal,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    settings: MeanSettings | None = None,
) -> PrunedSelection:
    """Return the selection within limits whose mean probabilities are worth most, with proof.

    OPTIMAL: no selection is better by more than the tolerance in the proof, which is less than a billionth of
    what a row may be worth (of Brier score with several classes: for each class). INFEASIBLE and UNKNOWN
    carry a reason and choose nothing.

    `limits`: size, of which at least one member is wanted, and cost. The latter is left out of bounds.
    `budget`: its limit in nodes is in those of the branch and bound. Default no limit. `settings`: how large
    the proof may become.

    >>> from shortlist.ensembles.goals.mean_goals import mean_goal
    >>> from shortlist.ensembles.goals.selection_limits import selection_limits
    >>> from shortlist.ensembles.votes.soft_votes import soft_votes
    >>> votes = soft_votes([[[0.9, 0.1], [0.4, 0.6]], [[0.6, 0.4], [0.1, 0.9]]], [0, 1])
    >>> result = prune_means(votes, mean_goal("log-loss", votes), selection_limits(2))
    >>> result.mask.tolist(), str(result.status), round(result.value, 4)
    ([True, True], 'optimal', 0.4308)
    """
    budget = budget or Budget()
    problem = MeanProblem(votes, goal, dataclasses.replace(limits, min_size=max(1, limits.min_size)))
    best = Incumbent(problem)
    if conflict := problem.limits.conflict():
        return best.no_selection(Status.INFEASIBLE, limit="", seconds=budget.elapsed, reason=conflict)
    return _Pruning(problem, best, budget, settings or MeanSettings()).result()


@dataclass(frozen=True, eq=False)
class _Pruning:
    problem: MeanProblem
    best: Incumbent
    budget: Budget
    settings: MeanSettings

    def result(self) -> PrunedSelection:
        best, budget = self.best, self.budget
        tree = MeanTree(self.problem, best, budget, lambda: self._tell("proving"), self.settings)
        for mask in first_selections(self.problem):
            best.offer(mask)
        self._tell("proving")
        best.finder = BRANCHES
        if tree.is_large:
            self._offer_leaders(tree)
        limit = tree.grow()
        cover = tree.complete_cover()
        if cover and limit:
            self._take_bound(cover)
        if budget.study.keeps:
            self._end_in_study()
        if not best.bound_by:  # the bound that it began with
            best.lower_bound_to(best.bound, BRANCHES)
        if best.mask is None:
            status = Status.UNKNOWN if limit else Status.INFEASIBLE
            return best.no_selection(status, limit=limit, seconds=budget.elapsed)
        result = best.selection(limit="" if best.proved else limit, seconds=budget.elapsed)
        why, measured = WHY_LARGE if tree.is_large else WHY_SMALL
        result = dataclasses.replace(result, found_by=best.found_by, why=why, measured=measured)
        if not cover:
            return result
        certificate = mean_certificate(self.problem, result.mask, best.total, cover)
        certified = self.problem.value(max(certificate["bound"], best.total))
        proved_by = TANGENTS if certificate["bound"] <= best.bound else best.bound_by
        return dataclasses.replace(
            result, certificate=certificate, certified_bound=certified, proved_by=proved_by
        )

    def _end_in_study(self) -> None:
        """Take what an earlier run kept, and note the end where nothing is left to prove."""
        kept = KeptBest(self.best, self.budget)
        kept.take()
        if self.best.proved:
            kept.note_end()

    def _offer_leaders(self, tree: MeanTree) -> None:
        """Bound a large table, then try those who matter for that bound, size after size."""
        tree.bound_all(self.budget.share(FIRST_BOUND_SHARE))
        leaders, limits = tree.leaders, self.problem.limits
        for size in range(1, len(leaders) + 1):
            self.best.offer(affordable(limits, self.problem.n_classifiers, leaders, size))

    def _take_bound(self, cover: tuple[Tangents, ...]) -> None:
        """Claim what the tangents prove, where a limit came before that was claimed."""
        bound = max(self.problem.whole_bound(part.bound) for part in cover)
        if bound < self.best.bound:
            self.best.lower_bound_to(bound, TANGENTS)

    def _tell(self, stage: str) -> None:
        if self.budget.study.keeps:
            KeptBest(self.best, self.budget).keep()
        if self.best.record(self.budget.elapsed, every=self.settings.news_seconds):
            self.budget.tell(stage, value=self.best.value, bound=self.problem.value(self.best.bound))
