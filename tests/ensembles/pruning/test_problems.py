"""Exact pruning for several classes, against brute force."""

import dataclasses
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split

from shortlist import BadInputError
from shortlist.ensembles.audit.class_cut_check import check_class_certificate
from shortlist.ensembles.committees.evidence import ClassSelection
from shortlist.ensembles.goals.selection_limits import DiversityLimits, diversity_limits, selection_limits
from shortlist.ensembles.goals.weights import (
    CLASS_OBJECTIVES,
    LARGEST_DENOMINATOR,
    class_weights,
)
from shortlist.ensembles.pools.answers import class_answers
from shortlist.ensembles.pools.fitting import make_pool
from shortlist.ensembles.pruning import pruning as exact
from shortlist.ensembles.search.search_starts import rule_starts
from shortlist.ensembles.votes.class_votes import class_votes, merge_class_rows, n_right
from shortlist.errors import SolverError
from shortlist.milp import Limits, Program, Solution
from shortlist.milp.watch import OnBound
from shortlist.results.proof import ProofKind, Status
from shortlist.runs import Cancellation, Progress
from shortlist.runs.budget import Budget
from tests.ensembles import oracles, rule_oracles
from tests.ensembles.class_pools import Pool, as_votes, class_pools
from tests.ensembles.plurality_oracles import (
    CODES,
    EXAMPLES,
    LABELS,
    best_value,
    made_votes,
    members_of,
    plain_pool,
    prune_classes,
    sizes,
    subsets,
    value_of,
)
from tests.milp.solvers import installed_solvers

SOLVERS = ["auto", *installed_solvers()]


def _failures(pool: Pool) -> oracles.Rows:
    """Every sample as votes "right" or "wrong" on a positive row."""
    return [(tuple(int(vote == label) for vote in votes), 1) for votes, label in pool[0]]


def _check(result: ClassSelection, pool: Pool, objective: str, allowed: Sequence[tuple[int, ...]]) -> None:
    """The result is the best of the allowed subsets, or says that there is none."""
    expected = best_value(pool, objective, allowed)
    if expected is None:
        assert result.status is Status.INFEASIBLE
        assert result.reason
        assert not result.mask.any()
        assert math.isnan(result.value)
        return
    assert result.status is Status.OPTIMAL
    assert result.proof.kind is ProofKind.COMPLETE
    assert result.value == result.bound == float(expected)
    assert members_of(result.mask) in allowed
    assert value_of(pool, members_of(result.mask), objective) == expected
    assert result.right.sum() == rule_oracles.n_right(pool[0], list(members_of(result.mask)), pool[2])


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@EXAMPLES
@given(
    pool=class_pools(), merged=st.booleans(), objective=st.sampled_from(sorted(CLASS_OBJECTIVES)), sizes=sizes
)
def test_sizes_and_objectives_equal_brute_force(
    solver: str, pool: Pool, merged: bool, objective: str, sizes: tuple[int, int]
) -> None:
    votes, (least, most) = as_votes(pool, merged=merged), sizes
    limits = selection_limits(pool[1], min_size=least, max_size=most)

    result = prune_classes(votes, objective, limits, solver=solver)

    _check(result, pool, objective, subsets(pool, least, most))


@EXAMPLES
@given(
    pool=class_pools(max_classifiers=6),
    worths=st.lists(st.integers(0, 12), min_size=5, max_size=5),
    sizes=sizes,
)
def test_weights_by_class_equal_brute_force(pool: Pool, worths: list[int], sizes: tuple[int, int]) -> None:
    votes, (least, most) = as_votes(pool, merged=True), sizes
    weights = {c: worth / 4 for c, worth in enumerate(worths[: pool[2]])}
    if not any(weights.values()):
        return
    limits = selection_limits(pool[1], min_size=least, max_size=most)
    result = prune_classes(votes, weights, limits)

    values = []
    for members in subsets(pool, least, most):
        right = rule_oracles.right(pool[0], list(members), pool[2])
        values.append(sum(weights[label] for good, (_, label) in zip(right, pool[0], strict=True) if good))
    if not values:
        assert result.status is Status.INFEASIBLE
        return
    assert result.status is Status.OPTIMAL
    assert result.value == result.bound == max(values)
    assert result.certificate is not None
    verdict = check_class_certificate(result.certificate, *plain_pool(pool))
    assert verdict.valid, verdict.failures
    for place, gain in enumerate(result.certificate["gains"]):
        other = [*result.certificate["gains"]]
        other[place] = gain + 1
        changed = check_class_certificate(result.certificate | {"gains": other}, *plain_pool(pool))
        assert not (changed.valid and result.right[place])


