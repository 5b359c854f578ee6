"""Greedy selection by accuracy with revision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import BadInputError
from shortlist.ensembles.rules.backfitting import backfit
from shortlist.ensembles.rules.orderings import sizes_to_try
from shortlist.ensembles.votes.class_votes import class_votes
from tests.ensembles import rule_oracles as oracle
from tests.ensembles.class_pools import Pool, as_votes, class_pools


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
