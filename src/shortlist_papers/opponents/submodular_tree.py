"""ASTC: the tree of CSTC, grown greedily."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count, as_not_negative
from shortlist.arrays import Floats, Longs, Mask
from shortlist.multistage.problem.costs import FeatureCosts
from shortlist.multistage.subclassifiers.logistic_fits import standardised
from shortlist.pickles import saved_from
from shortlist_papers.opponents.budgeted_classifier import (
    AskedOpponent,
    BudgetedClassifier,
    Candidates,
    tried,
)
from shortlist_papers.opponents.cost_sensitive_tree import (
    LinearTree,
    class_targets,
    gate_scores,
    pruned,
)
from shortlist_papers.opponents.greedy_miser import added_prices, feature_of_columns

LEAST_ROWS = 20
"""Number of rows below which a node answers, and is not split."""
LEAST_GAIN = 1e-9
"""Share of the squared targets below which a feature's gain is too small."""
SAME_GAIN = 1e-9
"""Relative difference up to which gains count as equal, as the last bits of a gain depend on the processor.
"""


def grow_submodular(
    design: Floats, targets: Floats, gate: Floats, feature_of: Longs, costs: FeatureCosts, *,
    node_budget: float, n_levels: int,
) -> tuple[Floats, Floats, NDArray[np.bool_]]:  # fmt: skip
    """Return the tree of :cite:t:`Kusner2014`, in which each node buys features greedily and halves its rows.

    A node knows the features that nodes above it bought, and may spend `node_budget` times the price of all
    features on further features. While its budget lasts, the node takes the feature with the largest decrease
    of the squared error per price (:func:`greedy_features`). θ is the median of the gate scores.

    A node takes O(n_rows · n_columns · n_taken) time, where features are one column each.

    `design`: standardised columns, ones last, ``(n_rows, n_columns + 1)``. `targets`, ``(n_rows,
    n_outputs)``. `gate`, ``(n_outputs,)``. `feature_of`, ``(n_columns,)``. `node_budget`: share of the price
    of all features. `n_levels`: levels of nodes. `coefficients`, which it returns, ``(n_nodes, n_columns + 1,
    n_outputs)``. `thresholds`, which it returns, ``(n_nodes,)``. `inner`, which it returns, ``(n_nodes,)``.
    """
    n_nodes = 2**n_levels - 1
    coefficients = np.zeros((n_nodes, design.shape[1], targets.shape[1]))
    thresholds, inner = np.zeros(n_nodes), np.zeros(n_nodes, dtype=bool)
    known = np.zeros((n_nodes, len(costs.names)), dtype=bool)
    rows = {0: np.arange(len(design))}
    for node in range(n_nodes):
        if node not in rows:
            continue
        here = rows[node]
        if node:
            known[node] = known[(node - 1) // 2]
        taken = greedy_features(
            design[here], targets[here], feature_of, costs, known[node], budget=node_budget * costs.total
        )
        known[node] |= taken
        coefficients[node] = least_squares(design[here], targets[here], feature_of, taken)
        scores = gate_scores(design[here], coefficients[node], gate)
        thresholds[node] = np.median(scores)
        above = scores > thresholds[node]
        if 2 * node + 2 < n_nodes and len(here) >= LEAST_ROWS and above.any():
            inner[node] = True
            rows[2 * node + 1], rows[2 * node + 2] = here[above], here[~above]
    return coefficients, thresholds, inner


def greedy_features(
    design: Floats, targets: Floats, feature_of: Longs, costs: FeatureCosts, known: Mask, *, budget: float
) -> Mask:
    """Return the mask of features taken greedily by gain per price, while the budget lasts.

    The gain of a feature is the decrease of the least-squares error when the feature's columns join the
    columns already taken. The price is in addition to the known features; free features come first, by their
    gain. Of equal features the first is taken. All columns are kept orthogonal to the columns already taken,
    so a step costs one pass over the design.

    `design`: the last column, ones, is always used, ``(n_rows, n_columns + 1)``. `targets`, ``(n_rows,
    n_outputs)``. `feature_of`, ``(n_columns,)``. `known`: features bought before, which are free,
    ``(n_features,)``. `budget`: largest price to spend, in units.
    """
    columns = design[:, :-1] - design[:, :-1].mean(axis=0)
    scale = np.sqrt((columns**2).sum(axis=0))
    rest = targets - targets.mean(axis=0)
    total = float((targets**2).sum())
    taken, left = np.zeros(len(known), dtype=bool), float(budget)
    while True:
        prices = added_prices(costs, known | taken)
        open_features = np.flatnonzero(~taken & (prices <= left))
        gains = np.array([_explained(columns[:, feature_of == f], rest, scale[feature_of == f])[0]
                          for f in open_features])  # fmt: skip
        worth = np.flatnonzero(gains > LEAST_GAIN * total)
        if not len(worth):
            return taken
        free = worth[prices[open_features[worth]] == 0]
        ratios = gains[free] if len(free) else gains[worth] / prices[open_features[worth]]
        chosen = int(
            open_features[(free if len(free) else worth)[np.argmax(ratios >= ratios.max() * (1 - SAME_GAIN))]]
        )
        left -= float(prices[chosen])
        taken[chosen] = True
        basis = _explained(columns[:, feature_of == chosen], rest, scale[feature_of == chosen])[1]
        rest = rest - basis @ (basis.T @ rest)
        columns = columns - basis @ (basis.T @ columns)


def _explained(columns: Floats, rest: Floats, scale: Floats) -> tuple[float, Floats]:
    """Return the share of the squared residuals that columns explain, and the columns' orthonormal basis."""
    if columns.shape[1] == 1:  # the usual case, without a decomposition
        length = np.sqrt((columns**2).sum())
        basis = columns / length if length > 1e-7 * max(float(scale[0]), 1e-300) else columns[:, :0]
    else:
        left, lengths, _ = np.linalg.svd(columns, full_matrices=False)
        basis = left[:, lengths > 1e-7 * max(float(scale.max(initial=0.0)), 1e-300)]
    return float(((basis.T @ rest) ** 2).sum()), basis


def least_squares(design: Floats, targets: Floats, feature_of: Longs, taken: Mask) -> Floats:
    """Return the least-squares coefficients on the columns of some features and the ones.

    Of several solutions the shortest is returned. The coefficients of all other columns are 0.
    """
    used = np.append(taken[feature_of], True)
    coefficients = np.zeros((design.shape[1], targets.shape[1]))
    coefficients[used] = np.linalg.lstsq(design[:, used], targets, rcond=None)[0]
    return coefficients


@saved_from("shortlist_papers")
@dataclass(eq=False, repr=False, kw_only=True)
class ASTC(BudgetedClassifier):
    """Approximately submodular tree of classifiers with a terminal reject: the fast form of CSTC.

    The same tree, grown greedily (:func:`grow_submodular`, after :cite:t:`Kusner2014`), and pruned on the
    validation rows.

    `feature_costs`, `confidence`, `validation_share`, `reject_label`, `answer_rejected`, `random_state`: as
    in every opponent, see :class:`BudgetedClassifier`. `node_budget`: budget of each node, as a share of the
    price of all features, at least 0; several are tuned. `n_levels`: levels of nodes, from 1 to 8.

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

    node_budget: float | Sequence[float] = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
    n_levels: int = 3

    def _candidates(self, asked: AskedOpponent) -> Candidates:
        """Yield a tree per budget, the smallest first."""
        rows, costs = asked.rows, asked.costs
        design, centres, spreads = standardised(rows.fit_rows)
        targets, gate = class_targets(rows.fit_labels, rows.n_classes)
        targets_of_validation, _ = class_targets(rows.validation_labels, rows.n_classes)
        feature_of = feature_of_columns(rows)
        for node_budget in sorted(tried(self.node_budget, "node_budget", as_not_negative)):
            coefficients, thresholds, inner = grow_submodular(
                design, targets, gate, feature_of, costs, node_budget=node_budget, n_levels=self.n_levels
            )
            tree = LinearTree(
                coefficients, thresholds, inner, gate, centres, spreads, feature_of, rows.n_features
            )
            yield {"node_budget": node_budget}, pruned(tree, rows.validation_rows, targets_of_validation)
