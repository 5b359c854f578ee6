"""The pruning paper, at its smallest."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from shortlist.ensembles.pools.fitting import make_pool
from shortlist.errors import BadInputError
from shortlist_papers import pruning_tables as printed
from shortlist_papers.paper import Extent, ResultTable, claims_table, reproduce
from shortlist_papers.pruning import (
    PRUNING,
    SETS,
    SIZES,
    PruningSize,
    count_redundant,
    paper_methods,
    plan_pruning,
    size_of,
)
from shortlist_papers.pruning_tables import (
    ACCURACY_METHODS,
    BALANCED_METHODS,
    CONTENTS,
    RANKED,
    WITH_FLOOR,
    by_repeat,
    mean_ranks,
    pruning_tables,
)
from tests.shortlist_papers.made_sets import write_made_set, write_wdbc

SMALLEST = PruningSize(("wdbc", "parkinsons", "musk-v1"), 1, 1, (10,), None, node_limit=1000)
GROUPS = ["F1", "F2", "F3", "F1-theta", WITH_FLOOR, "benchmarks"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sets")
    write_wdbc(made)
    write_made_set(made, "parkinsons")
    return made


@pytest.mark.slow
def test_the_smallest_reproduction_fills_the_papers_tables(folder: Path) -> None:
    plan = plan_pruning(folder, SMALLEST)
    assert [unit.key for unit in plan.units] == [
        key
        for name in ("wdbc", "parkinsons")
        for key in (f"{name}/rows", f"{name}/theorems", *(f"{name}/0/0/10/{group}" for group in GROUPS))
    ]
    assert [unit.kind for unit in plan.units[2:8]] == [f"wdbc, {group}" for group in GROUPS]
    assert plan.units[0].size == 0 < plan.units[1].size, "counting rows takes no time beside fitting"
    assert len(plan.missing) == 1
    assert "musk_v1.csv" in plan.missing[0]
    found = reproduce(PRUNING, plan)
    runs = found.rows.query("kind == 'run'")
    assert (runs["selection"].map(len) == runs["members"]).all()
    floored = runs[runs["method"] == WITH_FLOOR]
    assert floored["members"].min() >= 2, "20 % of ten"
    exact = runs[runs["method"].isin(["F2", "F3"]) & (runs["members"] > 1)]
    assert (exact["pfc"] >= exact["gamma"] - 1e-6).all()
    tables = {table.name: table for table in found.tables}
    assert list(tables) == ["claims", *CONTENTS]
    ours = {name: [row for row in table.rows if row.get("whose") == "here"] for name, table in tables.items()}
    assert {(row["set"], row["27 % of N"]) for row in ours["table-3"]} == {("BCW", 154), ("PRK", 53)}
    assert sum(ours["table-4"][0][method] for method in ACCURACY_METHODS) == pytest.approx(28, abs=0.05)
    assert sum(ours["table-6"][0][method] for method in BALANCED_METHODS) == pytest.approx(21, abs=0.05)
    assert "Nemenyi" in tables["table-4"].note
    theorems = found.rows.query("kind == 'theorem'")
    assert (theorems["redundant_accuracy"] == theorems["programs"]).all()
    assert theorems["programs"].tolist() == [9 * 2**8] * 2
    assert theorems["same_best"].tolist() == [True, True]
    assert theorems["selections"].tolist() == [1279, 1279], (
        "a threshold from 0 to the size, of 255 selections"
    )
    assert theorems["pairs"].tolist() == theorems["same_diversity"].tolist() == [247, 247]
    validation = found.rows.set_index(["dataset", "method"])["validation_accuracy"]
    for name in ("BCW", "PRK"):  # F1 is exact, so no other selection is better on the rows that prune
        proved = found.rows.query("dataset == @name and method == 'F1'")["gap"].iloc[0] == 0
        assert proved
        assert validation[name, "F1"] >= validation[name].drop("F1-theta").max() - 1e-12


def test_tables_methods_and_sizes_that_are_not_asked_for_are_not_measured(folder: Path) -> None:
    two = dataclasses.replace(SMALLEST, sets=("wdbc",), pools=(10, 20), n_run=2)

    def keys(*tables: str, size: PruningSize = two) -> list[str]:
        return [unit.key for unit in plan_pruning(folder, size, tables).units]

    assert keys("table-2") == ["wdbc/rows"]
    folds = [f"wdbc/0/{fold}/{size}" for size in (10, 20) for fold in (0, 1)]
    assert keys("table-3") == ["wdbc/rows", *(f"{fold}/{one}" for fold in folds for one in ("F1", "F3"))]
    balanced = ("F1", "F1-theta", "benchmarks")
    assert keys("table-6") == ["wdbc/rows", *(f"{fold}/{one}" for fold in folds for one in balanced)]
    assert set(keys("table-3")) < set(keys())


def test_one_study_serves_every_extent_that_has_the_same_limits(folder: Path) -> None:
    few = plan_pruning(folder, SMALLEST, ("table-3",))
    many = plan_pruning(folder, dataclasses.replace(SMALLEST, pools=(10, 20), n_run=3, n_repeats=2))
    assert few.settings == many.settings
    assert {unit.key for unit in few.units} < {unit.key for unit in many.units}
    slower = plan_pruning(folder, dataclasses.replace(SMALLEST, time_limit_s=9.0))
    assert slower.settings != few.settings


def test_an_extent_changes_what_it_names() -> None:
    extent = Extent("medium", sets=("PRK", "BCW"), classifiers=(60,), folds=2, seeds=3, time_limit_s=7)
    assert size_of(extent) == PruningSize(("parkinsons", "wdbc"), 2, 3, (60,), 7)
    for scale, size in SIZES.items():
        assert size_of(Extent(scale)) == size
    assert SIZES["medium"].sets == tuple(SETS)


def test_pools_without_as_many_of_each_kind_and_more_folds_than_ten_are_refused() -> None:
    with pytest.raises(BadInputError, match=r"classifiers must be multiples of 10, .* got 45"):
        size_of(Extent(classifiers=(40, 45)))
    with pytest.raises(BadInputError, match="folds must be at most 10, got 20"):
        size_of(Extent(folds=20))


def test_table_2_alone_and_a_run_that_was_stopped_early_have_the_sets(folder: Path) -> None:
    plan = plan_pruning(folder, SMALLEST, ("table-2",))
    found = reproduce(PRUNING, plan, tables=("table-2",))
    assert [table.name for table in found.tables] == ["table-2"]
    assert [table.name for table in pruning_tables(_rows().query("kind == 'set'"))] == ["table-2"]


def test_hill_climbing_stops_at_the_best_fitness_as_the_paper_says() -> None:
    methods = paper_methods(None)
    assert [methods[name].stop for name in ("HC-CON", "HC-UWA")] == ["fitness", "fitness"]


def test_a_pool_holds_the_first_of_each_kind_of_a_larger_one() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    small, large = make_pool(X, y, n_classifiers=20), make_pool(X, y, n_classifiers=30)
    first = large.subset(np.arange(30) < 20)
    assert small.names == first.names
    for one, other in zip(small.classifiers, first.classifiers, strict=True):
        assert (one.predict(X) == other.predict(X)).all()


def test_the_printed_tables_agree_with_themselves() -> None:
    for _, _, n, negative, positive, _ in printed.SETS.values():
        assert n == negative + positive
    for metric, methods in RANKED.items():
        for row in (*printed.RANKS[metric].values(), printed.MEAN_RANKS[metric]):
            assert len(row) == len(methods)
            assert sum(row) == pytest.approx(sum(range(1, len(methods) + 1)), abs=0.035)
    means = np.mean(list(printed.RANKS["accuracy"].values()), axis=0)
    assert means == pytest.approx(printed.MEAN_RANKS["accuracy"], abs=0.011)


def test_the_printed_ranks_cannot_be_means_over_nine_sets() -> None:
    for ranks in printed.RANKS.values():
        for row in ranks.values():
            assert any(min(abs(rank - n / 18) for n in range(18 * 7 + 1)) > 0.005 for rank in row)
            assert all(min(abs(rank - n / 180) for n in range(180 * 7 + 1)) <= 0.005 for rank in row)


def _rows(sizes: tuple[int, ...] = (100,), repeats: int = 2, seed: int = 0, folds: int = 2) -> pd.DataFrame:
    """Return made rows: two sets, by default two folds, values with many ties."""
    rng = np.random.default_rng(seed)
    methods = dict.fromkeys(ACCURACY_METHODS + BALANCED_METHODS)
    runs = [
        {
            "kind": "run", "dataset": name, "classifiers": size, "repeat": repeat, "fold": fold, "method": method,
            "gap": 0.01 * (fold + 1) if method in {"F1", "F3"} else None, "pruning_rows": 154,
            "validation_accuracy": 0.95, "accuracy": 0.5 + rng.integers(0, 4) / 10,
            "balanced_accuracy": 0.5 + rng.integers(0, 4) / 10, "seconds": 60.0,
        }
        for name, size, repeat, fold, method in itertools.product(
            ("SPA", "BCW"), sizes, range(repeats), range(folds), methods
        )
    ]  # fmt: skip
    sets = [
        {"kind": "set", "dataset": name, "features": 30, "rows": 569, "negative": 357, "positive": 212}
        for name in ("SPA", "BCW")
    ]
    return pd.DataFrame(sets + runs)


def _table(rows: pd.DataFrame, name: str) -> ResultTable:
    (found,) = [table for table in pruning_tables(rows) if table.name == name]
    return found


def _ours(rows: pd.DataFrame, name: str) -> list[dict[str, Any]]:
    return [row for row in _table(rows, name).rows if row["whose"] == "here"]


def _rank(value: float, values: list[float]) -> float:
    better, equal = sum(one > value for one in values), sum(one == value for one in values)
    return better + (equal + 1) / 2


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy"])
def test_ranks_are_of_each_set_and_repeat_among_the_papers_own_methods(metric: str) -> None:
    runs = _rows(repeats=3).query("kind == 'run'")
    found = mean_ranks(runs[runs["method"].isin(RANKED[metric])], metric)
    for method in RANKED[metric]:
        ranks = []
        for name, repeat in itertools.product(("SPA", "BCW"), range(3)):
            means = {
                one: round(float(np.mean([
                    row[metric] for row in runs.to_dict("records")
                    if (row["dataset"], row["repeat"], row["method"]) == (name, repeat, one)
                ])), 12)
                for one in RANKED[metric]
            }  # fmt: skip
            ranks.append(_rank(means[method], list(means.values())))
        assert found.loc[100, method] == pytest.approx(np.mean(ranks))


@pytest.mark.parametrize(("name", "metric"), [("table-4", "accuracy"), ("table-6", "balanced_accuracy")])
def test_tables_of_ranks_have_a_row_for_every_number_and_their_mean(name: str, metric: str) -> None:
    table = _table(_rows((40, 60, 80, 100)), name)
    rows = {(row["classifiers"], row["whose"]): row for row in table.rows}
    for size in (40, 60, 80, 100):
        assert (size, "here") in rows
        assert ((size, "paper") in rows) == (size in printed.RANKS[metric])
    for size, ranks in printed.RANKS[metric].items():
        assert [rows[size, "paper"][method] for method in RANKED[metric]] == list(ranks)
    whole = rows["Mean of 40, 60, 80 and 100", "paper"]
    assert [whole[one] for one in RANKED[metric]] == list(printed.MEAN_RANKS[metric])
    assert (("Mean of these", "paper") in rows) == (metric == "accuracy")
    for method in RANKED[metric]:
        mean = np.mean([rows[size, "here"][method] for size in (40, 60, 80, 100)])
        assert rows["Mean of these", "here"][method] == pytest.approx(mean, abs=0.011)


def test_table_2_has_a_row_of_the_paper_for_every_set_and_ours_where_it_is_there() -> None:
    table = _table(_rows(), "table-2")
    assert [(row["set"], row["whose"]) for row in table.rows if row["whose"] == "paper"] == [
        (label, "paper") for label in printed.SETS
    ]
    ours = {row["set"]: row for row in table.rows if row["whose"] == "here"}
    assert set(ours) == {"SPA", "BCW"}
    assert ours["BCW"] == {
        "set": "BCW", "dataset": "Breast Cancer Wisconsin", "whose": "here", "features": 30, "rows": 569,
        "negative": 357, "positive": 212, "theta": 0.37,
    }  # fmt: skip


def test_table_3_has_means_and_deviations_of_the_largest_pools() -> None:
    table = _table(_rows((40, 100), repeats=1), "table-3")
    assert [(row["set"], row["whose"]) for row in table.rows] == list(
        itertools.product(("BCW", "SPA"), ("here", "paper"))
    )
    assert table.rows[2] == {
        "set": "SPA", "whose": "here", "27 % of N": 154, "F1 avg.": 1.5, "F1 std.": 0.71, "F3 avg.": 1.5,
        "F3 std.": 0.71,
    }  # fmt: skip
    assert list(table.rows[3].values())[2:] == list(printed.GAPS["SPA"])
    assert "100 classifiers" in table.title
    assert "26 for PRK" in table.note


def test_table_5_has_means_over_repeats_their_deviations_and_the_average() -> None:
    rows = _rows((40, 80, 100))
    table = _table(rows, "table-5")
    found = {(row["set"], row["classifiers"], row["whose"]): row for row in table.rows}
    for name, size in itertools.product(("SPA", "BCW"), (40, 80, 100)):
        own = rows[(rows["dataset"] == name) & (rows["classifiers"] == size)]
        for method in BALANCED_METHODS:
            repeats = own[own["method"] == method].groupby("repeat")["balanced_accuracy"].mean()
            ours = found[name, size, "here"]
            assert ours[method] == pytest.approx(repeats.mean(), abs=6e-5)
            assert ours[f"{method} std."] == pytest.approx(repeats.std(ddof=1), abs=6e-5)
        assert ((name, size, "paper") in found) == ((name, size) in printed.BALANCED)
    assert found["SPA", 80, "paper"]["F1-theta"] == 0.9521
    assert found["SPA", 80, "paper"]["F1-theta std."] == 0.0018
    average = found["Average", None, "here"]
    cells = [
        found[name, size, "here"]["F1"] for name, size in itertools.product(("SPA", "BCW"), (40, 80, 100))
    ]
    assert average["F1"] == pytest.approx(np.mean(cells), abs=1e-4)
    assert found["Average", None, "paper"]["HC-UWA std."] == 0.0076
    assert _ours(_rows(repeats=1), "table-5")[0]["F1 std."] is None


def test_a_claim_counts_the_cases_in_which_a_configuration_is_ahead_of_every_benchmark() -> None:
    rows = _rows((40, 100), seed=3, folds=10)
    claims = [dataclasses.replace(claim, needs=()) for claim in PRUNING.claims]
    found = {row["claim"]: row for row in claims_table(claims, rows).rows}
    for method, metric in {"F2": "accuracy", "F1-theta": "balanced_accuracy"}.items():
        ahead = 0
        for name, size in itertools.product(("SPA", "BCW"), (40, 100)):
            own = rows[(rows["dataset"] == name) & (rows["classifiers"] == size)]
            means = own.groupby("method")[metric].mean()
            ahead += all(means[method] > means[other] + 1e-12 for other in printed.BENCHMARKS)
        (row,) = [row for claim, row in found.items() if claim.startswith(PRINTED[method])]
        assert row["here"] == f"{ahead} of 4"
    fewer = rows[(rows["fold"] < 9) | (rows["classifiers"] != 100)]
    assert all(
        row["here"].endswith(" of 2")
        for row in claims_table(claims, fewer).rows
        if row["claim"].startswith(tuple(PRINTED.values()))
    ), "pools without all folds are not counted"


PRINTED = {"F2": "F2 outperforms all", "F1-theta": "θ-weighted F1 outperforms all benchmarks in 22"}


def test_folds_that_lack_a_method_of_a_table_do_not_count_in_it() -> None:
    rows = _rows()
    stopped = rows.drop(rows[(rows["method"] == "FE") & (rows["repeat"] == 1) & (rows["fold"] == 1)].index)
    runs = stopped[(stopped["kind"] == "run") & ~((stopped["repeat"] == 1) & (stopped["fold"] == 1))]
    expected = mean_ranks(runs[runs["method"].isin(ACCURACY_METHODS)], "accuracy")
    found = _ours(stopped, "table-4")[0]
    assert [found[one] for one in ACCURACY_METHODS] == pytest.approx(expected.iloc[0].to_list(), abs=0.006)
    assert _ours(stopped, "table-3") == _ours(rows, "table-3")
    assert len(by_repeat(runs, "accuracy")) == 4


def test_pools_without_a_figure_of_the_paper_have_ours_alone() -> None:
    assert [row["whose"] for row in _table(_rows((10,)), "table-4").rows] == ["here", "here", "paper"]


def test_one_set_is_ranked_without_a_test_over_sets() -> None:
    alone = _rows().query("dataset == 'BCW'")
    table = _table(alone, "table-4")
    assert "Nemenyi" not in table.note
    assert table.title.endswith("2 pairs of a set and a repeat")
    assert _table(alone.query("repeat != 1"), "table-4").title.endswith("1 pair of a set and a repeat")
    assert sum(table.rows[0][method] for method in ACCURACY_METHODS) == pytest.approx(28, abs=0.05)


def test_constraints_are_redundant_on_every_selection_and_as_printed_forbid_some() -> None:
    one = count_redundant(np.array([[1], [1]]), np.array([0, 1]))
    assert one == {
        "programs": 4, "redundant_accuracy": 4, "redundant_recall": 4, "forbidden": 1, "same_value": True,
    }, "of no member and a threshold of one the negative row has 2 - 0 > 1"  # fmt: skip
    votes = np.random.default_rng(0).integers(0, 2, (12, 3))
    found = count_redundant(votes, np.arange(12) % 2)
    silent = sum(
        bool((votes[::2] @ np.array(members) == 0).any()) for members in itertools.product((0, 1), repeat=3)
    )
    assert (found["programs"], found["redundant_accuracy"], found["forbidden"]) == (32, 32, silent)


def test_a_claim_on_redundant_constraints_fails_where_one_selection_is_otherwise() -> None:
    row = {
        "kind": "theorem", "dataset": "PRK", "programs": 9, "redundant_accuracy": 9, "redundant_recall": 9,
        "forbidden": 1, "same_value": True,
    }  # fmt: skip
    claims = [one for one in PRUNING.claims if "redundant" in one.what]
    verdicts = []
    for other in ({}, {"redundant_accuracy": 8, "redundant_recall": 8}, {"same_value": False}):
        made = claims_table(claims, pd.DataFrame([row | other])).rows
        verdicts.append([one["verdict"] for one in made])
    assert verdicts == [["holds"] * 2, ["does not hold"] * 2, ["does not hold", "holds"]]
