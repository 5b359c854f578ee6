"""CSTC: its loss against plain loops, its gradient against differences, its training against other minima."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from shortlist_papers.opponents.cost_sensitive_tree import (
    SMOOTH,
    LinearTree,
    TreeLoss,
    class_targets,
    gate_scores,
    lower_loss,
    pruned,
    train_tree,
)
from tests.examples import examples
from tests.layouts import check_rows_stand_alone
from tests.shortlist_papers.opponents.oracles import tree_loss


def _loss(
    seed: int, *, n_rows: int = 6, n_levels: int = 2, n_classes: int = 2, trade_off: float = 0.7
) -> TreeLoss:
    rng = np.random.default_rng(seed)
    design = np.column_stack([rng.normal(size=(n_rows, 3)), np.ones(n_rows)])
    labels = rng.integers(0, n_classes, n_rows)
    targets, gate = class_targets(labels, n_classes)
    # the last feature has two columns
    return TreeLoss(
        design, targets, gate, np.array([0, 1, 1]), np.array([0.7, 0.3]), trade_off, 0.05, n_levels
    )


@given(seed=st.integers(0, 1000), n_levels=st.integers(1, 3), n_classes=st.integers(2, 3))
@examples(20)
def test_the_loss_is_that_of_the_paper(seed: int, n_levels: int, n_classes: int) -> None:
    loss = _loss(seed, n_levels=n_levels, n_classes=n_classes)
    rng = np.random.default_rng(seed)
    coefficients = rng.normal(size=(loss.n_nodes, 4, len(loss.gate))) * (
        rng.random((loss.n_nodes, 4, 1)) < 0.6
    )
    thresholds = rng.normal(size=loss.n_nodes)
    assert loss.value(coefficients, thresholds) == pytest.approx(
        tree_loss(coefficients, thresholds, loss, smooth=SMOOTH)
    )


@given(seed=st.integers(0, 1000), n_classes=st.integers(2, 3))
@examples(10)
def test_the_gradient_is_the_limit_of_differences(seed: int, n_classes: int) -> None:
    loss = _loss(seed, n_levels=3, n_classes=n_classes)
    rng = np.random.default_rng(seed)
    coefficients = rng.normal(size=(loss.n_nodes, 4, len(loss.gate)))
    thresholds = rng.normal(size=loss.n_nodes)
    for node in range(loss.n_nodes):
        pull, turn, _ = loss.gradient(coefficients, thresholds, node)
        for place in np.ndindex(pull.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = coefficients.copy()
                moved[(node, *place)] += step
                ends.append(loss.smooth_value(moved, thresholds))
            assert pull[place] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-5)
        ends = [loss.smooth_value(coefficients, thresholds + step * np.eye(loss.n_nodes)[node])
                for step in (1e-6, -1e-6)]  # fmt: skip
        assert turn == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-5)


@pytest.mark.parametrize("trade_off", [0.0, 0.3, 3.0])
def test_one_node_reaches_the_minimum_that_another_solver_finds(trade_off: float) -> None:
    loss = _loss(1, n_rows=30, n_levels=1, trade_off=trade_off)
    coefficients, thresholds = np.zeros((1, 4, 1)), np.zeros(1)
    coefficients[0] = np.linalg.lstsq(loss.design, loss.targets, rcond=None)[0]
    free = np.ones(coefficients.shape, dtype=bool)
    values = lower_loss(loss, coefficients, thresholds, free=free, n_sweeps=5000, tolerance=0.0)
    theirs = scipy.optimize.minimize(
        lambda flat: loss.value(flat.reshape(1, 4, 1), np.zeros(1)), np.zeros(4), method="Powell",
        options={"xtol": 1e-9, "ftol": 1e-12, "maxiter": 20000},
    )  # fmt: skip
    assert values[-1] == pytest.approx(theirs.fun, abs=1e-4)
    assert values[-1] <= theirs.fun + 1e-6


@given(seed=st.integers(0, 1000), n_classes=st.integers(2, 3))
@examples(5)
def test_no_sweep_raises_the_loss_and_no_small_step_lowers_it_at_the_end(seed: int, n_classes: int) -> None:
    loss = _loss(seed, n_rows=12, n_levels=2, n_classes=n_classes)
    rng = np.random.default_rng(seed)
    coefficients, thresholds = rng.normal(size=(3, 4, len(loss.gate))), rng.normal(size=3)
    free = np.ones(coefficients.shape, dtype=bool)
    values = lower_loss(loss, coefficients, thresholds, free=free, n_sweeps=150, tolerance=1e-7)
    assert (np.diff(values) <= 1e-9).all()
    if len(values) == 151:  # not settled yet: nothing to say about the end
        return
    for place in np.ndindex(coefficients.shape):
        for step in (1e-2, -1e-2):
            moved = coefficients.copy()
            moved[place] += step
            assert loss.value(moved, thresholds) >= values[-1] - 1e-3


def test_training_beats_random_trees_and_drops_features_as_prices_rise() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3))
    labels = (rows[:, 0] + 0.3 * rows[:, 1] > 0).astype(np.int64)
    targets, gate = class_targets(labels, 2)
    design = np.column_stack([rows, np.ones(200)])
    bought = []
    for trade_off in (0.01, 1.0, 100.0):
        loss = TreeLoss(design, targets, gate, np.arange(3), np.array([0.1, 0.6, 0.3]), trade_off, 0.001, 2)
        coefficients, thresholds = train_tree(loss)
        free = TreeLoss(design, targets, gate, np.arange(3), loss.prices, 0.0, 0.0, 2)
        value = free.value(coefficients, thresholds)
        for _ in range(50):  # random trees with the same features
            other = rng.normal(size=coefficients.shape) * (coefficients != 0)
            assert free.value(other, rng.normal(size=3)) >= value
        bought.append(int((coefficients[:, :-1] != 0).any(axis=(0, 2)).sum()))
    assert bought[0] >= bought[1] >= bought[2]
    assert bought[0] == 3
    assert bought[2] < 3


def test_training_is_deterministic() -> None:
    loss = _loss(4, n_rows=40, n_levels=3)
    first, second = train_tree(loss), train_tree(loss)
    assert (first[0] == second[0]).all()
    assert (first[1] == second[1]).all()


def _tree(seed: int, n_classes: int = 2) -> tuple[LinearTree, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    targets, gate = class_targets(rng.integers(0, n_classes, 30), n_classes)
    coefficients = rng.normal(size=(7, 4, len(gate))) * (rng.random((7, 4, 1)) < 0.5)
    tree = LinearTree(
        coefficients, rng.normal(size=7) / 4, np.arange(7) < 3, gate, rng.normal(size=3),
        rng.random(3) + 0.5, np.array([0, 1, 1]), 2,
    )  # fmt: skip
    return tree, rng.normal(size=(30, 3)), targets


def _by_hand(tree: LinearTree, row: np.ndarray) -> tuple[int, np.ndarray, set[int]]:
    design = np.append((row - tree.centres) / tree.spreads, 1.0)
    node, bought = 0, set[int]()
    while True:
        bought |= {int(tree.feature_of[c]) for c in range(3) if tree.coefficients[node, c].any()}
        said = design @ tree.coefficients[node]
        if not tree.inner[node]:
            return node, said, bought
        node = 2 * node + 1 if said @ tree.gate > tree.thresholds[node] else 2 * node + 2


@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 3))
def test_rows_go_pay_and_are_answered_as_one_at_a_time(seed: int, n_classes: int) -> None:
    tree, rows, _ = _tree(seed, n_classes)
    bought, probabilities = tree.bought(rows), tree.probabilities(rows)
    for place, row in enumerate(rows):
        _, said, features = _by_hand(tree, row)
        assert set(np.flatnonzero(bought[place]).tolist()) == features
        if n_classes == 2:
            assert probabilities[place, 1] == pytest.approx(min(1.0, max(0.0, (1 + said[0]) / 2)))
        elif (said > 0).any():
            assert probabilities[place] == pytest.approx(
                np.clip(said, 0, None) / np.clip(said, 0, None).sum()
            )
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(30))


@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 3))
def test_pruning_takes_the_best_of_all_cuts(seed: int, n_classes: int) -> None:
    tree, rows, targets = _tree(seed, n_classes)
    found = pruned(tree, rows, targets)

    def error(inner: list[bool]) -> float:
        cut = replace(tree, inner=np.array([*inner, False, False, False, False]))
        return sum(float(((t - _by_hand(cut, r)[1]) ** 2).sum()) for r, t in zip(rows, targets, strict=True))

    cuts = [[False] * 3, *([True, a, b] for a in (False, True) for b in (False, True))]
    assert error(found.inner[:3].tolist()) == pytest.approx(min(map(error, cuts)))
    assert not found.inner[3:].any()


def test_the_gate_of_several_classes_is_the_regression_on_their_number() -> None:
    rng = np.random.default_rng(0)
    design, labels = np.column_stack([rng.normal(size=(40, 2)), np.ones(40)]), rng.integers(0, 3, 40)
    targets, gate = class_targets(labels, 3)
    by_class = np.linalg.lstsq(design, targets, rcond=None)[0] @ gate
    assert by_class == pytest.approx(np.linalg.lstsq(design, labels - 1.0, rcond=None)[0])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_takes_the_same_way_whatever_rows_are_beside_it(n_classes: int) -> None:
    # the thresholds are scores of rows, as those that are medians; a bit more or less is the other way
    for seed in range(8):
        tree, rows, _ = _tree(seed, n_classes)
        thresholds = tree.thresholds.copy()
        for node in range(3):
            thresholds[node] = gate_scores(tree.design(rows), tree.coefficients[node], tree.gate)[seed + node]
        tree = replace(tree, thresholds=thresholds)
        check_rows_stand_alone(tree.bought, rows)
        check_rows_stand_alone(tree.probabilities, rows)
