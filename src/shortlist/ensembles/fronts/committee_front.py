"""The front of an ensemble that votes: all committees that no other dominates, or some of them.

Exact pruning proves how large each value can be. The walk goes from small committees to large ones, then from
cheap ones to dear ones, larger than those that it has seen.
"""

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any

from shortlist.arrays import Mask
from shortlist.ensembles.fronts.committee_problem import CommitteeProblem
from shortlist.ensembles.fronts.front_claims import (
    BOUNDS_END,
    SEARCHED_SHARE,
    ValueBounds,
    find_front,
    only_best,
)
from shortlist.ensembles.fronts.front_walk import FoundCommittee, WalkedFront, walk_front
from shortlist.ensembles.fronts.paid_walk import paid_front
from shortlist.ensembles.goals.weights import ClassWeights, Weights
from shortlist.ensembles.pruning.pruning import prune_exactly
from shortlist.ensembles.pruning.tabu_search import search_selection
from shortlist.ensembles.votes.hard_votes import Votes
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.runs.budget import Budget

FEW_COMMITTEES = 2**16
"""Number up to which the full search is over before a proof has begun."""

SEARCHED_SIZES = (3, 5, 7, 9, 11, 15, 21, 31)
"""Largest sizes of the committees that are searched where the walk does not get there."""

SEARCH_STEPS = 2_000
"""Moves of such a search."""


def committee_front(
    problem: CommitteeProblem,
    budget: Budget | None = None,
    *,
    names: Sequence[str] | None = None,
    max_nodes: int | None = None,
) -> Front:
    """Return the committees that no other dominates, and what is proved of them.

    COMPLETE where a full search ended. Else NONDOMINATED where every point is proved, or APPROXIMATE, with
    ``missing`` where that is known. ``extras["proved"]`` says of every point whether no committee dominates
    it, ``extras["thresholds"]`` has the thresholds of the votes, and ``extras["final_to"]`` up to what size
    or price every committee was looked at. Every point is counted from the votes.

    `problem`: what matters; see :func:`shortlist.ensembles.fronts.committee_problem.committee_problem`.
    `budget`: for all of it; default no limit. Its limit in nodes is that of the proofs of the largest values.
    `max_nodes`: nodes of each walk, which do not depend on the clock.

    There is one walk for each objective of members, which are tried by turns; with none, one walk through
    everything. With K classifiers there are up to C(K, m) committees of m members.

    >>> from shortlist.ensembles.fronts.committee_problem import committee_problem
    >>> from shortlist.ensembles.votes.hard_votes import merge_rows
    >>> votes = merge_rows([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0]], [1, 1, 1, 0])
    >>> front = committee_front(committee_problem(votes, ["max accuracy", "min size"]))
    >>> front.values.tolist(), str(front.proof.kind)
    ([[1.0, 2.0], [0.75, 1.0]], 'complete')
    """
    budget = budget or Budget()
    if problem.paid is not None:
        return paid_front(
            problem, budget, names, lambda other, part: committee_front(other, part, max_nodes=max_nodes)
        )
    return find_front(
        problem, budget, bound=functools.partial(_bound_values, problem), turns=_turns(problem),
        walk=functools.partial(_walked, problem), search=functools.partial(_searched, problem),
        names=names, max_nodes=max_nodes,
    )  # fmt: skip


def _turns(problem: CommitteeProblem) -> list[tuple[int | None, str, float]]:
    n = len(problem.prices)
    width = (1 - SEARCHED_SHARE - BOUNDS_END) / max(1, n)
    if not n:
        return [(None, "walk", BOUNDS_END + width)]
    ordered = sorted(range(n), key=lambda price: not problem.is_size(price))
    return [
        (
            price,
            f"walk by {problem.objectives[problem.n_values + price].name}",
            BOUNDS_END + (turn + 1) * width + (SEARCHED_SHARE if turn else 0.0),
        )
        for turn, price in enumerate(ordered)
    ]


def _walked(
    problem: CommitteeProblem, by: int | None, known: Sequence[FoundCommittee], bounds: ValueBounds,
    final: dict[int, int], **effort: Any,
) -> tuple[WalkedFront, dict[int, int]]:  # fmt: skip
    """Walk through the committees that are larger than those of walks before."""
    passed = [final_to + 1 for price, final_to in final.items() if problem.is_size(price)]
    limits = dataclasses.replace(problem.limits, min_size=max(problem.limits.min_size, *passed, 0))
    walked = walk_front(
        dataclasses.replace(problem, limits=limits), starts=known, by=by, caps=bounds.highest, **effort
    )
    return walked, {} if by is None else {by: walked.final_to}


def _bound_values(problem: CommitteeProblem, budget: Budget) -> ValueBounds:
    highest, proved_by, found = problem.highest(), [], list[FoundCommittee]()
    if problem.n_committees <= FEW_COMMITTEES:
        return ValueBounds(highest, ("every row is right",) * problem.n_values, [])
    asked: list[tuple[int, Weights | ClassWeights]] = [
        (value, problem.weights(value)) for value in range(problem.n_values)
    ]
    if problem.n_values == 2 and problem.gains.max() == 1:
        asked.append((2, _together(problem)))
    for turn, (place, weights) in enumerate(asked):
        part = budget.share(1 / (len(asked) - turn))
        result = prune_exactly(problem.votes, weights, problem.limits, part)
        if result.reason:
            proved_by.append("")
            continue
        bound = round(result.bound * weights.denominator + weights.slack)
        highest[place] = min(highest[place], bound)
        proved_by.append(result.proved_by)
        found += _every_threshold(problem, result.mask)
    if problem.n_values == 1:
        highest[1] = highest[0]
    return ValueBounds(highest, tuple(proved_by), only_best(found))


def _together(problem: CommitteeProblem) -> Weights | ClassWeights:
    objective = Objective("sum", Sense.MAX, scale=None)
    gains = problem.gains.sum(axis=0)
    if isinstance(problem.votes, Votes):
        return Weights(objective, int(gains[1]), 0, int(gains[0]), 0, 1)
    return ClassWeights(objective, gains, 1)


def _every_threshold(problem: CommitteeProblem, mask: Mask) -> list[FoundCommittee]:
    if not problem.is_within(mask):
        return []
    thresholds = range(int(mask.sum()) + 1) if problem.has_threshold else range(1)
    return [FoundCommittee(mask, threshold, problem.point(mask, threshold)) for threshold in thresholds]


def _searched(problem: CommitteeProblem, budget: Budget) -> Iterator[FoundCommittee]:
    sizes = [size for size in SEARCHED_SIZES if size <= problem.limits.max_size]
    for size in dict.fromkeys([*sizes, problem.limits.max_size]):
        limits = dataclasses.replace(problem.limits, max_size=max(size, problem.limits.min_size))
        for value in range(problem.n_values):
            if budget.stopped:
                return
            budget.tell("searching")
            weights = problem.weights(value)
            found = search_selection(problem.votes, weights, limits, budget, max_steps=SEARCH_STEPS)
            if found is not None:
                yield from _every_threshold(problem, found.mask)
