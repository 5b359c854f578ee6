"""Options, and the methods that take them."""

import importlib.util
from dataclasses import fields
from typing import Any

import pytest

from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.methods.program_methods import ProgramOptions
from shortlist.products.configuration.question import METHODS, OPTIONS, search_options, takes

VALUES: dict[str, Any] = {
    "tolerance": {"cost": 1.0},
    "max_nodes": 100,
    "max_bytes": 100,
    "solver": "cpsat",
    "seed": 3,
    "n_points": 5,
    "rule": "hit-and-run",
    "objective": "cost",
    "solve_limit_s": 0.5,
    "study": "file",
    "workers": 2,
}


def test_there_is_a_value_here_for_every_option() -> None:
    assert set(VALUES) == {one.name for kind in OPTIONS.values() for one in fields(kind)}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("option", VALUES)
def test_an_option_is_taken_or_refused_by_name(method: str, option: str) -> None:
    if takes(method, option):
        assert getattr(search_options(method, **{option: VALUES[option]}), option) == VALUES[option]
    else:
        with pytest.raises(BadInputError, match=rf"^`{option}` is no option of `method='{method}'`, which"):
            search_options(method, **{option: VALUES[option]})


@pytest.mark.parametrize("option", VALUES)
def test_every_option_is_for_some_method_but_not_for_all(option: str) -> None:
    having = [method for method in METHODS if takes(method, option)]
    assert having
    assert option == "seed" or len(having) < len(METHODS)


def test_none_stands_for_the_default() -> None:
    assert search_options("exact", n_points=None, seed=None) == ProgramOptions()


@pytest.mark.parametrize(
    ("method", "given", "message"),
    [
        pytest.param("guess", {}, "method must be one of", id="method"),
        pytest.param("ibea", {}, "got 'ibea'. It is an opponent", id="opponent"),
        pytest.param("exact", {"wings": 2}, "`wings` is no option of", id="unknown"),
        pytest.param("exact", {"solver": "abacus"}, "solver must be one of", id="solver"),
        pytest.param("solrep", {"rule": "dice"}, "rule must be one of", id="rule"),
        pytest.param("solrep", {"n_points": -1}, "n_points must be at least 0", id="points"),
        pytest.param("solrep", {"solve_limit_s": 0.0}, "solve_limit_s must be", id="no time"),
        pytest.param("solrep", {"workers": 0}, "workers must be a number of workers", id="no workers"),
        pytest.param("solrep", {"workers": 2, "rule": "adaptive"}, "workers must be 1 with rule", id="adaptive"),
        pytest.param("exact", {"seed": -1}, "seed must be at least 0", id="seed"),
        pytest.param("diagram", {"max_bytes": 0}, "max_bytes must be at least 1", id="bytes"),
    ],
)  # fmt: skip
def test_bad_options_are_named(method: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        search_options(method, **given)


@pytest.mark.parametrize(
    ("method", "options", "package"),
    [
        ("exact", {"solver": "gurobi"}, "gurobipy"),
        ("auto", {"solver": "gurobi"}, "gurobipy"),
    ],
)
def test_a_package_that_is_not_there_is_told_before_anything_is_read(
    method: str, options: dict[str, Any], package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    search_options(method, **options)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else object())

    with pytest.raises(MissingDependencyError, match=rf"needs the {package} package. Install it: pip"):
        search_options(method, **options)
