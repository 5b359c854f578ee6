"""Counts of a policy at thresholds, beside a loop over cases and stages."""

import numpy as np
import pytest

from shortlist.policies.counts import count_answers


@pytest.mark.parametrize("seed", range(40))
def test_counts_at_thresholds_equal_a_plain_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_stages, n_cases = int(rng.integers(1, 4)), int(rng.integers(1, 12))
    scores, right = rng.integers(-1, 5, (n_stages, n_cases)) / 4, rng.random((n_stages, n_cases)) < 0.6
    scores = np.where(scores < 0, -1.0, scores)
    prices = rng.integers(0, 9, (n_stages, n_cases))
    thresholds = np.array([1.0, 0.75, 0.6, 0.25, 0.0])[rng.integers(0, 4) :]
    counts = count_answers([*scores], [*right], thresholds, [*prices])
    assert counts.n_rows == n_cases
    for place, threshold in enumerate(thresholds):
        answered = rightly = paid = 0
        for case in range(n_cases):
            for stage in range(n_stages):
                paid += prices[stage, case]
                if scores[stage, case] >= threshold:
                    answered, rightly = answered + 1, rightly + right[stage, case]
                    break
        assert tuple(count[place] for count in counts[1:]) == (answered, rightly, paid)
    free = count_answers([*scores], [*right], thresholds)
    assert not free.price.any()
    assert (free.answered == counts.answered).all()
