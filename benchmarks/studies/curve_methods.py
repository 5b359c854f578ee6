"""Candidates that buy features: fitted on some rows, each with its answers, how surely, and the price of a
row."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.studies.streed_trees import streed_trees
from shortlist.multistage.predict.prediction import (
    FittedStage,
    StagedModel,
    decide_known,
    stage_probabilities,
)
from shortlist.multistage.problem.reject_rules import reject_rule
from shortlist.multistage.problem.stages import acquired
from shortlist.multistage.question import refined_front
from shortlist.multistage.search.emsco import EmscoOptions, emsco
from shortlist.multistage.search.enumeration import enumerate_front
from shortlist.multistage.search.stage_objectives import StageProblem, stage_problem
from shortlist.multistage.subclassifiers.foreign_subclassifiers import (
    ForeignSubclassifiers,
    SharedSubclassifiers,
    stage_classifier,
)
from shortlist.multistage.subclassifiers.logistic_fits import LogisticSubclassifiers
from shortlist.multistage.subclassifiers.subclassifiers import DecisionBits, Subclassifiers
from shortlist.results.front import Front
from shortlist.runs import Budget
from shortlist_papers.opponents.budgeted_classifier import AskedOpponent, BudgetedClassifier, BudgetedModel
from shortlist_papers.opponents.greedy_miser import GreedyMiser
from shortlist_papers.opponents.lasso import L1Path
from shortlist_papers.opponents.lightgbm_trees import CostAwareLightGBM

CONFIDENCES = (0.65, 0.75, 0.85, 0.95)
STAGES = 3
MOST_ENUMERATED = 9
"""Features, with some left out of every stage; above, evolution searches."""
TRADE_OFFS = (30.0, 10.0, 5.0, 3.0, 2.0, 1.0, 0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.01, 0.0)
ROUNDS = (5, 10, 25, 50, 100)


@dataclass(frozen=True, eq=False)
class Judged:
    """Answers to some rows: the class of each, its probability, and the price that the row paid."""

    labels: NDArray[np.int64]
    confidence: NDArray[np.float64]
    costs: NDArray[np.float64]


Candidate: TypeAlias = Callable[[NDArray[np.float64]], Judged]
"""Judges encoded rows."""


def nothing_bought(asked: AskedOpponent) -> Candidate:
    """Give every row the largest class of the rows that were fitted, for nothing."""
    shares = np.bincount(asked.rows.fit_labels, minlength=asked.rows.n_classes) / len(asked.rows.fit_labels)

    def judge(rows: NDArray[np.float64]) -> Judged:
        n = len(rows)
        return Judged(np.full(n, shares.argmax()), np.full(n, shares.max()), np.zeros(n))

    return judge


def staged(asked: AskedOpponent) -> Iterator[Candidate]:
    """Yield the points of the fronts at several confidences; a row that is not answered gets its likeliest class."""
    fitted = LogisticSubclassifiers(asked.rows)
    for confidence in CONFIDENCES:
        problem, front = _searched(fitted, confidence, asked)
        for assignment in front.decisions.astype(np.int8):
            yield partial(_by_stages, _model_of(problem, assignment))


def boosted(asked: AskedOpponent) -> Iterator[Candidate]:
    """Yield the same where gradient boosting answers at the stages, one for all subsets while it is searched."""
    own = ForeignSubclassifiers(asked.rows, stage_classifier("boosting"), budget=Budget(seed=asked.seed))
    shared = SharedSubclassifiers(own, seed=asked.seed)
    for confidence in CONFIDENCES:
        searched, found = _searched(shared, confidence, asked)
        problem, front, _ = refined_front(searched, own, found)
        for assignment in front.decisions.astype(np.int8):
            yield partial(_by_stages, _model_of(problem, assignment))


def _searched(fitted: Subclassifiers, confidence: float, asked: AskedOpponent) -> tuple[StageProblem, Front]:
    rule = reject_rule(confidence, np.arange(asked.rows.n_classes))
    problem = stage_problem(DecisionBits(fitted, rule), asked.costs, max_stages=STAGES, removal=True)
    if asked.rows.n_features <= MOST_ENUMERATED:
        return problem, enumerate_front(problem).front()
    options = EmscoOptions(population=150, generations=60)
    return problem, emsco(problem, options, budget=Budget(seed=asked.seed)).front()


def _model_of(problem: StageProblem, assignment: NDArray[np.int8]) -> StagedModel:
    stages, known = [], np.zeros(problem.n_features, dtype=bool)
    subclassifiers = problem.decisions.subclassifiers
    for subset in acquired(assignment[None, :], int(assignment.max()) + 1)[0]:
        price = int(problem.costs.price(subset))
        bought = np.flatnonzero(subset & ~known)
        stages.append(FittedStage(bought, subset, subclassifiers.model(subset), 0.0, price))
        known = subset
    return StagedModel(subclassifiers.rows.encoding, tuple(stages), problem.decisions.rule, problem.costs)


def _by_stages(model: StagedModel, rows: NDArray[np.float64]) -> Judged:
    decided = decide_known(model, rows, guess=True)
    return Judged(
        decided.guesses, stage_probabilities(model, rows, decided.stages).max(axis=1), decided.costs
    )


def opponent(classifier: BudgetedClassifier, asked: AskedOpponent) -> Iterator[Candidate]:
    """Yield every setting of an opponent."""
    for _, model in classifier._candidates(asked):
        yield partial(_by_paths, model, asked)


def _by_paths(model: BudgetedModel, asked: AskedOpponent, rows: NDArray[np.float64]) -> Judged:
    probabilities = model.probabilities(rows)
    paid = asked.costs.price(model.bought(rows)) / asked.costs.scale
    return Judged(probabilities.argmax(axis=1), probabilities.max(axis=1), np.asarray(paid))


def trees(asked: AskedOpponent) -> Iterator[Candidate]:
    """Yield optimal trees with prices of features, for several prices of an error."""
    for model in streed_trees(asked):
        yield partial(_by_paths, model, asked)


def _lightgbm(charge: str) -> BudgetedClassifier:
    return CostAwareLightGBM(trade_off=TRADE_OFFS, n_trees=ROUNDS, charge=charge)


METHODS: dict[str, Callable[[AskedOpponent], Iterator[Candidate]]] = {
    "stages": staged,
    "stages-boosted": boosted,
    "lightgbm": partial(opponent, _lightgbm("feature")),
    "lightgbm-rows": partial(opponent, _lightgbm("row")),
    "l1-path": partial(opponent, L1Path()),
    "greedy-miser": partial(opponent, GreedyMiser(trade_off=TRADE_OFFS, n_trees=ROUNDS)),
    "pystreed": trees,
}
"""Ours first: what users would take instead follows."""


def candidates(method: str, asked: AskedOpponent) -> Iterator[Candidate]:
    """Yield the free answer of every method, then each setting of a method."""
    yield nothing_bought(asked)
    yield from METHODS[method](asked)
