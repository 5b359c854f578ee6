import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.milp import Program, make_program
from shortlist.milp.implied_bounds import implied_bounds
from tests.milp import oracles, strategies

inf = math.inf


@given(program=strategies.programs(), data=st.data())
def test_no_solution_is_lost(program: Program, data: st.DataObject) -> None:
    solutions = [
        np.array(point)
        for point in oracles.grid(program)
        if (program.rows @ point >= program.row_lower).all()
        and (program.rows @ point <= program.row_upper).all()
    ]
    ends = st.lists(st.booleans(), min_size=program.n_columns, max_size=program.n_columns)
    opened = make_program(
        program.rows,
        row_lower=program.row_lower,
        row_upper=program.row_upper,
        column_lower=np.where(data.draw(ends), -inf, program.column_lower),
        column_upper=np.where(data.draw(ends), inf, program.column_upper),
        integer=True,
    )
    lower, upper = implied_bounds(opened)
    for point in solutions:
        assert (lower <= point + 1e-9).all()
        assert (point <= upper + 1e-9).all()
    finite = np.isfinite(opened.column_lower)
    np.testing.assert_array_equal(lower[finite], opened.column_lower[finite])


def test_bounds_travel_from_row_to_row() -> None:
    program = make_program(
        [[1, 0, 0], [-2, 1, 0], [0, 1, 3]],
        row_lower=[-inf, -inf, 1],
        row_upper=[4, 0, 10],
        column_lower=[0, -inf, -inf],
        column_upper=inf,
        integer=False,
    )
    lower, upper = implied_bounds(program)
    np.testing.assert_allclose(upper, [4, 8, inf])
    np.testing.assert_allclose(lower, [0, -inf, -7 / 3])


def test_what_no_row_bounds_stays_open() -> None:
    program = make_program(
        [[1, -1]], row_lower=0, row_upper=0, column_lower=0, column_upper=inf, integer=True
    )
    np.testing.assert_array_equal(implied_bounds(program)[1], [inf, inf])
