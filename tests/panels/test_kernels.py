"""Kernels of panels against their slow twins, to the last bit, as a reader in plain Python adds up."""

import itertools
import math

import numpy as np
import pytest

from shortlist.panels._kernels import add_scores, scale_confidence, softmax_rows
from shortlist.panels.decisions import (
    LATEST,
    MISSING,
    TIES,
    VOTE_RULES,
    Heard,
    JudgeVotes,
    ScoreTable,
    decided_by_folds,
)
from tests.panels.oracles import heard_at_random, scored, voted


def plain_scores(
    words: list[int], confidence: list[float], weights: list[float], n_classes: int
) -> list[float]:
    """One case: the bias, then judge by judge the row of the answer and its slope times the confidence."""
    n_judges = len(words)
    labels = np.array(weights[n_classes : n_classes + n_judges * (n_classes + 1) * n_classes])
    slopes = np.array(weights[n_classes + len(labels) :]).reshape(n_judges, n_classes, n_classes)
    labels = labels.reshape(n_judges, n_classes + 1, n_classes)
    scores = list(weights[:n_classes])
    for judge, word in enumerate(words):
        for k in range(n_classes):
            scores[k] += float(labels[judge, word, k])
            if word < n_classes:
                scores[k] += confidence[judge] * float(slopes[judge, word, k])
    return scores


def plain_softmax(scores: list[float]) -> list[float]:
    powers = [math.exp(one - max(scores)) for one in scores]
    total = 0.0
    for one in powers:
        total += one
    return [one / total for one in powers]


@pytest.mark.parametrize("n_classes", [2, 3, 11])
@pytest.mark.parametrize("n_judges", [1, 2, 5])
def test_scores_and_probabilities_are_those_of_the_slow_twin(n_classes: int, n_judges: int) -> None:
    rng = np.random.default_rng([n_classes, n_judges])
    words = rng.integers(0, n_classes + 1, (40, n_judges))
    confidence = rng.random((40, n_judges))
    weights = rng.normal(0, 4, n_classes * (1 + n_judges * (2 * n_classes + 1)))
    scores = np.empty((40, n_classes))
    add_scores(words, confidence, weights, scores)
    wanted = [
        plain_scores(*row, weights.tolist(), n_classes)
        for row in zip(words.tolist(), confidence.tolist(), strict=True)
    ]
    assert scores.tolist() == wanted
    softmax_rows(scores)
    assert scores.tolist() == [plain_softmax(row) for row in wanted]


def test_far_scores_do_not_overflow() -> None:
    scores = np.array([[1e308, -1e308], [-800.0, 800.0], [0.0, 0.0]])
    softmax_rows(scores)
    assert scores.tolist() == [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]


@pytest.mark.parametrize("n_knots", [1, 2, 7])
def test_confidence_on_its_curve_is_that_of_the_slow_twin(n_knots: int) -> None:
    rng = np.random.default_rng(n_knots)
    knots = np.sort(rng.choice(np.arange(-100, 1000) / 10, n_knots, replace=False))
    values = np.sort(rng.normal(0, 1, n_knots))
    confidence = np.concatenate([knots, np.round(rng.uniform(-20, 120, 60), 1), [np.nan]])
    scaled = np.empty_like(confidence)
    scale_confidence(confidence, knots, values, 0.25, scaled)
    for sure, found in zip(confidence.tolist(), scaled.tolist(), strict=True):
        below, above = knots[knots <= sure], knots[knots > sure]
        if math.isnan(sure):
            assert found == 0.25
        elif not len(below) or not len(above):
            assert found == (values[-1] if len(below) else values[0])
        else:
            low, high = values[len(below) - 1], values[len(below)]
            assert found == low + (sure - below[-1]) / (above[0] - below[-1]) * (high - low)


