"""The search of parts in integers against trying every solution."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from shortlist.methods.integer.branching import MOST_STEPS, PartBounds, SearchedPart, best_of_part
from shortlist.methods.integer.dual_bounds import DualBound, IntegerRows, Interval, dual_bound
from tests.examples import examples

SMALL = st.integers(-4, 4)


def searched(
    matrix: np.ndarray,
    part: PartBounds,
    costs: np.ndarray,
    found: DualBound,
    most: int,
    *,
    max_nodes: int = 10_000,
) -> SearchedPart:
    """Return what the search says, which must not be too large for it."""
    answer = best_of_part(
        IntegerRows(sparse.csr_array(matrix)), part, costs, found, most, max_nodes=max_nodes
    )
    assert answer is not None
    return answer


def tried(matrix: np.ndarray, limits: Interval, bounds: Interval, costs: np.ndarray) -> int | None:
    """Return the least cost of all solutions, None if there is none."""
    ranges = [range(int(low), int(high) + 1) for low, high in zip(*bounds, strict=True)]
    sums = [
        int(costs @ columns)
        for columns in map(np.array, itertools.product(*ranges))
        if (matrix @ columns >= limits[0]).all() and (matrix @ columns <= limits[1]).all()
    ]
    return min(sums, default=None)


@given(data=st.data())
@examples(150)
def test_the_best_solution_is_that_of_trying_all(data: st.DataObject) -> None:
    n_rows, n_columns = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 6))
    entries = SMALL | st.just(1)
    covers = st.lists(st.integers(0, 1), min_size=n_columns, max_size=n_columns)
    rows = covers | st.lists(entries, min_size=n_columns, max_size=n_columns)
    matrix = np.array([data.draw(rows) for _ in range(n_rows)])
    costs = np.array(data.draw(st.lists(SMALL, min_size=n_columns, max_size=n_columns)))
    lower = np.array([data.draw(st.integers(-3, 3)) for _ in range(n_rows)], dtype=float)
    width = np.array([data.draw(st.sampled_from([0.0, 0.0, 2.0, np.inf])) for _ in range(n_rows)])
    limits = np.where(lower < -2, -np.inf, lower), lower + width
    low = np.array([data.draw(st.integers(-1, 0)) for _ in range(n_columns)], dtype=float)
    bounds = low, low + [data.draw(st.integers(0, 2)) for _ in range(n_columns)]
    duals = np.array([data.draw(st.floats(-3, 3)) for _ in range(n_rows)])
    found = dual_bound(costs, IntegerRows(sparse.csr_array(matrix)), limits, bounds, duals)
    assert found is not None
    most = data.draw(st.integers(-15, 15))
    left = found.bounds_within(most, bounds, np.ones(n_columns, dtype=bool))
    least = tried(matrix, limits, bounds, costs)

    if left is None:
        assert least is None or least > most
        return
    answer = searched(matrix, PartBounds(limits, left, bounds), costs, found, most)

    assert answer.finished
    if least is None or least > most:
        assert answer.values is None
        return
    assert answer.values is not None
    assert int(costs @ answer.values) == least
    here = answer.values.astype(float)
    assert tried(matrix, limits, (here, here), costs) == least


def assignment(seed: int, n: int = 7) -> tuple[np.ndarray, PartBounds, np.ndarray, DualBound]:
    """Return an assignment problem with a second objective bounded, and multipliers of 0."""
    rng = np.random.default_rng(seed)
    ones = np.vstack([np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))])
    matrix = np.vstack([ones, rng.integers(0, 16, n * n)]).astype(np.int64)
    limits = np.append(np.ones(2 * n), -np.inf), np.append(np.ones(2 * n), 5.0 * n)
    bounds = np.zeros(n * n), np.ones(n * n)
    costs = rng.integers(0, 16, n * n)
    found = dual_bound(costs, IntegerRows(sparse.csr_array(matrix)), limits, bounds, np.zeros(2 * n + 1))
    assert found is not None
    return matrix, PartBounds(limits, bounds, bounds), costs, found


@pytest.mark.parametrize("seed", range(3))
def test_an_assignment_is_solved_as_by_trying_all_permutations(seed: int) -> None:
    matrix, part, costs, found = assignment(seed)
    n = 7
    table, other = costs.reshape(n, n), matrix[-1].reshape(n, n)
    rows = np.arange(n)
    least = min(
        int(table[rows, order].sum())
        for order in map(list, itertools.permutations(range(n)))
        if other[rows, order].sum() <= part.limits[1][-1]
    )

    assert int(costs @ searched(matrix, part, costs, found, 10_000).values) == least
    assert searched(matrix, part, costs, found, least).values is not None
    below = searched(matrix, part, costs, found, least - 1)
    assert below.finished
    assert below.values is None


def test_a_search_without_the_nodes_that_it_needs_proves_nothing() -> None:
    matrix, part, costs, found = assignment(0)

    answers = [
        searched(matrix, part, costs, found, 10_000, max_nodes=max_nodes) for max_nodes in (0, 5, 10_000)
    ]

    assert [answer.finished for answer in answers] == [False, False, True]
    assert answers[0].values is None


def test_columns_with_too_many_values_are_left_to_a_solver() -> None:
    matrix = np.array([[1, 1]])
    limits, bounds = (np.array([1.0]), np.array([np.inf])), (np.zeros(2), np.array([1.0, MOST_STEPS]))
    costs, rows = np.array([1, 1]), IntegerRows(sparse.csr_array(matrix))
    found = dual_bound(costs, rows, limits, bounds, np.ones(1))
    assert found is not None

    assert best_of_part(rows, PartBounds(limits, bounds, bounds), costs, found, 3, max_nodes=10) is None


def test_costs_beyond_64_bits_are_left_to_a_solver() -> None:
    matrix, part, costs, found = assignment(0)
    rows = IntegerRows(sparse.csr_array(matrix))

    assert best_of_part(rows, part, costs, found, 2**61 // found.scale + 2**20, max_nodes=10) is None
    assert best_of_part(rows, part, costs, found, 2**59 // found.scale, max_nodes=10) is not None
