"""Decisions of votes, of scores and by confidence, against the same case by case."""

import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shortlist.export import reader
from shortlist.export.protocol_text import markdown
from shortlist.guarantees.guarantee import Demand
from shortlist.panels.answer_log import AnswerLog, Measures, by_agreement, make_log
from shortlist.panels.candidates import CONFIDENT, SINGLE, shape_of
from shortlist.panels.choice import choose_panels
from shortlist.panels.decisions import (
    BY_CONFIDENCE,
    LOG_ODDS,
    ConfidenceScale,
    Curve,
    Heard,
    LatestAnswer,
    ScoreTable,
    confidence_scale,
)
from shortlist.panels.figures import figures
from shortlist.panels.learning import AGREEMENT, OutOfFold
from shortlist.panels.panel_options import PanelOptions, cases_of
from shortlist.panels.policy import FINALS, NEVER, Final, Panel, Stage
from shortlist.panels.protocol import panel_protocol
from shortlist.panels.recipes import Cases, fitted_on_others, followed
from shortlist.panels.saved_panels import load_panel
from shortlist.panels.search import find_policies
from shortlist.runs.budget import Budget
from tests.cli.running import done
from tests.panels.made import log_of
from tests.panels.oracles import undominated
from tests.panels.test_saved_panels import SCHEMA, fits


def test_equal_classes_and_silence_are_never_sure() -> None:
    answers = Heard(np.array([[0], [1], [2]]), np.zeros((3, 1)), 2)
    labels = np.zeros((3, 2))
    labels[1] = [0.0, 1.0]
    table = ScoreTable((0,), np.concatenate([np.zeros(2), labels.ravel(), np.zeros(4)]), 2)
    decided = table.decide(answers)
    assert decided.codes.tolist() == [-1, 1, -1]
    assert decided.sure[[0, 2]].tolist() == [0.0, 0.0]


def test_a_confidence_is_worth_the_log_odds_of_being_right_and_the_usual_one_stands_for_none() -> None:
    rng = np.random.default_rng(0)
    sure = np.round(rng.random((4000, 2)), 2)
    sure[rng.random(sure.shape) < 0.1] = np.nan
    truth = rng.integers(0, 3, 4000)
    is_right = rng.random(4000) < np.clip(np.nan_to_num(sure[:, 0], nan=0.5), 0.1, 0.9)
    said = np.column_stack([np.where(is_right, truth, (truth + 1) % 3)] * 2)
    confidence = np.column_stack([100 * sure[:, 0], np.full(4000, np.nan)])  # on any scale that rises
    log = make_log(["a", "b"], np.arange(4000), said, truth, measures=Measures(confidence=confidence))
    scale = confidence_scale(log)
    assert scale.told.tolist() == [True, False]
    worth = scale.of(np.array([[percent, np.nan] for percent in (20.0, 50.0, 80.0)]), (3, 2))
    assert worth[:, 0] * LOG_ODDS == pytest.approx(np.log([0.25, 1, 4]), abs=0.3)
    scaled = scale.of(log.confidence, log.answers.shape)
    known = np.isfinite(confidence[:, 0])
    assert scaled[~known, 0] == pytest.approx(np.median(scaled[known, 0]), abs=1e-12)
    assert (scaled[:, 1] == 0).all()


@pytest.mark.parametrize("n_cases", [1, 40, 400])
def test_knots_of_confidence_rise_and_are_worth_the_log_odds_of_the_cases_around_them(n_cases: int) -> None:
    rng = np.random.default_rng(n_cases)
    log = log_of(rng, 3, n_cases)
    assert log.confidence is not None
    for judge, curve in enumerate(confidence_scale(log).curves[:2]):
        if curve is None:
            assert n_cases == 1
            continue
        told = np.isfinite(log.confidence[:, judge]) & (log.answers[:, judge] >= 0)
        sure, right = log.confidence[told, judge], (log.answers == log.truth[:, None])[told, judge]
        assert (np.diff(curve.knots) > 0).all()
        levels = np.unique(sure)
        assert np.isin(curve.knots, levels).all()
        if len(curve.knots) == len(levels):  # a knot for each confidence on record
            n, n_right = (sure[:, None] == levels).sum(axis=0), (sure[right, None] == levels).sum(axis=0)
            expected = np.log((n_right + 0.5) / (n - n_right + 0.5))
            assert curve.values * LOG_ODDS == pytest.approx(expected)


GRID = (0.0, 0.25, 0.5, 0.75, 1.0, math.nan)


def drawn_log(rng: np.random.Generator, n_judges: int, n_cases: int, factor: float = 1.0) -> AnswerLog:
    """A log of scores alone with missing answers, missing confidences, and many equal confidences."""
    names = [f"j{place}" for place in range(n_judges)]
    shape = (n_cases, n_judges)
    spoke = rng.random(shape) < 0.85
    said = np.where(spoke, np.array([f"{name}'s answer" for name in names], dtype=object), "")
    measures = Measures(
        confidence=factor * rng.choice(GRID, shape), prices=rng.integers(0, 6, shape).astype(float),
        scores=np.where(spoke, (rng.random(shape) < 0.6).astype(float), np.nan),
    )  # fmt: skip
    return make_log(names, np.arange(n_cases), said, measures=measures, classes=())


