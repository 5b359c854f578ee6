"""The opponents' definitions, slow and plain: recursion, loops and enumeration."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def miser_split(
    rows: NDArray[np.float64], residuals: NDArray[np.float64], charges: Sequence[float]
) -> tuple[float, list[tuple[int, float]]]:
    """Return the least of -(Σ_L r)²/n_L - (Σ_R r)²/n_R + charge over all splits, and every split that has it."""
    least = math.inf
    splits: list[tuple[int, float]] = []
    for column in range(rows.shape[1]):
        values = sorted(set(rows[:, column].tolist()))
        for low, high in itertools.pairwise(values):
            threshold = (low + high) / 2
            left = rows[:, column] <= threshold
            value = charges[column]
            for side in (residuals[left], residuals[~left]):
                value -= sum(side.tolist()) ** 2 / len(side)
            if value < least - 1e-9:
                least, splits = value, []
            if value < least + 1e-9:
                splits.append((column, threshold))
    return least, splits


def tree_loss(
    coefficients: NDArray[np.float64], thresholds: NDArray[np.float64], loss: Any, *, smooth: float
) -> float:
    """Return the loss of a tree of linear classifiers, row by row and path by path."""
    n_nodes, n_rows = len(coefficients), len(loss.design)

    def score(node: int, row: int, output: int) -> float:
        return sum(
            float(loss.design[row, column]) * float(coefficients[node, column, output])
            for column in range(loss.design.shape[1])
        )

    def reach(node: int, row: int) -> float:
        if node == 0:
            return 1.0
        parent = (node - 1) // 2
        gate = sum(loss.gate[o] * score(parent, row, o) for o in range(len(loss.gate))) - thresholds[parent]
        opened = 1 / (1 + math.exp(-gate))
        return reach(parent, row) * (opened if node == 2 * parent + 1 else 1 - opened)

    total = 0.0
    for node in range(n_nodes):
        for row in range(n_rows):
            error = sum((loss.targets[row, o] - score(node, row, o)) ** 2 for o in range(len(loss.gate)))
            total += reach(node, row) * error / n_rows
        total += loss.sparsity * np.abs(coefficients[node, :-1]).sum()
        if 2 * node + 1 >= n_nodes:
            path = [node]
            while path[-1]:
                path.append((path[-1] - 1) // 2)
            price = 0.0
            for feature, each in enumerate(loss.prices):
                root = math.sqrt(
                    sum(
                        coefficients[k, column, o] ** 2
                        for k in path
                        for column in np.flatnonzero(loss.feature_of == feature)
                        for o in range(len(loss.gate))
                    )
                )
                price += each * (root if root >= smooth else (root**2 / smooth + smooth) / 2)
            total += loss.trade_off * price * sum(reach(node, row) for row in range(n_rows)) / n_rows
    return float(total)


def squared_error(columns: NDArray[np.float64], targets: NDArray[np.float64]) -> float:
    """Return the error of plain least squares with an intercept."""
    design = np.column_stack([columns, np.ones(len(columns))])
    found = np.linalg.lstsq(design, targets, rcond=None)[0]
    return float(((targets - design @ found) ** 2).sum())


def walked(tree: Any, row: NDArray[np.float64]) -> tuple[float, set[int]]:
    """Follow one of LightGBM's dumped trees; return what its leaf says, and the columns asked on the way."""
    node, asked = tree["tree_structure"], set()
    while "split_feature" in node:
        asked.add(node["split_feature"])
        assert node["decision_type"] == "<="
        node = node["left_child"] if row[node["split_feature"]] <= node["threshold"] else node["right_child"]
    return node["leaf_value"], asked
