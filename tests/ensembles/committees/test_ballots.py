"""When no answer that is still missing can change who wins."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.committees.ballots import Ballot, Mean, Plurality, Threshold
from shortlist.ensembles.votes.soft_votes import WHOLE, decided_by_mean


def winner(ballot: Ballot, answers: list[tuple[int, ...]]) -> int:
    """The class with the largest total, the first of equals."""
    totals = [int(start) + sum(answer[c] for answer in answers) for c, start in enumerate(ballot.start)]
    return totals.index(max(totals))


def can_change(
    ballot: Ballot, known: list[tuple[int, ...]], possible: list[tuple[int, ...]], n_left: int
) -> bool:
    """Whether two ways to answer for those who are left have two winners."""
    ends = itertools.product(possible, repeat=n_left)
    return len({winner(ballot, [*known, *end]) for end in ends}) > 1


def votes_for(ballot: Ballot) -> list[tuple[int, ...]]:
    """All answers of somebody who votes."""
    codes = np.arange(ballot.n_classes, dtype=np.uint8)
    return [tuple(row) for row in ballot.added(codes).tolist()]


@given(
    n_classes=st.integers(2, 4),
    threshold=st.none() | st.integers(0, 4),
    votes=st.lists(st.integers(0, 4), max_size=4),
    n_left=st.integers(0, 3),
)
def test_a_row_is_settled_by_votes_where_no_completion_changes_it(
    n_classes: int, threshold: int | None, votes: list[int], n_left: int
) -> None:
    ballot: Ballot = Plurality(n_classes) if threshold is None else Threshold(threshold, 4)
    codes = np.minimum(np.array(votes, dtype=np.uint8), ballot.n_classes)  # the last one abstains
    known = [tuple(row) for row in ballot.added(codes).tolist()]
    totals = np.array(
        [ballot.start + np.array(known, dtype=np.int64).reshape(-1, ballot.n_classes).sum(axis=0)]
    )

    assert bool(ballot.settled(totals, n_left)[0]) != can_change(ballot, known, votes_for(ballot), n_left)


@given(
    data=st.data(),
    gains=st.lists(st.integers(0, 3), min_size=2, max_size=3).filter(any),
    n_left=st.integers(0, 3),
)
def test_a_row_is_settled_by_means_where_no_completion_changes_it(
    data: Any, gains: list[int], n_left: int
) -> None:
    ballot, n = Mean(np.array(gains)), len(gains)
    share = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=n, max_size=n)
    shares = [data.draw(share) for _ in range(data.draw(st.integers(0, 3)))]
    whole = (np.array(shares).reshape(-1, n) * WHOLE).astype(np.int16)
    known = [tuple(row) for row in ballot.added(whole).tolist()]
    certain = [tuple(row) for row in ballot.added((np.eye(n) * WHOLE).astype(np.int16)).tolist()]
    totals = np.array([np.array(known, dtype=np.int64).reshape(-1, n).sum(axis=0)])

    assert bool(ballot.settled(totals, n_left)[0]) != can_change(ballot, known, certain, n_left)


@pytest.mark.parametrize("gains", [[1, 1], [1, 3], [2, 1, 1]])
def test_totals_of_all_members_decide_as_the_mean_does(gains: list[int]) -> None:
    rng = np.random.default_rng(0)
    shares = (rng.dirichlet(np.ones(len(gains)), (200, 3)) * 8).round() / 8
    whole = np.rint(shares * WHOLE).astype(np.int16)
    ballot = Mean(np.array(gains))
    decided = ballot.added(whole).sum(axis=1).argmax(axis=1)
    assert (decided == decided_by_mean(whole, np.array(gains))).all()
