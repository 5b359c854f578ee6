"""The front of an ensemble: all committees that no other dominates, or some of them and what may be missing.

First exact pruning proves how large each value can be at all, which lets the walk give up early. The walk
goes from small committees to large ones, and from cheap ones to dear ones. What it has passed is final. Where
it does not come to an end, a search adds good committees of other sizes, which are not proved, and the proof
says how far any committee can be ahead of the points that are there.
"""

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from shortlist._words import counted
from shortlist.arrays import Mask
from shortlist.ensembles.fronts.committee_problem import CommitteeProblem
from shortlist.ensembles.fronts.front_claims import LookedAt, ValueBounds
from shortlist.ensembles.fronts.front_walk import Committee, WalkedFront, walk_front
from shortlist.ensembles.goals.class_weights import ClassWeights
from shortlist.ensembles.goals.weights import Weights
from shortlist.ensembles.pruning.pruning import prune_exactly
from shortlist.ensembles.search.tabu_search import search_selection
from shortlist.ensembles.votes.binary_votes import Votes
from shortlist.pareto.dominance import nondominated_unique
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.runs.budget import Budget
from shortlist.runs.studies.checkpoints import Checkpoint, KeptState
from shortlist.runs.studies.study import StageNote

CAPS_SHARE, WALK_SHARE = 0.2, 0.85
"""Parts of the time limit at which proofs of the largest values end, and walks."""

BOUND_UNIT, WALK_STAGE = "bounds", "walking committees"
"""What a study calls the proofs of the largest values, and the stage of the walks."""

