"""The search for a front of committees, however they answer: bounds, walks, and a search where no walk gets.

First it is proved how good each value can be at all, which lets the searches give up early. What a search has
passed is final. Where the first does not finish, a search adds good committees of other sizes, which
are not proved. The proof says how far any committee can be ahead of the points that are there.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import counted
from shortlist.ensembles.fronts.front_claims import FrontProblem, LookedAt, ValueBounds
from shortlist.ensembles.fronts.front_walk import FoundCommittee, WalkedFront
from shortlist.pareto import nondominated_unique
from shortlist.results.front import Front
from shortlist.runs.budget import Budget
from shortlist.runs.studies.checkpoints import Checkpoint, KeptState
from shortlist.runs.studies.study import StageNote

BOUND_UNIT, WALK_STAGE = "bounds", "searching committees"
"""What a study calls the proofs of the largest values, and the stage of the walks."""

BOUNDS_END, SEARCHED_SHARE = 0.2, 0.15
"""Parts of the time limit: until the proofs of the best values end, and for the search."""


def find_front(
    problem: FrontProblem,
    budget: Budget,
    *,
    bound: Callable[[Budget], ValueBounds],
    turns: Sequence[tuple[int | None, str, float]],
    walk: Callable[..., tuple[WalkedFront, dict[int, int]]],
    search: Callable[[Budget], Iterable[FoundCommittee]],
    names: Sequence[str] | None,
    max_nodes: int | None,
) -> Front:
    """Return the committees that no other dominates, and what is proved of them.

    `bound`: proves how good values can be. `turns`: the objective of members that each walk goes by, what a
    study calls the walk, and the part of the time limit at which it ends. The search comes after the first.
    `walk`: takes what to go by, what is known, the bounds, and up to what walks were final before; returns
    what was walked, and up to what this walk was final. `search`: finds good committees, which are not
    proved. `max_nodes`: nodes of each walk.
    """
    budget.tell("bounding")
    bounds = _kept_bounds(problem, budget, bound)
    known, final, walked, begin = list(bounds.found), dict[int, int](), None, BOUNDS_END
    for by, key, end in turns:
        is_first = walked is None
        walked, ended = walk(
            by, known, bounds, final, budget=_from_now(budget, begin, end), max_nodes=max_nodes,
            on_nodes=lambda _, n_points: budget.tell("full search", value=n_points),
            checkpoint=Checkpoint(key, budget.study),
        )  # fmt: skip
        known, final = walked.found, final | ended
        if walked.complete or budget.stopped:
            break
        if is_first:
            known = only_best([*known, *search(_from_now(budget, end, end + SEARCHED_SHARE))])
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


def _kept_bounds(
    problem: FrontProblem, budget: Budget, bound: Callable[[Budget], ValueBounds]
) -> ValueBounds:
    """Return how good values can be, as a study knows it or as is proved now.

    What a cancellation cut short is not kept.
    """
    checkpoint = Checkpoint(BOUND_UNIT, budget.study)
    if (last := checkpoint.last()) is not None:
        found = kept_committees(last, problem)
        return ValueBounds(last.arrays["highest"], tuple(last.facts["proved_by"]), found)
    bounds = bound(budget.until(BOUNDS_END))
    if not budget.cancellation.cancelled:
        facts = {"proved_by": list(bounds.proved_by)}
        arrays = {"highest": bounds.highest} | committee_arrays(bounds.found, problem.n_classifiers)
        checkpoint.keep(lambda: KeptState(arrays, facts), now=True)
    return bounds


def committee_arrays(committees: Sequence[FoundCommittee], n_classifiers: int) -> dict[str, NDArray[Any]]:
    """Return members and thresholds of committees, as a state holds them."""
    masks = np.array([one.mask for one in committees], dtype=bool)
    return {
        "members": masks.reshape(-1, n_classifiers),
        "thresholds": np.array([one.threshold for one in committees], dtype=np.int64),
    }


def kept_committees(state: KeptState, problem: FrontProblem) -> list[FoundCommittee]:
    """Undo :func:`committee_arrays`, with points that are counted anew."""
    return [
        FoundCommittee(mask, threshold, problem.point(mask, threshold))
        for mask, threshold in zip(state.arrays["members"], state.arrays["thresholds"].tolist(), strict=True)
    ]


def only_best(committees: Sequence[FoundCommittee]) -> list[FoundCommittee]:
    """Return those that no other dominates, of equal ones the first."""
    if not committees:
        return []
    kept = nondominated_unique(np.array([committee.point for committee in committees]))
    return [committees[i] for i in np.flatnonzero(kept).tolist()]
