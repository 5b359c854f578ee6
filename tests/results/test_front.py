"""Fronts, proofs and selections."""

import contextlib
import csv
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import BadInputError
from shortlist.errors import BadFileError
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof, ProofKind, relative_gap, shortfall

COMPLETE = Proof(ProofKind.COMPLETE)
COST, ROOM = Objective("cost", scale=100, unit="EUR"), Objective("room", Sense.MAX)


def _front(points: list[list[int]]) -> Front:
    decisions = np.arange(len(points))[:, None]
    return Front.from_points([COST, ROOM], np.array(points), decisions, ["which"], COMPLETE, method="by hand")


def test_points_are_minimised_integers_and_values_the_users() -> None:
    front = _front([[1250, -3], [999, -1]])

    assert front.values.tolist() == [[9.99, 1.0], [12.5, 3.0]]
    assert front.points.tolist() == [[999, -1], [1250, -3]]
    assert front.decisions.tolist() == [[1], [0]]
    assert front.to_frame(decisions=True).to_dict("list") == {
        "cost": [9.99, 12.5],
        "room": [1, 3],
        "which": [1, 0],
    }


@given(
    points=st.lists(
        st.tuples(st.integers(-(2**51), 2**51), st.integers(-(2**51), 2**51)), min_size=1, max_size=20
    )
)
def test_integers_survive_the_way_through_the_users_units(points: list[tuple[int, int]]) -> None:
    front = Front.from_points(
        [Objective("a", Sense.MAX, scale=1000), Objective("b", scale=7)],
        np.array(points), np.zeros((len(points), 1), dtype=int), ["c"], COMPLETE,
    )  # fmt: skip
    assert front.points.tolist() == sorted(map(list, set(points)))


def test_equal_points_become_one_and_keep_the_first_decision() -> None:
    assert _front([[5, 5], [5, 5], [4, 6]]).decisions.tolist() == [[2], [0]]


def test_an_empty_front_is_a_front(tmp_path: Path) -> None:
    front = Front.from_points(
        [COST], np.empty((0, 1), dtype=int), np.empty((0, 2), int), ["a", "b"], COMPLETE
    )
    front.save(tmp_path / "empty.parquet")
    assert len(Front.load(tmp_path / "empty.parquet")) == 0
    with pytest.raises(BadInputError, match="got an empty one"):
        front.pick()


def test_a_saved_front_is_the_same_front(tmp_path: Path) -> None:
    proof = Proof(ProofKind.NONDOMINATED, (0.0, 0.5), (1.0, 2.0), n_unresolved=3, limit="60 s")
    front = Front.from_values(
        [COST, Objective("share", Sense.MAX, scale=None)],
        np.array([[1.25, 1 / 3], [0.5, 0.1]]), np.array([[1, 0, 2], [-1, 1, 0]]), ["x", "y", "z"],
        proof, method="by hand", seconds=1.5, extras={"n_programs": 4},
    )  # fmt: skip
    front.save(tmp_path / "front.parquet")
    loaded = Front.load(tmp_path / "front.parquet")

    assert loaded.objectives == front.objectives
    assert np.array_equal(loaded.values, front.values)
    assert np.array_equal(loaded.decisions, front.decisions)
    assert (loaded.candidates, loaded.proof, loaded.method, loaded.seconds, loaded.extras) == (
        front.candidates, proof, "by hand", 1.5, {"n_programs": 4},
    )  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["front.parquet"]


def test_another_file_is_not_a_front(tmp_path: Path) -> None:
    (tmp_path / "text.parquet").write_text("no parquet")
    with pytest.raises(BadFileError, match=r"must be a Parquet file, but reading it failed"):
        Front.load(tmp_path / "text.parquet")
    with pytest.raises(BadFileError, match=r"cannot be read: No such file"):
        Front.load(tmp_path / "missing.parquet")


def test_a_proof_claims_no_more_than_it_can() -> None:
    with pytest.raises(BadInputError, match="no unresolved subproblems, got 2"):
        Proof(ProofKind.COMPLETE, n_unresolved=2)


@pytest.mark.parametrize(
    ("points", "scale", "message"),
    [
        pytest.param([[2**51 + 1]], 1, "within 2\\^51", id="too large for exact doubles"),
        pytest.param([[1]], None, "integer scale", id="real-valued objective"),
    ],
)
def test_points_that_cannot_be_exact_are_refused(
    points: list[list[int]], scale: int | None, message: str
) -> None:
    with pytest.raises(BadInputError, match=message):
        Front.from_points(
            [Objective("a", scale=scale)], np.array(points), np.zeros((1, 1), int), ["x"], COMPLETE
        )


