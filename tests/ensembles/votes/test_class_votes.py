"""What votes say as probabilities."""

import numpy as np
import pytest

from shortlist.ensembles.votes.class_votes import smoothed_shares, stretched, vote_shares


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
