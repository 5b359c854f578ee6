"""The p-median problem, beside all choices of points."""

import itertools

import numpy as np
import pytest

from shortlist.arrays import Floats
from shortlist.errors import BadInputError
from shortlist.methods.p_median import p_median
from shortlist.runs.budget import Budget


def least(costs: Floats, n_points: int, counts: Floats) -> float:
    every = itertools.combinations(range(costs.shape[1]), min(n_points, costs.shape[1]))
    return min(float(counts @ costs[:, list(chosen)].min(axis=1)) for chosen in every)


def test_the_sum_is_the_least_of_all_choices_and_the_bound_is_the_sum() -> None:
    rng = np.random.default_rng(4)
    for _ in range(150):
        n_customers, n_candidates, n_points = (int(one) for one in rng.integers(1, [9, 10, 5]))
        costs = rng.integers(0, int(rng.choice([2, 5, 1000])), (n_customers, n_candidates)).astype(np.float64)
        counts = rng.integers(1, 4, n_customers).astype(np.float64)
        found = p_median(costs, n_points, counts=counts)
        assert found.total == found.bound == least(costs, n_points, counts)
        assert len(found.points) <= n_points
        assert float(counts @ costs[:, list(found.points)].min(axis=1)) == found.total


@pytest.mark.parametrize("seed", range(4))
def test_problems_that_need_branching_are_decided_too(seed: int) -> None:
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 4, (30, 14)).astype(np.float64) * 1001 + rng.integers(0, 1001, (30, 14))
    found = p_median(costs, 4)
    assert found.total == found.bound == least(costs, 4, np.ones(30))


def test_the_order_of_points_and_customers_changes_no_sum_and_the_costs_stay() -> None:
    rng = np.random.default_rng(1)
    costs = rng.integers(0, 50, (30, 25)).astype(np.float64)
    costs.flags.writeable = False
    turned = costs[rng.permutation(30)][:, rng.permutation(25)]
    assert p_median(costs, 3).total == p_median(turned, 3).total
    twice = np.vstack([costs, costs])
    assert p_median(twice, 3).total == p_median(costs, 3, counts=np.full(30, 2.0)).total


def test_a_search_that_is_stopped_keeps_a_choice_and_a_bound_that_holds() -> None:
    rng = np.random.default_rng(2)
    costs = rng.integers(0, 1000, (60, 40)).astype(np.float64)
    whole, stopped = p_median(costs, 4), p_median(costs, 4, budget=Budget(0.0))
    assert stopped.bound <= whole.total <= stopped.total
    assert whole.bound == whole.total


def test_sums_beyond_what_doubles_hold_are_refused() -> None:
    with pytest.raises(BadInputError, match="must sum to less than"):
        p_median(np.full((4, 2), 2.0**50), 1)
