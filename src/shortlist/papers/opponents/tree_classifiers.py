"""The two opponents that are trees of linear classifiers: CSTC, and ASTC, its fast form."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from shortlist._validation import as_count, as_not_negative
from shortlist.multistage.problem.costs import FeatureCosts
from shortlist.multistage.subclassifiers.logistic_fits import standardised
from shortlist.papers.opponents.budgeted_classifier import Asked, BudgetedClassifier, Candidates, tried
from shortlist.papers.opponents.cost_sensitive_tree import TreeLoss, train_tree
from shortlist.papers.opponents.greedy_miser import feature_of_columns
from shortlist.papers.opponents.linear_trees import LinearTree, class_targets, pruned
from shortlist.papers.opponents.submodular_tree import grow_submodular
from shortlist.pickles import saved_from


@saved_from("shortlist.papers")
class CSTC(BudgetedClassifier):
    """Cost-sensitive tree of classifiers with a terminal reject, CSTC* in Section 4.3 of the EMSCO paper.

    A tree of linear classifiers under one loss with the price of every path (:class:`TreeLoss`, after
    :cite:t:`Xu2014`), refitted without prices, and pruned on the validation rows. A row follows the gates,
    pays for the features with a coefficient on its path, each once, and the last node answers.

    Parameters
    ----------
    feature_costs, confidence, validation_share, reject_label, answer_rejected, random_state
        As for every opponent, see :class:`BudgetedClassifier`.
    trade_off : float or sequence of float
        λ, at least 0, relative to the price of all features; several are tuned.
    sparsity : float, default=0.001
        ρ, at least 0.
    n_levels : int, default=3
        Levels of nodes, from 1 to 8.

    Notes
    -----
    In the loss a feature's price is what it costs alone; what rows pay is exact, groups included.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CSTC(feature_costs=[1, 1, 5, 5], confidence=0.6, random_state=0).fit(X, y)
    >>> bool(tree.predict_cost(X).max() < 12)
    True
    """

    CHECKS = BudgetedClassifier.CHECKS | {
        "trade_off": partial(tried, check=as_not_negative),
        "sparsity": as_not_negative,
        "n_levels": partial(as_count, at_most=8),
    }

    def __init__(
        self,
        *,
        feature_costs: Mapping[str, float] | Sequence[float] | FeatureCosts | None = None,
        confidence: float | Mapping[Any, float] = 0.75,
        validation_share: float = 1 / 3,
        reject_label: Any = None,
        answer_rejected: bool = False,
        trade_off: float | Sequence[float] = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1),
        sparsity: float = 0.001,
        n_levels: int = 3,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            feature_costs=feature_costs, confidence=confidence, validation_share=validation_share,
            reject_label=reject_label, answer_rejected=answer_rejected, random_state=random_state,
        )  # fmt: skip
        self.trade_off = trade_off
        self.sparsity = sparsity
        self.n_levels = n_levels

    def _candidates(self, asked: Asked) -> Candidates:
        """Yield a tree per trade-off, the dearest first."""
        rows, costs = asked.rows, asked.costs
        design, centres, spreads = standardised(rows.fit_rows)
        targets, gate = class_targets(rows.fit_labels, rows.n_classes)
        judged, _ = class_targets(rows.validation_labels, rows.n_classes)
        feature_of = feature_of_columns(rows)
        prices = costs.price(np.eye(rows.n_features, dtype=bool)) / max(1, costs.total)
        for trade_off in sorted(tried(self.trade_off, "trade_off", as_not_negative), reverse=True):
            loss = TreeLoss(
                design, targets, gate, feature_of, prices, trade_off, float(self.sparsity), self.n_levels
            )
            coefficients, thresholds = train_tree(loss)
            inner = np.arange(loss.n_nodes) < loss.n_nodes // 2
            tree = LinearTree(
                coefficients, thresholds, inner, gate, centres, spreads, feature_of, rows.n_features
            )
            yield {"trade_off": trade_off}, pruned(tree, rows.validation_rows, judged)


@saved_from("shortlist.papers")
class ASTC(BudgetedClassifier):
    """Approximately submodular tree of classifiers with a terminal reject: the fast form of CSTC.

    The same tree, grown greedily (:func:`grow_submodular`, after :cite:t:`Kusner2014`), and pruned on the
    validation rows.

    Parameters
    ----------
    feature_costs, confidence, validation_share, reject_label, answer_rejected, random_state
        As for every opponent, see :class:`BudgetedClassifier`.
    node_budget : float or sequence of float
        What each node may spend, as a share of the price of all features, at least 0; several are tuned.
    n_levels : int, default=3
        Levels of nodes, from 1 to 8.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = ASTC(feature_costs=[1, 1, 5, 5], confidence=0.6, random_state=0).fit(X, y)
    >>> bool(tree.predict_cost(X).max() <= 12)
    True
    """

    CHECKS = BudgetedClassifier.CHECKS | {
        "node_budget": partial(tried, check=as_not_negative),
        "n_levels": partial(as_count, at_most=8),
    }

    def __init__(
        self,
        *,
        feature_costs: Mapping[str, float] | Sequence[float] | FeatureCosts | None = None,
        confidence: float | Mapping[Any, float] = 0.75,
        validation_share: float = 1 / 3,
        reject_label: Any = None,
        answer_rejected: bool = False,
        node_budget: float | Sequence[float] = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0),
        n_levels: int = 3,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            feature_costs=feature_costs, confidence=confidence, validation_share=validation_share,
            reject_label=reject_label, answer_rejected=answer_rejected, random_state=random_state,
        )  # fmt: skip
        self.node_budget = node_budget
        self.n_levels = n_levels

    def _candidates(self, asked: Asked) -> Candidates:
        """Yield a tree per budget, the smallest first."""
        rows, costs = asked.rows, asked.costs
        design, centres, spreads = standardised(rows.fit_rows)
        targets, gate = class_targets(rows.fit_labels, rows.n_classes)
        judged, _ = class_targets(rows.validation_labels, rows.n_classes)
        feature_of = feature_of_columns(rows)
        for node_budget in sorted(tried(self.node_budget, "node_budget", as_not_negative)):
            coefficients, thresholds, inner = grow_submodular(
                design, targets, gate, feature_of, costs, node_budget=node_budget, n_levels=self.n_levels
            )
            tree = LinearTree(
                coefficients, thresholds, inner, gate, centres, spreads, feature_of, rows.n_features
            )
            yield {"node_budget": node_budget}, pruned(tree, rows.validation_rows, judged)
