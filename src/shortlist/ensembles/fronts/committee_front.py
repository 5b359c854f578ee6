"""Front of committees that vote or average probabilities: all non-dominated committees, or some of them.

Exact pruning bounds each value over all committees. If probabilities are averaged, it is also asked for the
best committee within each of several limits on size and cost. Its answer is a point of the front, or bounds
the committees that may be missing. If votes decide, a full search by rising size proves more small committees
in the same time, and for several values at once. If the full search does not finish, a heuristic search adds
good committees of other sizes, without proof.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import counted
from shortlist.arrays import Mask
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.fronts.committee_problem import CommitteeProblem, MeanFrontProblem
from shortlist.ensembles.fronts.front_claims import (
    NONE_WITHIN,
    Limits,
    LookedAt,
    ProvedBounds,
    committee_arrays,
    kept_committees,
    only_best,
)
from shortlist.ensembles.fronts.front_walk import FoundCommittee, walk_front
from shortlist.ensembles.pruning.mean_problem import SCALE
from shortlist.ensembles.pruning.mean_pruning import prune_means
from shortlist.ensembles.pruning.pruning import prune_exactly
from shortlist.ensembles.pruning.tabu_search import search_selection
from shortlist.results.front import Front
from shortlist.results.proof import Status
from shortlist.runs import NO_STUDY
from shortlist.runs.budget import Budget
from shortlist.runs.records import KeptState
from shortlist.runs.study import Checkpoint, StageNote

FEW_COMMITTEES, FEW_MEANS = 2**16, 2**13
"""Number of committees up to which the full search of votes needs no bounds by exact pruning, and number up
to which committees with several losses are counted one by one.
"""

LARGER_SIZES = (3, 5, 7, 9, 11, 15, 21, 31)
"""Sizes that are searched if not all sizes can be; the largest allowed size is added."""

SEARCH_STEPS = 2_000
"""Number of moves of the heuristic search for one largest size."""

TURN = 1 / 3
"""Share of the time left that the question of one limit may take."""

LIMIT_UNIT, WALK_STAGE = "limits", "searching committees"
"""Names in a study: of the kept answers on limits, and of the stage of the search."""

BOUNDS_END, SEARCHED_SHARE = 0.2, 0.15
"""Shares of the time limit: the end of the proofs of the best values, and the length of the heuristic search.
"""


def committee_front(
    problem: CommitteeProblem | MeanFrontProblem,
    budget: Budget | None = None,
    *,
    names: Sequence[str] | None = None,
    max_nodes: int | None = None,
) -> Front:
    """Return the front of non-dominated committees, with its proof.

    The proof is COMPLETE if every limit was proved, or a full search ended. Otherwise it is NONDOMINATED if
    every point is proved, else APPROXIMATE; ``missing`` is then set if it is known. ``extras["proved"]``
    marks the points that are proved to be non-dominated. ``extras["thresholds"]`` has the thresholds of the
    votes. ``extras["final_to"]`` has the size or price up to which no committee is missing. Every point is
    counted from the answers.

    `problem`: answers and objectives, from
    :func:`shortlist.ensembles.fronts.committee_problem.committee_problem`. `budget`: limit on the whole
    search; default none. A limit in nodes is for each proof. `max_nodes`: limit in nodes, independent of the
    clock: of each full search if votes decide, of each proof of a limit if means decide.

    Losses are compared as integers in units of 2^-32 per row, with the logarithms of this machine. A front of
    two losses is complete for up to :data:`FEW_MEANS` committees. With K classifiers there are C(K, m)
    committees of m members.

    >>> from shortlist.ensembles.fronts.committee_problem import committee_problem
    >>> from shortlist.ensembles.votes.hard_votes import merge_rows
    >>> votes = merge_rows([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0]], [1, 1, 1, 0])
    >>> front = committee_front(committee_problem(votes, ["max accuracy", "min size"]))
    >>> front.values.tolist(), str(front.proof.kind)
    ([[1.0, 2.0], [0.75, 1.0]], 'complete')
    """
    search = _FrontSearch(problem, budget or Budget(), max_nodes)
    return search.run().front(search.known, search.budget, names)


class _FrontSearch:
    """Known committees and bounds, and the limits that were proved."""

    def __init__(
        self, problem: CommitteeProblem | MeanFrontProblem, budget: Budget, max_nodes: int | None
    ) -> None:
        self.problem, self.budget, self.max_nodes = problem, budget, max_nodes
        self.known: list[FoundCommittee] = []
        self.bounds, self.final = ProvedBounds(problem), dict[int, int]()
        self.prices = sorted(range(len(problem.prices)), key=lambda price: not problem.is_size(price))
        self.cost = next((price for price in self.prices if not problem.is_size(price)), None)
        self.walks: dict[str, int | None] = {} if self.prices else {"walk": None}
        for price in self.prices:
            self.walks[f"walk by {problem.objectives[problem.n_values + price].name}"] = price
        self.everything, self.nodes, self.is_cut = problem.everything, 0, False
        self._checkpoint = Checkpoint(LIMIT_UNIT, budget.study)
        if (last := self._checkpoint.last()) is not None:
            self.bounds = ProvedBounds.of_state(last, problem)
            self._learn(kept_committees(last, problem))

    def run(self) -> LookedAt:
        """Search until no committee can be missing, or the budget ends; return the proved parts."""
        problem, study = self.problem, self.budget.study
        self._learn(self._every_threshold(problem.cheapest()))
        self.budget.tell("bounding")
        if not (problem.n_values and problem.n_committees):
            complete = True  # nothing is smaller or costs less than the committee that is known, if any is
        elif isinstance(problem, CommitteeProblem):
            complete = self._walk(problem)
        elif problem.n_values > 1 and problem.n_committees <= FEW_MEANS:
            complete = self._count_every_one()
        else:
            self._bound_everything()
            complete = self._ask_limits()
        study.tell(
            StageNote(WALK_STAGE, 1, int(complete), int(not complete), counted(len(self.known), "point"))
        )
        if complete:  # nothing is left to go on from
            study.drop([LIMIT_UNIT, *self.walks])
            self.final = {price: problem.rising(price)[-1] for price in self.prices[:1]}
        is_cut = not complete and (self.is_cut or isinstance(problem, CommitteeProblem))
        return LookedAt(problem, self.bounds, self.final, complete, is_cut, self.nodes)

    def _learn(self, found: Iterable[FoundCommittee]) -> None:
        self.known = only_best([*self.known, *found])

    def _every_threshold(self, mask: Mask) -> list[FoundCommittee]:
        problem = self.problem
        if not problem.is_within(mask):
            return []
        size = int(mask.sum()) if problem.has_threshold else 0
        thresholds = sorted(range(size + 1), key=lambda one: abs(2 * one - size))  # of equals the middle one
        return [FoundCommittee(mask, threshold, problem.point(mask, threshold)) for threshold in thresholds]

    def _planned(self, begin: float, end: float) -> Budget:
        """Return the budget of a step planned from `begin` to `end`, as shares of the time limit.

        The budget is the same share of the time that is left.
        """
        return self.budget.share(min(1.0, (end - begin) / max(1e-9, 1 - begin)))

    def _bound_everything(self) -> None:
        """Bound each value over all committees; if votes decide, bound the sum of two values too."""
        places, budget = self.problem.bounded_values, self.budget.until(BOUNDS_END)
        for turn, place in enumerate(places):
            if not self.bounds.has(self.everything, place):
                self._ask(self.everything, place, budget.share(1 / (len(places) - turn)))

    def _walk(self, problem: CommitteeProblem) -> bool:
        """Search all committees by rising size, then by rising cost; return whether no committee is left."""
        if problem.n_committees > FEW_COMMITTEES:
            self._bound_everything()
        begin, width = BOUNDS_END, (1 - SEARCHED_SHARE - BOUNDS_END) / len(self.walks)
        for turn, (unit, by) in enumerate(self.walks.items()):
            passed = [to + 1 for price, to in self.final.items() if problem.is_size(price)]
            limits = dataclasses.replace(problem.limits, min_size=max(problem.limits.min_size, *passed, 0))
            walked = walk_front(
                dataclasses.replace(problem, limits=limits),
                self._planned(begin, begin + width), starts=self.known, by=by,
                caps=self.bounds.highest(problem.everything), max_nodes=self.max_nodes,
                on_nodes=lambda _, n_points: self.budget.tell("full search", value=n_points),
                checkpoint=Checkpoint(unit, self.budget.study),
            )  # fmt: skip
            self.known, self.nodes = walked.found, walked.nodes
            if by is not None:
                self.final[by] = walked.final_to
            if walked.complete or self.budget.stopped:
                return walked.complete
            begin += width
            if not turn:
                self._search(problem, self._planned(begin, begin + SEARCHED_SHARE))
                begin += SEARCHED_SHARE
        return False

    def _search(self, problem: CommitteeProblem, budget: Budget) -> None:
        """Search heuristically for good committees with more members than the full search reached."""
        sizes = [size for size in LARGER_SIZES if size <= problem.limits.max_size]
        for size in dict.fromkeys([*sizes, problem.limits.max_size]):
            limits = dataclasses.replace(problem.limits, max_size=max(size, problem.limits.min_size))
            for value in range(problem.n_values):
                if budget.stopped:
                    return
                budget.tell("searching")
                weights = problem.weights(value)
                found = search_selection(problem.votes, weights, limits, budget, max_steps=SEARCH_STEPS)
                if found is not None:
                    self._learn(self._every_threshold(found.mask))

    def _count_every_one(self) -> bool:
        """Count the objectives of all committees one by one; return whether no committee is left."""
        problem = self.problem
        for size in range(problem.limits.min_size, problem.limits.max_size + 1):
            found = list[FoundCommittee]()
            for members in itertools.combinations(range(problem.n_classifiers), size):
                if self.budget.stopped:
                    self.is_cut = True
                    return False
                mask = np.zeros(problem.n_classifiers, dtype=bool)
                mask[list(members)] = True
                found += self._every_threshold(mask)
            self._learn(found)
        return True

    def _ask_limits(self) -> bool:
        """Ask for the best committee within rising limits; return whether no committee can be missing.

        With several values the answer is always false, as the best committees by single values are not the
        whole front.
        """
        proved, several = False, self.problem.n_values > 1
        if self.cost is not None and self.problem.n_values == 1:
            # what a cost allows with any number of members bounds what it allows with few
            proved = self._settle(self.everything, 0)
        if proved and len(self.prices) == 1:
            return True
        for price in self.prices:
            # where size and cost matter, limits on the cost alone leave smaller committees out
            proved, rising = price == self.prices[0], self.problem.rising(price)
            by_size = self.problem.is_size(price)
            for upto in rising:
                few = by_size and not proved and not several
                left_out = few and upto not in (*LARGER_SIZES, rising[-1])
                if upto <= self.final.get(price, -1) or left_out:
                    continue
                if self.budget.stopped:
                    self.is_cut = True
                    return False
                most = self._limited(self.everything, price, upto)
                settled = [self._settle(most, value) for value in range(self.problem.n_values)]
                self.is_cut = self.is_cut or not all(settled)
                proved = proved and settled == [True]
                if proved:
                    self.final[price] = upto
            if proved:
                return True
        return False

    def _limited(self, most: Limits, price: int, upto: int) -> Limits:
        return (*most[:price], min(most[price], upto), *most[price + 1 :])

    def _settle(self, most: Limits, value: int) -> bool:
        """Prove the best value within limits; with a cost, also at each lower cost that is not final.

        Returns whether all of them are proved. With several values, only the best value within the limits is
        asked for.
        """
        while self._ask(most, value, self.budget.share(TURN)):
            if self.cost is None or self.problem.n_values > 1:
                return True
            points, best = self._points_within(most), self.bounds.within(most, value)
            as_good = points[-points[:, value] >= best]
            if not len(as_good):
                return True
            # the cheapest of these dominates everything that costs as much
            below = int(as_good[:, self.problem.n_values + self.cost].min()) - 1
            if below <= self.final.get(self.cost, -1):
                return True
            most = self._limited(most, self.cost, below)
        return False

    def _points_within(self, most: Limits) -> NDArray[np.int64]:
        n_known, n_objectives = len(self.known), len(self.problem.objectives)
        points = np.array([one.point for one in self.known], dtype=np.int64).reshape(n_known, n_objectives)
        return points[(points[:, self.problem.n_values :] <= np.array(most)).all(axis=1)]

    def _ask(self, most: Limits, value: int, budget: Budget) -> bool:
        """Ask for the best committee within limits, unless it is known; return whether it is known now."""
        if self._is_known(most, value):
            return True
        if self.budget.is_counted and self.bounds.has(most, value):
            return False  # it would be answered as before
        self.budget.tell("searching", value=len(self.known))
        found = self._pruned(most, value, budget)
        self._learn(self._every_threshold(found.mask))
        if self.budget.cancellation.cancelled:
            return False
        if found.status is Status.INFEASIBLE:
            self.bounds.add(most, value, NONE_WITHIN, found.proved_by)
        elif not found.reason:
            self.bounds.add(most, value, self._bound_of(found, value), found.proved_by)
        self._checkpoint.keep(self._state, now=most == self.everything)
        return self._is_known(most, value)

    def _is_known(self, most: Limits, value: int) -> bool:
        bound = self.bounds.within(most, value)
        if value == self.problem.n_values:
            return False
        return bound <= max((-self._points_within(most)[:, value]).tolist(), default=NONE_WITHIN)

    def _pruned(self, most: Limits, value: int, budget: Budget) -> Any:
        problem, limits = self.problem, self.problem.limits_within(most)
        budget = dataclasses.replace(budget, study=NO_STUDY)
        if isinstance(problem, CommitteeProblem):
            return prune_exactly(problem.votes, problem.weights(value), limits, budget)
        if self.max_nodes is not None:
            budget = dataclasses.replace(budget, nodes=self.max_nodes)
        loss = problem.values[value]
        return prune_means(loss.votes, loss.goal, limits, budget)

    def _bound_of(self, found: PrunedSelection, value: int) -> int:
        """Return the bound on a value that a selection proves, as an integer."""
        problem = self.problem
        if isinstance(problem, CommitteeProblem):
            weights = problem.weights(value)
            return round(found.bound * weights.denominator) + weights.slack
        if found.status is Status.OPTIMAL:
            return -int(problem.point(found.mask)[value])
        loss = problem.values[value]
        return round(found.bound * -SCALE * loss.goal.denominator) + loss.slack

    def _state(self) -> KeptState:
        arrays, facts = self.bounds.state()
        return KeptState(arrays | committee_arrays(self.known, self.problem.n_classifiers), facts)
