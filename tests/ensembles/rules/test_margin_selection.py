"""Selection by margin histograms."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import BadInputError
from shortlist.ensembles.rules.margin_selection import (
    backfit,
    distinct_classifiers,
    greedy_means,
    grow_by_margins,
    select_by_margins,
    vote_digests,
)
from shortlist.ensembles.rules.orderings import sizes_to_try
from shortlist.ensembles.votes.class_votes import class_tally, class_votes
from shortlist.ensembles.votes.soft_votes import SoftVotes, soft_votes
from tests.ensembles import rule_oracles as oracle
from tests.ensembles.class_pools import Pool, as_votes, class_pools

small = st.integers(-3, 3)


@given(pairs=st.lists(st.tuples(small, small), min_size=1, max_size=8))
def test_equation_5_is_the_leximin_order_on_sorted_margins(pairs: list[tuple[int, int]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    assert oracle.histogram_better(first, second) == (sorted(first) > sorted(second))


@pytest.mark.parametrize("criterion", ["histogram", "minimum"])
@given(pool=class_pools(), merged=st.booleans(), data=st.data())
def test_growth_from_any_start_equals_figure_1(
    criterion: str, pool: Pool, merged: bool, data: st.DataObject
) -> None:
    samples, k, n_classes = pool
    start = data.draw(st.lists(st.integers(0, k - 1), max_size=4))  # On-EEL's ensemble may hold anything
    candidates = [h for h in range(k) if h not in start]
    votes = as_votes(pool, merged=merged)
    tally = class_tally(votes.codes[:, np.array(start, dtype=int)], n_classes)

    order, right = grow_by_margins(votes, candidates, tally, criterion=criterion)

    by_histogram = criterion == "histogram"
    expected = oracle.margin_order(samples, candidates, start, n_classes, by_histogram=by_histogram)
    assert order.tolist() == expected
    assert right.tolist() == [
        oracle.n_right(samples, [*start, *expected[:size]], n_classes) for size in range(len(expected) + 1)
    ]


@given(pool=class_pools())
def test_selection_starts_from_the_best_and_keeps_the_smallest_best_prefix(pool: Pool) -> None:
    samples, k, n_classes = pool
    selected = select_by_margins(as_votes(pool))

    alone = list(oracle.right_alone(samples, k).values())
    columns = [tuple(votes[h] for votes, _ in samples) for h in range(k)]
    order = selected.order.tolist()
    assert order[0] == alone.index(max(alone))
    assert {columns[h] for h in order} == set(columns)  # every distinct classifier,
    assert len(order) == len(set(columns))  # once
    right = [oracle.n_right(samples, order[: size + 1], n_classes) for size in range(len(order))]
    assert selected.right.tolist() == right
    assert selected.size == right.index(max(right)) + 1


@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4))
def test_permuting_classifiers_permutes_the_order(seed: int, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    codes, labels = rng.integers(0, n_classes, (40, 7)), rng.integers(0, n_classes, 40)
    counts, permutation = rng.integers(1, 10**9, 40), rng.permutation(7)
    first = select_by_margins(class_votes(codes, labels, counts, n_classes=n_classes))
    second = select_by_margins(class_votes(codes[:, permutation], labels, counts, n_classes=n_classes))
    assert permutation[second.order].tolist() == first.order.tolist()


def test_a_classifier_that_a_member_already_is_does_not_count_as_distinct() -> None:
    codes = np.array([[0, 0, 1, 1], [1, 1, 0, 0]], dtype=np.uint8)
    assert distinct_classifiers(codes).tolist() == [0, 2]
    assert distinct_classifiers(codes, vote_digests(codes[:, [3]])).tolist() == [0]


def test_the_minimum_alone_ties_where_the_histogram_tells_apart() -> None:
    # after classifier 0, both 1 and 2 leave a lowest margin of -2; 2 leaves fewer rows there
    codes = [[1, 1, 1], [1, 1, 1], [1, 1, 1], [0, 0, 1], [0, 0, 0]]
    votes = class_votes(codes, [1] * 5)
    start = class_tally(votes.codes[:, [0]], 2)
    assert grow_by_margins(votes, [1, 2], start, criterion="minimum")[0].tolist() == [1, 2]
    assert grow_by_margins(votes, [1, 2], start)[0].tolist() == [2, 1]


def test_the_start_is_not_changed() -> None:
    votes = class_votes([[0, 1], [1, 1]], [1, 1])
    start = class_tally(votes.codes[:, [0]], 2)
    start.setflags(write=False)
    grow_by_margins(votes, [1], start)
    assert start.tolist() == [[1, 0], [0, 1]]


def test_an_unknown_criterion_is_refused() -> None:
    with pytest.raises(BadInputError, match="criterion must be one of"):
        select_by_margins(class_votes([[0, 1]], [1]), criterion="mean")


@given(pool=class_pools(max_classifiers=7), merged=st.booleans())
def test_the_members_of_every_size_equal_the_description(pool: Pool, merged: bool) -> None:
    samples, k, n_classes = pool
    expected = oracle.backfitting(samples, k, k, n_classes)

    found = backfit(as_votes(pool, merged=merged), sizes=range(1, k + 1))

    assert [members.tolist() for members in found.members_by_size] == expected
    right = [oracle.n_right(samples, members, n_classes) for members in expected]
    assert found.right.tolist() == right
    assert found.best == right.index(max(right))


@given(pool=class_pools())
def test_sizes_run_from_a_fifth_to_four_fifths(pool: Pool) -> None:
    found = backfit(as_votes(pool))
    assert found.sizes.tolist() == list(sizes_to_try(pool[1]))
    assert len(found.members) == found.sizes[found.best]
    assert len(set(found.members.tolist())) == len(found.members)


def test_a_revision_escapes_where_greed_alone_is_stuck() -> None:
    # classifier 0 is best alone, but 1, 2 and 3 together are never wrong
    codes = np.array([[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 1], [1, 1, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]])
    found = backfit(class_votes(codes, np.ones(6, dtype=int)), sizes=range(3, 4))
    assert sorted(found.members.tolist()) == [1, 2, 3]
    assert found.right.tolist() == [6]


@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 3))
def test_permuting_classifiers_permutes_the_members(seed: int, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    codes, labels = rng.integers(0, n_classes, (40, 7)), rng.integers(0, n_classes, 40)
    counts, permutation = rng.integers(1, 10**9, 40), rng.permutation(7)
    first = backfit(class_votes(codes, labels, counts, n_classes=n_classes))
    second = backfit(class_votes(codes[:, permutation], labels, counts, n_classes=n_classes))
    assert permutation[second.members].tolist() == first.members.tolist()


def test_a_perfect_pool_needs_the_least_size() -> None:
    labels = np.array([0, 1, 1])
    assert len(backfit(class_votes(np.repeat(labels[:, None], 10, axis=1), labels)).members) == 2


@pytest.mark.parametrize("sizes", [range(0), range(3), range(1, 4)])
def test_sizes_that_no_ensemble_can_have_are_refused(sizes: range) -> None:
    with pytest.raises(BadInputError, match="sizes must lie from 1 to 2"):
        backfit(class_votes([[0, 1]], [1]), sizes=sizes)


def made(seed: int, n_rows: int = 30, n_classifiers: int = 6, n_classes: int = 3) -> SoftVotes:
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(n_classes), (n_rows, n_classifiers))
    return soft_votes(table, rng.integers(0, n_classes, n_rows))


def log_loss_of(votes: SoftVotes, copies: list[int]) -> float:
    """Write the definition out, row by row."""
    losses = []
    for row, label in zip(votes.shares, votes.labels, strict=True):
        mean = sum(n * max(1, int(one[label])) for n, one in zip(copies, row, strict=True)) / sum(copies)
        losses.append(-np.log(mean / (2**15 - 1)))
    return float(np.mean(losses))


@pytest.mark.parametrize("seed", range(4))
def test_every_step_takes_who_makes_the_loss_least_and_the_best_step_is_kept(seed: int) -> None:
    votes, n_steps = made(seed), 5
    copies, best, least = [0] * 6, [0] * 6, np.inf
    for _ in range(n_steps):
        losses = [log_loss_of(votes, [n + (k == j) for k, n in enumerate(copies)]) for j in range(6)]
        copies[int(np.argmin(losses))] += 1
        if min(losses) < least:
            best, least = copies.copy(), min(losses)

    assert greedy_means(votes, n_steps=n_steps).tolist() == best


def test_bags_add_up_what_is_taken_among_a_share_of_the_classifiers() -> None:
    votes = made(7)

    bagged = greedy_means(votes, n_steps=4, n_bags=9, share=0.5, seed=2)

    assert 9 <= bagged.sum() <= 36
    assert (bagged > 0).sum() > (greedy_means(votes, n_steps=4) > 0).sum()
    assert bagged.tolist() == greedy_means(votes, n_steps=4, n_bags=9, share=0.5, seed=2).tolist()
    whole = greedy_means(votes, n_steps=4, n_bags=3, share=1.0)
    assert whole.tolist() == (3 * greedy_means(votes, n_steps=4)).tolist()


@pytest.mark.parametrize("options", [{"n_steps": 0}, {"n_bags": -1}, {"share": 0.0}, {"share": 1.1}])
def test_numbers_out_of_range_are_refused(options: Any) -> None:
    with pytest.raises(BadInputError, match=next(iter(options))):
        greedy_means(made(0), **options)


def test_of_classifiers_whose_loss_differs_by_rounding_alone_the_first_is_taken() -> None:
    rng = np.random.default_rng(0)
    for n_rows in range(3, 60):
        right = rng.uniform(0.2, 1, n_rows)
        own = np.stack([rng.permutation(right) for _ in range(6)], axis=1)  # the same losses on other rows
        votes = soft_votes(np.stack([own, 1 - own], axis=2), np.zeros(n_rows, dtype=int))
        assert greedy_means(votes, n_steps=1).tolist() == [1, 0, 0, 0, 0, 0]
