"""Trees of linear classifiers: what a fitted one is, how it routes rows, and how it is pruned."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Flags, Floats, Longs, Mask, products_in_order
from shortlist.papers.opponents.budgeted_models import indicator_probabilities
from shortlist.pickles import saved_from


def gate_scores(design: Floats, coefficients: Floats, gate: Floats) -> Floats:
    """Return the scores that a node compares with its threshold, ``(n_rows,)``.

    The threshold is the score of a row that fitted the tree, which must have the very same score again.
    """
    return products_in_order(design, products_in_order(coefficients, gate))


@saved_from("shortlist.papers")
@dataclass(frozen=True, eq=False)
class LinearTree:
    """A binary tree with a linear classifier and a gate at each node; node k has the children 2k + 1, 2k + 2.

    Attributes
    ----------
    coefficients : ndarray of float, shape (n_nodes, n_columns + 1, n_outputs)
        β of each node, for standardised columns with ones last.
    thresholds : ndarray of float, shape (n_nodes,)
        θ: a row goes to the first child where its gate score is above this.
    inner : ndarray of bool, shape (n_nodes,)
        Whether a node sends rows on; the others answer.
    gate : ndarray of float, shape (n_outputs,)
        The gate score is the outputs times these.
    centres, spreads : ndarray of float, shape (n_columns,)
        How columns are standardised.
    feature_of : ndarray of int64, shape (n_columns,)
        Feature of each column.
    n_features : int
        Number of features.
    """

    coefficients: Floats
    thresholds: Floats
    inner: Flags
    gate: Floats
    centres: Floats
    spreads: Floats
    feature_of: Longs
    n_features: int

    def design(self, rows: NDArray[np.float64]) -> Floats:
        """Return standardised columns with ones last."""
        return np.column_stack([(rows - self.centres) / self.spreads, np.ones(len(rows))])

    def leaves(self, design: Floats) -> Longs:
        """Return the node that answers each row."""
        at = np.zeros(len(design), dtype=np.int64)
        for node in np.flatnonzero(self.inner):  # parents come before their children
            here = np.flatnonzero(at == node)
            above = gate_scores(design[here], self.coefficients[node], self.gate) > self.thresholds[node]
            at[here] = np.where(above, 2 * node + 1, 2 * node + 2)
        return at

    def outputs(self, design: Floats, leaves: Longs) -> Floats:
        """Return what the node of each row says, ``(n_rows, n_outputs)``."""
        said = np.empty((len(design), len(self.gate)))
        for node in np.unique(leaves):
            here = leaves == node
            said[here] = products_in_order(design[here], self.coefficients[node])
        return said

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities, ``(n_rows, n_classes)``.

        A node estimates class indicators: of -1 and +1 for two classes, of 0 and 1 for each of several.
        """
        design = self.design(rows)
        said = self.outputs(design, self.leaves(design))
        return indicator_probabilities((1.0 + said) / 2.0 if said.shape[1] == 1 else said)

    def bought(self, rows: NDArray[np.float64]) -> Mask:
        """Return the features with a coefficient on the row's path, ``(n_rows, n_features)``, each once."""
        return self.known()[self.leaves(self.design(rows))]

    def known(self) -> Mask:
        """Mark the features bought on the way to each node, itself included, ``(n_nodes, n_features)``."""
        known = np.zeros((len(self.inner), self.n_features), dtype=bool)
        for node in range(len(self.inner)):
            used = (self.coefficients[node, :-1] != 0).any(axis=1)
            known[node, self.feature_of[used]] = True
            if node:
                known[node] |= known[(node - 1) // 2]
        return known


def class_targets(labels: Longs, n_classes: int) -> tuple[Floats, Floats]:
    """Return what a tree estimates, ``(n_rows, n_outputs)``, and the weights of its gate.

    Two classes: one output of -1 and +1, which is the gate score too. Several: an indicator each, and the
    gate score is their class number between -1 and +1: regressing on that number, as the paper does, gives
    the same scores, since least squares is linear in the targets.
    """
    if n_classes == 2:
        return np.where(labels[:, None] == 1, 1.0, -1.0), np.ones(1)
    return np.eye(n_classes)[labels], np.linspace(-1.0, 1.0, n_classes)


def pruned(tree: LinearTree, rows: NDArray[np.float64], targets: Floats) -> LinearTree:
    """Cut branches that do not lower the squared error on the rows that judge, from below.

    A node keeps its children only where the rows that reach it have a smaller error below than at the node.
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
