"""The made table of the multi-stage paper."""

import numpy as np
import pytest

from shortlist.reproduce.synthetic30 import synthetic30


@pytest.mark.slow
def test_synthetic30_follows_the_recipe() -> None:
    X, y, costs = synthetic30(seed=1)

    assert X.shape == (1000, 30)
    assert np.bincount(y).min() >= 300
    assert sorted(costs.values()) == [100] * 6 + [200] * 6 + [300] * 6 + [400] * 6 + [500] * 6
