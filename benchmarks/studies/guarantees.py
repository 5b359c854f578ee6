"""Share of rows answered under a promise, beside MAPIE, and how often the promise holds on new rows.

python -m benchmarks guarantees --data FOLDER [--seeds 10]
"""

import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from mapie.risk_control import BinaryClassificationController

from benchmarks.data.uci import read_uci
from shortlist.ensembles.pools.fitting import make_pool
from shortlist.errors import LowCoverageWarning
from shortlist.guarantees.guarantee import Demand
from shortlist.guarantees.promise import count_answers, possible_thresholds, promise
from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.tables.splits import hold_out, keep_rows_apart
from shortlist_papers import OrderedPruner

TABLES = (
    "pima_diabetes", "heart_failure_clinical_records", "australian_credit", "wdbc", "parkinsons", "musk_v1",
    "qsar_biodegradation", "diabetic_retinopathy_debrecen", "bupa_liver_disorders", "spambase",
)  # fmt: skip
ACCURACIES = (0.8, 0.9, 0.95)
CONFIDENCE_LEVEL = 0.95
TEST_SHARE, CALIBRATION_SHARE, CHOOSING_SHARE = 0.3, 0.3, 0.3
"""Shares of all rows, of the rows that are not tested, and of those left then."""
MAPIES = ("bonferroni_holm", "fixed_sequence")
"""MAPIE's own default, and the procedure that we use, each on its own 100 thresholds."""


def guarantees(
    folder: Path, *, seeds: int = 10, tables: tuple[str, ...] = TABLES
) -> Iterator[dict[str, Any]]:
    """Calibrate committees and stages on the same rows by every method, and count answers on new rows."""
    for seed, name in itertools.product(range(seeds), tables):
        X, y = read_uci(folder, name)
        kept, test = hold_out(y, TEST_SHARE, seed)
        rest, calibration = (kept[part] for part in keep_rows_apart(len(kept), CALIBRATION_SHARE, seed))
        fit, chose = (rest[part] for part in hold_out(y[rest], CHOOSING_SHARE, seed))
        parts = {"fit": fit, "chose": chose, "calibration": calibration, "test": test}
        yield from _committee(name, seed, X, y, parts)
        yield from _stages(name, seed, X, y, parts)


def _committee(
    name: str, seed: int, X: pd.DataFrame, y: np.ndarray, parts: dict[str, np.ndarray]
) -> Iterator[dict[str, Any]]:
    """Prune a pool of 50 by a rule, and let the mean of its members answer."""
    pool = make_pool(X.iloc[parts["fit"]], y[parts["fit"]], n_classifiers=50, random_state=seed, n_jobs=2)
    pruner = OrderedPruner(pool, voting="averaged").fit(X.iloc[parts["chose"]], y[parts["chose"]])
    scored = {}
    for part in ("chose", "calibration", "test"):
        probabilities = pruner.predict_proba(X.iloc[parts[part]])
        scored[part] = probabilities.max(axis=1), pruner.predict(X.iloc[parts[part]]) == y[parts[part]]
    for accuracy in ACCURACIES:
        thresholds = possible_thresholds(scored["chose"][0])
        chose, calibration = (
            count_answers([scored[part][0]], [scored[part][1]], thresholds)
            for part in ("chose", "calibration")
        )
        found = promise(thresholds, chose, calibration, Demand(accuracy, CONFIDENCE_LEVEL))
        by = {"shortlist": found.threshold, "threshold only": accuracy}
        for procedure in MAPIES:
            by[f"mapie {procedure}"] = _mapie(*scored["calibration"], accuracy, procedure)
        for method, threshold in by.items():
            answered = scored["test"][0] >= threshold
            yield _row(("committee", name, seed, accuracy, method), answered, scored["test"][1])


def _stages(
    name: str, seed: int, X: pd.DataFrame, y: np.ndarray, parts: dict[str, np.ndarray]
) -> Iterator[dict[str, Any]]:
    """Buy features in up to three stages at a confidence of 0.6, which promises nothing, and under each promise."""
    for accuracy in ACCURACIES:
        options: dict[str, Any] = {"confidence": 0.6, "answer_accuracy": accuracy}
        for method, given in (("shortlist", options), ("threshold only", {"confidence": accuracy})):
            stages = MultiStageClassifier(
                max_stages=3, method="emsco", emsco_options=EmscoOptions(population=60, generations=30),
                random_state=seed, **given,
            )  # fmt: skip
            held = {part: (X.iloc[parts[part]], y[parts[part]]) for part in ("chose", "calibration")}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LowCoverageWarning)
                stages.fit(
                    X.iloc[parts["fit"]], y[parts["fit"]], validation=held["chose"],
                    calibration=held["calibration"] if method == "shortlist" else None,
                )  # fmt: skip
            report = stages.decision_report(X.iloc[parts["test"]])
            answered = ~report["rejected"].to_numpy()
            right = report["label"].to_numpy() == y[parts["test"]]
            yield _row(("stages", name, seed, accuracy, method), answered, right)


def _mapie(scores: np.ndarray, right: np.ndarray, accuracy: float, procedure: str) -> float:
    """Let MAPIE find the threshold: whether an answer is right is the class, so precision is accuracy on answers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        controller = BinaryClassificationController(
            lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]]), "precision", accuracy,
            CONFIDENCE_LEVEL, fwer_method=procedure,
        ).calibrate(scores[:, None], right.astype(int))  # fmt: skip
    return float(np.min(controller.valid_predict_params, initial=np.inf))


def _row(case: tuple[str, str, int, float, str], answered: np.ndarray, right: np.ndarray) -> dict[str, Any]:
    named = dict(zip(("kind", "data", "seed", "accuracy", "method"), case, strict=True))
    counts = {"n_test": len(answered), "n_answered": int(answered.sum())}
    return {"case": "guarantees"} | named | counts | {"n_right": int((answered & right).sum())}
