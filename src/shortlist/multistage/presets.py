"""The settings of the paper's experiments: Tables 2 to 5, and the recipe of Synthetic30."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_choice
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.pickles import saved_from

SCALINGS = ("10T", "10^T", "100T")
"""How a cost class T becomes a cost. The paper prints 10T for Heart and Credit, where a superscript may have
been lost.
"""


@saved_from("shortlist.multistage")
@dataclass(frozen=True)
class Preset:
    """One data set's settings.

    Attributes
    ----------
    cost_classes : dict
        Cost class by feature name; files order their columns differently.
    scaling : str
        One of :data:`SCALINGS`.
    confidence : float
        p̂.
    options : EmscoOptions
        Parameters of the evolution.
    """

    cost_classes: dict[str, int]
    scaling: str
    confidence: float
    options: EmscoOptions

    def costs(self, scaling: str | None = None) -> dict[str, int]:
        """Return the cost of each feature."""
        how = as_choice(self.scaling if scaling is None else scaling, "scaling", SCALINGS)
        return {name: scaled_cost(cost_class, how) for name, cost_class in self.cost_classes.items()}


def scaled_cost(cost_class: int, scaling: str) -> int:
    """Return h(T) under one of :data:`SCALINGS`.

    Examples
    --------
    >>> scaled_cost(2, "10T"), scaled_cost(2, "10^T"), scaled_cost(2, "100T")
    (20, 100, 200)
    """
    if scaling == "10^T":
        return int(10**cost_class)
    return cost_class * (10 if scaling == "10T" else 100)


_HEART = {
    "age": 1, "anaemia": 2, "high_blood_pressure": 2, "creatinine_phosphokinase": 2, "diabetes": 2,
    "ejection_fraction": 2, "platelets": 2, "sex": 1, "serum_creatinine": 2, "serum_sodium": 2, "smoking": 1,
    "time": 1,
}  # fmt: skip
_PIMA = {
    "times_pregnant": 1, "plasma_glucose": 3, "diastolic_bp": 2, "triceps_skin": 2, "serum_insulin": 3,
    "bmi": 2,
    "pedigree": 2, "age": 1,
}  # fmt: skip
_CREDIT = dict(zip((f"A{i}" for i in range(1, 15)), (2, 2, 2, 1, 2, 1, 2, 3, 1, 2, 1, 1, 1, 2), strict=True))

PRESETS = {
    "heart": Preset(
        _HEART, "10T", 0.75, EmscoOptions(mutation=0.075, recombination=0.75, elitism=0.2, beta=2.0)
    ),
    "pima": Preset(
        _PIMA, "100T", 0.65, EmscoOptions(mutation=0.075, recombination=0.8, elitism=0.2, beta=2.0)
    ),
    "credit": Preset(
        _CREDIT, "10^T", 0.75, EmscoOptions(mutation=0.075, recombination=0.8, elitism=0.2, beta=2.5)
    ),
}
"""Tables 2, 3 and 5 of :cite:t:`Hamilton2022`, for the columns of the UCI files."""

SYNTHETIC30_CONFIDENCE = 0.65
SYNTHETIC30_OPTIONS = EmscoOptions(mutation=0.05, recombination=0.8, elitism=0.2, beta=2.5)
"""Table 4."""


def preset(name: str) -> Preset:
    """Return the preset of a data set.

    Raises
    ------
    BadInputError
        If there is none of that name.
    """
    return PRESETS[as_choice(name, "preset", list(PRESETS))]


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
    percentiles = (np.argsort(np.argsort(importances)) + 1) / len(importances)
    classes = np.maximum(1, np.ceil(np.round(percentiles * 5, 9))).astype(int)
    return (
        X,
        y.astype(np.int64),
        {str(i): scaled_cost(int(cost_class), "100T") for i, cost_class in enumerate(classes)},
    )
