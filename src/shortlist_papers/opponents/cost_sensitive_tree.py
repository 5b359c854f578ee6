"""CSTC: a tree of linear classifiers trained with one loss for the tree, with the price of each path."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shortlist._validation import as_count, as_not_negative
from shortlist.arrays import Flags, Floats, Longs, Mask, products_in_order
from shortlist.multistage.subclassifiers.logistic_fits import standardised
from shortlist.pickles import saved_from
from shortlist_papers.opponents.budgeted_classifier import (
    AskedOpponent,
    BudgetedClassifier,
    Candidates,
    indicator_probabilities,
    tried,
)
from shortlist_papers.opponents.greedy_miser import feature_of_columns


def gate_scores(design: Floats, coefficients: Floats, gate: Floats) -> Floats:
    """Return the scores that a node compares with its threshold, ``(n_rows,)``.

    The threshold is the score of a fitted row, so this row must get exactly the same score again.
    """
    return products_in_order(design, products_in_order(coefficients, gate))


@saved_from("shortlist_papers")
@dataclass(frozen=True, eq=False)
class LinearTree:
    """Binary tree with a linear classifier and a gate at each node; node k has children 2k + 1, 2k + 2."""

    coefficients: Floats
    """β of each node, for standardised columns with ones last, ``(n_nodes, n_columns + 1, n_outputs)``."""
    thresholds: Floats
    """Threshold θ of each node, ``(n_nodes,)``; a gate score above it leads to the first child."""
    inner: Flags
    """Mask of the nodes that send rows on, ``(n_nodes,)``; all other nodes answer."""
    gate: Floats
    """Weights of the outputs in the gate score, ``(n_outputs,)``."""
    centres: Floats
    spreads: Floats
    """Spread of each column for standardising, ``(n_columns,)``."""
    feature_of: Longs
    """Feature of each column, ``(n_columns,)``."""
    n_features: int
    """Number of features."""

    def design(self, rows: NDArray[np.float64]) -> Floats:
        """Return standardised columns with ones last."""
        return np.column_stack([(rows - self.centres) / self.spreads, np.ones(len(rows))])

    def leaves(self, design: Floats) -> Longs:
        """Return the index of the node that answers each row."""
        at = np.zeros(len(design), dtype=np.int64)
        for node in np.flatnonzero(self.inner):  # parents come before their children
            here = np.flatnonzero(at == node)
            above = gate_scores(design[here], self.coefficients[node], self.gate) > self.thresholds[node]
            at[here] = np.where(above, 2 * node + 1, 2 * node + 2)
        return at

    def outputs(self, design: Floats, leaves: Longs) -> Floats:
        """Return the output of each row's node, ``(n_rows, n_outputs)``."""
        said = np.empty((len(design), len(self.gate)))
        for node in np.unique(leaves):
            here = leaves == node
            said[here] = products_in_order(design[here], self.coefficients[node])
        return said

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities, ``(n_rows, n_classes)``.

        Each node estimates class indicators: -1 and +1 for two classes, 0 and 1 for each of several classes.
        """
        design = self.design(rows)
        said = self.outputs(design, self.leaves(design))
        return indicator_probabilities((1.0 + said) / 2.0 if said.shape[1] == 1 else said)

    def bought(self, rows: NDArray[np.float64]) -> Mask:
        """Return the mask of the features with a coefficient on each row's path, ``(n_rows, n_features)``."""
        return self.known()[self.leaves(self.design(rows))]

    def known(self) -> Mask:
        """Return the mask of the features bought up to each node, ``(n_nodes, n_features)``."""
        known = np.zeros((len(self.inner), self.n_features), dtype=bool)
        for node in range(len(self.inner)):
            used = (self.coefficients[node, :-1] != 0).any(axis=1)
            known[node, self.feature_of[used]] = True
            if node:
                known[node] |= known[(node - 1) // 2]
        return known


def class_targets(labels: Longs, n_classes: int) -> tuple[Floats, Floats]:
    """Return the targets of a tree, ``(n_rows, n_outputs)``, and the weights of its gate.

    Two classes have one output of -1 and +1, which is also the gate score. With more classes there is one
    output per class, its indicator, and the gate score is the class index scaled to [-1, +1]. The paper
    regresses on the scaled class index; the scores are the same, since least squares is linear in the
    targets.
    """
    if n_classes == 2:
        return np.where(labels[:, None] == 1, 1.0, -1.0), np.ones(1)
    return np.eye(n_classes)[labels], np.linspace(-1.0, 1.0, n_classes)


def pruned(tree: LinearTree, rows: NDArray[np.float64], targets: Floats) -> LinearTree:
    """Return the tree without branches that do not lower the squared error on the validation rows.

    From below, a node keeps its children only if the rows that reach the node have a smaller error in the
    branches below than at the node.
    """
    design = tree.design(rows)
    inner = tree.inner.copy()
    reached = [tree.leaves(design)]  # from the leaves upwards, the node of each row at each level
    while reached[-1].any():
        reached.append(np.where(reached[-1] > 0, (reached[-1] - 1) // 2, 0))
    on_path = np.array(reached)
    for node in np.flatnonzero(tree.inner)[::-1]:
        here = np.flatnonzero((on_path == node).any(axis=0))
        cut = inner.copy()
        cut[node] = False
        errors = [_error(replace(tree, inner=each), design[here], targets[here]) for each in (cut, inner)]
        if errors[0] <= errors[1]:
            inner = cut
    return replace(tree, inner=inner)


def _error(tree: LinearTree, design: Floats, targets: Floats) -> float:
    return float(((tree.outputs(design, tree.leaves(design)) - targets) ** 2).sum())


SMOOTH = 1e-3
"""Size, in standardised units, below which a parabola replaces the root of a sum of squares."""
TINY = 1e-2
"""Length of a feature's coefficients at a node below which the node does not buy the feature."""


@dataclass(frozen=True, eq=False)
class TreeLoss:
    """Loss of a tree on some rows, and its gradient.

    With p the probability that a row reaches a node, 1 at the root, p·σ(g - θ) at the first child of a node
    and p·(1 - σ(g - θ)) at the second, where g is the gate score:

        Σ_k [ mean_i p_i^k ‖y_i - x_iᵀβ^k‖² + ρ‖β^k‖₁ ]
            + λ Σ_leaves p^l Σ_a c_a √( Σ_{j on path to l} Σ_{t of a} ‖β_t^j‖² )

    The tree and its two prices are those of :cite:t:`Xu2014`; the formula is the usual form and was not
    checked against that paper's numbering. Evaluating weak learners is free here, since each column is its
    own weak learner. Below :data:`SMOOTH`, z, the root √u is (u/z + z)/2, its upper bound at that z. The
    bound at each node's own z is the paper's way to a smooth problem, and touches the loss where z = √u: both
    have one gradient.
    """

    design: Floats
    """Standardised columns with ones last, ``(n_rows, n_columns + 1)``; the ones have no price and no
    penalty.
    """
    targets: Floats
    """Target of each output, ``(n_rows, n_outputs)``."""
    gate: Floats
    """Weights of the outputs in the gate score, ``(n_outputs,)``."""
    feature_of: Longs
    """Index of the feature of each column, ``(n_columns,)``."""
    prices: Floats
    """Prices c, relative to the price of all features, ``(n_features,)``."""
    trade_off: float
    sparsity: float
    """Factor λ of the price, and factor ρ of the ℓ1 norm."""
    n_levels: int
    """Number of levels of nodes; the last level is the leaves."""

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(2**self.n_levels - 1)

    def value(self, coefficients: Floats, thresholds: Floats) -> float:
        """Return the loss at coefficients, ``(n_nodes, n_columns + 1, n_outputs)``, and thresholds.

        The thresholds have the shape ``(n_nodes,)``.
        """
        return self.smooth_value(coefficients, thresholds) + self.sparsity * float(
            np.abs(coefficients[:, :-1]).sum()
        )

    def smooth_value(self, coefficients: Floats, thresholds: Floats) -> float:
        """Return the loss without the ℓ1 part."""
        return float(self._forward(coefficients, thresholds).to_go[0].mean())

    def gradient(self, coefficients: Floats, thresholds: Floats, node: int) -> tuple[Floats, float, Floats]:
        """Return the gradient of the smooth part for one node's β and θ, and the curvature of each row of β.

        The curvature is that of the squared error and of the bound on the price, without that of the gate.
        """
        n, forward = len(self.design), self._forward(coefficients, thresholds)
        pull = 2.0 * forward.reach[node][:, None] * (forward.outputs[node] - self.targets) / n
        for_threshold = 0.0
        first = 2 * node + 1
        if first < self.n_nodes:
            opened = forward.opened[node]
            turn = forward.reach[node] * opened * (1 - opened)
            turn = turn * (forward.to_go[first] - forward.to_go[first + 1]) / n
            pull = pull + turn[:, None] * self.gate
            for_threshold = -float(turn.sum())
        found = self.design.T @ pull
        reached = np.zeros(len(self.prices))
        for leaf in range(self.n_nodes // 2, self.n_nodes):
            if node in _path(leaf):
                share = forward.reach[leaf].mean()
                reached += self.trade_off * share * self.prices / np.maximum(forward.roots[leaf], SMOOTH)
        found[:-1] += reached[self.feature_of][:, None] * coefficients[node, :-1]
        curvature = 2.0 * (forward.reach[node] @ self.design**2) / n + 1e-9
        curvature[:-1] += reached[self.feature_of]
        return found, for_threshold, curvature

    def reaches(self, coefficients: Floats, thresholds: Floats) -> Floats:
        """Return the probability that each row reaches each node, ``(n_nodes, n_rows)``."""
        return self._forward(coefficients, thresholds).reach

    def _forward(self, coefficients: Floats, thresholds: Floats) -> "_Forward":
        outputs = np.matmul(self.design, coefficients)
        opened = 1.0 / (1.0 + np.exp(-np.clip(outputs @ self.gate - thresholds[:, None], -500, 500)))
        reach = np.ones((self.n_nodes, len(self.design)))
        for node in range(1, self.n_nodes):
            parent = (node - 1) // 2
            reach[node] = reach[parent] * (opened[parent] if node % 2 else 1 - opened[parent])
        to_go = ((self.targets - outputs) ** 2).sum(axis=2)
        squares = np.zeros((self.n_nodes, len(self.prices)))
        np.add.at(squares.T, self.feature_of, (coefficients[:, :-1] ** 2).sum(axis=2).T)
        roots = np.zeros_like(squares)
        for leaf in range(self.n_nodes // 2, self.n_nodes):
            roots[leaf] = np.sqrt(squares[_path(leaf)].sum(axis=0))
            smooth = np.where(roots[leaf] >= SMOOTH, roots[leaf], (roots[leaf] ** 2 / SMOOTH + SMOOTH) / 2)
            to_go[leaf] += self.trade_off * (self.prices @ smooth)
        for node in range(self.n_nodes // 2 - 1, -1, -1):
            first, second = to_go[2 * node + 1], to_go[2 * node + 2]
            to_go[node] += opened[node] * first + (1 - opened[node]) * second
        return _Forward(outputs, opened, reach, to_go, roots)


@dataclass(frozen=True, eq=False)
class _Forward:
    """Result of a pass over the tree, by node: outputs, open gates, reach, loss below, and roots."""

    outputs: Floats
    opened: Floats
    reach: Floats
    to_go: Floats
    roots: Floats


def _path(node: int) -> list[int]:
    path = [node]
    while path[-1]:
        path.append((path[-1] - 1) // 2)
    return path


def lower_loss(
    loss: TreeLoss, coefficients: Floats, thresholds: Floats, *, free: Flags, n_sweeps: int, tolerance: float
) -> list[float]:
    """Lower the loss in place, a node at a time; return its value at first and after every sweep.

    A step is a proximal gradient step of one node's β and θ, scaled by the curvature of each coefficient, and
    halved until the quadratic bound at the old point holds, so the loss never rises; the ℓ1 part sets
    coefficients to exactly 0. `free` marks the coefficients that may differ from 0. The sweeps end when a
    sweep gains less than `tolerance`, relative to the loss.
    """
    values = [loss.value(coefficients, thresholds)]
    steps = np.full(loss.n_nodes, 0.25)
    for _ in range(n_sweeps):
        for node in range(loss.n_nodes):
            steps[node] = _step(
                loss, coefficients, thresholds, node, free=free, size=float(steps[node]) * 2.0
            )
        values.append(loss.value(coefficients, thresholds))
        if values[-2] - values[-1] <= tolerance * abs(values[-2]):
            break
    return values


def _step(
    loss: TreeLoss, coefficients: Floats, thresholds: Floats, node: int, *, free: Flags, size: float
) -> float:
    """Take one step at a node; return its size, or the last tried size if no step lowers the loss."""
    before = loss.smooth_value(coefficients, thresholds)
    pull, turn, curvature = loss.gradient(coefficients, thresholds, node)
    old, old_threshold, scale = coefficients[node].copy(), float(thresholds[node]), curvature[:, None]
    for _ in range(40):
        new = old - size * pull / scale
        new[:-1] = np.sign(new[:-1]) * np.maximum(np.abs(new[:-1]) - size * loss.sparsity / scale[:-1], 0.0)
        new[~free[node]] = 0.0
        change, shift = new - old, -size * turn / curvature[-1]
        coefficients[node], thresholds[node] = new, old_threshold + shift
        bound = before + float((pull * change).sum()) + turn * shift
        bound += (float((scale * change**2).sum()) + float(curvature[-1]) * shift**2) / (2 * size)
        if loss.smooth_value(coefficients, thresholds) <= bound + 1e-12 * abs(before):
            return size
        size /= 2
    coefficients[node], thresholds[node] = old, old_threshold
    return size


def train_tree(loss: TreeLoss, *, n_sweeps: int = 60, tolerance: float = 1e-4) -> tuple[Floats, Floats]:
    """Train a tree level by level, then fix the bought features, and fit it again without their price.

    The root starts from least squares. When a level has settled, its nodes get children that start as copies,
    with the median gate score of the rows that reach them as θ. All nodes are then trained further, a
    top-down start as in :cite:t:`Xu2014`. At the end coefficients of features that are nearly absent at a
    node become 0, λ and ρ are dropped, and the remaining coefficients are fitted again.

    `coefficients`, which it returns, ``(n_nodes, n_columns + 1, n_outputs)``. `thresholds`, which it returns,
    ``(n_nodes,)``.
    """
    n_columns, n_outputs = loss.design.shape[1], loss.targets.shape[1]
    coefficients = np.zeros((1, n_columns, n_outputs))
    coefficients[0] = np.linalg.lstsq(loss.design, loss.targets, rcond=None)[0]
    thresholds = np.zeros(1)
    for n_levels in range(1, loss.n_levels + 1):
        part = _with_levels(loss, n_levels)
        if n_levels > 1:
            coefficients, thresholds = _with_children(part, coefficients, thresholds)
        free = np.ones(coefficients.shape, dtype=bool)
        lower_loss(part, coefficients, thresholds, free=free, n_sweeps=n_sweeps, tolerance=tolerance)
    kept = np.zeros((len(coefficients), len(loss.prices)))
    np.add.at(kept.T, loss.feature_of, (coefficients[:, :-1] ** 2).sum(axis=2).T)
    free = np.ones(coefficients.shape, dtype=bool)
    free[:, :-1] = (kept >= TINY**2)[:, loss.feature_of][:, :, None] & (coefficients[:, :-1] != 0)
    coefficients[~free] = 0.0
    refit = _with_levels(loss, loss.n_levels, priced=False)
    lower_loss(refit, coefficients, thresholds, free=free, n_sweeps=n_sweeps, tolerance=tolerance)
    return coefficients, thresholds


def _with_levels(loss: TreeLoss, n_levels: int, *, priced: bool = True) -> TreeLoss:
    return TreeLoss(
        loss.design, loss.targets, loss.gate, loss.feature_of, loss.prices,
        loss.trade_off if priced else 0.0, loss.sparsity if priced else 0.0, n_levels,
    )  # fmt: skip


def _with_children(loss: TreeLoss, coefficients: Floats, thresholds: Floats) -> tuple[Floats, Floats]:
    old = len(coefficients)
    parents = (np.arange(old, loss.n_nodes) - 1) // 2
    coefficients = np.concatenate([coefficients, coefficients[parents]])
    thresholds = np.concatenate([thresholds, np.zeros(loss.n_nodes - old)])
    for node in range(old // 2, old):  # the leaves of before open their gates in the middle of their rows
        scores = gate_scores(loss.design, coefficients[node], loss.gate)
        weights = loss.reaches(coefficients, thresholds)[node]
        order = np.argsort(scores, kind="stable")
        half = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
        thresholds[node] = scores[order][min(half, len(order) - 1)]
    return coefficients, thresholds


@saved_from("shortlist_papers")
@dataclass(eq=False, repr=False, kw_only=True)
class CSTC(BudgetedClassifier):
    """Cost-sensitive tree of classifiers with a terminal reject, CSTC* in Section 4.3 of the EMSCO paper.

    A tree of linear classifiers under one loss with the price of every path (:class:`TreeLoss`, after
    :cite:t:`Xu2014`), refitted without prices, and pruned on the validation rows. A row follows the gates,
    pays once for each feature with a coefficient on its path, and the last node answers.

    `feature_costs`, `confidence`, `validation_share`, `reject_label`, `answer_rejected`, `random_state`: as
    in every opponent, see :class:`BudgetedClassifier`. `trade_off`: λ, at least 0, relative to the price of
    all features; of several values one is chosen by tuning. `sparsity`: ρ, at least 0. `n_levels`: levels of
    nodes, from 1 to 8.

    In the loss a feature has the price of buying it alone; rows pay the exact price, groups included.

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

    trade_off: float | Sequence[float] = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
    sparsity: float = 0.001
    n_levels: int = 3

    def _candidates(self, asked: AskedOpponent) -> Candidates:
        """Yield a tree per trade-off, the dearest first."""
        rows, costs = asked.rows, asked.costs
        design, centres, spreads = standardised(rows.fit_rows)
        targets, gate = class_targets(rows.fit_labels, rows.n_classes)
        targets_of_validation, _ = class_targets(rows.validation_labels, rows.n_classes)
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
            yield {"trade_off": trade_off}, pruned(tree, rows.validation_rows, targets_of_validation)
