"""Rows of a slope, against the worth of every selection."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.margin_worth import (
    utility_total,
)
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.proofs.lines.slope_rows import first_bounds, slope_rows
from shortlist.ensembles.votes.binary_votes import merge_rows
from tests.ensembles import oracles, strategies
from tests.ensembles.slope_oracles import SLOPES, all_masks, every_total, sigmoid, weighted


@given(
    rows=strategies.labelled_votes(max_classifiers=4),
    numbers=strategies.weight_sets,
    slope=SLOPES,
)
def test_normalised_rows_are_worth_what_the_votes_are(
    rows: oracles.Rows, numbers: tuple[int, int, int, int], slope: float
) -> None:
    votes, weights, utility = merge_rows(*oracles.as_arrays(rows)), weighted(numbers), sigmoid(slope)
    normal = slope_rows(votes, weights, utility, selection_limits(votes.n_classifiers))
    masks = all_masks(votes.n_classifiers)

    for mask, best in zip(masks, every_total(votes, weights, slope, masks), strict=True):
        threshold, total = normal.best_threshold(mask)
        assert total == best == utility_total(votes, weights, utility, mask, threshold)


@given(
    rows=strategies.labelled_votes(max_classifiers=5), numbers=strategies.weight_sets, slope=SLOPES,
    sizes=st.tuples(*[st.integers(0, 5)] * 2),
)  # fmt: skip
def test_no_selection_is_worth_more_than_the_bound(
    rows: oracles.Rows, numbers: tuple[int, int, int, int], slope: float, sizes: tuple[int, int]
) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights, utility = weighted(numbers), sigmoid(slope)
    n, (least, most) = votes.n_classifiers, sizes

    bounds = first_bounds(
        slope_rows(votes, weights, utility, selection_limits(n, min_size=least, max_size=most))
    )

    assert len(bounds) == n + 1
    for size, bound in enumerate(bounds):
        masks = [np.isin(np.arange(n), members) for members in oracles.subsets(n) if len(members) == size]
        worths = [
            utility_total(votes, weights, utility, mask, level) for mask in masks for level in range(size + 1)
        ]
        assert bound >= max(worths) if least <= size <= most else bound == 0
