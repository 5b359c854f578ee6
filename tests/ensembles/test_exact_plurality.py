"""Exact pruning for several classes against brute force, and the parts of its engine against plain counts."""

import dataclasses
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split

from shortlist import BadInputError
from shortlist.arrays import Mask
from shortlist.ensembles.goals.class_weights import (
    CLASS_OBJECTIVES,
    LARGEST_DENOMINATOR,
    ClassWeights,
    class_weights,
    decision_table,
)
from shortlist.ensembles.goals.diversity import DiversityLimits
from shortlist.ensembles.goals.selection_limits import SelectionLimits, selection_limits
from shortlist.ensembles.pools.class_answers import class_answers
from shortlist.ensembles.pools.pool import make_pool
from shortlist.ensembles.proofs.cuts.conflicts import find_conflicts
from shortlist.ensembles.proofs.cuts.cut_bounds import min_cut_bound, tighten_by_cuts
from shortlist.ensembles.proofs.incumbent import ClassSelection, Incumbent, without_idle_members
from shortlist.ensembles.proofs.programs.plurality_program import plurality_program
from shortlist.ensembles.proofs.row_forms import RightRows, class_rows
from shortlist.ensembles.pruning import weighted_pruning as exact
from shortlist.ensembles.pruning.problems import PluralityProblem
from shortlist.ensembles.pruning.weighted_pruning import class_diversity_limits, prune_plurality_exactly
from shortlist.ensembles.rules.backfitting import backfit
from shortlist.ensembles.rules.orderings import RULES, order_classifiers
from shortlist.ensembles.search import _plurality_kernels as kernels
from shortlist.ensembles.search import _threshold_kernels as entries
from shortlist.ensembles.search import plurality_search
from shortlist.ensembles.search.plurality_search import FoundMembers, rule_selections, search_plurality
from shortlist.ensembles.votes.class_votes import ClassVotes, class_votes, merge_class_rows, n_right
from shortlist.errors import SolverError
from shortlist.milp import Limits, Program, Solution
from shortlist.milp.watch import OnBound
from shortlist.results.proof import ProofKind, Status
from shortlist.runs import Cancellation, Progress
from tests.ensembles import oracles, rule_oracles
from tests.ensembles.class_pools import Pool, as_votes, class_pools
from tests.milp.solvers import installed_solvers

SOLVERS = ["auto", *installed_solvers()]
EXAMPLES = settings(max_examples=25)

sizes = st.tuples(st.integers(0, 4), st.integers(0, 8))


def _value(pool: Pool, members: Sequence[int], objective: str) -> Fraction:
    """Accuracy, or the mean over occurring classes of the share of right rows, by the words of the definition."""
    samples, _, n_classes = pool
    right = rule_oracles.right(samples, list(members), n_classes)
    if objective == "accuracy":
        return Fraction(sum(right), len(samples))
    shares = []
    for c in {label for _, label in samples}:
        of_class = [r for r, (_, label) in zip(right, samples, strict=True) if label == c]
        shares.append(Fraction(sum(of_class), len(of_class)))
    return sum(shares, Fraction(0)) / len(shares)


def _best(pool: Pool, objective: str, allowed: Sequence[tuple[int, ...]]) -> Fraction | None:
    """The best value over subsets."""
    return max((_value(pool, members, objective) for members in allowed), default=None)


def _subsets(pool: Pool, least: int, most: int) -> list[tuple[int, ...]]:
    return [members for members in oracles.subsets(pool[1]) if least <= len(members) <= most]


def _failures(pool: Pool) -> oracles.Rows:
    """Every sample as votes "right" or "wrong" on a positive row."""
    return [(tuple(int(vote == label) for vote in votes), 1) for votes, label in pool[0]]


def _members(mask: Mask) -> tuple[int, ...]:
    return tuple(np.flatnonzero(mask).tolist())


