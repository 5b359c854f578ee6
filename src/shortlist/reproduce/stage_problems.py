"""The stage problems of :cite:t:`Hamilton2022`: its sets on one split, and its authors' example."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Labels
from shortlist.multistage.baselines.budgeted_classifier import aggregate
from shortlist.multistage.holdout import split_three
from shortlist.multistage.predict.prediction import REJECTED, FittedStage, StagedModel, decide_known
from shortlist.multistage.presets import PRESETS
from shortlist.multistage.problem.costs import FeatureCosts, feature_costs
from shortlist.multistage.problem.reject_rules import reject_rule
from shortlist.multistage.problem.stages import acquired
from shortlist.multistage.search.emsco import EmscoOptions, emsco
from shortlist.multistage.search.stage_objectives import StageProblem, stage_problem
from shortlist.multistage.subclassifiers.decision_bits import DecisionBits
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.subclassifiers import LogisticSubclassifiers, StageRows
from shortlist.runs import Budget
from shortlist.tables.sets import read_set

if TYPE_CHECKING:
    import pandas as pd

SETS = {"pima": "pima-diabetes", "heart": "heart-failure-clinical-records", "credit": "australian-credit"}
"""The paper's sets, by the names of its settings; Synthetic30 is made."""

EXAMPLE = "emsco-example"
"""The folder with the authors' example."""

PAPER_EXAMPLE = {
    0.55: (0.6617, 0.9932, 32.80), 0.60: (0.7456, 0.9591, 75.85), 0.65: (0.7945, 0.9191, 92.24),
    0.70: (0.8306, 0.8497, 101.45), 0.75: (0.8578, 0.7478, 121.87), 0.80: (0.8903, 0.6586, 133.36),
    0.85: (0.9174, 0.5534, 145.22), 0.90: (0.9358, 0.4300, 152.15), 0.95: (0.9726, 0.2637, 157.98),
}  # fmt: skip
"""The authors' accuracy, coverage and cost on the test rows of their example, by confidence."""


def paper_problem(
    folder: Path | None, name: str, *, max_stages: int, split: int = 0, n_jobs: int = 2
) -> StageProblem:
    """State the problem of one of the paper's sets, with its settings, on one split.

    Parameters
    ----------
    folder : Path or None
        Where sets are looked for before the cache.
    name : str
        One of :data:`SETS`.
    max_stages : int
        k.
    split : int, default=0
        Seed of the split, 50 : 25 : 25.
    n_jobs : int, default=2
        Threads that fit.
    """
    table = read_set(SETS[name], folder)
    assert table is not None
    X, y = table.drop(columns="target"), table["target"].to_numpy()
    fit, judge, _ = split_three(y, seed=split)
    rows = stage_rows(X.iloc[fit], y[fit], X.iloc[judge], y[judge])
    preset = PRESETS[name]
    costs: FeatureCosts = feature_costs(preset.costs(), list(X))
    rule = reject_rule(preset.confidence, np.array([0, 1]))
    decisions = DecisionBits(LogisticSubclassifiers(rows, n_jobs=n_jobs), rule)
    return stage_problem(decisions, costs, max_stages=max_stages)


def stage_rows(X: "pd.DataFrame", y: Labels, V: "pd.DataFrame", v: Labels) -> StageRows:
    """Encode rows that fit and rows that judge, of two classes 0 and 1."""
    encoding = learn_encoding(X, list(X))
    features = range(X.shape[1])
    return StageRows(
        encoding, encoding.encode(features, X), y.astype(np.int64), encoding.encode(features, V),
        v.astype(np.int64), 2,
    )  # fmt: skip


def example_is_there(folder: Path | None) -> bool:
    """Whether a folder has the authors' example."""
    return folder is not None and (folder / EXAMPLE / "example_costs.txt").is_file()


def measure_example(
    folder: Path, level: float, *, seeds: int, population: int, generations: int, budget: Budget
) -> dict[str, Any]:
    """Return the means of the seeds, on the test rows of the authors' example, at one confidence."""
    import pandas as pd

    place = folder / EXAMPLE
    parts = {part: pd.read_csv(place / f"example_{part}.csv") for part in ("train", "val", "test")}
    X = {part: table.drop(columns="label") for part, table in parts.items()}
    y = {part: table["label"].to_numpy() for part, table in parts.items()}
    prices = [float(price) for price in (place / "example_costs.txt").read_text(encoding="utf-8").split(",")]
    rows = stage_rows(X["train"], y["train"], X["val"], y["val"])
    subclassifiers = LogisticSubclassifiers(rows, scale=False, n_jobs=1)
    costs = feature_costs(prices, list(X["train"]))
    test = rows.encoding.encode(range(len(prices)), X["test"])
    decisions = DecisionBits(subclassifiers, reject_rule(level, np.array([0, 1])))
    problem = stage_problem(decisions, costs, max_stages=5)
    options = EmscoOptions(generations=generations, population=population)
    found = []
    for seed in range(seeds):
        result = emsco(problem, options, budget=dataclasses.replace(budget, seed=seed))
        found.append(measured_on_test(problem, result.assignments[0], test, y["test"]))  # the fittest first
    accuracy, coverage, cost = np.mean(found, axis=0).tolist()
    sum_of_all = aggregate(coverage, accuracy, cost / sum(prices))
    return {
        "accuracy": accuracy,
        "coverage": coverage,
        "cost": cost,
        "aggregate": sum_of_all,
        "total": sum(prices),
    }


def measured_on_test(
    problem: StageProblem, assignment: NDArray[np.int8], rows: NDArray[np.float64], y: Labels
) -> tuple[float, float, float]:
    """Return conclusive accuracy, coverage and mean cost of an assignment on encoded rows."""
    stages, known = [], np.zeros(problem.n_features, dtype=bool)
    for subset in acquired(assignment[None, :], int(assignment.max()) + 1)[0]:
        model = problem.decisions.subclassifiers.model(subset)
        price = int(problem.costs.price(subset))
        stages.append(FittedStage(np.flatnonzero(subset & ~known), subset, model, 0.0, price))
        known = subset
    encoding = problem.decisions.subclassifiers.rows.encoding
    model_of_all = StagedModel(encoding, tuple(stages), problem.decisions.rule, problem.costs)
    decisions = decide_known(model_of_all, rows)
    conclusive = decisions.labels != REJECTED
    right = conclusive & (decisions.labels == y)
    return (
        float(right.sum() / max(1, conclusive.sum())),
        float(conclusive.mean()),
        float(decisions.costs.mean()),
    )
