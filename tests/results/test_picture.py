"""Pictures of fronts: all points are drawn, and better is up and to the right."""

from pathlib import Path

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.picture import save_figure
from shortlist.results.proof import Proof, ProofKind

pytest.importorskip("matplotlib")


def front(n_points: int, n_goals: int = 3) -> Front:
    values = np.random.default_rng(0).random((n_points, n_goals))
    goals = [Objective("$a$", scale=None), Objective("b", Sense.MAX, scale=None), Objective("c", scale=None)]
    return Front.from_values(
        goals[:n_goals], values, np.zeros((n_points, 0), int), (), Proof(ProofKind.APPROXIMATE)
    )


def test_every_pair_of_objectives_is_drawn_with_better_up_and_to_the_right() -> None:
    own = front(20)
    figure = own.plot()
    planes = [ax for ax in figure.axes if ax.get_visible()]
    assert len(planes) == 3
    first = planes[0]
    np.testing.assert_array_equal(first.collections[0].get_offsets(), own.values[:, [0, 1]])
    assert first.xaxis_inverted()
    assert not first.yaxis_inverted()
    assert planes[1].yaxis_inverted()
    assert "less is better" in planes[1].get_ylabel()


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_ending_says_the_kind_of_picture(tmp_path: Path, ending: str, start: bytes) -> None:
    save_figure(front(20, 2), tmp_path / f"x.{ending}")
    assert (tmp_path / f"x.{ending}").read_bytes().startswith(start)


def test_what_cannot_be_drawn_is_refused() -> None:
    for own in (front(0), front(5, 1)):
        with pytest.raises(BadInputError, match="a picture needs points"):
            own.plot()
