"""Stages of wide tables: the search in windows beside EMSCO, on the same rows that judge.

python -m benchmarks wide-stages --data FOLDER [--seeds 1]

Limits are in seconds of the processor, on one thread, so that other work on the machine matters little.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from benchmarks.data.uci import read_uci
from shortlist.arrays import Labels, Values
from shortlist.multistage.holdout import split_three
from shortlist.multistage.problem.costs import feature_costs
from shortlist.multistage.problem.reject_rules import reject_rule
from shortlist.multistage.search.emsco import EmscoOptions, emsco
from shortlist.multistage.search.stage_objectives import StageProblem, stage_problem
from shortlist.multistage.subclassifiers.decision_bits import DecisionBits
from shortlist.multistage.subclassifiers.subclassifiers import LogisticSubclassifiers
from shortlist.multistage.windows.climbing import WindowOptions
from shortlist.multistage.windows.window_search import search_windows
from shortlist.papers.landscapes import stage_rows
from shortlist.pareto import hypervolume
from shortlist.runs import Budget
from shortlist.runs.budget import processor_seconds

LEVELS = (0.55, 0.65, 0.75, 0.85, 0.90)
"""Confidences on Spambase."""
STAGES = 5
SHARE = 0.1
"""Part of EMSCO's time that the windows have on Spambase."""
SECONDS = 60.0
"""Of either, on made tables."""
MADE = ((200, 2000), (500, 2000))
"""Features and rows of the made tables."""


@dataclass(frozen=True, eq=False)
class FoundFront:
    """What a search found: values of its front, seconds of the processor, fits, and how far it came."""

    values: Values
    seconds: float
    fits: int
    steps: int


def wide_stages(
    folder: Path, *, seeds: int = 1, made: tuple[tuple[int, int], ...] = MADE
) -> Iterator[dict[str, Any]]:
    """Compare on Spambase, with equal costs, and on made tables."""
    compile_searches()
    X, y = read_uci(folder, "spambase")
    for seed in range(seeds):
        for level in LEVELS:
            slow = evolved(unit_problem(X, y, level, seed), seed)
            quick = windowed(unit_problem(X, y, level, seed), seed, SHARE * slow.seconds)
            yield from rows_of(("spambase", X.shape, level, seed), slow, quick)
        for n_features, n_rows in made:
            X_made, y_made = made_table(n_features, n_rows, seed)
            slow = evolved(unit_problem(X_made, y_made, 0.75, seed), seed, SECONDS)
            quick = windowed(unit_problem(X_made, y_made, 0.75, seed), seed, SECONDS)
            yield from rows_of(("made", X_made.shape, 0.75, seed), slow, quick)


def unit_problem(X: pd.DataFrame, y: Labels, level: float, seed: int) -> StageProblem:
    """State the problem of a split, with equal costs."""
    fit, judge, _ = split_three(y, seed=seed)
    rows = stage_rows(X.iloc[fit], y[fit], X.iloc[judge], y[judge])
    decisions = DecisionBits(LogisticSubclassifiers(rows), reject_rule(level, np.array([0, 1])))
    return stage_problem(decisions, feature_costs(None, list(X)), max_stages=STAGES)


def made_table(n_features: int, n_rows: int, seed: int) -> tuple[pd.DataFrame, Labels]:
    """Make a table where 20 features, and as many tenths of all as combine them, tell of the class."""
    X, y = make_classification(
        n_rows, n_features, n_informative=20, n_redundant=n_features // 10, n_clusters_per_class=1,
        class_sep=0.7, flip_y=0.03, random_state=seed,
    )  # fmt: skip
    return pd.DataFrame(X, columns=[f"f{i}" for i in range(n_features)]), y.astype(np.int64)


def evolved(problem: StageProblem, seed: int, seconds: float = np.inf) -> FoundFront:
    """Evolve 150 generations of 300, or as many as there is time for."""
    budget = Budget(seconds, seed=seed, clock=processor_seconds)
    found = emsco(problem, EmscoOptions(population=300, generations=150, patience=None), budget=budget)
    return _found(problem, found.measures, budget, found.facts["n_generations"])


def windowed(problem: StageProblem, seed: int, seconds: float) -> FoundFront:
    """Search in windows."""
    budget = Budget(seconds, seed=seed, clock=processor_seconds)
    found = search_windows(problem, budget=budget)
    return _found(problem, found.measures, budget, found.facts["n_windows"])


def _found(problem: StageProblem, measures: Any, budget: Budget, steps: int) -> FoundFront:
    values = np.unique(problem.values(measures), axis=0)
    return FoundFront(values, budget.elapsed, problem.decisions.subclassifiers.n_fits, steps)


def rows_of(
    case: tuple[str, tuple[int, int], float, int], slow: FoundFront, quick: FoundFront
) -> Iterator[dict[str, Any]]:
    """Describe both fronts; a point counts as dominated if the other front has a point that dominates it."""
    name, (n_rows, n_features), level, seed = case
    for method, one, other in (("emsco", slow, quick), ("windows", quick, slow)):
        coverage, accuracy, cost = one.values.T
        own, theirs = (_minimised(front.values, n_features) for front in (one, other))
        yield {
            "case": "wide-stages", "data": name, "features": n_features, "rows": n_rows, "confidence": level,
            "seed": seed, "method": method, "seconds": round(one.seconds, 1),
            "sum": round(float((coverage + accuracy + 1 - cost / n_features).max()), 4), "points": len(own),
            "hypervolume": round(hypervolume(own, np.full(3, 1.0001)), 4),
            "dominated": sum(bool(((theirs <= p).all(axis=1) & (theirs < p).any(axis=1)).any()) for p in own),
            "fits": one.fits, "steps": one.steps,
        }  # fmt: skip


def _minimised(values: Values, total: int) -> Values:
    return np.column_stack([1 - values[:, 0], 1 - values[:, 1], values[:, 2] / total])


def compile_searches() -> None:
    """Compile the kernels outside the clock."""
    X, y = made_table(30, 200, 0)
    emsco(unit_problem(X, y, 0.75, 0), EmscoOptions(population=10, generations=2))
    search_windows(unit_problem(X, y, 0.75, 0), WindowOptions(width=3, n_new=1, n_weightings=1, tries=1))
