"""Sums of sigmoids of margins: rows, bounds, branch and bound, and solvers' programs, against all selections."""

import itertools
import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.ensembles.goals.diversity import diversity_limits
from shortlist.ensembles.goals.margin_worth import (
    MarginUtility,
    utility_bounds,
    utility_scale,
    utility_table,
    utility_total,
)
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.goals.weights import OBJECTIVES, Weights, named_weights
from shortlist.ensembles.proofs.lines import _kernels as kernels
from shortlist.ensembles.proofs.lines import line_bounds as slope_bound
from shortlist.ensembles.proofs.lines import slope_program, slope_proof
from shortlist.ensembles.proofs.lines.line_bounds import LineBounds, Part, affordable
from shortlist.ensembles.proofs.lines.slope_program import solve_slope_programs
from shortlist.ensembles.proofs.lines.slope_proof import SlopeAnswer, prove_slope, twins
from shortlist.ensembles.proofs.lines.slope_rows import SlopeRows, slope_rows
from shortlist.ensembles.pruning import slope_pruning
from shortlist.ensembles.pruning.pruning import prune_for
from shortlist.ensembles.votes.binary_votes import Votes, merge_rows, tally
from shortlist.milp import Limits, open_solver
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Status
from shortlist.runs import Cancellation
from tests.ensembles import oracles, strategies
from tests.ensembles.pruning.test_engine import hard_votes
from tests.milp.solvers import installed_solvers

SLOPES = st.sampled_from([0.5, 8.0, 60.0])


def sigmoid(slope: float) -> MarginUtility:
    return MarginUtility("sigmoid", slope, leads=True)


def weighted(numbers: tuple[int, int, int, int]) -> Weights:
    return Weights(Objective("weighted", Sense.MAX, scale=None), *numbers, denominator=1)


def all_masks(n_classifiers: int) -> NDArray[np.bool_]:
    return np.array(list(itertools.product([False, True], repeat=n_classifiers)))


def every_total(
    votes: Votes, weights: Weights, slope: float, masks: NDArray[np.bool_], levels: range | None = None
) -> NDArray[np.int64]:
    """Return the best worth of every selection over the thresholds, row by row from the sigmoid."""
    scale = utility_scale(votes, weights)
    gains = np.where(votes.labels == 1, weights.gain_positive, -weights.gain_negative) * votes.counts
    worths = {}
    for size in range(votes.n_classifiers + 1):
        for d in range(1, votes.n_classifiers + 2):
            margin = min((d - 0.5) / max(1, size), 1.5)
            worths[size, d] = math.floor(scale / (1 + math.exp(-slope * margin)) + 0.5)
            worths[size, 1 - d] = scale - worths[size, d]
    totals = []
    for mask in masks:
        size, tallies = int(mask.sum()), votes.votes[:, mask].sum(axis=1)
        best = -1
        for level in levels or range(size + 1):
            if level <= size:
                worth = [
                    abs(int(gain)) * worths[size, int(t) - level if gain > 0 else 1 - int(t) + level]
                    for gain, t in zip(gains, tallies, strict=True)
                ]
                best = max(best, sum(worth))
        totals.append(best)
    return np.array(totals, dtype=np.int64)


def proved(rows: SlopeRows, bounds: NDArray[np.int64], threads: int = 1) -> SlopeAnswer:
    """Return the answer without a selection to begin with."""
    return prove_slope(rows, bounds, threads=threads)


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


def test_opposite_margins_are_worth_1_together() -> None:
    table = utility_table(sigmoid(7.3), 9, 2**30)
    for size, d in itertools.product(range(10), range(-9, 11)):
        assert table[size, 11 + d] + table[size, 11 + 1 - d] == 2**30


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
    limits = _limits(votes, sizes, limited)
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
        limits = _limits(votes, (int(rng.integers(1, 4)), int(rng.integers(4, n + 1))), limited)
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
    start = np.random.default_rng(seed).integers(0, 2**28, len(normal.worth)).astype(np.int32)
    part, bounds = Part(size, first, last, fixed), LineBounds(normal)
    tilts = bounds.better_tilts(part, start, 30, value=int(best) if known else None)
    bound, gains = bounds.by_tilts(part, tilts)

    assert bound >= best
    # and the bound is the slow one of the same tilts
    side, worth = normal.side, normal.worth
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
        for tallies in [tally(normal.votes, mask) for mask in masks]
        for level in range(first, last + 1)
    )
    assert bound == normal.constant + slow
    assert gains.tolist() == [
        sum(y * int(v) for y, v in zip(steep, column, strict=True)) for column in normal.columns
    ]


def _distances(
    rows: SlopeRows, fixed: NDArray[np.uint8], size: int, levels: tuple[int, int], r: int
) -> range:
    """Return the distances that a row can have, from its votes one by one."""
    first, last = levels
    row, free = rows.votes[r], fixed == kernels.FREE
    need = size - int((fixed == kernels.IN).sum())
    base, voters = int(row[fixed == kernels.IN].sum()), int(row[free].sum())
    most, least = base + min(need, voters), base + max(0, need - int(free.sum()) + voters)
    if rows.side[r] > 0:
        return range(least - last, most - first + 1)
    return range(1 - most + first, 1 - least + last + 1)


