"""Right rows, conflicts, cuts and the bounds that they give, against brute force."""

import dataclasses
import time
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.ensembles.goals.class_weights import CLASS_OBJECTIVES, class_weights
from shortlist.ensembles.goals.diversity import diversity_limits
from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import OBJECTIVES, Weights, best_threshold, named_weights
from shortlist.ensembles.proofs.cuts import cut_bounds
from shortlist.ensembles.proofs.cuts.conflicts import find_conflicts
from shortlist.ensembles.proofs.cuts.cut_bounds import min_cut_bound, tighten_by_cuts
from shortlist.ensembles.proofs.cuts.cuts import Cut, CutBound, certified_bound, make_cut, proves
from shortlist.ensembles.proofs.row_forms import RightRows, class_rows, normalise
from shortlist.ensembles.votes.binary_votes import Votes, confusion, merge_rows
from shortlist.errors import SolverError
from shortlist.runs import Cancellation
from tests.ensembles import bound_oracles, oracles, strategies
from tests.ensembles.class_pools import as_votes, class_pools


@st.composite
def problems(draw: st.DrawFn, max_classifiers: int = 6) -> tuple[Votes, Weights, RightRows]:
    """Small pools with every kind of weight, size, budget and diversity limit."""
    rows = draw(strategies.labelled_votes(max_classifiers=max_classifiers, max_rows=14))
    votes = merge_rows(*oracles.as_arrays(rows))
    k = votes.n_classifiers
    named = st.sampled_from(sorted(OBJECTIVES))
    explicit = strategies.weight_sets.map(lambda w: dict(zip(("tp", "fn", "tn", "fp"), w, strict=True)))
    weights = named_weights(draw(named | explicit), votes)
    least = draw(st.integers(0, k))
    most = draw(st.integers(least, k))
    dear = draw(st.booleans())
    diverse = draw(st.sampled_from(["none", "average", "each"]))
    limits = selection_limits(
        k, min_size=least, max_size=most,
        member_costs=draw(st.lists(st.integers(0, 4), min_size=k, max_size=k)) if dear else None,
        max_cost=draw(st.integers(0, 3 * k)) if dear else None,
        diversity=diversity_limits(diverse, votes),
    )  # fmt: skip
    return votes, weights, normalise(votes, weights, limits)


@st.composite
def class_problems(draw: st.DrawFn, max_classifiers: int = 6) -> RightRows:
    """The same for several classes, without diversity."""
    votes = as_votes(draw(class_pools(max_classifiers=max_classifiers)), merged=True)
    k = votes.n_classifiers
    least = draw(st.integers(0, k))
    dear = draw(st.booleans())
    limits = selection_limits(
        k, min_size=least, max_size=draw(st.integers(least, k)),
        member_costs=draw(st.lists(st.integers(0, 4), min_size=k, max_size=k)) if dear else None,
        max_cost=draw(st.integers(0, 3 * k)) if dear else None,
    )  # fmt: skip
    return class_rows(votes, class_weights(draw(st.sampled_from(sorted(CLASS_OBJECTIVES))), votes), limits)


two_classes = problems().map(lambda problem: problem[2])
right_rows = two_classes | class_problems()
"""Rows of two or of several classes."""


def _tightened(rows: RightRows, rounds: int = 4) -> CutBound:
    conflicts = find_conflicts(rows)
    return tighten_by_cuts(rows, conflicts, min_cut_bound(rows, conflicts), max_rounds=rounds)


@given(problem=problems(), data=st.data())
def test_right_rows_are_worth_what_the_samples_are(
    problem: tuple[Votes, Weights, RightRows], data: st.DataObject
) -> None:
    votes, weights, rows = problem
    k = votes.n_classifiers
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=k, max_size=k)))
    threshold = data.draw(st.integers(0, int(mask.sum())))

    assert rows.weighted_sum(rows.gain_of(mask, threshold)) == weights.total(
        confusion(votes, mask, threshold)
    )
    assert (rows.gains > 0).all()
    assert len(np.unique(rows.votes, axis=0)) == rows.n_rows


@pytest.mark.slow
@given(rows=two_classes)
def test_conflicts_of_two_classes_are_the_pairs_that_no_selection_separates(rows: RightRows) -> None:
    found = find_conflicts(rows)

    pairs, never = bound_oracles.conflicts(rows)
    assert set(map(tuple, found.pairs.tolist())) == pairs
    assert set(found.never.tolist()) == never
    assert found.complete


