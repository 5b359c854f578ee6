"""The best mean of probabilities, against a look at every selection."""

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.pruning._tangent_kernels import (
    FREE,
    IN,
    FoundTangents,
    Looked,
    RoundSettings,
    better_tangents,
    tangents_in_rounds,
)
from shortlist.ensembles.pruning.mean_problem import SCALE, MeanProblem, mean_goal, mean_terms
from shortlist.ensembles.pruning.mean_pruning import (
    MeanSettings,
    prune_means,
)
from shortlist.ensembles.votes.soft_votes import SoftVotes, soft_votes
from shortlist.results.proof import Status
from shortlist.runs import Cancellation, open_study
from shortlist.runs.budget import Budget
from shortlist.runs.study_file import summary
from tests.ensembles import mean_oracles
from tests.examples import examples


@pytest.mark.parametrize("objective", mean_oracles.OBJECTIVES)
@examples(15)
@given(votes=mean_oracles.soft_pools(), data=st.data())
def test_the_best_selection_is_that_of_brute_force(
    objective: str, votes: SoftVotes, data: st.DataObject
) -> None:
    k = votes.n_classifiers
    least = data.draw(st.integers(0, k))
    dear = data.draw(st.booleans())
    limits = selection_limits(
        k, min_size=least, max_size=data.draw(st.integers(least, k)),
        member_costs=data.draw(st.lists(st.integers(0, 4), min_size=k, max_size=k)) if dear else None,
        max_cost=data.draw(st.integers(0, 2 * k)) if dear else None,
    )  # fmt: skip
    goal = mean_goal(objective, votes)

    result = prune_means(votes, goal, limits)

    expected = mean_oracles.best_worth(votes, goal, limits)
    if expected is None:
        assert result.status is Status.INFEASIBLE
        assert result.reason
        return
    assert result.status is Status.OPTIMAL
    assert result.value == pytest.approx(expected, abs=2e-9)
    assert limits.satisfied_by(result.mask)
    members = np.flatnonzero(result.mask).tolist()
    assert mean_oracles.worth(votes, goal, members) == pytest.approx(result.value, abs=1e-9)


@pytest.mark.parametrize("objective", mean_oracles.OBJECTIVES)
def test_a_limit_lowers_the_claim_and_the_bound_holds(objective: str) -> None:
    votes = mean_oracles.random_pool(30, 8, 3)
    goal, limits = mean_goal(objective, votes), selection_limits(8)

    stopped = prune_means(votes, goal, limits, Budget(nodes=2))

    best = mean_oracles.best_worth(votes, goal, limits)
    assert best is not None
    assert stopped.bound - 1e-9 <= best <= stopped.value + 1e-9
    assert stopped.proof.missing is not None
    assert stopped.proof.missing[0] == pytest.approx(abs(stopped.bound - stopped.value), abs=1e-12)


def test_whoever_cancels_keeps_a_selection_and_a_bound() -> None:
    votes = mean_oracles.random_pool(30, 10, 2)
    cancellation = Cancellation()
    cancellation.cancel()

    stopped = prune_means(
        votes, mean_goal("log-loss", votes), selection_limits(10), Budget(cancellation=cancellation)
    )

    assert stopped.status is Status.FEASIBLE
    assert stopped.proof.limit == "interrupted"
    assert stopped.bound <= stopped.value


def test_where_the_time_is_over_at_once_the_best_alone_are_members() -> None:
    votes = mean_oracles.random_pool(30, 10, 2)
    goal = mean_goal("log-loss", votes)
    alone = [mean_oracles.worth(votes, goal, [one]) for one in range(10)]

    stopped = prune_means(votes, goal, selection_limits(10, min_size=4, max_size=4), Budget(0.0))

    assert sorted(np.flatnonzero(stopped.mask)) == sorted(np.argsort(alone)[:4])


