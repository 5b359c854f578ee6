"""Bounds from few classifiers at a time: they hold for all, and come near to what parts can reach."""

import dataclasses

import numpy as np
import pytest

from shortlist.ensembles.averaging._tangent_kernels import (
    FREE,
    FoundTangents,
    Looked,
    better_tangents,
)
from shortlist.ensembles.averaging.mean_problem import mean_terms
from shortlist.ensembles.averaging.mean_pruning import prune_means
from shortlist.ensembles.averaging.mean_tree import MeanSettings, RoundSettings, tangents_in_rounds
from shortlist.ensembles.goals.mean_goals import mean_goal
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.runs.budget import Budget
from tests.ensembles import mean_oracles

IN_ROUNDS = MeanSettings(large_numbers=1)


@pytest.mark.parametrize("objective", mean_oracles.OBJECTIVES)
@pytest.mark.parametrize(
    ("n_classes", "least", "most", "budget"), [(2, 1, 7, 99), (3, 2, 5, 99), (2, 2, 7, 7)]
)
def test_a_table_that_counts_as_large_has_the_best_selection_of_brute_force(
    objective: str, n_classes: int, least: int, most: int, budget: int
) -> None:
    votes = mean_oracles.random_pool(24, 7, n_classes)
    costs = [1, 5, 2, 4, 1, 3, 2]
    limits = selection_limits(7, min_size=least, max_size=most, member_costs=costs, max_cost=budget)
    goal = mean_goal(objective, votes)

    result = prune_means(votes, goal, limits, settings=IN_ROUNDS)

    assert str(result.status) == "optimal"
    assert result.value == pytest.approx(mean_oracles.best_worth(votes, goal, limits), abs=2e-9)
    assert limits.satisfied_by(result.mask)


@pytest.mark.parametrize("objective", mean_oracles.OBJECTIVES)
def test_a_limit_leaves_a_bound_that_holds(objective: str) -> None:
    votes = mean_oracles.random_pool(30, 8, 2)
    goal, limits = mean_goal(objective, votes), selection_limits(8)

    stopped = prune_means(votes, goal, limits, Budget(nodes=1), settings=IN_ROUNDS)

    best = mean_oracles.best_worth(votes, goal, limits)
    assert best is not None
    assert stopped.bound <= best + 1e-9
    assert abs(stopped.bound - best) < 0.1 * abs(best)  # no bound without work


def test_few_at_a_time_bound_as_low_as_steps_among_all() -> None:
    votes = mean_oracles.random_pool(80, 40, 2)
    terms = mean_terms(votes, mean_goal("log-loss", votes))
    looked = Looked(terms.whole, np.full(40, FREE, dtype=np.uint8), 1, 2_000, -np.inf)

    def found() -> FoundTangents:
        return FoundTangents(np.zeros(40), np.zeros(80))

    # the distance to no target at all is infinite, so that one is named which no bound reaches
    looked = looked._replace(target=-80.0)
    start = np.zeros(40)
    start[0] = 1.0
    tangents = found()

    bound = tangents_in_rounds(
        terms, looked, start, tangents, stopped=lambda: False,
        settings=dataclasses.replace(RoundSettings(), joining=3, near=1e-3),
    )  # fmt: skip

    among_all = better_tangents(terms, looked, np.full(40, 1 / 40), found())
    assert bound == pytest.approx(among_all, rel=0.05)
    assert start.sum() == pytest.approx(1)
    reach = terms.columns.T.astype(np.float64) / terms.whole
    for weights in np.random.default_rng(0).dirichlet(np.full(40, 0.2), 200):
        assert np.log(reach @ weights).sum() <= bound + 1e-9
