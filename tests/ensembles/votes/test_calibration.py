"""What is fitted against the least loss that a plain search finds, and what it must leave as it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.votes.calibration import (
    Calibration,
    fitted_factors,
    fitted_power,
    smoothed_targets,
    times_factors,
)


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
