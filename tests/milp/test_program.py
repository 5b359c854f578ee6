import math

import numpy as np
import pytest
from scipy import sparse

from shortlist.errors import BadInputError
from shortlist.milp import LinearObjective, Program, make_program
from shortlist.results.objective import Objective, Sense


def small(**changes: object) -> Program:
    parts: dict[str, object] = {
        "row_lower": 0,
        "row_upper": [1, 2],
        "column_lower": 0,
        "column_upper": 1,
        "integer": True,
    }
    return make_program([[1, 0, 2], [0, 0.5, 0]], **(parts | changes))  # type: ignore[arg-type]  # wrong ones on purpose


def test_one_number_stands_for_every_row_or_column() -> None:
    program = small()
    assert (program.n_rows, program.n_columns) == (2, 3)
    np.testing.assert_array_equal(program.row_lower, [0, 0])
    np.testing.assert_array_equal(program.column_upper, [1, 1, 1])
    np.testing.assert_array_equal(program.integer, [True, True, True])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csc_array, sparse.coo_matrix, np.ndarray.tolist])
def test_rows_come_in_any_form(kind: type) -> None:
    rows = np.array([[1.0, 0.0], [0.0, -2.0]])
    program = make_program(
        kind(rows), row_lower=0, row_upper=1, column_lower=0, column_upper=1, integer=[True, False]
    )
    np.testing.assert_array_equal(program.rows.toarray(), rows)


def test_entries_given_twice_are_added() -> None:
    rows = sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2))
    program = make_program(rows, row_lower=0, row_upper=1, column_lower=0, column_upper=1, integer=True)
    np.testing.assert_array_equal(program.rows.toarray(), [[0, 3]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"row_upper": [1, 2, 3]}, r"row_upper must be one number or 2 of them"),
        ({"column_lower": math.nan}, r"column_lower must be one number or 3 of them, not NaN"),
        ({"objectives": [LinearObjective(Objective("cost"), np.zeros(2))]}, r"costs of objective 'cost' must be 3"),
        ({"objectives": [LinearObjective(Objective("cost"), np.full(3, math.inf))]}, r"must be 3 finite numbers"),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        small(**changes)


def test_infinite_coefficients_are_refused() -> None:
    with pytest.raises(BadInputError, match="rows must hold finite numbers"):
        make_program([[math.inf]], row_lower=0, row_upper=1, column_lower=0, column_upper=1, integer=True)


def test_only_rows_of_integers_are_integral() -> None:
    program = make_program(
        [[1, 0, 2], [0, 0.5, 0], [0, 0, 0], [3, 1, 0], [0, 0, 1]],
        row_lower=0,
        row_upper=1,
        column_lower=0,
        column_upper=1,
        integer=[True, False, True],
    )
    np.testing.assert_array_equal(program.integral_rows(), [True, False, True, False, True])


def test_rows_are_added_below() -> None:
    program = small().with_rows([[1, 1, 1]], 1, math.inf)
    assert program.n_rows == 3
    np.testing.assert_array_equal(program.rows.toarray()[2], [1, 1, 1])
    np.testing.assert_array_equal(program.row_upper, [1, 2, math.inf])


def test_costs_are_turned_to_minimise() -> None:
    costs = np.array([1.0, -2.0, 0.0])
    program = small(
        objectives=[
            LinearObjective(Objective("price"), costs),
            LinearObjective(Objective("profit", Sense.MAX), costs),
        ]
    )
    np.testing.assert_array_equal(program.minimised_costs(), [costs, -costs])
    assert small().minimised_costs().shape == (0, 3)
