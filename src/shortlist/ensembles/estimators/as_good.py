"""Comparison of a front's committees with the best single classifier, by repeated choice."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.arrays import Floats, Mask
from shortlist.ensembles.fronts.committee_front import committee_front
from shortlist.ensembles.fronts.committee_problem import CommitteeProblem, MeanFrontProblem
from shortlist.ensembles.fronts.objectives import MEMBER_OBJECTIVES
from shortlist.ensembles.votes.hard_votes import (
    ClassVotes,
    Votes,
    class_votes,
    merge_class_rows,
    merge_rows,
)
from shortlist.ensembles.votes.soft_votes import SoftVotes
from shortlist.errors import BadInputError
from shortlist.results.front import Front
from shortlist.results.intervals import Difference, difference_of
from shortlist.results.picking import facts_beside_single
from shortlist.results.repeated_choice import choose_again, deal_parts, measured_rows
from shortlist.runs import NO_STUDY
from shortlist.runs.budget import Budget
from shortlist.tables.splits import Cases, RowNumbers

SAVED_ON = ("cost", "size")
"""Objectives in which a committee may save, in order of preference."""

QUICK_NODES, QUICK_MEAN_NODES, BOUND_NODES = 1_000_000, 2_000, 20
"""Limits in nodes for repeated choice: of a walk by votes, of a walk by means, and of a bound."""


def quick_front(
    problem: CommitteeProblem | MeanFrontProblem, budget: Budget, *, names: Sequence[str]
) -> Front:
    """Return the front that a search of few nodes finds; repeated choice needs many such fronts."""
    nodes = QUICK_MEAN_NODES if isinstance(problem, MeanFrontProblem) else QUICK_NODES
    limited = dataclasses.replace(budget, nodes=BOUND_NODES, study=NO_STUDY)
    return committee_front(problem, limited, names=names, max_nodes=nodes)


def saved_on(names: Sequence[str]) -> str:
    """Return the objective in which committees save: the cost if it is an objective, else the size."""
    return next(name for name in SAVED_ON if name in names)


def check_saved_on(names: Sequence[str]) -> None:
    """Refuse objectives unless exactly one is of answers and at least one is of members."""
    answers = [name for name in names if name not in MEMBER_OBJECTIVES]
    if len(answers) != 1 or len(names) < 2:
        raise BadInputError(
            "pick",
            "as-good needs one objective of answers, such as max accuracy, and one of members, such as "
            "min size",
            all_of(names),
            "Take other objectives, or another rule.",
        )


def best_within(front: Front, other: Front, point: int) -> int:
    """Return the index of the best point of `front` within the size and the cost of `point` of `other`.

    If `front` has no point within them, its point with the least cost is returned, or with the least size if
    cost is no objective. Both fronts have the same objectives, exactly one of them of answers.
    """
    own = [place for place, name in enumerate(front.names) if name in MEMBER_OBJECTIVES]
    answers = next(place for place, name in enumerate(front.names) if name not in MEMBER_OBJECTIVES)
    most = other.values[point, own] * (1 + 1e-9)
    within = np.flatnonzero((front.values[:, own] <= most).all(axis=1))
    if not len(within):
        return int(front.values[:, front.names.index(saved_on(front.names))].argmin())
    return int(within[(front.values[within, answers] * front.objectives[answers].sign).argmin()])


IsRight = Callable[[Mask, int | None], Mask]
"""Function from a mask of members and their threshold to the mask of rows that they decide right on record.
"""


@dataclasses.dataclass(frozen=True, eq=False)
class RecordedAnswers:
    """Recorded answers of a pool, and functions that build a front of committees on some of the rows."""

    names: Sequence[str]
    """Names of the classifiers."""
    truth: NDArray[np.integer[Any]]
    """Index of the class of every row, ``(n_rows,)``."""
    worth: Floats
    """Value of a right answer on each row, in the unit of the objective, ``(n_rows,)``."""
    is_right: IsRight
    votes_on: Callable[[RowNumbers], Votes | ClassVotes | SoftVotes]
    problem_of: Callable[[Any], CommitteeProblem | MeanFrontProblem]
    averages: bool
    """Whether means of probabilities decide, without a threshold; otherwise votes decide."""


def beside_single(
    answers: RecordedAnswers, front: Front, *, cases: Cases | None, seed: int, margin: float
) -> dict[str, Any]:
    """Return the gain of each point of a front over the best single classifier, as ``extras`` of the front.

    The rows are split into halves, several times. On one half a front and the best single classifier are
    chosen again; both answer the other half. For each point, the committee that answers is the best one of
    the new front with no more members and no higher cost than the point.

    Each split takes as long as two fronts of few nodes.

    `cases`: case of each row, ``(n_rows,)``. `seed`: seed of the splits. `margin`: largest loss against the
    single classifier that counts as equal.
    """
    is_right, worth, n = answers.is_right, answers.worth, len(answers.names)
    parts = deal_parts(answers.truth, seed, cases, n_candidates=n)
    each = np.eye(n, dtype=bool)
    alone = np.column_stack([is_right(mask, None if answers.averages else 0) for mask in each])

    def answer(kept: RowNumbers, held: RowNumbers) -> Mapping[str, NDArray[Any]]:
        problem = answers.problem_of(answers.votes_on(kept))
        again = quick_front(problem, Budget(seed=seed), names=answers.names)
        taken = [best_within(again, front, point) for point in range(len(front))]
        found = {point: points_right(again, is_right, point)[held] for point in set(taken)}
        single = best_of(worth[kept], alone[kept])
        return {"points": np.column_stack([found[point] for point in taken]), "single": alone[held, single]}

    told = choose_again(parts, answer)
    measured = np.tile(worth[measured_rows(parts)], len(parts))
    differences = [difference_of(own, told["single"], measured, times=len(parts)) for own in told["points"].T]
    single = best_of(worth, alone)
    for point, mask in enumerate(front.decisions.astype(bool)):
        if np.array_equal(mask, each[single]):  # it is no worse than itself
            differences[point] = Difference(0.0, (0.0, 0.0), 1.0)
    gains = [(one.gain, one.interval) for one in differences]
    return facts_beside_single(
        answers.names[single], saved_on(front.names), gains, margin, by_case=cases is not None
    )


def points_right(front: Front, is_right: IsRight, point: int) -> Mask:
    """Return the mask of rows that the committee of a point decides right, ``(n_rows,)``."""
    thresholds = front.extras["thresholds"]
    return is_right(front.decisions[point].astype(bool), None if thresholds is None else thresholds[point])


def best_of(worth: Floats, right: Mask) -> int:
    """Return the index of the column of `right` with the largest sum of `worth`, the first of equals."""
    return int(np.round(worth @ right, 9).argmax())


def votes_on_record(
    record: Mapping[str, NDArray[Any]],
    truth: NDArray[np.integer[Any]],
    kept: RowNumbers,
    n: int,
    *,
    n_classes: int,
    positive: int | None,
) -> Votes | ClassVotes | SoftVotes:
    """Return the votes of `n` classifiers on the rows `kept`, from their recorded answers.

    `truth`, ``(n_rows,)``: index of the class of every row. `positive`: index of the positive class.
    """
    if "shares" in record:
        silent = record.get("silent")
        quiet = None if silent is None else np.unpackbits(silent[kept], axis=1, count=n).astype(bool)
        return SoftVotes(record["shares"][kept], truth[kept].astype(np.uint8), quiet)
    if "packed_votes" in record:
        answers = np.unpackbits(record["packed_votes"][kept], axis=1, count=n)
        return merge_rows(answers, (truth[kept] == positive).astype(np.uint8))
    return merge_class_rows(class_votes(record["codes"][kept], truth[kept], n_classes=n_classes))
