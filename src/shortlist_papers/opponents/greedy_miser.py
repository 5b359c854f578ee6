"""The Greedy Miser: boosted regression trees whose splits pay for each feature at its first use."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_choice, as_count, as_not_negative, as_positive
from shortlist.arrays import Floats, Longs, Mask
from shortlist.multistage.problem.costs import FeatureCosts
from shortlist.multistage.subclassifiers.subclassifiers import StageRows
from shortlist.pickles import saved_from
from shortlist_papers.opponents._miser_kernels import GrownTree, SortedColumns, grow_tree, walk_trees
from shortlist_papers.opponents.budgeted_classifier import (
    AskedOpponent,
    BudgetedClassifier,
    Candidates,
    indicator_probabilities,
    tried,
)

LOSSES = ("logistic", "squared")
USUAL_TRADE_OFFS = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.0)


@saved_from("shortlist_papers")
@dataclass(frozen=True, eq=False)
class MiserTrees:
    """Boosted trees, each a heap: the children of node k are 2k + 1 and 2k + 2."""

    split_columns: Longs
    """Column that each node compares, ``(n_trees, n_nodes)``; -1 for leaves."""
    thresholds: Floats
    """Threshold of each node, ``(n_trees, n_nodes)``; rows with values up to the threshold go to the first
    child.
    """
    values: Floats
    """Increment of the score by each leaf, the learning rate included, ``(n_trees, n_nodes)``."""
    start: Floats
    """Score before the first tree, ``(n_outputs,)``. Tree t adds to output t modulo n_outputs."""
    feature_of: Longs
    """Feature of each column, ``(n_columns,)``."""
    loss: str
    """Name of the link from scores to probabilities, ``"logistic"`` or ``"squared"``."""
    n_features: int
    """Number of features."""

    def first(self, n_rounds: int) -> "MiserTrees":
        """Return the trees of the first rounds; a round has one tree per output."""
        n = n_rounds * len(self.start)
        return replace(
            self, split_columns=self.split_columns[:n], thresholds=self.thresholds[:n], values=self.values[:n]
        )

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities, ``(n_rows, n_classes)``."""
        return score_probabilities(self._walked(rows)[0], self.loss)

    def bought(self, rows: NDArray[np.float64]) -> Mask:
        """Return the mask of the features on each row's paths over all trees, ``(n_rows, n_features)``."""
        return self._walked(rows)[1]

    def _walked(self, rows: NDArray[np.float64]) -> tuple[Floats, Mask]:
        scores = np.tile(self.start, (len(rows), 1))
        bought = np.zeros((len(rows), self.n_features), dtype=bool)
        arrays: Any = (
            np.require(each, requirements=["C", "W"])  # kernels take only arrays that could be written
            for each in (rows, self.split_columns, self.thresholds, self.values, self.feature_of)
        )
        columns, split_columns, thresholds, values, feature_of = arrays
        walk_trees(columns, split_columns, thresholds, values, feature_of, scores, bought)
        return scores, bought


