"""Stages for real tables: one booster for all feature subsets, a million rows, and one row in service.

python -m benchmarks stage-scale
"""

import functools
import itertools
import json
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from shortlist.multistage import MultiStageClassifier, next_step
from shortlist.multistage.holdout import aggregate
from shortlist.runs.budget import processor_seconds

REPEATS = 5


def stage_scale() -> Iterator[dict[str, Any]]:
    """Run everything; nothing of it needs real data."""
    yield from shared_fits()
    X, y = made_rows(1_000_000)
    yield from sampled_rows(X, y)
    yield from predictions(X, y)
    yield from in_service(X, y)


def shared_fits(sizes: tuple[int, ...] = (8, 12), most_alone: int = 8) -> Iterator[dict[str, Any]]:
    """Search stages of boosters, fitted for every subset of the features or once for all of them."""
    X, y = load_breast_cancer(return_X_y=True)
    for n_features, shared in itertools.product(sizes, (True, False)):
        if shared or n_features <= most_alone:
            booster = HistGradientBoostingClassifier(max_iter=50, random_state=0)
            stages = MultiStageClassifier(
                subclassifier=booster, share_fits=shared, max_stages=4, confidence=0.9, random_state=0
            )
            seconds = timed(functools.partial(stages.fit, X[:, :n_features], y))
            sums = [
                aggregate(coverage, accuracy, cost / n_features)
                for coverage, accuracy, cost in stages.front_.values.tolist()
            ]
            yield {
                "case": "stage-scale/booster", "method": "one for all" if shared else "one each",
                "n_rows": len(y), "n_features": n_features, "n_fits": stages.problem_.decisions.subclassifiers.n_fits,
                "size": len(stages.front_), "best_sum": round(max(sums), 4), "seconds": round(seconds, 2),
            }  # fmt: skip


def made_rows(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Make rows of 12 features that matter less and less, and their classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 12))
    return X, (X @ np.linspace(1, 0.2, 12) + rng.normal(size=n_rows) > 0).astype(int)


def sampled_rows(X: np.ndarray, y: np.ndarray, sample: int = 20_000) -> Iterator[dict[str, Any]]:
    """Search with a sample of the rows, and fit what is found on all of them."""
    stages = MultiStageClassifier(max_stages=3, random_state=0, sample_rows=sample)
    seconds = timed(functools.partial(stages.fit, X, y))
    yield {
        "case": "stage-scale/fit", "method": f"{sample:,} rows search", "n_rows": len(y), "n_features": X.shape[1],
        "size": len(stages.front_), "seconds": round(seconds, 2), "note": " ".join(stages.notes_),
    }  # fmt: skip


def predictions(X: np.ndarray, y: np.ndarray) -> Iterator[dict[str, Any]]:
    """Answer all rows, as an array, as a table and as a table with a column of text."""
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    words = frame.assign(x11=np.where(frame["x11"] > 0, "high", "low"))
    for kind, rows in {"array": X, "table": frame, "table with text": words}.items():
        stages = MultiStageClassifier(max_stages=3, random_state=0).fit(rows[:2000], y[:2000])
        times = sorted(timed(functools.partial(stages.predict, rows)) for _ in range(REPEATS))
        yield {
            "case": "stage-scale/predict", "method": kind, "n_rows": len(y), "n_features": X.shape[1],
            "seconds": round(times[REPEATS // 2], 3), "least_s": round(times[0], 3), "most_s": round(times[-1], 3),
        }  # fmt: skip


def in_service(X: np.ndarray, y: np.ndarray, n_rows: int = 200) -> Iterator[dict[str, Any]]:
    """Decide rows one by one; what is known of a row is JSON between two questions."""
    names = [f"x{i}" for i in range(X.shape[1])]
    frame = pd.DataFrame(X[: 2000 + n_rows], columns=names)
    stages = MultiStageClassifier(max_stages=3, random_state=0).fit(frame[:2000], y[:2000])
    asked, state = 0, ""
    start = processor_seconds()
    for row in range(2000, 2000 + n_rows):
        state = json.dumps({})
        while (step := next_step(stages, json.loads(state))).what == "ask":
            asked += 1
            state = json.dumps(json.loads(state) | {name: float(frame[name][row]) for name in step.features})
        asked += 1
    seconds = processor_seconds() - start
    yield {
        "case": "stage-scale/service", "method": "next_step", "n_rows": n_rows, "n_features": X.shape[1],
        "n_calls": asked, "seconds": round(seconds / asked, 5), "state_bytes": len(state),
    }  # fmt: skip


def timed(call: Callable[[], object]) -> float:
    """Return processor seconds of one thread; boosters with more of them burn time waiting on a busy machine."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        start = processor_seconds()
        call()
        return processor_seconds() - start
