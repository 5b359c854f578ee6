"""EMSCO beside its opponents on new rows, as in Figures 8 to 13 of :cite:t:`Hamilton2022`."""

import dataclasses
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist.arrays import Labels
from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.holdout import measure_on, split_three
from shortlist.multistage.presets import PRESETS
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.multistage.stage_comparison import (
    COLUMNS,
    OPPONENTS,
    fit_quietly,
    measure_split,
    stage_methods,
    with_margins,
)
from shortlist.reproduce.paper import ResultTable, Rows
from shortlist.reproduce.stage_problems import SETS
from shortlist.reproduce.synthetic30 import SYNTHETIC30_CONFIDENCE, SYNTHETIC30_OPTIONS, synthetic30
from shortlist.runs import Budget, Unit
from shortlist.runs.clock import processor_seconds
from shortlist.tables.sets import read_set

if TYPE_CHECKING:
    import pandas as pd

SYNTHETIC30 = "synthetic30"
"""The table that is made, so that it is always there."""
EXACT_FRONT = "exact front"
"""The fittest point of the complete front, in place of an evolved one."""
SEARCHED = ("emsco", EXACT_FRONT)
"""What is compared with the opponents."""
MOST_FEATURES_ENUMERATED = 14
MOST_STAGES_ENUMERATED = 4
"""More stages are walked in minutes per split."""
GENERATIONS_WITHOUT_GAIN = 20
"""Generations without a better front after which evolution ends."""


@dataclass(frozen=True)
class OpponentsSize:
    """How much of the comparison is measured.

    Attributes
    ----------
    tables : tuple of str
        Of :data:`SETS`, and :data:`SYNTHETIC30`.
    methods : tuple of str
        Of :data:`SEARCHED` and :data:`OPPONENTS`.
    seeds : int
        Splits of every table.
    population, generations : int
        Of evolution.
    """

    tables: tuple[str, ...]
    methods: tuple[str, ...]
    seeds: int
    population: int = 300
    generations: int = 150


@dataclass(frozen=True, eq=False)
class PaperTable:
    """One of the paper's tables, with its prices, its confidence and its parameters of evolution."""

    X: "pd.DataFrame"
    y: Labels
    costs: dict[str, int]
    confidence: float
    options: EmscoOptions

    @property
    def total(self) -> int:
        """The price of all features."""
        return sum(self.costs.values())


@functools.cache
def paper_table(folder: Path | None, name: str) -> PaperTable:
    """Return one of the paper's tables by name."""
    if name == SYNTHETIC30:
        import pandas as pd

        X, y, costs = synthetic30()
        frame = pd.DataFrame(X, columns=list(costs))
        return PaperTable(frame, y, costs, SYNTHETIC30_CONFIDENCE, SYNTHETIC30_OPTIONS)
    table = read_set(SETS[name], folder)
    assert table is not None
    preset = PRESETS[name]
    features, y = table.drop(columns="target"), table["target"].to_numpy()
    return PaperTable(features, y, preset.costs(), preset.confidence, preset.options)


def paper_stages(n_features: int) -> int:
    """Return k. The text prints max(⌈n/2⌉, 10), more than Pima has; Figure 13 shows the min."""
    return min(math.ceil(n_features / 2), 10)


def opponent_units(
    folder: Path | None, there: Sequence[str], size: OpponentsSize
) -> tuple[list[Unit], list[str]]:
    """Return a unit per table, split and method, and a sentence for what cannot be measured.

    The exact front is left out where enumeration would take long: above 14 features.
    """
    units, missing = [], []
    methods = list(size.methods)
    if "lightgbm" in methods and find_spec("lightgbm") is None:
        methods.remove("lightgbm")
        missing.append("lightgbm is left out: pip install 'shortlist[lightgbm]'.")
    for name in size.tables:
        if name != SYNTHETIC30 and name not in there:
            continue
        for seed in range(size.seeds):
            for method in methods:
                if method != EXACT_FRONT or name != SYNTHETIC30:
                    arguments = (folder, name, method, seed, size)
                    key, kind = f"opponents/{name}/{seed}/{method}", f"opponents/{name}/{method}"
                    units.append(Unit(key, measure_method, arguments, kind=kind))
    return units, missing


def measure_method(
    folder: Path | None, name: str, method: str, seed: int, size: OpponentsSize, *, budget: Budget
) -> Rows:
    """Fit and measure one method on the split of one seed."""
    _compile(method)
    table = paper_table(folder, name)
    if method in SEARCHED:
        return measure_search(name, table, method, seed, size, budget)
    options = {"feature_costs": table.costs, "confidence": table.confidence}
    fitted = stage_methods((method,), **options)[method]
    found = measure_split(table.X, table.y, method, fitted, seed, budget=budget)
    return [{"kind": "opponents", "set": name, "total": table.total, **found}]


