"""Test accuracy of exact pruning, its objectives and the paper's benchmarks: the paper's Tables 4 to 6 on our pools.

python -m benchmarks pruning-ranks --data FOLDER

With SHORTLIST_POOLS=FOLDER the answers of the pools are kept there, and found again.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

from benchmarks.data.uci import read_uci
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.pools.pool import Pool
from shortlist_papers.comparison import rank_methods
from shortlist_papers.pruning import measure_pool
from shortlist_papers.pruning_comparison import Fold, fold_pool, stratified_folds
from shortlist_papers.rules.rule_pruners import pruning_methods

TABLES = {
    "parkinsons": 10,
    "wdbc": 10,
    "musk_v1": 10,
    "qsar_biodegradation": 10,
    "diabetic_retinopathy_debrecen": 10,
    "spambase": 10,
    "default_credit_card_clients": 3,
    "bank_additional_full": 3,
}
"""How many of the ten folds are run, for want of time."""

SIZES = (40, 100)
"""Classifiers; the smaller pools hold the first of each kind of the largest, in equal numbers."""

METRICS = ("accuracy", "balanced_accuracy")


def ranks(
    folder: Path,
    *,
    tables: dict[str, int] | None = None,
    sizes: tuple[int, ...] = SIZES,
    seconds: float = 3.0,
    n_jobs: int = 2,
) -> Iterator[dict[str, Any]]:
    """Measure every method on the test folds; mean and deviation per table and size, and mean ranks over tables."""
    wanted = TABLES if tables is None else tables
    folds = [
        (name, fold)
        for name, n_folds in wanted.items()
        for fold in stratified_folds(
            name,
            *read_uci(folder, name),
            n_folds=10,
            n_repeats=1,
            n_classifiers=max(sizes),
            seed=0,
        )[:n_folds]
    ]
    jobs = (delayed(_measure)(name, fold, sizes, seconds) for name, fold in folds)
    results = pd.concat(Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs))
    for (name, size, method), rows in results.groupby(["dataset", "classifiers", "method"], sort=True):
        row = {
            "case": "pruning-ranks", "data": name, "seed": 0, "method": method, "folds": len(rows),
            "classifiers": size, "limit_s": getattr(methods(seconds)[str(method)], "time_limit_s", None), "members": round(float(rows["members"].mean()), 1),
            "seconds": round(float(rows["seconds"].mean()), 3),
            "validation_accuracy": round(float(rows["validation_accuracy"].mean()), 4),
        }  # fmt: skip
        for metric in METRICS:
            row[metric] = round(float(rows[metric].mean()), 4)
            row[f"{metric}_deviation"] = round(float(rows[metric].std()), 4)
        print(row, flush=True)
        yield row
    if len(wanted) < 2:
        return
    for size in sizes:
        for metric in METRICS:
            yield from _ranks(results[results["classifiers"] == size], metric, size)


def methods(seconds: float) -> dict[str, Any]:
    """Return what is compared: the paper's settings and benchmarks, and the objectives beyond it.

    What chooses its objective has three times the limit: it searches ten settings in each of its folds first.
    """
    objectives = {
        "F1": "accuracy",
        "F1-theta": "theta-weighted",
        "auto": "auto",
    }
    exact = {
        name: ExactPruner(
            objective=objective, voting="hard", time_limit_s=seconds * (3 if "auto" in name else 1)
        )
        for name, objective in objectives.items()
    }
    diverse = {
        "F2": ExactPruner(objective="accuracy", diversity="average", time_limit_s=seconds),
        "F3": ExactPruner(objective="accuracy", diversity="each", time_limit_s=seconds),
    }
    return exact | diverse | pruning_methods(["backfitting", "concurrency", "uwa", "full"])


def _measure(name: str, fold: Fold, sizes: tuple[int, ...], seconds: float) -> pd.DataFrame:
    """Measure every method on one fold, with a pool of every size, on the rows that pruned and on the test rows."""
    start = time.perf_counter()
    pool, validation = _pool(name, fold)
    parts = [pool.subset(np.arange(len(pool)) < size) for size in sizes]  # kinds take turns
    rows = [row for part in parts for row in measure_pool(name, fold, part, validation, methods(seconds))]
    print(f"{name} {fold.number}: {time.perf_counter() - start:.0f} s", flush=True)
    return pd.DataFrame(rows)


def _pool(name: str, fold: Fold) -> tuple[Pool, NDArray[np.intp]]:
    """Return the pool of a fold, kept where the environment says."""
    import joblib

    folder = os.environ.get("SHORTLIST_POOLS")
    if not folder:
        return fold_pool(fold)
    path = Path(folder) / f"{name}-{fold.number}-{fold.n_classifiers}.joblib"
    if not path.exists():
        joblib.dump(fold_pool(fold), path)
    pool: tuple[Pool, NDArray[np.intp]] = joblib.load(path)
    return pool


def _ranks(results: pd.DataFrame, metric: str, size: int) -> Iterator[dict[str, Any]]:
    """Yield mean ranks over tables."""
    ranked = rank_methods(results, metric=metric)
    for method, rank in ranked.mean_ranks.items():
        row = {
            "case": f"pruning-ranks {metric}", "data": f"{ranked.n_tables} tables", "seed": 0, "method": method,
            "classifiers": size, "rank": round(float(rank), 3), "friedman_p": round(ranked.chi_square_p, 5),
            "critical_difference": round(float(ranked.critical_difference), 3),
        }  # fmt: skip
        print(row, flush=True)
        yield row
