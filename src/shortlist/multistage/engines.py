"""Choice of the engines that search for stages, the measurements behind the choice, and the search itself."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from shortlist.errors import FitsStoppedError
from shortlist.multistage.problem.stages import space_size
from shortlist.multistage.search.emsco import ELITE_FILLS, EmscoOptions, emsco
from shortlist.multistage.search.enumeration import enumerate_front, front_order
from shortlist.multistage.search.stage_objectives import StageProblem, StageResult
from shortlist.multistage.search.window_search import StageArchive, WindowOptions, search_windows
from shortlist.multistage.subclassifiers.subclassifiers import (
    DENSE_FEATURES,
    MOST_BYTES,
    StageRows,
    bytes_of_every_subset,
)
from shortlist.results.proof import ProofKind
from shortlist.runs import Budget
from shortlist.runs.workers import Where

ENUMERATE, EVOLUTION, WINDOWS = "enumerate", "emsco", "windows"
"""Names of the engines; a front gives one of these names as its method."""

FEW_FEATURES = 8
"""Largest number of features at which every subset is enumerated where a fit takes long: 255 subsets at most.
"""
WORK_PER_SECOND, ASSIGNMENTS_PER_SECOND = 2.5e9, 1e8
"""Multiplications of fits per second, and stage assignments that an enumeration accounts for per second, on
one processor.
"""
SHORT_ENUMERATION_S = 4.0
"""Longest expected time in seconds of an enumeration that runs first. The expected time must also be below a
third of the limit.
"""


@dataclass(frozen=True, kw_only=True)
class StageShape:
    """Sizes and properties of a problem that decide on its engines."""

    n_features: int
    all_fit: bool
    """Whether there are at most 18 features, and memory holds the decision bits of all subsets."""
    is_counted: bool
    """Whether the number of stage assignments is within the budget of an enumeration."""
    is_short: bool
    """Whether an enumeration, fits included, is expected to end within seconds and within a third of the time
    limit.
    """
    has_time: bool
    """Whether all subsets are expected to be fitted in half of the time limit."""
    fits_are_quick: bool
    """Whether fits are so fast that thousands of subsets may be fitted."""
    is_timed: bool
    """Whether a clock ends the search."""


@dataclass(frozen=True)
class StagePlan:
    """Engines for problems of one shape, run in turn; each engine continues from the results so far."""

    fits: Callable[[StageShape], bool]
    engines: tuple[str, ...]
    why: str
    """Reason for the engines, in one line."""
    measured: str
    """Measurement that supports the plan: a file of benchmarks/results, or a decision."""


SEARCHED_FIRST = (WINDOWS, ENUMERATE, EVOLUTION)
"""Order that begins with a search in windows, so that there is an answer at any time. Evolution continues if
the enumeration did not end.
"""
ENUMERATED_FIRST = (ENUMERATE, WINDOWS, EVOLUTION)
"""Order that begins with an enumeration. The other engines run only if the enumeration takes longer than
expected.
"""

PLANS = (
    StagePlan(
        lambda q: not q.fits_are_quick and q.is_counted and q.n_features <= FEW_FEATURES,
        (ENUMERATE,), f"up to {FEW_FEATURES} features have few enough subsets for fits that take long",
        "stage-scale.csv",
    ),
    StagePlan(
        lambda q: not q.fits_are_quick,
        (WINDOWS,), "fits that take long are made for few subsets only", "stage-scale.csv",
    ),
    StagePlan(
        lambda q: q.is_counted and q.is_short,
        ENUMERATED_FIRST, "all subsets can be fitted and searched within seconds", "regret.csv",
    ),
    StagePlan(
        lambda q: q.is_counted and q.has_time,
        SEARCHED_FIRST, f"up to {DENSE_FEATURES} features can be enumerated, after windows",
        "regret.csv",
    ),
    StagePlan(
        lambda q: q.all_fit,
        (WINDOWS, EVOLUTION), "{too_many}", "regret.csv",
    ),
    StagePlan(
        lambda q: not q.all_fit,
        (WINDOWS,), "there are too many subsets of the features to fit all", "regret.csv",
    ),
)  # fmt: skip
"""Plans in order; the first one that fits the shape is taken."""


def plan_for(problem: StageProblem, enumeration_budget: int, budget: Budget) -> StagePlan:
    """Return the first plan that fits a problem, with the reason filled in."""
    shape = shape_of(problem, enumeration_budget, budget)
    plan = next(plan for plan in PLANS if plan.fits(shape))
    too_many = "there is no time to fit all subsets"
    if not shape.is_counted:
        count = space_size(problem.n_features + problem.removal, problem.max_stages + problem.removal)
        too_many = f"{count:.1e} stage assignments are more than the budget of {enumeration_budget:.1e}"
    return dataclasses.replace(plan, why=plan.why.format(too_many=too_many))


def shape_of(problem: StageProblem, enumeration_budget: int, budget: Budget) -> StageShape:
    """Return the shape of a problem: its sizes and expected times."""
    n, k, rows = problem.n_features, problem.max_stages, problem.decisions.subclassifiers.rows
    quick, timed = problem.decisions.subclassifiers.fits_are_quick, not budget.is_counted
    count = space_size(n + problem.removal, k + problem.removal)
    all_fit = n <= DENSE_FEATURES and bytes_of_every_subset(rows) <= MOST_BYTES
    fits_s = work_of_all_fits(rows) / WORK_PER_SECOND
    expected = fits_s + count / ASSIGNMENTS_PER_SECOND
    return StageShape(
        n_features=n,
        all_fit=all_fit,
        is_counted=count <= enumeration_budget and all_fit,
        is_short=expected <= min(SHORT_ENUMERATION_S, math.inf if not timed else budget.seconds / 3),
        has_time=not timed or fits_s <= budget.seconds / 2,
        fits_are_quick=quick,
        is_timed=timed,
    )


def work_of_all_fits(rows: StageRows) -> int:
    """Return the approximate number of multiplications for the Newton matrices in the fits of all subsets."""
    n_scores = 1 if rows.n_classes == 2 else rows.n_classes
    n_rows, n_columns = rows.fit_rows.shape
    each: int = len(rows.runs) * n_rows * (n_columns + 1) ** 2 * n_scores
    return each << rows.n_features


STAGE_METHODS = ("auto", EVOLUTION, ENUMERATE, WINDOWS)

FEW_FITS = WindowOptions(width=5, n_new=3, n_weightings=4, tries=1, kicks=0)
"""Settings of windows for the method ``auto`` where a fit takes long.

