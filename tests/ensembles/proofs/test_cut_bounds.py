"""Bounds from cuts, against the best selection."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import PRUNING_OBJECTIVES, named_weights
from shortlist.ensembles.proofs.certificate import Cut, make_cut, proves
from shortlist.ensembles.proofs.conflicts import find_conflicts
from shortlist.ensembles.proofs.cut_bounds import min_cut_bound, tighten_by_cuts
from shortlist.ensembles.proofs.row_forms import RightRows, normalise
from shortlist.ensembles.votes.hard_votes import class_votes, merge_rows
from shortlist.runs.budget import Budget
from tests.ensembles import bound_oracles, oracles, strategies
from tests.ensembles.plurality_oracles import rows_of
from tests.ensembles.strategies import noisy_rows, right_rows, tightened, two_classes
from tests.examples import examples


@pytest.mark.slow
@given(rows=right_rows)
def test_bounds_are_never_below_the_best_selection(rows: RightRows) -> None:
    conflicts = find_conflicts(rows, Budget())
    first = min_cut_bound(rows, conflicts)
    second = tighten_by_cuts(rows, conflicts, first, Budget(), max_rounds=3)

    best = bound_oracles.best_gain(rows)
    if best is not None:
        assert best <= second.bound <= first.bound <= rows.total_gain
    for bound in (first, second):
        assert bound_oracles.certified_bound(rows, bound) == bound.bound


@given(rows=two_classes)
def test_the_minimum_cut_is_the_largest_gain_without_conflicts(rows: RightRows) -> None:
    conflicts = find_conflicts(rows, Budget())
    pairs = conflicts.pairs.tolist()
    involved = sorted({i for pair in pairs for i in pair})[:12]
    pairs = [pair for pair in pairs if set(pair) <= set(involved)]
    few = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    kept = dataclasses.replace(conflicts, pairs=few, forms=few)

    best = 0
    for choice in range(2 ** len(involved)):
        wrong = {row for place, row in enumerate(involved) if choice >> place & 1}
        if all(set(pair) & wrong for pair in pairs):
            missed = wrong | set(conflicts.never.tolist())
            best = max(best, sum(int(g) for i, g in enumerate(rows.gains) if i not in missed))
    assert min_cut_bound(rows, kept).bound == best


def test_gains_beyond_32_bits_keep_the_bound_valid_and_close() -> None:
    rng = np.random.default_rng(0)
    matrix, labels = rng.integers(0, 2, (200, 6)), rng.integers(0, 2, 200)
    votes = merge_rows(matrix, labels)
    weights = named_weights({"tp": 30_000_000_001, "tn": 29_999_999_999}, votes)
    rows = normalise(votes, weights, selection_limits(6))
    assert rows.total_gain > 2**31
    conflicts = find_conflicts(rows, Budget())

    bound = min_cut_bound(rows, conflicts)

    best = bound_oracles.best_gain(rows)
    assert best is not None
    assert best <= bound.bound
    assert bound_oracles.certified_bound(rows, bound) == bound.bound
    assert len(conflicts.pairs) > 0
    plain = normalise(votes, named_weights("accuracy", votes), selection_limits(6))
    close = min_cut_bound(plain, find_conflicts(plain, Budget()))
    assert bound.bound / rows.total_gain == pytest.approx(close.bound / plain.total_gain, rel=1e-3)


def test_cuts_of_more_rows_tighten_the_minimum_cut() -> None:
    rows = noisy_rows()
    conflicts = find_conflicts(rows, Budget())
    first = min_cut_bound(rows, conflicts)
    heard: list[int] = []

    second = tighten_by_cuts(rows, conflicts, first, Budget(), max_rounds=8, on_bound=heard.append)

    assert second.bound < first.bound
    assert second.pool
    assert heard == sorted(heard, reverse=True)
    assert heard[-1] == second.bound


def test_the_same_rounds_and_seed_give_the_same_bound_and_cuts() -> None:
    first, second = tightened(noisy_rows()), tightened(noisy_rows())

    assert first.bound == second.bound
    assert first.cuts == second.cuts
    assert first.pool == second.pool
    np.testing.assert_array_equal(first.multipliers, second.multipliers)


def test_a_bound_goes_on_from_an_earlier_one() -> None:
    rows = noisy_rows()
    conflicts = find_conflicts(rows, Budget())
    first = tightened(rows)

    second = tighten_by_cuts(rows, conflicts, first, Budget(), max_rounds=2)

    assert second.bound <= first.bound
    assert set(first.pool) <= set(second.pool)


def test_a_target_that_is_met_stops_at_once() -> None:
    rows = noisy_rows()
    conflicts = find_conflicts(rows, Budget())
    first = min_cut_bound(rows, conflicts)
    heard: list[int] = []

    tighten_by_cuts(rows, conflicts, first, Budget(), target=first.bound, on_bound=heard.append)

    assert len(heard) == 1


@pytest.mark.parametrize("kind", ["deadline", "cancellation"])
def test_a_limit_stops_the_cuts_in_their_round_with_a_proved_bound(kind: str) -> None:
    rows = noisy_rows(400, 40)
    conflicts = find_conflicts(rows, Budget())
    now, heard = [0.0], list[int]()
    budget = Budget(10 if kind == "deadline" else 1000, clock=lambda: now[0])

    def stop_in_the_third_round(bound: int) -> None:
        heard.append(bound)
        if len(heard) == 3:
            now[0] += 20
            if kind == "cancellation":
                budget.cancellation.cancel()

    bound = tighten_by_cuts(rows, conflicts, min_cut_bound(rows, conflicts), budget, max_rounds=40, on_bound=stop_in_the_third_round)  # fmt: skip

    assert len(heard) == 3
    assert bound_oracles.certified_bound(rows, bound) == bound.bound


@pytest.mark.slow
@examples(25)
@given(
    rows=strategies.labelled_votes(max_classifiers=10, max_rows=24), name=st.sampled_from(sorted(PRUNING_OBJECTIVES)),
    least=st.integers(0, 3), fewer=st.integers(0, 3),
)  # fmt: skip
def test_named_objectives_of_larger_pools_are_bounded(
    rows: oracles.Rows, name: str, least: int, fewer: int
) -> None:
    votes = merge_rows(*oracles.as_arrays(rows))
    weights = named_weights(name, votes)
    k = votes.n_classifiers
    least = min(least, k)
    most = max(least, k - fewer)

    normal = normalise(votes, weights, selection_limits(k, min_size=least, max_size=most))
    bound = tightened(normal)

    allowed = [members for members in oracles.subsets(k) if least <= len(members) <= most]
    best = oracles.best_value(rows, k, (weights.tp, weights.fn, weights.tn, weights.fp), allowed)
    assert best is not None
    assert best <= normal.weighted_sum(bound.bound)


def test_cuts_are_found_where_no_pair_conflicts() -> None:
    # one classifier for each pair of the four rows, right on these two alone: any three rows can be right, not all
    codes = [[int(i in pair) for pair in itertools.combinations(range(4), 2)] for i in range(4)]
    rows = rows_of(class_votes(codes, [1, 1, 1, 1]))
    conflicts = find_conflicts(rows, Budget())

    found = tighten_by_cuts(rows, conflicts, min_cut_bound(rows, conflicts), Budget())

    assert len(conflicts.pairs) == 0
    assert [cut.rows for cut in found.cuts] == [(0, 1, 2, 3)]
    assert found.bound == 3


@pytest.mark.slow
@examples(25)
@given(rows=right_rows)
def test_every_cut_is_satisfied_by_every_selection(rows: RightRows) -> None:
    bound = tightened(rows)

    rights = bound_oracles.right_sets(rows)
    for cut in (*bound.cuts, *bound.pool):
        assert proves(rows, cut)
        assert not any(right[list(cut.rows)].all() for right in rights)


@given(rows=right_rows, data=st.data())
def test_multipliers_that_prove_a_cut_are_right_about_it(rows: RightRows, data: st.DataObject) -> None:
    if not rows.n_rows:
        return
    forms = data.draw(st.sets(st.integers(0, rows.n_forms - 1), min_size=1, max_size=4))
    y = [data.draw(st.integers(1, 3)) for _ in forms]
    cut = make_cut(rows, sorted(forms), y)
    if proves(rows, cut):
        assert not any(right[list(cut.rows)].all() for right in bound_oracles.right_sets(rows))


def test_what_no_multipliers_prove_is_no_cut() -> None:
    votes = merge_rows([[1, 0], [0, 1], [1, 1]], [1, 0, 0])
    rows = normalise(votes, named_weights("accuracy", votes), selection_limits(2))
    cut = make_cut(rows, (1, 2), (1, 1))

    assert proves(rows, cut)
    assert not proves(rows, Cut((), (), ()))
    assert not proves(rows, dataclasses.replace(cut, rows=(1,)))
    assert not proves(rows, dataclasses.replace(cut, multipliers=(0, 1)))
    assert not proves(rows, dataclasses.replace(cut, multipliers=(2**31, 2**31)))
