import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from shortlist.multistage.search.emsco import RULES
from shortlist.runs import NO_STUDY, Cancellation, Work, open_study
from shortlist.runs.units import run_whole
from shortlist_papers.emsco import (
    ALL_SETS,
    EMSCO,
    SIZES,
    EmscoSize,
    all_emsco_tables,
    plan_emsco,
    size_of,
)
from shortlist_papers.emsco_tables import GENERATIONS, PAPER_FRONTS, STAGES, emsco_tables
from shortlist_papers.landscapes import SETS
from shortlist_papers.paper import Extent, reproduce
from shortlist_papers.stage_opponents import FIGURES, OpponentsSize, names_in_order
from tests.shortlist_papers.made_sets import write_made_set

SMALLEST = EmscoSize(
    ("pima", "heart"), 1, 0, 2, 2, 10, (0.6,), 1, 3, (OpponentsSize(("pima", "heart"), 1, 1, 10, 2),)
)


def _write_example(folder: Path) -> None:
    rng = np.random.default_rng(0)
    (folder / "emsco-example").mkdir()
    for part in ("train", "val", "test"):
        X = rng.normal(size=(80, 6))
        table = pd.DataFrame(X, columns=[f"f{i}" for i in range(6)]).assign(label=(X[:, 0] > 0).astype(int))
        table.to_csv(folder / "emsco-example" / f"example_{part}.csv", index=False)
    (folder / "emsco-example" / "example_costs.txt").write_text("1,2,3,4,5,6")


@pytest.mark.slow
def test_every_table_and_figure_of_a_set_comes_out_and_a_study_serves_another_extent(tmp_path: Path) -> None:
    write_made_set(tmp_path, "pima-diabetes")
    _write_example(tmp_path)
    part, all_of_it = Extent(tables=("figure-7",)), Extent()
    with open_study(tmp_path / "s.db") as study:
        first = reproduce(
            EMSCO, plan_emsco(tmp_path, part, SMALLEST), Work(study=study), tables=("figure-7",)
        )
        kept = study.results()
    with open_study(tmp_path / "s.db") as study:
        plan = plan_emsco(tmp_path, all_of_it, SMALLEST)
        found = reproduce(EMSCO, plan, Work(study=study))
        assert kept.items() <= study.results().items()
    assert plan.missing == (
        "heart-failure-clinical-records is missing: shortlist datasets fetch heart-failure-clinical-records.",
    )
    tables = {table.name: table for table in found.tables}
    assert set(tables) == {
        "claims", "tuning", "table-2", "table-3", "table-4", "table-5", "properties",
        "figure-2", "table-6", "figure-7", "figure-8", "figure-12", "figure-13", "example",
    }  # fmt: skip
    assert tables["figure-7"].rows == first.tables[0].rows
    assert all(name in {"claims", *EMSCO.contents} for name in tables)
    assert [row["whose"] for row in tables["example"].rows] == ["here", "authors"]
    assert tables["example"].rows[1]["accuracy"] == 0.7456
    for row in tables["figure-7"].rows:
        assert row["runs"] == 2
        assert 0 <= row["at the end %"] <= 100
        assert row["rules"] in RULES
        assert row["runs that fall"] == 0 or row["rules"] == "distinct"
    picture = tables["figure-7"].picture
    assert picture is not None
    assert len(picture.lines) == len(STAGES) * len(RULES)
    assert all(
        low <= y <= high
        for line in picture.lines
        for (_, y), (low, high) in zip(line.points, line.band, strict=not line.name.endswith("distinct"))
    )
    assert [line.points[0][0] for line in picture.lines] == [0.0] * 6
    methods = [row["method"] for row in tables["figure-8"].rows]
    assert methods == list(names_in_order())
    assert len(methods) == 9
    assert sum(row["features"] for row in tables["figure-13"].rows) == 8


def test_every_scale_plans_every_table_and_figure_where_all_sets_are_there(tmp_path: Path) -> None:
    for name in ("pima-diabetes", "heart-failure-clinical-records", "australian-credit"):
        write_made_set(tmp_path, name)
    _write_example(tmp_path)
    for scale in SIZES:
        keys = [unit.key for unit in EMSCO.plan(tmp_path, Extent(scale)).units]
        assert len(set(keys)) == len(keys)
        plain = {"split"} if SIZES[scale].plain_splits else set()
        assert {key.split("/")[0] for key in keys} == plain | {
            "figure-2", "figure-3", "figure-6", "front", "recall", "opponents", "example", "growth",
            "selection", "fittest",
        }  # fmt: skip
        assert {key.split("/")[1] for key in keys if key.startswith("opponents")} == set(ALL_SETS)