def test_steps_in_blocks_are_the_same_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, rows, _ = small_problem()
    part = Part(5, 0, 5, np.zeros(14, dtype=np.uint8))
    whole, more = (LineBounds(rows).better_tilts(part, None, steps) for steps in (10, 60))
    monkeypatch.setattr(slope_bound, "_WORK", 3 * rows.votes.size)
    parts = LineBounds(rows).better_tilts(part, None, 10)

    assert whole.tolist() == parts.tolist()
    assert LineBounds(rows).by_tilts(part, more)[0] < LineBounds(rows).by_tilts(part, whole)[0]


@given(values=st.lists(st.integers(-4, 4), min_size=1, max_size=30), data=st.data())
def test_the_largest_come_first(values: list[int], data: st.DataObject) -> None:
    m = data.draw(st.integers(0, len(values)))
    order = np.arange(len(values))
    numbers = np.array(values, dtype=np.float64)
    kernels.put_largest_first(numbers, order, len(values), m)

    assert sorted(order.tolist()) == list(range(len(values)))
    assert sorted(numbers[order[:m]].tolist(), reverse=True) == sorted(values, reverse=True)[:m]


def small_problem(n: int = 14, rows: int = 60) -> tuple[Votes, Weights, SlopeRows, NDArray[np.int64]]:
    votes = hard_votes(rows, n)
    weights, limits = named_weights("accuracy", votes), selection_limits(n)
    return (
        votes,
        weights,
        slope_rows(votes, weights, sigmoid(8.0), limits),
        utility_bounds(votes, weights, sigmoid(8.0), limits),
    )


def test_threads_change_nothing_under_a_limit_in_nodes() -> None:
    *_, rows, bounds = small_problem()
    for most in (20, 50, None):
        one, two = (prove_slope(rows, bounds, max_nodes=most, threads=threads) for threads in (1, 3))
        assert one.mask is not None
        assert two.mask is not None
        assert one.mask.tolist() == two.mask.tolist()
        assert (one.total, one.bound, one.nodes, one.limit) == (two.total, two.bound, two.nodes, two.limit)
        assert one.limit == ("nodes" if most else "")


def test_a_bound_only_falls_and_a_value_only_rises() -> None:
    *_, rows, bounds = small_problem()
    news: list[tuple[int | None, int]] = []
    answer = prove_slope(rows, bounds, on_news=lambda total, bound: news.append((total, bound)))

    totals, limits = [total for total, _ in news if total is not None], [bound for _, bound in news]
    assert totals == sorted(totals)
    assert limits == sorted(limits, reverse=True)
    assert news[-1] == (answer.total, answer.bound)
    assert limits[0] == bounds.max()


def test_what_stops_a_proof_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, rows, bounds = small_problem(30, 200)
    cancellation = Cancellation()
    cancelled = prove_slope(rows, bounds, cancellation=cancellation, on_news=lambda *_: cancellation.cancel())
    late = prove_slope(rows, bounds, deadline=time.monotonic())
    monkeypatch.setattr(slope_proof, "MOST_OPEN", 10)
    full = prove_slope(rows, bounds)

    assert [one.limit for one in (cancelled, late, full)] == ["interrupted", "seconds", "10 open nodes"]
    assert late.mask is None
    assert late.bound == bounds.max()


@pytest.mark.slow
def test_a_time_limit_is_named_where_a_single_step_is_long() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(40_000) % 2
    votes = merge_rows((rng.random((40_000, 400)) < 0.3 + 0.4 * labels[:, None]).astype(np.uint8), labels)
    result, _ = prune_for(votes, "accuracy+slope-8", selection_limits(400), time_limit_s=4)

    assert result.status is Status.FEASIBLE
    assert result.proof.limit == "4 s"
    assert 0 < result.value < result.bound <= 1


def test_under_a_limit_in_nodes_no_share_of_the_time_ends_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = hard_votes(200, 40)
    usual, hasty = (
        (
            monkeypatch.setattr(slope_pruning, "SEARCH_SHARE", share),
            prune_for(votes, "accuracy+slope-8", selection_limits(40), node_limit=3, time_limit_s=6_000)[0],
        )[1]
        for share in (slope_pruning.SEARCH_SHARE, 1e-9)
    )

    assert (usual.value, usual.bound, usual.mask.tolist()) == (hasty.value, hasty.bound, hasty.mask.tolist())


