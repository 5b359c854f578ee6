"""The pruning paper, at its smallest."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shortlist.ensembles.pools.pool import Pool
from shortlist.reproduce.paper import reproduce
from shortlist.reproduce.pruning import (
    PAPER_METHODS,
    PAPER_RANKS,
    PRUNING,
    PruningSize,
    first_of_each,
    plan_pruning,
    pruning_tables,
)
from tests.reproduce.made_sets import write_made_set, write_wdbc

SMALLEST = PruningSize(("wdbc", "parkinsons", "musk-v1"), 10, 1, 1, (10,), None, node_limit=1000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sets")
    write_wdbc(made)
    write_made_set(made, "parkinsons")
    return made


@pytest.mark.slow
def test_the_smallest_reproduction_fills_the_papers_tables(folder: Path) -> None:
    plan = plan_pruning(folder, SMALLEST)
    assert [unit.key for unit in plan.units] == ["wdbc/0/0", "parkinsons/0/0"]
    assert len(plan.missing) == 1
    assert "musk_v1.csv" in plan.missing[0]
    found = reproduce(PRUNING, plan)
    tables = {table.name: table for table in found.tables}
    assert list(tables) == ["table-3", "table-4", "table-5", "table-6"]
    assert [row["set"] for row in tables["table-3"].rows] == ["BCW", "PRK"]
    (ranks,) = tables["table-4"].rows
    ours = [ranks[method] for method in PAPER_METHODS["accuracy"]]
    assert sum(ours) == pytest.approx(7 * 8 / 2, abs=0.05)
    assert "Nemenyi" in tables["table-4"].note
    validation = found.rows.set_index(["dataset", "method"])["validation_accuracy"]
    for name in ("wdbc", "parkinsons"):  # F1 is exact, so no other selection is better on the rows that prune
        proved = found.rows.query("dataset == @name and method == 'F1'")["gap"].iloc[0] == 0
        assert proved
        assert validation[name, "F1"] >= validation[name].max() - 1e-12


def _rows(classifiers: int, shift: float = 0.0) -> pd.DataFrame:
    methods = dict.fromkeys(PAPER_METHODS["accuracy"] + PAPER_METHODS["balanced_accuracy"])
    return pd.DataFrame(
        [
            {
                "dataset": name, "classifiers": classifiers, "method": method, "gap": 0.01 if method in {"F1", "F3"} else None,
                "accuracy": 0.9 - 0.01 * place + shift, "balanced_accuracy": 0.8 + 0.01 * place,
            }
            for name in ("spambase", "wdbc")
            for place, method in enumerate(methods)
        ]
    )  # fmt: skip


def test_the_papers_figures_stand_beside_ours() -> None:
    gaps, accuracy, balanced, ranks = pruning_tables(_rows(100))
    assert gaps.rows[0] == {
        "set": "SPA", "folds": 1, "F1 gap %": 1.0, "F1 paper %": 0.0, "F3 gap %": 1.0, "F3 paper %": 0.2,
    }  # fmt: skip
    assert [row["whose"] for row in accuracy.rows] == ["here", "paper"]
    assert [accuracy.rows[0][method] for method in PAPER_METHODS["accuracy"]] == [1, 2, 3, 4, 5, 6, 7]
    assert accuracy.rows[1] == {"classifiers": 100, "whose": "paper", **PAPER_RANKS["accuracy"][100]}
    assert [row["whose"] for row in balanced.rows] == ["here", "paper", "here"]
    assert balanced.rows[1]["F1-theta"] == 0.9517
    assert ranks.rows[0]["F1"] == 6


def test_pools_without_a_figure_of_the_paper_have_ours_alone() -> None:
    assert [row["whose"] for row in pruning_tables(_rows(10))[1].rows] == ["here"]


def test_one_set_ranks_nothing() -> None:
    alone = _rows(100).query("dataset == 'wdbc'")
    assert pruning_tables(alone)[1].rows == []


def test_smaller_pools_have_as_many_of_each_kind() -> None:
    pool = Pool(tuple("abcdef"), np.array([0, 1]), tuple("abcdef"), ("x", "x", "x", "y", "y", "y"))
    assert first_of_each(pool, 4).tolist() == [True, True, False, True, True, False]
