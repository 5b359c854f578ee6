"""Hit-and-run: the distribution on a simplex, and hulls of any dimension."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.errors import BadInputError
from shortlist.methods.solrep.reference_points import autocorrelation, hit_and_run, hull_of, neighbour_order

vectors = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(st.integers(-3, 3), min_size=n, max_size=n), min_size=1, max_size=5)
)


@pytest.mark.parametrize("n", [2, 3, 4], ids=["segment", "triangle", "tetrahedron"])
def test_points_are_uniform_on_a_simplex_with_very_different_units(n: int) -> None:
    sizes = 10.0 ** np.arange(n)
    walk = hit_and_run(np.diag(sizes), 3000, rng=np.random.default_rng(5), thinning=20)
    shares = walk / sizes

    # uniform on the simplex is Dirichlet(1, ..., 1): each share is Beta(1, n - 1)
    assert (shares > -1e-9).all()
    assert shares.sum(axis=1) == pytest.approx(1.0)
    for share in shares.T:
        levels = np.linspace(0.05, 0.95, 19)
        empirical = (share[:, None] <= levels).mean(axis=0)
        assert np.abs(empirical - (1 - (1 - levels) ** (n - 1))).max() < 0.04
    covariance = np.cov(shares.T)
    assert covariance[0, 1] == pytest.approx(-1 / (n * n * (n + 1)), rel=0.15)


def test_a_square_given_by_four_corners_is_filled_evenly() -> None:
    walk = hit_and_run(
        [[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]], 3000, rng=np.random.default_rng(2), thinning=10
    )

    assert (walk[:, 2] == 1).all()
    counts, _, _ = np.histogram2d(walk[:, 0], walk[:, 1], bins=3, range=[[0, 1], [0, 1]])
    assert counts.sum() == 3000
    assert np.abs(counts / 3000 - 1 / 9).max() < 0.03


def test_corners_whose_distances_are_small_beside_their_size_span_no_more_than_they_do() -> None:
    corners = np.array([[0, 1], [1, 3], [3, 0]]) + np.array([10.0**13, 3 * 10.0**12])
    corners = np.column_stack([corners, [5.0, 6.0, 8.0]])

    assert hull_of(corners).dimension == 2
    assert hull_of(corners[:2]).dimension == 1


@given(corners=vectors)
def test_every_point_is_a_convex_combination_whatever_the_position_of_the_corners(
    corners: list[list[int]],
) -> None:
    from scipy.optimize import linprog

    array = np.array(corners, dtype=float)
    walk = hit_and_run(array, 3, rng=np.random.default_rng(1), thinning=2, burn_in=5)

    assert hull_of(array).dimension == np.linalg.matrix_rank(array - array[0])
    for point in walk:
        equations = np.vstack([array.T, np.ones(len(array))])
        slack = np.hstack([equations, np.eye(len(equations)), -np.eye(len(equations))])
        costs = np.concatenate([np.zeros(len(array)), np.ones(2 * len(equations))])
        assert linprog(costs, A_eq=slack, b_eq=np.append(point, 1)).fun < 1e-6


def test_equal_corners_give_equal_points() -> None:
    assert hit_and_run([[3, 7], [3, 7]], 2, rng=np.random.default_rng(0)).tolist() == [[3, 7], [3, 7]]


def test_thinning_lowers_the_autocorrelation_and_the_seed_decides() -> None:
    def walk(thinning: int) -> np.ndarray:
        return hit_and_run(np.eye(4), 2000, rng=np.random.default_rng(3), thinning=thinning)

    assert autocorrelation(walk(1)) > 0.7
    assert abs(autocorrelation(walk(20))) < 0.1
    assert np.array_equal(walk(2), walk(2))


def test_autocorrelation_is_the_textbook_one() -> None:
    series = np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0], [1.0, 5.0]])
    centred = series[:, 0] - 2
    expected = sum(a * b for a, b in itertools.pairwise(centred)) / (centred**2).sum()

    assert autocorrelation(series) == pytest.approx(expected)
    assert autocorrelation(series[:1]) == 0


@given(points=st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), max_size=8))
def test_the_order_of_neighbours_goes_to_the_nearest_left(points: list[list[int]]) -> None:
    array = np.array(points, dtype=np.int64).reshape(-1, 2)
    order = neighbour_order(array)

    assert sorted(order) == list(range(len(points)))
    extent = np.ptp(array, axis=0) if len(array) else np.ones(2)
    places = array / np.where(extent > 0, extent, 1)
    for i in range(1, len(order)):
        distances = ((places[order[i:]] - places[order[i - 1]]) ** 2).sum(axis=1)
        assert distances[0] == distances.min()


def test_wrong_vectors_are_named() -> None:
    with pytest.raises(BadInputError, match="vectors must be finite"):
        hull_of([1, 2])
