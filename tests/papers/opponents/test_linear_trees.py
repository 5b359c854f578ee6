"""Trees of linear classifiers: routes, accounts and pruning, against one row at a time."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.papers.opponents.linear_trees import LinearTree, class_targets, gate_scores, pruned
from tests.layouts import check_rows_stand_alone


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
