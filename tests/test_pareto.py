"""Dominance: the fast marks against comparing every pair."""

import csv
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.errors import BadInputError
from shortlist.pareto import (
    additive_epsilon,
    hypervolume,
    igd_plus,
    nondominated,
    nondominated_unique,
    scaled,
    spread,
)


@st.composite
def point_sets(draw: st.DrawFn) -> NDArray[np.int64]:
    n_objectives = draw(st.integers(1, 5))
    rows = draw(
        st.lists(st.lists(st.integers(-3, 3), min_size=n_objectives, max_size=n_objectives), max_size=25)
    )
    return np.array(rows, dtype=np.int64).reshape(len(rows), n_objectives)


def dominated_by_another(points: list[list[int]], index: int) -> bool:
    mine = points[index]
    return any(other != mine and all(a <= b for a, b in zip(other, mine, strict=True)) for other in points)


@given(points=point_sets())
def test_marks_equal_comparing_every_pair(points: NDArray[np.int64]) -> None:
    rows = points.tolist()
    expected = [not dominated_by_another(rows, i) for i in range(len(rows))]

    assert nondominated(points).tolist() == expected
    assert nondominated_unique(points).tolist() == [
        good and row not in rows[:i] for i, (good, row) in enumerate(zip(expected, rows, strict=True))
    ]


@given(points=point_sets(), data=st.data())
def test_adding_a_dominated_point_changes_no_mark(points: NDArray[np.int64], data: st.DataObject) -> None:
    if not len(points):
        return
    worse = points[data.draw(st.integers(0, len(points) - 1))] + 1
    marks = nondominated(np.vstack([points, worse]))

    assert marks[:-1].tolist() == nondominated(points).tolist()
    assert not marks[-1]


def test_the_argument_is_left_as_it_was() -> None:
    points = np.array([[1, 2], [2, 1]])
    points.flags.writeable = False

    assert nondominated(points).all()


def test_neighbouring_large_integers_are_told_apart() -> None:
    large = 2**53 - 2

    assert nondominated([[large, 0], [large + 1, 0]]).tolist() == [True, False]


@pytest.mark.parametrize(
    ("points", "message"),
    [
        pytest.param([1, 2], r"points must have shape \(n_points, n_objectives\), got \(2,\)", id="one point"),
        pytest.param([[1.0, np.nan]], "got NaN or infinity", id="not a number"),
        pytest.param([[2**53, 1]], "below 2\\^53", id="beyond doubles"),
        pytest.param([[-(2**53), 1]], "below 2\\^53", id="beyond doubles on the other side"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(points: list[object], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        nondominated(np.array(points))


SIDE = 4


@st.composite
def two_sets(draw: st.DrawFn) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    width = draw(st.integers(1, 4))
    row = st.lists(st.integers(0, SIDE), min_size=width, max_size=width)
    rows = st.lists(row, min_size=1, max_size=8)
    return np.array(draw(rows)), np.array(draw(rows))


@given(sets=two_sets())
def test_hypervolume_counts_the_unit_cubes_that_a_point_dominates(
    sets: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> None:
    points, _ = sets
    width = points.shape[1]
    corners = np.array(list(itertools.product(range(SIDE), repeat=width)))
    covered = (points[:, None, :] <= corners[None, :, :]).all(axis=2).any(axis=0)

    assert hypervolume(points, [SIDE] * width) == pytest.approx(covered.sum())


@given(sets=two_sets())
def test_epsilon_and_igd_plus_follow_their_definitions(
    sets: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> None:
    points, reference = sets
    worse = [
        [[p - r for p, r in zip(a, b, strict=True)] for a in points.tolist()] for b in reference.tolist()
    ]

    assert additive_epsilon(points, reference) == max(min(max(d) for d in ds) for ds in worse)
    assert igd_plus(points, reference) == pytest.approx(
        np.mean([min(sum(max(x, 0) ** 2 for x in d) ** 0.5 for d in ds) for ds in worse])
    )


def test_evenly_spaced_points_have_no_spread() -> None:
    assert spread([[0, 3], [1, 2], [2, 1], [3, 0]]) == pytest.approx(0)


def test_spread_depends_on_the_order_of_sorting_only_through_neighbours() -> None:
    points = [[0, 0, 5], [1, 3, 0], [2, 1, 1]]

    assert spread(points, order=[0, 1, 2]) != pytest.approx(spread(points, order=[1, 0, 2]))
    assert spread(points[::-1]) == pytest.approx(spread(points))


def test_spread_beside_a_reference_adds_the_distances_of_the_ends() -> None:
    points, reference = [[1.0, 4.0], [2.0, 2.0], [5.0, 1.0]], [[5.0, 0.0], [0.0, 6.0], [2.0, 2.0]]
    gaps = [math.dist((1, 4), (2, 2)), math.dist((2, 2), (5, 1))]
    ends = math.dist((1, 4), (0, 6)) + math.dist((5, 1), (5, 0))
    mean = sum(gaps) / 2
    expected = (ends + sum(abs(gap - mean) for gap in gaps)) / (ends + 2 * mean)

    assert spread(points, reference=reference) == pytest.approx(expected)
    assert spread(points, reference=points[::-1]) == pytest.approx(spread(points))
    assert spread([[1, 1]], reference=[[0, 1], [1, 0]]) == 1


def test_no_points_have_no_volume_and_no_spread() -> None:
    nothing = np.empty((0, 2))

    assert hypervolume(nothing, [1, 1]) == 0
    assert spread(nothing) == 0


@pytest.mark.parametrize(
    ("name", "volume", "unevenness"),
    [
        pytest.param("ChatSystem_PREDEFINE_ONE", 0.288548753, 0.691011983, id="JCS 1"),
        pytest.param("ChatSystem_RAND2", 0.271350908, 0.391230072, id="JCS 2"),
        pytest.param("WebPortal_RAND1", 0.339694844, 0.865438498, id="Web Portal 1"),
        pytest.param("WebPortal_RAND2", 0.308935982, 0.984833093, id="Web Portal 2"),
    ],
)
def test_published_values_are_reproduced(
    data_folder: Path, name: str, volume: float, unevenness: float
) -> None:
    instances = data_folder / "feature-models" / "paper-instances"
    with (instances / "reference-fronts" / f"{name}.csv").open() as file:
        rows = [
            [float(row[key]) for key in ("deselected_features", "not_used_before", "defects", "cost")]
            for row in csv.DictReader(file)
        ]
    front = np.array(rows)
    unit = scaled(front, front.min(axis=0), front.max(axis=0))

    assert hypervolume(unit, [1, 1, 1, 1]) == pytest.approx(volume, abs=5e-10)
    assert spread(unit) == pytest.approx(unevenness, abs=5e-10)
    with (instances / "results" / "rstCompSummary.csv").open() as file:
        assert any(
            (float(row["m_hyperVolumnA"]), float(row["m_spreadA"])) == (volume, unevenness)
            for row in csv.DictReader(file)
        )


def test_disagreeing_shapes_are_refused() -> None:
    with pytest.raises(BadInputError, match="reference must be 2 values"):
        hypervolume([[1, 2]], [1])
    with pytest.raises(BadInputError, match="same number of objectives"):
        igd_plus([[1, 2]], [[1]])
    with pytest.raises(BadInputError, match="low at most high"):
        scaled([[1, 2]], [0, 3], [1, 2])
    with pytest.raises(BadInputError, match="order must name each of the 2 objectives once"):
        spread([[1, 2]], order=[0, 0])
