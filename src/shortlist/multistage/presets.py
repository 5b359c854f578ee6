"""Settings of the paper's experiments: Tables 2 to 5, and the recipe of Synthetic30."""

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist._validation import as_choice
from shortlist.datasets.registry import synthetic30
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.pickles import saved_from

if TYPE_CHECKING:
    import pandas as pd

SCALINGS = ("10T", "10^T", "100T")
"""Conversions of a cost class T to a cost. The paper prints 10Ti for Heart and Credit, which is 10·T or 10^T.
"""


@saved_from("shortlist.multistage")
@dataclass(frozen=True)
class Preset:
    """Settings of one data set."""

    cost_classes: dict[str, int]
    """Cost class by feature name, as data files differ in the order of their columns."""
    scaling: str
    """One of :data:`SCALINGS`."""
    confidence: float
    """Confidence threshold p̂."""
    options: EmscoOptions
    """Parameters of the evolution."""
    standardised: bool = False
    """Whether the classifiers of stages take standardised columns; false: columns unchanged, as in the
    authors' example.
    """

    def costs(self, scaling: str | None = None) -> dict[str, int]:
        """Return the cost of each feature."""
        how = as_choice(self.scaling if scaling is None else scaling, "scaling", SCALINGS)
        return {name: scaled_cost(cost_class, how) for name, cost_class in self.cost_classes.items()}


def scaled_cost(cost_class: int, scaling: str) -> int:
    """Return h(T) under one of :data:`SCALINGS`.

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
        _HEART, "10^T", 0.75, EmscoOptions(mutation=0.075, recombination=0.75, elitism=0.2, beta=2.0)
    ),
    "pima": Preset(
        _PIMA, "100T", 0.65, EmscoOptions(mutation=0.075, recombination=0.8, elitism=0.2, beta=2.0)
    ),
    "credit": Preset(
        _CREDIT, "10^T", 0.75, EmscoOptions(mutation=0.075, recombination=0.8, elitism=0.2, beta=2.5)
    ),
}
"""Tables 2, 3 and 5 of :cite:t:`Hamilton2022`, for the columns of the UCI files."""

SYNTHETIC30 = "synthetic30"
"""Name of the preset for the generated table ``example:synthetic30``."""
NAMES = (*PRESETS, SYNTHETIC30)


@functools.cache
def preset(name: str) -> Preset:
    """Return the preset of a data set; for ``synthetic30`` it is Table 4.

    Raises
    ------
    BadInputError
        If there is no preset of the name.
    """
    if as_choice(name, "preset", NAMES) != SYNTHETIC30:
        return PRESETS[name]
    options = EmscoOptions(mutation=0.05, recombination=0.8, elitism=0.2, beta=2.5)
    return Preset(importance_classes(synthetic30()), "100T", 0.65, options)


def importance_classes(table: "pd.DataFrame", seed: int = 0) -> dict[str, int]:
    """Return a cost class from 1 to 5 per feature by the percentile of its Gini importance.

    The most important features have the highest class. The forest has 100 trees; the paper does not give the
    number of trees.
    """
    from sklearn.ensemble import RandomForestClassifier

    X = table.drop(columns="target")
    forest: Any = RandomForestClassifier(n_estimators=100, random_state=seed).fit(X, table["target"])
    percentiles = (np.argsort(np.argsort(forest.feature_importances_, kind="stable")) + 1) / X.shape[1]
    classes = np.maximum(1, np.ceil(np.round(percentiles * 5, 9))).astype(int)
    return dict(zip(X.columns, classes.tolist(), strict=True))