def test_a_selection_that_is_right_everywhere_has_a_certificate() -> None:
    votes = class_votes([[0, 1], [1, 0], [2, 1]], [0, 1, 2])
    result = prune_classes(votes, "accuracy", selection_limits(2))

    assert result.value == result.bound == result.certified_bound == 1
    assert result.certificate is not None
    assert check_class_certificate(result.certificate, votes.codes.tolist(), [0, 1, 2], 3).valid


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["auto", "cpsat"])
@EXAMPLES
@given(
    pool=class_pools(max_classifiers=6),
    costs=st.lists(st.integers(0, 30), min_size=6, max_size=6),
    budget=st.integers(0, 90),
)
def test_a_budget_equals_brute_force(solver: str, pool: Pool, costs: list[int], budget: int) -> None:
    prices = costs[: pool[1]]
    limits = selection_limits(pool[1], member_costs=[c / 10 for c in prices], max_cost=budget / 10)

    result = prune_classes(as_votes(pool), "accuracy", limits, solver=solver)

    allowed = [m for m in subsets(pool, 1, pool[1]) if sum(prices[k] for k in m) <= budget]
    _check(result, pool, "accuracy", allowed)


def _is_diverse(
    measure: str, pool: Pool, members: tuple[int, ...], limits: tuple[Fraction, Fraction], slack: Fraction
) -> bool:
    if measure == "pfc":
        return oracles.diverse(_failures(pool), members, *limits, slack)
    return oracles.means_within(measure, _failures(pool), members, limits, slack)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solver", "measure"),
    [("auto", "pfc"), ("auto", "disagreement"), ("auto", "double-fault"), ("highs", "pfc"), ("cpsat", "pfc")],
)
@EXAMPLES
@given(
    pool=class_pools(max_classifiers=5),
    tenths=st.tuples(st.integers(0, 10), st.integers(0, 10)),
    least=st.integers(0, 3),
)
def test_diversity_limits_equal_brute_force(
    solver: str, measure: str, pool: Pool, tenths: tuple[int, int], least: int
) -> None:
    votes = as_votes(pool, merged=True)
    each, mean = tenths
    explicit = {"measure": measure, "each": each / 10, "mean": mean / 10}
    limits = selection_limits(pool[1], min_size=least, diversity=diversity_limits(explicit, votes))

    result = prune_classes(votes, "balanced-accuracy", limits, solver=solver)

    slack = Fraction(1, 10**6)
    allowed = [
        members
        for members in subsets(pool, least, pool[1])
        if _is_diverse(measure, pool, members, (Fraction(each, 10), Fraction(mean, 10)), slack)
    ]
    _check(result, pool, "balanced-accuracy", allowed)


@given(pool=class_pools(max_classifiers=5))
def test_failure_credit_of_classes_is_that_of_right_and_wrong(pool: Pool) -> None:
    limits = diversity_limits({}, as_votes(pool, merged=True))

    assert isinstance(limits, DiversityLimits)
    for k, m in itertools.combinations(range(pool[1]), 2):
        expected = oracles.failure_credit(_failures(pool), k, m)
        assert abs(Fraction(int(limits.credit[k, m]), 10**9) - expected) <= Fraction(1, 10**9)