def score_probabilities(scores: Floats, loss: str) -> Floats:
    """Return class probabilities from scores: by the logistic function, or as estimates of indicators.

    With the logistic loss and two classes, the single score is the log-odds of the second class; with more
    classes a softmax is taken.
    """
    if loss == "squared":
        return indicator_probabilities(scores)
    odds = np.column_stack([np.zeros(len(scores)), scores]) if scores.shape[1] == 1 else scores
    shifted = np.exp(odds - odds.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def negative_gradient(scores: Floats, targets: Floats, loss: str) -> Floats:
    """Return -∂loss/∂H of every row and output, ``(n_rows, n_outputs)``.

    Squared loss ½(y - H)²: y - H. Logistic loss: y - p, with y the 0/1 indicator. For two classes the value
    equals y/(1 + exp(yH)) with y of -1 and +1.
    """
    if loss == "squared":
        return targets - scores
    probabilities = score_probabilities(scores, loss)
    return targets - (probabilities[:, 1:] if targets.shape[1] == 1 else probabilities)


@dataclass(frozen=True)
class MiserSettings:
    """Settings for growing the trees of the Greedy Miser."""

    loss: str = "logistic"
    """Name of the loss, ``"logistic"`` or ``"squared"``."""
    trade_off: float = 0.1
    """Factor λ of prices, per row and relative to the price of all features, so that the number of rows and
    the unit of the prices do not matter.
    """
    n_trees: int = 100
    """Number of rounds."""
    learning_rate: float = 0.1
    """Learning rate ν."""
    n_levels: int = 3
    """Largest number of splits between root and leaf."""


def grow_miser(
    rows: Floats,
    labels: Longs,
    n_classes: int,
    feature_of: Longs,
    costs: FeatureCosts,
    *,
    settings: MiserSettings,
) -> MiserTrees:
    """Return boosted trees, ``H ← H + ν·h``, which pay for features (after :cite:t:`Xu2012`).

    A node takes the column of feature f and the threshold that minimise, over the residuals r of its rows,

        -(Σ_L r)² / n_L - (Σ_R r)² / n_R + λ·n·c_f / ΣC,

    Here c_f is 0 once a finished tree has used the feature, and otherwise its price in addition to the
    features used by then. Thresholds are midpoints between distinct values; of equal gains the first column
    and the lowest threshold are taken. A node is split only if the minimum is below -(Σ r)² / n_node, and a
    leaf answers the mean of its residuals. Several classes have one tree per class in every round, in their
    order.

    The score starts at the class shares (squared loss), or at their logarithms (logistic), at no price, as
    the paper gives no start. Takes O(n_trees · n_outputs · n_levels · n_rows · n_columns) time.
    """
    n_rows, n_nodes = len(rows), 2 ** (settings.n_levels + 1) - 1
    indicators = np.eye(n_classes)[labels]
    targets = indicators[:, 1:] if n_classes == 2 else indicators
    shares = np.clip(indicators.mean(axis=0), 1e-9, 1.0)
    if settings.loss == "squared":
        start = targets.mean(axis=0)
    else:
        start = np.log(shares[1:] / shares[0]) if n_classes == 2 else np.log(shares)
    n_outputs = targets.shape[1]
    columns = np.ascontiguousarray(rows.T)
    orders = np.argsort(columns, axis=1, kind="stable").astype(np.int64)
    sorted_columns = SortedColumns(columns, orders, feature_of)
    scores = np.tile(start, (n_rows, 1))
    shape = (settings.n_trees * n_outputs, n_nodes)
    split_columns, thresholds, values = np.full(shape, -1, dtype=np.int64), np.zeros(shape), np.zeros(shape)
    leaves, room = np.zeros(n_rows, dtype=np.int64), np.zeros((6, n_nodes))
    paid = np.zeros(len(costs.names), dtype=bool)
    unit = settings.trade_off * n_rows / max(1, costs.total)
    charges = (unit * added_prices(costs, paid)).astype(np.float64)
    for tree in range(settings.n_trees * n_outputs):
        output = tree % n_outputs
        if output == 0:
            residuals = np.ascontiguousarray(negative_gradient(scores, targets, settings.loss).T)
        grown = GrownTree(split_columns[tree], thresholds[tree], values[tree], leaves, room)
        grow_tree(sorted_columns, residuals[output], charges, settings.n_levels, grown)
        values[tree] *= settings.learning_rate
        scores[:, output] += values[tree][leaves]
        used = feature_of[split_columns[tree][split_columns[tree] >= 0]]
        if not paid[used].all():
            paid[used] = True
            charges = (unit * added_prices(costs, paid)).astype(np.float64)
    return MiserTrees(split_columns, thresholds, values, start, feature_of, settings.loss, len(costs.names))


def added_prices(costs: FeatureCosts, known: Mask) -> NDArray[np.int64]:
    """Return the increment of the price by each further feature, ``(n_features,)``, in units.

    >>> from shortlist.multistage.problem.costs import feature_costs
    >>> costs = feature_costs([1, 2, 3], "abc", groups={"a": "g", "b": "g"}, first_prices={"g": 10})
    >>> added_prices(costs, np.array([True, False, False])).tolist()
    [0, 2, 3]
    >>> added_prices(costs, np.zeros(3, dtype=bool)).tolist()
    [11, 12, 3]
    """
    each = known | np.eye(len(known), dtype=bool)
    return np.asarray(costs.price(each) - costs.price(known))


def feature_of_columns(rows: StageRows) -> Longs:
    """Return the feature of each encoded column, ``(n_columns,)``."""
    return np.repeat(np.arange(rows.n_features), np.diff(rows.encoding.starts))


@saved_from("shortlist_papers")
@dataclass(eq=False, repr=False, kw_only=True)
class GreedyMiser(BudgetedClassifier):
    """The Greedy Miser with a terminal reject, GM* in Section 4.3 of :cite:t:`Hamilton2022`.

    Boosted regression trees (:func:`grow_miser`, after :cite:t:`Xu2012`). A row pays once for each feature on
    its paths over all trees.

    `feature_costs`, `confidence`, `validation_share`, `reject_label`, `answer_rejected`, `random_state`: as
    in every opponent, see :class:`BudgetedClassifier`. `loss`: ``"logistic"`` or ``"squared"``. `trade_off`:
    λ, at least 0: factor of prices, per row and relative to the price of all features; several are tuned.
    `n_trees`: number of rounds; several are tuned. `learning_rate`: ν. `n_levels`: largest number of splits
    between root and leaf, from 1 to 10.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> miser = GreedyMiser(feature_costs=[1, 1, 5, 5], random_state=0).fit(X, y)
    >>> bool(miser.predict_cost(X).max() < 12)
    True
    """

    CHECKS = BudgetedClassifier.CHECKS | {
        "loss": partial(as_choice, choices=LOSSES),
        "learning_rate": as_positive,
        "n_levels": partial(as_count, at_most=10),
        "trade_off": partial(tried, check=as_not_negative),
        "n_trees": partial(tried, check=as_count),
    }

    loss: str = "logistic"
    trade_off: float | Sequence[float] = USUAL_TRADE_OFFS
    n_trees: int | Sequence[int] = (10, 25, 50, 100)
    learning_rate: float = 0.1
    n_levels: int = 3

    def _candidates(self, asked: AskedOpponent) -> Candidates:
        """Yield every trade-off with every number of rounds; the trees are grown once for all numbers."""
        rows, costs = asked.rows, asked.costs
        rounds = sorted(tried(self.n_trees, "n_trees", as_count))
        feature_of = feature_of_columns(rows)
        for trade_off in tried(self.trade_off, "trade_off", as_not_negative):
            settings = MiserSettings(self.loss, trade_off, rounds[-1], self.learning_rate, self.n_levels)
            grown = grow_miser(
                rows.fit_rows, rows.fit_labels, rows.n_classes, feature_of, costs, settings=settings
            )
            for n_trees in rounds:
                yield {"trade_off": trade_off, "n_trees": n_trees}, grown.first(n_trees)
