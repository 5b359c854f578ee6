"""EMSCO against its opponents on the paper's four tables (Figures 8 to 13), a split per seed.

python -m benchmarks emsco-opponents --data FOLDER [--seeds 50]

Every seed of every table and method is a unit of the study `out/emsco-opponents.db`, so that a run that was killed goes
on from there.
"""

import dataclasses
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.data.synthetic30 import SYNTHETIC30_CONFIDENCE, SYNTHETIC30_OPTIONS, synthetic30
from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.holdout import measure_on, split_three
from shortlist.multistage.presets import PRESETS
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.multistage.stage_comparison import (
    COLUMNS,
    OPPONENTS,
    compare_stage_methods,
    fit_quietly,
    stage_methods,
    with_margins,
)
from shortlist.reproduce.stage_problems import SETS
from shortlist.runs import Study, Unit, Work, open_study, run_units

TABLES = ("pima", "heart", "credit", "synthetic30")
OUT = Path(__file__).parents[2] / "out"
MOST_FEATURES_ENUMERATED = 14
MOST_STAGES_ENUMERATED = 4
"""More stages are walked in minutes per split (`multistage.csv`)."""


def emsco_opponents(
    folder: Path, *, seeds: int = 50, tables: tuple[str, ...] = TABLES, out: Path = OUT
) -> Iterator[dict[str, Any]]:
    """Yield the mean of every method on every table, then the stages of EMSCO's features by cost class."""
    out.mkdir(exist_ok=True)
    with open_study(out / "emsco-opponents.db") as study:
        for name in tables:
            yield from _table_rows(paper_table(folder, name), name, seeds, study.part(name))


def _table_rows(table: "PaperTable", name: str, seeds: int, study: Study) -> Iterator[dict[str, Any]]:
    """Yield the rows of one table."""
    methods = stage_methods(tuple(OPPONENTS), feature_costs=table.costs, confidence=table.confidence)
    results = compare_stage_methods(
        table.X, table.y, methods, n_seeds=seeds, work=Work(study=study.part("opponents"))
    )
    runs = list(_searches(table, seeds=seeds, study=study.part("searches")))
    searched = pd.DataFrame([{column: run[column] for column in COLUMNS} for run in runs])
    for row in with_margins(pd.concat([results, searched])).to_dict("records"):
        yield {"case": "emsco-opponents", "data": name, "total_cost": sum(table.costs.values())} | row
    yield from _stage_means(name, table.costs, [run["stages"] for run in runs if run["method"] == "emsco"])


@dataclasses.dataclass(frozen=True, eq=False)
class PaperTable:
    """One of the paper's tables, with its prices, its confidence and its parameters of evolution."""

    X: pd.DataFrame
    y: np.ndarray
    costs: dict[str, int]
    confidence: float
    options: EmscoOptions


def paper_table(folder: Path, name: str) -> PaperTable:
    """Return one of the paper's tables by name."""
    if name == "synthetic30":
        X, y, costs = synthetic30()
        X_frame = pd.DataFrame(X, columns=list(costs))
        return PaperTable(X_frame, y, costs, SYNTHETIC30_CONFIDENCE, SYNTHETIC30_OPTIONS)
    frame = pd.read_csv(folder / "uci" / f"{SETS[name].replace('-', '_')}.csv.gz")
    preset = PRESETS[name]
    y = frame["target"].to_numpy()
    return PaperTable(frame.drop(columns="target"), y, preset.costs(), preset.confidence, preset.options)


def paper_stages(n_features: int) -> int:
    """Return k. The text prints max(⌈n/2⌉, 10), more stages than Pima has features; Figure 13 shows at most the min."""
    return min(math.ceil(n_features / 2), 10)


def _searches(table: "PaperTable", *, seeds: int, study: Study) -> Iterator[dict[str, Any]]:
    """Yield what EMSCO picks, and what the complete front holds where it is walked in seconds."""
    k = paper_stages(table.X.shape[1])
    searches = {"emsco": k}
    if table.X.shape[1] <= MOST_FEATURES_ENUMERATED:
        searches["exact front"] = min(k, MOST_STAGES_ENUMERATED)
    study.bind({"stages": searches, "options": repr(table.options)})
    units = [
        Unit(f"{seed}/{search}", _run, (table, search, stages, seed))
        for search, stages in searches.items() for seed in range(seeds)
    ]  # fmt: skip
    for key, runs in run_units(units, Work(study=study)):
        print(key, flush=True)
        yield from runs


def _run(table: "PaperTable", search: str, stages: int, seed: int) -> list[dict[str, Any]]:
    """Search on one split; measure the fittest chromosome, and the one with the largest sum, on the test rows."""
    X, y = table.X, table.y
    fit, judge, test = split_three(y, seed=seed)
    classifier = MultiStageClassifier(
        feature_costs=table.costs, confidence=table.confidence, max_stages=stages, pick="norm", random_state=seed,
        method="emsco" if search == "emsco" else "enumerate",
        emsco_options=dataclasses.replace(table.options, population=300, generations=150, patience=20),
    )  # fmt: skip
    start = time.process_time()
    fit_quietly(classifier, X.iloc[fit], y[fit], (X.iloc[judge], y[judge]))
    seconds = time.process_time() - start
    coverage, accuracy, cost = classifier.front_.values.T
    by_sum = int(np.argmax(coverage + accuracy - cost / sum(table.costs.values())))
    rows = []
    for name, point in ((search, classifier.point_), (f"{search}, by the sum", by_sum)):
        classifier.use(point)
        found = measure_on(classifier, X.iloc[test], y[test])
        values = (seed, name, found.coverage, found.accuracy, found.cost, found.aggregate, seconds)
        rows.append(
            dict(zip(COLUMNS, values, strict=True)) | {"stages": (classifier.assignment_ + 1).tolist()}
        )
    return rows


def _stage_means(name: str, costs: dict[str, int], stages: list[list[int]]) -> Iterator[dict[str, Any]]:
    """Yield the mean stage of each feature in EMSCO's fittest chromosomes (Figure 13), cheapest first."""
    means = np.mean(stages, axis=0)
    for feature, cost, mean in sorted(
        zip(costs, costs.values(), means, strict=True), key=lambda each: each[1]
    ):
        yield {"case": "emsco-stages", "data": name, "method": feature, "cost": cost, "stage": round(float(mean), 3),
               "n_seeds": len(stages)}  # fmt: skip
