"""How probable an answer may become: brute force over everything that could still be answered."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.exits.answer_scores import AnswerScores


def share_of_winner(votes: list[int], n_classes: int, threshold: int | None) -> tuple[int, float]:
    """The class that all votes decide, and its share with one vote more for each class, in plain numbers."""
    n, counts = len(votes), [votes.count(code) for code in range(n_classes)]
    if threshold is None:
        if not sum(counts):
            counts[0] = 1
        best = counts.index(max(counts))
        return best, (counts[best] / sum(counts) * n + 1) / (n + n_classes)
    middle = threshold + 0.5
    positive = counts[1] / (2 * middle)
    if counts[1] > threshold:
        positive = 0.5 + (counts[1] - middle) / (2 * max(0.5, n - middle))
    best = int(counts[1] > threshold)
    return best, (max(positive, 1 - positive) * n + 1) / (n + 2)


@given(data=st.data(), n_left=st.integers(0, 3))
def test_the_range_of_votes_is_that_of_all_completions(data: st.DataObject, n_left: int) -> None:
    n_classes = data.draw(st.integers(2, 3))
    threshold = data.draw(st.none() | st.integers(0, 4)) if n_classes == 2 else None
    kinds = n_classes + (threshold is None)  # the last one abstains
    votes = data.draw(st.lists(st.integers(0, kinds - 1), min_size=1 - min(1, n_left), max_size=4))
    scores = AnswerScores(len(votes) + n_left, by_mean=False, threshold=threshold)
    ends = [
        share_of_winner([*votes, *end], n_classes, threshold)
        for end in itertools.product(range(kinds), repeat=n_left)
    ]
    winner, _ = share_of_winner(votes, n_classes, threshold)
    counted = np.array([[votes.count(code) for code in range(n_classes)]])
    found = scores.range_of(counted, np.array([winner]), n_left)

    assert found.most[0] == pytest.approx(max(score for _, score in ends), abs=1e-12)
    if len({code for code, _ in ends}) == 1:
        assert found.least[0] == pytest.approx(min(score for _, score in ends), abs=1e-12)


@given(n_left=st.integers(0, 2), parts=st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), max_size=3))
def test_the_range_of_means_is_that_of_all_completions(n_left: int, parts: list[float]) -> None:
    known: list[Any] = [(1 - part, part) for part in parts]
    n = len(known) + n_left
    if not n:
        return
    scores = AnswerScores(n, by_mean=True)
    possible = [(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)]
    means = [np.mean([*known, *end], axis=0) for end in itertools.product(possible, repeat=n_left)]
    counted = np.array(known).reshape(-1, 2).sum(axis=0)[None, :]
    winner = int(counted[0].argmax())
    found = scores.range_of(counted, np.array([winner]), n_left)

    assert found.most[0] == pytest.approx(max(mean.max() for mean in means))
    if len({int(mean.argmax()) for mean in means}) == 1:
        assert found.least[0] == pytest.approx(min(mean[winner] for mean in means))


def test_means_beside_the_least_probability_wait_for_all_members() -> None:
    scores = AnswerScores(2, by_mean=True)
    found = scores.range_of(np.array([[1.6, 0.4], [1.7, 0.3]]), np.array([0, 0]), 0)
    reaches, fails = scores.surely(found, 0.8)
    assert reaches.tolist() == [False, True]
    assert not fails.any()
