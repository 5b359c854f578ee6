"""Methods and options that `shortlist compare` measures on a table."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from shortlist.cli.options.prune_options import PoolOptions
from shortlist.tables.learning import LearningTable, split_target
from shortlist_papers.cli.compare import _methods_of_one_kind
from shortlist_papers.cli.compare_pruned import (
    chosen_methods,
    pruners_told,
)
from shortlist_papers.cli.compared import TableComparison, TableQuestion
from tests.stored import Stored


def _asked(learning: LearningTable) -> TableQuestion:
    return TableQuestion(
        file="t.csv", learning=learning, dropped=(), costs=None, objectives=None, limit=[], time_limit=None,
        seeds=None, seed=3, workers=1, out=None, report=None, details=False, json=False, notes=[],
    )  # fmt: skip


@pytest.fixture
def asked() -> TableQuestion:
    table = pd.DataFrame(
        {"a": ["no", "yes"] * 20, "b": ["yes", "no", "no", "yes"] * 10, "target": ["no", "yes"] * 20}
    )
    return _asked(split_target(table, "target"))


def test_methods_get_their_options_and_each_proof_one_thread(asked: TableQuestion) -> None:
    settings: dict[str, Any] = {"objective": "tp=1,fp=-5", "max_size": 3}
    chosen = chosen_methods(asked, ["uwa", "exact"], settings, PoolOptions())
    assert list(chosen) == ["uwa", "exact"]
    exact = chosen["exact"]
    assert (exact.objective, exact.max_size, exact.n_jobs) == ({"tp": 1.0, "fp": -5.0}, 3, None)
    assert chosen["uwa"].voting == "hard"
    assert set(chosen_methods(asked, None, {}, PoolOptions())) > {"full", "drep", "exact", "greedy-means"}
    assert asked.notes == []


def test_the_papers_stop_has_a_name_that_fits_its_column(asked: TableQuestion) -> None:
    name = "complementariness:fitness"
    assert _methods_of_one_kind(f"uwa,{name}") == ("pruning", ["uwa", name])
    chosen = chosen_methods(asked, ["uwa", name], {}, PoolOptions())
    assert [method.stop for method in chosen.values()] == ["accuracy", "fitness"]
    told = pruners_told(pd.DataFrame({"method": ["uwa", name]}), 10, 0)
    assert len(told.first) == len(name) + 1


def test_rules_beside_soft_votes_are_averaged_and_that_is_said(asked: TableQuestion) -> None:
    chosen = chosen_methods(asked, ["uwa", "exact"], {"voting": "soft"}, PoolOptions())
    assert {name: method.voting for name, method in chosen.items()} == {"uwa": "averaged", "exact": "soft"}
    assert asked.notes == [
        "--set voting=soft is of exact and greedy-means. Rules choose by votes, and answer by the mean."
    ]


def test_what_needs_probabilities_is_left_out_of_judges_without_them_and_that_is_said(
    asked: TableQuestion,
) -> None:
    chosen = chosen_methods(asked, None, {}, PoolOptions(answers=True))
    assert "greedy-means" not in chosen
    assert asked.notes == [
        "greedy-means is left out: it needs probabilities of every judge, and some give classes alone."
    ]


RANKED = pd.DataFrame(
    {
        "method": ["exact", "full"],
        "rank": [1.25, 1.75],
        "accuracy": [0.9512, 0.94],
        "accuracy_deviation": [0.01, float("nan")],
        "balanced_accuracy": [0.95, 0.93],
        "size": [2.5, 10.0],
        "seconds": [0.5, 0.001],
        "n_folds": [2, 2],
    }
)
RESULTS = pd.DataFrame({"method": ["exact", "full"], "fold": [0, 0], "accuracy": [0.95, float("nan")]})


def found(n_wanted: int, n_judges: int = 0) -> TableComparison:
    told = pruners_told(RESULTS, 10, n_judges)
    return TableComparison("table.csv", RESULTS, RANKED, n_wanted, 3.5, told)


def test_the_facts_have_no_nan_and_say_whether_it_was_stopped() -> None:
    facts = json.loads(json.dumps(found(2).facts(Path("f.parquet"), None), allow_nan=False))
    assert (facts["limit"], facts["n_folds"], facts["n_folds_wanted"]) == ("", 2, 2)
    assert facts["methods"][1]["accuracy_deviation"] is None
    assert facts["folds"][1]["accuracy"] is None
    assert (facts["out"], facts["study"]) == ("f.parquet", None)
    stopped = found(5).facts(None, Path("s.db"))
    assert (stopped["limit"], stopped["study"]) == ("interrupted", "s.db")


def test_people_read_a_row_per_method_and_what_ranks_of_one_table_mean(
    capsys: pytest.CaptureFixture[str], stored: Stored
) -> None:
    found(5).print(Path("f.parquet"), details=True)
    stored(capsys.readouterr().out)
    found(2, n_judges=6).print(None)
    found(2).print(None)
    stored(capsys.readouterr().out)


def test_many_methods_are_on_one_screen_best_first(capsys: pytest.CaptureFixture[str]) -> None:
    many = pd.concat([RANKED] * 10, ignore_index=True).assign(method=[f"m{n}" for n in range(20)])
    told = pruners_told(RESULTS, 10, 0)
    TableComparison("table.csv", RESULTS, many, 5, 3.5, told).print(Path("f.parquet"), Path("r.html"))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert [line.split()[0] for line in lines if line.startswith("m")] == [
        "method",
        *(f"m{n}" for n in range(12)),
    ]
    assert "... and 8 more; --details has all" in lines
