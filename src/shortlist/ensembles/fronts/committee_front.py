"""The front of committees that vote, or average probabilities: all that no other dominates, or some of them.

First it is proved how good each value can be at all, which lets the walks give up early. They go from small
committees to large ones, then from cheap ones to dear ones, larger than those that they have seen; what a
walk has passed is final. Where the first does not finish, a search adds good committees of other sizes,
which are not proved.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from shortlist._words import counted
from shortlist.arrays import Mask
from shortlist.ensembles.committees.evidence import PrunedSelection
from shortlist.ensembles.fronts.committee_problem import CommitteeProblem, FrontProblem, MeanFrontProblem
from shortlist.ensembles.fronts.front_claims import (
    LookedAt,
    ValueBounds,
    committee_arrays,
    kept_committees,
    only_best,
)
from shortlist.ensembles.fronts.front_walk import FoundCommittee, WalkedFront, walk_front
from shortlist.ensembles.fronts.mean_walk import walk_means
from shortlist.ensembles.goals.weights import ClassWeights, Weights
from shortlist.ensembles.pruning.mean_problem import SCALE, MeanProblem
from shortlist.ensembles.pruning.mean_pruning import prune_means
from shortlist.ensembles.pruning.pruning import prune_exactly
from shortlist.ensembles.pruning.tabu_search import search_selection
from shortlist.ensembles.votes.hard_votes import Votes
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Status
from shortlist.runs import NO_STUDY
from shortlist.runs.budget import Budget
from shortlist.runs.records import KeptState
from shortlist.runs.study import Checkpoint, StageNote

FEW_COMMITTEES = 2**16
"""Number up to which the full search is over before a proof has begun."""

SEARCHED_SIZES = (3, 5, 7, 9, 11, 15, 21, 31)
"""Largest sizes of the committees that are searched where the walk does not get there."""

SEARCH_STEPS = 2_000
"""Moves of the search for one largest size."""

SEARCH_TURN = 1 / 3
"""Part of the time left to the search that one largest size may take."""

MEAN_WALK = "full search of means"
"""Name of the walk in a study."""

BOUND_UNIT, WALK_STAGE = "bounds", "searching committees"
"""Names in a study of the proofs of the largest values, and of the stage of the walks."""

BOUNDS_END, SEARCHED_SHARE = 0.2, 0.15
"""Parts of the time limit: until the proofs of the best values end, and for the search."""


def committee_front(
    problem: CommitteeProblem | MeanFrontProblem,
    budget: Budget | None = None,
    *,
    names: Sequence[str] | None = None,
    max_nodes: int | None = None,
) -> Front:
    """Return the non-dominated committees, and their proof.

    COMPLETE where a full search ended. Else NONDOMINATED where every point is proved, or APPROXIMATE, with
    ``missing`` where that is known. ``extras["proved"]`` says of every point whether no committee dominates
    it, ``extras["thresholds"]`` has the thresholds of the votes, and ``extras["final_to"]`` up to what size
    or price every committee was looked at. Every point is counted from the votes.

    `problem`: what matters; see :func:`shortlist.ensembles.fronts.committee_problem.committee_problem`.
    `budget`: for all of it; default no limit. Its limit in nodes is that of the proofs of the largest values.
    `max_nodes`: nodes of each walk, which do not depend on the clock.

    Of votes there is one walk for each objective of members, which are tried by turns; with none, one walk
    through everything. Of means one walk goes size after size; where one loss and the size matter, the least
    loss is proved size by size. Losses are compared in parts of 2^32 a row, as this machine computes
    logarithms. With K classifiers there are up to C(K, m) committees of m members.

    >>> from shortlist.ensembles.fronts.committee_problem import committee_problem
    >>> from shortlist.ensembles.votes.hard_votes import merge_rows
    >>> votes = merge_rows([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0]], [1, 1, 1, 0])
    >>> front = committee_front(committee_problem(votes, ["max accuracy", "min size"]))
    >>> front.values.tolist(), str(front.proof.kind)
    ([[1.0, 2.0], [0.75, 1.0]], 'complete')
    """
    budget = budget or Budget()
    walk: Callable[..., tuple[WalkedFront, dict[int, int]]] = _walk_votes
    search: Callable[..., Iterable[FoundCommittee]] = _search_votes
    turns: Sequence[tuple[int | None, str, float]] = [(None, MEAN_WALK, 1 - SEARCHED_SHARE)]
    if isinstance(problem, CommitteeProblem):
        turns = _turns(problem)
    else:
        walk, search = _walk_means, _search_means
    budget.tell("bounding")
    bounds = _kept_bounds(problem, budget)
    known, final, walked, begin = list(bounds.found), dict[int, int](), None, BOUNDS_END
    for by, key, end in turns:
        is_first = walked is None
        walked, ended = walk(
            problem, by, known, bounds, final, budget=_from_now(budget, begin, end), max_nodes=max_nodes,
            on_nodes=lambda _, n_points: budget.tell("full search", value=n_points),
            checkpoint=Checkpoint(key, budget.study),
        )  # fmt: skip
        known, final = walked.found, final | ended
        if walked.complete or budget.stopped:
            break
        if is_first:
            known = only_best([*known, *search(problem, _from_now(budget, end, end + SEARCHED_SHARE))])
        begin = end + SEARCHED_SHARE * is_first
    assert walked is not None, "there is a turn at least"
    best = counted(len(walked.found), "point")
    budget.study.tell(StageNote(WALK_STAGE, 1, int(walked.complete), int(not walked.complete), best))
    if walked.complete:  # nothing is left to go on from
        budget.study.drop([BOUND_UNIT, *(key for _, key, _ in turns)])
    return LookedAt(problem, bounds, final, walked.complete, walked.nodes).front(known, budget, names)


def _from_now(budget: Budget, begin: float, end: float) -> Budget:
    """Return the budget of a step that was to take these parts of the time limit, of what is left by now."""
    return budget.share(min(1.0, (end - begin) / max(1e-9, 1 - begin)))


def _kept_bounds(problem: CommitteeProblem | MeanFrontProblem, budget: Budget) -> ValueBounds:
    """Return the bounds on the values, as a study knows them or as is proved now.

    What a cancellation cut short is not kept.
    """
    checkpoint = Checkpoint(BOUND_UNIT, budget.study)
    if (last := checkpoint.last()) is not None:
        found = kept_committees(last, problem)
        return ValueBounds(last.arrays["highest"], tuple(last.facts["proved_by"]), found)
    bounds = _bound_values(problem, budget.until(BOUNDS_END))
    if not budget.cancellation.cancelled:
        facts = {"proved_by": list(bounds.proved_by)}
        arrays = {"highest": bounds.highest} | committee_arrays(bounds.found, problem.n_classifiers)
        checkpoint.keep(lambda: KeptState(arrays, facts), now=True)
    return bounds


def _bound_values(problem: CommitteeProblem | MeanFrontProblem, budget: Budget) -> ValueBounds:
    """Prove how good each value can be, of two values of votes their sum too."""
    highest, proved_by, found = problem.highest(), list[str](), list[FoundCommittee]()
    if isinstance(problem, CommitteeProblem) and problem.n_committees <= FEW_COMMITTEES:
        return ValueBounds(highest, ("every row is right",) * problem.n_values, [])
    asked = _questions(problem)
    for place, (prune, unit, slack) in enumerate(asked):
        result = prune(budget.share(1 / (len(asked) - place)))
        proved_by.append("" if result.reason else result.proved_by)
        if not result.reason:
            highest[place] = min(highest[place], round(result.bound * unit) + slack)
            found += _every_threshold(problem, result.mask)
    highest[-1] = min(highest[-1], highest[:-1].sum())
    return ValueBounds(highest, tuple(proved_by), only_best(found))


def _questions(
    problem: CommitteeProblem | MeanFrontProblem,
) -> list[tuple[Callable[[Budget], PrunedSelection], int, int]]:
    """Return the prover of each value, the unit of its bound, and the tolerance on it."""
    if isinstance(problem, MeanFrontProblem):
        return [
            (
                partial(prune_means, value.votes, value.goal, problem.limits),
                -SCALE * value.goal.denominator,
                value.slack,
            )
            for value in problem.values
        ]
    asked = [problem.weights(value) for value in range(problem.n_values)]
    if problem.n_values == 2 and problem.gains.max() == 1:
        asked.append(_together(problem))
    return [
        (partial(prune_exactly, problem.votes, one, problem.limits), one.denominator, one.slack)
        for one in asked
    ]


def _together(problem: CommitteeProblem) -> Weights | ClassWeights:
    objective = Objective("sum", Sense.MAX, scale=None)
    gains = problem.gains.sum(axis=0)
    if isinstance(problem.votes, Votes):
        return Weights(objective, int(gains[1]), 0, int(gains[0]), 0, 1)
    return ClassWeights(objective, gains, 1)


def _every_threshold(problem: FrontProblem, mask: Mask) -> list[FoundCommittee]:
    if not problem.is_within(mask):
        return []
    thresholds = range(int(mask.sum()) + 1) if problem.has_threshold else range(1)
    return [FoundCommittee(mask, threshold, problem.point(mask, threshold)) for threshold in thresholds]


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


def _walk_votes(
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


def _search_votes(problem: CommitteeProblem, budget: Budget) -> Iterator[FoundCommittee]:
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


def _walk_means(
    problem: MeanFrontProblem, _by: None, known: Sequence[FoundCommittee], *_: Any, **effort: Any
) -> tuple[WalkedFront, dict[int, int]]:
    sizes = [price for price in range(len(problem.prices)) if problem.is_size(price)]
    by_size = problem.n_values == len(problem.prices) == len(sizes) == 1
    walked = (_prove_sizes if by_size else walk_means)(problem, starts=known, **effort)
    return walked, dict.fromkeys(sizes if walked.final_to >= problem.limits.min_size else (), walked.final_to)


def _prove_sizes(
    problem: MeanFrontProblem, budget: Budget, *, starts: Sequence[FoundCommittee], max_nodes: int | None,
    on_nodes: Callable[[int, int], None], checkpoint: Checkpoint,
) -> WalkedFront:  # fmt: skip
    """Prove the least loss of up to 1, 2, 3, ... members; the checkpoint keeps what is known."""
    last = checkpoint.last()
    known = only_best([*starts, *([] if last is None else kept_committees(last, problem))])
    largest, final_to = problem.limits.max_size, -1
    limited = budget if max_nodes is None else dataclasses.replace(budget, nodes=max_nodes)
    for most, found in _least_by_size(problem, problem.values[0], limited, 1.0):
        known = only_best([*known, FoundCommittee(found.mask, 0, problem.point(found.mask))])
        if found.status is not Status.OPTIMAL:
            break
        final_to = most if found.mask.sum() == most else largest  # more members are of no use
        checkpoint.keep(lambda: KeptState(committee_arrays(known, problem.n_classifiers), {}))  # noqa: B023
        on_nodes(final_to, len(known))
    return WalkedFront(known, final_to, complete=final_to == largest, nodes=max(0, final_to))


def _least_by_size(
    problem: MeanFrontProblem, value: MeanProblem, budget: Budget, part: float
) -> Iterator[tuple[int, PrunedSelection]]:
    """Yield the least loss of up to 1, 2, 3, ... members, until more members are of no use.

    `part`: of the time left, what each may take.
    """
    for most in range(problem.limits.min_size, problem.limits.max_size + 1):
        if budget.stopped:
            return
        sizes = dataclasses.replace(problem.limits, max_size=most)
        own = dataclasses.replace(budget.share(part), study=NO_STUDY)
        found = prune_means(value.votes, value.goal, sizes, own)
        if found.reason:
            return
        yield most, found
        if found.mask.sum() < most:
            return


def _search_means(problem: MeanFrontProblem, budget: Budget) -> Iterator[FoundCommittee]:
    for value in problem.values:
        for _, found in _least_by_size(problem, value, budget, SEARCH_TURN):
            budget.tell("searching")
            yield FoundCommittee(found.mask, 0, problem.point(found.mask))
