"""The members and decisions of an objective of mean probabilities."""

import itertools
from typing import Any

import numpy as np
import pytest

from shortlist import BadInputError
from shortlist.ensembles.audit.mean_check import check_mean_certificate
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.pruning.soft_pruning import few_members, prune_soft, soft_goal, taken_copies
from shortlist.ensembles.votes.soft_votes import soft_votes
from tests.ensembles import mean_oracles

TABLE = np.random.default_rng(0).dirichlet(np.ones(3), (12, 8))
LABELS = [0, 1, 2, 0, 0, 0] * 2


def test_auto_takes_few_members_and_says_so() -> None:
    result, goal, limits = prune_soft(soft_votes(TABLE, LABELS), "auto", selection_limits(8))

    assert (limits.min_size, limits.max_size) == (4, 4)
    assert goal.objective.name == "log-loss"
    assert int(result.mask.sum()) == 4


def test_auto_of_a_metric_decides_for_what_gains_most_of_it() -> None:
    goal = soft_goal(soft_votes(TABLE, LABELS), "balanced-accuracy+auto")

    assert goal.kind == "log-loss"
    assert (goal.gains * np.bincount(LABELS) == goal.gains[0] * 8).all()


@pytest.mark.parametrize(
    ("n", "given", "expected"),
    [
        (100, {}, (10, 10)),
        (1000, {}, (100, 100)),
        (30, {}, (5, 5)),
        (3, {}, (2, 2)),
        (100, {"max_size": 4}, (4, 4)),
        (100, {"min_size": 20}, (20, 20)),
        (100, {"min_size": 20, "max_size": 3}, (20, 3)),
        (100, {"member_costs": [1] * 100, "max_cost": 8}, (4, 10)),
        (100, {"member_costs": [1] * 100, "max_cost": 1}, (1, 10)),
        (100, {"member_costs": [1] * 100, "max_cost": 500}, (10, 10)),
        (100, {"member_costs": [1] * 100, "max_cost": 8, "min_size": 6}, (6, 10)),
    ],
)
def test_few_members_are_a_tenth_within_the_limits(
    n: int, given: dict[str, Any], expected: tuple[int, int]
) -> None:
    few = few_members(selection_limits(n, **given), n)

    assert (few.min_size, few.max_size) == expected


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(BadInputError, match="objective"):
        prune_soft(soft_votes(TABLE, LABELS), "fame+auto", selection_limits(8))


@pytest.mark.parametrize("objective", ["log-loss", "brier", "accuracy", "accuracy+slope-8"])
def test_the_best_weights_are_those_of_brute_force(objective: str) -> None:
    votes = mean_oracles.random_pool(14, 4, 2, seed=5)
    limits = selection_limits(4 * 3, max_size=7)

    result, goal, _ = prune_soft(votes, objective, limits, max_copies=3)

    weights = [each for each in itertools.product(range(4), repeat=4) if 1 <= sum(each) <= 7]
    worths = [
        mean_oracles.worth(votes, goal, [k for k, n in enumerate(each) for _ in range(n)]) for each in weights
    ]
    assert str(result.status) == "optimal"
    best = min(worths) if objective in {"log-loss", "brier"} else max(worths)
    assert result.value == pytest.approx(best, abs=2e-9)
    copies = taken_copies(result.mask, 3).tolist()
    assert worths[weights.index(tuple(copies))] == pytest.approx(best, abs=2e-9)
    again = votes.repeated(3)
    assert result.certificate is not None
    assert check_mean_certificate(result.certificate, again.shares.tolist(), again.labels.tolist()).valid
