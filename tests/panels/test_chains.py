"""Fronts of thresholds, against all thresholds one after the other."""

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.panels.chains import threshold_front
from shortlist.panels.decisions import Decided
from tests.panels.oracles import thresholds_tried


@pytest.mark.parametrize("seed", range(60))
def test_the_front_of_a_stage_is_that_of_all_its_thresholds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for most_loss in (1, 1, 5):
        n_cases, n_classes = rng.integers(1, 9), int(rng.integers(1, 4))
        codes = rng.integers(-1, n_classes, n_cases)
        decided = Decided(codes, np.where(codes < 0, 0.0, rng.integers(1, 4, n_cases) / 4))
        stopped = np.column_stack([rng.integers(0, most_loss + 1, n_cases), rng.integers(0, 4, n_cases)])
        going_on = np.column_stack(
            [rng.integers(0, most_loss + 1, n_cases), stopped[:, 1] + rng.integers(0, 4, n_cases)]
        )
        front = threshold_front(decided, stopped, going_on, n_classes)
        assert [tuple(point) for point in front.points.tolist()] == thresholds_tried(
            decided, stopped, going_on, n_classes
        )
        for point, thresholds in zip(front.points, front.thresholds, strict=True):
            least = np.array([*thresholds, np.inf])
            ends = decided.sure >= least[codes]
            assert np.where(ends[:, None], stopped, going_on).sum(axis=0).tolist() == point.tolist()


def test_a_stage_that_decides_nothing_sends_all_cases_on() -> None:
    nothing = Decided(np.full(3, -1), np.zeros(3))
    front = threshold_front(nothing, np.zeros((3, 2), dtype=np.int64), np.full((3, 2), 2), 2)
    assert front.points.tolist() == [[6, 6]]
    assert front.thresholds.tolist() == [[np.inf, np.inf]]


def test_a_stage_never_ends_a_case_with_a_class_that_it_decided_about_no_case() -> None:
    decided = Decided(np.array([0, 0]), np.array([0.9, 0.6]))
    front = threshold_front(decided, np.array([[0, 1], [1, 1]]), np.array([[0, 5], [0, 5]]), 3)
    assert np.isinf(front.thresholds[:, 1:]).all()
    assert np.isfinite(front.thresholds[:, 0]).all()


def test_losses_too_far_apart_are_refused() -> None:
    decided = Decided(np.array([0, 1]), np.array([0.5, 0.5]))
    stopped, going_on = np.array([[1 << 24, 1], [0, 1]]), np.array([[0, 2], [1 << 24, 2]])
    with pytest.raises(BadInputError, match=r"error costs must be coarser, got 16,777,217 different losses"):
        threshold_front(decided, stopped, going_on, 2)
