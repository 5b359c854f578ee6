"""Limits on the members of a selection."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.diversity import (
    CREDIT_UNITS,
    MEASURES,
    DiversityLimits,
    diversity_limits,
    failure_credit,
    pair_credit,
    pairwise_failure_crediting,
)
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.verification.recheck_selections import is_diverse
from shortlist.ensembles.votes.hard_votes import Votes, merge_rows
from shortlist.errors import BadInputError
from tests.ensembles import oracles, strategies


@pytest.mark.parametrize("max_cost", [6.5, 1e18, 1e300])
def test_a_budget_above_all_costs_is_no_limit(max_cost: float) -> None:
    limits = selection_limits(3, member_costs=[1, 2, 3], max_cost=max_cost)

    assert limits.conflict() == ""
    assert limits.satisfied_by(np.ones(3, dtype=bool))


@pytest.mark.parametrize("costs_are", ["member_costs", "costs"])
@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (np.float64(-1), " must be finite and at least 0, got -1.0 for "),
        (np.float64("inf"), " must be finite and at least 0, got inf for "),
        (np.float64(1e-10), " must keep their first six digits when they are rounded to 9 decimals, got 1e-10. "),
        (np.float64(1e16), " must have fewer digits to stay exact. "),
    ],
)  # fmt: skip
def test_a_cost_that_cannot_be_is_named_as_the_user_does(
    cost: np.float64, message: str, costs_are: str
) -> None:
    with pytest.raises(BadInputError, match=f"^`?{costs_are}`?{message}"):
        selection_limits(2, member_costs=[1.0, cost], max_cost=3.0, costs_are=costs_are)


def test_a_cost_with_many_decimals_is_rounded_with_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"^costs were rounded to 9 decimals, to be exact\.$"):
        limits = selection_limits(2, member_costs=[0.012345678901, 0.02], max_cost=0.03, costs_are="costs")
    assert limits.satisfied_by(np.array([True, False]))
    assert not limits.satisfied_by(np.array([True, True]))


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


OTHERS = tuple(name for name in MEASURES if name != "pfc")


@pytest.mark.parametrize("name", OTHERS)
@given(rows=strategies.labelled_votes())
def test_credit_stands_for_the_definition_pair_by_pair(name: str, rows: oracles.Rows) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    credit, measure = pair_credit(votes, name), MEASURES[name]
    assert (credit == credit.T).all()
    for k in range(votes.n_classifiers):
        assert credit[k, k] == 0
        for m in range(k):
            expected = (oracles.pair_measure(name, rows, k, m) - measure.at_none) / (
                measure.at_full - measure.at_none
            )
            assert abs(Fraction(int(credit[k, m]), CREDIT_UNITS) - expected) <= Fraction(1, 2 * CREDIT_UNITS)


def test_counts_of_millions_of_rows_do_not_overflow() -> None:
    right = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype=np.uint8)
    votes = Votes(right, np.ones(4, dtype=np.uint8), np.full(4, 10**9))
    assert pair_credit(votes, "q")[0, 1] == CREDIT_UNITS // 2


@pytest.mark.parametrize(
    ("right", "q"),
    [
        pytest.param([[1, 1], [1, 1]], 1, id="neither fails"),
        pytest.param([[0, 0], [0, 0]], 1, id="both fail everywhere"),
        pytest.param([[1, 0], [1, 1]], 0, id="one never fails, and the other does"),
        pytest.param([[1, 0], [0, 1]], -1, id="they never agree"),
    ],
)
def test_q_where_its_quotient_is_nothing_over_nothing(right: list[list[int]], q: int) -> None:
    votes = Votes(np.array(right, dtype=np.uint8), np.ones(2, dtype=np.uint8), np.ones(2, dtype=np.int64))
    credit = pair_credit(votes, "q")[0, 1] / CREDIT_UNITS
    assert MEASURES["q"].of_credit(credit) == q


def _limit(name: str, tenths: int) -> Fraction:
    """Return a limit in the measure's range."""
    return Fraction(tenths, 10) if name != "q" else Fraction(tenths - 5, 5)


@pytest.mark.parametrize("name", OTHERS)
@given(rows=strategies.labelled_votes(), each=st.integers(0, 10), mean=st.integers(0, 10))
def test_the_check_that_shares_nothing_decides_as_the_limits_do(
    name: str, rows: oracles.Rows, each: int, mean: int
) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    setting: dict[str, Any] = {
        "measure": name,
        "each": float(_limit(name, each)),
        "mean": float(_limit(name, mean)),
    }
    limits = diversity_limits(setting, votes)
    assert limits is not None
    plain = {"measure": name, "each": limits.each, "mean": limits.mean}
    table = [(tuple(votes), int(label == 1), int(label == 0)) for votes, label in rows]
    for members in oracles.subsets(votes.n_classifiers):
        mask = np.isin(np.arange(votes.n_classifiers), members)
        assert limits.satisfied_by(mask) == is_diverse(table, list(members), plain)


def test_a_measure_that_the_check_does_not_know_is_refused() -> None:
    table: list[tuple[tuple[int, ...], int, int]] = [((1, 0), 1, 0), ((0, 1), 1, 0)]
    with pytest.raises(ValueError, match="not known: 'kappa'"):
        is_diverse(table, [0, 1], {"measure": "kappa", "each": 0, "mean": 0})


@pytest.mark.parametrize("name", OTHERS)
@given(rows=strategies.labelled_votes())
def test_the_full_ensemble_keeps_the_named_limits_of_pairs_too(name: str, rows: oracles.Rows) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    for kind in ("average", "each"):
        limits = diversity_limits(f"{name}-{kind}", votes)
        assert limits is None or (
            limits.measure == name and limits.satisfied_by(np.ones(votes.n_classifiers, bool))
        )


def test_a_wrong_cost_is_named_by_its_member() -> None:
    with pytest.raises(BadInputError, match=r"member_costs must be finite and at least.*got NaN for 'c3'\."):
        selection_limits(2, member_costs=[1, float("nan")], max_cost=2, names=["c1", "c3"])
    with pytest.raises(BadInputError, match=r"got NaN for 1\."):
        selection_limits(2, member_costs=[1, float("nan")], max_cost=2)
    by_name: Any = {"c1": 1, "c3": 2}
    with pytest.raises(BadInputError, match=r"in the order of the pool, got a dict\."):
        selection_limits(2, member_costs=by_name, max_cost=2)
