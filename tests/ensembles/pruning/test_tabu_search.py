"""The search against brute force, and its kernels against plain counting."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.arrays import Mask
from shortlist.ensembles.goals.diversity import CREDIT_SLACK, diversity_limits
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.goals.weights import (
    CLASS_OBJECTIVES,
    ClassWeights,
    Weights,
    best_threshold,
    class_weights,
    named_weights,
)
from shortlist.ensembles.proofs.row_forms import RightRows, class_rows
from shortlist.ensembles.pruning import _tabu_kernels as entries
from shortlist.ensembles.pruning import tabu_search
from shortlist.ensembles.pruning._tabu_kernels import WINDOW, missed_after, rate_classes, rate_totals
from shortlist.ensembles.pruning.tabu_search import (
    FoundSelection,
    TabuSettings,
    counted_rows,
    search_selection,
)
from shortlist.ensembles.votes.hard_votes import (
    ClassVotes,
    Votes,
    class_votes,
    confusion,
    merge_rows,
    n_right,
    tally,
)
from shortlist.errors import BadInputError
from shortlist.runs.budget import Budget
from tests.ensembles import bound_oracles, oracles, strategies
from tests.ensembles.plurality_oracles import (
    EXAMPLES,
    Pool,
    as_votes,
    class_pools,
    decision_rows,
    made_votes,
    members_of,
    value_of,
)
from tests.examples import examples


def _walker(votes: Votes, weights: Weights, limits: SelectionLimits, seed: int) -> tabu_search._Walker:
    counted = counted_rows(votes, weights)
    return tabu_search._Walker(counted, limits, settings=TabuSettings(), seed=seed)


@pytest.mark.slow
@examples(150)
@given(problem=strategies.problems(max_classifiers=7))
def test_every_weight_and_limit_equals_brute_force(problem: tuple[Votes, Weights, RightRows]) -> None:
    votes, weights, rows = problem
    found = search_selection(votes, weights, rows.limits, max_steps=4000)

    totals = [best_threshold(votes, weights, mask)[1] for mask in bound_oracles.selections(rows)]
    assert (None if found is None else found.total) == max(totals, default=None)
    if found is not None:
        assert rows.limits.satisfied_by(found.mask)
        assert (found.threshold, found.total) == best_threshold(votes, weights, found.mask)


@pytest.mark.slow
@EXAMPLES
@given(question=strategies.class_questions(max_classifiers=6))
def test_of_several_classes_too(question: tuple[Pool, ClassVotes, ClassWeights, SelectionLimits]) -> None:
    _, votes, weights, limits = question
    found = search_selection(votes, weights, limits, max_steps=4000)

    masks = bound_oracles.selections(class_rows(votes, weights, limits))
    best = max((weights.total(votes, mask) for mask in masks), default=None)
    assert (None if found is None else found.total) == best
    if found is not None:
        assert limits.satisfied_by(found.mask)
        assert weights.total(votes, found.mask) == found.total


@examples(80)
@given(
    rows=strategies.labelled_votes(max_classifiers=8, max_rows=20),
    numbers=strategies.weight_sets,
    n_steps=st.integers(0, 60),
    seed=st.integers(0, 99),
    swaps=st.integers(0, 2),
)
def test_everything_kept_from_step_to_step_equals_counting_anew(
    *,
    rows: oracles.Rows,
    numbers: tuple[int, int, int, int],
    n_steps: int,
    seed: int,
    swaps: int,
) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    n, weights = votes.n_classifiers, strategies.explicit_weights(numbers, votes)
    limits = selection_limits(
        n,
        min_size=0,
        member_costs=list(range(n)),
        max_cost=n,
        diversity=diversity_limits({"each": 0.3}, votes),
    )
    walker = _walker(votes, weights, limits, seed)
    walker.options.tenure, walker.options.n_swaps = 1, swaps
    walker.walk(n_steps)

    mask, here = walker.state.member.astype(bool), walker.here
    members = tuple(np.flatnonzero(mask).tolist())
    gains = np.where(votes.labels == 1, weights.gain_positive, -weights.gain_negative) * votes.counts
    tallies = tally(votes.votes, mask)
    assert walker.state.tally[0].tolist() == tallies[gains != 0].tolist()
    for sign, weight in enumerate((gains, -gains)):
        expected = np.bincount(tallies, weights=np.maximum(weight, 0), minlength=n + 3)
        assert walker.state.levels[sign].tolist() == expected.tolist()
    assert limits.diversity is not None
    assert limits.costs is not None
    sums = limits.diversity.credit[:, mask].sum(axis=1)
    assert walker.state.sums.tolist() == sums.tolist()
    assert here.credit == sums[mask].sum() // 2
    assert here.n_members == len(members)
    assert here.cost == limits.costs[mask].sum()
    assert (here.missed == 0) == limits.satisfied_by(mask)
    offset = oracles.weighted_sum(rows, (), 0, numbers)
    assert here.total + offset == oracles.weighted_sum(rows, members, int(here.threshold), numbers)
    for k in range(n):
        flipped = mask.copy()
        flipped[k] = ~mask[k]
        missed = missed_after(k, walker.limits, walker.state)
        assert (missed == 0) == limits.satisfied_by(flipped)


@examples(80)
@given(
    rows=strategies.labelled_votes(max_classifiers=8, max_rows=20),
    numbers=strategies.weight_sets,
    seed=st.integers(0, 99),
)
def test_rated_flips_equal_flipping_and_counting(
    rows: oracles.Rows, numbers: tuple[int, int, int, int], seed: int
) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    n, weights = votes.n_classifiers, strategies.explicit_weights(numbers, votes)
    walker = _walker(votes, weights, selection_limits(n), seed)
    mask = np.random.default_rng(seed).random(n) < 0.5
    walker.go_to(mask.astype(np.uint8))
    threshold = int(walker.here.threshold)
    rate_totals(0, n, walker.rows, walker.state, walker.room)

    offset = oracles.weighted_sum(rows, (), 0, numbers)
    for k in range(n):
        flipped = mask.copy()
        flipped[k] = ~mask[k]
        members = tuple(np.flatnonzero(flipped).tolist())
        expected = {}
        for level in range(max(0, threshold - WINDOW), min(len(members), threshold + WINDOW) + 1):
            expected[level] = oracles.weighted_sum(rows, members, level, numbers) - offset
        place = 2 if mask[k] else 0
        if expected:
            assert walker.room.ratings[place, k] == max(expected.values())
            assert expected[int(walker.room.ratings[place + 1, k])] == max(expected.values())
        else:
            assert walker.room.ratings[place, k] == entries.WORST


def _noisy_votes(n_rows: int = 300, n_classifiers: int = 30) -> Votes:
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, n_rows)
    matrix = (rng.random((n_rows, n_classifiers)) < np.where(labels == 1, 0.6, 0.4)[:, None]).astype(np.uint8)
    for array in (matrix, labels):
        array.flags.writeable = False
    return merge_rows(matrix, labels)


def _best_found(found: FoundSelection | None) -> FoundSelection:
    assert found is not None
    return found


@given(rows=strategies.labelled_votes(max_classifiers=6), seed=st.integers(0, 99), steps=st.integers(0, 3))
def test_no_start_within_limits_is_better(rows: oracles.Rows, seed: int, steps: int) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights = named_weights("accuracy", votes)
    limits = selection_limits(votes.n_classifiers, diversity=diversity_limits("average", votes))
    starts: list[Mask] = list(np.random.default_rng(seed).random((3, votes.n_classifiers)) < 0.5)

    found = search_selection(votes, weights, limits, starts=starts, max_steps=steps)

    values = [best_threshold(votes, weights, mask)[1] for mask in starts if limits.satisfied_by(mask)]
    if values:
        assert _best_found(found).total >= max(values)


def _two(diversity: str) -> Any:
    votes = _noisy_votes()
    return (
        votes,
        named_weights("accuracy", votes),
        selection_limits(30, diversity=diversity_limits(diversity, votes)),
    )


def _several() -> Any:
    """Several classes, and limits on size, cost and diversity that many selections break."""
    votes = made_votes(150, 20, 3, seed=5)
    limits = selection_limits(
        20, min_size=3, max_size=9, member_costs=[1 + k % 5 for k in range(20)], max_cost=20,
        diversity=diversity_limits("average", votes),
    )  # fmt: skip
    return votes, class_weights("accuracy", votes), limits


@pytest.mark.parametrize(
    "question", [_two("none"), _two("each"), _several()], ids=["free", "each", "several"]
)
def test_the_same_seed_gives_the_same_answer_however_the_walk_is_cut(
    monkeypatch: pytest.MonkeyPatch, question: Any
) -> None:
    def found() -> FoundSelection:
        votes, weights, limits = question
        return _best_found(search_selection(votes, weights, limits, Budget(seed=3), max_steps=2500))

    once, again = found(), found()
    blocks = []
    walk = tabu_search._Walker.walk

    def in_small_blocks(walker: tabu_search._Walker, n_steps: int) -> bool:
        walker.block = 7
        blocks.append(n_steps)
        return walk(walker, min(7, n_steps))

    monkeypatch.setattr(tabu_search._Walker, "walk", in_small_blocks)
    cut = found()

    assert len(blocks) > 100
    for other in (again, cut):
        assert (other.mask == once.mask).all()
        assert (other.threshold, other.total) == (once.threshold, once.total)


def test_another_seed_begins_elsewhere() -> None:
    votes, weights, _ = _several()
    early = [
        search_selection(votes, weights, selection_limits(20), Budget(seed=seed), starts=(), max_steps=1)
        for seed in (1, 2)
    ]
    assert len({found.mask.tobytes() for found in early if found is not None}) == 2


def test_better_selections_are_reported_as_they_come() -> None:
    votes, seen = _noisy_votes(), list[FoundSelection]()
    weights = named_weights("balanced-accuracy", votes)
    limits = selection_limits(30, max_size=9, diversity=diversity_limits("average", votes))

    found = _best_found(
        search_selection(
            votes,
            weights,
            limits,
            starts=[],
            max_steps=2000,
            on_better=seen.append,
            settings=TabuSettings(work=10_000),  # a look at the clock at every step
        )
    )

    assert len(seen) > 1
    assert seen[-1].total == found.total
    for before, after in itertools.pairwise(seen):
        assert before.total < after.total
        assert before.steps <= after.steps
    for event in seen:
        assert limits.satisfied_by(event.mask)
        assert event.total == weights.total(confusion(votes, event.mask, event.threshold))


@pytest.mark.parametrize("by", ["deadline", "cancellation"])
def test_a_stopped_search_returns_the_best_start(by: str) -> None:
    votes = _noisy_votes()
    weights, limits = named_weights("accuracy", votes), selection_limits(30)
    full = np.ones(30, dtype=bool)
    budget = Budget(0 if by == "deadline" else 1000)
    if by == "cancellation":
        budget.cancellation.cancel()

    found = _best_found(search_selection(votes, weights, limits, budget, starts=[full]))

    assert found.steps == 0
    assert found.mask.all()
    assert (found.threshold, found.total) == best_threshold(votes, weights, full)


def test_a_deadline_is_kept() -> None:
    votes, ticks = _noisy_votes(2000, 60), itertools.count()
    budget = Budget(50, clock=lambda: float(next(ticks)))

    found = search_selection(
        votes, named_weights("accuracy", votes), selection_limits(60), budget, max_steps=100_000
    )

    assert found is not None
    assert next(ticks) < 60  # it looked at the clock once or twice more


def test_sampled_flips_reach_what_all_flips_reach() -> None:
    votes = _noisy_votes(40, 12)
    weights, limits = named_weights("accuracy", votes), selection_limits(12)
    expected = _best_found(search_selection(votes, weights, limits, max_steps=5000))
    sampled = TabuSettings(work=1, fewest_tried=4)

    found = _best_found(search_selection(votes, weights, limits, max_steps=5000, settings=sampled))

    assert found.total == expected.total


def test_breast_cancer_with_diversity_reaches_the_proved_optimum() -> None:
    votes = strategies.breast_cancer_votes()
    limits = selection_limits(votes.n_classifiers, diversity=diversity_limits("each", votes))

    found = _best_found(search_selection(votes, named_weights("accuracy", votes), limits, max_steps=3000))

    assert found.total == 153
    assert limits.satisfied_by(found.mask)


def test_limits_missed_within_the_slack_are_kept() -> None:
    votes = _noisy_votes()
    diversity = diversity_limits({"each": 0.0}, votes)
    assert diversity is not None
    pair = np.arange(30) < 2
    credit = int(diversity.credit[0, 1])
    for over, kept in ((CREDIT_SLACK, True), (CREDIT_SLACK + 1, False)):
        limits = SelectionLimits(
            2, 2, diversity=type(diversity)(diversity.credit, each=credit + over, mean=0)
        )
        walker = _walker(votes, named_weights("accuracy", votes), limits, 0)
        walker.go_to(pair.astype(np.uint8))
        assert (walker.here.missed == 0) == kept
        assert limits.satisfied_by(pair) == kept


def test_the_clock_is_looked_at_more_often_with_many_classes() -> None:
    codes = np.random.default_rng(0).integers(0, 8, (160, 5)).astype(np.uint8)
    blocks = []
    for n_classes in (8, 19, 40, 200):
        votes = class_votes(codes, np.resize(np.arange(8, dtype=np.uint8), 160), n_classes=n_classes)
        counted = counted_rows(votes, class_weights("accuracy", votes))
        walker = tabu_search._Walker(counted, selection_limits(5), settings=TabuSettings(), seed=0)
        blocks.append(walker.block)

    assert blocks == [5000, 5000, 1250, 250]


def test_negative_numbers_are_refused() -> None:
    votes = _noisy_votes(20, 3)
    weights, limits = named_weights("accuracy", votes), selection_limits(3)
    with pytest.raises(BadInputError, match="max_steps must be at least 0"):
        search_selection(votes, weights, limits, max_steps=-1)
    with pytest.raises(BadInputError, match="seed must be at least 0"):
        search_selection(votes, weights, limits, Budget(seed=-1))


def _state(votes: ClassVotes, weights: ClassWeights) -> tabu_search._Walker:
    limits = selection_limits(votes.n_classifiers, min_size=0)
    counted = counted_rows(votes, weights)
    return tabu_search._Walker(counted, limits, settings=TabuSettings(), seed=0)


@given(pool=class_pools(), objective=st.sampled_from(sorted(CLASS_OBJECTIVES)), data=st.data())
def test_a_walk_keeps_the_counts_that_a_fresh_count_gives(
    pool: Pool, objective: str, data: st.DataObject
) -> None:
    samples, k, n_classes = pool
    votes = as_votes(pool, merged=True)
    weights = class_weights(objective, votes)
    walk = _state(votes, weights)

    for flipped in data.draw(st.lists(st.integers(0, k - 1), max_size=12)):
        walk.flip(flipped)

    member = walk.state.member.astype(bool)
    for i, row in enumerate(votes.codes.tolist()):
        heard = [row[m] for m in members_of(member)]
        assert walk.state.tally[i, :n_classes].tolist() == [heard.count(c) for c in range(n_classes)]
    assert ((walk.state.leads >= 0) == decision_rows(votes, members_of(member))).all()
    assert walk.here.n_members == member.sum()
    assert weights.value(int(walk.here.total)) == float(
        value_of((samples, k, n_classes), members_of(member), objective)
    )


@given(pool=class_pools(), data=st.data())
def test_rated_flips_change_the_total_as_rated(pool: Pool, data: st.DataObject) -> None:
    votes = as_votes(pool, merged=True)
    walk = _state(votes, class_weights("accuracy", votes))
    for flipped in data.draw(st.lists(st.integers(0, pool[1] - 1), max_size=12)):
        walk.flip(flipped)

    rate_classes(0, pool[1], walk.rows, walk.state, walk.room)

    member = walk.state.member.astype(bool)
    for k in range(pool[1]):
        after = member ^ (np.arange(pool[1]) == k)
        place = 2 if member[k] else 0
        assert walk.room.ratings[place, k] == n_right(votes, members_of(after))


def test_the_search_stops_at_a_target_and_without_time_for_a_start_finds_nothing() -> None:
    votes = made_votes(100, 10, 3, seed=1)
    weights, limits = class_weights("accuracy", votes), selection_limits(10)

    assert search_selection(votes, weights, limits, Budget(0)) is None
    first, target = [np.eye(10, dtype=bool)[0]], TabuSettings(target=1)
    found = search_selection(votes, weights, limits, starts=first, settings=target)
    assert found is not None
    assert found.total >= 1
