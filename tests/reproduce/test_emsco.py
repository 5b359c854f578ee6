"""The paper on multi-stage classifiers, at its smallest."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shortlist.reproduce.emsco import EMSCO, EmscoSize, emsco_tables, plan_emsco
from shortlist.reproduce.paper import reproduce
from shortlist.reproduce.stage_opponents import OpponentsSize
from tests.reproduce.made_sets import write_made_set

SMALLEST = EmscoSize(("pima", "heart"), (1, 2), 1, 1, 20, 10, (0.6,), 1, 3, OpponentsSize((), (), 0))


def _write_example(folder: Path) -> None:
    rng = np.random.default_rng(0)
    (folder / "emsco-example").mkdir()
    for part in ("train", "val", "test"):
        X = rng.normal(size=(80, 6))
        table = pd.DataFrame(X, columns=[f"f{i}" for i in range(6)]).assign(label=(X[:, 0] > 0).astype(int))
        table.to_csv(folder / "emsco-example" / f"example_{part}.csv", index=False)
    (folder / "emsco-example" / "example_costs.txt").write_text("1,2,3,4,5,6")


@pytest.mark.slow
def test_the_smallest_reproduction_has_fronts_recall_and_example(tmp_path: Path) -> None:
    write_made_set(tmp_path, "pima-diabetes")
    _write_example(tmp_path)
    plan = plan_emsco(tmp_path, SMALLEST)
    assert [unit.key for unit in plan.units] == [
        "front/pima/1/0", "front/pima/2/0", "recall/pima/0", "example/0.6",
    ]  # fmt: skip
    assert plan.missing == (
        "heart-failure-clinical-records is missing: shortlist datasets fetch heart-failure-clinical-records.",
    )
    found = reproduce(EMSCO, plan)
    fronts, recall, example = found.tables
    assert [row["paper's solutions"] for row in fronts.rows] == [None, 18]
    front = found.rows[found.rows["kind"] == "front"]
    assert (front["points"] >= 1).all()
    assert (front["assignments"] >= front["points"]).all()
    assert len(recall.rows) == 11
    assert all(0 <= row["points %"] <= 100 for row in recall.rows)
    shares = [row["points %"] for row in recall.rows]
    assert shares[-1] >= shares[0]
    assert [row["whose"] for row in example.rows] == ["here", "authors"]
    assert example.rows[1]["accuracy"] == 0.7456
    assert example.rows[0]["coverage"] > 0


def test_without_a_folder_the_example_is_named_as_missing() -> None:
    plan = plan_emsco(None, SMALLEST)
    assert plan.units == ()
    assert "emsco-example is missing" in plan.missing[-1]


def test_sizes_of_several_splits_are_a_range() -> None:
    rows = pd.DataFrame(
        [
            {"kind": "front", "set": "heart", "stages": 2, "points": n, "assignments": n + 1, "seconds": 1.0}
            for n in (20, 24)
        ]
    )
    (table,) = emsco_tables(rows)
    assert table.rows == [
        {
            "set": "heart", "stages": 2, "splits": 2, "points": "20 to 24", "assignments": "21 to 25",
            "paper's solutions": 24, "seconds": 1.0,
        }
    ]  # fmt: skip
