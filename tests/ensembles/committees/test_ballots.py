"""Effect of missing answers: the possible winners, and their probabilities, by brute force."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.committees.asking import AnswerScores, range_of_means
from shortlist.ensembles.committees.ballots import Ballot, Mean, Plurality, Threshold
from shortlist.ensembles.votes.soft_votes import WHOLE, Calibration, decided_by_mean


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


def share_of_winner(
    votes: list[int], n_classes: int, threshold: int | None, power: float = 1
) -> tuple[int, float]:
    """The class that all votes decide, and a power of its share with one vote more for each, in plain numbers."""
    n, counts = len(votes), [votes.count(code) for code in range(n_classes)]
    if threshold is None:
        best = counts.index(max(counts))
        raised = [((count + 1) / (sum(counts) + n_classes)) ** power for count in counts]
        return best, raised[best] / sum(raised)
    middle = threshold + 0.5
    positive = counts[1] / (2 * middle)
    if counts[1] > threshold:
        positive = 0.5 + (counts[1] - middle) / (2 * max(0.5, n - middle))
    best = int(counts[1] > threshold)
    raised = [((share * n + 1) / (n + 2)) ** power for share in (positive, 1 - positive)]
    return best, max(raised) / sum(raised)


@given(data=st.data(), n_left=st.integers(0, 3))
def test_the_range_of_votes_is_that_of_all_completions(data: st.DataObject, n_left: int) -> None:
    n_classes = data.draw(st.integers(2, 3))
    threshold = data.draw(st.none() | st.integers(0, 4)) if n_classes == 2 else None
    kinds = n_classes + (threshold is None)  # the last one abstains
    votes = data.draw(st.lists(st.integers(0, kinds - 1), min_size=1 - min(1, n_left), max_size=4))
    power = data.draw(st.sampled_from([0.5, 1.0, 2.5]))
    calibration = Calibration(power, (1.0,) * n_classes)
    n = len(votes) + n_left
    ballot = Plurality(n_classes) if threshold is None else Threshold(threshold, n)
    scores = AnswerScores(n, by_mean=False, ballot=ballot, calibration=calibration)
    ends = [
        share_of_winner([*votes, *end], n_classes, threshold, power)
        for end in itertools.product(range(kinds), repeat=n_left)
    ]
    counted = np.array([[votes.count(code) for code in range(n_classes)]])
    found = scores.range_of(counted, n_left)
    winners = {code for code, _ in ends}
    may_win = np.array([[code in winners for code in range(n_classes)]])
    least, most = found.of_answer(may_win)

    assert most[0] == pytest.approx(max(score for _, score in ends), abs=1e-12)
    if len(winners) == 1 and n_left and n_classes > 2 and power < 1:
        assert least[0] <= min(score for _, score in ends) + 1e-12  # it may be less than it can become
    elif len(winners) == 1:
        assert least[0] == pytest.approx(min(score for _, score in ends), abs=1e-12)


@given(data=st.data(), n_left=st.integers(0, 2), n_classes=st.integers(2, 3))
def test_the_range_of_calibrated_means_is_that_of_all_completions(
    data: st.DataObject, n_left: int, n_classes: int
) -> None:
    quarters = [np.array(one) / 4 for one in itertools.product(range(5), repeat=n_classes) if sum(one) == 4]
    known = [quarters[place] for place in data.draw(st.lists(st.integers(0, len(quarters) - 1), max_size=3))]
    factors = data.draw(st.tuples(*[st.sampled_from([0.25, 0.5, 1.0])] * n_classes))
    n = len(known) + n_left
    if not n:
        return
    possible = [*np.eye(n_classes), np.full(n_classes, 1 / n_classes)]
    sums = [
        sum([*known, *end], np.zeros(n_classes)) * factors
        for end in itertools.product(possible, repeat=n_left)
    ]
    probabilities = np.array([one / one.sum() for one in sums])
    calibration = Calibration(1.0, factors)
    found = AnswerScores(n, by_mean=True, ballot=Plurality(n_classes), calibration=calibration).range_of(
        sum(known, np.zeros(n_classes))[None, :], n_left
    )
    asked = np.array([[*known, *[np.zeros(n_classes)] * n_left]])
    exact = range_of_means(asked, np.ones(n, dtype=np.int64), np.arange(n) >= len(known), calibration)

    for each in (found, exact):
        assert each.least[0] == pytest.approx(probabilities.min(axis=0))
        assert each.most[0] == pytest.approx(probabilities.max(axis=0))


@given(data=st.data(), n_left=st.integers(0, 2))
def test_means_are_as_the_committee_adds_them_up(data: st.DataObject, n_left: int) -> None:
    """Both ends are means of answers that are possible, to the last bit, and no others are beyond."""
    tenths = st.integers(0, 10).map(lambda tenth: tenth / 10)
    known = data.draw(st.lists(tenths, min_size=1, max_size=3))
    copies = data.draw(
        st.lists(st.integers(1, 3), min_size=len(known) + n_left, max_size=len(known) + n_left)
    )
    places = data.draw(st.permutations(range(len(copies))))

    def mean(end: tuple[float, ...]) -> float:
        answered = dict(zip(places, [*known, *end], strict=True))
        total = 0.0
        for place, n in enumerate(copies):
            for _ in range(n):
                total += answered[place]
        return total / sum(copies)

    asked, is_left = np.zeros((1, len(copies), 2)), np.ones(len(copies), dtype=bool)
    for place, share in zip(places, known, strict=False):
        asked[0, place], is_left[place] = (1 - share, share), False
    found = range_of_means(asked, np.array(copies), is_left)
    means = [mean(end) for end in itertools.product([0.0, 0.1, 0.3, 0.7, 1.0], repeat=n_left)]

    assert found.least[0, 1] == min(means)
    assert found.most[0, 1] == max(means)