def test_names_must_differ_and_values_be_numbers() -> None:
    with pytest.raises(BadInputError, match="names must differ"):
        Front.from_values([COST, COST], np.zeros((1, 2)), np.zeros((1, 1), int), ["x"], COMPLETE)
    with pytest.raises(BadInputError, match="got NaN"):
        Front.from_values([COST], np.array([[math.nan]]), np.zeros((1, 1), int), ["x"], COMPLETE)


def test_the_gap_is_relative_to_the_value() -> None:
    assert relative_gap(0.8, 1.0) == pytest.approx(0.25)
    assert relative_gap(-4, -5) == pytest.approx(0.25)
    assert relative_gap(0, 0) == 0
    assert relative_gap(0, 1) == math.inf


@pytest.mark.parametrize(
    ("value", "bound", "sentence"),
    [
        (0.594, 0.752, "at most 0.158 (21.0 %) below the best there is"),
        (0.0, 0.5, "at most 0.5 (100 %) below the best there is"),
        (-2.0, 0.0, "at most 2 below the best there is"),
        (-1.0, 2.0, "at most 3 below the best there is"),
        (-6.0, -4.0, "at most 2 (50.0 %) below the best there is"),
        (12.0, 10.0, "at most 2 (20.0 %) above the best there is"),
        (-4.0, -5.0, "at most 1 (20.0 %) above the best there is"),
        (1e6, 3e6, "at most 2,000,000 (66.7 %) below the best there is"),
        (0.0603377 + 1.4e-10, 0.0603377, "the best there is to eight digits"),
        (0.0603377 + 1.4e-9, 0.0603377, "at most 1.4e-09 (2.32e-06 %) above the best there is"),
        (0.5, math.inf, "an unknown amount below the best there is"),
    ],
)
def test_a_shortfall_is_a_difference_and_where_signs_agree_a_share_of_the_bound(
    value: float, bound: float, sentence: str
) -> None:
    assert shortfall(value, bound) == sentence


@given(
    value=st.floats(-100, 100), best=st.floats(-100, 100), bound=st.floats(-100, 100),
)  # fmt: skip
def test_no_best_value_makes_the_share_false(value: float, best: float, bound: float) -> None:
    value, best, bound = sorted((value, best, bound))
    if value == bound:
        return
    for said, worse, good in ((shortfall(value, bound), value, best), (shortfall(bound, value), bound, best)):
        if " %)" in said and good:
            share = float(said.split("(")[1].split(" %")[0].replace(",", ""))
            assert abs(good - worse) / abs(good) * 100 <= share * 1.006 + 1e-9


def test_a_damaged_front_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "front.parquet"
    _front([[1, 2], [2, 1]]).save(path)
    content = path.read_bytes()
    for place in range(4, len(content), 7):
        path.write_bytes(content[:place] + b"\x93" + content[place + 1 :])
        with contextlib.suppress(BadFileError):  # nothing else comes of it; some bytes decide nothing
            Front.load(path)
    for place in range(1, len(content), 61):
        path.write_bytes(content[:place])
        with pytest.raises(BadFileError, match=r"front\.parquet must be"):
            Front.load(path)


def test_a_table_has_a_named_column_for_everything_and_the_exact_values(tmp_path: Path) -> None:
    goals = [Objective("cost, net", scale=100), Objective("=1+1", Sense.MAX), Objective("share", scale=None)]
    values = np.array([[0.1 + 0.2, 4.0, 1 / 3], [12.5, 7.0, -2e-9]])
    front = Front.from_values(
        goals, values, np.array([[1, 0], [0, 1]]), ["GPS", "+dial"], Proof(ProofKind.COMPLETE)
    )
    front.save(tmp_path / "front.csv")

    table = pd.read_csv(tmp_path / "front.csv", dtype=str).astype(float)
    assert list(table.columns) == [
        "point", "objective: min cost, net", "objective: max =1+1", "objective: min share", "feature: GPS", "feature: +dial",
    ]  # fmt: skip
    np.testing.assert_array_equal(table.to_numpy(), np.hstack([[[0], [1]], values, front.decisions]))
    rows = list(csv.reader((tmp_path / "front.csv").read_text(encoding="utf-8").splitlines()))
    assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row)
    assert rows[1][2] == "4"
    with pytest.raises(BadFileError, match="must be a Parquet file"):
        Front.load(tmp_path / "front.csv")


def test_stages_count_from_one_and_what_is_never_bought_is_empty(tmp_path: Path) -> None:
    front = Front.from_points(
        [Objective("cost")], np.array([[3]]), np.array([[0, -1, 2]]), ["age", "scan", "blood"],
        Proof(ProofKind.COMPLETE), method="enumerate",
    )  # fmt: skip
    front.save(tmp_path / "front.csv")

    assert (tmp_path / "front.csv").read_text() == (
        "point,objective: min cost,stage of: age,stage of: scan,stage of: blood\n0,3,1,,3\n"
    )
