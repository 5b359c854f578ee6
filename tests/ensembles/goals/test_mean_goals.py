"""Objectives of mean probabilities."""

from typing import Any

import pytest

from shortlist.ensembles.goals.mean_goals import mean_goal
from shortlist.ensembles.votes.soft_votes import decided_by_mean, soft_votes
from shortlist.errors import BadInputError
from shortlist.results.objective import Sense

TWO = soft_votes([[[0.5, 0.5]]] * 5, [0, 0, 0, 1, 1])
THREE = soft_votes([[[0.2, 0.3, 0.5]]] * 5, [0, 0, 1, 1, 2])


def test_losses_are_minimised_and_the_rest_is_not() -> None:
    senses = {name: mean_goal(name, TWO).objective.sense for name in ("log-loss", "brier", "accuracy")}

    assert senses == {"log-loss": Sense.MIN, "brier": Sense.MIN, "accuracy": Sense.MAX}


@pytest.mark.parametrize(
    ("objective", "positive", "gains", "offset", "denominator"),
    [
        ("accuracy", 1, [1, 1], 0, 5),
        ("balanced-accuracy", 1, [2, 3], 0, 12),
        ("recall", 0, [1, 0], 0, 3),
        ({"tp": 1, "fp": -2}, 1, [2, 1], -6, 1),
        ({"tp": 1, "fn": -4, "tn": 2}, 1, [2, 5], -8, 1),
    ],
)
def test_gains_are_those_of_right_decisions_by_class(
    objective: Any, positive: int, gains: list[int], offset: int, denominator: int
) -> None:
    goal = mean_goal(objective, TWO, positive=positive)

    assert (goal.gains.tolist(), goal.offset, goal.denominator) == (gains, offset, denominator)


def test_several_classes_gain_what_class_weights_say() -> None:
    assert mean_goal("balanced-accuracy", THREE).gains.tolist() == [1, 1, 2]
    assert mean_goal({0: 1, 2: 3}, THREE).gains.tolist() == [1, 0, 3]


@pytest.mark.parametrize(
    ("objective", "gains"),
    [("accuracy", [1, 1, 1, 1]), ("balanced-accuracy", [1, 2, 2, 2]), ({0: 1, 3: 5}, [1, 0, 0, 5])],
)
def test_a_class_without_rows_may_be_decided_as_the_rarest_is(objective: Any, gains: list[int]) -> None:
    lacking = soft_votes([[[0.1, 0.2, 0.6, 0.1]]] * 4, [0, 0, 1, 3])

    goal = mean_goal(objective, lacking)

    assert goal.gains.tolist() == gains
    if not isinstance(objective, dict):
        assert decided_by_mean(lacking.shares, goal.gains).tolist() == [2] * 4


@pytest.mark.parametrize(
    ("objective", "why"),
    [
        ("accuracy+margin", "must end in .+slope-A"),
        ({"tp": -1, "fn": 0}, "worth at least as much"),
        ({"tp": 1, "fn": 1}, "some worth more"),
        ("luck", "objective must be one of accuracy, .*log-loss, .* got .luck."),
        ("logloss", "Did you mean .log-loss."),
        ("accuracy+luck", "must end in"),
    ],
)
def test_what_means_have_no_worth_for_is_refused(objective: Any, why: str) -> None:
    with pytest.raises(BadInputError, match=why):
        mean_goal(objective, TWO)