def drawn_cases(log: AnswerLog, options: PanelOptions | None = None) -> tuple[Cases, int]:
    known = by_agreement(log)
    return cases_of(known, confidence_scale(known), options or PanelOptions())


def by_hand(log: AnswerLog, judges: Sequence[int], least: Sequence[float | None]) -> tuple[int, int]:
    """Loss and price of asking judges one after the other, each but the last from a confidence on.

    None: any answer so far ends the case.
    """
    assert log.confidence is not None
    lost = paid = 0
    for case in range(len(log.cases)):
        latest = None
        for judge, limit in zip(judges, [*least, None], strict=True):
            paid += int(log.prices[case, judge])
            answers = log.answers[case, judge] >= 0
            latest = judge if answers else latest
            sure = answers and log.confidence[case, judge] >= (limit or 0)  # NaN is not
            if (limit is None and latest is not None) or (limit is not None and sure):
                break
        lost += latest is None or not log.is_right[case, latest]
    return lost, paid


def limits_of(log: AnswerLog, judge: int) -> list[float | None]:
    """All thresholds; of confidences from 0 to 1 none is as little as 0."""
    assert log.confidence is not None
    told = log.confidence[:, judge]
    is_share = np.nanmin(told) >= 0 and np.nanmax(told) <= 1
    told = told[np.isfinite(told) & ~(is_share & (told == 0))]
    return [None, math.inf, *np.unique(told).tolist()]