def test_tables_and_sets_name_parts_of_the_plan(tmp_path: Path) -> None:
    for name in ("pima-diabetes", "heart-failure-clinical-records"):
        write_made_set(tmp_path, name)

    def keys(**extent: Any) -> set[str]:
        plan = EMSCO.plan(tmp_path, Extent(**extent))
        return {unit.key.rsplit("/", 1)[0] for unit in plan.units}

    assert keys(tables=("table-6",), sets=("heart",), folds=2) == {
        "front/heart/2", "front/heart/3", "front/heart/4",
    }  # fmt: skip
    assert {key.split("/")[1] for key in keys(tables=("figure-8", "figure-10"))} == {"pima", "heart"}
    assert {key.split("/")[1] for key in keys(tables=("figure-12",))} == {"pima", "heart", "synthetic30"}
    assert keys(tables=("figure-7",), sets=("synthetic30",)) == set()


def test_an_extent_changes_how_much_but_not_what_a_unit_measures(tmp_path: Path) -> None:
    write_made_set(tmp_path, "pima-diabetes")
    whole = EMSCO.plan(tmp_path, Extent("medium"))
    part = EMSCO.plan(tmp_path, Extent("medium", ("figure-7",), ("pima",), seeds=2))
    assert {unit.key for unit in part.units} < {unit.key for unit in whole.units}
    assert all(whole.settings[name] == value for name, value in part.settings.items())
    size = size_of(Extent("paper", seeds=3, folds=2))
    assert (size.seeds, size.example_seeds, size.splits) == (3, 3, 2)
    assert [(one.trials, one.splits) for one in size.opponents] == [(3, 2)]


def test_a_unit_that_is_stopped_spoils_nothing_for_those_that_share_its_classifiers(tmp_path: Path) -> None:
    write_made_set(tmp_path, "pima-diabetes")
    plan = plan_emsco(tmp_path, Extent(sets=("pima",)), dataclasses.replace(SMALLEST, sets=("pima",)))
    units = {unit.key: unit for unit in plan.units}
    stopped = Cancellation()
    stopped.cancel()

    def run(key: str, cancellation: Cancellation) -> Any:
        return run_whole(cancellation, NO_STUDY, units[key].call, *units[key].arguments)

    for key in ("recall/pima/4/paper/0", "opponents/pima/0/emsco-paper/0"):
        assert run(key, stopped) is None
        assert run(key, Cancellation())


def test_without_a_folder_the_example_is_named_as_missing() -> None:
    plan = plan_emsco(None, Extent(tables=("example",)), SMALLEST)
    assert plan.units == ()
    assert "emsco-example is missing" in plan.missing[-1]


def test_table_6_has_a_row_for_the_paper_and_tells_splits_as_a_range() -> None:
    rows = pd.DataFrame(
        [
            {"kind": "front", "set": "heart", "stages": float(k), "split": split, "points": k + 10 * split,
             "assignments": k + 1}
            for k in (2, 3, 4)
            for split in (0, 1)
        ]
    )  # fmt: skip
    *_, table = emsco_tables(rows)
    assert table.name == "table-6"
    assert table.rows == [
        {"set": "heart", "whose": "here, chromosomes", "k = 2": "3", "k = 3": "4", "k = 4": "5"},
        {"set": "heart", "whose": "here, objective vectors", "k = 2": "2", "k = 3": "3", "k = 4": "4"},
        {"set": "heart", "whose": "here, vectors on 2 splits", "k = 2": "2 to 12", "k = 3": "3 to 13",
         "k = 4": "4 to 14"},
        {"set": "heart", "whose": "paper", "k = 2": "24", "k = 3": "28", "k = 4": "33"},
    ]  # fmt: skip


