"""Branch and bound on sums of sigmoids, against all selections."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.margin_worth import (
    utility_total,
)
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import PRUNING_OBJECTIVES, named_weights
from shortlist.ensembles.proofs.incumbent import Incumbent
from shortlist.ensembles.proofs.lines.line_bounds import LineBounds, TreePart, affordable
from shortlist.ensembles.proofs.lines.slope_proof import prove_slope, twins
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
    proved,
    sigmoid,
    slope_problem,
    small_problem,
    weighted,
)
from tests.ensembles.strategies import hard_votes


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
    best, grown = proved(slope_problem(votes, weights, utility, limits), Budget(threads=threads))

    masks = np.array([mask for mask in all_masks(n) if limits.satisfied_by(mask)]).reshape(-1, n)
    assert grown.limit == ""
    if not len(masks):
        assert best.mask is None
        return
    assert best.mask is not None
    assert limits.satisfied_by(best.mask)
    assert best.total == best.bound == every_total(votes, weights, slope, masks).max()
    assert best.total == utility_total(votes, weights, utility, best.mask, best.threshold)


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
        found, grown = proved(slope_problem(votes, weights, sigmoid(slope), limits))
        decided += grown.nodes > 2 * len(grown.cover)
        masks = np.array([mask for mask in all_masks(n) if limits.satisfied_by(mask)]).reshape(-1, n)
        best = every_total(votes, weights, slope, masks).max() if len(masks) else 0
        assert found.total == found.bound == best
    assert decided > 5  # not all by their thresholds


@pytest.mark.parametrize("metric", sorted(PRUNING_OBJECTIVES))
@pytest.mark.parametrize("slope", [2.0, 16.0])
def test_twelve_classifiers_with_twins_equal_brute_force(metric: str, slope: float) -> None:
    votes = hard_votes(30, 10, seed=3)
    votes = Votes(np.hstack([votes.votes, votes.votes[:, :2]]), votes.labels, votes.counts)
    weights, utility, limits = named_weights(metric, votes), sigmoid(slope), selection_limits(12)
    problem = slope_problem(votes, weights, utility, limits)
    found, _ = proved(problem)

    assert len(np.unique(twins(problem.rows))) == 10
    best = every_total(votes, weights, slope, all_masks(12)[1:]).max()
    assert found.total == found.bound == best


def test_threads_change_nothing_under_a_limit_in_nodes() -> None:
    problem = small_problem()
    for most in (20, 50, None):
        (one, first), (two, second) = (
            proved(problem, Budget(nodes=most, threads=threads)) for threads in (1, 3)
        )
        assert one.mask is not None
        assert two.mask is not None
        assert one.mask.tolist() == two.mask.tolist()
        assert (one.total, one.bound) == (two.total, two.bound)
        assert (first.nodes, first.limit) == (second.nodes, second.limit)
        assert first.limit == ("nodes" if most else "")


def test_a_bound_only_falls_and_a_value_only_rises() -> None:
    problem = small_problem()
    news: list[tuple[int | None, int]] = []
    best = Incumbent(problem)

    def on_news() -> None:
        news.append((None if best.mask is None else best.total, best.bound))

    prove_slope(problem.rows, best, Budget(), on_news=on_news)

    totals, limits = [total for total, _ in news if total is not None], [bound for _, bound in news]
    assert totals == sorted(totals)
    assert limits == sorted(limits, reverse=True)
    assert news[-1] == (best.total, best.bound)
    assert limits[0] == problem.first_bound


def test_what_stops_a_proof_is_told() -> None:
    problem = small_problem(30, 200)
    cancellation = Cancellation()
    _, cancelled = proved(problem, Budget(cancellation=cancellation), on_news=cancellation.cancel)
    late, at_once = proved(problem, Budget(0))
    _, full = proved(problem, settings=SlopeSettings(most_open=10))

    assert [one.limit for one in (cancelled, at_once, full)] == ["interrupted", "0 s", "10 open nodes"]
    assert late.mask is None
    assert late.bound == problem.first_bound


def test_nodes_that_forget_their_slopes_prove_the_same() -> None:
    problem = small_problem()
    whole, _ = proved(problem)
    forgetful, grown = proved(problem, settings=SlopeSettings(stored_tilts=0))

    assert (forgetful.total, forgetful.bound, grown.limit) == (whole.total, whole.bound, "")


@pytest.mark.parametrize("cost", [None, 3.0])
def test_a_cover_has_every_threshold_of_every_size_once_and_bounds_it(cost: float | None) -> None:
    votes, utility = hard_votes(30, 8), sigmoid(8.0)
    weights, costs = named_weights("accuracy", votes), [1.0, 1.0, 9.0, 2.0, 1.0, 1.0, 1.0, 1.0]
    limits = selection_limits(8, min_size=0)
    if cost is not None:
        limits = selection_limits(8, min_size=0, member_costs=costs, max_cost=cost)
    problem = slope_problem(votes, weights, utility, limits)
    rows = problem.rows
    _, answer = proved(problem)

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
        part = TreePart(line.size, line.first, line.last, affordable(rows))
        assert bounds.by_tilts(part, line.tilts)[0] == line.bound >= best


def test_a_cover_that_would_be_too_large_is_left_out() -> None:
    problem = small_problem()
    assert proved(problem)[1].cover
    _, without = proved(problem, settings=SlopeSettings(most_lines=10))
    assert without.cover == ()
    assert without.limit == ""
