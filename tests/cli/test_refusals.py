"""Refusals of prune and evolve before any classifier is fitted or asked: every option with a wrong value."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from shortlist.cli.options.settings import setting_forms
from shortlist.ensembles.estimators import evolved_ensemble, rule_pruners
from shortlist.ensembles.estimators import exact_pruner as estimators
from shortlist.ensembles.pools import fitting
from shortlist.ensembles.pools.members import as_pool
from shortlist.ensembles.pools.pool import Pool
from shortlist.files import dump_object
from shortlist_papers import pruning_comparison as comparison
from tests.cli.command_lines import commands
from tests.cli.refusals import refusals, refuse
from tests.stored import table_of_refusals

COMMANDS = commands()
UNUSED = "options that nothing uses"
"""Section of options that are refused with their default, too."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables of two and of three classes, pools, and files with costs of their members."""
    folder = tmp_path_factory.mktemp("refusals")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=60).round(3) + np.arange(60), "b": rng.integers(9, size=60)})
    table["target"] = np.where(np.arange(60) % 2 == 0, "ill", "well")
    table.to_csv(folder / "rows.csv", index=False)
    table.assign(target=np.arange(60) % 3).to_csv(folder / "three.csv", index=False)
    table.assign(target=np.arange(60) % 2 + 0.5).to_csv(folder / "parts.csv", index=False)
    table.assign(a=np.inf).to_csv(folder / "infinite.csv", index=False)
    _write_bad_tables(table, folder)
    said = table["target"].where(np.arange(60) % 7 > 0, "ill")
    judged = pd.DataFrame({"ann": said, "bob": said.where(np.arange(60) % 5 > 0), "target": table["target"]})
    judged.to_csv(folder / "judged.csv", index=False)
    (folder / "ann.csv").write_text("name,cost\nann,1\nbob,2\n")
    (folder / "more.csv").write_text("name,cost\nann,1\nbob,2\ncleo,3\n")
    (folder / "huge.csv").write_text("name,cost\nann,1e300\nbob,2\n")
    X = table[["a", "b"]]
    trees = [DecisionTreeClassifier(max_depth=d).fit(X, table["target"]) for d in (1, 2, 3)]
    fitted = as_pool(trees)
    dump_object(trees, folder / "pool.joblib")
    dump_object(
        Pool(fitted.classifiers, fitted.classes, fitted.names, fitted.families, costs=np.array([1.0, 2, 3])),
        folder / "priced.joblib",
    )
    dump_object([DecisionTreeClassifier().fit(X, np.where(X["b"] > 4, "yes", "no"))], folder / "other.joblib")
    dump_object([1, 2], folder / "numbers.joblib")
    names = fitted.names
    for file, rows in {
        "text": [(names[0], "1"), (names[1], "dear"), (names[2], "1")],
        "minus": [(names[0], "-1"), (names[1], "1"), (names[2], "1")],
        "gap": [(names[0], ""), (names[1], "1"), (names[2], "1")],
        "twice": [(names[0], "1"), (names[1], "1"), (names[0], "2"), (names[2], "2")],
        "few": [(names[0], "1"), (names[2], "1")],
    }.items():
        (folder / f"{file}.csv").write_text("name,cost\n" + "".join(f"{a},{b}\n" for a, b in rows))
    (folder / "people.csv").write_text("name,price\nx,1\n")
    (folder / "text.db").write_text("no json\n")
    return folder


def _write_bad_tables(table: pd.DataFrame, folder: Path) -> None:
    table.assign(target="ill").to_csv(folder / "one_class.csv", index=False)
    table.assign(target=table["target"].mask(table.index == 3)).to_csv(folder / "gaps.csv", index=False)
    table[["target"]].to_csv(folder / "bare.csv", index=False)
    for name, content in {
        "broken.parquet": b"\x00\x01",
        "binary.csv": bytes(range(256)) * 10,
    }.items():
        (folder / name).write_bytes(content)


@pytest.fixture(autouse=True)
def no_work() -> Iterator[None]:
    """Let every place where classifiers are fitted, bred or chosen fail."""

    def work(*_: Any, **__: Any) -> None:
        raise AssertionError("the work began")

    with pytest.MonkeyPatch.context() as patch:
        for module, names in (
            (fitting, ["run_units"]),
            (comparison, ["run_units"]),
            (estimators, ["prune_for"]),
            (rule_pruners, ["merge_class_rows"]),
            (evolved_ensemble, ["evolve"]),
        ):
            for name in names:
                patch.setattr(module, name, work)
        yield


@refusals("prune", "evolve", "compare-tables")
def test_a_value_that_cannot_be_is_refused_before_the_work(
    folder: Path, refused: Callable[[Path], None]
) -> None:
    refused(folder)


@pytest.mark.parametrize("tables", [["prune"], ["prune", "evolve"]], ids=" and ".join)
def test_every_option_has_a_value_that_is_refused(tables: list[str]) -> None:
    tried = {one.section for table in tables for one in table_of_refusals(table)} - {UNUSED}
    known = COMMANDS[tables[-1]]
    options = {max(each.opts, key=len) for each in known.params} - {"--help", "--trust", "--set"}
    settings = {f"--set {name}" for name in setting_forms(known)}
    assert {"TABLE" if name == "table" else name for name in options} <= tried
    if tables == ["prune"]:
        assert tried <= options | settings | {"TABLE", "--answers", "--trust"}


@pytest.mark.parametrize("command", [["prune"], ["compare", "--methods", "pruning"]])
def test_a_solver_that_is_not_installed_is_said_before_the_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setitem(sys.modules, "gurobipy", None)
    monkeypatch.delitem(sys.modules, "shortlist.milp.backends.gurobi", raising=False)
    refuse(
        *command, "rows.csv", "--set", "solver=gurobi", message="pip install 'shortlist[gurobi]'", cwd=folder
    )
