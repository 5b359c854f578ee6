"""EMSCO against its opponents on the paper's four tables (Figures 8 to 13), a split per seed.

python -m benchmarks emsco-opponents --data FOLDER [--seeds 50]

Every seed of every table and method is a unit of the study `out/emsco-opponents.db`, so that a run that was killed goes
on from there. Ctrl-C ends it with the splits that are finished. A fit of EMSCO on Synthetic30, the last table, takes a
minute of the processor, and most others a second.
"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from shortlist.multistage.estimators import MultiStageClassifier
from shortlist.multistage.holdout import measure_on, split_three
from shortlist.multistage.presets import SYNTHETIC30, preset
from shortlist.runs import Budget, Unit, Work, open_study
from shortlist.runs.budget import processor_seconds
from shortlist.runs.cancellation import cancel_on_interrupt
from shortlist_papers.landscapes import SETS, paper_table
from shortlist_papers.paper import PaperPlan, Rows, fingerprints, reproduce, sets_of
from shortlist_papers.papers import PAPERS
from shortlist_papers.stage_comparison import (
    COLUMNS,
    OPPONENTS,
    fit_quietly,
    measure_split,
    stage_methods,
    with_margins,
)
from shortlist_papers.stage_opponents import paper_stages

TABLES = (*SETS, SYNTHETIC30)
EXACT_FRONT = "exact front"
"""The fittest point of the complete front, in place of an evolved one."""
SEARCHED = ("emsco", EXACT_FRONT)
MOST_STAGES_ENUMERATED = 4
"""More stages are walked in minutes per split."""
OUT = Path(__file__).parents[2] / "out"
NO_TABLES = dataclasses.replace(PAPERS["emsco"], make_tables=lambda _rows: [])


def emsco_opponents(
    folder: Path, *, seeds: int = 50, tables: tuple[str, ...] = TABLES, out: Path = OUT
) -> Iterator[dict[str, Any]]:
    """Yield the mean of every method on every table, then the stages of EMSCO's features by cost class."""
    out.mkdir(exist_ok=True)
    found, missing = sets_of([SETS[name] for name in tables if name != SYNTHETIC30], folder)
    if missing:
        raise FileNotFoundError(" ".join(missing))
    units = [
        Unit(f"{name}/{seed}/{method}", _measured, (folder, name, method, seed))
        for name in tables
        for seed in range(seeds)
        for method in (*SEARCHED, *OPPONENTS)
        if method != EXACT_FRONT or name != SYNTHETIC30
    ]
    plan = PaperPlan(tuple(units), fingerprints(found))
    with open_study(out / "emsco-opponents.db") as study, cancel_on_interrupt() as cancellation:
        measured = reproduce(NO_TABLES, plan, Work(study=study, cancellation=cancellation)).rows
    for name, rows in measured.groupby("set", sort=False):
        whole = _whole_splits(rows)
        yield from _means(str(name), whole[whole["kind"] == "opponents"])
        yield from _stages(str(name), whole[(whole["kind"] == "feature") & (whole["method"] == "emsco")])


def _measured(folder: Path, name: str, method: str, seed: int, *, budget: Budget) -> Rows:
    """Fit and measure one method on the split of one seed."""
    table = paper_table(folder, name)
    if method in SEARCHED:
        return _searched(folder, name, method, seed, budget)
    fitted = stage_methods((method,), feature_costs=table.costs, confidence=table.confidence)[method]
    found = measure_split(table.X, table.y, method, fitted, seed, budget=budget)
    return [{"kind": "opponents", "set": name, "total": table.total, **found}]


def _searched(folder: Path, name: str, search: str, seed: int, budget: Budget) -> Rows:
    """Measure the fittest point of one split, and the one with the largest sum, on the test rows.

    Evolution goes by the rules that are the default of stage.
    """
    table = paper_table(folder, name)
    X, y = table.X, table.y
    fit, judge, test = split_three(y, seed=seed)
    k = paper_stages(X.shape[1])
    classifier = MultiStageClassifier(
        removal=False,
        feature_costs=table.costs, confidence=table.confidence, pick="norm", random_state=seed,
        max_stages=k if search == "emsco" else min(k, MOST_STAGES_ENUMERATED),
        method="emsco" if search == "emsco" else "enumerate", emsco_options=preset(name).options,
    )  # fmt: skip
    start = processor_seconds()
    fit_quietly(classifier, X.iloc[fit], y[fit], (X.iloc[judge], y[judge]), cancellation=budget.cancellation)
    seconds = processor_seconds() - start
    coverage, accuracy, cost = classifier.front_.values.T
    by_sum = int(np.argmax(coverage + accuracy - cost / table.total))
    stages: list[int] = (classifier.assignment_ + 1).tolist()
    rows: Rows = []
    for method, point in ((search, classifier.point_), (f"{search}, by the sum", by_sum)):
        classifier.use(point)
        found = measure_on(classifier, X.iloc[test], y[test])
        values = (seed, method, found.coverage, found.accuracy, found.cost, found.aggregate, seconds)
        facts = {"kind": "opponents", "set": name, "total": table.total}
        rows.append(facts | dict(zip(COLUMNS, values, strict=True)))
    return rows + [
        {"kind": "feature", "set": name, "seed": seed, "method": search, "feature": feature,
         "price": table.costs[feature], "stage": stage}
        for feature, stage in zip(X.columns, stages, strict=True)
    ]  # fmt: skip


def _whole_splits(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the splits on which every method was measured."""
    methods = rows.groupby("seed")["method"].nunique()
    return rows[rows["seed"].isin(methods.index[methods == methods.max()])]


def _means(name: str, rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the mean of every method on one table."""
    for row in with_margins(rows).to_dict("records"):
        yield {"case": "emsco-opponents", "data": name, "total_cost": int(rows["total"].iloc[0])} | row


def _stages(name: str, rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the mean stage of each feature in EMSCO's fittest chromosomes (Figure 13), cheapest first."""
    for (price, feature), part in rows.groupby(["price", "feature"], sort=True):
        yield {"case": "emsco-stages", "data": name, "method": feature, "cost": int(price),
               "stage": round(float(part["stage"].mean()), 3), "n_seeds": len(part)}  # fmt: skip
