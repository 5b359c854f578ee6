"""Probabilities as whole numbers, and what their sum decides."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.votes.soft_votes import (
    WHOLE,
    Calibration,
    decided_by_mean,
    fitted_factors,
    fitted_power,
    mean_decisions,
    smoothed_targets,
    soft_votes,
    times_factors,
    whole_shares,
)
from shortlist.errors import BadInputError


def test_two_probabilities_add_up_after_rounding_too() -> None:
    table = np.random.default_rng(0).random((50, 3, 1))

    shares = whole_shares(np.concatenate([1 - table, table], axis=2))

    assert (shares.sum(axis=2) == WHOLE).all()
    assert np.abs(shares[..., 1:] / WHOLE - table).max() <= 0.5 / WHOLE


def test_the_largest_mean_decides_and_ties_go_to_the_first_class() -> None:
    shares = whole_shares([[[0.9, 0.1], [0.2, 0.8]], [[0.4, 0.6], [0.6, 0.4]], [[0.3, 0.7], [0.4, 0.6]]])

    assert decided_by_mean(shares, np.array([1, 1])).tolist() == [0, 0, 1]


def test_a_class_that_gains_more_is_decided_earlier() -> None:
    shares = whole_shares([[[0.7, 0.3]], [[0.6, 0.4]]])

    assert decided_by_mean(shares, np.array([1, 2])).tolist() == [0, 1]


def test_without_members_the_first_class_is_decided() -> None:
    assert decided_by_mean(np.zeros((2, 0, 3), dtype=np.int16), np.array([1, 1, 1])).tolist() == [0, 0]


def test_decisions_are_counted_by_true_class() -> None:
    votes = soft_votes([[[0.9, 0.1]], [[0.2, 0.8]], [[0.6, 0.4]]], [0, 1, 1])

    assert mean_decisions(votes, np.array([True]), np.array([1, 1])).tolist() == [[1, 0], [1, 1]]


@pytest.mark.parametrize(
    ("probabilities", "labels", "why"),
    [
        ([[[0.5, 0.6, np.nan]]], [0], "from 0 to 1"),
        ([[[-0.1, 1.1]]], [0], "from 0 to 1"),
        ([[0.5, 0.5]], [0], "shape"),
        ([[[0.5, 0.5]]], [2], "indices"),
        ([[[0.5, 0.5]]], [0, 1], "one entry per row"),
    ],
    ids=["NaN", "outside", "two dimensions", "unknown class", "more labels"],
)
def test_what_is_no_table_of_probabilities_is_refused(probabilities: Any, labels: Any, why: str) -> None:
    with pytest.raises(BadInputError, match=why):
        soft_votes(probabilities, labels)


def made(seed: int, n_rows: int = 60, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and classes that are less sure than these."""
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.full(n_classes, 0.5), size=n_rows)
    labels = np.array([rng.choice(n_classes, p=0.5 * row + 0.5 / n_classes) for row in scores])
    return scores, labels


def loss(calibration: Calibration, scores: np.ndarray, labels: np.ndarray) -> float:
    """The loss that is made small, row by row and class by class."""
    targets = smoothed_targets(labels, scores.shape[1])
    found = calibration.of(np.maximum(scores, 1e-3))
    return -float((targets * np.log(found)).sum())


@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4))
def test_no_other_power_loses_less(seed: int, n_classes: int) -> None:
    scores, labels = made(seed, 30, n_classes)
    found = fitted_power(scores, labels)
    least = loss(found, scores, labels)
    for power in np.geomspace(0.06, 19, 25):
        assert least <= loss(Calibration(float(power), found.factors), scores, labels) + 1e-6


@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4))
def test_no_other_factors_lose_less_and_classes_are_as_probable_as_they_are_frequent(
    seed: int, n_classes: int
) -> None:
    scores, labels = made(seed, 30, n_classes)
    found = fitted_factors(scores, labels)
    least = loss(found, scores, labels)
    for nudge in np.random.default_rng(seed).uniform(0.5, 2, (10, n_classes)):
        other = Calibration(1.0, tuple(np.asarray(found.factors) * nudge))
        assert least <= loss(other, scores, labels) + 1e-6
    told = found.of(np.maximum(scores, 1e-3)).sum(axis=0)
    assert told == pytest.approx(smoothed_targets(labels, n_classes).sum(axis=0), abs=1e-9)
    assert max(found.factors) == 1


def test_a_power_changes_no_decision_and_stays_finite_where_all_rows_are_right() -> None:
    scores, labels = made(3, 200, 3)
    found = fitted_power(scores, labels)
    assert found.power < 0.9
    assert (found.of(scores).argmax(axis=1) == scores.argmax(axis=1)).all()
    right = np.array([[0.9, 0.1]] * 5 + [[0.1, 0.9]] * 5)
    sure = fitted_power(right, np.repeat([0, 1], 5)).of(right)
    assert 0.8 < sure.max() < 0.95  # six of seven rows


def test_a_class_without_rows_keeps_a_part() -> None:
    scores = np.full((50, 3), 1 / 3)
    found = fitted_factors(scores, np.repeat([0, 1], 25)).of(scores)[0]
    assert found == pytest.approx([0.49, 0.49, 0.02], abs=0.01)


def test_factors_multiply_gains() -> None:
    assert times_factors(np.array([3, 1]), (1.0, 1.0)).tolist() == [3, 1]
    weighed = times_factors(np.array([0, 2, 1]), (1.0, 0.5, 1.0))
    assert weighed.tolist() == [0, 2**30, 2**30]


def test_scores_of_nothing_stay_nothing() -> None:
    assert Calibration(0.5, (1.0, 0.25)).of(np.array([[0.0, 1.0], [1.0, 0.0]])).tolist() == [[0, 1], [1, 0]]
