"""Stages by price, and one stage with everything: the two opponents that choose nothing."""

from typing import ClassVar

import numpy as np

from shortlist.arrays import Mask
from shortlist.multistage.predict.prediction import StagedModel, fitted_stages
from shortlist.multistage.problem.costs import FeatureCosts
from shortlist.multistage.subclassifiers.subclassifiers import LogisticSubclassifiers
from shortlist.papers.opponents.budgeted_classifier import (
    Asked,
    BudgetedClassifier,
    Candidates,
    FixedStages,
    OneSubset,
)
from shortlist.pickles import saved_from


def price_stages(costs: FeatureCosts) -> Mask:
    """Return what is known after each stage, ``(n_stages, n_features)``: a stage per price, cheapest first.

    A feature's price is what it costs when it is bought alone.

    >>> from shortlist.multistage.problem.costs import feature_costs
    >>> price_stages(feature_costs([5, 1, 5, 2], "abcd")).astype(int).tolist()
    [[0, 1, 0, 0], [0, 1, 0, 1], [1, 1, 1, 1]]
    """
    alone = costs.price(np.eye(len(costs.names), dtype=bool))
    return np.asarray(alone <= np.unique(alone)[:, None])


@saved_from("shortlist.papers")
class CostOrderedStages(BudgetedClassifier):
    """CO-T: a stage per distinct price, in increasing price, with a terminal reject.

    The cost-ordered heuristic of Section 4.3 of :cite:t:`Hamilton2022`: ℓ2 logistic regression at each stage,
    and a row stops at the first stage that is confident. It has nothing to tune, so its validation rows only
    measure it.

    `feature_costs`, `confidence`, `validation_share`, `reject_label`, `answer_rejected`, `random_state`: as
    for every opponent, see :class:`BudgetedClassifier`.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ordered = CostOrderedStages(feature_costs=[1, 1, 5, 5], random_state=0).fit(X, y)
    >>> sorted(set(ordered.predict_cost(X).tolist()))
    [2.0, 12.0]
    """

    def _candidates(self, asked: Asked) -> Candidates:
        rows, costs = asked.rows, asked.costs
        fitted = LogisticSubclassifiers(rows)
        stages = fitted_stages(price_stages(costs), lambda subset: (fitted.model(subset), 0.0), costs)
        yield {}, FixedStages(StagedModel(rows.encoding, stages, asked.rule, costs))


@saved_from("shortlist.papers")
class SingleStage(BudgetedClassifier):
    """One logistic regression that buys every feature and answers every row.

    The traditional classifier of Section 4.3 of :cite:t:`Hamilton2022`, without a reject: `confidence` is
    checked and not used.

    `feature_costs`, `confidence`, `validation_share`, `reject_label`, `answer_rejected`, `random_state`: as
    for every opponent, see :class:`BudgetedClassifier`.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> single = SingleStage(feature_costs=[1, 1, 5, 5], random_state=0).fit(X, y)
    >>> set(single.predict_cost(X).tolist())
    {12.0}
    """

    REJECTS: ClassVar[bool] = False

    def _candidates(self, asked: Asked) -> Candidates:
        rows = asked.rows
        everything = np.ones(rows.n_features, dtype=bool)
        yield {}, OneSubset(everything, LogisticSubclassifiers(rows).model(everything))
