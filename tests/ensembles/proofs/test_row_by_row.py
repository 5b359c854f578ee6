"""Rows asked for one by one, against the linear program written plainly and against brute force."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from shortlist.ensembles.goals.selection_limits import selection_limits
from shortlist.ensembles.goals.weights import named_weights
from shortlist.ensembles.proofs.certificate import proves
from shortlist.ensembles.proofs.row_by_row import AskedRows, CutSettings, row_by_row, whole_cut
from shortlist.ensembles.proofs.row_forms import RightRows, normalise
from shortlist.ensembles.votes.hard_votes import merge_rows
from shortlist.runs.budget import Budget
from tests.ensembles import bound_oracles
from tests.ensembles.strategies import right_rows


def can_be_right(rows: RightRows, wanted: np.ndarray) -> bool:
    """Whether weights in [0, 1] within the sizes, and a threshold, keep all forms of the wanted rows: one plain program."""
    k = rows.n_classifiers
    asked = wanted[rows.row_of]
    left = -np.column_stack([rows.signs[asked], rows.levels[asked]]).astype(float)  # left @ (x, L) <= right
    usable = rows.affordable.astype(float)
    left = np.vstack([left, np.append(-np.ones(k), 1.0), np.append(usable, 0.0), np.append(-usable, 0.0)])
    right = np.concatenate([-rows.least[asked].astype(float), [0.0, rows.most_members, -rows.least_members]])
    bounds = [(0.0, float(one)) for one in rows.affordable] + [(0.0, float(k))]
    return bool(linprog(np.zeros(k + 1), A_ub=left, b_ub=right, bounds=bounds).status == 0)


@given(rows=right_rows, data=st.data())
def test_asked_rows_are_infeasible_where_a_plain_program_is(rows: RightRows, data: st.DataObject) -> None:
    program = AskedRows(rows, np.arange(rows.n_rows))
    several = st.lists(st.booleans(), min_size=rows.n_rows, max_size=rows.n_rows)
    for chosen in data.draw(st.lists(several, min_size=1, max_size=3)):
        wanted = np.array(chosen, dtype=bool)  # in one program, which rows enter and leave
        program.ask(wanted)
        solution = program.solve(Budget())

        assert solution.optimal == can_be_right(rows, wanted)
        if solution.optimal:
            assert (program.shortfall(solution.values)[wanted] <= 1e-4).all()
        elif solution.ray is not None:
            y = program.multipliers(solution.ray)
            assert not y[~wanted[rows.row_of]].any()


@given(rows=right_rows, data=st.data())
def test_every_cut_is_violated_proved_and_kept_by_every_selection(
    rows: RightRows, data: st.DataObject
) -> None:
    share = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
    t = np.array(data.draw(st.lists(share, min_size=rows.n_rows, max_size=rows.n_rows)))
    program = AskedRows(rows, np.arange(rows.n_rows))
    right = bound_oracles.right_sets(rows)
    for y in row_by_row(
        rows, program, t, rng=np.random.default_rng(0), budget=Budget(), settings=CutSettings(asked_tries=5)
    ):
        assert (1 - t[np.unique(rows.row_of[y > 0])]).sum() < 1
        cut = whole_cut(rows, y)
        if cut is not None:
            assert proves(rows, cut)
            assert not any(one[list(cut.rows)].all() for one in right)


def test_rows_that_are_surely_right_give_disjoint_cuts() -> None:
    # one classifier that is wrong on both rows of either pair
    votes = merge_rows([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1]], [1, 0, 1, 0])
    rows = normalise(votes, named_weights("accuracy", votes), selection_limits(3))
    program = AskedRows(rows, np.arange(4))
    found = [
        tuple(np.flatnonzero(y).tolist())
        for y in row_by_row(
            rows,
            program,
            np.ones(4),
            rng=np.random.default_rng(0),
            budget=Budget(),
            settings=CutSettings(asked_tries=5),
        )
    ]

    assert sorted(found) == [(0, 1), (2, 3)]


def test_the_same_seed_finds_the_same_rows() -> None:
    rng = np.random.default_rng(0)
    votes = merge_rows(rng.integers(0, 2, (40, 8)), rng.integers(0, 2, 40))
    rows = normalise(votes, named_weights("accuracy", votes), selection_limits(8))
    t = np.full(rows.n_rows, 0.8)

    def found() -> list[list[float]]:
        program = AskedRows(rows, np.arange(rows.n_rows))
        return [
            y.tolist()
            for y in row_by_row(
                rows,
                program,
                t,
                rng=np.random.default_rng(1),
                budget=Budget(),
                settings=CutSettings(asked_tries=6),
            )
        ]

    assert found() == found()
    assert found()
