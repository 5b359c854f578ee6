"""Rules for the point of a stage front that predicts: all on the same fronts, measured on unseen rows.

python -m benchmarks stage-picks --data FOLDER [--seeds 5]
"""

import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from shortlist.errors import LowCoverageWarning
from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.holdout import measure_on, split_three, stage_table
from shortlist.multistage.predict.point_choice import choose_point
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.results.measuring import PAPER, Measuring

TABLES = (
    "pima_diabetes", "heart_failure_clinical_records", "australian_credit", "bupa_liver_disorders",
    "breast_cancer_wisconsin_original", "contraceptive_method_choice", "heart_disease_cleveland", "wdbc",
    "parkinsons", "diabetic_retinopathy_debrecen",
)  # fmt: skip
RULES = ("one-se", "norm", "ideal", "knee")
MOST_ENUMERATED = 9
"""Up to this many features the front is complete; above, evolution is quick enough for all seeds."""


def stage_picks(
    folder: Path, *, seeds: int = 5, tables: tuple[str, ...] = TABLES
) -> Iterator[dict[str, Any]]:
    """Pick by every rule on every table, at two confidences and two kinds of costs, with and without removal."""
    for seed, name in itertools.product(range(seeds), tables):
        table = pd.read_csv(folder / "uci" / f"{name}.csv.gz")
        X = table.drop(columns=["target", *(column for column in table if str(column).startswith("id_"))])
        y = table["target"].to_numpy()
        decades = 10 ** np.random.default_rng(seed).uniform(0, 3, X.shape[1])
        for kind, confidence, removal in itertools.product(("equal", "decades"), (0.75, 0.9), (False, True)):
            costs = None if kind == "equal" else decades.round(2).tolist()
            case = {"table": name, "costs": kind, "confidence": confidence, "removal": removal, "seed": seed}
            for row in _picks(X, y, costs, confidence, removal=removal, seed=seed):
                yield case | row


def _picks(
    X: pd.DataFrame, y: Any, costs: list[float] | None, confidence: float, *, removal: bool, seed: int
) -> Iterator[dict[str, Any]]:
    """Make one front, and measure what each rule picks on the test rows."""
    classifier = MultiStageClassifier(
        feature_costs=costs, confidence=confidence, removal=removal, random_state=seed,
        method="enumerate" if X.shape[1] <= MOST_ENUMERATED else "emsco",
        emsco_options=EmscoOptions(population=120, generations=60),
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowCoverageWarning)
        staged = stage_table(X, y, classifier, seed=seed, measuring=Measuring(PAPER))
    test = split_three(y, seed=seed)[2]
    total = classifier.costs_.total / classifier.costs_.scale
    for rule in RULES:
        classifier.use(choose_point(classifier.front_, rule))
        measured = measure_on(classifier, X.iloc[test], y[test])
        yield {
            "pick": rule,
            "coverage": measured.coverage,
            "accuracy": measured.accuracy,
            "cost_share": measured.cost / total,
            "single_stage_accuracy": staged.single_stage.accuracy,
        }
