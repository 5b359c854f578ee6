"""Branch and bound on sums of sigmoids, against all selections."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.ensembles.goals.margin_worth import (
    utility_bounds,
    utility_total,
)
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import OBJECTIVES, named_weights
from shortlist.ensembles.proofs.lines.line_bounds import LineBounds, Part, affordable
from shortlist.ensembles.proofs.lines.slope_proof import SlopeAnswer, prove_slope, twins
from shortlist.ensembles.proofs.lines.slope_rows import SlopeRows, slope_rows
from shortlist.ensembles.proofs.lines.slope_settings import SlopeSettings
from shortlist.ensembles.votes.binary_votes import Votes, merge_rows
from shortlist.runs import Cancellation
from shortlist.runs.budget import Budget
from tests.ensembles import oracles, strategies
from tests.ensembles.slope_oracles import (
    SLOPES,
    all_masks,
    every_total,
    limits_of,
    sigmoid,
    small_problem,
    weighted,
)
from tests.ensembles.strategies import hard_votes


def proved(rows: SlopeRows, bounds: NDArray[np.int64], threads: int = 1) -> SlopeAnswer:
    """Return the answer without a selection to begin with."""
    return prove_slope(rows, bounds, Budget(threads=threads))


@given(
    rows=strategies.labelled_votes(max_classifiers=6),
    numbers=strategies.weight_sets,
    slope=SLOPES,
    sizes=st.tuples(st.integers(0, 6), st.integers(0, 6)),
    limited=st.sampled_from(["", "cost", "average", "each"]),
    threads=st.integers(1, 2),
)
def test_the_proof_equals_brute_force(
    *,
    rows: oracles.Rows,
    numbers: tuple[int, int, int, int],
    slope: float,
    sizes: tuple[int, int],
    limited: str,
    threads: int,
) -> None:
    votes, weights, utility = merge_rows(*oracles.as_arrays(rows)), weighted(numbers), sigmoid(slope)
    n = votes.n_classifiers
    limits = limits_of(votes, sizes, limited)
    if limits.conflict():
        return
    normal = slope_rows(votes, weights, utility, limits)
    answer = proved(normal, utility_bounds(votes, weights, utility, limits), threads)

    masks = np.array([mask for mask in all_masks(n) if limits.satisfied_by(mask)]).reshape(-1, n)
    assert answer.limit == ""
    if not len(masks):
        assert answer.mask is None
        return
    assert answer.mask is not None
    assert limits.satisfied_by(answer.mask)
    assert answer.total == answer.bound == every_total(votes, weights, slope, masks).max()
    assert answer.total == utility_total(votes, weights, utility, answer.mask, answer.threshold)


@pytest.mark.parametrize("seed", range(5))
def test_many_made_pools_equal_brute_force(seed: int) -> None:
    rng, decided = np.random.default_rng(seed), 0
    for _ in range(60):
        n, n_rows = int(rng.integers(5, 9)), int(rng.integers(8, 25))
        labels = np.arange(n_rows) % 2
        weak = rng.random((n_rows, n)) < np.where(labels == 1, 0.6, 0.4)[:, None]
        votes = merge_rows(weak.astype(np.uint8), labels)
        numbers = [int(number) for number in rng.integers(-3, 4, 4)]
        weights, slope = (
            weighted((numbers[0], numbers[1], numbers[2], numbers[3])),
            float(rng.choice([2, 8, 30, 100])),
        )
        limited = str(rng.choice(["", "cost", "average", "each"]))
        limits = limits_of(votes, (int(rng.integers(1, 4)), int(rng.integers(4, n + 1))), limited)
        if limits.conflict():
            continue
        rows = slope_rows(votes, weights, sigmoid(slope), limits)
        answer = proved(rows, utility_bounds(votes, weights, sigmoid(slope), limits))
        decided += answer.nodes > 2 * len(answer.cover)
        masks = np.array([mask for mask in all_masks(n) if limits.satisfied_by(mask)]).reshape(-1, n)
        best = every_total(votes, weights, slope, masks).max() if len(masks) else 0
        assert answer.total == answer.bound == best
    assert decided > 5  # not all by their thresholds


@pytest.mark.parametrize("metric", sorted(OBJECTIVES))
@pytest.mark.parametrize("slope", [2.0, 16.0])
def test_twelve_classifiers_with_twins_equal_brute_force(metric: str, slope: float) -> None:
    votes = hard_votes(30, 10, seed=3)
    votes = Votes(np.hstack([votes.votes, votes.votes[:, :2]]), votes.labels, votes.counts)
    weights, utility, limits = named_weights(metric, votes), sigmoid(slope), selection_limits(12)
    normal = slope_rows(votes, weights, utility, limits)
    answer = proved(normal, utility_bounds(votes, weights, utility, limits))

    assert len(np.unique(twins(normal))) == 10
    best = every_total(votes, weights, slope, all_masks(12)[1:]).max()
    assert answer.total == answer.bound == best


def test_threads_change_nothing_under_a_limit_in_nodes() -> None:
    *_, rows, bounds = small_problem()
    for most in (20, 50, None):
        one, two = (prove_slope(rows, bounds, Budget(nodes=most, threads=threads)) for threads in (1, 3))
        assert one.mask is not None
        assert two.mask is not None
        assert one.mask.tolist() == two.mask.tolist()
        assert (one.total, one.bound, one.nodes, one.limit) == (two.total, two.bound, two.nodes, two.limit)
        assert one.limit == ("nodes" if most else "")


def test_a_bound_only_falls_and_a_value_only_rises() -> None:
    *_, rows, bounds = small_problem()
    news: list[tuple[int | None, int]] = []
    answer = prove_slope(rows, bounds, Budget(), on_news=lambda total, bound: news.append((total, bound)))

    totals, limits = [total for total, _ in news if total is not None], [bound for _, bound in news]
    assert totals == sorted(totals)
    assert limits == sorted(limits, reverse=True)
    assert news[-1] == (answer.total, answer.bound)
    assert limits[0] == bounds.max()


def test_what_stops_a_proof_is_told() -> None:
    *_, rows, bounds = small_problem(30, 200)
    cancellation = Cancellation()
    cancelled = prove_slope(
        rows, bounds, Budget(cancellation=cancellation), on_news=lambda *_: cancellation.cancel()
    )
    late = prove_slope(rows, bounds, Budget(0))
    full = prove_slope(rows, bounds, Budget(), settings=SlopeSettings(most_open=10))

    assert [one.limit for one in (cancelled, late, full)] == ["interrupted", "0 s", "10 open nodes"]
    assert late.mask is None
    assert late.bound == bounds.max()


def test_nodes_that_forget_their_slopes_prove_the_same() -> None:
    *_, rows, bounds = small_problem()
    whole = prove_slope(rows, bounds, Budget())
    forgetful = prove_slope(rows, bounds, Budget(), settings=SlopeSettings(stored_tilts=0))

    assert (forgetful.total, forgetful.bound, forgetful.limit) == (whole.total, whole.bound, "")


@pytest.mark.parametrize("cost", [None, 3.0])
def test_a_cover_has_every_threshold_of_every_size_once_and_bounds_it(cost: float | None) -> None:
    votes, utility = hard_votes(30, 8), sigmoid(8.0)
    weights, costs = named_weights("accuracy", votes), [1.0, 1.0, 9.0, 2.0, 1.0, 1.0, 1.0, 1.0]
    limits = selection_limits(8, min_size=0)
    if cost is not None:
        limits = selection_limits(8, min_size=0, member_costs=costs, max_cost=cost)
    rows = slope_rows(votes, weights, utility, limits)
    answer = prove_slope(rows, utility_bounds(votes, weights, utility, limits), Budget())

    covered = sorted(
        (line.size, level) for line in answer.cover for level in range(line.first, line.last + 1)
    )
    largest = 8 if cost is None else 7  # one is too dear
    assert covered == [(size, level) for size in range(largest + 1) for level in range(size + 1)]
    bounds = LineBounds(rows)
    masks = np.array([mask for mask in all_masks(8) if cost is None or not mask[2]])
    for line in answer.cover:
        of_size = masks[masks.sum(axis=1) == line.size]
        best = every_total(votes, weights, 8.0, of_size, range(line.first, line.last + 1)).max()
        part = Part(line.size, line.first, line.last, affordable(rows))
        assert bounds.by_tilts(part, line.tilts)[0] == line.bound >= best


def test_a_cover_that_would_be_too_large_is_left_out() -> None:
    *_, rows, bounds = small_problem()
    assert prove_slope(rows, bounds, Budget()).cover
    without = prove_slope(rows, bounds, Budget(), settings=SlopeSettings(most_lines=10))
    assert without.cover == ()
    assert without.limit == ""