@pytest.mark.parametrize("factor", [1.0, 100.0, -2.0], ids=["shares", "per cent", "negative"])
@pytest.mark.parametrize("seed", range(12))
def test_the_front_of_two_judges_is_that_of_all_orders_and_thresholds(seed: int, factor: float) -> None:
    log = drawn_log(np.random.default_rng(seed), 3, 30, factor)
    points = [by_hand(log, [judge], []) for judge in range(3)]
    for pair in itertools.permutations(range(3), 2):
        points += [by_hand(log, pair, [least]) for least in limits_of(log, pair[0])]
    cases, steps = drawn_cases(log)
    found = find_policies(cases, max_stages=2, budget=Budget()).found
    assert sorted((one.loss, one.price // steps) for one in found) == undominated(points)
    assert all(one.price % steps == 0 for one in found)


@pytest.mark.parametrize(
    "final", [Final(), Final("hand-over", 7.0), Final("reject")], ids=lambda one: one.kind
)
def test_every_cascade_costs_what_following_each_case_costs(final: Final) -> None:
    log = drawn_log(np.random.default_rng(4), 4, 60)
    cases, steps = drawn_cases(log, PanelOptions(final=final))
    searched = find_policies(cases, max_stages=3, budget=Budget())
    lengths = {len(one.recipe.sets) for one in searched.tried if one.recipe.learner == BY_CONFIDENCE}
    assert lengths == ({2, 3} if final.kind == "answer" else {1, 2})
    for one in searched.tried[:: max(1, len(searched.tried) // 300)]:
        outcome = followed(cases, one.recipe)
        assert int(cases.loss_of(outcome).sum()) == one.loss
        assert int(outcome.price.sum()) == one.price
        if final.kind == "answer" and one.recipe.learner == BY_CONFIDENCE:
            order = one.recipe.sets[-1]
            least = [limit or None for limit in one.recipe.thresholds[:-1]]
            assert by_hand(log, order, least) == (one.loss, one.price // steps)


def test_of_many_judges_cascades_of_two_are_grown_to_three() -> None:
    cases, _ = drawn_cases(drawn_log(np.random.default_rng(3), 7, 60))
    searched = find_policies(cases, max_stages=3, budget=Budget())
    assert any(claim.startswith("42 cascades of three judges by confidence") for claim in searched.claims)
    assert {len(one.recipe.sets) for one in searched.found} >= {1, 3}


def drawn_panel(rng: np.random.Generator, log: AnswerLog) -> Panel:
    """A panel that takes answers by confidence, with scales of every kind."""
    order = rng.permutation(len(log.judges)).tolist()
    order = order[: int(rng.integers(1, 4))]
    curves = (
        Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.0),
        Curve(np.array([0.25, 0.75]), np.array([0.0, 1.0]), 0.0),
        None,
    )
    stages = [
        Stage(
            (judge,), LatestAnswer(tuple(order[: place + 1])), float(rng.choice([0.0, 0.3, 0.5, 1.0, NEVER]))
        )
        for place, judge in enumerate(order)
    ]
    scale = ConfidenceScale(tuple(curves[place] for place in rng.integers(0, 3, len(log.judges))))
    final = Final(str(rng.choice(FINALS)))
    nothing = (math.nan,) * len(log.judges)
    return Panel(log.judges, (), tuple(stages), (1.0, 2.0, 4.0, 8.0), scale, nothing, final)


@pytest.mark.parametrize("rule", [{"rule": "confidence", "votes": [1]}, {"rule": "certainty"}])
def test_other_rules_for_open_answers_are_refused(rule: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    policy = drawn_panel(rng, drawn_log(rng, 4, 6)).plain()
    policy["stages"][0]["decision"] = rule
    del policy["digest"]
    with pytest.raises(reader.ReaderError, match="rule of a decision"):
        reader.check(policy)
    assert not fits(policy, SCHEMA)


def test_decisions_about_other_cases_keep_the_order_in_which_judges_are_asked() -> None:
    cases, _ = drawn_cases(drawn_log(np.random.default_rng(2), 3, 40))
    folds = np.arange(40) % 5
    for name in (BY_CONFIDENCE, AGREEMENT):
        fitted = fitted_on_others(OutOfFold(cases.answers, cases.truth, folds, name), cases.answers)
        for order in ((0, 1), (1, 0)):
            assert fitted.of(order).decision.judges == order


SMALL, LARGE = 0.1, 2.0


def made_log(n_cases: int = 1600, seed: int = 5) -> AnswerLog:
    """A small judge that knows when it is right, and a large one that is right more often."""
    rng = np.random.default_rng(seed)
    right = rng.random((n_cases, 2)) < [0.72, 0.86]
    sure = np.round(np.where(right, rng.beta(8, 2, right.shape), rng.beta(3, 4, right.shape)), 3)
    sure[rng.random(n_cases) < 0.03, 0] = np.nan
    said = np.tile(np.array(["small's answer", "large's answer"], dtype=object), (n_cases, 1))
    measures = Measures(confidence=sure, prices=[SMALL, LARGE], scores=right.astype(float))
    return make_log(["small", "large"], np.arange(n_cases), said, measures=measures, classes=())


def test_a_cascade_by_confidence_is_right_more_often_than_both_judges_and_says_so() -> None:
    log = made_log()
    choice = choose_panels(log)
    assert shape_of(choice.cases).families == (SINGLE, CONFIDENT)
    assert not any("agreement" in claim or "votes" in claim for claim in choice.claims)
    affordable = np.where(choice.front.values[:, 1] < LARGE / 2, choice.front.values[:, 0], 0)
    best = choice.panel(int(affordable.argmax()))
    told = figures(best, choice.test)
    assert told.accuracy > choice.test.is_right.mean(axis=0).max() + 0.03
    assert told.price < 0.6 * LARGE
    small, large = best.stages
    text = markdown(panel_protocol(best))
    assert f"small says so with a confidence of at least {small.answer_from:.6g}" in text
    assert "if large says so." in text
    assert large.answer_from == 0.0
    asked = best.next({"small": {"label": "x", "confidence": small.answer_from - 0.01}})
    assert asked["ask"] == ["large"]
    assert best.next({"small": "x"})["ask"] == ["large"]  # a missing confidence is not sure


def test_under_a_promise_only_the_surest_answers_are_given() -> None:
    choice = choose_panels(made_log(), PanelOptions(demand=Demand(0.93, 0.95)))
    best = choice.panel(int(choice.front.values[:, 0].argmax()))
    assert "at least 93 % of the answers to new cases are right" in best.promise
    told = figures(best, choice.test, promised=0.93)
    assert told.answered > 0.6
    assert told.accuracy >= 0.93


@pytest.mark.parametrize("factor", [1, 100], ids=["shares", "per cent"])
def test_the_command_reads_chooses_tells_and_measures_again(factor: int, tmp_path: Path) -> None:
    log = made_log()
    assert log.confidence is not None
    rows = ["case,judge,score,price,confidence"]
    for case, place in itertools.product(range(len(log.cases)), range(2)):
        sure = log.confidence[case, place]
        told = "" if math.isnan(sure) else f"{factor * sure:.5g}"
        price, right = (SMALL, LARGE)[place], int(log.is_right[case, place])
        rows.append(f"c{case},{log.judges[place]},{right},{price},{told}")
    (tmp_path / "log.csv").write_text("\n".join(rows))
    run = done("panel", "log.csv", "--details", "--out", "panel.json", cwd=tmp_path)
    text = " ".join(run.stdout.split())
    least = json.loads((tmp_path / "panel.json").read_text())["stages"][0]["answer_from"]
    assert 0.5 < least < 0.9
    assert "Ask small (0.1 a case); take its answer where its confidence is at least " in text
    shown = float(text.split("confidence is at least ")[1].split(":")[0])
    first = load_panel(tmp_path / "panel.json")
    assert shown == pytest.approx(first.scale.told_as(0, least), rel=1e-3)
    assert "Else ask large (2 a case): that answers" in text
    assert "Better: use this panel" in text
    assert "votes" not in text.split("What was searched")[-1]
    done("measure", "panel.json", "log.csv", cwd=tmp_path)