def _rows_of_every_kind() -> pd.DataFrame:
    """One row of every kind for every set, as units return them."""
    rows: list[dict[str, Any]] = [
        {"kind": "thresholds", "level": 0.5, "coverage": 1.0, "accuracy": 0.8, "cost": 36.0},
        {"kind": "landscape", "coverage": 0.9, "accuracy": 0.8, "n": 5, "inverse": 0.5},
        {"kind": "neighbours", "place": 0, "coverage": 1.0, "accuracy": 0.8, "inverse": 0.5},
        {"kind": "neighbours", "place": 1, "coverage": 0.9, "accuracy": 0.8, "inverse": 0.5},
        {"kind": "example", "level": 0.6, "seed": 0, "total": 171, **MEASURED},
    ]
    for name in SETS:
        for k in STAGES:
            rows.append(
                {"kind": "front", "set": name, "stages": k, "split": 0, "points": 9, "assignments": 10}
            )
            rows += [
                {"kind": "recall", "set": name, "stages": k, "rules": rules, "seed": 0, "points": 9,
                 "assignments": 10, "falls": False, "c0": 0, "p0": 0, "c50": 5, "p50": 5}
                for rules in RULES
            ]  # fmt: skip
    for name in ALL_SETS:
        for split in range(10):
            rows += [
                {"kind": "opponents", "set": name, "split": split, "method": method, "total": 200,
                 "population": 30, "generations": 7, **MEASURED}
                for method in METHODS
            ]  # fmt: skip
        rows.append(
            {"kind": "feature", "set": name, "split": 0, "trial": 0, "feature": "a", "class": 1, "stage": 2}
        )
    rows += [
        {"kind": "growth", "stages": 2, "number": 4, "listed": 15, "formula": 15},
        {"kind": "growth", "stages": 2, "number": 80, "ratio": 1.0},
        {"kind": "selection", "set": "pima", "generations": 2, "pairs": 30, "broken": 0, "ranks_off": 0},
        {"kind": "fittest", "set": "pima", "stages": 2, "assignments": 255, "vectors": 1, "dominating": 0},
    ]
    return pd.DataFrame(rows)


MEASURED = {"coverage": 0.9, "accuracy": 0.8, "cost": 50.0, "aggregate": 2.4}
METHODS = names_in_order()


def test_every_table_and_figure_has_every_row() -> None:
    tables = {table.name: table for table in all_emsco_tables(_rows_of_every_kind())}
    assert set(tables) == set(EMSCO.contents) - {"plain-splits"}
    for name, number in FIGURES.items():
        assert name in tables[f"figure-{number}"].title
        assert [row["method"] for row in tables[f"figure-{number}"].rows] == list(METHODS)
    assert [row["method"] for row in tables["figure-12"].rows] == list(METHODS)
    assert all(set(row) >= set(ALL_SETS) for row in tables["figure-12"].rows)
    assert [row["set"] for row in tables["figure-13"].rows] == list(ALL_SETS)
    panels = [(row["set"], row["k"], row["rules"]) for row in tables["figure-7"].rows]
    picture = tables["figure-7"].picture
    assert picture is not None
    assert [(line.panel, line.name) for line in picture.lines] == [
        (f"{name.capitalize()}, k = {k}", rules) for name, k, rules in panels
    ]
    assert panels == [(name, k, rules) for name in SETS for k in STAGES for rules in RULES]
    paper = {row["set"]: row for row in tables["table-6"].rows if row["whose"] == "paper"}
    assert {(name, k): int(paper[name][f"k = {k}"]) for name in SETS for k in STAGES} == PAPER_FRONTS
    drawn = {name for name, table in tables.items() if table.picture is not None}
    assert drawn == {name for name in tables if name.startswith("figure")} | {"printed"}


def test_the_table_of_parameters_has_the_population_that_ran() -> None:
    tables = {table.name: table for table in emsco_tables(_rows_of_every_kind())}
    shown = {row["what"]: row["here"] for row in tables["table-4"].rows}
    assert shown["population"] == 30
    assert tables["table-4"].note.split(". ")[1] == "Evolution had 30 individuals and at most 7 generations"
    nothing_ran = {table.name: table for table in emsco_tables(pd.DataFrame({"kind": ["front"]}).iloc[:0])}
    assert {row["what"]: row["here"] for row in nothing_ran["table-4"].rows}["population"] == 300


def test_figure_7_has_the_mean_and_its_interval_and_counts_the_runs_that_fall() -> None:
    rows = pd.DataFrame(
        [
            {"kind": "recall", "set": "heart", "stages": 4, "rules": rules, "seed": seed, "points": 10,
             "assignments": 20, "falls": rules == "distinct", "c0": 0, "p0": 0, "c50": 4 + 2 * seed, "p50": 4}
            for rules in reversed(RULES)
            for seed in (0, 1)
        ]
    )  # fmt: skip
    *_, table = emsco_tables(rows)
    by_rules = {row["rules"]: row for row in table.rows}
    assert by_rules["paper"]["after 50"] == "5.0 ± 12.7"
    assert (by_rules["paper"]["at the end %"], by_rules["paper"]["paper's %"]) == (25.0, "80")
    assert (by_rules["paper"]["runs that fall"], by_rules["distinct"]["runs that fall"]) == (0, 2)
    assert table.picture is not None
    first = table.picture.lines[0]
    assert (first.panel, first.name) == ("Heart, k = 4", "paper")
    assert first.points == ((0.0, 0.0), (50.0, 25.0))
    assert table.picture.lines[1].band == ()
    assert first.band[1] == pytest.approx((100 * (5 - 12.706) / 20, 100 * (5 + 12.706) / 20), abs=0.01)
    assert max(GENERATIONS) == SIZES["paper"].generations
