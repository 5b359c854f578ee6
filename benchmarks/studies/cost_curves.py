"""Accuracy against what a row pays on new rows: stages beside what people would take instead, on six public tables.

python -m benchmarks cost-curves --data FOLDER [--seeds 10]

Every seed of every table and method is a unit of the study `out/cost-curves.db`, so that a run that was killed goes on from
there. Optimal trees need ``pip install pystreed``; without it they are left out.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t

from benchmarks.studies.curve_methods import METHODS, Judged, candidates
from benchmarks.studies.streed_trees import INSTALLED
from shortlist.multistage.holdout import split_three
from shortlist.multistage.presets import PRESETS
from shortlist.multistage.problem.cost_files import read_costs
from shortlist.multistage.problem.costs import FeatureCosts, feature_costs
from shortlist.multistage.problem.reject_rules import reject_rule
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.subclassifiers import StageRows
from shortlist.runs import Unit, Work, open_study, run_units
from shortlist.runs.cancellation import cancel_on_interrupt
from shortlist.tables.splits import RowNumbers
from shortlist_papers.opponents.budgeted_classifier import AskedOpponent

TABLES = {
    "pima_diabetes": "pima-indians-diabetes",
    "heart_disease_cleveland": "heart-disease",
    "heart_failure_clinical_records": "heart",
    "australian_credit": "credit",
    "breast_cancer_wisconsin_original": "",
    "diabetic_retinopathy_debrecen": "",
}
"""Source of prices: of real tests in dollars, of the paper on stages, or 1 each."""
REAL = ("pima-indians-diabetes", "heart-disease")
COVERAGES = (1.0, 0.8)
"""Shares of the rows that are answered: those that the method itself is surest about."""
RULES = ("best", "one-se")
"""Rules for the candidate within a limit: the most accurate on the rows that choose, or the cheapest within a
standard error of it."""
LIMITS = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 1.0)
"""Largest price of a row on the rows that choose, as a share of the price of all features."""
COMMON = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75)
"""Mean costs at which methods are compared, as shares."""
OURS = "stages"
OUT = Path(__file__).parents[2] / "out"


def cost_curves(
    folder: Path, *, seeds: int = 10, tables: Sequence[str] = tuple(TABLES), out: Path = OUT
) -> Iterator[dict[str, Any]]:
    """Yield for every table, coverage, method and cost the mean accuracy, and how far it is from ours, with margins."""
    out.mkdir(exist_ok=True)
    methods = [method for method in METHODS if method != "pystreed" or INSTALLED]
    units = [
        Unit(f"{name}/{method}/{seed}", measure, (folder, name, method, seed))
        for name in tables
        for seed in range(seeds)
        for method in methods
    ]
    with open_study(out / "cost-curves.db") as study, cancel_on_interrupt() as cancellation:
        work = Work(study=study, cancellation=cancellation)
        found = [row for _, rows in run_units(units, work, stage="measuring") for row in rows]
    for (name, coverage, rule), part in pd.DataFrame(found).groupby(
        ["table", "coverage", "rule"], sort=False
    ):
        for row in compared(part, COMMON):
            if rule == RULES[0] or row["cost"] is None:
                yield {"case": "cost-curves", "table": name, "coverage": coverage, "rule": rule} | row


def measure(folder: Path, name: str, method: str, seed: int) -> list[dict[str, Any]]:
    """Fit on half of the rows, choose by a quarter for every limit, and measure on the last quarter."""
    X, y = read_table(folder, name)
    fit, judge, test = split_three(y, seed=seed)
    rows = encoded(X, y, fit, judge)
    costs = prices(folder, name, list(X))
    total = costs.total / costs.scale
    asked = AskedOpponent(rows, costs, reject_rule(0.75, np.array([0, 1])), seed)
    new = rows.encoding.encode(range(X.shape[1]), X.iloc[test])
    judged, tested = [], []
    for candidate in candidates(method, asked):
        judged.append(measured(candidate(rows.validation_rows), rows.validation_labels, total))
        tested.append(measured(candidate(new), y[test], total))
    return [
        {"table": name, "method": method, "seed": seed, "coverage": coverage, "rule": rule, "limit": limit}
        | {"cost": tested[chosen][0], "accuracy": tested[chosen][place], "n_candidates": len(tested)}
        for place, coverage in enumerate(COVERAGES, start=1)
        for rule in RULES
        for limit in LIMITS
        for chosen in [
            chosen_within(np.array(judged), place, limit, len(judge) if rule == "one-se" else None)
        ]
    ]


def encoded(X: pd.DataFrame, y: NDArray[np.int64], fit: RowNumbers, judge: RowNumbers) -> StageRows:
    """Encode the rows that fit and that choose; which features have gaps is known of all rows."""
    encoding = learn_encoding(X.iloc[fit], list(X), X)
    own, other = (encoding.encode(range(X.shape[1]), X.iloc[part]) for part in (fit, judge))
    return StageRows(encoding, own, y[fit], other, y[judge], 2)


def read_table(folder: Path, name: str) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Return features without identifiers, and whether the class is another one than the first."""
    table = pd.read_csv(folder / "uci" / f"{name}.csv.gz")
    features = [column for column in table if column != "target" and not str(column).startswith("id_")]
    return table[features], (table["target"] != table["target"].min()).to_numpy().astype(np.int64)


