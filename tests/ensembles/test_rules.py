"""Greedy selection by accuracy with revision."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import BadInputError
from shortlist.ensembles.rules import backfit, greedy_means, sizes_to_try
from shortlist.ensembles.votes.hard_votes import class_votes
from shortlist.ensembles.votes.soft_votes import SoftVotes, soft_votes
from tests.ensembles import rule_oracles as oracle
from tests.ensembles.plurality_oracles import Pool, as_votes, class_pools


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