def test_what_was_not_solved_is_not_called_infeasible(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, rows, bounds = small_problem()
    monkeypatch.setattr(slope_program, "MOST_BINARIES", 0)
    monkeypatch.setattr(slope_program, "PRECISION", 10.0)  # every bound is within it of nothing at all
    answer = solve_slope_programs(rows, bounds, open_solver("highs"))
    assert (answer.mask, answer.bound) == (None, bounds.max())
    assert answer.limit == "0 binaries in an integer program"


def test_a_program_that_is_too_large_is_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, rows, bounds = small_problem()
    monkeypatch.setattr(slope_program, "MOST_BINARIES", 100)
    answer = solve_slope_programs(rows, bounds, open_solver("highs"))
    assert (answer.mask, answer.nodes, answer.bound) == (None, 0, bounds.max())
    assert answer.limit == "100 binaries in an integer program"


def test_nodes_that_forget_their_slopes_prove_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, rows, bounds = small_problem()
    whole = prove_slope(rows, bounds)
    monkeypatch.setattr(slope_proof, "STORED_TILTS", 0)
    forgetful = prove_slope(rows, bounds)

    assert (forgetful.total, forgetful.bound, forgetful.limit) == (whole.total, whole.bound, "")


@pytest.mark.parametrize("cost", [None, 3.0])
def test_a_cover_has_every_threshold_of_every_size_once_and_bounds_it(cost: float | None) -> None:
    votes, utility = hard_votes(30, 8), sigmoid(8.0)
    weights, costs = named_weights("accuracy", votes), [1.0, 1.0, 9.0, 2.0, 1.0, 1.0, 1.0, 1.0]
    limits = selection_limits(8, min_size=0)
    if cost is not None:
        limits = selection_limits(8, min_size=0, member_costs=costs, max_cost=cost)
    rows = slope_rows(votes, weights, utility, limits)
    answer = prove_slope(rows, utility_bounds(votes, weights, utility, limits))

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


def test_a_cover_that_would_be_too_large_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, rows, bounds = small_problem()
    assert prove_slope(rows, bounds).cover
    monkeypatch.setattr(slope_proof, "MOST_LINES", 10)
    without = prove_slope(rows, bounds)
    assert without.cover == ()
    assert without.limit == ""


@pytest.mark.parametrize("solver", list(installed_solvers()))
@settings(max_examples=15)
@given(
    rows=strategies.labelled_votes(max_classifiers=4, max_rows=6),
    slope=SLOPES,
    sizes=st.tuples(st.integers(0, 4), st.integers(0, 4)),
    limited=st.sampled_from(["", "cost", "average", "each"]),
)
def test_solvers_programs_equal_brute_force(
    solver: str, rows: oracles.Rows, slope: float, sizes: tuple[int, int], limited: str
) -> None:
    votes, utility = merge_rows(*oracles.as_arrays(rows)), sigmoid(slope)
    weights, n = named_weights("balanced-accuracy", votes), votes.n_classifiers
    limits = _limits(votes, sizes, limited)
    if limits.conflict():
        return
    normal = slope_rows(votes, weights, utility, limits)
    bounds = utility_bounds(votes, weights, utility, limits)
    answer = solve_slope_programs(normal, bounds, open_solver(solver))

    masks = np.array([mask for mask in all_masks(n) if limits.satisfied_by(mask)]).reshape(-1, n)
    if not len(masks):
        assert answer.mask is None
        assert answer.limit == ""
        return
    best = every_total(votes, weights, slope, masks).max()
    assert answer.mask is not None
    assert answer.total == utility_total(votes, weights, utility, answer.mask, answer.threshold)
    # solvers are believed up to this
    assert best - answer.total <= 1e-8 * utility_scale(votes, weights) * normal.worth.sum()
    assert answer.bound == answer.total


def _limits(votes: Votes, sizes: tuple[int, int], limited: str) -> SelectionLimits:
    n = votes.n_classifiers
    diversity = diversity_limits(limited, votes) if limited in {"average", "each"} else None
    if limited == "cost":
        return selection_limits(
            n, min_size=min(sizes), max_size=max(sizes), member_costs=[1.0 + k % 3 for k in range(n)], max_cost=3.0
        )  # fmt: skip
    return selection_limits(n, min_size=min(sizes), max_size=max(sizes), diversity=diversity)


def test_the_cost_of_a_solution_is_what_the_selection_is_worth() -> None:
    votes, weights, rows, _ = small_problem(6, 12)
    for size in (1, 3, 6):
        built = slope_program.slope_program(rows, size)
        solution = open_solver("cpsat").open(built.program).solve(Limits(absolute_gap=100))
        assert solution.values is not None
        mask = built.members(solution.values)
        assert mask.sum() == size
        best = max(
            utility_total(votes, weights, sigmoid(8.0), one, level)
            for one in all_masks(6)
            if one.sum() == size
            for level in range(size + 1)
        )
        assert solution.status is Status.OPTIMAL
        assert -(solution.objective + built.offset) == best


def test_a_solver_that_is_stopped_leaves_the_first_bounds() -> None:
    *_, rows, bounds = small_problem(20, 80)
    cancellation = Cancellation()
    cancellation.cancel()
    stopped = solve_slope_programs(rows, bounds, open_solver("highs"), cancellation=cancellation)
    assert (stopped.mask, stopped.bound, stopped.limit) == (None, bounds.max(), "interrupted")

    counted = solve_slope_programs(rows, bounds, open_solver("cpsat"), max_nodes=1)
    assert counted.limit == "nodes"
    assert counted.total < counted.bound <= bounds.max()