def _check(result: ClassSelection, pool: Pool, objective: str, allowed: Sequence[tuple[int, ...]]) -> None:
    """The result is the best of the allowed subsets, or says that there is none."""
    expected = _best(pool, objective, allowed)
    if expected is None:
        assert result.status is Status.INFEASIBLE
        assert result.reason
        assert not result.mask.any()
        assert math.isnan(result.value)
        return
    assert result.status is Status.OPTIMAL
    assert result.proof.kind is ProofKind.COMPLETE
    assert result.value == result.bound == float(expected)
    assert _members(result.mask) in allowed
    assert _value(pool, _members(result.mask), objective) == expected
    assert result.right.sum() == rule_oracles.n_right(pool[0], list(_members(result.mask)), pool[2])


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

    result = prune_plurality_exactly(votes, objective, limits, solver=solver)

    _check(result, pool, objective, _subsets(pool, least, most))


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

    result = prune_plurality_exactly(as_votes(pool), "accuracy", limits, solver=solver)

    allowed = [m for m in _subsets(pool, 1, pool[1]) if sum(prices[k] for k in m) <= budget]
    _check(result, pool, "accuracy", allowed)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["auto", "highs", "cpsat"])
@EXAMPLES
@given(
    pool=class_pools(max_classifiers=5),
    each=st.integers(0, 10),
    mean=st.integers(0, 10),
    least=st.integers(0, 3),
)
def test_diversity_limits_equal_brute_force(
    solver: str, pool: Pool, each: int, mean: int, least: int
) -> None:
    votes = as_votes(pool, merged=True)
    explicit = {"each": each / 10, "mean": mean / 10}
    limits = selection_limits(pool[1], min_size=least, diversity=class_diversity_limits(explicit, votes))

    result = prune_plurality_exactly(votes, "balanced-accuracy", limits, solver=solver)

    slack = Fraction(1, 10**6)
    allowed = [
        members
        for members in _subsets(pool, least, pool[1])
        if oracles.diverse(_failures(pool), members, Fraction(each, 10), Fraction(mean, 10), slack)
    ]
    _check(result, pool, "balanced-accuracy", allowed)


@given(pool=class_pools(max_classifiers=5))
def test_failure_credit_of_classes_is_that_of_right_and_wrong(pool: Pool) -> None:
    limits = class_diversity_limits({}, as_votes(pool, merged=True))

    assert isinstance(limits, DiversityLimits)
    for k, m in itertools.combinations(range(pool[1]), 2):
        expected = oracles.failure_credit(_failures(pool), k, m)
        assert abs(Fraction(int(limits.credit[k, m]), 10**9) - expected) <= Fraction(1, 10**9)


@pytest.mark.slow
@EXAMPLES
@given(pool=class_pools(max_classifiers=6).filter(lambda pool: pool[2] == 2))
def test_with_two_classes_it_is_the_vote_with_half_the_members_as_threshold(pool: Pool) -> None:
    samples, k, _ = pool

    result = prune_plurality_exactly(as_votes(pool), "accuracy", selection_limits(k))

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
    assert best <= (oracles.best_value(samples, k, (1, 0, 1, 0), _subsets(pool, 1, k)) or 0)


def _rows(votes: ClassVotes, **limits: Any) -> RightRows:
    return class_rows(
        votes, class_weights("accuracy", votes), selection_limits(votes.n_classifiers, **limits)
    )


@given(pool=class_pools(max_classifiers=6), sizes=sizes)
def test_a_row_is_right_where_all_its_forms_hold(pool: Pool, sizes: tuple[int, int]) -> None:
    votes = as_votes(pool, merged=True)
    limits = selection_limits(pool[1], min_size=sizes[0], max_size=sizes[1])

    rows = class_rows(votes, class_weights("accuracy", votes), limits)

    for members in _subsets(pool, *sizes):
        x = np.isin(np.arange(pool[1]), members)
        assert (rows.right(x) == decision_rows(votes, members)[rows.places]).all()
        assert rows.weighted_sum(rows.gain_of(x)) == n_right(votes, list(members))


def decision_rows(votes: ClassVotes, members: tuple[int, ...]) -> Mask:
    """Which rows are right, by the plain rule."""
    return np.array(
        [
            rule_oracles.decision(tuple(row), list(members), votes.n_classes) == label
            for row, label in zip(votes.codes.tolist(), votes.labels.tolist(), strict=True)
        ],
        dtype=bool,
    )


