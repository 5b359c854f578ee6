"""Synthetic30, the made table of the multi-stage paper, with its confidence and parameters of evolution."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.multistage.presets import scaled_cost
from shortlist.multistage.search.emsco import EmscoOptions

SYNTHETIC30_CONFIDENCE = 0.65
SYNTHETIC30_OPTIONS = EmscoOptions(mutation=0.05, recombination=0.8, elitism=0.2, beta=2.5)
"""Table 4."""


def synthetic30(seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64], dict[str, int]]:
    """Make Synthetic30 by the recipe of Sec. 4.1.3.

    30 features of which 25 are informative, 1,000 rows, three labels in equal parts; the Gini importance of a
    forest puts the features into five cost classes by percentile, the most important ones dearest, at 100 per
    class. The paper names neither the forest nor the seed: here it has 100 trees and the same seed.

    Returns
    -------
    X : ndarray of float, shape (1000, 30)
    y : ndarray of int64, shape (1000,)
    costs : dict
        Cost by feature, named ``"0"`` to ``"29"``.
    """
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier

    X, y = make_classification(
        n_samples=1000, n_features=30, n_informative=25, n_redundant=0, n_classes=3, random_state=seed
    )
    importances: Any = (
        RandomForestClassifier(n_estimators=100, random_state=seed).fit(X, y).feature_importances_
    )
    percentiles = (np.argsort(np.argsort(importances, kind="stable")) + 1) / len(importances)
    classes = np.maximum(1, np.ceil(np.round(percentiles * 5, 9))).astype(int)
    return (
        X,
        y.astype(np.int64),
        {str(i): scaled_cost(int(cost_class), "100T") for i, cost_class in enumerate(classes)},
    )
