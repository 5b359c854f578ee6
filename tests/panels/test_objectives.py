"""Recall and specificity as objectives: errors counted case by case, and fronts of three numbers."""

import itertools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.panels import objectives
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.choice import choose_panels, find_by_two_errors, weights_of
from shortlist.panels.facts import panel_report
from shortlist.panels.learning import OutOfFold
from shortlist.panels.objectives import right_or_wrong
from shortlist.panels.panel_choice import PanelChoice
from shortlist.panels.panel_options import PanelOptions
from shortlist.panels.policy import Final
from shortlist.panels.recipes import Candidate, Cases, Recipe, followed
from shortlist.panels.search import find_policies
from shortlist.runs.budget import Budget
from tests.panels.made import priced_log
from tests.panels.oracles import undominated
from tests.panels.test_search import cases_of

ERRORS = ("recall", "specificity", "price")


def two_classes(seed: int, final: Final, positive: int = 1) -> Cases:
    """Cases of classes 0 and 1, the second one rare."""
    cases = cases_of(seed, 3, final, sure=True, n_cases=90, learner="votes")
    rng = np.random.default_rng(seed)
    truth = (rng.random(90) < 0.3).astype(np.int64)
    words = np.where(rng.random((90, 3)) < [0.6, 0.75, 0.9], truth[:, None], rng.integers(0, 3, (90, 3)))
    answers = cases.answers._replace(words=words, n_classes=2)
    decisions = {"votes": OutOfFold(answers, truth, np.arange(90) % 3, "votes")}
    return replace(
        cases, answers=answers, truth=truth, losses=right_or_wrong(2), positive=positive, decisions=decisions
    )


def two_class_log(seed: int = 0, n_cases: int = 400) -> AnswerLog:
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(n_cases) < 0.25, "ill", "well")
    other = np.where(truth == "ill", "well", "ill")
    is_right = rng.random((n_cases, 3)) < [0.7, 0.8, 0.9]
    said = np.where(is_right, truth[:, None], other[:, None])
    sure = np.where(is_right, 0.9, 0.6) * rng.uniform(0.8, 1, said.shape)
    measures = Measures(confidence=sure, prices=[1.0, 3.0, 9.0])
    return make_log(["quick", "lab", "scan"], np.arange(n_cases), said, truth, measures=measures)


def chosen(**options: Any) -> PanelChoice:
    return choose_panels(two_class_log(), PanelOptions(positive="ill", **options), objectives=ERRORS)


@pytest.mark.parametrize(
    "final", [Final(), Final("hand-over", 4.0), Final("reject")], ids=lambda one: one.kind
)
@pytest.mark.parametrize("positive", [0, 1])
def test_errors_are_those_of_following_every_case(final: Final, positive: int) -> None:
    cases = two_classes(0, final, positive)
    found, _ = find_by_two_errors(cases, ERRORS, max_stages=2, budget=Budget())
    assert len(found) > 2
    for one in found:
        missed = alarms = 0
        codes = followed(cases, one.recipe).codes
        for code, true in zip(codes.tolist(), cases.truth.tolist(), strict=True):
            is_wrong = code != true and not (code < 0 and final.kind == "hand-over")
            missed += is_wrong and true == positive
            alarms += is_wrong and true != positive
        assert one.errors == (missed, alarms)
        assert one.loss == missed + alarms
    points = [(*one.errors, one.price) for one in found]
    assert sorted(points) == undominated(points)


def test_no_weight_that_was_tried_has_a_better_policy_than_the_front() -> None:
    cases = two_classes(3, Final())
    found, claims = find_by_two_errors(cases, ERRORS, max_stages=2, budget=Budget())
    n_positive = int(cases.truth.sum())
    for missed, alarm in weights_of(n_positive, 90 - n_positive):
        losses = cases.losses * np.array([alarm, missed])
        best = find_policies(replace(cases, losses=losses), max_stages=2, budget=Budget()).found
        for one in best:
            assert any(
                missed * own.errors[0] + alarm * own.errors[1] <= one.loss and own.price <= one.price
                for own in found
            )
    assert "with 9 weights of a missed positive against a false alarm, from 1:16 to 16:1" in claims[-1]