@pytest.mark.parametrize("ties", [*TIES, LATEST])
@pytest.mark.parametrize(("rule", "missing"), list(itertools.product(VOTE_RULES, MISSING)))
def test_votes_by_folds_are_those_of_the_slow_twin(rule: str, missing: str, ties: str) -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n_judges, n_classes = int(rng.integers(1, 6)), int(rng.integers(2, 5))
        answers, fold = heard_at_random(rng, 80, n_judges, n_classes), rng.integers(0, 3, 80)
        parts = [
            JudgeVotes(tuple(range(n_judges)), tuple(votes.tolist()), rule, missing, ties)
            for votes in rng.integers(0, 4, (3, n_judges))
        ]
        told = decided_by_folds(parts, answers, fold)
        slow = [
            voted(parts[own], row, n_classes) for own, row in zip(fold, answers.words.tolist(), strict=True)
        ]
        assert told.codes.tolist() == [code for code, _ in slow]
        assert told.sure == pytest.approx([sure for _, sure in slow])


def test_scores_by_folds_are_those_of_the_slow_twin() -> None:
    rng = np.random.default_rng(0)
    answers, fold = heard_at_random(rng, 80, 3, 3), rng.integers(0, 2, 80)
    parts = [ScoreTable((0, 1, 2), rng.normal(0, 2, 3 * (1 + 3 * 7)), 3) for _ in range(2)]
    told = decided_by_folds(parts, answers, fold)
    assert (told.codes[(answers.words == 3).all(axis=1)] == -1).all()
    for case in np.flatnonzero((answers.words < 3).any(axis=1)):
        slow = scored(parts[fold[case]], answers.words[case].tolist(), answers.confidence[case].tolist())
        assert told.codes[case] == np.argmax(slow)
        assert told.sure[case] == pytest.approx(max(slow), abs=1e-12)
    some = parts[0].of((0, 2))
    pair = answers.of((0, 2))
    alone = answers._replace(words=np.where([False, True, False], 3, answers.words))
    labels = parts[0].weights[3:39].reshape(3, 4, 3)
    silent = labels[1, 3]  # what the silence of the second judge adds
    assert some.probabilities(pair) == pytest.approx(
        ScoreTable((0, 1, 2), np.append(parts[0].weights[:3] - silent, parts[0].weights[3:]), 3)
        .probabilities(alone), abs=1e-12,
    )  # fmt: skip


@pytest.mark.parametrize("n_classes", [2, 7, 300])
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("rule", VOTE_RULES)
@pytest.mark.parametrize("missing", MISSING)
def test_votes_are_those_of_a_count_over_all_classes(
    n_classes: int, ties: str, rule: str, missing: str
) -> None:
    rng = np.random.default_rng(n_classes)
    step = n_classes // min(n_classes, 4)
    words = np.minimum(rng.integers(0, 5, (300, 5)) * step, n_classes)
    words[rng.random(words.shape) < 0.2] = n_classes
    votes = tuple(rng.integers(0, 3, 5).tolist())
    decision = JudgeVotes((0, 1, 2, 3, 4), votes, rule, missing, ties)
    told = decision.decide(Heard(words, np.zeros(words.shape), n_classes))
    for row, code, sure in zip(words.tolist(), told.codes.tolist(), told.sure.tolist(), strict=True):
        assert (code, sure) == counted_over_classes(row, decision, n_classes)


def counted_over_classes(row: list[int], how: JudgeVotes, n_classes: int) -> tuple[int, float]:
    """The class that wins and its share, by looking at every class."""
    pairs = [*zip(row, how.votes, strict=True)]
    tally = [sum(vote for word, vote in pairs if word == k) for k in range(n_classes)]
    total = sum(how.votes) if how.missing == "counted" else sum(tally)
    most = max(tally)
    equal = [k for k in range(n_classes) if tally[k] == most]
    is_tied = len(equal) > 1 and how.ties == "unanswered"
    if most == 0 or is_tied or (how.rule == "majority" and 2 * most <= total):
        return -1, 0.0
    last = {word: place for place, word in enumerate(row)}
    winner = max(equal, key=lambda k: last[k]) if how.ties == LATEST else equal[0]
    return winner, most / total
