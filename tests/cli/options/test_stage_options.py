"""Options of `shortlist stage`."""

import numpy as np
import pytest

from shortlist.cli.options.stage_options import (
    GoalOptions,
    PriceOptions,
    StageSearchOptions,
    read_prices,
    stage_method,
)
from shortlist.errors import BadInputError
from shortlist.multistage.presets import NAMES

LABELS = np.array([0, 1, 1])


def test_the_evolution_of_a_preset_gives_way_to_what_is_given() -> None:
    paper = PriceOptions(preset="heart").paper()
    assert paper is not None
    options = StageSearchOptions(population=7).evolution(paper)
    assert (options.population, options.generations) == (7, paper.options.generations)
    assert StageSearchOptions().evolution(None).population != 7


def test_columns_are_standardised_unless_a_preset_takes_them_as_they_are() -> None:
    assert StageSearchOptions().arguments("emsco", None)["scale"]
    for name in NAMES:
        assert not StageSearchOptions().arguments("emsco", PriceOptions(preset=name).paper())["scale"]


def test_goals_are_read_with_the_classes_of_the_table() -> None:
    goals = GoalOptions(objectives="coverage, stages", pick="3", positive="1", penalty="0=0.5")
    found = goals.arguments(LABELS)
    assert (found["objectives"], found["pick"]) == (["coverage", "stages"], 3)
    assert (found["positive"], found["penalties"]) == (1, {0: 0.5})
    with pytest.raises(BadInputError, match="each class once"):
        GoalOptions(penalty="0=0.5,0=1").arguments(LABELS)


def test_recall_needs_the_complete_front() -> None:
    assert (stage_method("auto", None), stage_method("auto", 3)) == ("auto", "enumerate")
    with pytest.raises(BadInputError, match="Leave out --method emsco"):
        stage_method("emsco", 3)


def test_rules_of_evolution_make_it_the_method_unless_another_is_named() -> None:
    assert stage_method("auto", None, "paper") == "emsco"
    assert stage_method("windows", None, "paper") == "windows"
    assert stage_method("auto", 3, "paper") == "enumerate"
    assert StageSearchOptions(rules="paper").evolution(None).rules == "paper"
    assert StageSearchOptions().evolution(None).rules == "distinct"


def test_features_cost_one_each_unless_prices_are_given() -> None:
    costs = read_prices(PriceOptions(), ["a", "b"], objectives=(), dropped=(), notes=[])
    assert costs.total / costs.scale == 2
