"""EMSCO beside its opponents, at the smallest size."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shortlist.errors import BadInputError
from shortlist.multistage.presets import SYNTHETIC30
from shortlist.runs import Budget, Work, open_study
from shortlist_papers.emsco import EMSCO
from shortlist_papers.landscapes import paper_table
from shortlist_papers.paper import Extent, PaperPlan, reproduce
from shortlist_papers.stage_opponents import (
    TUNING,
    OpponentsSize,
    by_split,
    measure_opponent,
    names_in_order,
    new_row_figures,
    opponent_units,
    paper_stages,
    stage_means,
    sums_of_measures,
)
from tests.shortlist_papers.made_sets import write_made_set


def test_a_unit_is_one_opponent_or_one_run_of_evolution_on_one_split() -> None:
    units = opponent_units(None, (SYNTHETIC30,), OpponentsSize((SYNTHETIC30,), 1, 2))
    assert [unit.key.removeprefix("opponents/synthetic30/0/") for unit in units] == [
        "greedy-miser", "cstc", "co-t", "cact-lasso", "single",
        "emsco-paper/0", "emsco-distinct/0", "emsco-paper/1", "emsco-distinct/1",
    ]  # fmt: skip


def test_synthetic30_needs_no_data_and_the_sets_that_do_are_named() -> None:
    plan = EMSCO.plan(None, Extent(tables=("figure-12",)))
    assert {unit.key.split("/")[1] for unit in plan.units} == {SYNTHETIC30}
    assert "pima-diabetes is missing" in plan.missing[0]


@pytest.mark.slow
def test_a_single_stage_pays_for_everything_and_answers_everybody() -> None:
    (row,) = measure_opponent(None, SYNTHETIC30, "single", 0, budget=Budget())
    table = paper_table(None, SYNTHETIC30)
    assert row["total"] == row["cost"] == table.total == 9000
    assert row["coverage"] == 1.0
    assert row["aggregate"] == pytest.approx(1.0 + row["accuracy"])
    assert row["accuracy"] > 1.2 / 3  # chance is a third


def test_the_rules_of_tuning_are_one_table_and_both_rules_of_a_doubtful_opponent_are_measured() -> None:
    assert {name: (one.rule, one.other) for name, one in TUNING.items()} == {
        "greedy-miser": ("accuracy", "sum"), "cstc": ("accuracy", "sum"), "cact-lasso": ("sum", None),
    }  # fmt: skip
    assert all(one.reason for one in TUNING.values())
    by_accuracy, by_sum = measure_opponent(None, SYNTHETIC30, "cstc", 0, budget=Budget())
    assert [by_accuracy["method"], by_sum["method"]] == ["CSTC*", "CSTC*, by the sum"]
    assert by_accuracy["test_rows"] == by_sum["test_rows"] == 250
    assert by_accuracy["settings"] != by_sum["settings"]


def test_runs_on_one_split_are_one_value() -> None:
    values = by_split(_rows()[lambda rows: rows["method"] == "EMSCO"])
    assert values["accuracy"].tolist() == pytest.approx([50.0, 70.0])
    assert values["cost"].tolist() == pytest.approx([25.0, 25.0])


def test_a_split_without_an_answer_has_no_accuracy_and_is_counted() -> None:
    rows = _rows()
    silent = (rows["method"] == "Single-Stage") & (rows["split"] == 1)
    rows.loc[silent, ["coverage", "accuracy", "aggregate"]] = 0.0, 0.0, 0.75
    values = by_split(rows[rows["method"] == "Single-Stage"])
    assert values["accuracy"].isna().tolist() == [False, True]
    (figure,) = new_row_figures(rows)
    evolved, single = figure.rows
    assert (evolved["answers nothing on"], single["answers nothing on"]) == (0, 1)
    assert (single["accuracy %"], single["coverage %"][:5]) == ("80.0", "50.0 ")
    rows.loc[rows["method"] == "Single-Stage", "coverage"] = 0.0
    (figure,) = new_row_figures(rows)
    assert (figure.rows[1]["answers nothing on"], figure.rows[1]["accuracy %"]) == (2, None)
    assert figure.picture is not None
    assert [line.name for line in figure.picture.lines] == ["EMSCO"]


def test_the_stages_are_at_most_half_the_features_and_ten() -> None:
    assert [paper_stages(n) for n in (8, 12, 13, 14, 30)] == [4, 6, 7, 7, 10]


@pytest.mark.slow
def test_the_smallest_comparison_measures_all_methods_and_is_gone_on_from(tmp_path: Path) -> None:
    write_made_set(tmp_path, "heart-failure-clinical-records")
    units = opponent_units(tmp_path, ["heart"], OpponentsSize(("heart",), 1, 2, 6, 1))
    with open_study(tmp_path / "s.db") as study:
        reproduce(EMSCO, PaperPlan(tuple(units[:6]), {}), Work(study=study))
    with open_study(tmp_path / "s.db") as study:
        found = reproduce(EMSCO, PaperPlan(tuple(units), {}), Work(study=study))
    undisturbed = reproduce(EMSCO, PaperPlan(tuple(units), {}))
    pd.testing.assert_frame_equal(found.rows, undisturbed.rows)
    heart, sums, stages = found.tables[-3:]
    assert [(row["method"], row["runs"]) for row in heart.rows] == [
        (name, 2 if name.startswith("EMSCO") else 1) for name in names_in_order()
    ]
    assert {row["method"]: row["paper's cost"] for row in heart.rows if row["paper's cost"]} == {
        "GM*": 19.0, "CSTC*": 54.0,
    }  # fmt: skip
    assert [row["accuracy against Single-Stage"] for row in sums.rows][-1] == 0.0
    assert [(row["cost class"], row["features"]) for row in stages.rows] == [(1, 4), (2, 8)]
    assert all(1 <= row["least"] <= row["mean stage"] <= row["most"] <= 6 for row in stages.rows)


def _rows() -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"set": "heart", "total": 200, "method": method, "split": split, "trial": trial, "coverage": 1.0,
             "accuracy": accuracy, "cost": 50.0, "aggregate": 1.75 + accuracy,
             "population": 30, "generations": 7}
            for method, split, accuracy, trial in [
                ("EMSCO", 0, 0.4, 0), ("EMSCO", 0, 0.6, 1), ("EMSCO", 1, 0.7, 0),
                ("Single-Stage", 0, 0.8, None), ("Single-Stage", 1, 0.8, None),
            ]
        ]
    )  # fmt: skip


def test_the_sum_of_figure_12_is_the_mean_over_splits_whose_runs_are_one_value() -> None:
    first, second = sums_of_measures(_rows()).rows
    spread = 12.706 * np.std([2.25, 2.45], ddof=1) * np.sqrt(1 / 2 + 1 / 3)
    assert (first["method"], first["heart"]) == ("EMSCO", f"2.350 ± {spread:.3f}")
    assert (first["accuracy against Single-Stage"], first["paper's accuracy"]) == (-20.0, -2.72)
    assert (second["heart"], second["mean coverage %"], second["paper's %"]) == ("2.550 ± 0.000", 100.0, None)


def test_a_figure_of_a_set_has_the_texts_figures_beside_ours() -> None:
    (table,) = new_row_figures(_rows())
    first, _ = table.rows
    assert table.name == "figure-10"
    assert first["accuracy %"].startswith("60.0 ± ")
    figures = [first[name] for name in ("paper's accuracy", "cost, % of all", "paper's cost")]
    assert figures == [85.1, "25.0 ± 0.0", None]
    assert "Evolution had 30 individuals and at most 7 generations." in table.note
    assert table.picture is not None
    assert [line.points for line in table.picture.lines] == [((25.0, 60.0),), ((25.0, 80.0),)]


def test_mean_stages_are_of_a_feature_over_the_runs() -> None:
    rows = pd.DataFrame(
        [
            {"set": "heart", "split": 0, "trial": trial, "feature": feature, "class": 1, "stage": stage}
            for feature, trial, stage in [("age", 0, 1), ("age", 1, 2), ("sex", 0, 3), ("sex", 1, 3)]
        ]
    )
    (row,) = stage_means(rows).rows
    assert list(row.values()) == ["heart", 1, 2, 2, 2.25, 1.5, 3.0]


def test_a_paper_without_any_unit_says_what_is_missing() -> None:
    with pytest.raises(BadInputError, match="pima-diabetes is missing"):
        reproduce(EMSCO, EMSCO.plan(None, Extent(tables=("table-6",))))