@given(pool=class_pools(max_classifiers=6).filter(lambda pool: pool[2] == 2))
def test_with_two_classes_conflicts_hold_those_of_the_monotone_vote(pool: Pool) -> None:
    votes = as_votes(pool, merged=True)
    rows = _rows(votes, min_size=0)

    pairs = {(int(rows.places[i]), int(rows.places[j])) for i, j in find_conflicts(rows).pairs}

    expected = set()
    for i, j in itertools.permutations(rows.places.tolist(), 2):
        p_below_q = (votes.codes[i] <= votes.codes[j]).all()
        if votes.labels[i] == 1 and votes.labels[j] == 0 and p_below_q:
            expected.add((min(i, j), max(i, j)))
    assert pairs >= expected


def test_conflicts_with_large_gains_come_first_when_there_is_room_for_few() -> None:
    votes = class_votes([[1, 0], [1, 0], [0, 1], [0, 1]], [1, 0, 1, 0], [5, 7, 1, 1])
    rows = _rows(votes)

    some = find_conflicts(rows, max_pairs=1)
    assert some.pairs.tolist() == [[0, 1]]
    assert not some.complete
    assert find_conflicts(rows).pairs.tolist() == [[0, 1], [0, 2], [2, 3]]
    assert len(find_conflicts(rows, deadline=-math.inf).pairs) == 0


def test_cuts_are_found_where_no_pair_conflicts() -> None:
    # one classifier for each pair of the four rows, right on these two alone: any three rows can be right, not all
    codes = [[int(i in pair) for pair in itertools.combinations(range(4), 2)] for i in range(4)]
    rows = _rows(class_votes(codes, [1, 1, 1, 1]))
    conflicts = find_conflicts(rows)

    found = tighten_by_cuts(rows, conflicts, min_cut_bound(rows, conflicts))

    assert len(conflicts.pairs) == 0
    assert [cut.rows for cut in found.cuts] == [(0, 1, 2, 3)]
    assert found.bound == 3


@given(pool=class_pools(), objective=st.sampled_from(sorted(CLASS_OBJECTIVES)), data=st.data())
def test_an_encoded_selection_satisfies_the_program_at_its_value(
    pool: Pool, objective: str, data: st.DataObject
) -> None:
    votes = as_votes(pool, merged=True)
    weights = class_weights(objective, votes)
    limits = selection_limits(pool[1], min_size=0)
    rows = class_rows(votes, weights, limits)
    conflicts = find_conflicts(rows)
    built = plurality_program(rows, [conflicts.cut(rows, i) for i in range(len(conflicts.pairs))])
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=pool[1], max_size=pool[1])))

    values = built.encode(mask)

    program = built.program
    activity = program.rows @ values
    assert (activity >= program.row_lower).all()
    assert (activity <= program.row_upper).all()
    cost = program.minimised_costs()[0] @ values
    assert weights.value(rows.weighted_sum(-round(cost))) == float(_value(pool, _members(mask), objective))


def _state(votes: ClassVotes, weights: ClassWeights) -> plurality_search._Walk:
    return plurality_search._Walk(votes, weights, selection_limits(votes.n_classifiers, min_size=0), 0)


@given(pool=class_pools(), objective=st.sampled_from(sorted(CLASS_OBJECTIVES)), data=st.data())
def test_a_walk_keeps_the_counts_that_a_fresh_count_gives(
    pool: Pool, objective: str, data: st.DataObject
) -> None:
    samples, k, n_classes = pool
    votes = as_votes(pool, merged=True)
    weights = class_weights(objective, votes)
    walk = _state(votes, weights)

    for flipped in data.draw(st.lists(st.integers(0, k - 1), max_size=12)):
        walk.flip(flipped)

    member = walk.member.astype(bool)
    for i, row in enumerate(votes.codes.tolist()):
        heard = [row[m] for m in _members(member)]
        assert walk.tally[i].tolist() == [heard.count(c) for c in range(n_classes)]
    assert ((walk.leads >= 0) == decision_rows(votes, _members(member))).all()
    assert walk.scalars[entries.SIZE] == member.sum()
    assert weights.value(int(walk.scalars[entries.TOTAL])) == float(
        _value((samples, k, n_classes), _members(member), objective)
    )


