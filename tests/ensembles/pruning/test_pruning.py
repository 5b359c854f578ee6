import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.margin_worth import MarginUtility, utility_scale, utility_total
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import named_weights
from shortlist.ensembles.pruning.pruning import parse_objective, prune_exactly, prune_for
from shortlist.ensembles.votes.binary_votes import confusion, merge_rows
from shortlist.errors import BadInputError
from shortlist.results.proof import Status
from shortlist.runs import Cancellation
from shortlist.runs.budget import Budget
from tests.ensembles import oracles, strategies
from tests.ensembles.strategies import hard_votes

MARGIN = MarginUtility("concave", 4.0)


@given(rows=strategies.labelled_votes())
def test_margins_decide_among_equals_and_cost_no_accuracy(rows: oracles.Rows) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights, limits = named_weights("accuracy", votes), selection_limits(votes.n_classifiers)
    plain = prune_exactly(votes, weights, limits)
    result, choice = prune_for(votes, "accuracy+margin", limits)

    assert choice is None
    assert result.status is Status.OPTIMAL
    assert result.value == plain.value == result.confusion.accuracy
    assert utility_total(votes, weights, MARGIN, result.mask, result.threshold) >= utility_total(
        votes, weights, MARGIN, plain.mask, plain.threshold
    )
    assert result.objective.name == "accuracy+margin"


def test_a_slope_is_maximised_itself_and_bounded() -> None:
    votes = hard_votes(60, 12)
    result, _ = prune_for(votes, "balanced_accuracy+slope-8", selection_limits(12, max_size=5))

    assert result.objective.name == "balanced-accuracy+slope-8"
    assert 1 <= result.mask.sum() <= 5
    assert 0 < result.value == result.bound <= 1
    assert result.status is Status.OPTIMAL
    assert result.confusion == confusion(votes, result.mask, result.threshold)


@pytest.mark.parametrize("objective", ["accuracy", "accuracy+margin"])
def test_the_limit_that_is_named_is_the_one_that_was_given(objective: str) -> None:
    result, _ = prune_for(hard_votes(400, 30), objective, selection_limits(30), Budget(0.2))

    assert result.status is Status.FEASIBLE
    assert result.proof.limit == "0.2 s"


def test_auto_chooses_and_says_what_it_tried() -> None:
    votes = hard_votes(60, 8)
    first, choice = prune_for(votes, "auto", selection_limits(8), Budget(nodes=5, seed=1))
    second, again = prune_for(votes, "accuracy+auto", selection_limits(8), Budget(nodes=5, seed=1))

    assert choice is not None
    assert len(choice.tried) > 1
    assert choice == again
    assert (first.mask == second.mask).all()
    assert first.mask.sum() <= choice.setting.max_size


def test_without_a_feasible_selection_every_objective_says_so() -> None:
    votes = hard_votes(30, 4)
    for objective in ("accuracy", "accuracy+margin", "accuracy+slope-4", "auto"):
        result, _ = prune_for(votes, objective, selection_limits(4, min_size=4, max_size=2))
        assert result.status is Status.INFEASIBLE
        assert "at least 4 members are wanted" in result.reason
        assert not result.mask.any()


@pytest.mark.parametrize(
    "objective", ["acuracy", "accuracy+margins", "accuracy+slope-x", "margin", "+margin"]
)
def test_unknown_objectives_are_refused(objective: str) -> None:
    with pytest.raises(BadInputError, match="objective must"):
        parse_objective(objective)


def test_weights_have_no_second_part() -> None:
    assert parse_objective({"tp": 1, "fp": -2}) == ({"tp": 1, "fp": -2}, None, False)
    votes = hard_votes(30, 4)
    result, _ = prune_for(votes, {"tp": 1, "fp": -2}, selection_limits(4))
    assert isinstance(np.float64(result.value), np.float64)
    assert result.status is Status.OPTIMAL


def test_a_slope_that_is_cancelled_returns_what_it_has_with_a_bound() -> None:
    votes, cancellation = hard_votes(400, 60), Cancellation()
    result, _ = prune_for(votes, "accuracy+slope-8", selection_limits(60), Budget(6_000, report=lambda _event: cancellation.cancel(), cancellation=cancellation))  # fmt: skip

    assert result.proof.limit == "interrupted"
    assert 0 < result.value < result.bound <= 1


def test_under_a_limit_in_nodes_the_bound_of_a_slope_does_not_depend_on_the_clock() -> None:
    votes = hard_votes(60, 12)
    short, long = (
        prune_for(votes, "accuracy+slope-8", selection_limits(12), Budget(limit, 5))[0]
        for limit in (3_000, 6_000)
    )

    assert (short.value, short.bound) == (long.value, long.bound)


@given(
    rows=strategies.labelled_votes(max_classifiers=5),
    metric=st.sampled_from(["accuracy", "balanced-accuracy", "theta-weighted"]),
)
def test_no_selection_has_a_better_slope_than_the_bound(rows: oracles.Rows, metric: str) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights, utility, n = (
        named_weights(metric, votes),
        MarginUtility("sigmoid", 8.0, leads=True),
        votes.n_classifiers,
    )
    result, _ = prune_for(votes, f"{metric}+slope-8", selection_limits(n))

    most = utility_scale(votes, weights) * (
        abs(weights.gain_positive) * votes.n_positive + abs(weights.gain_negative) * votes.n_negative
    )
    masks = [np.isin(np.arange(n), members) for members in oracles.subsets(n) if members]
    best = max(
        utility_total(votes, weights, utility, mask, level)
        for mask in masks
        for level in range(mask.sum() + 1)
    )
    assert result.value <= best / most <= result.bound
    if result.status is Status.OPTIMAL:
        assert result.value == best / most
