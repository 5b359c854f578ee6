"""Hit-and-run: the distribution on a simplex, and planes of any dimension."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from shortlist.methods.integer.bounded_solves import LimitReachedError
from shortlist.methods.integer.integer_objectives import integer_objectives
from shortlist.methods.solrep.reference_points import (
    LENGTH_STEP,
    PLACE_STEP,
    Between,
    JumpLimits,
    hit_and_run,
    neighbour_order,
    plane_dimension,
    plane_scales,
)
from shortlist.milp.program import LinearObjective, Program, make_program
from shortlist.results.objective import Objective
from shortlist.runs import Budget, Cancellation
from tests.examples import examples
from tests.methods import oracles
from tests.methods.strategies import multiobjective_programs

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


APART = 2 * LENGTH_STEP
"""Limits lie inside the true ones by less than two steps."""


def with_linprog(program: Program, place: Floats, direction: Floats) -> tuple[float, float]:
    """Return the limits by SciPy: every constraint written out, one program after the other."""
    costs = integer_objectives(program).costs.astype(float)
    n = program.n_columns
    rows = program.rows.toarray()
    upper, lower = np.isfinite(program.row_upper), np.isfinite(program.row_lower)
    at_most = np.vstack([rows[upper], -rows[lower]])
    limits = np.concatenate([program.row_upper[upper], -program.row_lower[lower]])
    ends = []
    for sign in (1, -1):
        found = linprog(
            np.append(np.zeros(n), sign),
            A_ub=np.column_stack([at_most, np.zeros(len(at_most))]) if len(at_most) else None,
            b_ub=limits if len(at_most) else None,
            A_eq=np.column_stack([costs, -direction]),
            b_eq=place,
            bounds=[*zip(program.column_lower, program.column_upper, strict=True), (None, None)],
        )
        ends.append(sign * found.fun if found.success else 0.0)
    return ends[0], ends[1]


def limits_of(program: Program) -> JumpLimits:
    n = len(program.objectives)
    return JumpLimits(program, np.zeros(n, dtype=np.int64), np.ones(n), Budget())


def feasible_vectors(program: Program) -> Floats:
    ranges = [
        range(int(low), int(high) + 1)
        for low, high in zip(program.column_lower, program.column_upper, strict=True)
    ]
    integers = integer_objectives(program)
    solutions = [x for x in itertools.product(*ranges) if oracles.is_feasible(program, x)]
    return np.array([integers.vector(np.array(x, dtype=float)) for x in solutions], dtype=float)


@given(program=multiobjective_programs(max_columns=4), seed=st.integers(0, 99))
@examples(30)
def test_limits_are_those_of_the_linear_programs_written_out_whatever_was_asked_before(
    program: Program, seed: int
) -> None:
    vectors = feasible_vectors(program)
    assume(len(vectors))
    rng = np.random.default_rng(seed)
    kept = limits_of(program)
    for _ in range(3):
        place = rng.dirichlet(np.ones(len(vectors))) @ vectors
        drawn = rng.standard_normal((vectors.shape[1],))
        direction: Floats = drawn / np.linalg.norm(drawn)
        low, high = kept.between(place, direction)
        least, most = with_linprog(program, place, direction)

        assert (low, high) == limits_of(program).between(place, direction)
        assert -1e-6 <= low - min(least, 0.0) <= APART + 1e-6
        assert -1e-6 <= max(most, 0.0) - high <= APART + 1e-6
        assert low <= 0 <= high


@given(
    costs=st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), min_size=2, max_size=3),
    pairs=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=3),
    seed=st.integers(0, 9),
)
@examples(30)
def test_where_the_relaxation_is_integral_limits_are_those_of_the_hull_of_all_products(
    costs: list[list[int]], pairs: list[tuple[int, int]], seed: int
) -> None:
    rows = np.zeros((len(pairs), 4))  # x_a <= x_b: every corner of such constraints is whole
    for row, (a, b) in zip(rows, pairs, strict=True):
        row[a] += 1
        row[b] -= 1
    program = make_program(
        rows, row_lower=-np.inf, row_upper=0, column_lower=0, column_upper=1, integer=True,
        objectives=[LinearObjective(Objective(f"f{i}"), np.array(row, dtype=float)) for i, row in enumerate(costs)],
    )  # fmt: skip
    vectors = feasible_vectors(program)
    rng = np.random.default_rng(seed)
    place = rng.dirichlet(np.ones(len(vectors))) @ vectors
    direction = rng.choice(vectors) - place
    low, high = limits_of(program).between(place, direction)

    # shares of all products, and the length
    equations = np.column_stack([np.vstack([vectors.T, np.ones(len(vectors))]), np.append(-direction, 0)])
    bounds = [(0, None)] * len(vectors) + [(None, None)]
    for sign, end in ((1, low), (-1, high)):
        found = linprog(
            np.append(np.zeros(len(vectors)), sign), A_eq=equations, b_eq=np.append(place, 1), bounds=bounds
        )
        expected = sign * found.fun if found.success else 0.0  # without an end where the direction is 0
        assert abs(end - expected) <= APART + 1e-6
        assert abs(end) <= abs(expected) + 1e-6


def test_a_limit_that_is_a_round_number_does_not_hang_on_its_last_digit() -> None:
    objectives = [
        LinearObjective(Objective(name), costs) for name, costs in (("a", np.eye(2)[0]), ("b", np.eye(2)[1]))
    ]
    program = make_program(
        np.zeros((0, 2)), row_lower=0, row_upper=0, column_lower=0, column_upper=1, integer=True, objectives=objectives
    )  # fmt: skip
    limits = limits_of(program)
    ends = {
        limits.between(np.array([0.5 + tiny, 0.25]), np.array([1.0, 0.0]))
        for tiny in (0.0, 1e-13, -1e-13, 3e-12, -3e-12)
    }
    assert len(ends) == 1


def test_numbers_too_large_for_the_solver_allow_no_step() -> None:
    objectives = [
        LinearObjective(Objective(name), np.array(costs))
        for name, costs in (("a", [1e12, 1e12 + 1]), ("b", [4.0, 1.0]))
    ]
    program = make_program(
        [[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True, objectives=objectives
    )  # fmt: skip
    assert limits_of(program).between(np.array([1e12, 2.0]), np.array([1.0, 0.0])) == (0.0, 0.0)


def test_a_direction_without_an_end_allows_no_step() -> None:
    objectives = [LinearObjective(Objective(name), np.array([1.0])) for name in ("a", "b")]
    program = make_program(
        [[1]], row_lower=0, row_upper=np.inf, column_lower=0, column_upper=np.inf, integer=True, objectives=objectives
    )  # fmt: skip
    low, high = limits_of(program).between(np.array([2.0, 2.0]), np.array([1.0, 1.0]))
    assert low == pytest.approx(-2, abs=APART)
    assert high == 0


def test_the_budget_ends_the_walk() -> None:
    program = make_program(
        [[1, 1]], row_lower=1, row_upper=2, column_lower=0, column_upper=1, integer=True,
        objectives=[LinearObjective(Objective(name), row) for name, row in zip("ab", np.eye(2), strict=True)],
    )  # fmt: skip
    cancellation = Cancellation()
    stopped = Budget(cancellation=cancellation)
    late = Budget(1.0, clock=lambda: math.inf, start=0.0)
    cancellation.cancel()
    for budget, limit in ((stopped, "interrupted"), (late, "1 s")):
        limits = JumpLimits(program, np.zeros(2, dtype=np.int64), np.ones(2), budget)
        with pytest.raises(LimitReachedError, match=limit):
            limits.between(np.array([0.5, 0.5]), np.array([1.0, 0.0]))
