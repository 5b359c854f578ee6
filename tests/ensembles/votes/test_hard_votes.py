"""Votes as probabilities."""

import numpy as np
import pytest
from hypothesis import given

from shortlist.ensembles.votes.hard_votes import (
    confusion,
    merge_rows,
    round_votes,
    smoothed_shares,
    stretched,
    vote_shares,
)
from shortlist.errors import BadInputError
from tests.ensembles import oracles, strategies


@pytest.mark.parametrize("size", range(1, 6))
def test_probabilities_grow_with_votes_and_pass_one_half_at_the_threshold(size: int) -> None:
    for threshold in range(size + 1):
        shares = stretched(np.arange(size + 1), threshold, size)
        assert ((shares >= 0) & (shares <= 1)).all()
        assert (np.diff(shares) > 0).all()
        assert ((shares > 0.5) == (np.arange(size + 1) > threshold)).all()


def test_an_abstention_counts_for_no_class_and_nobody_for_the_first() -> None:
    codes = np.array([[1, 1, 2], [2, 2, 2]], dtype=np.uint8)  # 2: no answer, of two classes
    assert vote_shares(codes, 2).tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_every_class_has_one_vote_more() -> None:
    assert smoothed_shares(np.array([[0.5, 0.5, 0.0]]), 4).tolist() == [[3 / 7, 3 / 7, 1 / 7]]
    assert smoothed_shares(np.array([[1.0, 0.0]]), 0).tolist() == [[1.0, 0.0]]


def test_one_half_is_a_negative_vote() -> None:
    assert round_votes([[0.5, np.nextafter(0.5, 1), 1.0, 0.0]]).tolist() == [[0, 1, 1, 0]]


@given(rows=strategies.labelled_votes())
def test_merging_keeps_every_row_with_its_count(rows: oracles.Rows) -> None:
    merged = merge_rows(*oracles.as_arrays(rows))

    back = [
        (tuple(votes), label)
        for votes, label, count in zip(
            merged.votes.tolist(), merged.labels.tolist(), merged.counts.tolist(), strict=True
        )
        for _ in range(count)
    ]
    assert sorted(back) == sorted(rows)
    assert len(merged.labels) == len(set(rows))
    assert (merged.n_positive, merged.n_negative) == (
        sum(label for _, label in rows),
        sum(1 - label for _, label in rows),
    )


@given(rows=strategies.labelled_votes())
def test_confusion_of_merged_rows_equals_counting(rows: oracles.Rows) -> None:
    merged = merge_rows(*oracles.as_arrays(rows))
    for members in oracles.subsets(merged.n_classifiers):
        mask = np.isin(np.arange(merged.n_classifiers), members)
        for threshold in range(len(members) + 1):
            counts = confusion(merged, mask, threshold)
            assert (
                counts.true_positive,
                counts.false_negative,
                counts.true_negative,
                counts.false_positive,
            ) == oracles.confusion(rows, members, threshold)


@pytest.mark.parametrize(
    ("votes", "labels", "message"),
    [
        pytest.param([[0, 2]], [1], "votes must hold only 0 and 1", id="votes that are not 0 or 1"),
        pytest.param([[0.4, 1]], [1], "votes must hold only 0 and 1", id="probabilities"),
        pytest.param([[0, 1]], [1, 0], "one row per sample, got 1 and 2", id="lengths differ"),
        pytest.param([[0], [1]], [1, 1], "one class only", id="one class"),
        pytest.param(np.zeros((2, 0)), [0, 1], "pool of 0 classifiers", id="no classifier"),
        pytest.param([0, 1], [0, 1], "votes must have 2 dimension", id="one row"),
    ],
)
def test_bad_votes_are_refused(votes: object, labels: object, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        merge_rows(votes, labels)  # type: ignore[arg-type]  # bad on purpose