@pytest.mark.slow
@given(rows=class_problems())
def test_conflicts_of_several_classes_are_pairs_of_forms_that_no_selection_keeps(rows: RightRows) -> None:
    found = find_conflicts(rows)

    rights = bound_oracles.right_sets(rows)
    for i, (first, second) in enumerate(found.pairs.tolist()):
        assert first < second
        assert proves(rows, found.cut(rows, i))
        assert not any(right[first] and right[second] for right in rights)
    for form in found.never.tolist():
        assert not any(right[rows.row_of[form]] for right in rights)


@given(rows=right_rows, most=st.integers(1, 8))
def test_a_cap_on_pairs_keeps_true_ones_and_says_so(rows: RightRows, most: int) -> None:
    every, some = find_conflicts(rows), find_conflicts(rows, max_pairs=most)

    assert set(map(tuple, some.pairs.tolist())) <= set(map(tuple, every.pairs.tolist()))
    assert len(some.pairs) <= most
    assert some.complete == (len(every.pairs) <= most)


def test_a_deadline_in_the_past_leaves_all_pairs_out_and_says_so() -> None:
    votes = merge_rows([[1, 0], [1, 1]], [1, 0])
    rows = normalise(votes, named_weights("accuracy", votes), selection_limits(2))

    assert len(find_conflicts(rows).pairs) == 1
    late = find_conflicts(rows, deadline=time.monotonic() - 1)
    assert len(late.pairs) == 0
    assert not late.complete


@pytest.mark.slow
@given(rows=right_rows)
def test_bounds_are_never_below_the_best_selection(rows: RightRows) -> None:
    conflicts = find_conflicts(rows)
    first = min_cut_bound(rows, conflicts)
    second = tighten_by_cuts(rows, conflicts, first, max_rounds=3)

    best = bound_oracles.best_gain(rows)
    if best is not None:
        assert best <= second.bound <= first.bound <= rows.total_gain
    for bound in (first, second):
        assert certified_bound(rows, bound.cuts, bound.multipliers, bound.denominator) == bound.bound


@pytest.mark.slow
@settings(max_examples=25)
@given(rows=right_rows)
def test_every_cut_is_satisfied_by_every_selection(rows: RightRows) -> None:
    bound = _tightened(rows)

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


@given(rows=two_classes)
def test_the_minimum_cut_is_the_largest_gain_without_conflicts(rows: RightRows) -> None:
    conflicts = find_conflicts(rows)
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
    conflicts = find_conflicts(rows)

    bound = min_cut_bound(rows, conflicts)

    best = bound_oracles.best_gain(rows)
    assert best is not None
    assert best <= bound.bound
    assert certified_bound(rows, bound.cuts, bound.multipliers, 1) == bound.bound
    assert len(conflicts.pairs) > 0
    plain = normalise(votes, named_weights("accuracy", votes), selection_limits(6))
    close = min_cut_bound(plain, find_conflicts(plain))
    assert bound.bound / rows.total_gain == pytest.approx(close.bound / plain.total_gain, rel=1e-3)


def _noisy(n_rows: int = 150, n_classifiers: int = 15) -> RightRows:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, n_rows)
    matrix = (rng.random((n_rows, n_classifiers)) < np.where(labels == 1, 0.6, 0.4)[:, None]).astype(np.uint8)
    votes = merge_rows(matrix, labels)
    return normalise(votes, named_weights("accuracy", votes), selection_limits(n_classifiers))


def test_cuts_of_more_rows_tighten_the_minimum_cut() -> None:
    rows = _noisy()
    conflicts = find_conflicts(rows)
    first = min_cut_bound(rows, conflicts)
    heard: list[int] = []

    second = tighten_by_cuts(rows, conflicts, first, max_rounds=8, on_bound=heard.append)

    assert second.bound < first.bound
    assert second.pool
    assert heard == sorted(heard, reverse=True)
    assert heard[-1] == second.bound


def test_the_same_rounds_and_seed_give_the_same_bound_and_cuts() -> None:
    first, second = _tightened(_noisy()), _tightened(_noisy())

    assert first.bound == second.bound
    assert first.cuts == second.cuts
    assert first.pool == second.pool
    np.testing.assert_array_equal(first.multipliers, second.multipliers)


