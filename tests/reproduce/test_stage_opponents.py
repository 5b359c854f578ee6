"""EMSCO beside its opponents, at the smallest size."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shortlist.errors import BadInputError
from shortlist.reproduce import stage_opponents
from shortlist.reproduce.emsco import EMSCO, EmscoSize, plan_emsco
from shortlist.reproduce.paper import Plan, reproduce
from shortlist.reproduce.stage_opponents import (
    SYNTHETIC30,
    OpponentsSize,
    measure_method,
    opponent_units,
    paper_stages,
    paper_table,
    stage_means,
    sums_of_measures,
)
from shortlist.runs import Budget, Work, open_study
from tests.reproduce.made_sets import write_made_set

TINY = OpponentsSize(("heart", SYNTHETIC30), ("emsco", "exact front", "astc", "single"), 2, 6, 1)


def test_a_unit_is_one_method_on_one_split_of_a_table_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_opponents, "find_spec", lambda _name: None)
    size = OpponentsSize(("heart", "pima", SYNTHETIC30), ("exact front", "lightgbm", "single"), 2)
    units, missing = opponent_units(None, ["pima"], size)
    assert [unit.key for unit in units] == [
        "opponents/pima/0/exact front", "opponents/pima/0/single", "opponents/pima/1/exact front",
        "opponents/pima/1/single", "opponents/synthetic30/0/single", "opponents/synthetic30/1/single",
    ]  # fmt: skip
    assert missing == ["lightgbm is left out: pip install 'shortlist[lightgbm]'."]


def test_synthetic30_needs_no_data_and_the_sets_that_do_are_named() -> None:
    plan = plan_emsco(None, EmscoSize((), (), 0, 0, 0, 0, (), 0, 0, TINY))
    assert {unit.key.split("/")[1] for unit in plan.units} == {SYNTHETIC30}
    assert "heart-failure-clinical-records is missing" in plan.missing[0]


@pytest.mark.slow
def test_a_single_stage_pays_for_everything_and_answers_everybody() -> None:
    (row,) = measure_method(None, SYNTHETIC30, "single", 0, TINY, budget=Budget())
    table = paper_table(None, SYNTHETIC30)
    assert row["total"] == row["cost"] == table.total == 9000
    assert row["coverage"] == 1.0
    assert row["aggregate"] == pytest.approx(1.0 + row["accuracy"])
    assert row["accuracy"] > 1.2 / 3  # chance is a third


def test_the_stages_are_at_most_half_the_features_and_ten() -> None:
    assert [paper_stages(n) for n in (8, 12, 13, 14, 30)] == [4, 6, 7, 7, 10]


@pytest.mark.slow
def test_the_smallest_comparison_measures_all_methods_and_is_gone_on_from(tmp_path: Path) -> None:
    write_made_set(tmp_path, "heart-failure-clinical-records")
    size = OpponentsSize(("heart",), ("emsco", "exact front", "astc", "co-t", "single"), 2, 6, 1)
    units, missing = opponent_units(tmp_path, ["heart"], size)
    assert missing == []
    with open_study(tmp_path / "s.db") as study:
        reproduce(EMSCO, Plan(tuple(units[:3]), {}), Work(study=study))
    with open_study(tmp_path / "s.db") as study:
        found = reproduce(EMSCO, Plan(tuple(units), {}), Work(study=study))
    undisturbed = reproduce(EMSCO, Plan(tuple(units), {}))
    timeless = [column for column in found.rows if column != "seconds"]
    pd.testing.assert_frame_equal(found.rows[timeless], undisturbed.rows[timeless])
    opponents, stages = found.tables
    assert {row["method"] for row in opponents.rows} == {
        "emsco", "emsco, by the sum", "exact front", "exact front, by the sum", "astc", "co-t", "single",
    }  # fmt: skip
    assert all(row["splits"] == 2 for row in opponents.rows)
    assert [row["sum"] for row in opponents.rows] == sorted(
        (row["sum"] for row in opponents.rows), reverse=True
    )
    assert [(row["price"], row["features"]) for row in stages.rows] == [(10, 4), (20, 8)]
    assert all(1 <= row["least"] <= row["mean stage"] <= row["most"] <= 6 for row in stages.rows)
    by_fitness = found.rows[found.rows["method"] == "exact front"]
    assert by_fitness["stage"].max() <= 4


def test_the_sum_of_figure_12_is_the_mean_over_splits() -> None:
    rows = pd.DataFrame(
        [
            {"set": "heart", "total": 200, "method": method, "seed": seed, "coverage": 1.0, "accuracy": accuracy,
             "cost": 50.0, "aggregate": 1.75 + accuracy, "seconds": 1.0}
            for method, accuracy, seed in [("a", 0.5, 0), ("b", 0.8, 0), ("a", 0.7, 1), ("b", 0.8, 1)]
        ]
    )  # fmt: skip
    first, second = sums_of_measures(rows).rows
    assert (first["method"], first["sum"], first["margin"]) == ("b", 2.55, 0.0)
    assert (second["sum"], second["accuracy %"], second["of all %"]) == (2.35, 60.0, 25.0)
    assert second["margin"] == pytest.approx(12.706 * np.std([2.25, 2.45], ddof=1) / np.sqrt(2), abs=0.001)


def test_mean_stages_are_of_evolution_alone() -> None:
    rows = pd.DataFrame(
        [
            {"set": "heart", "seed": seed, "method": method, "feature": feature, "price": 10, "stage": stage}
            for method, feature, seed, stage in [
                ("emsco", "age", 0, 1), ("emsco", "age", 1, 2), ("emsco", "sex", 0, 3), ("emsco", "sex", 1, 3),
                ("exact front", "age", 0, 6),
            ]
        ]
    )  # fmt: skip
    assert stage_means(rows).rows == [
        {
            "set": "heart",
            "price": 10,
            "features": 2,
            "splits": 2,
            "mean stage": 2.25,
            "least": 1.5,
            "most": 3.0,
        }
    ]


def test_a_paper_without_any_unit_says_what_is_missing() -> None:
    nothing = EmscoSize(("pima",), (2,), 1, 1, 1, 1, (), 0, 0, OpponentsSize(("pima",), ("single",), 1))
    with pytest.raises(BadInputError, match="pima-diabetes is missing"):
        reproduce(EMSCO, plan_emsco(None, nothing))
