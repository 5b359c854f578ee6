"""Kernels of the Greedy Miser: growth of regression trees with priced splits, and paths of rows in trees.

A tree is a heap: node k has the children 2k + 1 and 2k + 2; a leaf has the column -1.
"""

from typing import NamedTuple

from shortlist._jit import kernel
from shortlist.arrays import Flags, Floats, FloatTable, Longs, LongTable

MOST_SWEEPS = 10_000


@kernel("int64(float64[:, ::1], float64[::1], float64[::1], float64[::1], float64)")
def minimise_quadratic(
    curvature: Floats, gradient: Floats, penalties: Floats, beta: Floats, tolerance: float
) -> int:
    """Minimise ½ (b - β)ᵀ H (b - β) + gᵀ(b - β) + Σ penalties |b| over b, from b = β, in place.

    `gradient` is g, and becomes the gradient at the answer. Coordinates whose curvature is 0 stay unchanged.
    The sweeps end when no step of a sweep changes a gradient by more than `tolerance` on its own scale; the
    number of sweeps is returned.
    """
    size = beta.shape[0]
    for sweep in range(MOST_SWEEPS):
        largest = 0.0
        for j in range(size):
            h = curvature[j, j]
            if h <= 1e-12:
                continue
            target = h * beta[j] - gradient[j]
            if target > penalties[j]:
                new = (target - penalties[j]) / h
            elif target < -penalties[j]:
                new = (target + penalties[j]) / h
            else:
                new = 0.0
            step = new - beta[j]
            if step != 0.0:
                beta[j] = new
                for i in range(size):
                    gradient[i] += curvature[i, j] * step
                change = abs(step) * h
                largest = max(largest, change)
        if largest <= tolerance:
            return sweep + 1
    return MOST_SWEEPS


class SortedColumns(NamedTuple):
    """Rows for growing trees, sorted by each column."""

    columns: FloatTable
    """Values, ``(n_columns, n_rows)``."""
    orders: LongTable
    """Row numbers by increasing value, ``(n_columns, n_rows)``."""
    feature_of: Longs
    """Feature of each column."""


class GrownTree(NamedTuple):
    """Arrays of one tree, which the caller provides and the kernel fills."""

    split_columns: Longs
    """Column that each node compares, ``(n_nodes,)``; -1 for a leaf."""
    thresholds: Floats
    """Threshold of each node, ``(n_nodes,)``; rows with values up to the threshold go to the first child."""
    means: Floats
    """Mean residual of each leaf, ``(n_nodes,)``."""
    leaves: Longs
    """Leaf of each row, ``(n_rows,)``."""
    room: FloatTable
    """Scratch memory, ``(6, n_nodes)``. For each node: row count and sum; count, sum and last value left of a
    split; and the best gain.
    """


@kernel("void(SortedColumns, float64[::1], float64[::1], int64, GrownTree)")
def grow_tree(
    rows: SortedColumns, residuals: Floats, charges: Floats, n_levels: int, tree: GrownTree
) -> None:
    """Grow one tree level by level; a split by feature f costs ``charges[f]``."""
    columns, orders, feature_of = rows.columns, rows.orders, rows.feature_of
    split_columns, thresholds, means = tree.split_columns, tree.thresholds, tree.means
    leaves, room = tree.leaves, tree.room
    n_columns, n_rows = columns.shape
    n_nodes = split_columns.shape[0]
    counts, sums, left_counts, left_sums, last, best = room[0], room[1], room[2], room[3], room[4], room[5]
    total = 0.0
    for i in range(n_rows):
        leaves[i] = 0
        total += residuals[i] * residuals[i]
    split_columns[:] = -1
    thresholds[:] = 0.0
    means[:] = 0.0
    first = 0
    for level in range(n_levels + 1):
        end = 2 * first + 1
        for k in range(first, end):
            counts[k] = 0.0
            sums[k] = 0.0
            best[k] = 1e-12 * total
        for i in range(n_rows):
            k = leaves[i]
            if k >= first:
                counts[k] += 1.0
                sums[k] += residuals[i]
        for k in range(first, end):
            if counts[k] > 0:
                means[k] = sums[k] / counts[k]
        if level == n_levels:
            break
        for c in range(n_columns):
            charge = charges[feature_of[c]]
            for k in range(first, end):
                left_counts[k] = 0.0
                left_sums[k] = 0.0
            for place in range(n_rows):
                i = orders[c, place]
                k = leaves[i]
                if k < first:
                    continue
                value = columns[c, i]
                if left_counts[k] > 0 and value > last[k]:
                    left, right = left_counts[k], counts[k] - left_counts[k]
                    rest = sums[k] - left_sums[k]
                    gain = (
                        left_sums[k] * left_sums[k] / left
                        + rest * rest / right
                        - sums[k] * sums[k] / counts[k]
                        - charge
                    )
                    if gain > best[k]:
                        best[k] = gain
                        split_columns[k] = c
                        middle = last[k] + (value - last[k]) / 2
                        thresholds[k] = middle if middle < value else last[k]
                left_counts[k] += 1.0
                left_sums[k] += residuals[i]
                last[k] = value
        for i in range(n_rows):
            k = leaves[i]
            if k >= first and split_columns[k] >= 0:
                leaves[i] = 2 * k + 1 if columns[split_columns[k], i] <= thresholds[k] else 2 * k + 2
        first = end
    for k in range(n_nodes):
        if split_columns[k] >= 0:
            means[k] = 0.0


@kernel(
    "void(float64[:, ::1], int64[:, ::1], float64[:, ::1], float64[:, ::1], int64[::1], float64[:, ::1], "
    "bool_[:, ::1])"
)
def walk_trees(
    rows: Floats,
    split_columns: Longs,
    thresholds: Floats,
    values: Floats,
    feature_of: Longs,
    scores: Floats,
    bought: Flags,
) -> None:
    """Add the leaf values of every tree to the scores, and mark the features on each row's paths.

    The scores have the shape ``(n_rows, n_outputs)``.

    Tree t adds to output t modulo n_outputs.
    """
    n_outputs = scores.shape[1]
    for i in range(rows.shape[0]):
        for t in range(split_columns.shape[0]):
            k = 0
            while split_columns[t, k] >= 0:
                c = split_columns[t, k]
                bought[i, feature_of[c]] = True
                k = 2 * k + 1 if rows[i, c] <= thresholds[t, k] else 2 * k + 2
            scores[i, t % n_outputs] += values[t, k]
