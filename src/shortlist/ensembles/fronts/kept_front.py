"""What a study keeps of a front of committees: proofs of the best values, and committees that were found."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._words import counted
from shortlist.arrays import Mask
from shortlist.ensembles.fronts.front_claims import ValueBounds
from shortlist.ensembles.fronts.front_walk import Committee, WalkedFront
from shortlist.pareto.dominance import nondominated_unique
from shortlist.runs.budget import Budget
from shortlist.runs.studies.checkpoints import Checkpoint, KeptState
from shortlist.runs.studies.study import StageNote, Study

BOUND_UNIT, WALK_STAGE = "bounds", "walking committees"
"""What a study calls the proofs of the largest values, and the stage of the walks."""

PointOf: TypeAlias = Callable[[Mask, int], NDArray[np.int64]]
"""The objectives of members with a threshold, minimised, counted anew."""


def committee_arrays(committees: Sequence[Committee], n_classifiers: int) -> dict[str, NDArray[Any]]:
    """Return members and thresholds of committees, as a state holds them."""
    masks = np.array([one.mask for one in committees], dtype=bool)
    return {
        "members": masks.reshape(-1, n_classifiers),
        "thresholds": np.array([one.threshold for one in committees], dtype=np.int64),
    }


def kept_committees(state: KeptState, point_of: PointOf) -> list[Committee]:
    """Undo :func:`committee_arrays`, with points that are counted anew."""
    return [
        Committee(mask, threshold, point_of(mask, threshold))
        for mask, threshold in zip(state.arrays["members"], state.arrays["thresholds"].tolist(), strict=True)
    ]


def kept_bounds(
    budget: Budget, n_classifiers: int, point_of: PointOf, prove: Callable[[], ValueBounds]
) -> ValueBounds:
    """Return how good values can be, as a study knows it or as is proved now.

    Parameters
    ----------
    budget : Budget
        Whose study keeps proofs.
    n_classifiers : int
        Of the pool.
    point_of : callable
        Counts the objectives of a committee.
    prove : callable
        Proves it; what a cancellation cut short is not kept.
    """
    checkpoint = Checkpoint(BOUND_UNIT, budget.study)
    if (last := checkpoint.last()) is not None:
        found = kept_committees(last, point_of)
        return ValueBounds(last.arrays["highest"], tuple(last.facts["proved_by"]), found)
    bounds = prove()
    if not budget.cancellation.cancelled:
        facts = {"proved_by": list(bounds.proved_by)}
        arrays = {"highest": bounds.highest} | committee_arrays(bounds.found, n_classifiers)
        checkpoint.keep(lambda: KeptState(arrays, facts), now=True)
    return bounds


def note_end(walked: WalkedFront, units: Iterable[str], study: Study) -> None:
    """Tell a study how far a walk is; where it is over, nothing is left to go on from."""
    best = counted(len(walked.found), "point")
    study.tell(StageNote(WALK_STAGE, 1, int(walked.complete), int(not walked.complete), best))
    if walked.complete:
        study.drop(units)


def only_best(committees: Sequence[Committee]) -> list[Committee]:
    """Return those that no other dominates, of equal ones the first."""
    if not committees:
        return []
    kept = nondominated_unique(np.array([committee.point for committee in committees]))
    return [committees[i] for i in np.flatnonzero(kept).tolist()]
