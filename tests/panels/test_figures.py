"""Errors of means over hold-out cases, also where all of these cases are alike."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.choice import choose_panels
from shortlist.panels.facts import panel_report
from shortlist.panels.figures import figures
from shortlist.panels.objectives import BALANCED, ERROR_COST, Scoring
from shortlist.panels.panel_choice import PanelChoice, single_panel
from shortlist.panels.panel_options import PanelOptions
from shortlist.panels.policy import Outcome
from shortlist.panels.verdict import compared
from shortlist.panels.words import measured_in_words
from shortlist.results.intervals import (
    Z,
    clustered_error,
    interval_of_mean,
    mean_error,
    most_unseen,
)
from tests.panels.test_choice import label_log

ONE, MOST = np.array([0.0]), np.array([5.0])


@pytest.mark.parametrize("n", [1, 10, 400])
def test_what_was_never_seen_is_seen_by_chance_of_a_fortieth_at_the_exact_end(n: int) -> None:
    assert (1 - most_unseen(n)) ** n == pytest.approx(0.025)


def test_numbers_that_differ_have_the_normal_interval_within_what_they_may_be() -> None:
    values = np.random.default_rng(0).choice([0.0, 1.0, 4.0], 60)
    error = values.std(ddof=1) / math.sqrt(60)
    wide = interval_of_mean(values, ONE, MOST)
    assert wide == pytest.approx((values.mean() - Z * error, values.mean() + Z * error))
    rare = np.where(np.arange(60) == 3, 1.0, 0.0)
    low, high = interval_of_mean(rare, ONE, np.array([1.0]))
    assert low == 0.0
    assert high == pytest.approx(rare.mean() + Z * mean_error(rare))


@pytest.mark.parametrize("value", [0.0, 2.0, 5.0])
def test_equal_numbers_may_be_others_in_as_many_cases_as_the_exact_tail_allows(value: float) -> None:
    for some, n in ((None, 60), (np.repeat(np.arange(20), 3), 20)):
        share = 1 - 0.025 ** (1 / n)
        low, high = interval_of_mean(np.full(60, value), ONE, MOST, groups=some)
        assert low == pytest.approx(value - share * value)
        assert high == pytest.approx(value + share * (5.0 - value))


def test_the_true_mean_is_within_the_interval_in_95_of_100_draws_of_rare_prices() -> None:
    rng, n_kept = np.random.default_rng(1), 0
    for share in (0.002, 0.02, 0.06):
        kept = [interval_of_mean(np.where(rng.random(50) < share, 5.0, 0.0), ONE, MOST) for _ in range(400)]
        alike = [pair for pair in kept if pair[1] == pytest.approx(5.0 * most_unseen(50))]
        n_kept += len(alike)
        assert all(low <= 5.0 * share <= high for low, high in alike)
    assert n_kept > 400


def test_of_balanced_accuracy_each_class_has_its_own_tail() -> None:
    log = label_log(2, 80)
    sizes = np.bincount(log.truth, minlength=2)
    losses = (1.0 - np.eye(2)) * 80 / (2 * sizes)
    scoring = Scoring(BALANCED, np.vstack([losses, losses.max(axis=0)]))
    low, high = scoring.interval(np.zeros(80), log)
    assert high == 1.0
    assert low == pytest.approx(1 - (most_unseen(int(sizes[0])) + most_unseen(int(sizes[1]))) / 2)


def test_the_error_of_a_mean_counts_what_differs_within_each_class_alone() -> None:
    rng = np.random.default_rng(5)
    strata = rng.integers(0, 3, 50)
    values = rng.normal(size=50) + 10 * strata
    rest = values.copy()
    for one in range(3):
        rest[strata == one] -= values[strata == one].mean()
    assert mean_error(values, strata) == pytest.approx(math.sqrt(rest @ rest / 49 / 50))
    assert mean_error(values) == pytest.approx(values.std(ddof=1) / math.sqrt(50))


def test_a_case_that_a_person_decides_loses_nothing() -> None:
    log = label_log(2, 80)
    codes = np.where(np.arange(80) % 2 == 0, 1 - log.truth, -1)  # wrong, or no answer
    handed = np.arange(80) % 4 < 2
    zeros = np.zeros(80)
    outcome = Outcome(codes, zeros, codes, zeros, zeros, handed, codes)
    losses = Scoring(ERROR_COST, np.array([[0.0, 7.0], [3.0, 0.0], [5.0, 5.0]])).of(outcome, log)
    wrong = np.where(codes == -1, 5.0, np.where(log.truth == 1, 7.0, 3.0))
    assert losses.tolist() == [
        0.0 if of_person else lost for of_person, lost in zip(handed, wrong, strict=True)
    ]


def test_repeated_rows_are_one_sample() -> None:
    values = np.random.default_rng(3).normal(size=40)
    values -= values.mean()
    groups = np.repeat(np.arange(40), 4)
    assert clustered_error(np.repeat(values, 4), groups) == pytest.approx(clustered_error(values, None))


def free_and_right() -> AnswerLog:
    """A free judge that is always right, and a dear one that is sometimes wrong."""
    log = label_log(1, 200, (1.0, 0.8))
    return replace(log, prices=np.broadcast_to([0.0, 3.0], (200, 2)).copy())


def chain_of(choice: PanelChoice) -> int:
    """The number of a point that asks both judges in stages."""
    return next(place for place, one in enumerate(choice.found) if len(one.recipe.sets) == 2)


def test_a_panel_whose_cases_all_ended_free_may_cost_something_and_says_so_everywhere() -> None:
    said = [["no", "no"], ["no", "yes"], ["yes", "yes"], ["", "yes"]]
    rows = np.array([0, 1, 2] * 60 + [3] * 8)
    truth = np.array(["no", "no", "yes", "yes"])[rows]
    table = np.array(said, dtype=object)[rows]
    log = make_log(["free", "dear"], np.arange(188), table, truth, measures=Measures(prices=[0.0, 3.0]))
    choice = choose_panels(log, PanelOptions(decide="votes"))
    point = chain_of(choice)
    spoken = choice.test.at(choice.test.answers[:, 0] >= 0)
    report = panel_report(replace(choice, test=spoken), point)
    told = report.facts
    n = len(spoken.truth)
    low, high = told["held_out"]["price_interval"]
    assert (told["held_out"]["price"], low) == (0.0, 0.0)
    assert high == pytest.approx(3.0 * most_unseen(n))
    assert json.loads(json.dumps(told))["held_out"]["price_interval"] == [low, high]
    free = figures(single_panel(choice, 0), spoken)
    assert free.price_interval == (0.0, 0.0)  # no call of it costs anything
    assert figures(single_panel(choice, 1), spoken).price_interval == (3.0, 3.0)
    assert f"error cost 0 (0 to {5 * most_unseen(n):.3g})" in measured_in_words(
        told["held_out"]
        | {"objective": ERROR_COST, "value": 0.0, "value_interval": (0.0, 5 * most_unseen(n))}
    )


def test_a_panel_without_mistakes_may_still_make_some_and_one_like_the_judge_is_the_judge() -> None:
    log = free_and_right()
    costs: dict[tuple[str | None, str], int] = {("no", "yes"): 5, ("yes", "no"): 2}
    options = PanelOptions(error_costs=costs, decide="votes")
    choice = choose_panels(log, options, objectives=("error-cost", "price"))
    n = len(choice.test.truth)
    scoring = Scoring(ERROR_COST, choice.cases.losses.astype(float))
    own = figures(choice.panel(0), choice.test, scoring)
    assert own.value == 0.0
    assert own.value_interval == pytest.approx((0.0, 5 * most_unseen(n)))
    alone, logistic = single_panel(choice, 0), choose_panels(log, PanelOptions(decide="logistic"))
    assert compared("j0", alone, choice.panel(0), choice.test, scoring).difference_interval == (0.0, 0.0)
    learned = logistic.of_recipe(replace(logistic.found[0].recipe, learner="logistic"))
    told = compared("j0", alone, learned, choice.test, scoring)
    assert told.difference == 0.0
    assert told.difference_interval == pytest.approx((-5 * most_unseen(n), 5 * most_unseen(n)))
