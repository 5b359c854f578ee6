"""Selection by margin histograms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import BadInputError
from shortlist.ensembles.evolution.training_rows import distinct_classifiers, grow_by_margins, vote_digests
from shortlist.ensembles.votes.hard_votes import class_tally, class_votes
from shortlist_papers.rules.orderings import select_by_margins
from tests.ensembles import rule_oracles as oracle
from tests.ensembles.plurality_oracles import Pool, as_votes, class_pools

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
