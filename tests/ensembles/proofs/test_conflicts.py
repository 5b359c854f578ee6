"""Conflicts are the pairs of forms that no selection keeps."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import named_weights
from shortlist.ensembles.proofs.certificate import proves
from shortlist.ensembles.proofs.conflicts import find_conflicts
from shortlist.ensembles.proofs.row_forms import RightRows, normalise
from shortlist.ensembles.votes.hard_votes import class_votes, merge_rows
from shortlist.runs.budget import Budget
from tests.ensembles import bound_oracles
from tests.ensembles.plurality_oracles import Pool, as_votes, class_pools, rows_of
from tests.ensembles.strategies import class_problems, right_rows, two_classes


@pytest.mark.slow
@given(rows=two_classes)
def test_conflicts_of_two_classes_are_the_pairs_that_no_selection_separates(rows: RightRows) -> None:
    found = find_conflicts(rows, Budget())

    pairs, never = bound_oracles.conflicts(rows)
    assert set(map(tuple, found.pairs.tolist())) == pairs
    assert set(found.never.tolist()) == never
    assert found.complete


@pytest.mark.slow
@given(rows=class_problems())
def test_conflicts_of_several_classes_are_pairs_of_forms_that_no_selection_keeps(rows: RightRows) -> None:
    found = find_conflicts(rows, Budget())

    rights = bound_oracles.right_sets(rows)
    for i, (first, second) in enumerate(found.pairs.tolist()):
        assert first < second
        assert proves(rows, found.cut(rows, i))
        assert not any(right[first] and right[second] for right in rights)
    for form in found.never.tolist():
        assert not any(right[rows.row_of[form]] for right in rights)


@given(rows=right_rows, most=st.integers(1, 8))
def test_a_cap_on_pairs_keeps_true_ones_and_says_so(rows: RightRows, most: int) -> None:
    every, some = find_conflicts(rows, Budget()), find_conflicts(rows, Budget(), max_pairs=most)

    assert set(map(tuple, some.pairs.tolist())) <= set(map(tuple, every.pairs.tolist()))
    assert len(some.pairs) <= most
    assert not some.complete or len(some.pairs) == len(every.pairs)
    if rows.has_threshold:  # several forms of one row may be against another: then a cap is reached sooner
        assert some.complete == (len(every.pairs) <= most)


def test_a_deadline_in_the_past_leaves_all_pairs_out_and_says_so() -> None:
    votes = merge_rows([[1, 0], [1, 1]], [1, 0])
    rows = normalise(votes, named_weights("accuracy", votes), selection_limits(2))

    assert len(find_conflicts(rows, Budget()).pairs) == 1
    late = find_conflicts(rows, Budget(0))
    assert len(late.pairs) == 0
    assert not late.complete


@pytest.mark.parametrize("least", [1, 2], ids=["subsets alone", "with forced members"])
def test_conflicts_of_wide_pools_are_found_word_by_word(least: int) -> None:
    rng = np.random.default_rng(4)
    matrix = (rng.random((300, 150)) < rng.random((300, 1))).astype(np.uint8)
    matrix[150:] |= matrix[rng.integers(0, 150, 150)]
    labels = (np.arange(300) >= 150).astype(np.uint8) ^ (rng.random(300) < 0.7)
    votes = merge_rows(matrix, labels)
    costs = (np.arange(150) > 140) * 2
    limits = selection_limits(150, min_size=least, member_costs=costs.tolist(), max_cost=1)
    rows = normalise(votes, named_weights("accuracy", votes), limits)

    found = find_conflicts(rows, Budget())

    usable = rows.votes[:, :141].astype(np.int64)
    expected = {
        (p, q)
        for p in np.flatnonzero(rows.is_positive).tolist()
        for q in np.flatnonzero(~rows.is_positive).tolist()
        if usable[p].any() and not ((usable[p] == 1) & (usable[q] == 0)).any()
    }
    assert len(expected) > 20
    assert set(map(tuple, found.pairs.tolist())) == expected


@given(pool=class_pools(max_classifiers=6, all_vote=True).filter(lambda pool: pool[2] == 2))
def test_with_two_classes_conflicts_hold_those_of_the_monotone_vote(pool: Pool) -> None:
    votes = as_votes(pool, merged=True)
    rows = rows_of(votes, min_size=0)

    pairs = {(int(rows.places[i]), int(rows.places[j])) for i, j in find_conflicts(rows, Budget()).pairs}

    expected = set()
    for i, j in itertools.permutations(rows.places.tolist(), 2):
        p_below_q = (votes.codes[i] <= votes.codes[j]).all()
        if votes.labels[i] == 1 and votes.labels[j] == 0 and p_below_q:
            expected.add((min(i, j), max(i, j)))
    assert pairs >= expected


def test_conflicts_with_large_gains_come_first_when_there_is_room_for_few() -> None:
    votes = class_votes([[1, 0], [1, 0], [0, 1], [0, 1]], [1, 0, 1, 0], [5, 7, 1, 1])
    rows = rows_of(votes)

    some = find_conflicts(rows, Budget(), max_pairs=1)
    assert some.pairs.tolist() == [[0, 1]]
    assert not some.complete
    assert find_conflicts(rows, Budget()).pairs.tolist() == [[0, 1], [0, 2], [2, 3]]
    assert len(find_conflicts(rows, Budget(0)).pairs) == 0
