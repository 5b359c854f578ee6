"""From probabilities and an objective to the members whose mean is best, with proof."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from shortlist.arrays import Mask
from shortlist.ensembles.averaging.mean_problem import MeanProblem, Tangents, mean_certificate
from shortlist.ensembles.averaging.mean_search import (
    MeanEffort,
    first_selections,
    improve_means,
    search_means,
)
from shortlist.ensembles.averaging.mean_tree import BRANCHES, MeanSettings, MeanTree
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.goals.mean_goals import MeanGoal
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.proofs.incumbent import Incumbent, KeptBest
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget

TANGENTS = "tangents"
"""Whose a bound is that a certificate proves alone."""

SEARCH_SHARE = 0.3
"""Part of the time limit after which the search gives way; it usually ends sooner."""


def prune_means(
    votes: SoftVotes,
    goal: MeanGoal,
    limits: SelectionLimits,
    budget: Budget | None = None,
    *,
    effort: MeanEffort | None = None,
    settings: MeanSettings | None = None,
) -> PrunedSelection:
    """Return the selection within limits whose mean probabilities are worth most, with proof.

    Parameters
    ----------
    votes : SoftVotes
        Validation rows.
    goal : MeanGoal
        What is summed up.
    limits : SelectionLimits
        Size, of which at least one member is wanted, and cost. The latter is left out of bounds.
    budget : Budget, optional
        Its limit in nodes is in those of the branch and bound. Default no limit.
    effort, settings : optional
        How long the search goes on, and how large the proof may become.

    Returns
    -------
    ClassSelection
        OPTIMAL: no selection is better by more than the tolerance in the proof, which is less than a
        billionth of what a row may be worth (of Brier score with several classes: for each class); right rows
        are counted exactly. INFEASIBLE and UNKNOWN carry a
        reason and choose nothing.

    Examples
    --------
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
    return _Pruning(problem, best, budget, effort or MeanEffort(), settings or MeanSettings()).result()


@dataclass(frozen=True, eq=False)
class _Pruning:
    """One run: search, then branch and bound."""

    problem: MeanProblem
    best: Incumbent
    budget: Budget
    effort: MeanEffort
    settings: MeanSettings

    @property
    def kept(self) -> KeptBest:
        """What a study keeps of it."""
        return KeptBest(self.best, self.budget)

    def result(self) -> PrunedSelection:
        """Return what search and proof come to."""
        best, budget = self.best, self.budget
        tree = MeanTree(self.problem, best, budget, lambda: self._tell("proving"), self.settings)
        limit = ""
        cover: tuple[Tangents, ...] = ()
        if not tree.is_large:
            best.offer_simple_selections()
        if len(self.problem.terms.worth):
            if tree.is_large:
                self._search_among_few(tree)
            else:
                self._tell("searching")
                search_means(self.problem, self._offer, budget.until(SEARCH_SHARE), self.effort)
            limit = tree.grow()
            cover = tree.complete_cover()
            if cover and limit:
                self._take_bound(cover)
        elif best.mask is not None:
            best.lower_bound_to(best.total, BRANCHES)
        self.kept.take()
        if best.proved:
            self.kept.note_end()
        if not best.bound_by:  # the bound that it began with
            best.lower_bound_to(best.bound, BRANCHES)
        if best.mask is None:
            status = Status.UNKNOWN if limit else Status.INFEASIBLE
            return best.no_selection(status, limit=limit, seconds=budget.elapsed)
        result = best.selection(limit="" if best.proved else limit, seconds=budget.elapsed)
        if not cover:
            return result
        certificate = mean_certificate(self.problem, result.mask, best.total, cover)
        certified = self.problem.value(max(certificate["bound"], best.total))
        proved_by = TANGENTS if certificate["bound"] <= best.bound else best.bound_by
        return dataclasses.replace(
            result, certificate=certificate, certified_bound=certified, proved_by=proved_by
        )

    def _search_among_few(self, tree: MeanTree) -> None:
        """Bound a large table, then look for members among those who matter for that bound."""
        for mask in first_selections(self.problem):
            self._offer(mask)
        self._tell("proving")
        tree.bound_all()
        few = tree.leaders[: self.settings.most_searched]

        def offer(found: Mask) -> int | None:
            mask = np.zeros(self.problem.n_classifiers, dtype=bool)
            mask[few[found]] = True
            return self._offer(mask)

        for size in range(1, len(few) + 1):
            offer(np.arange(len(few)) < size)
        self._tell("searching")
        among = self.problem.of_classifiers(few)
        if len(few) and not among.limits.conflict():
            search_means(among, offer, self.budget.until(SEARCH_SHARE), self.effort)
        if self.best.mask is not None:
            improve_means(self.problem, self._offer, self.best.mask, self.budget.until(SEARCH_SHARE))

    def _take_bound(self, cover: tuple[Tangents, ...]) -> None:
        """Claim what the tangents prove, where a limit came before that was claimed."""
        bound = max(self.problem.whole_bound(part.bound) for part in cover)
        if bound < self.best.bound:
            self.best.lower_bound_to(bound, TANGENTS)

    def _offer(self, mask: Mask) -> int | None:
        total = self.best.offer(mask)
        self._tell("searching")
        return total

    def _tell(self, stage: str) -> None:
        """Note and report value and bound."""
        self.kept.keep()
        if self.best.record(self.budget.elapsed, every=self.settings.news_seconds):
            self.budget.tell(stage, value=self.best.value, bound=self.problem.value(self.best.bound))
