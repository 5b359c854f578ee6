"""Which engines search for stages of which tables, in which order, and what measured that."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from shortlist.multistage.problem.stages import space_size
from shortlist.multistage.search.stage_objectives import StageProblem
from shortlist.multistage.search.valid_chains import USUAL_LIMITS, n_valid_chains
from shortlist.multistage.subclassifiers.decision_bits import bytes_of_every_subset
from shortlist.multistage.subclassifiers.subclassifiers import DENSE_FEATURES, MOST_BYTES, StageRows
from shortlist.runs import Budget

ENUMERATE, EVOLUTION, WINDOWS = "enumerate", "emsco", "windows"
"""The engines, by the names that fronts have for their methods."""

FEW_FEATURES = 8
"""Up to this number of features all are enumerated where a fit takes long: 255 subsets."""
WORK_PER_SECOND, ASSIGNMENTS_PER_SECOND = 2.5e9, 1e8
"""Multiplications of fits, and stage assignments accounted for by a walk, in a second of one processor."""
SHORT_ENUMERATION_S = 4.0
"""An enumeration that is expected to take at most this, and a third of the time limit, comes first."""
COUNTING_SHARE = 0.1
"""Part of the time in which assignments that rules allow are counted; where it takes longer they are many."""


@dataclass(frozen=True, kw_only=True)
class StageShape:
    """What decides which engines are asked."""

    n_features: int
    all_fit: bool
    """Whether there are at most 18 features, and what all subsets decide fits into memory."""
    is_counted: bool
    """Whether the stage assignments are few enough for the budget of an enumeration."""
    is_short: bool
    """Whether an enumeration is expected to end within seconds and well within the time, fits included."""
    has_time: bool
    """Whether all subsets are expected to be fitted in half of the time."""
    has_rules: bool
    """Whether only some sets of features may be bought."""
    fits_are_quick: bool
    """Whether thousands of subsets may be fitted."""
    is_timed: bool
    """Whether a clock ends the search."""


@dataclass(frozen=True)
class StagePlan:
    """Engines for questions of a shape; each goes on from what those before it have found."""

    fits: Callable[[StageShape], bool]
    engines: tuple[str, ...]
    why: str
    """Why these, in one line."""
    measured: str
    """What measured that: a file of benchmarks/results, or a decision."""


SEARCHED_FIRST = (WINDOWS, ENUMERATE, EVOLUTION)
"""A search first, so that there is an answer at any time; evolution goes on where the walk did not end."""
ENUMERATED_FIRST = (ENUMERATE, WINDOWS, EVOLUTION)
"""The others are asked only where the enumeration takes longer than expected."""

PLANS = (
    StagePlan(
        lambda q: q.has_rules and q.is_counted and not q.is_timed,
        (ENUMERATE,), "the rules allow few stage assignments", "decision 84",
    ),
    StagePlan(
        lambda q: q.has_rules and q.is_counted,
        (WINDOWS, ENUMERATE), "the rules allow few stage assignments", "decision 84",
    ),
    StagePlan(
        lambda q: not q.has_rules and not q.fits_are_quick and q.is_counted and q.n_features <= FEW_FEATURES,
        (ENUMERATE,), f"up to {FEW_FEATURES} features have few enough subsets for fits that take long",
        "stage-scale.csv",
    ),
    StagePlan(
        lambda q: not q.fits_are_quick,
        (WINDOWS,), "fits that take long are made for few subsets only", "stage-scale.csv",
    ),
    StagePlan(
        lambda q: not q.has_rules and q.is_counted and q.is_short,
        ENUMERATED_FIRST, "all subsets can be fitted and searched within seconds", "regret.csv",
    ),
    StagePlan(
        lambda q: not q.has_rules and q.is_counted and q.has_time,
        SEARCHED_FIRST, f"up to {DENSE_FEATURES} features can be enumerated, after windows",
        "regret.csv",
    ),
    StagePlan(
        lambda q: not q.has_rules and q.all_fit,
        (WINDOWS, EVOLUTION), "there is no time for all fits, or there are too many stage assignments",
        "regret.csv",
    ),
    StagePlan(
        lambda q: q.has_rules or not q.all_fit,
        (WINDOWS,), "there are too many subsets of the features to fit all", "regret.csv",
    ),
)  # fmt: skip
"""The first plan that fits is taken."""


def plan_for(problem: StageProblem, enumeration_budget: int, budget: Budget) -> StagePlan:
    """Return the plan for a problem."""
    shape = shape_of(problem, enumeration_budget, budget)
    return next(plan for plan in PLANS if plan.fits(shape))


def shape_of(problem: StageProblem, enumeration_budget: int, budget: Budget) -> StageShape:
    """Return what decides; where rules say what may be bought, this counts what they allow."""
    n, k, rows = problem.n_features, problem.max_stages, problem.decisions.subclassifiers.rows
    quick, timed = problem.decisions.subclassifiers.fits_are_quick, not budget.is_counted
    if problem.rules is not None:
        few = n <= FEW_FEATURES or quick
        part = budget.share(COUNTING_SHARE)
        count = (
            n_valid_chains(problem.rules, k, removal=problem.removal, budget=part) if few else None
        ) or math.inf
        enumeration_budget = min(enumeration_budget, USUAL_LIMITS.most_chains)
    else:
        count = space_size(n + problem.removal, k + problem.removal)
    all_fit = n <= DENSE_FEATURES and bytes_of_every_subset(rows) <= MOST_BYTES
    fits_s = work_of_all_fits(rows) / WORK_PER_SECOND
    expected = fits_s + count / ASSIGNMENTS_PER_SECOND
    return StageShape(
        n_features=n,
        all_fit=all_fit,
        is_counted=count <= enumeration_budget and (all_fit or problem.rules is not None),
        is_short=expected <= min(SHORT_ENUMERATION_S, math.inf if not timed else budget.seconds / 3),
        has_time=not timed or fits_s <= budget.seconds / 2,
        has_rules=problem.rules is not None,
        fits_are_quick=quick,
        is_timed=timed,
    )


def work_of_all_fits(rows: StageRows) -> int:
    """Return about how many multiplications the curvatures of all subsets' fits take."""
    n_scores = 1 if rows.n_classes == 2 else rows.n_classes
    n_rows, n_columns = rows.fit_rows.shape
    each: int = len(rows.runs) * n_rows * (n_columns + 1) ** 2 * n_scores
    return each << rows.n_features
