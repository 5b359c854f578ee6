"""The search for stages: engines one after the other, each going on from what those before it have found."""

import dataclasses
import math
import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.errors import FitsStoppedError
from shortlist.multistage.engines import ENUMERATE, EVOLUTION, WINDOWS, plan_for
from shortlist.multistage.problem.stages import acquired
from shortlist.multistage.search._evaluation import nondominated_rows
from shortlist.multistage.search.emsco import ELITE_FILLS, EmscoOptions, emsco
from shortlist.multistage.search.enumeration import enumerate_front, front_order
from shortlist.multistage.search.stage_objectives import StageProblem, StageResult
from shortlist.multistage.subclassifiers.decision_bits import DecisionBits
from shortlist.multistage.subclassifiers.subclassifiers import StageRows, Subclassifiers, rows_in_folds
from shortlist.multistage.windows.climbing import StageArchive, WindowOptions
from shortlist.multistage.windows.window_search import search_windows
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs import Budget
from shortlist.runs.workers import Where
from shortlist.tables.splits import cut_classes


def sampled_rows(rows: StageRows, most: int | None, seed: int) -> StageRows:
    """Return at most `most` of the rows that fit and of the validation rows, drawn at random by class."""
    if most is None or max(len(rows.fit_labels), len(rows.validation_labels)) <= most:
        return rows
    rng = np.random.default_rng(seed)
    if rows.fold_of is not None:
        some = _sample(rows.fit_labels, most, rng)
        given = rows.fit_rows[some], rows.fit_labels[some], rows.fold_of[some]
        return rows_in_folds(rows.encoding, *given, rows.n_classes)
    fit, held = (_sample(labels, most, rng) for labels in (rows.fit_labels, rows.validation_labels))
    return dataclasses.replace(
        rows,
        fit_rows=rows.fit_rows[fit],
        fit_labels=rows.fit_labels[fit],
        validation_rows=rows.validation_rows[held],
        validation_labels=rows.validation_labels[held],
    )


