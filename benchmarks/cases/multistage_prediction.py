"""Deciding rows of 15 features in 3 stages: the size is the number of rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.registry import Case, register
from shortlist.multistage import MultiStageClassifier
from shortlist.multistage.search.emsco import EmscoOptions


def build(size: int) -> Callable[[], Any]:
    """Fit on made rows, of which about a third waits after each stage."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(max(size, 600), 15))
    y = (X @ np.linspace(1, 0.2, 15) + rng.normal(size=len(X)) > 0).astype(np.int64)
    classifier = MultiStageClassifier(
        feature_costs=list(range(1, 16)), confidence=0.9, max_stages=3, method="emsco", random_state=0,
        emsco_options=EmscoOptions(population=30, generations=5),
    ).fit(X[:600], y[:600])  # fmt: skip
    counts = classifier.front_.decisions.max(axis=1) + 1
    classifier.use(int(counts.argmax()))
    return lambda: classifier.predict(X[:size])


register(Case("multistage-prediction", build, sizes=(2_000, 1_000_000)))
