"""Checks that every command and every estimator shares."""

import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import GaussianNB

import shortlist
from shortlist._validation import as_seed
from shortlist.cli.main import app
from shortlist.errors import BadInputError
from tests.cli.running import shortlist as run

MODEL = "features\n    Shop\n        optional\n            Card\n"

PROGRAM = "minimize multi-objectives\n a: x\n b: - x\nsubject to\n r: x <= 1\nbinary\n x\nend\n"

SEEDS = {
    ("prune", "--seed"): ["prune", "rows.csv", "--workers", "1"],
    ("evolve", "--seed"): ["evolve", "rows.csv", "--workers", "1"],
    ("stage", "--seed"): ["stage", "rows.csv", "--workers", "1"],
    ("configure", "--seed"): ["configure", "shop.uvl", "--method", "solrep"],
    ("compare", "--seed"): ["compare", "shop.uvl", "--methods", "ibed,ibea", "--set", "seeds=2"],
    ("solve", "--seed"): ["solve", "shop.lp", "--method", "solrep"],
    ("panel", "--seed"): ["panel", "answers.csv"],
    ("measure", "--seed"): ["measure", "panel.json", "answers.csv"],
}
"""Command that uses each option that is a seed; a new one must be added here."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seeds")
    rng = np.random.default_rng(0)
    rows = "".join(f"{a:.3f},{'yes' if a > 0 else 'no'}\n" for a in rng.normal(size=60))
    (folder / "rows.csv").write_text("a,target\n" + rows)
    (folder / "shop.uvl").write_text(MODEL)
    (folder / "shop.lp").write_text(PROGRAM)
    (folder / "answers.csv").write_text("judge,truth\n" + "yes,yes\nno,no\n" * 20)
    run("panel", "answers.csv", "--out", "panel.json", cwd=folder)
    return folder


def estimators() -> list[type[BaseEstimator]]:
    """Every estimator of the package, found by walking its modules."""
    found = {}
    for module in pkgutil.walk_packages(shortlist.__path__, "shortlist."):
        if module.name.endswith(("__main__", "backends.gurobi", "backends.cplex")):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            public = inspect.isclass(value) and not name.startswith("_") and not inspect.isabstract(value)
            if public and issubclass(value, BaseEstimator) and value.__module__.startswith("shortlist."):
                found[name] = value
    return [found[name] for name in sorted(found)]


def test_seeds_are_whole_numbers_from_0_to_2_to_the_32_minus_1() -> None:
    assert as_seed(np.int64(2**32 - 1)) == 2**32 - 1
    for bad in (-1, 2**32, 0.5, "1", True, None):
        with pytest.raises(BadInputError, match="seed must be"):
            as_seed(bad)


def test_every_option_that_is_a_seed_is_known_here() -> None:
    command: Any = typer.main.get_command(app)
    options = {
        (name, option)
        for name, each in command.commands.items()
        for parameter in each.params
        for option in parameter.opts
        if option == "--seed"
    }
    assert options == set(SEEDS)


@pytest.mark.parametrize("seed", [-1, 2**32])
@pytest.mark.parametrize(("command", "option"), SEEDS)
def test_every_command_refuses_seeds_outside_the_one_range(
    folder: Path, command: str, option: str, seed: int
) -> None:
    ran = run(*SEEDS[command, option], option, str(seed), cwd=folder)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"{option} must be at least 0 and at most 4294967295, got {seed}." in ran.stderr
    assert ran.stderr.count("\n") == 1


def made(estimator: Any, **parameters: Any) -> Any:
    """Return an estimator, around another one where it needs that."""
    needs = "classifier" in inspect.signature(estimator).parameters
    return estimator(GaussianNB(), **parameters) if needs else estimator(**parameters)


def test_every_estimator_refuses_seeds_outside_the_one_range() -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    seeded = [each for each in estimators() if "random_state" in inspect.signature(each).parameters]
    assert len(seeded) >= 5
    for estimator in seeded:
        for seed in (-1, 2**32):
            with pytest.raises(BadInputError, match="random_state must be at least 0 and at most 4294967295"):
                made(estimator, random_state=seed).fit(X, y)


def test_every_estimator_refuses_weights_of_rows_in_its_own_name() -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    fitted = [each for each in estimators() if hasattr(each, "fit") and hasattr(each, "predict")]
    assert len(fitted) >= 5
    for estimator in fitted:
        with pytest.raises(BadInputError, match=f"{estimator.__name__}.fit takes no sample_weight"):
            made(estimator).fit(X, y, sample_weight=np.ones(40))
        with pytest.raises(TypeError, match=f"{estimator.__name__}.fit.. got an unexpected keyword"):
            made(estimator).fit(X, y, weights=np.ones(40))
