"""Fronts as CSV."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shortlist.errors import BadFileError
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof, ProofKind


def test_a_table_has_a_named_column_for_everything_and_the_exact_values(tmp_path: Path) -> None:
    goals = [Objective("cost, net", scale=100), Objective("=1+1", Sense.MAX), Objective("share", scale=None)]
    values = np.array([[0.1 + 0.2, 4.0, 1 / 3], [12.5, 7.0, -2e-9]])
    front = Front.from_values(
        goals, values, np.array([[1, 0], [0, 1]]), ["GPS", "+dial"], Proof(ProofKind.COMPLETE)
    )
    front.save(tmp_path / "front.csv")

    table = pd.read_csv(tmp_path / "front.csv")
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