Measured against the usual settings on generated tables of 10, 12 and 20 features: 74, 101 and 437 fits in
place of 844, 2,309 and 7,309. The best sum was the same on two of the tables, and .022 lower on the third.
"""

WALK_SHARE = 0.9
"""Share of the remaining time after which an enumeration gives way to evolution."""
GENERATIONS = 500
"""Number of generations after which evolution that continues from a front ends by itself."""
LEAST_POPULATION = 300
"""Least population of evolution that continues from a front. The population is also at least twice the number
of points.
"""

UNFITTED = (
    "the front could not be enumerated: not all subsets of the features were fitted in their part of "
    "{limit}. Allow more time, or use fewer features."
)


class FoundStages(NamedTuple):
    """Result of a method, with sentences about doubts that arose during the search."""

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
    :data:`shortlist.multistage.engines.PLANS` that fits; the fact ``why`` gives the plan and its reason. The
    method ``"enumerate"`` with a time limit begins with windows, so that there is an answer at any time.
    `emsco_options`: options of the method ``"emsco"``. `enumeration_budget`: most stage assignments that
    ``"auto"`` enumerates. `workers`: threads that enumerate, or the address of a Dask scheduler.
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
                after = _evolved(problem, found, budget)
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


def _evolved(problem: StageProblem, found: StageResult, budget: Budget) -> StageResult:
    """Continue from a front by evolution, with a larger population whenever the front fills it."""
    start, population = found.assignments, 0
    while True:
        population = max(LEAST_POPULATION, 2 * population, 2 * len(start))
        options = EmscoOptions(population=population, generations=GENERATIONS, patience=None)
        part = dataclasses.replace(budget, study=budget.study.part(f"of {population}"))
        after = emsco(problem, options, start=start, budget=part)
        if after.facts["stopped"] != ELITE_FILLS:
            return after
        start = after.assignments


def joined(before: StageResult, after: StageResult) -> StageResult:
    """Return the non-dominated points of two results, with the method and the proof of the second result.

    A second result with a complete front keeps its points. The number of ties of a point is the count of the
    second result, or 1 for a point of the first result only.
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