def test_a_bound_goes_on_from_an_earlier_one() -> None:
    rows = _noisy()
    conflicts = find_conflicts(rows)
    first = _tightened(rows)

    second = tighten_by_cuts(rows, conflicts, first, max_rounds=2)

    assert second.bound <= first.bound
    assert set(first.pool) <= set(second.pool)


def test_a_target_that_is_met_stops_at_once() -> None:
    rows = _noisy()
    conflicts = find_conflicts(rows)
    first = min_cut_bound(rows, conflicts)
    heard: list[int] = []

    tighten_by_cuts(rows, conflicts, first, target=first.bound, on_bound=heard.append)

    assert len(heard) == 1


@pytest.mark.parametrize("kind", ["deadline", "cancellation"])
def test_a_limit_stops_the_cuts_in_their_round_with_a_proved_bound(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = _noisy(400, 40)
    conflicts = find_conflicts(rows)
    cancellation = Cancellation()
    late = time.monotonic() + 1000
    now, heard = [late], list[int]()
    monkeypatch.setattr(cut_bounds, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def stop_in_the_third_round(bound: int) -> None:
        heard.append(bound)
        if len(heard) == 3:
            now[0] += 20
            if kind == "cancellation":
                cancellation.cancel()

    bound = tighten_by_cuts(
        rows, conflicts, min_cut_bound(rows, conflicts), deadline=late + (10 if kind == "deadline" else 1000),
        max_rounds=40, on_bound=stop_in_the_third_round, cancellation=cancellation,
    )  # fmt: skip

    assert len(heard) == 3
    assert certified_bound(rows, bound.cuts, bound.multipliers, bound.denominator) == bound.bound


def test_a_false_cut_and_a_negative_weight_are_refused() -> None:
    rows = _noisy()
    p, q = np.flatnonzero(rows.is_positive), np.flatnonzero(~rows.is_positive)
    apart = next((int(a), int(b)) for a in p for b in q if (rows.votes[a] > rows.votes[b]).any())
    with pytest.raises(SolverError, match="not proved"):
        certified_bound(rows, [make_cut(rows, sorted(apart), (1, 1))], np.array([1]), 1)
    bound = min_cut_bound(rows, find_conflicts(rows))
    with pytest.raises(SolverError, match="at least 0"):
        certified_bound(rows, bound.cuts, -bound.multipliers, 1)


@pytest.mark.slow
@settings(max_examples=25)
@given(
    rows=strategies.labelled_votes(max_classifiers=10, max_rows=24), name=st.sampled_from(sorted(OBJECTIVES)),
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
    bound = _tightened(normal)

    allowed = [members for members in oracles.subsets(k) if least <= len(members) <= most]
    best = oracles.best_value(rows, k, (weights.tp, weights.fn, weights.tn, weights.fp), allowed)
    assert best is not None
    assert best <= normal.weighted_sum(bound.bound)


@pytest.mark.slow
@given(problem=problems(max_classifiers=4))
def test_votes_weights_and_limits_of_the_best_selection_agree_with_the_bound(
    problem: tuple[Votes, Weights, RightRows],
) -> None:
    votes, weights, rows = problem
    bound = rows.weighted_sum(_tightened(rows, 2).bound)

    for mask in bound_oracles.selections(rows):
        assert best_threshold(votes, weights, mask)[1] <= bound


@pytest.mark.parametrize("least", [1, 2], ids=["subsets alone", "with forced members"])
def test_conflicts_of_wide_pools_are_found_word_by_word(least: int) -> None:
    rng = np.random.default_rng(4)
    matrix = (rng.random((300, 150)) < rng.random((300, 1))).astype(np.uint8)
    matrix[150:] |= matrix[rng.integers(0, 150, 150)]
    labels = (np.arange(300) >= 150).astype(np.uint8) ^ (rng.random(300) < 0.7)
    votes = merge_rows(matrix, labels)
    costs = (np.arange(150) > 140) * 2
    limits = selection_limits(150, min_size=least, member_costs=costs.tolist(), max_cost=1)
    rows = normalise(votes, named_weights("accuracy", votes), limits)

    found = find_conflicts(rows)

    usable = rows.votes[:, :141].astype(np.int64)
    expected = {
        (p, q)
        for p in np.flatnonzero(rows.is_positive).tolist()
        for q in np.flatnonzero(~rows.is_positive).tolist()
        if usable[p].any() and not ((usable[p] == 1) & (usable[q] == 0)).any()
    }
    assert len(expected) > 20
    assert set(map(tuple, found.pairs.tolist())) == expected
