"""Committees that exact pruning chooses: the best of all by brute force, and told by those chosen without each fold."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from shortlist.ensembles.votes.hard_votes import n_right
from shortlist.panels.answer_log import AnswerLog, Measures, make_log
from shortlist.panels.candidates import CHOSEN, shape_of
from shortlist.panels.choice import choose_panels
from shortlist.panels.decisions import COUNTED, FIRST, MAJORITY, PLURALITY, JudgeVotes, confidence_scale
from shortlist.panels.learning import PRUNED, VOTES, OutOfFold
from shortlist.panels.panel_options import PanelOptions, cases_of
from shortlist.panels.pruned_committees import (
    majority_first,
    pruned_committees,
    right_votes,
)
from shortlist.panels.recipes import Cases, Judges, measured_cases
from shortlist.panels.search import find_policies
from shortlist.runs.budget import Budget


def made_log(seed: int, *, n_cases: int = 120, n_judges: int = 7, n_classes: int = 2) -> AnswerLog:
    """Judges who are often wrong together, sometimes silent, of rising price."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_cases)
    family = rng.random((n_cases, 3))[:, rng.integers(0, 3, n_judges)]
    is_right = 0.5 * family + 0.5 * rng.random((n_cases, n_judges)) < np.linspace(0.5, 0.7, n_judges)
    said = np.where(is_right, truth[:, None], (truth[:, None] + 1) % n_classes).astype(object)
    said[rng.random(said.shape) < 0.05] = None
    measures = Measures(prices=np.arange(1.0, n_judges + 1))
    return make_log([f"j{n}" for n in range(n_judges)], np.arange(n_cases), said, truth, measures=measures)


def cases_in(log: AnswerLog, **options: object) -> Cases:
    asked = PanelOptions(**{"decide": VOTES} | options)  # type: ignore[arg-type]
    return cases_of(log, confidence_scale(log), asked)[0]


def decision_of(cases: Cases) -> OutOfFold:
    decision = cases.decisions[PRUNED]
    assert isinstance(decision, OutOfFold)
    return decision


def counting_of(cases: Cases) -> JudgeVotes:
    counting = decision_of(cases).of(()).decision
    assert isinstance(counting, JudgeVotes)
    return counting


def loss_of(cases: Cases, judges: Judges, rows: NDArray[np.intp]) -> int:
    votes = replace(counting_of(cases), judges=judges, votes=(1,) * len(judges))
    codes = votes.decide(cases.answers.at(rows).of(judges)).codes
    return int(cases.losses[codes, cases.truth[rows]].sum())


@pytest.mark.parametrize(
    ("n_classes", "options"),
    [
        pytest.param(2, {}, id="most votes"),
        pytest.param(2, {"ties": FIRST}, id="the first of equals"),
        pytest.param(2, {"votes": MAJORITY, "missing": COUNTED}, id="silence counts"),
        pytest.param(3, {"votes": MAJORITY}, id="a majority of three classes"),
    ],
)
def test_pruning_counts_the_cases_that_the_votes_decide_rightly(
    n_classes: int, options: dict[str, str]
) -> None:
    cases = cases_in(made_log(3, n_classes=n_classes), **options)
    pool, counting = (0, 2, 3, 5, 6), counting_of(cases)
    assert counting.rule == options.get("votes", PLURALITY)
    votes = right_votes(cases, pool, counting)
    for size in range(1, len(pool) + 1):
        for places in itertools.combinations(range(len(pool)), size):
            judges = tuple(pool[place] for place in places)
            lost = loss_of(cases, judges, np.arange(len(cases.truth)))
            assert len(cases.truth) - n_right(votes, places) == lost


@pytest.mark.parametrize("seed", range(4))
def test_each_committee_is_the_best_of_its_size(seed: int) -> None:
    cases = cases_in(made_log(seed))
    rows = np.arange(len(cases.truth))
    chosen = {len(one): loss_of(cases, one, rows) for one in pruned_committees(cases)}
    assert sorted(chosen) == [3, 5, 7]  # of seven judges; nine are not there
    for size, lost in chosen.items():
        assert lost == min(loss_of(cases, one, rows) for one in itertools.combinations(range(7), size))


def test_answers_of_a_fold_have_no_say_in_who_decides_its_cases() -> None:
    log = made_log(1, n_cases=150)
    rows = decision_of(cases_in(log)).parts[0]
    told = []
    for flips in (False, True):
        truth = log.truth.copy()
        truth[rows] = 1 - truth[rows] if flips else truth[rows]
        known = cases_in(log)  # the folds of the log as it is
        other = replace(known, truth=truth)
        told.append(decision_of(other).of(pruned_committees(other)[0]).decided.codes[rows].tolist())
    assert told[0] == told[1]


def test_what_a_committee_loses_is_told_without_its_luck() -> None:
    """Of fifteen judges alike, the best committee looks better on its own cases than on new ones."""
    own, told = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 2, 200)
        said = np.where(rng.random((200, 15)) < 0.6, truth[:, None], 1 - truth[:, None])
        cases = cases_in(make_log([f"j{n}" for n in range(15)], np.arange(200), said, truth))
        judged = decision_of(cases).of(pruned_committees(cases)[0])
        own.append(float((judged.written.codes == truth).mean()))
        told.append(float((judged.decided.codes == truth).mean()))
    truly = 0.6**3 + 3 * 0.6**2 * 0.4
    assert np.mean(own) > truly + 0.04
    assert np.mean(told) == pytest.approx(truly, abs=0.02)


def test_judges_who_outvote_the_others_are_asked_first_and_decide_alike() -> None:
    cases = cases_in(made_log(2, n_cases=200))
    found = find_policies(cases, max_stages=2, budget=Budget(), families=[CHOSEN]).found
    assert {one.recipe.learner for one in found} == {PRUNED}
    for one in found:
        first, every = one.recipe.sets
        assert first == majority_first(cases.prices.mean(axis=0), every)
        assert len(first) == len(every) // 2 + 1
        lost = measured_cases(cases).losses_of(decision_of(cases).of(every).decided.codes).sum()
        assert one.loss >= lost or one.recipe.thresholds[0] < 1


def test_a_panel_of_a_chosen_committee_answers_by_votes() -> None:
    log = made_log(2, n_cases=200)
    assert CHOSEN in shape_of(cases_in(log)).families
    choice = choose_panels(log, PanelOptions(decide=VOTES, test_share=None))
    recipe = find_policies(choice.cases, max_stages=2, budget=Budget(), families=[CHOSEN]).found[0].recipe
    panel = choice.of_recipe(recipe)
    votes = decision_of(choice.cases).of(recipe.sets[-1]).written.codes
    codes = panel.run(choice.chosen).codes
    assert (codes == votes)[codes >= 0].mean() > 0.9
    assert all(stage.decision.plain()["rule"] == PLURALITY for stage in panel.stages)


def test_committees_are_chosen_for_many_judges_who_are_only_voted_on() -> None:
    assert PRUNED not in cases_in(made_log(0, n_judges=5)).decisions
    assert PRUNED not in cases_in(made_log(0), decide="auto").decisions
    rng = np.random.default_rng(0)
    truth = np.array([f"answer {n}" for n in range(80)], dtype=object)
    said = np.where(rng.random((80, 7)) < 0.6, truth[:, None], "none")
    log = make_log([f"j{n}" for n in range(7)], np.arange(80), said, truth)
    assert log.is_open
    choice = choose_panels(log, PanelOptions(test_share=None))
    assert PRUNED in choice.cases.decisions
    assert any(CHOSEN in claim or "exact pruning" in claim for claim in choice.claims)
