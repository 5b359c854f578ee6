"""Decisions of votes and of scores, against the same case by case."""

import itertools

import numpy as np
import pytest

from shortlist.panels.decisions import MISSING, VOTE_RULES, Heard, ScoreTable, Votes, confidence_scale
from shortlist.panels.policy import settled
from tests.panels.made import log_of
from tests.panels.oracles import heard_at_random, scored, settled_by_trying, voted

RULES = list(itertools.product(VOTE_RULES, MISSING))


@pytest.mark.parametrize(("rule", "missing"), RULES)
@pytest.mark.parametrize("seed", range(5))
def test_votes_decide_as_counted_by_hand(rule: str, missing: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_judges, n_classes = int(rng.integers(1, 6)), int(rng.integers(2, 5))
    answers = heard_at_random(rng, 60, n_judges, n_classes)
    votes = Votes(tuple(range(n_judges)), tuple(rng.integers(0, 4, n_judges).tolist()), rule, missing)
    decided = votes.decide(answers)
    slow = [voted(votes, words, n_classes) for words in answers.words.tolist()]
    assert decided.codes.tolist() == [code for code, _ in slow]
    assert decided.sure == pytest.approx([sure for _, sure in slow])


@pytest.mark.parametrize(("rule", "missing"), RULES)
@pytest.mark.parametrize("seed", range(4))
def test_a_class_is_settled_exactly_where_nothing_that_is_missing_changes_it(
    rule: str, missing: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    n_classes, weights = int(rng.integers(2, 4)), tuple(rng.integers(1, 4, 5).tolist())
    for n_asked in range(1, 6):
        answers = heard_at_random(rng, 30, n_asked, n_classes)
        votes = Votes(tuple(range(n_asked)), weights, rule, missing)
        tried = [settled_by_trying(votes, words, n_classes) for words in answers.words.tolist()]
        assert settled(votes, answers).tolist() == tried


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


def test_confidence_is_told_apart_near_certainty_and_the_usual_one_stands_for_none() -> None:
    log = log_of(np.random.default_rng(0), 3)
    scale = confidence_scale(log)
    assert scale.told.tolist() == [True, True, False]
    assert log.confidence is not None
    scaled = scale.of(log.confidence, log.answers.shape)
    known = np.isfinite(log.confidence)
    expected = np.log(1 - log.confidence + 1e-3) / np.log(1e-3)
    assert scaled[known] == pytest.approx(expected[known])
    for judge in (0, 1):
        assert scaled[~known[:, judge], judge] == pytest.approx(np.median(scaled[known[:, judge], judge]))
    assert (scaled[:, 2] == 0).all()
