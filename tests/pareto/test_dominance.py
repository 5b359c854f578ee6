"""Dominance: the fast marks against comparing every pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.errors import BadInputError
from shortlist.pareto.dominance import nondominated, nondominated_unique


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
        pytest.param(
            [1, 2], r"points must have shape \(n_points, n_objectives\), got \(2,\)", id="one point"
        ),
        pytest.param([[1.0, np.nan]], "got NaN or infinity", id="not a number"),
        pytest.param([[2**53, 1]], "below 2\\^53", id="beyond doubles"),
        pytest.param([[-(2**53), 1]], "below 2\\^53", id="beyond doubles on the other side"),
    ],
)
def test_what_cannot_be_compared_is_refused(points: list[object], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        nondominated(np.array(points))
