"""Methods that are compared on product lines, and their options."""

import importlib.util

import pytest

from shortlist.errors import BadInputError, MissingDependencyError
from shortlist.products.configuration.question import EVOLUTIONARY_METHODS, OPTIONS, search_options
from shortlist_papers.product_methods import KeptEvolutionOptions, method_options, takes


def test_methods_of_the_library_have_the_options_that_they_have_there() -> None:
    for method in OPTIONS.keys() - {"auto"}:
        assert method_options(method, seed=3) == search_options(method, seed=3)


def test_evolution_has_options_of_its_own() -> None:
    for method in EVOLUTIONARY_METHODS:
        assert method_options(method, n_evaluations=200, n_starts=2).seed == 0
        assert takes(method, "study") == (method != "nsga2")
        with pytest.raises(BadInputError, match=rf"^`solver` is no option of `method='{method}'`, which has"):
            method_options(method, solver="scip")
    assert method_options("ibea", n_starts=None) == KeptEvolutionOptions()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param({"n_evaluations": 99}, "n_evaluations must be at least 100", id="evaluations"),
        pytest.param({"n_starts": 101}, "at most 100", id="starts"),
    ],
)
def test_bad_options_are_named(given: dict[str, int], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        method_options("ibed", **given)


def test_a_package_that_is_not_there_is_told_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    method_options("nsga2")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pymoo" else object())
    with pytest.raises(MissingDependencyError, match=r"needs the pymoo package. Install it: pip install"):
        method_options("nsga2")
    method_options("ibea")
