"""ASTC: the greedy step against plain least squares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.multistage.problem.costs import feature_costs
from shortlist_papers.opponents.submodular_tree import (
    LEAST_GAIN,
    greedy_features,
    grow_submodular,
    least_squares,
)
from tests.shortlist_papers.opponents.oracles import squared_error


@given(
    seed=st.integers(0, 10_000),
    prices=st.lists(st.integers(0, 4), min_size=4, max_size=4),
    budget=st.integers(0, 12),
    n_outputs=st.integers(1, 3),
)
def test_every_greedy_step_is_the_best_by_plain_least_squares(
    seed: int, prices: list[int], budget: int, n_outputs: int
) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.integers(-2, 3, (14, 5)).astype(float)
    design, targets = np.column_stack([columns, np.ones(14)]), rng.normal(size=(14, n_outputs))
    feature_of = np.array([0, 1, 2, 3, 3])  # the last feature has two columns
    costs = feature_costs(prices, "abcd", groups={"a": "g", "b": "g"}, first_prices={"g": 2})
    known = rng.random(4) < 0.2
    found = greedy_features(design, targets, feature_of, costs, known, budget=budget)

    taken, left = np.zeros(4, dtype=bool), budget
    while True:
        before = squared_error(columns[:, taken[feature_of]], targets)
        best, chosen = -1.0, -1
        for feature in np.flatnonzero(~taken):
            each = np.arange(4) == feature
            price = int(costs.price(known | taken | each) - costs.price(known | taken))
            gain = before - squared_error(columns[:, (taken | each)[feature_of]], targets)
            if price <= left and gain > LEAST_GAIN * (targets**2).sum():
                worth = gain / price if price else 1e12 + gain
                if worth > best * (1 + 1e-9):
                    best, chosen, paid = worth, int(feature), price
        if chosen < 0:
            break
        taken[chosen] = True
        left -= paid
    assert found.tolist() == taken.tolist()
    assert costs.price(known | found) - costs.price(known) <= budget


def test_a_node_answers_as_least_squares_and_sends_half_its_rows_each_way() -> None:
    rng = np.random.default_rng(0)
    design = np.column_stack([rng.normal(size=(81, 4)), np.ones(81)])
    targets = np.where(design[:, :1] * design[:, 1:2] > 0, 1.0, -1.0)
    costs = feature_costs([1, 1, 1, 1], "abcd")
    coefficients, thresholds, inner = grow_submodular(
        design, targets, np.ones(1), np.arange(4), costs, node_budget=0.5, n_levels=3
    )
    used = coefficients[0, :-1, 0] != 0
    assert used.sum() == 2
    scores = design @ coefficients[0, :, 0]
    assert ((targets[:, 0] - scores) ** 2).sum() == pytest.approx(
        squared_error(design[:, :-1][:, used], targets)
    )
    assert (scores > thresholds[0]).sum() == 40
    assert inner.tolist() == [True, True, True, False, False, False, False]
    expected = least_squares(design[scores > thresholds[0]], targets[scores > thresholds[0]], np.arange(4),
                             (coefficients[1, :-1, 0] != 0))  # fmt: skip
    assert coefficients[1] == pytest.approx(expected)


def test_of_features_that_explain_the_same_the_first_is_taken() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n_rows, n_copies = int(rng.integers(10, 80)), int(rng.integers(2, 7))
        columns = rng.normal(size=(n_rows, 3))
        columns = np.column_stack([columns, np.repeat(columns[:, 1:], n_copies, axis=1)])
        columns *= rng.choice([-3.0, 0.1, 1.0], columns.shape[1])  # a feature in another unit tells the same
        design, targets = np.column_stack([columns, np.ones(n_rows)]), rng.normal(size=(n_rows, 2))
        n = columns.shape[1]
        costs = feature_costs([1] * n, [str(place) for place in range(n)])

        found = greedy_features(design, targets, np.arange(n), costs, np.zeros(n, dtype=bool), budget=3)

        assert np.flatnonzero(found).tolist() == [0, 1, 2]
