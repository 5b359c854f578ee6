"""Committees by the price that is paid for them, when members are asked one after the other.

What a set of members leaves open does not depend on the order in which they were asked. In committees of m
members that decide against a threshold L it does not depend on who else is a member either. So one pass over
all sets of members, for each m and L, finds the cheapest orders of all committees of m members at once: a
beginning costs what the cheapest beginning without its last member costs, and the price of that member for
each row that is open then.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask, Points
from shortlist.ensembles.committees.orders import cheapest_beginnings, open_rows, set_sums
from shortlist.ensembles.fronts.committee_problem import CommitteeProblem, FrontProblem, MeanFrontProblem
from shortlist.ensembles.fronts.front_claims import LookedAt, ValueBounds, only_best
from shortlist.ensembles.fronts.front_walk import FoundCommittee
from shortlist.ensembles.votes.hard_votes import Votes
from shortlist.errors import SolverError
from shortlist.pareto import nondominated_unique
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.runs.budget import Budget

MOST_VOTERS, MOST_AVERAGED = 20, 10
"""Number of candidates up to which every committee is looked at: by votes, and by means of probabilities."""

OTHERS_END = 0.4
"""Part of the time limit that the front by cost may take, which names the candidates of a larger pool."""


def paid_front(
    problem: CommitteeProblem | MeanFrontProblem,
    budget: Budget,
    names: Sequence[str] | None,
    front_by_cost: Callable[[Any, Budget], Front],
    *,
    most: int | None = None,
) -> Front:
    """Return the front of a problem in which the price that is paid matters.

    That price is no sum over members, so that no program minimises it. Of few candidates all committees are
    looked at. Of more, those that are most often in committees of the front by cost: then nothing is proved.

    `problem`: with the price that is paid among its objectives. `budget`: where it ends early, so does the
    proof. `front_by_cost`: looks for the front of the same problem with the price of asking all in its place.
    `most`: up to this many candidates every committee is looked at; default :data:`MOST_VOTERS`, and of means
    :data:`MOST_AVERAGED`.
    """
    n, known = problem.n_classifiers, list[FoundCommittee]()
    most = most or (MOST_AVERAGED if isinstance(problem, MeanFrontProblem) else MOST_VOTERS)
    candidates = np.arange(n)
    highest, proved_by = problem.highest(), ("every row is right",) * problem.n_values
    if n > most:
        front = front_by_cost(_by_cost(problem), budget.until(OTHERS_END))
        thresholds = front.extras["thresholds"] or [0] * len(front)
        masks = front.decisions.astype(bool)
        known = [_counted(problem, *one) for one in zip(masks, thresholds, strict=True)]
        alone = [int(_counted(problem, mask, 0).point[0]) for mask in np.eye(n, dtype=bool)]
        candidates = np.sort(np.lexsort([np.arange(n), alone, -masks.sum(axis=0)])[:most])
        facts = front.extras["bounds"]
        proved_by = tuple(one["proved_by"] for one in facts)
        for place, one in enumerate(facts):
            scale = problem.objectives[place].scale or 1
            highest[place] = round(scale * one.get("at_most", -one.get("at_least", 0)))
    if isinstance(problem, MeanFrontProblem):
        found, ended = _averaged_committees(problem, candidates, budget)
    else:
        found, ended = _voting_committees(problem, candidates, budget)
    looked = LookedAt(problem, ValueBounds(highest, proved_by, []), {}, ended and len(candidates) == n, 0)
    front = looked.front(only_best([*known, *found]), budget, names)
    return dataclasses.replace(front, extras={**front.extras, "n_candidates": len(candidates)})


def _by_cost(problem: FrontProblem) -> FrontProblem:
    """Return the problem with the price of asking all members in place of the price that is paid."""
    objectives, prices, budgets, paid = problem.objectives[:-1], problem.prices, problem.budgets, problem.paid
    assert paid is not None, "the price that is paid is an objective"
    if "cost" not in [one.name for one in objectives]:
        objectives = (*objectives, Objective("cost", Sense.MIN, scale=1))
        prices, budgets = np.vstack([prices, paid]), np.append(budgets, paid.sum())
    asked = np.arange(len(objectives))
    return dataclasses.replace(
        problem, objectives=objectives, prices=prices, budgets=budgets, paid=None, asked=asked
    )


def _counted(problem: FrontProblem, mask: Mask, threshold: int) -> FoundCommittee:
    return FoundCommittee(mask, threshold, problem.point(mask, threshold))


def _averaged_committees(
    problem: MeanFrontProblem, candidates: NDArray[np.intp], budget: Budget
) -> tuple[list[FoundCommittee], bool]:
    known, ended = list[FoundCommittee](), True
    for size in range(problem.limits.min_size, min(problem.limits.max_size, len(candidates)) + 1):
        for members in itertools.combinations(candidates.tolist(), size):
            ended = ended and not budget.stopped
            if ended or not known:  # one at least, however short the time
                mask = np.zeros(problem.n_classifiers, dtype=bool)
                mask[list(members)] = True
                known.append(_counted(problem, mask, 0))
        known = only_best(known)
        budget.tell("full search", value=len(known))
    return known, ended


def _voting_committees(
    problem: CommitteeProblem, candidates: NDArray[np.intp], budget: Budget
) -> tuple[list[FoundCommittee], bool]:
    """Return the best of all committees that vote, and whether all were looked at.

    Takes O(2^K · (n_rows + K · m²)) time and O(2^K · m) memory for K candidates and up to m members.
    """
    points = np.zeros((0, len(problem.objectives)), dtype=np.int64)
    sets, thresholds = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    for own, own_sets, threshold in _layers(problem, candidates, lambda: not budget.stopped):
        points = np.concatenate([points, own])
        kept = nondominated_unique(points)
        sets = np.concatenate([sets, own_sets])[kept]
        thresholds = np.concatenate([thresholds, np.full(len(own_sets), threshold)])[kept]
        points = points[kept]
        budget.tell("full search", value=len(points))
    known = []
    for chosen, threshold, point in zip(sets.tolist(), thresholds.tolist(), points, strict=True):
        mask = np.zeros(problem.n_classifiers, dtype=bool)
        mask[candidates[[bool(chosen >> k & 1) for k in range(len(candidates))]]] = True
        known.append(_counted(problem, mask, threshold))
        if (known[-1].point != point).any():
            raise SolverError("a committee was counted in two ways, which differ. Please report this.")
    if not known and budget.stopped:  # one at least, however short the time
        first = np.arange(problem.n_classifiers) < problem.limits.min_size
        known = [committee for committee in [_counted(problem, first, 0)] if problem.is_within(first)]
    return known, not budget.stopped


def _layers(
    problem: CommitteeProblem, candidates: NDArray[np.intp], goes_on: Callable[[], bool]
) -> Iterator[tuple[Points, NDArray[np.int64], int]]:
    """Yield, for each number of members and each threshold, points, sets of candidates and the threshold.

    Rows are counted with a threshold above every tally. What is missing there tells the votes of each row.
    """
    limits, paid, counts = problem.limits, problem.paid, problem.votes.counts
    assert paid is not None, "the price that is paid is an objective"
    most, by_threshold = min(limits.max_size, len(candidates)), isinstance(problem.votes, Votes)
    ballot = problem.ballot(most, most)
    counted = open_rows(
        ballot, ballot.added(problem.answers[:, candidates]), width=most + 2, counts=counts,
        labels=problem.votes.labels, apart=by_threshold, largest=most, on_block=goes_on,
    )  # fmt: skip
    if counted is None:
        return
    by_class, right = counted
    opened = by_class.sum(axis=1, dtype=np.int32)
    opened[0, 1:] = counts.sum()  # nothing is settled before a member has answered
    sizes = set_sums(np.ones(len(candidates), dtype=np.int64))
    prices = [set_sums(price) for price in problem.prices[:, candidates]]
    within = np.ones(len(sizes), dtype=bool)
    for price, budget in zip(prices, problem.budgets.tolist(), strict=True):
        within &= price <= budget
    for size in range(limits.min_size, most + 1):
        own = np.flatnonzero((sizes == size) & within)
        n_left = size - np.arange(size)
        for threshold in range(size + 1) if by_threshold else [0]:
            if not goes_on():
                return
            low, high = np.zeros(size, dtype=np.int64), n_left
            if by_threshold:  # open: no more than L positive votes, and more with all who are left
                low[1:] = most - threshold
                high = most + 1 - np.maximum(0, threshold + 1 - n_left)
                found = by_class[own, :, most - threshold].astype(np.int64)
                found[:, 0] = problem.class_sizes[0] - found[:, 0]
            else:
                found = right[own].astype(np.int64)
            least = np.full(len(sizes), np.iinfo(np.int64).max)
            least[0] = 0
            cheapest_beginnings(opened, sizes, low, high, paid[candidates], least)
            values = found @ problem.gains[:, : found.shape[1]].T
            yield np.column_stack([-values, *(price[own] for price in prices), least[own]]), own, threshold