@pytest.mark.slow
@EXAMPLES
@given(pool=class_pools(max_classifiers=6, all_vote=True).filter(lambda pool: pool[2] == 2))
def test_with_two_classes_it_is_the_vote_with_half_the_members_as_threshold(pool: Pool) -> None:
    samples, k, _ = pool

    result = prune_classes(as_votes(pool), "accuracy", selection_limits(k))

    best = max(
        sum(
            said == label
            for said, (_, label) in zip(
                oracles.decisions(samples, members, len(members) // 2), samples, strict=True
            )
        )
        for members in oracles.subsets(k)
        if members
    )
    assert result.value == best / len(samples)
    assert best <= (oracles.best_value(samples, k, (1, 0, 1, 0), subsets(pool, 1, k)) or 0)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_a_short_limit_lowers_the_claim_and_not_the_truth(threads: int) -> None:
    votes = made_votes(300, 40, 3, seed=2, skill=0.15)
    events: list[Progress] = []

    result = prune_classes(
        votes, "balanced-accuracy", selection_limits(40), Budget(0.7, threads=threads, report=events.append)
    )

    assert result.status is Status.FEASIBLE
    assert result.proof.kind is ProofKind.APPROXIMATE
    assert result.proof.limit == "0.7 s"
    shares = result.right / result.decisions.sum(axis=1)
    assert result.value == pytest.approx(shares.mean())
    assert result.value < result.bound <= 1
    assert result.proof.missing == pytest.approx((result.bound - result.value,))
    values = [value for _, value, _ in result.history if value is not None]
    bounds = [bound for _, _, bound in result.history]
    assert values == sorted(values)
    assert bounds == sorted(bounds, reverse=True)
    assert events
    for event in events:
        assert event.total == 0.7
        assert event.bound is not None
        assert event.value is None or event.value <= result.value <= event.bound


@pytest.mark.slow
def test_nodes_as_the_only_limit_give_the_same_answer_again() -> None:
    votes = made_votes(40, 8, 3, seed=4, skill=0.2)
    first, second = (
        prune_classes(votes, "accuracy", selection_limits(8), Budget(nodes=1, threads=2)) for _ in range(2)
    )

    assert (first.mask == second.mask).all()
    assert (first.value, first.bound, first.status) == (second.value, second.bound, second.status)


@pytest.mark.slow
def test_the_value_is_never_below_the_best_rule() -> None:
    votes = made_votes(100, 30, 4, seed=6, skill=0.2)
    limits = selection_limits(30)
    weights = class_weights("balanced-accuracy", votes)

    result = prune_classes(votes, "balanced-accuracy", limits, Budget(nodes=0))

    best = max(weights.total(votes, mask) for _, mask in rule_starts(votes, weights, limits, Budget()))
    assert result.status is Status.FEASIBLE  # an optimum is above every rule anyway
    assert result.value >= weights.value(best)


def test_a_cancelled_run_returns_the_best_with_its_bound() -> None:
    votes = made_votes(100, 12, 3, seed=1, skill=0.2)
    stopped = Cancellation()
    stopped.cancel()

    result = prune_classes(votes, "accuracy", selection_limits(12), Budget(cancellation=stopped))

    assert result.status is Status.FEASIBLE
    assert result.proof.limit == "interrupted"
    assert result.mask.any()
    assert result.value <= result.bound <= 1


def test_contradicting_limits_say_so() -> None:
    votes = made_votes(20, 4, 3, seed=1)
    sizes = selection_limits(4, min_size=5)
    costs = selection_limits(4, member_costs=[3] * 4, max_cost=2)

    assert "at least 5 members" in prune_classes(votes, "accuracy", sizes).reason
    assert "max_cost" in prune_classes(votes, "accuracy", costs).reason


def test_unknown_names_are_refused() -> None:
    votes = made_votes(20, 4, 3, seed=1)
    with pytest.raises(BadInputError, match="objective must be auto"):
        prune_classes(votes, "recall", selection_limits(4))
    with pytest.raises(BadInputError, match="solver must be one of"):
        prune_classes(votes, "accuracy", selection_limits(4), solver="higs")


def test_balanced_accuracy_over_unwieldy_class_sizes_says_its_tolerance() -> None:
    class_sizes = [101, 103, 107, 109, 113, 127, 131, 137]
    labels = np.repeat(np.arange(8), class_sizes)
    votes = class_votes(np.where(np.arange(len(labels)) % 10, labels, 0)[:, None], labels)

    weights = class_weights("balanced-accuracy", votes)
    result = prune_classes(votes, "balanced-accuracy", selection_limits(1))

    assert math.lcm(*class_sizes) * 8 > LARGEST_DENOMINATOR
    assert weights.denominator == weights.total(class_votes(labels[:, None], labels), np.array([True]))
    assert 0 < weights.tolerance < 1e-8
    truth = (result.right / np.array(class_sizes)).mean()
    assert abs(result.value - truth) <= weights.tolerance
    assert result.status is Status.OPTIMAL
    assert result.proof.tolerances == (weights.tolerance,)


class _Liar:
    """A solver that answers what it is told to on the first program, and has no time for another one."""

    def __init__(self, answer: Solution) -> None:
        self.answer = answer
        self.asked = False

    def open(self, program: Program, *, seed: int = 0, threads: int = 1) -> "_Liar":  # noqa: ARG002  # the protocol
        if self.asked:
            return _Liar(Solution(Status.UNKNOWN, None, math.nan, -math.inf, 0.0, limit="seconds"))
        self.asked = True
        values = self.answer.values
        padded = None if values is None else np.resize(values, program.n_columns)
        return _Liar(dataclasses.replace(self.answer, values=padded))

    def set_cutoff(self, cutoff: float | None) -> None: ...
    def set_start(self, values: object) -> None: ...
    def solve(
        self,
        limits: Limits,  # noqa: ARG002  # the protocol
        *,
        on_bound: OnBound,  # noqa: ARG002  # the protocol
        cancellation: Cancellation,  # noqa: ARG002  # the protocol
    ) -> Solution:
        return self.answer


def _ask_liar(monkeypatch: pytest.MonkeyPatch, answer: Solution) -> ClassSelection:
    monkeypatch.setattr(exact, "open_solver", lambda _name: _Liar(answer))
    votes = class_votes(CODES, LABELS)
    limits = selection_limits(3, max_size=2)
    result: ClassSelection = prune_classes(votes, "accuracy", limits, Budget(600), solver="highs")
    return result


def test_a_value_that_the_votes_do_not_bear_out_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Solution(Status.OPTIMAL, np.array([1, 1, 0, 1, 1, 1, 1], float), -4.0, -4.0, 0.0)

    result = _ask_liar(monkeypatch, answer)

    assert result.value == 0.75  # counted from the votes: the second classifier alone
    assert members_of(result.mask) == (1,)
    assert result.status is Status.FEASIBLE
    assert result.bound == 1.0


def test_a_bound_below_a_value_that_is_there_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Solution(Status.OPTIMAL, np.array([1, 0, 0, 0, 0, 0, 0], float), 0.0, 0.0, 0.0)
    with pytest.raises(SolverError, match="is below the value"):
        _ask_liar(monkeypatch, answer)


def test_an_infeasible_verdict_against_a_feasible_selection_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(SolverError, match="infeasible"):
        _ask_liar(monkeypatch, Solution(Status.INFEASIBLE, None, math.nan, math.inf, 0.0))


def test_a_selection_that_breaks_a_limit_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Solution(Status.OPTIMAL, np.ones(7), -4.0, -4.0, 0.0)

    result = _ask_liar(monkeypatch, answer)

    assert result.mask.sum() <= 2
    assert result.status is Status.FEASIBLE
    assert result.proof.limit == "600 s"


@pytest.mark.slow
@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_a_pool_on_real_data_is_pruned_from_end_to_end(load: object) -> None:
    assert callable(load)
    X, y = load(return_X_y=True)
    X_fit, X_prune, y_fit, y_prune = train_test_split(X[:900], y[:900], stratify=y[:900], random_state=0)
    pool = make_pool(X_fit, y_fit, n_classifiers=10)
    votes = class_votes(
        class_answers(pool, X_prune),
        np.searchsorted(pool.classes, y_prune),
        n_classes=len(pool.classes),
    )

    result = prune_classes(votes, "accuracy", selection_limits(10))

    assert result.status is Status.OPTIMAL
    merged = merge_class_rows(votes)
    subsets = [list(members) for members in oracles.subsets(10) if members]
    assert result.right.sum() == max(n_right(merged, members) for members in subsets)
    assert result.value == result.right.sum() / len(y_prune)
