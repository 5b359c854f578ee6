"""Objectives of a committee: their reading and refusals."""

from typing import Any

import numpy as np
import pytest

from shortlist.ensembles.fronts.committee_problem import committee_problem
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.votes.hard_votes import class_votes, merge_rows
from shortlist.errors import BadInputError

TWO = merge_rows([[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 0]], [1, 1, 1, 0])
THREE = class_votes([[0, 0, 2], [2, 1, 1], [0, 2, 2], [1, 2, 0]], [0, 1, 2, 2])


@pytest.mark.parametrize(
    ("objectives", "sentence"),
    [
        (["max accuracy"], "at least two objectives, got accuracy"),
        ([], "at least two objectives, got nothing"),
        (["max accuracy", "max accurcy"], "Did you mean 'max accuracy'"),
        (["max accuracy", "max accuracy"], "got accuracy twice"),
        (["max recall", "max recall:1"], "got recall twice"),
        (["accuracy", "min size"], "must begin with max or min"),
        (["max", "min size"], "must begin with max or min"),
        (["min accuracy", "min size"], "Write 'max accuracy'"),
        (["max accuracy", "max size"], "Write 'min size'"),
        (["max accuracy", "min cost"], "needs the cost of every member"),
        (["max accuracy", "max recall:7"], "one of the classes 0 or 1, got '7'"),
    ],
)
def test_objectives_that_cannot_be_meant_are_refused(objectives: list[str], sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence.replace("?", r"\?")):
        committee_problem(TWO, objectives)


@pytest.mark.parametrize("name", ["true-positives", "true-negatives", "recall", "specificity"])
def test_several_classes_have_no_positive_one(name: str) -> None:
    with pytest.raises(
        BadInputError, match=f"{name} needs a positive class, but there are 3 classes.*recall:c"
    ):
        committee_problem(THREE, [f"max {name}", "min size"], classes=["a", "b", "c"])


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"limits": selection_limits(3, min_size=0)}, "min_size must be at least 1"),
        (
            {"limits": selection_limits(3, member_costs=[1, 1, 1], max_cost=2)},
            "limits of a front must be on the size",
        ),
        ({"max_cost": 2}, "`max_cost` goes with the objective min cost"),
        (
            {"costs": {"cost": [1, 2]}, "objectives": ["max accuracy", "min cost"]},
            "one entry per classifier, 3, got 2",
        ),
        ({"costs": {"cost": [1, 2, -1]}, "objectives": ["max accuracy", "min cost"]}, "at least 0, got -1"),
        (
            {"costs": {"cost": [1, 2, np.nan]}, "objectives": ["max accuracy", "min cost"]},
            "at least 0, got NaN",
        ),
        ({"costs": {"cost": [1, 2, 1e18]}, "objectives": ["max accuracy", "min cost"]}, "fewer digits"),
    ],
)
def test_limits_and_prices_that_cannot_be_meant_are_refused(asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInputError, match=sentence):
        committee_problem(TWO, **{"objectives": ["max accuracy", "min size"]} | asked)


def test_objectives_are_written_as_integers_in_the_order_asked_for() -> None:
    problem = committee_problem(
        TWO, ["min cost", "max balanced_accuracy", "max recall:0"], costs={"cost": [0.1, 0.25, 1]}
    )

    assert [problem.objectives[place].name for place in problem.asked] == [
        "cost",
        "balanced-accuracy",
        "specificity",
    ]
    assert problem.prices.tolist() == [[2, 5, 20]]
    assert problem.point(np.array([True, True, False]), 0).tolist() == [-3, 0, 7]


def test_a_problem_keeps_sizes_and_budget() -> None:
    limits: SelectionLimits = selection_limits(3, max_size=2)
    problem = committee_problem(
        TWO, ["min cost", "max accuracy"], costs={"cost": [1, 2, 3]}, limits=limits, max_cost=3
    )

    kept = [problem.is_within(np.array(mask, dtype=bool)) for mask in ([1, 1, 0], [0, 1, 1], [1, 1, 1])]

    assert kept == [True, False, False]
