"""Optimal decision trees with prices of features, by pystreed, where it is installed.

pystreed (STreeD, :cite:t:`vanderLinden2023`) has the MIT licence, but brings scikit-survival, which has the GPL. So it is no
dependency, not even of the tests: ``pip install pystreed`` for this study alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.arrays import Mask
from shortlist.multistage.problem.costs import FeatureCosts
from shortlist_papers.opponents.budgeted_classifier import AskedOpponent
from shortlist_papers.opponents.greedy_miser import feature_of_columns

INSTALLED = find_spec("pystreed") is not None
ERRORS = (0.3, 0.7, 1.5, 3.0, 6.0, 12.0, 40.0, 1000.0)
"""Prices of an error, relative to the price of all features."""
DEPTHS, DEPTHS_OF_WIDE = (2, 4), (2, 3)
MOST_COLUMNS = 70
"""Number of binary columns; with more, trees have depth 3 at most: depth 4 takes half a minute a tree on 240."""
CUTS = 6
"""Quantiles of a column that it may be cut at; every value, where there are no more."""


@dataclass(frozen=True, eq=False)
class StreedTree:
    """A tree over binary columns, whose leaves know the shares of their fitted rows, with one row of each class more.

    Attributes
    ----------
    root : Any
        Its nodes, as pystreed has them.
    column, cut : ndarray, shape (n_binary,)
        Binary column b is whether encoded column ``column[b]`` is at most ``cut[b]``.
    feature : ndarray of int, shape (n_binary,)
        Whose price it has.
    n_features : int
    shares : dict
        Of each leaf, by the answers on the way to it.
    """

    root: Any
    column: NDArray[np.int64]
    cut: NDArray[np.float64]
    feature: NDArray[np.int64]
    n_features: int
    shares: dict[str, NDArray[np.float64]]

    def probabilities(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the shares of the leaf of each row; the leaf's own class is never less than another."""
        n_classes = len(next(iter(self.shares.values())))
        found = np.zeros((len(rows), n_classes))
        for way, _, there in self._leaves(self.root, rows, np.arange(len(rows)), "", frozenset()):
            found[there] = self.shares[way]
        return found

    def bought(self, rows: NDArray[np.float64]) -> Mask:
        """Return the features on the way to each row's leaf."""
        bought = np.zeros((len(rows), self.n_features), dtype=bool)
        for _, known, there in self._leaves(self.root, rows, np.arange(len(rows)), "", frozenset()):
            bought[np.ix_(there, np.array(sorted(known), dtype=np.int64))] = True
        return bought

    def _leaves(
        self, node: Any, rows: NDArray[np.float64], there: NDArray[np.int64], way: str, known: frozenset[int]
    ) -> Iterator[tuple[str, frozenset[int], NDArray[np.int64]]]:
        if node.is_leaf_node():
            yield way, known, there
            return
        b = node.feature
        low = rows[there, self.column[b]] <= self.cut[b]
        known |= {int(self.feature[b])}
        yield from self._leaves(node.left_child, rows, there[~low], way + "0", known)
        yield from self._leaves(node.right_child, rows, there[low], way + "1", known)


def streed_trees(
    asked: AskedOpponent, *, depths: Sequence[int] | None = None, errors: Sequence[float] = ERRORS
) -> Iterator[StreedTree]:
    """Yield the optimal tree of every depth for every price of an error; rows pay on the way to their leaf.

    What is minimised on the rows that fit is errors times their price and what the rows pay, groups included.
    """
    from pystreed import STreeDCostSensitiveClassifier
    from pystreed.data import CostSpecifier

    rows = asked.rows
    column, cut = binary_columns(rows.fit_rows)
    feature = feature_of_columns(rows)[column]
    binary = (rows.fit_rows[:, column] <= cut).astype(np.intc)
    total = asked.costs.total / asked.costs.scale
    prices = _prices(asked.costs, feature)
    if depths is None:
        depths = DEPTHS if binary.shape[1] <= MOST_COLUMNS else DEPTHS_OF_WIDE
    for depth in depths:
        for error in errors:
            matrix = (error * total * (1 - np.eye(rows.n_classes))).tolist()
            tree = STreeDCostSensitiveClassifier(max_depth=depth)
            tree.fit(binary, rows.fit_labels, CostSpecifier(matrix, prices))
            found = StreedTree(tree.get_tree(), column, cut, feature, rows.n_features, {})
            for way, _, there in found._leaves(
                found.root, rows.fit_rows, np.arange(len(binary)), "", frozenset()
            ):
                counts = 1 + np.bincount(rows.fit_labels[there], minlength=rows.n_classes)
                found.shares[way] = counts / counts.sum()
            yield found


def binary_columns(rows: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the columns and the cuts of "is at most": between values, or at quantiles where there are many."""
    columns: list[int] = []
    cuts: list[float] = []
    for number, values in enumerate(rows.T):
        distinct = np.unique(values)
        if len(distinct) <= CUTS + 1:
            found = (distinct[1:] + distinct[:-1]) / 2
        else:
            found = np.unique(np.quantile(values, np.linspace(0, 1, CUTS + 2)[1:-1]))
        columns += [number] * len(found)
        cuts += found.tolist()
    return np.array(columns, dtype=np.int64), np.array(cuts)


def _prices(costs: FeatureCosts, feature: NDArray[np.int64]) -> list[Any]:
    """Return pystreed's prices: a group's first feature pays its first price too. Ends are inclusive."""
    from pystreed.data import FeatureCostSpecifier

    found = []
    for number, (price, group) in enumerate(zip(costs.prices.tolist(), costs.groups.tolist(), strict=True)):
        own = np.flatnonzero(feature == number)
        if len(own):
            first = price + (int(costs.first_prices[group]) if group >= 0 else 0)
            named = f"group {group}" if group >= 0 else ""
            ends = int(own[0]), int(own[-1])
            found.append(FeatureCostSpecifier(first / costs.scale, price / costs.scale, named, *ends))
    return found