def test_members_who_must_be_cheap_are_found_where_the_best_are_dear() -> None:
    votes = mean_oracles.random_pool(30, 10, 2)
    limits = selection_limits(10, min_size=5, member_costs=[1] * 5 + [5] * 5, max_cost=5)
    cancellation = Cancellation()
    cancellation.cancel()

    found = prune_means(votes, mean_goal("log-loss", votes), limits)
    stopped = prune_means(votes, mean_goal("log-loss", votes), limits, Budget(cancellation=cancellation))

    assert found.mask.tolist() == stopped.mask.tolist() == [True] * 5 + [False] * 5


def test_a_study_keeps_the_best_selection_until_it_is_proved(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    votes = soft_votes(rng.dirichlet(np.ones(2), (40, 12)), rng.integers(0, 2, 40))
    goal, limits = mean_goal("log-loss", votes), selection_limits(12, min_size=4, max_size=4)
    best = prune_means(votes, goal, limits)
    ended, few = Budget(0.001, clock=itertools.count().__next__), Budget(nodes=1)
    alone = [prune_means(votes, goal, limits, budget).value for budget in (ended, few)]
    with open_study(tmp_path / "s.db") as study:
        study.keep("proof", lambda: np.flatnonzero(best.mask).tolist())
        again = [
            prune_means(votes, goal, limits, dataclasses.replace(budget, study=study)).value
            for budget in (ended, few)
        ]
        assert study.kept("proof") is not None
        prune_means(votes, goal, limits, Budget(study=study))  # to its end
        assert study.kept("proof") is None
    (proof,) = summary(tmp_path / "s.db")["stages"]
    assert (proof["total"], proof["done"], proof["running"]) == (1, 1, 0)
    assert best.value < alone[0]
    assert again == [best.value, alone[1]]


def test_the_same_seed_and_nodes_give_the_same_answer() -> None:
    votes = mean_oracles.random_pool(60, 14, 3)
    goal, limits = mean_goal("log-loss", votes), selection_limits(14)

    first, second = (prune_means(votes, goal, limits, Budget(nodes=30, seed=5)) for _ in range(2))

    assert first.mask.tolist() == second.mask.tolist()
    assert (first.value, first.bound) == (second.value, second.bound)


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


def test_a_price_for_the_budget_rules_out_what_is_too_expensive() -> None:
    """Better classifiers cost more; without the price the proof took 4,000 nodes."""
    votes = mean_oracles.random_pool(60, 30, 2)
    goal = mean_goal("log-loss", votes)
    worths = [mean_oracles.worth(votes, goal, [one]) for one in range(30)]
    costs = 1 + np.argsort(np.argsort(-np.array(worths)))
    limits = selection_limits(30, member_costs=costs.tolist(), max_cost=40)

    result = prune_means(votes, goal, limits, Budget(nodes=50))

    assert result.status is Status.OPTIMAL
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


@pytest.mark.parametrize("n_steps", [1, 40])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("objective", mean_oracles.OBJECTIVES)
def test_tangents_bound_every_selection_of_a_node(objective: str, n_classes: int, n_steps: int) -> None:
    votes = mean_oracles.random_pool(14, 7, n_classes, seed=n_steps)
    problem = MeanProblem(votes, mean_goal(objective, votes), selection_limits(7))
    terms = problem.terms
    fixed = np.full(7, FREE, dtype=np.uint8)
    fixed[3] = IN
    parts = np.where(fixed == IN, 1.0, 2 / 6)
    found = FoundTangents(np.zeros(7), np.zeros(len(terms.aims)))

    looked = Looked(3 * terms.whole, fixed, 2, n_steps, -1e9)
    bound = better_tangents(terms, looked, parts, found)

    worths = [
        problem.rate(problem.tally(mean_oracles.as_mask(members, 7)), 3)[0] / SCALE
        for members in mean_oracles.selections(7, selection_limits(7, min_size=3, max_size=3))
        if 3 in members
    ]
    assert bound >= max(worths) - 1e-7
    assert parts.sum() == pytest.approx(3)
