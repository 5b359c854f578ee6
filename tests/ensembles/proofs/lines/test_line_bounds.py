"""Bounds from lines, against every completion of a node."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import named_weights
from shortlist.ensembles.proofs.lines import _kernels as kernels
from shortlist.ensembles.proofs.lines.line_bounds import LineBounds, TreePart
from shortlist.ensembles.proofs.lines.slope_rows import SlopeRows, slope_rows
from shortlist.ensembles.votes.binary_votes import merge_rows, tally
from shortlist.runs.budget import Budget
from tests.ensembles import oracles, strategies
from tests.ensembles.slope_oracles import SLOPES, all_masks, every_total, sigmoid, small_problem


@given(
    rows=strategies.labelled_votes(max_classifiers=5),
    slope=SLOPES,
    states=st.lists(st.sampled_from([kernels.FREE, kernels.IN, kernels.OUT]), min_size=5, max_size=5),
    size=st.integers(0, 5),
    levels=st.tuples(st.integers(0, 5), st.integers(0, 5)),
    known=st.booleans(),
    seed=st.integers(0, 9),
)
def test_no_completion_of_a_node_is_worth_more_than_its_bound(
    *,
    rows: oracles.Rows,
    slope: float,
    states: list[int],
    size: int,
    levels: tuple[int, int],
    known: bool,
    seed: int,
) -> None:
    votes, utility = merge_rows(*oracles.as_arrays(rows)), sigmoid(slope)
    weights, n = named_weights("accuracy", votes), votes.n_classifiers
    size = min(size, n)
    first, last = min(*levels, size), min(max(levels), size)
    normal = slope_rows(votes, weights, utility, selection_limits(n, min_size=0))
    fixed = np.array(states[:n], dtype=np.uint8)
    need = size - int((fixed == kernels.IN).sum())
    if not 0 <= need <= (fixed == kernels.FREE).sum():
        return
    masks = np.array(
        [
            mask
            for mask in all_masks(n)
            if mask.sum() == size and mask[fixed == kernels.IN].all() and not mask[fixed == kernels.OUT].any()
        ]
    )
    best = every_total(votes, weights, slope, masks, range(first, last + 1)).max()
    start = np.random.default_rng(seed).integers(0, 2**28, normal.forms.n_forms).astype(np.int32)
    part, bounds = TreePart(size, first, last, fixed), LineBounds(normal)
    tilts = bounds.better_tilts(part, start, 30, Budget(), value=int(best) if known else None)
    bound, gains = bounds.by_tilts(part, tilts)

    assert bound >= best
    # and the bound is the slow one of the same tilts
    side, worth = np.where(normal.forms.is_positive, 1, -1), normal.worth
    table, middle = normal.table[size], n + 2
    lines = [
        max(
            int(table[middle + d]) - int(tilts[r]) * int(d)
            for d in _distances(normal, fixed, size, (first, last), r)
        )
        for r in range(len(worth))
    ]
    steep = [int(s) * int(w) * int(q) for s, w, q in zip(side, worth, tilts, strict=True)]
    slow = max(
        sum(int(w) * c for w, c in zip(worth, lines, strict=True))
        + sum(y * int(t - level) + (-y if s < 0 else 0) for y, t, s in zip(steep, tallies, side, strict=True))
        for tallies in [tally(normal.forms.votes, mask) for mask in masks]
        for level in range(first, last + 1)
    )
    assert bound == normal.constant + slow
    assert gains.tolist() == [
        sum(y * int(v) for y, v in zip(steep, column, strict=True)) for column in normal.forms.votes.T
    ]


def _distances(
    rows: SlopeRows, fixed: NDArray[np.uint8], size: int, levels: tuple[int, int], r: int
) -> range:
    """Return the distances that a row can have, from its votes one by one."""
    first, last = levels
    row, free = rows.forms.votes[r], fixed == kernels.FREE
    need = size - int((fixed == kernels.IN).sum())
    base, voters = int(row[fixed == kernels.IN].sum()), int(row[free].sum())
    most, least = base + min(need, voters), base + max(0, need - int(free.sum()) + voters)
    if rows.forms.is_positive[r]:
        return range(least - last, most - first + 1)
    return range(1 - most + first, 1 - least + last + 1)


def test_steps_in_blocks_are_the_same_steps() -> None:
    rows = small_problem().rows
    part = TreePart(5, 0, 5, np.zeros(14, dtype=np.uint8))
    whole, more = (LineBounds(rows).better_tilts(part, None, steps, Budget()) for steps in (10, 60))
    parts = LineBounds(rows, block_votes=3 * rows.forms.signs.size).better_tilts(part, None, 10, Budget())

    assert whole.tolist() == parts.tolist()
    assert LineBounds(rows).by_tilts(part, more)[0] < LineBounds(rows).by_tilts(part, whole)[0]
