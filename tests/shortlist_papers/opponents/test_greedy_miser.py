"""Greedy Miser: every split against all splits, every tree against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.multistage.problem.costs import FeatureCosts, feature_costs
from shortlist_papers.opponents.greedy_miser import (
    MiserSettings,
    MiserTrees,
    added_prices,
    grow_miser,
    negative_gradient,
    score_probabilities,
)
from tests.shortlist_papers.opponents.oracles import miser_split


def _drawn(draw: st.DrawFn) -> tuple[NDArray[np.float64], NDArray[np.int64], FeatureCosts, NDArray[np.int64]]:
    n_rows, n_columns = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    cells = st.lists(st.integers(0, 3), min_size=n_rows * n_columns, max_size=n_rows * n_columns)
    rows = np.array(draw(cells), dtype=float).reshape(n_rows, n_columns)
    n_classes = draw(st.integers(2, 3))
    labels = np.array(draw(st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows)))
    # the last feature has what is left of the columns, and two features share a first price
    n_features = draw(st.integers(1, n_columns))
    feature_of = np.minimum(np.arange(n_columns), n_features - 1)
    names = [str(f) for f in range(n_features)]
    prices = draw(st.lists(st.integers(0, 5), min_size=n_features, max_size=n_features))
    groups = dict.fromkeys(names[:2], "lab")
    return rows, labels, feature_costs(prices, names, groups=groups, first_prices={"lab": 2}), feature_of


@given(
    drawn=st.composite(_drawn)(),
    trade_off=st.sampled_from([0.0, 0.01, 0.1, 1.0]),
    loss=st.sampled_from(["logistic", "squared"]),
)
def test_every_split_is_a_best_one_and_every_leaf_a_mean(
    drawn: tuple[NDArray[np.float64], NDArray[np.int64], FeatureCosts, NDArray[np.int64]],
    trade_off: float,
    loss: str,
) -> None:
    rows, labels, costs, feature_of = drawn
    n_classes = int(labels.max()) + 1 if labels.max() > 0 else 2
    trees = grow_miser(
        rows,
        labels,
        n_classes,
        feature_of,
        costs,
        settings=MiserSettings(loss=loss, trade_off=trade_off, n_trees=3, n_levels=2),
    )
    targets = np.eye(n_classes)[labels]
    targets = targets[:, 1:] if n_classes == 2 else targets
    scores = np.tile(trees.start, (len(rows), 1))
    paid = np.zeros(len(costs.names), dtype=bool)
    for tree in range(len(trees.split_columns)):
        output = tree % targets.shape[1]
        if output == 0:
            residuals = negative_gradient(scores, targets, loss)
        charge = trade_off * len(rows) / max(1, costs.total)
        charges = [
            charge * float(costs.price(paid | (np.arange(len(paid)) == f)) - costs.price(paid))
            for f in feature_of
        ]
        used = _check_node(
            trees, tree, 0, rows=rows, residuals=residuals[:, output], charges=charges,
            here=np.arange(len(rows)), scores=scores[:, output],
        )  # fmt: skip
        paid[list(used)] = True


def _check_node(
    trees: MiserTrees, tree: int, node: int, *, rows: NDArray[np.float64], residuals: NDArray[np.float64],
    charges: list[float], here: NDArray[np.intp], scores: NDArray[np.float64],
) -> set[int]:  # fmt: skip
    """Check a node and what is below; add its leaves to the scores, and return the features used."""
    column = int(trees.split_columns[tree, node])
    unsplit = -(residuals[here].sum() ** 2) / len(here)
    last_level = 2 * node + 2 >= trees.split_columns.shape[1]
    least, splits = miser_split(rows[here], residuals[here], charges)
    if column < 0:
        assert last_level or least >= unsplit - 1e-6
        assert trees.values[tree, node] == pytest.approx(0.1 * residuals[here].mean())
        scores[here] += trees.values[tree, node]
        return set()
    assert least < unsplit
    assert (column, trees.thresholds[tree, node]) in splits
    left = rows[here, column] <= trees.thresholds[tree, node]
    below = (2 * node + 1, here[left]), (2 * node + 2, here[~left])
    return {int(trees.feature_of[column])}.union(
        *(
            _check_node(
                trees, tree, child, rows=rows, residuals=residuals, charges=charges, here=part, scores=scores
            )
            for child, part in below
        )
    )


def test_the_gradient_is_that_of_the_paper_for_two_classes() -> None:
    scores, y = np.array([[-2.0], [0.5], [3.0]]), np.array([1, -1, 1])
    found = negative_gradient(scores, (y[:, None] + 1) / 2, "logistic")[:, 0]
    assert found == pytest.approx(y / (1 + np.exp(y * scores[:, 0])))


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_gradient_is_that_of_the_log_likelihood(n_outputs: int) -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4, n_outputs))
    labels = rng.integers(0, max(2, n_outputs), 4)
    targets = np.eye(max(2, n_outputs))[labels]
    targets = targets[:, 1:] if n_outputs == 1 else targets

    def likelihood(at: NDArray[np.float64]) -> float:
        return float(np.log(score_probabilities(at, "logistic")[np.arange(4), labels]).sum())

    for place in np.ndindex(scores.shape):
        shift = np.zeros(scores.shape)
        shift[place] = 1e-5
        slope = (likelihood(scores + shift) - likelihood(scores - shift)) / 2e-5
        assert negative_gradient(scores, targets, "logistic")[place] == pytest.approx(slope, abs=1e-6)


def test_a_row_pays_for_its_own_paths_and_prefixes_are_shorter_runs() -> None:
    rng = np.random.default_rng(1)
    rows, costs = rng.normal(size=(80, 3)), feature_costs([1, 2, 3], "abc")
    labels = (rows[:, 0] + rows[:, 1] * (rows[:, 0] > 0) > 0).astype(np.int64)
    trees = grow_miser(rows, labels, 2, np.arange(3), costs, settings=MiserSettings(trade_off=0.1, n_trees=6))
    scores, bought = np.tile(trees.start, (80, 1)), np.zeros((80, 3), dtype=bool)
    for i, row in enumerate(rows):
        for columns, thresholds, values in zip(
            trees.split_columns, trees.thresholds, trees.values, strict=True
        ):
            k = 0
            while columns[k] >= 0:
                bought[i, columns[k]] = True
                k = 2 * k + (1 if row[columns[k]] <= thresholds[k] else 2)
            scores[i] += values[k]
    assert (trees.bought(rows) == bought).all()
    assert len(np.unique(bought.sum(axis=1))) > 1
    assert trees.probabilities(rows) == pytest.approx(score_probabilities(scores, "logistic"))
    short = grow_miser(rows, labels, 2, np.arange(3), costs, settings=MiserSettings(trade_off=0.1, n_trees=2))
    assert (trees.first(2).values == short.values).all()


def test_what_is_paid_for_is_free_afterwards() -> None:
    costs = feature_costs([1, 2, 3], "abc", groups={"a": "g", "b": "g"}, first_prices={"g": 10})
    assert added_prices(costs, np.zeros(3, dtype=bool)).tolist() == [11, 12, 3]
    assert added_prices(costs, np.array([True, False, False])).tolist() == [0, 2, 3]
