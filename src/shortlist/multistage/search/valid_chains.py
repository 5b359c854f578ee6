"""The complete front where only some sets of columns may be bought: every chain of these is looked at."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.errors import BadInputError, FitsStoppedError
from shortlist.multistage.problem.purchase_rules import PurchaseRules
from shortlist.multistage.problem.stages import REMOVED
from shortlist.multistage.search._evaluation import nondominated_rows
from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.runs import Budget, Progress


class ChainLimits(NamedTuple):
    """How much a walk over valid stage assignments takes on."""

    most_sets: int = 4096
    """Up to this number of valid sets are listed; with more there are too many chains of them."""
    most_chains: int = 20_000_000
    """Most stage assignments that are looked at, which takes minutes."""
    batch: int = 20_000
    """Stage assignments that are measured at once."""


USUAL_LIMITS = ChainLimits()

Counted = tuple[NDArray[np.int8], NDArray[np.int64], NDArray[np.int64]]
"""Assignments, their measures, and how many assignments have the same objective vector."""


def n_valid_chains(
    rules: PurchaseRules,
    max_stages: int,
    *,
    removal: bool,
    limits: ChainLimits = USUAL_LIMITS,
    budget: Budget | None = None,
) -> int | None:
    """Return how many valid stage assignments there are; None where sets are too many or time too short.

    `removal`: whether a last stage may leave columns out; otherwise the last set holds all of them.
    """
    budget = budget or Budget()
    sets = rules.valid_sets(limits.most_sets, budget)
    return None if sets is None else _n_chains(sets, max_stages, budget, removal=removal)


def _n_chains(sets: Mask, max_stages: int, budget: Budget, *, removal: bool) -> int | None:
    """Return how many chains of these sets there are; None if the time ends first."""
    above, ends = _above(sets), _ends(sets, removal=removal)
    ways = ends.astype(object)
    for _ in range(max_stages - 1):
        longer = []
        for places in above:
            if budget.stopped:
                return None
            longer.append(ways[places].sum())
        ways = ends + np.array(longer, dtype=object)
    return int(ways.sum())


def walk_valid_chains(
    problem: StageProblem, rules: PurchaseRules, budget: Budget, limits: ChainLimits = USUAL_LIMITS
) -> tuple[Counted, int, bool]:
    """Measure every valid stage assignment.

    Raises BadInputError if there are too many valid sets or assignments.

    `found`, which it returns: assignments, measures and ties of the non-dominated objective vectors.
    `looked`, which it returns: assignments that were measured. `complete`, which it returns: whether these
    are all.
    """
    best: Counted = (
        np.empty((0, problem.n_features), dtype=np.int8),
        np.empty((0, problem.n_measures), dtype=np.int64),
        np.empty(0, dtype=np.int64),
    )
    sets = rules.valid_sets(limits.most_sets, budget)
    total = None
    if sets is not None:
        total = _n_chains(sets, problem.max_stages, budget, removal=problem.removal)
    if budget.stopped:
        return best, 0, False
    if sets is None or total is None or total > limits.most_chains:
        found = (
            f"more than {limits.most_sets:,} valid sets"
            if total is None
            else f"{total:,} valid stage assignments"
        )
        raise BadInputError(
            f"enumeration looks at each of at most {limits.most_chains:,} stage assignments, got "
            f"{found}. Use `method='windows'`, or fewer stages."
        )
    looked = 0
    for batch in _batches(sets, problem.max_stages, limits.batch, removal=problem.removal):
        if budget.stopped:
            return best, looked, False
        budget.report(Progress("walking stage assignments", looked, total))
        try:
            measures = problem.measures(batch)
        except FitsStoppedError:  # what was found before stands
            return best, looked, False
        best = _joined(problem, best, (batch, measures, np.ones(len(batch), dtype=np.int64)))
        looked += len(batch)
    return best, looked, True


def _above(sets: Mask) -> list[NDArray[np.int64]]:
    """Return for each set the places of those that hold it and more."""
    outside = (~sets).astype(np.float32)
    within = sets.astype(np.float32) @ outside.T == 0  # row within column
    np.fill_diagonal(within, val=False)
    return [np.flatnonzero(row) for row in within]


def _ends(sets: Mask, *, removal: bool) -> NDArray[np.int64]:
    return np.asarray(np.ones(len(sets)) if removal else sets.all(axis=1), dtype=np.int64)


def _batches(sets: Mask, max_stages: int, size: int, *, removal: bool) -> Iterator[NDArray[np.int8]]:
    above, ends = _above(sets), _ends(sets, removal=removal)
    waiting: list[NDArray[np.int8]] = []
    path: list[tuple[int, NDArray[np.int8]]] = [
        (place, np.where(sets[place], 0, REMOVED).astype(np.int8)) for place in reversed(range(len(sets)))
    ]
    while path:
        place, assignment = path.pop()
        if ends[place]:
            waiting.append(assignment)
            if len(waiting) == size:
                yield np.array(waiting)
                waiting = []
        stage = int(assignment.max()) + 1
        if stage < max_stages:
            path += [
                (
                    following,
                    np.where(sets[following] & (assignment == REMOVED), stage, assignment).astype(np.int8),
                )
                for following in reversed(above[place].tolist())
            ]
    if waiting:
        yield np.array(waiting)


def _joined(problem: StageProblem, first: Counted, second: Counted) -> Counted:
    """Keep one assignment per non-dominated vector, the earliest, and add up how many have it."""
    assignments = np.concatenate([first[0], second[0]])
    measures = np.concatenate([first[1], second[1]])
    ties = np.concatenate([first[2], second[2]])
    _, place, vector = np.unique(problem.vectors(measures), axis=0, return_index=True, return_inverse=True)
    counts = np.zeros(len(place), dtype=np.int64)
    np.add.at(counts, vector.ravel(), ties)
    order = np.argsort(place)
    place, counts = place[order], counts[order]
    best = nondominated_rows(*problem.comparable(measures[place]))
    return assignments[place][best], measures[place][best], counts[best]
