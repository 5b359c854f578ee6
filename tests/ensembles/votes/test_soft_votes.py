"""Probabilities as whole numbers, and what their sum decides."""

from typing import Any

import numpy as np
import pytest

from shortlist.ensembles.votes.soft_votes import (
    WHOLE,
    decided_by_mean,
    mean_decisions,
    soft_votes,
    whole_shares,
)
from shortlist.errors import BadInputError


def test_two_probabilities_add_up_after_rounding_too() -> None:
    table = np.random.default_rng(0).random((50, 3, 1))

    shares = whole_shares(np.concatenate([1 - table, table], axis=2))

    assert (shares.sum(axis=2) == WHOLE).all()
    assert np.abs(shares[..., 1:] / WHOLE - table).max() <= 0.5 / WHOLE


def test_the_largest_mean_decides_and_ties_go_to_the_first_class() -> None:
    shares = whole_shares([[[0.9, 0.1], [0.2, 0.8]], [[0.4, 0.6], [0.6, 0.4]], [[0.3, 0.7], [0.4, 0.6]]])

    assert decided_by_mean(shares, np.array([1, 1])).tolist() == [0, 0, 1]


def test_a_class_that_gains_more_is_decided_earlier() -> None:
    shares = whole_shares([[[0.7, 0.3]], [[0.6, 0.4]]])

    assert decided_by_mean(shares, np.array([1, 2])).tolist() == [0, 1]


def test_without_members_the_first_class_is_decided() -> None:
    assert decided_by_mean(np.zeros((2, 0, 3), dtype=np.int16), np.array([1, 1, 1])).tolist() == [0, 0]


def test_decisions_are_counted_by_true_class() -> None:
    votes = soft_votes([[[0.9, 0.1]], [[0.2, 0.8]], [[0.6, 0.4]]], [0, 1, 1])

    assert mean_decisions(votes, np.array([True]), np.array([1, 1])).tolist() == [[1, 0], [1, 1]]


@pytest.mark.parametrize(
    ("probabilities", "labels", "why"),
    [
        ([[[0.5, 0.6, np.nan]]], [0], "from 0 to 1"),
        ([[[-0.1, 1.1]]], [0], "from 0 to 1"),
        ([[0.5, 0.5]], [0], "shape"),
        ([[[0.5, 0.5]]], [2], "indices"),
        ([[[0.5, 0.5]]], [0, 1], "one entry per row"),
    ],
    ids=["NaN", "outside", "two dimensions", "unknown class", "more labels"],
)
def test_what_is_no_table_of_probabilities_is_refused(probabilities: Any, labels: Any, why: str) -> None:
    with pytest.raises(BadInputError, match=why):
        soft_votes(probabilities, labels)
