"""Stages judged out of fold on three quarters of the rows beside a quarter held out: the same test rows, six tables.

python -m benchmarks stage-folds --data FOLDER [--seeds 10]
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.studies.cost_curves import LIMITS, TABLES, at_costs, prices, read_table
from shortlist.errors import LowCoverageWarning, UnmetChoiceError
from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.holdout import measure_on, split_three
from shortlist.multistage.predict.point_choice import choose_point
from shortlist.multistage.problem.costs import FeatureCosts
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.runs.budget import processor_seconds

WAYS = ("held-out", "out-of-fold")
MEASURES = ("coverage", "accuracy", "right", "cost")
MOST_ENUMERATED = 14
"""Up to this many features the front is complete; above, a short evolution is quick enough for all seeds."""
EVOLUTION = EmscoOptions(population=60, generations=30)


def stage_folds(
    folder: Path, *, seeds: int = 10, tables: Sequence[str] = tuple(TABLES)
) -> Iterator[dict[str, Any]]:
    """Yield for every table what the usual pick does on test rows, and the paired differences, with their errors."""
    for name in tables:
        X, y = read_table(folder, name)
        found = [paired(X, y, prices(folder, name, list(X)), seed) for seed in range(seeds)]
        for measure in found[0]:
            values = np.array([one[measure] for one in found])
            error = values.std(ddof=1) / np.sqrt(seeds) if seeds > 1 else float("nan")
            yield {
                "case": "stage-folds", "table": name, "n_rows": len(y), "n_seeds": seeds, "measure": measure,
                "mean": float(values.mean()), "error": float(error), "n_better": int((values > 0).sum()),
                "n_worse": int((values < 0).sum()),
            }  # fmt: skip


def paired(X: pd.DataFrame, y: NDArray[np.int64], costs: FeatureCosts, seed: int) -> dict[str, float]:
    """Fit in both ways on the first two parts of a split; measure on the third.

    ``same cost`` is what the curve of the held-out front has at the cost of the other's pick: between the points that
    the usual rule takes within limits of the cost, a lot.
    """
    fit, judge, test = split_three(y, seed=seed)
    both = np.sort(np.concatenate([fit, judge]))
    facts: dict[str, float] = {}
    picks, curve = {}, pd.DataFrame()
    for way in WAYS:
        method = "auto" if X.shape[1] <= MOST_ENUMERATED else "emsco"
        classifier = MultiStageClassifier(
            removal=False, feature_costs=costs, method=method, emsco_options=EVOLUTION, random_state=seed
        )
        start = processor_seconds()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LowCoverageWarning)
            if way == "held-out":
                classifier.fit(X.iloc[fit], y[fit], validation=(X.iloc[judge], y[judge]))
            else:
                classifier.fit(X.iloc[both], y[both])
        facts[f"seconds, {way}"] = processor_seconds() - start
        facts[f"points, {way}"] = len(classifier.front_)
        picks[way] = measured(classifier, classifier.point_, X.iloc[test], y[test])
        facts |= {f"{measure}, {way}": picks[way][measure] for measure in MEASURES}
        if way == "held-out":
            points = within_limits(classifier, costs.total / costs.scale)
            curve = pd.DataFrame([measured(classifier, point, X.iloc[test], y[test]) for point in points])
    old, new = (picks[way] for way in WAYS)
    facts |= {f"{measure}, gain": new[measure] - old[measure] for measure in MEASURES}
    for measure in MEASURES[:3]:
        there = at_costs(curve["cost"].to_numpy(), curve[measure].to_numpy(), [new["cost"]])[0]
        facts[f"{measure}, gain at the same cost"] = new[measure] - float(there)
    return facts


def within_limits(classifier: MultiStageClassifier, total: float) -> Iterator[int]:
    """Yield the points that the usual rule takes within each limit of the cost that a point meets."""
    for limit in LIMITS:
        with suppress(UnmetChoiceError):
            yield choose_point(classifier.front_, "one-se", {"acquisition_cost": limit * total})


def measured(
    classifier: MultiStageClassifier, point: int, X: pd.DataFrame, y: NDArray[np.int64]
) -> dict[str, float]:
    """Return the measures of a point on rows; the cost as a share of all prices."""
    found = measure_on(classifier.use(point), X, y)
    total = classifier.costs_.total / classifier.costs_.scale
    return {
        "coverage": found.coverage, "accuracy": found.accuracy, "right": found.coverage * found.accuracy,
        "cost": found.cost / total,
    }  # fmt: skip
