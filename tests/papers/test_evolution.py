"""The paper on evolved ensembles, at its smallest."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shortlist.papers.evolution import (
    EVOLUTION,
    EvolutionSize,
    eel_table,
    evolution_tables,
    plan_evolution,
    size_of,
)
from shortlist.papers.paper import Extent, reproduce
from tests.papers.made_sets import write_made_set

SMALLEST = EvolutionSize(("bld", "bos", "spa"), 1, 1, 20, 3, 5)


@pytest.mark.slow
def test_the_smallest_reproduction_measures_every_method(tmp_path: Path) -> None:
    write_made_set(tmp_path, "bupa-liver-disorders")
    write_made_set(tmp_path, "boston-housing")
    plan = plan_evolution(tmp_path, SMALLEST)
    methods = ["offline", "online", "single", "least-squares", "adaboost-stumps"]
    assert [unit.key for unit in plan.units] == [
        f"{name}/0/0/{method}" for name in ("bld", "bos") for method in methods
    ]
    assert plan.missing == ("spambase is missing: shortlist datasets fetch spambase.",)
    found = reproduce(EVOLUTION, plan)
    errors, ranks = found.tables
    assert [errors.name, ranks.name] == list(EVOLUTION.contents)
    assert [(row["set"], row["method"]) for row in errors.rows] == [
        (name, method) for name in ("bld", "bos") for method in methods
    ]
    assert all(0 <= row["error %"] <= 100 for row in errors.rows)
    assert sum(row["mean rank"] for row in ranks.rows) == pytest.approx(15, abs=0.05)


def test_folds_that_lack_a_method_are_not_ranked() -> None:
    rows = pd.DataFrame(
        [
            {
                "dataset": name, "repeat": 0, "fold": fold, "method": method, "accuracy": 0.7 + 0.1 * (place == fold),
                "balanced_accuracy": 0.7, "size": None, "seconds": 1.0,
            }
            for name in ("bld", "bos")
            for fold in (0, 1)
            for place, method in enumerate(("offline", "online"))
            if (name, fold, method) != ("bos", 1, "online")
        ]
    )  # fmt: skip
    errors, ranks = evolution_tables(rows)
    assert [row["folds"] for row in errors.rows] == [2, 2, 2, 1]
    assert {row["method"]: row["mean rank"] for row in ranks.rows} == {"offline": 1.25, "online": 1.75}
    assert [table.name for table in evolution_tables(rows.query("dataset == 'bld'"))] == ["errors"]


def test_one_study_serves_every_extent_of_a_scale(tmp_path: Path) -> None:
    write_made_set(tmp_path, "bupa-liver-disorders")
    few, many = (
        plan_evolution(tmp_path, size_of(Extent("small", sets=("bld",), folds=folds, seeds=seeds)))
        for folds, seeds in ((1, 1), (2, 3))
    )
    assert few.settings == many.settings
    assert {unit.key for unit in few.units} < {unit.key for unit in many.units}
    assert len(many.units) == 2 * 3 * 5


def test_sets_are_read_as_the_paper_says() -> None:
    prices = pd.DataFrame({"rooms": range(9), "target": np.linspace(5, 50, 9)})
    X, y = eel_table("bos", prices)
    assert np.bincount(y).tolist() == [3, 3, 3]
    assert list(X) == ["rooms"]
    gaps = pd.DataFrame({"bare_nuclei": [1.0, None, 3.0], "target": [0, 1, 1]})
    assert eel_table("bcw", gaps)[1].tolist() == [0, 1]
    assert eel_table("pid", gaps)[1].tolist() == [0, 1, 1]
