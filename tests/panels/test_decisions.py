"""Decisions of votes and of scores, against the same case by case."""

import itertools

import numpy as np
import pytest

from shortlist.panels.answer_log import Measures, make_log
from shortlist.panels.decisions import (
    LOG_ODDS,
    MISSING,
    TIES,
    VOTE_RULES,
    Heard,
    JudgeVotes,
    ScoreTable,
    confidence_scale,
)
from tests.panels.made import log_of
from tests.panels.oracles import heard_at_random, scored, voted

RULES = list(itertools.product(VOTE_RULES, MISSING, TIES))


@pytest.mark.parametrize(("rule", "missing", "ties"), RULES)
@pytest.mark.parametrize("seed", range(5))
def test_votes_decide_as_counted_by_hand(rule: str, missing: str, ties: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_judges, n_classes = int(rng.integers(1, 6)), int(rng.integers(2, 5))
    answers = heard_at_random(rng, 60, n_judges, n_classes)
    weights = tuple(rng.integers(0, 4, n_judges).tolist())
    votes = JudgeVotes(tuple(range(n_judges)), weights, rule, missing, ties)
    decided = votes.decide(answers)
    slow = [voted(votes, words, n_classes) for words in answers.words.tolist()]
    assert decided.codes.tolist() == [code for code, _ in slow]
    assert decided.sure == pytest.approx([sure for _, sure in slow])


@pytest.mark.parametrize("seed", range(5))
def test_scores_add_up_to_the_probabilities_of_a_plain_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_judges, n_classes = int(rng.integers(1, 5)), int(rng.integers(2, 5))
    answers = heard_at_random(rng, 40, n_judges, n_classes)
    weights = rng.normal(0, 1.5, n_classes * (1 + n_judges * (2 * n_classes + 1)))
    table = ScoreTable(tuple(range(n_judges)), weights, n_classes)
    slow = [
        scored(table, *row) for row in zip(answers.words.tolist(), answers.confidence.tolist(), strict=True)
    ]
    assert table.probabilities(answers) == pytest.approx(np.array(slow), abs=1e-12)
    silent = (answers.words == n_classes).all(axis=1)
    decided = table.decide(answers)
    assert (decided.codes[silent] == -1).all()
    assert decided.codes[~silent].tolist() == np.argmax(np.array(slow)[~silent], axis=1).tolist()


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