FEW_COMMITTEES = 2**16
"""Up to so many the walk is over before a proof has begun."""

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

    Parameters
    ----------
    problem : CommitteeProblem
        What matters; see :func:`shortlist.ensembles.fronts.committee_problem.committee_problem`.
    budget : Budget, optional
        For all of it; default no limit. Its limit in nodes is that of the proofs of the largest values.
    names : sequence of str, optional
        What the classifiers are called; default their numbers.
    max_nodes : int, optional
        Nodes of each walk, which do not depend on the clock.

    Returns
    -------
    Front
        COMPLETE where a walk came to its end. Else NONDOMINATED where every point is proved, or APPROXIMATE,
        with ``missing`` where that is known. ``extras["proved"]`` says of every point whether no committee
        dominates it, ``extras["thresholds"]`` has the thresholds of the votes, and ``extras["final_to"]`` up
        to what size or price every committee was looked at. Every point is counted from the votes.

    Notes
    -----
    There is one walk for each objective of members, which are tried by turns; with none, one walk through
    everything. With K classifiers there are up to C(K, m) committees of m members.

    Examples
    --------
    >>> from shortlist.ensembles.fronts.committee_problem import committee_problem
    >>> from shortlist.ensembles.votes.binary_votes import merge_rows
    >>> votes = merge_rows([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0]], [1, 1, 1, 0])
    >>> front = committee_front(committee_problem(votes, ["max accuracy", "min size"]))
    >>> front.values.tolist(), str(front.proof.kind)
    ([[1.0, 2.0], [0.75, 1.0]], 'complete')
    """
    budget = budget or Budget()
    budget.tell("bounding")
    caps = _kept_bounds(problem, budget)
    known, final = list(caps.found), dict[int, int]()
    walked = None
    for by, share in _turns(problem):
        walked = walk_front(
            problem, budget.until(share), starts=known, by=by, caps=caps.highest, max_nodes=max_nodes,
            on_nodes=lambda _, n_points: budget.tell("walking", value=n_points),
            checkpoint=Checkpoint(_walk_key(problem, by), budget.study),
        )  # fmt: skip
        known = walked.found
        if by is not None:
            final[by] = walked.final_to
        if walked.complete or budget.stopped:
            break
    assert walked is not None, "there is a turn at least"
    _note_end(problem, walked, budget)
    if not walked.complete:
        known = _only_best([*known, *_searched(problem, budget)])
    looked = LookedAt(problem, caps, final, walked.complete, walked.nodes)
    numbers = [str(number) for number in range(problem.n_classifiers)]
    return looked.front(known, budget, numbers if names is None else list(names))


def _walk_key(problem: CommitteeProblem, by: int | None) -> str:
    """Return what a study calls a walk."""
    return "walk" if by is None else f"walk by {problem.objectives[problem.n_values + by].name}"


def _note_end(problem: CommitteeProblem, walked: WalkedFront, budget: Budget) -> None:
    """Tell a study how far the walk is; where it is over, nothing is left to go on from."""
    best = counted(len(walked.found), "point")
    budget.study.tell(StageNote(WALK_STAGE, 1, int(walked.complete), int(not walked.complete), best))
    if walked.complete:
        budget.study.drop([BOUND_UNIT, *(_walk_key(problem, by) for by, _ in _turns(problem))])


def _kept_bounds(problem: CommitteeProblem, budget: Budget) -> ValueBounds:
    """Return how large values can be, as a study knows it or as is proved now."""
    checkpoint = Checkpoint(BOUND_UNIT, budget.study)
    if (last := checkpoint.last()) is not None:
        found = [
            Committee(mask, threshold, problem.point(mask, threshold))
            for mask, threshold in zip(
                last.arrays["members"], last.arrays["thresholds"].tolist(), strict=True
            )
        ]
        return ValueBounds(last.arrays["highest"], tuple(last.facts["proved_by"]), found)
    bounds = _bound_values(problem, budget.until(CAPS_SHARE))
    if not budget.cancellation.cancelled:
        masks = np.array([one.mask for one in bounds.found], dtype=bool)
        state = KeptState(
            {
                "highest": bounds.highest,
                "members": masks.reshape(-1, problem.n_classifiers),
                "thresholds": np.array([one.threshold for one in bounds.found], dtype=np.int64),
            },
            {"proved_by": list(bounds.proved_by)},
        )
        checkpoint.keep(lambda: state, now=True)
    return bounds


def _turns(problem: CommitteeProblem) -> list[tuple[int | None, float]]:
    """Return what the walks go by, the size first, and when each ends."""
    n = len(problem.prices)
    if not n:
        return [(None, WALK_SHARE)]
    ordered = sorted(range(n), key=lambda price: not problem.is_size(price))
    width = (WALK_SHARE - CAPS_SHARE) / n
    return [(price, CAPS_SHARE + (turn + 1) * width) for turn, price in enumerate(ordered)]


def _bound_values(problem: CommitteeProblem, budget: Budget) -> ValueBounds:
    """Prove by exact pruning how large values can be, each for itself and two together."""
    highest, proved_by, found = problem.highest(), [], list[Committee]()
    if problem.n_committees <= FEW_COMMITTEES:
        return ValueBounds(highest, ("every row is right",) * problem.n_values, [])
    asked: list[tuple[int, Weights | ClassWeights]] = [
        (value, problem.weights(value)) for value in range(problem.n_values)
    ]
    if problem.n_values == 2 and problem.gains.max() == 1:
        asked.append((2, _together(problem)))
    for turn, (place, weights) in enumerate(asked):
        part = budget.until((turn + 1) / len(asked))
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
    return ValueBounds(highest, tuple(proved_by), _only_best(found))


def _together(problem: CommitteeProblem) -> Weights | ClassWeights:
    """Return two values as one, in whole numbers."""
    objective = Objective("sum", Sense.MAX, scale=None)
    gains = problem.gains.sum(axis=0)
    if isinstance(problem.votes, Votes):
        return Weights(objective, int(gains[1]), 0, int(gains[0]), 0, 1)
    return ClassWeights(objective, gains, 1)


def _every_threshold(problem: CommitteeProblem, mask: Mask) -> list[Committee]:
    """Return a selection with each threshold, as far as it keeps the limits."""
    if not problem.is_within(mask):
        return []
    thresholds = range(int(mask.sum()) + 1) if problem.has_threshold else range(1)
    return [Committee(mask, threshold, problem.point(mask, threshold)) for threshold in thresholds]


def _only_best(committees: Sequence[Committee]) -> list[Committee]:
    """Return those that no other dominates, of equal ones the first."""
    if not committees:
        return []
    kept = nondominated_unique(np.array([committee.point for committee in committees]))
    return [committees[i] for i in np.flatnonzero(kept).tolist()]


def _searched(problem: CommitteeProblem, budget: Budget) -> Iterator[Committee]:
    """Look for good committees of many sizes, which proves nothing."""
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
