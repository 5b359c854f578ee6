"""From probabilities and an objective to the members whose mean is best, with proof."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.ensembles.averaging._tangent_kernels import STEP, MeanTerms, worth_of_exchanges
from shortlist.ensembles.averaging.mean_problem import (
    MeanProblem,
    Tangents,
    mean_certificate,
    reach_of,
    scale_of,
    total_of,
)
from shortlist.ensembles.averaging.mean_tree import BRANCHES, MeanSettings, MeanTree
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.goals.mean_goals import MeanGoal
from shortlist.ensembles.goals.selection_limits import SelectionLimits
from shortlist.ensembles.proofs.incumbent import Incumbent, KeptBest
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.results.proof import Status
from shortlist.runs.budget import Budget

NOBODY = np.array([-1])

LEAST_RISE = 1e-10
"""Share of the worths by which an exchange must be better, so that rounding goes round in no circle."""

GUIDE = 16.0
"""Slope of the sigmoids that guide the search for right rows, which are often equal in number."""


@dataclass(frozen=True, kw_only=True)
class MeanEffort:
    """How long the search goes on."""

    kicks: int = 12
    """So many times in a row it begins anew beside the best selection, in vain, before it ends."""
    changed: int = 4
    """Classifiers that such a beginning changes."""
    most_rated: int = 100_000_000
    """Numbers read for a round of exchanges; where all would be more, only the best joiners are looked at."""


def search_means(
    problem: MeanProblem,
    offer: Callable[[Mask], int | None],
    budget: Budget,
    effort: MeanEffort | None = None,
) -> None:
    """Offer selections that are better and better, until kicks are in vain or the budget ends.

    `problem`: with at least one term. `offer`: receives selections, and returns their totals, None where they
    do not keep the limits. `budget`: its seed is that of the kicks.

    A round takes O(n_forms · n_members · n_classifiers) time.
    """
    effort = effort or MeanEffort()
    terms = problem.terms
    guides = [terms] if terms.kind != STEP else [_smooth(terms), terms]
    rng = np.random.default_rng(budget.seed)
    walk = _Walk(problem, offer, budget, effort)
    best = walk.grown(guides[0])
    if best is None:  # who joined first left nothing to pay the others with
        best = walk.cheapest()
    if best is None:
        return
    offer(best)
    for guide in guides:
        best = walk.improved(guide, best)
    total, in_vain = offer(best), 0
    while in_vain < effort.kicks and not budget.stopped:
        mask = walk.kicked(best, rng)
        for guide in guides:
            mask = walk.improved(guide, mask)
        found = offer(mask)
        in_vain += 1
        if found is not None and (total is None or found > total):
            best, total, in_vain = mask, found, 0


def improve_means(
    problem: MeanProblem, offer: Callable[[Mask], int | None], start: Mask, budget: Budget
) -> None:
    """Offer what exchanges with any classifier make of a selection, until none is better."""
    _Walk(problem, offer, budget, MeanEffort()).improved(problem.terms, start)


def first_selections(problem: MeanProblem) -> list[Mask]:
    """Return the full ensemble, the best classifier alone and the cheapest selection, rated at once.

    Takes O(n_forms · n_classifiers) time.
    """
    limits, n, terms = problem.limits, problem.n_classifiers, problem.terms
    costs = np.zeros(n, dtype=np.int64) if limits.costs is None else limits.costs
    alone, worths = np.flatnonzero(costs <= max(0, limits.budget)), np.zeros((1, 0))
    found = [np.ones(n, dtype=bool), np.zeros(n, dtype=bool)]
    found[1][np.argsort(costs, kind="stable")[: limits.min_size]] = True
    if len(alone) and len(terms.worth):
        worths = np.empty((1, len(alone)))
        nothing = np.zeros(terms.columns.shape[1])
        worth_of_exchanges(terms, terms.whole, nothing, NOBODY.astype(np.int64), alone, worths)
        found.append(np.arange(n) == alone[worths.argmax()])
    return found


def _smooth(terms: MeanTerms) -> MeanTerms:
    return terms._replace(kind=2, slope=GUIDE)


@dataclass(frozen=True, eq=False)
class _Walk:
    """Steps of the search within the limits."""

    problem: MeanProblem
    offer: Callable[[Mask], int | None]
    budget: Budget
    effort: MeanEffort

    def grown(self, guide: MeanTerms) -> Mask | None:
        """Let the best joiner join, one after the other; return the best of all sizes within the limits.

        Where the budget ends before there is one, those join who were best in the last round.
        """
        limits = self.problem.limits
        mask = np.zeros(self.problem.n_classifiers, dtype=bool)
        best, most = None, -np.inf
        joining = self._affordable(mask)
        while len(joining) and mask.sum() < limits.max_size:
            worths = self._rated(guide, mask, NOBODY, joining)[0]
            joining = joining[np.argsort(-worths, kind="stable")]
            mask[joining[0]] = True
            if worths.max() > most + LEAST_RISE * abs(most) and limits.satisfied_by(mask):
                best, most = mask.copy(), float(worths.max())
            if self.budget.stopped:
                return best if best is not None else self._filled(mask, joining[1:])
            joining = self._affordable(mask)
        return best

    def _filled(self, mask: Mask, order: NDArray[np.intp]) -> Mask | None:
        """Let the first of these join who can be paid, until there are enough; None if there never are."""
        mask = mask.copy()
        for one in order:
            if mask.sum() >= self.problem.limits.min_size:
                break
            mask[one] = one in self._affordable(mask)
        return mask if self.problem.limits.satisfied_by(mask) else None

    def cheapest(self) -> Mask | None:
        """Return the fewest and cheapest members, None where they cost too much."""
        limits = self.problem.limits
        costs = np.zeros(self.problem.n_classifiers) if limits.costs is None else limits.costs
        mask = np.zeros(self.problem.n_classifiers, dtype=bool)
        mask[np.argsort(costs, kind="stable")[: limits.min_size]] = True
        return mask if limits.satisfied_by(mask) else None

    def improved(self, guide: MeanTerms, mask: Mask) -> Mask:
        """Exchange members, or let one join or leave, as long as that is better and keeps the limits."""
        mask = mask.copy()
        now = total_of(guide, reach_of(guide, mask), int(mask.sum())) / scale_of(guide)
        while not self.budget.stopped:
            members, others = np.flatnonzero(mask), np.flatnonzero(~mask)
            if len(members) * len(others) * guide.columns.shape[1] > self.effort.most_rated:
                others = self._best_joiners(guide, mask, others)
            leaving, joining = np.append(members, NOBODY), np.append(others, NOBODY)
            worths = self._rated(guide, mask, leaving, joining)
            if len(members) == 1:
                worths[0, -1] = -np.inf  # nobody would be left
            least = now + LEAST_RISE * max(1.0, abs(now))
            moved = False
            better = np.flatnonzero(worths.ravel() > least)
            for place in better[np.argsort(-worths.ravel()[better], kind="stable")]:
                leaves, joins = divmod(int(place), len(joining))
                changed = mask.copy()
                if leaving[leaves] >= 0:
                    changed[leaving[leaves]] = False
                if joining[joins] >= 0:
                    changed[joining[joins]] = True
                if self.problem.limits.satisfied_by(changed):
                    mask, now, moved = changed, float(worths[leaves, joins]), True
                    break
            if not moved:
                break
            self.offer(mask)
        return mask

    def kicked(self, mask: Mask, rng: np.random.Generator) -> Mask:
        """Change some classifiers at random, within the limits if that can be done."""
        for _ in range(20):
            changed = mask.copy()
            flipped = rng.choice(len(mask), size=min(len(mask), self.effort.changed), replace=False)
            members = rng.choice(np.flatnonzero(mask), size=1)
            changed[flipped[: len(flipped) // 2]] ^= True
            changed[members] = False
            if self.problem.limits.satisfied_by(changed):
                return changed
        return mask

    def _affordable(self, mask: Mask) -> NDArray[np.intp]:
        costs = self.problem.limits.costs
        free = ~mask
        if costs is not None:
            free &= costs + costs[mask].sum() <= self.problem.limits.budget
        return np.flatnonzero(free)

    def _best_joiners(self, guide: MeanTerms, mask: Mask, others: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return so many of those that would join best as can be looked at."""
        worths = self._rated(guide, mask, NOBODY, others)[0]
        most = max(1, self.effort.most_rated // (guide.columns.shape[1] * max(1, int(mask.sum()))))
        return np.sort(others[np.argsort(-worths, kind="stable")[:most]])

    def _rated(
        self, guide: MeanTerms, mask: Mask, leaving: NDArray[np.intp], joining: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        worths = np.full((len(leaving), len(joining)), -np.inf)
        reach = reach_of(guide, mask).astype(np.float64)
        size = int(mask.sum())
        for leaves in (True, False):
            for joins in (True, False):
                rows, columns = (
                    np.flatnonzero((leaving >= 0) == leaves),
                    np.flatnonzero((joining >= 0) == joins),
                )
                after = size - leaves + joins
                if not (len(rows) and len(columns) and after):
                    continue
                part = np.empty((len(rows), len(columns)))
                worth_of_exchanges(
                    guide, after * guide.whole, reach, leaving[rows].astype(np.int64),
                    joining[columns].astype(np.int64), part,
                )  # fmt: skip
                worths[np.ix_(rows, columns)] = part
        return worths


TANGENTS = "tangents"
"""Whose a bound is that a certificate proves alone."""

EXCHANGES = "exchanges of members"
"""What the search is called."""

SEARCH_SHARE, FIRST_BOUND_SHARE = 0.3, 0.3
"""Parts of the time that is left: for the search, which usually ends sooner, and before it for the bound of a
large table, whose members are looked for among those that matter there.
"""

WHY_SMALL = "it proves means of members from the best that exchanges find", "decision 25"
WHY_LARGE = "a large table is bounded by few columns at a time", "decision 40"
"""Why this is asked, and what measured that."""


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

    OPTIMAL: no selection is better by more than the tolerance in the proof, which is less than a billionth of
    what a row may be worth (of Brier score with several classes: for each class); right rows are counted
    exactly. INFEASIBLE and UNKNOWN carry a reason and choose nothing.

    `limits`: size, of which at least one member is wanted, and cost. The latter is left out of bounds.
    `budget`: its limit in nodes is in those of the branch and bound. Default no limit. `effort`, `settings`:
    how long the search goes on, and how large the proof may become.

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

    def result(self) -> PrunedSelection:
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
                best.finder = EXCHANGES
                search_means(self.problem, self._offer, budget.share(SEARCH_SHARE), self.effort)
            best.finder = BRANCHES
            limit = tree.grow()
            cover = tree.complete_cover()
            if cover and limit:
                self._take_bound(cover)
        elif best.mask is not None:
            best.lower_bound_to(best.total, BRANCHES)
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

    def _search_among_few(self, tree: MeanTree) -> None:
        """Bound a large table, then look for members among those who matter for that bound."""
        for mask in first_selections(self.problem):
            self._offer(mask)
        self._tell("proving")
        tree.bound_all(self.budget.share(FIRST_BOUND_SHARE))
        self.best.finder = EXCHANGES
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
            search_means(among, offer, self.budget.share(SEARCH_SHARE), self.effort)
        if self.best.mask is not None:
            improve_means(self.problem, self._offer, self.best.mask, self.budget.share(SEARCH_SHARE))

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
        if self.budget.study.keeps:
            KeptBest(self.best, self.budget).keep()
        if self.best.record(self.budget.elapsed, every=self.settings.news_seconds):
            self.budget.tell(stage, value=self.best.value, bound=self.problem.value(self.best.bound))
