"""Which method searches for stages: an enumeration where it is within reach, windows beyond, or evolution."""

import dataclasses
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._words import all_of
from shortlist.errors import FitsStoppedError
from shortlist.multistage.problem.stages import acquired, space_size
from shortlist.multistage.search._evaluation import nondominated_rows
from shortlist.multistage.search.emsco import EmscoOptions, emsco
from shortlist.multistage.search.enumeration import enumerate_front
from shortlist.multistage.search.stage_objectives import StageProblem, StageResult
from shortlist.multistage.search.valid_chains import USUAL_LIMITS, n_valid_chains
from shortlist.multistage.subclassifiers.decision_bits import DecisionBits, bytes_of_every_subset
from shortlist.multistage.subclassifiers.subclassifiers import (
    DENSE_FEATURES,
    MOST_BYTES,
    StageRows,
    Subclassifiers,
    rows_in_folds,
)
from shortlist.multistage.windows.climbing import WindowOptions
from shortlist.multistage.windows.window_search import search_windows
from shortlist.results.front import Front
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs import Budget
from shortlist.runs.workers import Where
from shortlist.tables.splits import cut_classes


def sampled_rows(rows: StageRows, most: int | None, seed: int) -> StageRows:
    """Return a random part of the rows that fit and of the validation rows, so many of each, by class."""
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
    """Return numbers of at most so many rows, of each class its share, and one at least."""
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


STAGE_METHODS = ("auto", "emsco", "enumerate", "windows")

COUNTING_SHARE = 0.1
"""Part of the time in which ``auto`` counts what rules allow; windows are searched where it takes longer."""

FEW_FEATURES = 8
"""Up to so many ``auto`` enumerates where a fit takes long: 255 subsets."""

FEW_FITS = WindowOptions(width=5, n_new=3, n_weightings=4, tries=1, kicks=0)
"""How ``auto`` searches windows where a fit takes long.

On made tables of 10, 12 and 20 features that took 74, 101 and 437 fits in place of 844, 2,309 and 7,309. The
best sum was the same twice, and .022 lower once.
"""

UNFITTED = "not all subsets of the features could be fitted in"
INSTEAD = (
    "so that windows were searched instead of an enumeration, and nothing is proved. Allow more time, or use "
    "fewer features."
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
    """Search by a method.

    Raises FitsStoppedError if the search was cancelled before there was an answer.

    `method`: one of :data:`STAGE_METHODS`. ``"auto"`` enumerates where that is within reach, and searches
    windows otherwise. An enumeration without time for its fits gives way to windows. Where every subset needs
    a fit that takes long, ``"auto"`` enumerates up to :data:`FEW_FEATURES` features, and otherwise searches
    windows by :data:`FEW_FITS`. `emsco_options`: of the evolution. `enumeration_budget`: most stage
    assignments that ``"auto"`` enumerates. `workers`: threads that enumerate, or the address of a Dask
    scheduler.
    """
    quick = problem.decisions.subclassifiers.fits_are_quick
    options = FEW_FITS if method == "auto" and not quick else None
    if method == "enumerate" or (method == "auto" and _is_small(problem, enumeration_budget, budget)):
        try:
            return FoundStages(enumerate_front(problem, workers=workers or 1, budget=budget), ())
        except FitsStoppedError:
            if budget.cancellation.cancelled:
                raise
            windows = search_windows(problem, options, budget=budget)
            complete = windows.proof.kind is ProofKind.COMPLETE
            doubt = f"{UNFITTED} half of the {budget.time_text}, {INSTEAD}"
            return FoundStages(windows, () if complete else (doubt,))
    if method == "emsco":
        return FoundStages(emsco(problem, emsco_options, budget=budget), ())
    return FoundStages(search_windows(problem, options, budget=budget), ())


def _is_small(problem: StageProblem, enumeration_budget: int, budget: Budget) -> bool:
    """Whether the complete front is within reach; where counting takes long, it is not."""
    n, k = problem.n_features, problem.max_stages
    if n > FEW_FEATURES and not problem.decisions.subclassifiers.fits_are_quick:
        return False
    if problem.rules is not None:
        chains = n_valid_chains(
            problem.rules, k, removal=problem.removal, budget=budget.share(COUNTING_SHARE)
        )
        return chains is not None and chains <= min(enumeration_budget, USUAL_LIMITS.most_chains)
    searched = problem.decisions.subclassifiers.rows
    fits = n <= DENSE_FEATURES and bytes_of_every_subset(searched) <= MOST_BYTES
    return fits and space_size(n + problem.removal, k + problem.removal) <= enumeration_budget
