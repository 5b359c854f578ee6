"""The stage problems of :cite:t:`Hamilton2022`: its tables on a split, and its authors' example."""

import dataclasses
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Labels
from shortlist.datasets.shipped import synthetic30
from shortlist.multistage.holdout import split_three, summarize
from shortlist.multistage.predict.prediction import FittedStage, StagedModel, decide_known
from shortlist.multistage.presets import SYNTHETIC30, preset
from shortlist.multistage.problem.costs import feature_costs
from shortlist.multistage.problem.reject_rules import reject_rule
from shortlist.multistage.problem.stages import acquired
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.multistage.search.stage_objectives import StageProblem, stage_problem
from shortlist.multistage.subclassifiers.decision_bits import DecisionBits
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.subclassifiers import LogisticSubclassifiers, StageRows
from shortlist.tables.sets import read_set

if TYPE_CHECKING:
    import pandas as pd

SETS = {"pima": "pima-diabetes", "heart": "heart-failure-clinical-records", "credit": "australian-credit"}
"""The paper's sets, by the names of its settings; Synthetic30 is made."""

EXAMPLE = "emsco-example"
"""The folder with the authors' example."""
EXAMPLE_STAGES = 5

PAPER_EXAMPLE = {
    0.55: (0.6617, 0.9932, 32.80), 0.60: (0.7456, 0.9591, 75.85), 0.65: (0.7945, 0.9191, 92.24),
    0.70: (0.8306, 0.8497, 101.45), 0.75: (0.8578, 0.7478, 121.87), 0.80: (0.8903, 0.6586, 133.36),
    0.85: (0.9174, 0.5534, 145.22), 0.90: (0.9358, 0.4300, 152.15), 0.95: (0.9726, 0.2637, 157.98),
}  # fmt: skip
"""The authors' accuracy, coverage and cost on the test rows of their example, by confidence."""


SPLITS = {"pima": 4, "heart": 6, "credit": 75, SYNTHETIC30: 0}
"""The seed of the first split of every set: of those tried, the one whose fronts are nearest in size to
Table 6 (see docs/decisions/0051).
"""

STANDARDISED = False
"""Whether classifiers of stages take standardised columns, or columns as they are, as in the authors'
example.
"""


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
    """Return one of the paper's tables by name, whose evolution goes by the rules as printed."""
    table = synthetic30() if name == SYNTHETIC30 else read_set(SETS[name], folder)
    assert table is not None
    settings = preset(name)
    features, y = table.drop(columns="target"), table["target"].to_numpy()
    options = dataclasses.replace(settings.options, rules="paper")
    return PaperTable(features, y, settings.costs(), settings.confidence, options)


@dataclass(frozen=True, eq=False)
class SplitProblem:
    """The problem on the first two parts of a split, and the rows of the third."""

    problem: StageProblem
    test: NDArray[np.float64]
    labels: Labels


@functools.lru_cache(maxsize=4)
def paper_problem(folder: Path | None, name: str, *, max_stages: int, split: int = 0) -> SplitProblem:
    """State the problem of one of the paper's sets, with its settings, on one split.

    Parameters
    ----------
    folder : Path or None
        Where sets are looked for before the cache.
    name : str
        One of :data:`SETS`, or Synthetic30.
    max_stages : int
        k.
    split : int, default=0
        Number of the split, 50 : 25 : 25; its seed is counted from that of :data:`SPLITS`.

    Notes
    -----
    The last four are kept with all that was fitted, so that the runs of one process share their classifiers.
    """
    table = paper_table(folder, name)
    X, y = table.X, table.y
    fit, judge, test = split_three(y, seed=SPLITS[name] + split)
    rows = stage_rows(X.iloc[fit], y[fit], X.iloc[judge], y[judge])
    costs = feature_costs(table.costs, list(X))
    rule = reject_rule(table.confidence, np.unique(y))
    fits = LogisticSubclassifiers(rows, n_jobs=1, scale=STANDARDISED)
    problem = stage_problem(DecisionBits(fits, rule), costs, max_stages=max_stages)
    return SplitProblem(problem, rows.encoding.encode(range(X.shape[1]), X.iloc[test]), y[test])


def stage_rows(X: "pd.DataFrame", y: Labels, V: "pd.DataFrame", v: Labels) -> StageRows:
    """Encode rows that fit and rows that judge, of classes 0, 1 and so on."""
    encoding = learn_encoding(X, list(X))
    features = range(X.shape[1])
    return StageRows(
        encoding, encoding.encode(features, X), y.astype(np.int64), encoding.encode(features, V),
        v.astype(np.int64), int(max(y.max(), v.max())) + 1,
    )  # fmt: skip


def example_is_there(folder: Path | None) -> bool:
    """Whether a folder has the authors' example."""
    return folder is not None and (folder / EXAMPLE / "example_costs.txt").is_file()


@functools.cache
def _example_rows(folder: Path) -> tuple[LogisticSubclassifiers, NDArray[np.float64], Labels]:
    """Return the classifiers of the authors' example, which all confidences share, and its test rows."""
    import pandas as pd

    parts = {p: pd.read_csv(folder / EXAMPLE / f"example_{p}.csv") for p in ("train", "val", "test")}
    X = {part: table.drop(columns="label") for part, table in parts.items()}
    y = {part: table["label"].to_numpy() for part, table in parts.items()}
    rows = stage_rows(X["train"], y["train"], X["val"], y["val"])
    test = rows.encoding.encode(range(X["test"].shape[1]), X["test"])
    return LogisticSubclassifiers(rows, scale=STANDARDISED, n_jobs=1), test, y["test"]


@functools.lru_cache(maxsize=1)
def example_problem(folder: Path, level: float) -> SplitProblem:
    """State the problem of the authors' example at one confidence, on their split."""
    fits, test, labels = _example_rows(folder)
    prices = (folder / EXAMPLE / "example_costs.txt").read_text(encoding="utf-8").split(",")
    costs = feature_costs(
        [float(price) for price in prices], [code.name for code in fits.rows.encoding.codes]
    )
    decisions = DecisionBits(fits, reject_rule(level, np.array([0, 1])))
    return SplitProblem(stage_problem(decisions, costs, max_stages=EXAMPLE_STAGES), test, labels)


def measured_on_test(split: SplitProblem, assignment: NDArray[np.int8]) -> dict[str, float]:
    """Return accuracy, coverage and cost of an assignment on the test rows, and their sum.

    The sum is accuracy + coverage + 1 - cost / price of all features, as in Figure 12.
    """
    problem = split.problem
    stages, known = [], np.zeros(problem.n_features, dtype=bool)
    for subset in acquired(assignment[None, :], int(assignment.max()) + 1)[0]:
        model = problem.decisions.subclassifiers.model(subset)
        price = int(problem.costs.price(subset))
        stages.append(FittedStage(np.flatnonzero(subset & ~known), subset, model, 0.0, price))
        known = subset
    encoding = problem.decisions.subclassifiers.rows.encoding
    model_of_all = StagedModel(encoding, tuple(stages), problem.decisions.rule, problem.costs)
    found = summarize(
        decide_known(model_of_all, split.test),
        np.arange(problem.decisions.subclassifiers.rows.n_classes),
        split.labels,
        total_cost=problem.costs.total / problem.costs.scale,
    )
    return {
        "accuracy": found.accuracy, "coverage": found.coverage, "cost": found.cost,
        "aggregate": found.aggregate,
    }  # fmt: skip
