"""Stages: the engines, and what they are asked."""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_wine

from benchmarks.data.uci import read_uci
from benchmarks.regret.engines import DEFAULT, Answer, Engine, Instance, Kind, share_of_box
from shortlist.arrays import Labels
from shortlist.multistage.engines import search_stages
from shortlist.multistage.holdout import split_three
from shortlist.multistage.problem.costs import FeatureCosts, feature_costs
from shortlist.multistage.problem.reject_rules import reject_rule
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.multistage.search.stage_objectives import StageProblem, StageResult, stage_problem
from shortlist.multistage.subclassifiers.logistic_fits import LogisticSubclassifiers
from shortlist.multistage.subclassifiers.subclassifiers import DecisionBits, StageRows
from shortlist.results.proof import Proof, ProofKind
from shortlist.runs.budget import Budget
from shortlist_papers.landscapes import stage_rows

BUDGET = 100_000_000_000
"""The default of --set budget when the figures were measured; it is 2 * 10^9 since decision 107."""
LOADED = {"wine": load_wine, "breast cancer": load_breast_cancer}


class StageQuestion(NamedTuple):
    """Task: find the non-dominated stages; nothing is fitted yet."""

    rows: StageRows
    classes: Labels
    costs: FeatureCosts
    max_stages: int
    removal: bool

    def problem(self) -> StageProblem:
        """State the problem, with fits of its own."""
        rule = reject_rule(0.75, self.classes)
        decisions = DecisionBits(LogisticSubclassifiers(self.rows), rule)
        return stage_problem(decisions, self.costs, max_stages=self.max_stages, removal=self.removal)


def table_question(
    X: pd.DataFrame, y: Labels, n_features: int, max_stages: int, *, removal: bool = False
) -> StageQuestion:
    """Ask about the first split, with some features drawn at random and prices from 1 to 9."""
    drawn = np.random.default_rng(0).choice(X.shape[1], min(n_features, X.shape[1]), replace=False)
    X = X.iloc[:, np.sort(drawn)]
    prices = dict(zip(X.columns, np.random.default_rng(1).integers(1, 10, X.shape[1]).tolist(), strict=True))
    fit, held, _ = split_three(y, seed=0)
    rows = stage_rows(X.iloc[fit], y[fit], X.iloc[held], y[held])
    return StageQuestion(rows, np.unique(y), feature_costs(prices, list(X)), max_stages, removal)


def _table(
    folder: Path, name: str, n_features: int, max_stages: int, *, removal: bool = False
) -> StageQuestion:
    if name in LOADED:
        X, y = LOADED[name](return_X_y=True, as_frame=True)
        y = y.to_numpy()
    else:
        X, y = read_uci(folder, name)
    return table_question(X, np.unique(y, return_inverse=True)[1], n_features, max_stages, removal=removal)


def tiny_stages(rng: np.random.Generator) -> StageQuestion:
    """Ask about up to five features and three stages."""
    n = int(rng.integers(2, 6))
    y = rng.integers(0, 2, 60)
    X = pd.DataFrame(rng.normal(size=(60, n)) + 0.8 * y[:, None], columns=list("abcde")[:n])
    return table_question(X, y, n, min(3, n))


def volume(result: StageResult) -> float:
    """Return the hypervolume of coverage, accuracy and the part of the price that is saved."""
    values = np.unique(result.problem.values(result.measures), axis=0)
    points = values * np.array([-1, -1, 1])
    total = result.problem.costs.total / result.problem.costs.scale
    return share_of_box(points, np.array([-1.0, -1.0, 0.0]), np.array([0.0, 0.0, total]))


def staged(question: StageQuestion, budget: Budget, *, method: str = "auto") -> Answer:
    """Search for stages, fits included; evolution goes on until the time is over."""
    problem = question.problem()
    endless = EmscoOptions(patience=None, generations=10**6)
    found = search_stages(
        problem, method, emsco_options=endless, enumeration_budget=BUDGET, workers=1, budget=budget
    ).result
    complete = found.proof.kind is ProofKind.COMPLETE
    facts = sorted(map(tuple, problem.vectors(found.measures).tolist())) if complete else None
    return Answer(volume(found), complete, facts=facts)


def one_stage(question: StageQuestion, _budget: Budget) -> Answer:
    """Buy everything at once."""
    problem = question.problem()
    everything = np.zeros((1, problem.n_features), dtype=np.int8)
    measures, proof = problem.measures(everything), Proof(ProofKind.APPROXIMATE)
    return Answer(volume(StageResult(problem, everything, measures, "", proof, 0.0, {})), complete=False)


STAGE_ENGINES: dict[str, Engine] = {
    DEFAULT: staged,
    **{method: partial(staged, method=method) for method in ("enumerate", "emsco", "windows")},
}

STAGES = Kind(
    "stages",
    (
        Instance("heart_failure, 12 features, 4 stages", partial(_table, name="heart_failure_clinical_records", n_features=12, max_stages=4)),
        Instance("australian_credit, 14, 4", partial(_table, name="australian_credit", n_features=14, max_stages=4)),
        Instance("wine, 13, 3", partial(_table, name="wine", n_features=13, max_stages=3)),
        Instance("qsar_biodegradation, 16, 3", partial(_table, name="qsar_biodegradation", n_features=16, max_stages=3)),
        Instance("breast cancer, 18, 3", partial(_table, name="breast cancer", n_features=18, max_stages=3)),
        Instance("debrecen, 18, 3", partial(_table, name="diabetic_retinopathy_debrecen", n_features=18, max_stages=3)),
        Instance("australian_credit, 12, 3, features left out", partial(_table, name="australian_credit", n_features=12, max_stages=3, removal=True)),
        Instance("spambase, 57, 5", partial(_table, name="spambase", n_features=57, max_stages=5)),
    ),
    STAGE_ENGINES,
    tiny_stages,
)  # fmt: skip
