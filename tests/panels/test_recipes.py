"""Fronts of thresholds, against all thresholds one after the other."""

import numpy as np
import pytest

from shortlist.panels.decisions import Decided
from shortlist.panels.recipes import threshold_front
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
        front = threshold_front(decided, stopped, going_on)
        assert [tuple(point) for point in front.points.tolist()] == thresholds_tried(
            decided, stopped, going_on
        )
        for point, least in zip(front.points, front.thresholds, strict=True):
            ends = (codes >= 0) & (decided.sure >= least)
            assert np.where(ends[:, None], stopped, going_on).sum(axis=0).tolist() == point.tolist()


def test_a_stage_that_decides_nothing_sends_all_cases_on() -> None:
    nothing = Decided(np.full(3, -1), np.zeros(3))
    front = threshold_front(nothing, np.zeros((3, 2), dtype=np.int64), np.full((3, 2), 2))
    assert front.points.tolist() == [[6, 6]]
    assert front.thresholds.tolist() == [np.inf]
