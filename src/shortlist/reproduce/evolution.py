"""Evolutionary ensemble learning: six sets in ten folds, as :cite:t:`Gagne2007` measured."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist.arrays import Labels
from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
from shortlist.ensembles.studies.method_comparison import Fold, measure_fold, stratified_folds
from shortlist.ensembles.studies.ranks import rank_methods
from shortlist.reproduce.paper import Extent, Paper, Plan, ResultTable, Rows, fingerprints, sets_of
from shortlist.runs import Budget, Unit

if TYPE_CHECKING:
    import pandas as pd

SETS = {
    "bcw": "breast-cancer-wisconsin-original",
    "bld": "bupa-liver-disorders",
    "bos": "boston-housing",
    "cmc": "contraceptive-method-choice",
    "pid": "pima-diabetes",
    "spa": "spambase",
}
"""The paper's sets, by its names."""

N_PRICES = 3
"""Classes of price of `bos`, of equal size."""


@dataclass(frozen=True)
class EvolutionSize:
    """How much is measured.

    Attributes
    ----------
    sets : tuple of str
        The paper's names of sets.
    n_folds, n_run : int
        Folds of each set, and how many of them are run.
    population, generations, stumps : int
        Of evolution, and of boosting.
    """

    sets: tuple[str, ...]
    n_folds: int
    n_run: int
    population: int
    generations: int
    stumps: int = 200


SIZES = {
    "small": EvolutionSize(("bcw", "bld", "pid", "cmc"), 10, 2, 200, 40, 50),
    "medium": EvolutionSize(tuple(SETS), 10, 3, 500, 200),
    "paper": EvolutionSize(tuple(SETS), 10, 10, 500, 200),
}
"""How much each scale measures."""


def size_of(extent: Extent) -> EvolutionSize:
    """Return how much an extent measures."""
    size = SIZES[extent.scale]
    return dataclasses.replace(size, sets=extent.of(size.sets), n_run=extent.folds or size.n_run)


def eel_methods(size: EvolutionSize) -> dict[str, Any]:
    """Return evolved ensembles, and beside them least squares, a genetic algorithm and boosted stumps."""
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    stumps = DecisionTreeClassifier(max_depth=1)
    return {
        mode: EvolutionaryEnsembleClassifier(
            mode, population_size=size.population, n_generations=size.generations
        )
        for mode in ("offline", "online", "single")
    } | {
        "least-squares": make_pipeline(StandardScaler(), RidgeClassifier(alpha=1e-6)),
        "adaboost-stumps": AdaBoostClassifier(stumps, n_estimators=size.stumps, random_state=0),
    }


def eel_table(name: str, table: "pd.DataFrame") -> tuple["pd.DataFrame", Labels]:
    """Return rows and classes of one of the paper's sets.

    ``bcw`` keeps its complete rows. ``bos`` has three classes of price of equal size: the paper's own limits
    are not known. ``bld`` takes the field that older papers took as class.
    """
    import pandas as pd

    whole = table.dropna() if name == "bcw" else table
    target = whole["target"]
    y = pd.qcut(target, N_PRICES, labels=False) if name == "bos" else target
    return whole.drop(columns="target"), np.asarray(y)


def plan_evolution(folder: Path | None, size: EvolutionSize) -> Plan:
    """Return a unit for every fold of every set that is there."""
    names = {SETS[name]: name for name in size.sets}
    tables, missing = sets_of(list(names), folder)
    methods = eel_methods(size)
    units = []
    for full_name, table in tables.items():
        name = names[full_name]
        X, y = eel_table(name, table)
        folds = stratified_folds(name, X, y, n_folds=size.n_folds, n_repeats=1, n_classifiers=1, seed=0)
        units += [
            Unit(f"{name}/{fold.number}", measure_evolution, (name, fold, methods), kind=name, size=len(y))
            for fold in folds[: size.n_run]
        ]
    return Plan(tuple(units), dataclasses.asdict(size) | fingerprints(tables), missing)


def measure_evolution(name: str, fold: Fold, methods: Mapping[str, Any], *, budget: Budget) -> Rows:
    """Measure every method on one fold."""
    measured = measure_fold(fold, methods, budget=budget)
    return [
        {"dataset": name, "fold": fold.number, **row, "size": None if np.isnan(row["size"]) else row["size"]}
        for row in measured
    ]


def evolution_tables(rows: "pd.DataFrame") -> list[ResultTable]:
    """Return the test errors, and the mean ranks over sets."""
    found: Rows = []
    for (name, method), part in rows.groupby(["dataset", "method"], sort=False):
        found.append(
            {
                "set": name, "method": method, "folds": len(part),
                "error %": round(100 * (1 - float(part["accuracy"].mean())), 2),
                "deviation %": round(100 * float(part["accuracy"].std()), 2),
                "balanced error %": round(100 * (1 - float(part["balanced_accuracy"].mean())), 2),
                "members": None if part["size"].isna().all() else round(float(part["size"].mean()), 1),
                "seconds": round(float(part["seconds"].mean()), 2),
            }
        )  # fmt: skip
    tables = [
        ResultTable(
            "errors",
            "Test errors",
            found,
            "The deviation is over the folds. The paper's own table is not at hand.",
        )
    ]
    n_tables = rows["dataset"].nunique()
    if n_tables > 1:
        ranked = rank_methods(rows)
        ranks = [
            {"method": method, "mean rank": round(rank, 2)} for method, rank in ranked.mean_ranks.items()
        ]
        note = (
            f"Friedman's p is {ranked.chi_square_p:.3f}; mean ranks differ from "
            f"{ranked.critical_difference:.2f} on (Nemenyi, 5 %)."
        )
        tables.append(ResultTable("ranks", f"Mean ranks of the accuracy, {n_tables} sets", ranks, note))
    return tables


EVOLUTION = Paper(
    "evolution",
    "Gagné, Sebag, Schoenauer and Tomassini (2007): ensembles from evolution, for free",
    lambda folder, extent: plan_evolution(folder, size_of(extent)),
    evolution_tables,
    {"errors": "test errors", "ranks": "mean ranks of the accuracy"},
    tuple(SETS),
    frozenset({"folds"}),
    (
        "The text at hand is a fragment without the paper's results, so no figure of it stands beside ours.",
        "The exponent of the fitness, the limits of the price classes of bos and the folds are not in it.",
        "The class of bld is the field that older papers took for it.",
    ),
)
