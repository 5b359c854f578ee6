"""Hit-and-run: the distribution on a simplex, and planes of any dimension."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.methods.solrep.reference_points import (
    PLACE_STEP,
    Between,
    hit_and_run,
    neighbour_order,
    plane_dimension,
    plane_scales,
)

Floats = NDArray[np.float64]
vectors = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(st.integers(-3, 3), min_size=n, max_size=n), min_size=1, max_size=5)
)


def inside(rows: Floats, limits: Floats) -> Between:
    """Allow what satisfies ``rows @ place <= limits``."""

    def between(place: Floats, direction: Floats) -> tuple[float, float]:
        slacks, rates = limits - rows @ place, rows @ direction
        ends = slacks / np.where(rates == 0, np.nan, rates)
        return float(np.nanmax(ends[rates < 0])), float(np.nanmin(ends[rates > 0]))

    return between


@pytest.mark.parametrize("n", [2, 3, 4], ids=["segment", "triangle", "tetrahedron"])
def test_points_are_uniform_on_a_simplex_with_very_different_units(n: int) -> None:
    sizes = 10 ** np.arange(2, n + 2)
    first = np.eye(n)[0]  # places are measured from the first anchor
    walk = hit_and_run(np.diag(sizes), 24_000, inside(-np.eye(n), first), rng=np.random.default_rng(5))
    shares = walk[::8] / sizes

    # uniform on the simplex is Dirichlet(1, ..., 1): each share is Beta(1, n - 1)
    assert (shares > -1e-9).all()
    assert shares.sum(axis=1) == pytest.approx(1.0)
    for share in shares.T:
        levels = np.linspace(0.05, 0.95, 19)
        empirical = (share[:, None] <= levels).mean(axis=0)
        assert np.abs(empirical - (1 - (1 - levels) ** (n - 1))).max() < 0.05
    covariance = np.cov(shares.T)
    assert covariance[0, 1] == pytest.approx(-1 / (n * n * (n + 1)), rel=0.2)


def test_what_is_allowed_beyond_the_hull_of_the_anchors_is_filled_evenly() -> None:
    anchors = np.array([[0, 0, 10], [10, 0, 10], [0, 10, 10], [0, 0, 10]])
    square = np.vstack([np.eye(3)[:2], -np.eye(3)[:2]])
    walk = hit_and_run(anchors, 9000, inside(square, np.array([1.0, 1, 0, 0])), rng=np.random.default_rng(2))

    assert (walk[:, 2] == 10).all()
    assert (walk[:, :2].sum(axis=1) > 10).any()  # outside the triangle of the anchors
    counts, _, _ = np.histogram2d(walk[:, 0], walk[:, 1], bins=3, range=[[0, 10], [0, 10]])
    assert counts.sum() == 9000
    assert np.abs(counts / 9000 - 1 / 9).max() < 0.03


@given(anchors=vectors, n_points=st.integers(0, 6), seed=st.integers(0, 9))
def test_each_step_stays_in_the_plane_and_between_its_limits(
    anchors: list[list[int]], n_points: int, seed: int
) -> None:
    array = np.array(anchors)
    scales = plane_scales(array)
    steps: list[tuple[Floats, Floats, float, float]] = []
    ends = np.random.default_rng(seed)

    def between(place: Floats, direction: Floats) -> tuple[float, float]:
        low, high = -ends.random(), ends.random()
        steps.append((place.copy(), direction.copy(), low, high))
        return low, high

    walk = hit_and_run(array, n_points, between, rng=np.random.default_rng(seed))

    assert len(walk) == n_points
    moves = plane_dimension(array) > 0
    assert len(steps) == (max(0, n_points - 1) if moves else 0)
    places = [*((walk - array[0]) / scales)]
    for (place, direction, low, high), begin, end in zip(steps, places, places[1:], strict=False):
        assert np.linalg.norm(direction) == pytest.approx(1)
        assert begin == pytest.approx(place)
        length = float((end - place) @ direction)
        assert low - 1e-9 <= length <= high + 1e-9
        assert end == pytest.approx(place + length * direction)
    spanned = np.vstack([(array - array[0]) / scales, *places])
    assert np.linalg.matrix_rank(spanned, tol=1e-7) == plane_dimension(array)
    if not moves:
        assert (walk == array[0]).all()


def test_places_are_multiples_of_a_small_step_so_that_last_digits_do_not_add_up() -> None:
    anchors = np.array([[0, 7, 3], [5, 0, 4], [2, 9, 0]])

    def walk(noise: float) -> Floats:
        return hit_and_run(anchors, 50, lambda *_: (-0.25 * (1 + noise), 0.25), rng=np.random.default_rng(3))

    places = (walk(0.0) - anchors[0]) / plane_scales(anchors) / PLACE_STEP
    assert np.abs(places - np.rint(places)).max() < 1e-3
    assert np.array_equal(walk(0.0), walk(1e-16))


def test_distances_that_are_small_beside_the_size_of_the_anchors_span_what_they_span() -> None:
    anchors = np.array([[0, 1, 5], [1, 3, 6], [3, 0, 8]]) + np.array([10**13, 3 * 10**12, 0])

    assert plane_dimension(anchors) == 2
    assert plane_dimension(anchors[:2]) == 1
    assert plane_dimension(anchors[[0, 0]]) == 0


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
