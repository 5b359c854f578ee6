"""Cuts are true of every selection, and false ones are refused."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import named_weights
from shortlist.ensembles.proofs.certificate import Cut, make_cut, proves
from shortlist.ensembles.proofs.row_forms import RightRows, normalise
from shortlist.ensembles.votes.hard_votes import merge_rows
from tests.ensembles import bound_oracles
from tests.ensembles.strategies import right_rows, tightened
from tests.examples import examples


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
