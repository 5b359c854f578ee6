"""Optimal trees of the study of cost curves: their cuts, and their totals against every tree there is."""

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.studies.streed_trees import INSTALLED, binary_columns, streed_trees
from shortlist.multistage.problem.costs import FeatureCosts, feature_costs
from shortlist.multistage.problem.reject_rules import reject_rule
from shortlist.multistage.subclassifiers.encoding import learn_encoding
from shortlist.multistage.subclassifiers.subclassifiers import StageRows
from shortlist_papers.opponents.budgeted_classifier import AskedOpponent


def test_columns_are_cut_between_values_or_at_quantiles() -> None:
    few, many = np.tile([0.0, 1.0, 3.0], 40), np.arange(120.0)
    columns, cuts = binary_columns(np.column_stack([few, many]))
    assert columns.tolist() == [0, 0, *[1] * 6]
    assert cuts[:2].tolist() == [0.5, 2.0]
    assert cuts[2:] == pytest.approx(np.quantile(many, np.arange(1, 7) / 7))


def least_total(
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    costs: FeatureCosts,
    *,
    error: float,
    depth: int,
    known: frozenset[int] = frozenset(),
) -> float:
    """Return errors times their price and what rows pay, of the best of all trees of at most this depth."""
    own = np.isin(np.arange(3), list(known))
    least = error * min(int(y.sum()), int(len(y) - y.sum()))
    for feature in range(3) if depth else ():
        with_it = own | (np.arange(3) == feature)
        paid = int(costs.price(with_it) - costs.price(own)) / costs.scale * len(y)
        for value in np.unique(X[:, feature])[:-1]:
            low = X[:, feature] <= value
            below = (
                least_total(X[s], y[s], costs, error=error, depth=depth - 1, known=known | {feature})
                for s in (low, ~low)
            )
            least = min(least, paid + sum(below))
    return least


@pytest.mark.skipif(not INSTALLED, reason="pystreed is not installed: pip install pystreed")
@pytest.mark.parametrize("seed", range(4))
def test_a_tree_has_the_least_total_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(50, 3)).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=50) > 4.5).astype(np.int64)
    costs = feature_costs(
        {"a": 0.5, "b": 1.5, "c": 1.5}, "abc", groups={"a": "g", "b": "g"}, first_prices={"g": 0.5}
    )
    rows = StageRows(learn_encoding(X, list("abc")), X, y, X, y, 2)
    total = costs.total / costs.scale
    asked = AskedOpponent(rows, costs, reject_rule(0.75, np.array([0, 1])), 0)
    found = streed_trees(asked, depths=(2,), errors=(1.0, 3.0))
    for tree, error in zip(found, (1.0, 3.0), strict=True):
        wrong = int((tree.probabilities(X).argmax(axis=1) != y).sum())
        paid = float(costs.price(tree.bought(X)).sum()) / costs.scale
        expected = least_total(X, y, costs, error=error * total, depth=2)
        assert error * total * wrong + paid == pytest.approx(expected)
