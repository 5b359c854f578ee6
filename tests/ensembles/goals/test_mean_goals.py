"""Objectives of mean probabilities."""

from typing import Any

import pytest

from shortlist.ensembles.goals.mean_goals import decision_gains, mean_goal
from shortlist.ensembles.votes.soft_votes import decided_by_mean, soft_votes
from shortlist.errors import BadInputError
from shortlist.results.objective import Sense

TWO = soft_votes([[[0.5, 0.5]]] * 5, [0, 0, 0, 1, 1])
THREE = soft_votes([[[0.2, 0.3, 0.5]]] * 5, [0, 0, 1, 1, 2])


@pytest.mark.parametrize(
    ("objective", "loss", "gains"),
    [
        ("log_loss", "log-loss", [1, 1]),
        ("brier", "brier", [1, 1]),
        ("auto", "log-loss", [1, 1]),
        ("recall+auto", "log-loss", [0, 1]),
    ],
)
def test_a_goal_is_a_loss_and_the_gains_that_decide(objective: str, loss: str, gains: list[int]) -> None:
    goal = mean_goal(objective, TWO)

    assert (goal.kind, goal.gains.tolist(), goal.denominator) == (loss, gains, 5)
    assert (goal.objective.name, goal.objective.sense) == (loss, Sense.MIN)


@pytest.mark.parametrize(
    ("objective", "positive", "gains"),
    [
        ("accuracy", 1, [1, 1]),
        ("balanced-accuracy", 1, [2, 3]),
        ("recall", 0, [1, 0]),
        ({"tp": 1, "fp": -2}, 1, [2, 1]),
        ({"tp": 1, "fn": -4, "tn": 2}, 1, [2, 5]),
    ],
)
def test_gains_are_those_of_right_decisions_by_class(objective: Any, positive: int, gains: list[int]) -> None:
    assert decision_gains(objective, TWO, positive=positive).tolist() == gains


def test_several_classes_gain_what_class_weights_say() -> None:
    assert decision_gains("balanced-accuracy", THREE).tolist() == [1, 1, 2]
    assert decision_gains({0: 1, 2: 3}, THREE).tolist() == [1, 0, 3]


@pytest.mark.parametrize(
    ("objective", "gains"),
    [("accuracy", [1, 1, 1, 1]), ("balanced-accuracy", [1, 2, 2, 2]), ({0: 1, 3: 5}, [1, 0, 0, 5])],
)
def test_a_class_without_rows_may_be_decided_as_the_rarest_is(objective: Any, gains: list[int]) -> None:
    lacking = soft_votes([[[0.1, 0.2, 0.6, 0.1]]] * 4, [0, 0, 1, 3])

    found = decision_gains(objective, lacking)

    assert found.tolist() == gains
    if not isinstance(objective, dict):
        assert decided_by_mean(lacking.shares, found).tolist() == [2] * 4


@pytest.mark.parametrize(
    ("objective", "why"),
    [
        ("accuracy", "must be auto, log-loss, brier or METRIC.auto .* got 'accuracy'.*voting='averaged'"),
        ("accuracy+slope-8", "must be auto, log-loss"),
        ({"tp": 1}, "must be auto, log-loss"),
        ("logloss", "Did you mean .log-loss."),
        ("luck+auto", "objective must be accuracy, balanced-accuracy"),
    ],
)
def test_what_is_no_loss_is_refused(objective: Any, why: str) -> None:
    with pytest.raises(BadInputError, match=why):
        mean_goal(objective, TWO)


@pytest.mark.parametrize(
    ("weights", "why"),
    [({"tp": -1, "fn": 0}, "worth at least as much"), ({"tp": 1, "fn": 1}, "some worth more")],
)
def test_weights_that_reward_wrong_decisions_are_refused(weights: Any, why: str) -> None:
    with pytest.raises(BadInputError, match=why):
        decision_gains(weights, TWO)