@pytest.mark.parametrize("seed", range(8))
def test_policies_that_another_one_beats_in_all_three_are_left_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    recipe = Recipe(((0,),), (0.0,), "votes")
    found = [Candidate(a + b, c, 0.0, recipe, (a, b)) for a, b, c in rng.integers(0, 6, (60, 3)).tolist()]
    kept = [(*one.errors, one.price) for one in objectives.undominated(found, ERRORS)]
    assert kept == undominated([(*one.errors, one.price) for one in found])


@pytest.mark.parametrize(("n_positive", "n_negative"), [(1, 1000), (50, 100), (100, 50), (7, 7), (333, 1)])
def test_weights_are_doublings_of_equal_shares_up_to_rounding(n_positive: int, n_negative: int) -> None:
    ratios = sorted(a / b * n_positive / n_negative for a, b in weights_of(n_positive, n_negative))
    assert len(ratios) == 9
    assert ratios == pytest.approx([2.0**power for power in range(-4, 5)], rel=0.13)


def test_a_front_has_recall_and_specificity_as_counted_on_its_cases() -> None:
    choice = chosen()
    assert list(choice.front.names) == list(ERRORS)
    assert choice.cases.positive == 0
    truth = choice.chosen.truth
    for point, one in enumerate(choice.found):
        right = followed(choice.cases, one.recipe).codes == truth
        values = dict(zip(choice.front.names, choice.front.values[point].tolist(), strict=True))
        assert values["recall"] == pytest.approx(right[truth == 0].mean())
        assert values["specificity"] == pytest.approx(right[truth == 1].mean())


def test_recall_and_specificity_are_told_of_panel_and_judge_on_held_out_cases() -> None:
    choice = chosen()
    report = panel_report(choice, len(choice.found) // 2)
    told = report.facts
    json.dumps(told, allow_nan=False)
    right = report.panel.run(choice.test).right(choice.test)
    errors = told["errors"]
    assert errors["positive"] == "ill"
    for name, code in (("recall", 0), ("specificity", 1)):
        assert errors["panel"][name] == pytest.approx(right[choice.test.truth == code].mean())
        low, high = errors["panel"][f"{name}_interval"]
        assert low <= errors["panel"][name] <= high
    assert told["verdict"][0] == "Recall is that of 'ill'."
    for row, judge in itertools.product(told["front"], told["judges"]):
        for one in (row, judge):
            assert one["balanced-accuracy"] == pytest.approx((one["recall"] + one["specificity"]) / 2)


@pytest.mark.parametrize(
    ("log", "options", "objectives", "message"),
    [
        (priced_log(), {}, ERRORS, "can be recall and specificity with two classes alone, got 3: <b>, ham and spam"),
        (two_class_log(), {"positive": "sick"}, ERRORS, "positive must be a class, ill or well, got 'sick'"),
        (two_class_log(), {"router": ("topic",)}, ERRORS, "router must come with accuracy or error-cost"),
        (two_class_log(), {}, (*ERRORS, "latency"), "objectives cannot be latency besides recall and specificity"),
        (two_class_log(), {}, ("recall", "price"), "must be accuracy, error-cost, or recall and specificity, then"),
        (two_class_log(), {}, ("price", "recall", "specificity"), "must be accuracy, error-cost, or recall"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_one_sentence(
    log: AnswerLog, options: dict[str, Any], objectives: tuple[str, ...], message: str
) -> None:
    with pytest.raises(BadInputError, match=message):
        choose_panels(log, PanelOptions(**options), objectives=objectives)


@pytest.mark.parametrize("n_ill", [1, 2])
def test_a_class_without_training_or_hold_out_cases_is_refused(n_ill: int) -> None:
    log = two_class_log()
    few = log.at(
        np.concatenate([np.flatnonzero(log.truth == 0)[:n_ill], np.flatnonzero(log.truth == 1)[:30]])
    )
    with pytest.raises(BadInputError, match="at least 2 training cases and 1 hold-out case of each class"):
        choose_panels(few, PanelOptions(positive="ill"), objectives=ERRORS)
