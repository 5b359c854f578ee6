"""Complete front of S(n, k): every stage assignment is accounted for, and ties are counted."""

import dataclasses
import functools

import numpy as np
from numpy.typing import NDArray

from shortlist._words import counted
from shortlist.arrays import Mask
from shortlist.multistage.problem.stages import (
    assignment_of_chain,
    completions,
    space_size,
)
from shortlist.multistage.search._evaluation import nondominated_rows
from shortlist.multistage.search._walk_kernels import UNSEEN, Space
from shortlist.multistage.search.stage_objectives import StageProblem, StageResult
from shortlist.multistage.search.walkers import (
    USUAL_WALK,
    FoundAssignments,
    Walker,
    WalkSettings,
    walk_tasks,
    walk_units,
)
from shortlist.multistage.subclassifiers.subclassifiers import subset_masks
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs import Budget, Progress
from shortlist.runs.workers import Where

FITS_SHARE = 0.5
"""Share of the time limit within which all classifiers of an enumeration must be fitted."""


def enumerate_front(
    problem: StageProblem,
    *,
    bounds: bool = True,
    known: NDArray[np.int64] | None = None,
    workers: Where = 1,
    budget: Budget | None = None,
    walk: WalkSettings = USUAL_WALK,
) -> StageResult:
    """Return every non-dominated objective vector of S(n, k), and the number of assignments with it.

    Solves Eq. 6 of :cite:t:`Hamilton2022` exactly. The search is depth-first over chains of growing feature
    sets, on decision bits. A chain without waiting rows is finished in closed form. With `bounds` a chain is
    also left when a known point dominates all continuations. Coverage and right answers are bounded by the
    union over all supersets, and cost by the purchases and the cheapest next step. Wrong answers are bounded
    by the wrong answers so far and the wrong answers of every superset. Bounds keep every tie, so the front
    and its counts are the same with and without bounds. Raises BadInputError if there are too many features.
    Raises FitsStoppedError if not all subsets are fitted in the first half of the time.

    `problem`: with at most 18 features, since every subset needs a classifier. `bounds`: leave out dominated
    chains; false: visit every chain. `known`: measures of known assignments, ``(n_known, n_measures)``;
    assignments dominated by known ones are left out, even if the walk does not end. `workers`: threads, or
    the address of a Dask scheduler. Workers of a cluster do not exchange their results, so they visit more
    chains; the front is the same. `budget`: limit and progress of the search. If the limit ends the search,
    the proof calls the front incomplete. The budget's study keeps the results of every thread, so a killed
    search continues to the same front. `walk`: memory of the walk, which changes no answer.
    """
    budget = budget or Budget()
    problem.decisions.subclassifiers.budget = budget.until(FITS_SHARE)
    space = _space(problem)
    k = problem.max_stages
    found = FoundAssignments(
        np.empty((0, problem.n_measures), dtype=np.int64),
        np.empty(0, dtype=np.int64),
        np.empty((0, max(1, k)), dtype=np.int64),
    )
    known = found.measures if known is None else known
    looked, done, tasks = 0, 0, _tasks(problem, 1)
    join = functools.partial(_nondominated, problem)
    # the front of fewer stages is the best start for the bounds of more
    for level in range(min(2, k), k + 1) if bounds else [k]:
        tasks = _tasks(problem, level)
        seeds = np.concatenate([known, found.measures])
        seeds = seeds[nondominated_rows(*problem.comparable(seeds))]
        make = functools.partial(Walker, problem, space, level, seeds, bounds=bounds, walk=walk)
        study = budget.study.part(f"at most {level} stages")
        part = _level(problem, level, budget)
        if isinstance(workers, str):
            finished = walk_units(
                make, tasks, _nondominated, part, workers=workers, study=study.part("tasks")
            )
        else:
            finished = walk_tasks(make(), tasks, join, part, workers=workers, study=study)
        looked += finished.looked
        done = finished.done if level == k else 0
        found = (
            finished.found
            if finished.done == len(tasks)
            else _nondominated(problem, [finished.found, found], np.maximum)
        )
        if finished.done < len(tasks):
            break
    proof = Proof(ProofKind.COMPLETE, missing=(0.0,) * len(problem.names))
    if done < len(tasks):
        proof = Proof(ProofKind.APPROXIMATE, n_unresolved=len(tasks) - done, limit=budget.limit_text)
    order = front_order(problem, found.measures)
    chains = [tuple(int(mask) for mask in chain if mask) for chain in found.chains[order]]
    assignments = [
        assignment_of_chain(chain, problem.n_features, removal=problem.removal) for chain in chains
    ]
    return StageResult(
        problem, np.array(assignments, dtype=np.int8).reshape(len(order), problem.n_features),
        found.measures[order], "enumerate", proof, budget.elapsed,
        {"n_tied": found.ties[order].tolist(), "n_looked": looked},
    )  # fmt: skip


def _level(problem: StageProblem, level: int, budget: Budget) -> Budget:
    """Return the budget of a walk; its progress gives the number of assignments accounted for."""
    n = space_size(problem.n_features + problem.removal, level + problem.removal)
    stage = f"walking {n:,} assignments to at most {counted(level, 'stage')}"

    def tell(progress: Progress) -> None:
        more = level < problem.max_stages
        budget.report(dataclasses.replace(progress, stage=stage, more_follows=more))

    return dataclasses.replace(budget, report=tell)


