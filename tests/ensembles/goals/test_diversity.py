"""Failure crediting."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.diversity import (
    DiversityLimits,
    diversity_limits,
    failure_credit,
    pairwise_failure_crediting,
)
from shortlist.ensembles.goals.pair_measures import CREDIT_UNITS
from shortlist.ensembles.votes.binary_votes import Votes, merge_rows
from shortlist.errors import BadInputError
from tests.ensembles import oracles, strategies


def _votes_with_patterns(*patterns: str) -> Votes:
    """Votes whose failure patterns are the given strings."""
    right = np.array([[int(c) for c in pattern] for pattern in patterns], dtype=np.uint8).T
    labels = np.arange(len(right), dtype=np.uint8) % 2
    votes = np.where(right == 1, labels[:, None], 1 - labels[:, None]).astype(np.uint8)
    return Votes(votes, labels, np.ones(len(right), dtype=np.int64))


def test_the_papers_worked_example_gives_five_ninths() -> None:
    votes = _votes_with_patterns("0011011101", "0110001110")

    assert failure_credit(votes).tolist() == [
        [0, round(CREDIT_UNITS * 5 / 9)],
        [round(CREDIT_UNITS * 5 / 9), 0],
    ]


@given(rows=strategies.labelled_votes())
def test_credit_equals_the_definition_pair_by_pair(rows: oracles.Rows) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    credit = failure_credit(votes)
    for k in range(votes.n_classifiers):
        for m in range(votes.n_classifiers):
            expected = oracles.failure_credit(rows, k, m) if k != m else Fraction(0)
            assert abs(Fraction(int(credit[k, m]), CREDIT_UNITS) - expected) <= Fraction(1, 2 * CREDIT_UNITS)


@given(rows=strategies.labelled_votes())
def test_mean_pfc_equals_mean_credit_over_pairs(rows: oracles.Rows) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    credit = failure_credit(votes)
    for members in oracles.subsets(votes.n_classifiers):
        if len(members) < 2:
            continue
        mask = np.isin(np.arange(votes.n_classifiers), members)
        pairs = [credit[k, m] / CREDIT_UNITS for k in members for m in members if k < m]
        assert pairwise_failure_crediting(credit, mask).mean() == pytest.approx(np.mean(pairs))
        exact = oracles.pfc(rows, members)
        assert pairwise_failure_crediting(credit, mask) == pytest.approx([float(p) for p in exact], abs=1e-8)


def test_two_perfect_classifiers_have_no_credit() -> None:
    votes = merge_rows([[1, 1], [0, 0]], [1, 0])
    assert failure_credit(votes).tolist() == [[0, 0], [0, 0]]


def test_credit_does_not_depend_on_how_rows_are_chunked() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 10_000).astype(np.uint8)
    votes = rng.integers(0, 2, (10_000, 5)).astype(np.uint8)
    plain = Votes(votes, labels, np.ones(10_000, dtype=np.int64))
    assert np.array_equal(failure_credit(plain), failure_credit(merge_rows(votes, labels)))


@given(rows=strategies.labelled_votes(), each=st.integers(0, 10), mean=st.integers(0, 10))
def test_limits_are_kept_exactly_by_what_the_paper_allows(rows: oracles.Rows, each: int, mean: int) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    limits = diversity_limits({"each": each / 10, "mean": mean / 10}, votes)
    assert isinstance(limits, DiversityLimits)
    for members in oracles.subsets(votes.n_classifiers):
        mask = np.isin(np.arange(votes.n_classifiers), members)
        args = (rows, members, Fraction(each, 10), Fraction(mean, 10))
        # rounding to billionths may decide what lies within a millionth of the limit, and nothing else
        if oracles.diverse(*args, slack=Fraction(0)):
            assert limits.satisfied_by(mask)
        if limits.satisfied_by(mask):
            assert oracles.diverse(*args, slack=Fraction(2, 10**6))


@given(rows=strategies.labelled_votes())
def test_the_full_ensemble_keeps_the_named_limits(rows: oracles.Rows) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    for setting in ("average", "each"):
        limits = diversity_limits(setting, votes)
        assert limits is None or limits.satisfied_by(np.ones(votes.n_classifiers, dtype=bool))


def test_named_limits_are_the_papers() -> None:
    votes = _votes_with_patterns("0011011101", "0110001110", "1110001110")
    members = pairwise_failure_crediting(failure_credit(votes))
    each = diversity_limits("each", votes)
    average = diversity_limits("average", votes)
    assert each is not None
    assert average is not None
    assert each.each / CREDIT_UNITS == pytest.approx(members.min(), abs=1e-8)
    assert each.mean / CREDIT_UNITS == pytest.approx((members.min() + members.mean()) / 2, abs=1e-8)
    assert (average.each, average.mean) == (0, each.mean)
    assert diversity_limits("none", votes) is None


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        pytest.param("F4", "diversity must be none, average, each", id="unknown name"),
        pytest.param({"each": 1.5}, "between 0 and 1", id="above 1"),
        pytest.param({"least": 0.5}, "'each' and 'mean'", id="unknown limit"),
        pytest.param({"measure": "kappa", "mean": 0.5}, "measure of diversity must be", id="unknown measure"),
        pytest.param({"measure": "double-fault", "mean": -0.1}, "between 0 and 1", id="below 0"),
    ],
)
def test_bad_settings_are_refused(setting: object, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        diversity_limits(setting, merge_rows([[0], [1]], [0, 1]))  # type: ignore[arg-type]  # bad on purpose