def prices(folder: Path, name: str, features: list[str]) -> FeatureCosts:
    """Return the prices of a table."""
    source = TABLES[name]
    if source in REAL:
        return read_costs(folder / "costs" / "turney_costs.csv", features, dataset=source)
    return feature_costs(PRESETS[source].costs() if source else None, features)


def measured(judged: Judged, labels: NDArray[np.int64], total: float) -> list[float]:
    """Return the share of all prices that a row paid, and the accuracy at every coverage."""
    right = judged.labels == labels
    return [
        float(judged.costs.mean()) / total,
        *(surest(judged.confidence, right, share) for share in COVERAGES),
    ]


def surest(confidence: NDArray[np.float64], right: NDArray[np.bool_], share: float) -> float:
    """Return the accuracy on the share of the rows with the largest confidence; of equal rows any may be taken.

    Which of them is left open: they count with their mean.
    """
    _, place = np.unique(-confidence, return_inverse=True)
    counts = np.bincount(place)
    taken = np.clip(round(share * len(right)) - np.cumsum(counts) + counts, 0, counts)
    return float((taken * np.bincount(place, weights=right) / counts).sum() / taken.sum())


def chosen_within(judged: NDArray[np.float64], place: int, limit: float, n_rows: int | None = None) -> int:
    """Return the most accurate candidate that pays at most the limit, the cheapest of equals.

    With a number of rows the cheapest within one standard error of it, and of these the most accurate.
    """
    within = np.flatnonzero(judged[:, 0] <= limit)
    cost, accuracy = judged[within, 0], judged[within, place]
    if n_rows is None:
        return int(within[np.lexsort((cost, -accuracy))[0]])
    best = accuracy.max()
    enough = accuracy >= best - np.sqrt(best * (1 - best) / n_rows)
    return int(within[enough][np.lexsort((-accuracy[enough], cost[enough]))[0]])


def at_costs(
    costs: NDArray[np.float64], accuracies: NDArray[np.float64], wanted: Sequence[float]
) -> NDArray[np.float64]:
    """Return the accuracy of a curve at some costs.

    Between two points it is that of a lot between them, which pays and answers in between; points of equal cost count with
    their mean. After the last point nothing more is bought, and nothing gained.
    """
    distinct, place = np.unique(costs, return_inverse=True)
    means = np.bincount(place, weights=accuracies) / np.bincount(place)
    return np.interp(wanted, distinct, means)


def compared(rows: pd.DataFrame, wanted: Sequence[float]) -> Iterator[dict[str, Any]]:
    """Yield mean accuracies at the wanted costs, and the mean difference to ours on the same splits, with margins.

    Cost None is the mean over all wanted costs.
    """
    curves = {
        method: np.array([
            at_costs(part["cost"].to_numpy(), part["accuracy"].to_numpy(), wanted)
            for _, part in of_method.groupby("seed")
        ])
        for method, of_method in rows.groupby("method", sort=False)
    }  # fmt: skip
    for method, found in curves.items():
        difference = found - curves[OURS]
        for place, cost in enumerate([*wanted, None]):
            own, apart = (
                each.mean(axis=1) if cost is None else each[:, place] for each in (found, difference)
            )
            yield {
                "method": method, "n_seeds": len(own), "cost": cost,
                "accuracy": float(own.mean()), "accuracy_margin": margin(own),
                "difference": float(apart.mean()), "difference_margin": margin(apart),
            }  # fmt: skip


def margin(values: NDArray[np.float64], tested_share: float = 1 / 3) -> float:
    """Return the 95 % margin of a mean over splits that share rows.

    The corrected resampled t of :cite:t:`Nadeau2003`: the variance counts 1/n plus the rows that test over those that do not.
    """
    n = len(values)
    if n < 2:
        return float("nan")
    return float(t.ppf(0.975, n - 1) * np.sqrt((1 / n + tested_share) * values.var(ddof=1)))