def measure_search(  # noqa: PLR0917  # what is measured, and by what
    name: str, table: PaperTable, search: str, seed: int, size: OpponentsSize, budget: Budget
) -> Rows:
    """Search on one split; measure the fittest point, and the one with the largest sum, on the test rows.

    The first row also says at which stage, from 1, every feature is bought.
    """
    X, y = table.X, table.y
    fit, judge, test = split_three(y, seed=seed)
    k = paper_stages(X.shape[1])
    options = dataclasses.replace(
        table.options,
        population=size.population,
        generations=size.generations,
        patience=GENERATIONS_WITHOUT_GAIN,
    )
    classifier = MultiStageClassifier(
        feature_costs=table.costs, confidence=table.confidence, pick="norm", random_state=seed,
        max_stages=k if search == "emsco" else min(k, MOST_STAGES_ENUMERATED),
        method="emsco" if search == "emsco" else "enumerate", emsco_options=options,
    )  # fmt: skip
    start = processor_seconds()
    fit_quietly(classifier, X.iloc[fit], y[fit], (X.iloc[judge], y[judge]), cancellation=budget.cancellation)
    seconds = processor_seconds() - start
    coverage, accuracy, cost = classifier.front_.values.T
    by_sum = int(np.argmax(coverage + accuracy - cost / table.total))
    rows: Rows = []
    stages: list[int] = (classifier.assignment_ + 1).tolist()
    for method, point in ((search, classifier.point_), (f"{search}, by the sum", by_sum)):
        classifier.use(point)
        found = measure_on(classifier, X.iloc[test], y[test])
        values = (seed, method, found.coverage, found.accuracy, found.cost, found.aggregate, seconds)
        rows.append(
            {
                "kind": "opponents",
                "set": name,
                "total": table.total,
                **dict(zip(COLUMNS, values, strict=True)),
            }
        )
    return rows + [
        {"kind": "feature", "set": name, "seed": seed, "method": search, "feature": feature,
         "price": table.costs[feature], "stage": stage}
        for feature, stage in zip(X.columns, stages, strict=True)
    ]  # fmt: skip


@functools.cache
def _compile(method: str) -> None:
    """Compile the kernels of a method outside the clock, on a made table."""
    import pandas as pd

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    table = PaperTable(
        X, (X["a"] > 0).to_numpy(dtype=np.int64), dict.fromkeys(X, 1), 0.6, PRESETS["pima"].options
    )
    if method in SEARCHED:
        measure_search("made", table, method, 0, OpponentsSize((), (), 1, 10, 2), Budget())
    else:
        fitted: Any = stage_methods((method,), feature_costs=table.costs, confidence=table.confidence)[method]
        measure_split(table.X, table.y, method, fitted, 0, budget=Budget())


def sums_of_measures(rows: "pd.DataFrame") -> ResultTable:
    """Return what every method does on new rows, best sum first in every set (Figures 8 to 12)."""
    found: Rows = []
    for name, part in rows.groupby("set", sort=False):
        total = int(part["total"].iloc[0])
        for row in with_margins(part).to_dict("records"):
            found.append(
                {
                    "set": name, "method": row["method"], "splits": int(row["n_seeds"]),
                    "sum": round(row["aggregate"], 3), "margin": round(row["aggregate_margin"], 3),
                    "coverage %": round(100 * row["coverage"], 1),
                    "accuracy %": round(100 * row["accuracy"], 1),
                    "cost": round(row["cost"], 1), "of all %": round(100 * row["cost"] / total, 1),
                    "seconds": round(row["seconds"], 2),
                }
            )  # fmt: skip
    note = (
        "The sum is coverage + accuracy + 1 - cost / price of all features. Margins are at 95 %. "
        "Seconds are of the processor."
    )
    return ResultTable("opponents", "EMSCO and its opponents on new rows, as in Figure 12", found, note)


def stage_means(rows: "pd.DataFrame") -> ResultTable:
    """Return at which stage EMSCO's fittest chromosomes buy the features of each price (Figure 13)."""
    found: Rows = []
    evolved = rows[rows["method"] == "emsco"]
    for name, part in evolved.groupby("set", sort=False):
        for price, features in part.groupby("price"):
            means = features.groupby("feature")["stage"].mean()
            found.append(
                {
                    "set": name, "price": int(price), "features": len(means),
                    "splits": int(features["seed"].nunique()),
                    "mean stage": round(float(means.mean()), 2), "least": round(float(means.min()), 2),
                    "most": round(float(means.max()), 2),
                }
            )  # fmt: skip
    note = "Least and most are means of one feature over the splits; stages count from 1."
    return ResultTable("stages", "When EMSCO buys the features of each price, as in Figure 13", found, note)


ALL_METHODS = (*SEARCHED, *OPPONENTS)
"""What the full size compares."""
