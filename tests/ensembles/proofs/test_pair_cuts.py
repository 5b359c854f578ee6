"""Pair cuts are true of every selection, the most violated ones are found, and their bounds hold."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.ensembles.proofs.certificate import Cut, cut_terms, proves
from shortlist.ensembles.proofs.pair_cuts import PairSettings, bound_by_pairs, most_violated, violated_pairs
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.runs.budget import Budget
from tests.ensembles import bound_oracles
from tests.ensembles.strategies import class_problems, noisy_rows, right_rows, two_classes
from tests.examples import examples

EVERY = PairSettings(at_once=10_000, least_violation=1e-9)


def excess(rows: RightRows, cut: Cut, members: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """Excess by which a point violates a cut, written out; -inf where the cut says nothing."""
    w, wanted, kept = [0] * rows.n_classifiers, 0, set(cut.kept or ())
    for form, y in zip(cut.forms, cut.multipliers, strict=True):
        wanted += y * int(rows.least[form])
        for k in range(rows.n_classifiers):
            w[k] += y * int(rows.signs[form, k])
    level = max(
        0, sum(y * int(rows.levels[form]) for form, y in zip(cut.forms, cut.multipliers, strict=True))
    )
    w = [one + level if rows.affordable[k] else 0 for k, one in enumerate(w)]
    reach = wanted
    for k, one in enumerate(w):
        reach += -min(0, one) if k in kept else -max(0, one)
    if reach < 1:
        return -np.inf
    left = 0.0
    for k in kept:
        left += min(abs(w[k]), reach) * float(members[k] if w[k] > 0 else 1 - members[k])
    return reach * (sum(float(right[row]) for row in cut.rows) - len(cut.rows) + 1) - left


@pytest.mark.slow
@examples(1000)
@given(rows=right_rows, data=st.data())
def test_no_selection_violates_a_cut_with_kept_classifiers(rows: RightRows, data: st.DataObject) -> None:
    masks = list(bound_oracles.selections(rows))
    if not rows.n_rows or not masks:
        return
    forms = sorted(data.draw(st.sets(st.integers(0, rows.n_forms - 1), min_size=1, max_size=3)))
    y = tuple(data.draw(st.integers(1, 2)) for _ in forms)
    kept = data.draw(st.sets(st.integers(0, rows.n_classifiers - 1)))
    cut = Cut(tuple(np.unique(rows.row_of[forms]).tolist()), tuple(forms), y, tuple(sorted(kept)))
    if not proves(rows, cut):
        return

    terms = cut_terms(rows, cut)
    for mask in masks:
        for threshold in range(int(mask.sum()) + 1 if rows.has_threshold else 1):
            right = bound_oracles.right_rows(rows, mask, threshold)
            together = int(right[list(cut.rows)].sum()) - len(cut.rows) + 1
            assert int(terms.coefficients @ mask) + terms.against >= terms.reach * together
            assert excess(rows, cut, mask.astype(np.float64), right.astype(np.float64)) <= 0


@pytest.mark.slow
@examples(60)
@given(rows=two_classes | class_problems(max_classifiers=4), data=st.data())
def test_the_most_violated_cut_of_every_pair_is_found(rows: RightRows, data: st.DataObject) -> None:
    quarters = st.integers(0, 4).map(lambda quarter: quarter / 4)
    members = np.array(
        data.draw(st.lists(quarters, min_size=rows.n_classifiers, max_size=rows.n_classifiers))
    )
    members[~rows.affordable] = 0
    right = np.array(data.draw(st.lists(quarters, min_size=rows.n_rows, max_size=rows.n_rows)))
    if not rows.n_rows:
        return

    found = {cut.forms: cut for cut in violated_pairs(rows, members, right, EVERY)}

    for p, q in itertools.combinations(range(rows.n_forms), 2):
        if rows.row_of[p] == rows.row_of[q] or rows.levels[p] + rows.levels[q]:
            continue
        pair = (int(rows.row_of[p]), int(rows.row_of[q]))
        worst = max(
            excess(rows, Cut(pair, (p, q), (1, 1), kept), members, right)
            for size in range(rows.n_classifiers + 1)
            for kept in itertools.combinations(range(rows.n_classifiers), size)
        )
        if rows.has_threshold:  # no coefficient is above 1, so that none is lowered
            best = most_violated(rows, members, right, p, q)
            assert ((p, q) in found) == (worst > 1e-9)
            assert worst <= 0 or excess(rows, best, members, right) == pytest.approx(worst)
        elif (p, q) in found:
            assert excess(rows, found[p, q], members, right) > 0


@pytest.mark.slow
@examples(300)
@given(rows=right_rows)
def test_the_bound_is_proved_and_no_selection_is_above_it(rows: RightRows) -> None:
    bound = bound_by_pairs(rows, Budget())

    best = bound_oracles.best_gain(rows)
    assert best is None or bound.bound >= best
    assert bound.bound <= rows.total_gain
    assert bound_oracles.certified_bound(rows, bound) == bound.bound
    assert all(proves(rows, cut) for cut in bound.pool)


def test_pairs_bound_closer_than_all_gain_and_stop_at_a_target() -> None:
    rows = noisy_rows()
    heard: list[int] = []

    bound = bound_by_pairs(rows, Budget(), on_bound=heard.append)
    stopped = bound_by_pairs(rows, Budget(), target=bound.bound + 2)

    assert heard == sorted(heard, reverse=True)
    assert heard[-1] == bound.bound < rows.total_gain
    assert bound.bound <= stopped.bound <= bound.bound + 2