def _sample(labels: NDArray[np.int64], most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return numbers of at most `most` rows, of each class its share, and one at least."""
    share = min(1.0, most / len(labels))
    taken, _ = cut_classes(labels, lambda n: [max(1, math.floor(share * n))], rng)
    return taken


def n_subsets(assignments: NDArray[np.int8]) -> int:
    """Count the feature subsets that some assignments use."""
    masks = acquired(assignments, int(assignments.max(initial=0)) + 1)
    return len(np.unique(masks.reshape(-1, masks.shape[2]), axis=0))


def refined_front(
    problem: StageProblem, own: Subclassifiers, found: Front
) -> tuple[StageProblem, Front, str]:
    """Fit the classifier of every subset that the points of a front use, and measure these anew.

    `own`: what fits and validates as it is meant: on all rows, a classifier for each subset. `found`: what
    was found; its method, its seconds, its limit and its extras are taken over, without ``n_tied``.
    `problem`, which it returns: the same with `own`. `front`, which it returns: those points that no other of
    them dominates, the first of equals. Nothing is proved about it: what the search thought little of was not
    measured. ``extras["n_searched_points"]`` counts the points that were found, and
    ``extras["largest_change"]`` says by how much each objective of one of them changed. `changed`, which it
    returns: the latter, for people.
    """
    refined = dataclasses.replace(problem, decisions=DecisionBits(own, problem.decisions.rule))
    assignments = found.decisions.astype(np.int8)
    measures = refined.measures(assignments)
    changes = np.abs(refined.values(measures) - found.values).max(axis=0)
    _, first = np.unique(refined.vectors(measures), axis=0, return_index=True)
    first = np.sort(first)
    best = first[nondominated_rows(*refined.comparable(measures[first]))]
    largest = dict(zip(refined.names, changes.tolist(), strict=True))
    # ties are of all that were found
    how = {name: fact for name, fact in found.extras.items() if name != "n_tied"}
    facts = how | {"n_searched_points": len(assignments), "largest_change": largest}
    front = refined.front(
        assignments[best], measures[best], Proof(ProofKind.APPROXIMATE, limit=found.proof.limit),
        method=found.method, seconds=found.seconds, extras=facts,
    )  # fmt: skip
    words = [f"{name} by up to {change:.2g}" for name, change in largest.items()]
    return refined, front, all_of(words)


STAGE_METHODS = ("auto", EVOLUTION, ENUMERATE, WINDOWS)

FEW_FITS = WindowOptions(width=5, n_new=3, n_weightings=4, tries=1, kicks=0)
"""How ``auto`` searches windows where a fit takes long.

On made tables of 10, 12 and 20 features that took 74, 101 and 437 fits in place of 844, 2,309 and 7,309. The
best sum was the same twice, and .022 lower once.
"""

WALK_SHARE = 0.9
"""Part of the time that is left after which an enumeration gives way to evolution."""
GENERATIONS = 500
"""Of evolution that no clock ends."""
LEAST_POPULATION = 300
"""Individuals of evolution that goes on from a front; at least twice as many as the front has points."""

UNFITTED = (
    "the front could not be enumerated: not all subsets of the features were fitted in their part of "
    "{limit}. Allow more time, or use fewer features."
)


class FoundStages(NamedTuple):
    """What a method found, and what to know of how it was found, in sentences."""

    result: StageResult
    doubts: tuple[str, ...]


def search_stages(
    problem: StageProblem,
    method: str,
    *,
    emsco_options: EmscoOptions | None,
    enumeration_budget: int,
    workers: Where,
    budget: Budget,
) -> FoundStages:
    """Search by a method, or by the engines of a plan.

    Raises FitsStoppedError if the search was cancelled before there was an answer.

    `method`: one of :data:`STAGE_METHODS`. ``"auto"`` takes the first of
    :data:`shortlist.multistage.engines.PLANS` that fits; the fact ``why`` says which and why. An enumeration
    that has a time limit begins with windows, so that there is an answer whatever the time.
    `emsco_options`: of the method ``"emsco"``. `enumeration_budget`: most stage assignments that ``"auto"``
    enumerates. `workers`: threads that enumerate, or the address of a Dask scheduler.
    """
    timed = not budget.is_counted
    engines: tuple[str, ...] = (WINDOWS, ENUMERATE) if method == ENUMERATE and timed else (method,)
    why = f"asked for {method}"
    if method == "auto":
        plan = plan_for(problem, enumeration_budget, budget)
        engines, why = plan.engines, plan.why
    quick = problem.decisions.subclassifiers.fits_are_quick
    options = FEW_FITS if method == "auto" and not quick else None
    found: StageResult | None = None
    unfitted = False
    for place, engine in enumerate(engines):
        if found is not None and (budget.stopped or found.proof.kind is ProofKind.COMPLETE):
            break
        is_last = place == len(engines) - 1
        try:
            if engine == WINDOWS:
                after = search_windows(problem, options, budget=budget)
            elif engine == ENUMERATE:
                part = budget.share(1.0 if is_last else WALK_SHARE)
                known = None if found is None else found.measures
                after = enumerate_front(problem, known=known, workers=workers or 1, budget=part)
            elif found is None:
                after = emsco(problem, emsco_options, budget=budget)
            else:
                after = _evolved(problem, found, sys.maxsize if timed else GENERATIONS, budget)
        except FitsStoppedError:
            if budget.cancellation.cancelled and found is None:
                raise
            unfitted = not budget.cancellation.cancelled
            continue
        found = after if found is None else joined(found, after)
    found = search_windows(problem, options, budget=budget) if found is None else found
    unfitted &= found.proof.kind is not ProofKind.COMPLETE
    doubts = (UNFITTED.format(limit=budget.time_text),) if unfitted else ()
    return FoundStages(dataclasses.replace(found, facts={**found.facts, "why": why}), doubts)


def _evolved(problem: StageProblem, found: StageResult, n_generations: int, budget: Budget) -> StageResult:
    """Go on from a front by evolution, with more individuals whenever the front fills the population."""
    start, population = found.assignments, 0
    while True:
        population = max(LEAST_POPULATION, 2 * population, 2 * len(start))
        options = EmscoOptions(population=population, generations=n_generations, patience=None)
        part = dataclasses.replace(budget, study=budget.study.part(f"of {population}"))
        after = emsco(problem, options, start=start, budget=part)
        if after.facts["stopped"] != ELITE_FILLS:
            return after
        start = after.assignments


def joined(before: StageResult, after: StageResult) -> StageResult:
    """Return what is non-dominated of two results, as one of the second one's method and proof.

    A front that is complete stays as it is. Ties are those that the second one has counted, and else 1.
    """
    problem, facts = after.problem, {**before.facts, **after.facts}
    if "n_tied" not in after.facts:
        facts.pop("n_tied", None)
    if after.proof.kind is ProofKind.COMPLETE:
        return dataclasses.replace(after, facts=facts)
    archive = StageArchive(problem)
    for result in (after, before):
        archive.add(result.assignments, result.measures)
    order = front_order(problem, archive.measures)
    measures = archive.measures[order]
    if "n_tied" in facts:
        ties = zip(map(tuple, problem.vectors(after.measures).tolist()), after.facts["n_tied"], strict=True)
        counted = dict(ties)
        facts["n_tied"] = [counted.get(tuple(vector), 1) for vector in problem.vectors(measures).tolist()]
    return dataclasses.replace(after, assignments=archive.assignments[order], measures=measures, facts=facts)
