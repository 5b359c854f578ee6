"""Bounds that any multipliers prove."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from shortlist.methods.integer.dual_bounds import IntegerRows, dual_bound

SMALL = st.integers(-5, 5)


@given(data=st.data())
def test_whatever_the_multipliers_no_solution_is_cut_off(data: st.DataObject) -> None:
    n_rows, n_columns = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    numbers = st.lists(SMALL, min_size=n_columns, max_size=n_columns)
    matrix = np.array([data.draw(numbers) for _ in range(n_rows)])
    costs = np.array(data.draw(numbers))
    multipliers = st.floats(-1e4, 1e4) | st.just(np.nan) | st.just(np.inf)
    duals = np.array([data.draw(multipliers) for _ in range(n_rows)])
    lower = np.array([data.draw(SMALL) for _ in range(n_rows)], dtype=float)
    limits = np.where(lower < -3, -np.inf, lower), lower + data.draw(st.sampled_from([0.0, 3.0, np.inf]))
    bounds = -np.ones(n_columns), np.full(n_columns, 2.0)
    most = data.draw(st.integers(-20, 20))

    found = dual_bound(costs, IntegerRows(sparse.csr_array(matrix)), limits, bounds, duals)

    assert found is not None
    left = found.bounds_within(most, bounds, np.ones(n_columns, dtype=bool))
    for columns in itertools.product(range(-1, 3), repeat=n_columns):
        sums = matrix @ columns
        if not ((limits[0] <= sums) & (sums <= limits[1])).all():
            continue
        value = int(costs @ columns)
        assert found.scale * value >= found.bound
        if value <= most:
            assert left is not None
            assert (left[0] <= columns).all()
            assert (columns <= left[1]).all()


def test_the_duals_of_a_linear_program_prove_its_optimum_and_fix_what_costs_more() -> None:
    rows = IntegerRows(sparse.csr_array(np.array([[2, 3, 1]])))
    limits, bounds = (np.array([4.0]), np.array([np.inf])), (np.zeros(3), np.full(3, 5.0))

    found = dual_bound(np.array([2, 4, 9]), rows, limits, bounds, np.array([1.0]))

    assert found is not None
    assert found.bound == 4 * found.scale
    left = found.bounds_within(5, bounds, np.ones(3, dtype=bool))
    assert left is not None
    assert left[1].tolist() == [5, 1, 0]
    assert found.bounds_within(3, bounds, np.ones(3, dtype=bool)) is None


def test_a_column_without_a_bound_and_numbers_beyond_integers_prove_nothing() -> None:
    rows = IntegerRows(sparse.csr_array(np.array([[1]])))
    limits = np.array([-np.inf]), np.array([3.0])

    endless = (np.zeros(1), np.full(1, np.inf))
    assert dual_bound(np.array([-1]), rows, limits, endless, np.zeros(1)) is None
    assert (
        dual_bound(np.array([2**52]), rows, limits, (np.zeros(1), np.full(1, 2.0**52)), np.zeros(1)) is None
    )