def _nondominated(
    problem: StageProblem, parts: list[FoundAssignments], join: np.ufunc = np.add
) -> FoundAssignments:
    """Join the results of several walkers, with one entry per non-dominated vector.

    Ties are added up. Of the chains with the same vector the least is kept; the empty chain, a single stage,
    comes last.
    """
    width = max(part.chains.shape[1] for part in parts)
    chains = np.concatenate([np.pad(p.chains, ((0, 0), (0, width - p.chains.shape[1]))) for p in parts])
    measures = np.concatenate([part.measures for part in parts])
    ties = np.concatenate([part.ties for part in parts])
    if not len(measures):
        return FoundAssignments(measures, ties, chains)
    vectors = problem.vectors(measures)
    order = np.lexsort((*chains.T[::-1], chains[:, 0] == 0, *vectors.T[::-1]))
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (vectors[order][1:] != vectors[order][:-1]).any(axis=1)
    starts = np.flatnonzero(fresh)
    summed = join.reduceat(ties[order], starts)
    first = order[starts]
    best = nondominated_rows(*problem.comparable(measures[first]))
    return FoundAssignments(measures[first][best], summed[best], chains[first][best])


def front_order(problem: StageProblem, measures: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices of points in a front's order.

    The points are sorted by the first objective, the best first; points equal in it by the second objective,
    and so on.
    """
    signs = np.array([objective.sign for objective in problem.objectives])
    return np.lexsort((problem.values(measures) * signs).T[::-1])


def _space(problem: StageProblem) -> Space:
    bits, prices = problem.decisions.every_subset(), problem.costs.table()
    sets = subset_masks(problem.n_features)
    calls = problem.call_prices(sets, problem.decisions.slots(sets))
    sets = np.concatenate([np.zeros_like(sets[:1]), sets])
    return space_of(problem, sets, bits, prices, np.concatenate([[0], calls]))


def space_of(
    problem: StageProblem,
    sets: Mask,
    bits: NDArray[np.uint64],
    prices: NDArray[np.int64],
    calls: NDArray[np.int64],
) -> Space:
    """Return the input of a walk, from the decision bits, prices and call prices of all sets by bit mask.

    `sets`, ``(2**n, n_features)``: features of each set. `bits`, ``(2**n, 2, n_words)``: bit masks of the
    confident rows, and of the confident and right ones; row 0, the empty set, is zero. `prices`, ``(2**n,)``:
    price of the features of a set for a row. `calls`, ``(2**n,)``: price of a call of its classifier.
    """
    n = len(prices).bit_length() - 1
    numbers = np.arange(1 << n)
    unions = bits.copy()
    for feature in range(n):
        absent = numbers[numbers >> feature & 1 == 0]
        unions[absent] |= unions[absent | 1 << feature]
    reach = np.zeros_like(bits)
    least = np.full(1 << n, UNSEEN, dtype=np.int64)
    for feature in range(n):
        absent = numbers[numbers >> feature & 1 == 0]
        above = absent | 1 << feature
        reach[absent] |= unions[above]
        least[absent] = np.minimum(least[absent], prices[above] - prices[absent])
    least[-1] = 0
    cheapest = calls.astype(np.int64)  # of a set and all that have more
    for feature in range(n):
        absent = numbers[numbers >> feature & 1 == 0]
        cheapest[absent] = np.minimum(cheapest[absent], cheapest[absent | 1 << feature])
    following = np.full(1 << n, UNSEEN, dtype=np.int64)
    for feature in range(n):
        absent = numbers[numbers >> feature & 1 == 0]
        following[absent] = np.minimum(following[absent], cheapest[absent | 1 << feature])
    following[-1] = 0
    bought, amounts, least_taken = _taken(problem, sets)
    calls = calls.astype(np.int64)
    taken = bought, amounts, least_taken, problem.of_paths
    return Space(bits, reach, prices, least, calls, following, *taken)


def _taken(problem: StageProblem, sets: Mask) -> tuple[Mask, NDArray[np.int64], NDArray[np.int64]]:
    """Return `bought`, `amounts` and `least_taken` of :class:`Space`."""
    costs = problem.costs
    attributes = problem.attributes
    if not attributes:
        none = np.zeros((len(sets), 0), dtype=np.int64)
        return none.astype(bool), none[:0], none
    amounts = np.stack([one.values for one in attributes], axis=1)
    takes = amounts.any(axis=1)
    bought = np.ascontiguousarray(costs.bought(sets)[:, takes])
    least = np.full((len(sets), len(attributes)), UNSEEN, dtype=np.int64)
    numbers = np.arange(len(sets))
    for item in range(len(sets).bit_length() - 1):
        absent = numbers[numbers >> item & 1 == 0]
        steps = np.stack([sets[absent], sets[absent | 1 << item]], axis=1)
        least[absent] = np.minimum(least[absent], costs.taken(steps, attributes)[:, 1])
    least[-1] = 0
    return bought, np.ascontiguousarray(amounts[takes]), least


def _tasks(problem: StageProblem, max_stages: int) -> list[NDArray[np.int64]]:
    """Split the first stages into tasks; the first stages with the most continuations come first."""
    n = problem.n_features
    behind = completions(n, max_stages)[:, max_stages - 1]
    sizes = np.array([int(mask).bit_count() for mask in range(1, 1 << n)])
    order = np.argsort(sizes, kind="stable") + 1
    work = np.cumsum(np.maximum(1, behind[n - sizes[order - 1]]).astype(float))
    # at most 256 tasks of about equal size; a single feature alone may be more than that
    cuts = np.searchsorted(work, np.arange(1, 256) * work[-1] / 256, side="left") + 1
    pieces = np.split(order, np.unique(cuts))
    return [piece for piece in pieces if len(piece)]