@given(pool=class_pools(), data=st.data())
def test_rated_flips_change_the_total_as_rated(pool: Pool, data: st.DataObject) -> None:
    votes = as_votes(pool, merged=True)
    walk = _state(votes, class_weights("accuracy", votes))
    for flipped in data.draw(st.lists(st.integers(0, pool[1] - 1), max_size=12)):
        walk.flip(flipped)

    kernels.rate_flips(
        votes.codes,
        votes.labels,
        walk.gains,
        walk.member,
        walk.tally,
        walk.leads,
        walk.effects,
        walk.changes,
    )

    member = walk.member.astype(bool)
    now = n_right(votes, _members(member))
    for k in range(pool[1]):
        after = member ^ (np.arange(pool[1]) == k)
        assert walk.changes[k] == n_right(votes, _members(after)) - now


def _made(n_rows: int, n_classifiers: int, n_classes: int, seed: int, skill: float = 0.5) -> ClassVotes:
    """Random votes, right with some probability."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows)
    others = rng.integers(0, n_classes, (n_rows, n_classifiers))
    codes = np.where(rng.random((n_rows, n_classifiers)) < skill, labels[:, None], others)
    return merge_class_rows(class_votes(codes, labels, n_classes=n_classes))


def _tight_limits(votes: ClassVotes) -> SelectionLimits:
    """Size, cost and diversity limits that many selections break."""
    costs = [1 + k % 5 for k in range(votes.n_classifiers)]
    diversity = class_diversity_limits("average", votes)
    return selection_limits(
        votes.n_classifiers, min_size=3, max_size=9, member_costs=costs, max_cost=20, diversity=diversity
    )


def test_the_search_keeps_every_limit_and_counts_right() -> None:
    votes = _made(200, 24, 4, seed=3)
    weights, limits = class_weights("balanced-accuracy", votes), _tight_limits(votes)
    heard: list[FoundMembers] = []

    found = search_plurality(votes, weights, limits, max_steps=3000, on_better=heard.append)

    assert found is not None
    assert limits.satisfied_by(found.mask)
    assert found.total == weights.total(votes, found.mask)
    totals = [one.total for one in heard]
    assert totals == sorted(set(totals))
    assert totals[-1] == found.total
    full = np.ones(24, dtype=bool)
    assert found.total > weights.total(votes, full) * 0.9


@EXAMPLES
@given(pool=class_pools(max_classifiers=6), objective=st.sampled_from(sorted(CLASS_OBJECTIVES)))
def test_the_search_finds_the_best_of_small_pools(pool: Pool, objective: str) -> None:
    votes = as_votes(pool, merged=True)
    weights = class_weights(objective, votes)

    found = search_plurality(votes, weights, selection_limits(pool[1]), max_steps=4000)

    best = _best(pool, objective, _subsets(pool, 1, pool[1]))
    assert found is not None
    assert best is not None
    assert weights.value(found.total) == float(best)


def test_the_same_seed_gives_the_same_search_whatever_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = _made(150, 20, 3, seed=5)
    weights, limits = class_weights("accuracy", votes), _tight_limits(votes)
    first, second, other = (
        search_plurality(votes, weights, limits, max_steps=2500, seed=seed) for seed in (1, 1, 2)
    )
    monkeypatch.setattr(plurality_search, "BLOCK_WORK", 1)
    in_blocks = search_plurality(votes, weights, limits, max_steps=2500, seed=1)

    assert first is not None
    assert second is not None
    assert other is not None
    assert in_blocks is not None
    assert (first.mask == second.mask).all()
    assert first.steps == second.steps
    assert (first.mask == in_blocks.mask).all()
    assert in_blocks.steps <= first.steps
    assert other.steps != first.steps or (other.mask != first.mask).any()


def test_the_search_stops_for_a_deadline_a_cancellation_and_a_target() -> None:
    votes = _made(100, 10, 3, seed=1)
    weights, limits = class_weights("accuracy", votes), selection_limits(10)
    stopped = Cancellation()
    stopped.cancel()

    assert search_plurality(votes, weights, limits, deadline=0.0) is None
    assert search_plurality(votes, weights, limits, cancellation=stopped) is None
    found = search_plurality(votes, weights, limits, target=1, starts=[np.eye(10, dtype=bool)[0]])
    assert found is not None
    assert found.total >= 1


def test_the_search_says_when_nothing_is_within_limits() -> None:
    votes = _made(50, 6, 3, seed=1)
    limits = selection_limits(6, min_size=3, member_costs=[5] * 6, max_cost=14)

    assert search_plurality(votes, class_weights("accuracy", votes), limits, max_steps=500) is None


@pytest.mark.slow
@settings(max_examples=15)
@given(pool=class_pools(max_classifiers=6), most=st.integers(1, 6))
def test_rule_selections_hold_what_every_rule_chooses(pool: Pool, most: int) -> None:
    votes = as_votes(pool, merged=True)
    limits = selection_limits(pool[1], max_size=most)

    found = {_members(mask) for mask in rule_selections(votes, limits)}

    assert all(1 <= len(members) <= most for members in found)
    for rule in RULES:
        chosen = order_classifiers(votes, rule).members
        assert len(chosen) > most or tuple(sorted(chosen.tolist())) in found
    most = min(most, pool[1])
    for members in backfit(votes, sizes=range(1, most + 1)).members_by_size:
        assert tuple(sorted(members.tolist())) in found


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_a_short_limit_lowers_the_claim_and_not_the_truth(threads: int) -> None:
    votes = _made(300, 40, 3, seed=2, skill=0.15)
    events: list[Progress] = []

    result = prune_plurality_exactly(
        votes,
        "balanced-accuracy",
        selection_limits(40),
        time_limit_s=1.5,
        threads=threads,
        report=events.append,
    )

    assert result.status is Status.FEASIBLE
    assert result.proof.kind is ProofKind.APPROXIMATE
    assert result.proof.limit == "1.5 s"
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
        assert event.total == 1.5
        assert event.bound is not None
        assert event.value is None or event.value <= result.value <= event.bound


@pytest.mark.slow
def test_nodes_as_the_only_limit_give_the_same_answer_again() -> None:
    votes = _made(40, 8, 3, seed=4, skill=0.2)
    first, second = (
        prune_plurality_exactly(votes, "accuracy", selection_limits(8), node_limit=1, threads=2)
        for _ in range(2)
    )

    assert (first.mask == second.mask).all()
    assert (first.value, first.bound, first.status) == (second.value, second.bound, second.status)


@pytest.mark.slow
def test_the_value_is_never_below_the_best_rule() -> None:
    votes = _made(250, 30, 4, seed=6, skill=0.2)
    limits = selection_limits(30)
    weights = class_weights("balanced-accuracy", votes)

    result = prune_plurality_exactly(votes, "balanced-accuracy", limits, node_limit=0)

    best = max(weights.total(votes, mask) for mask in rule_selections(votes, limits))
    assert result.value >= weights.value(best)


def test_a_cancelled_run_returns_the_best_with_its_bound() -> None:
    votes = _made(100, 12, 3, seed=1, skill=0.2)
    stopped = Cancellation()
    stopped.cancel()

    result = prune_plurality_exactly(votes, "accuracy", selection_limits(12), cancellation=stopped)

    assert result.status is Status.FEASIBLE
    assert result.proof.limit == "interrupted"
    assert result.mask.any()
    assert result.value <= result.bound <= 1


def test_contradicting_limits_say_so() -> None:
    votes = _made(20, 4, 3, seed=1)
    sizes = selection_limits(4, min_size=5)
    costs = selection_limits(4, member_costs=[3] * 4, max_cost=2)

    assert "at least 5 members" in prune_plurality_exactly(votes, "accuracy", sizes).reason
    assert "max_cost" in prune_plurality_exactly(votes, "accuracy", costs).reason


def test_unknown_names_are_refused() -> None:
    votes = _made(20, 4, 3, seed=1)
    with pytest.raises(BadInputError, match="objective must be one of"):
        prune_plurality_exactly(votes, "recall", selection_limits(4))
    with pytest.raises(BadInputError, match="solver must be one of"):
        prune_plurality_exactly(votes, "accuracy", selection_limits(4), solver="higs")


@given(pool=class_pools(), least=st.integers(0, 3))
def test_no_voter_of_the_answer_can_be_dropped_without_loss(pool: Pool, least: int) -> None:
    votes = as_votes(pool, merged=True)
    weights = class_weights("accuracy", votes)
    limits = selection_limits(pool[1], min_size=min(least, pool[1]))
    full = np.ones(pool[1], dtype=bool)

    kept = without_idle_members(PluralityProblem(votes, weights, limits), full)

    worth = weights.total(votes, kept)
    assert worth >= weights.total(votes, full)
    assert limits.satisfied_by(kept)
    for k in np.flatnonzero(kept):
        fewer = kept & (np.arange(len(kept)) != k)
        assert not limits.satisfied_by(fewer) or weights.total(votes, fewer) < worth


@given(pool=class_pools(), data=st.data())
def test_decisions_are_counted_by_class(pool: Pool, data: st.DataObject) -> None:
    samples, k, n_classes = pool
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=k, max_size=k)))

    table = decision_table(as_votes(pool, merged=True), mask)

    expected = np.zeros((n_classes, n_classes), dtype=int)
    for votes, label in samples:
        expected[label, rule_oracles.decision(votes, list(_members(mask)), n_classes)] += 1
    assert table.tolist() == expected.tolist()


def test_balanced_accuracy_over_unwieldy_class_sizes_says_its_tolerance() -> None:
    class_sizes = [101, 103, 107, 109, 113, 127, 131, 137]
    labels = np.repeat(np.arange(8), class_sizes)
    votes = class_votes(np.where(np.arange(len(labels)) % 10, labels, 0)[:, None], labels)

    weights = class_weights("balanced-accuracy", votes)
    result = prune_plurality_exactly(votes, "balanced-accuracy", selection_limits(1))

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


_CODES, _LABELS = [[1, 0, 2], [2, 1, 2], [0, 2, 1], [0, 0, 2]], [1, 1, 2, 0]


def _ask_liar(monkeypatch: pytest.MonkeyPatch, answer: Solution) -> ClassSelection:
    monkeypatch.setattr(exact, "open_solver", lambda _name: _Liar(answer))
    votes = class_votes(_CODES, _LABELS)
    limits = selection_limits(3, max_size=2)
    return prune_plurality_exactly(votes, "accuracy", limits, solver="highs", time_limit_s=600)


def test_a_value_that_the_votes_do_not_bear_out_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Solution(Status.OPTIMAL, np.array([1, 1, 0, 1, 1, 1, 1], float), -4.0, -4.0, 0.0)

    result = _ask_liar(monkeypatch, answer)

    assert result.value == 0.75  # counted from the votes: the second classifier alone
    assert _members(result.mask) == (1,)
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


def test_an_incumbent_without_a_selection_has_no_value() -> None:
    votes = class_votes(_CODES, _LABELS)
    problem = PluralityProblem(votes, class_weights("accuracy", votes), selection_limits(3, min_size=2))
    best = Incumbent(problem)

    assert best.value is None
    assert not best.proved
    unknown = best.no_selection(Status.UNKNOWN, limit="1 s", seconds=1.0)
    assert unknown.bound == 1.0
    assert "1 s" in unknown.reason


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

    result = prune_plurality_exactly(votes, "accuracy", selection_limits(10))

    assert result.status is Status.OPTIMAL
    merged = merge_class_rows(votes)
    subsets = [list(members) for members in oracles.subsets(10) if members]
    assert result.right.sum() == max(n_right(merged, members) for members in subsets)
    assert result.value == result.right.sum() / len(y_prune)
