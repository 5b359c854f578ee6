"""Text on an analysis that is long, cut short or without a count."""

from pathlib import Path
from typing import Any

import pytest

from shortlist._words import count_text
from shortlist.cli.text.model_analysis import (
    analysis_facts,
    difference_facts,
    print_analysis,
    print_difference,
)
from shortlist.products.analysis import KINDS, Analysis, Finding
from shortlist.products.configuration.explanation import Explanation
from shortlist.products.conversion import ModelDifference
from shortlist.products.model import make_group, make_model

NAMES = ["Shop", *(f"F{i}" for i in range(20))]
MODEL = make_model(NAMES, root=0, groups=[make_group(0, [i], "optional") for i in range(1, 21)])


def _printed(found: Analysis, capsys: pytest.CaptureFixture[str], limit: str = "") -> str:
    print_analysis(analysis_facts(MODEL, found) | {"limit": limit})
    return capsys.readouterr().out


def test_long_lists_are_cut_and_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    sets = tuple((i, i + 1) for i in range(1, 15))
    found = Analysis(redundant=tuple(range(1, 15)), atomic_sets=sets, uncounted="no nodes to count with")
    printed = _printed(found, capsys)
    assert "14 superfluous rules, each of which all others imply\n  F0 is optional below Shop\n" in printed
    assert printed.count("  and 2 more; --json has all\n") == 2
    assert "products were not counted: no nodes to count with\n" in printed


def test_an_explanation_that_may_not_be_the_smallest_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    dead = (Finding(1, Explanation((0, 1), smallest=False)), Finding(2), Finding(3))
    printed = _printed(Analysis(dead=dead), capsys)
    assert printed.startswith(
        "3 dead features, which no product has\n"
        "  F0, because of (2 rules, perhaps not the fewest):\n"
        "    every product has Shop\n"
        "    F0 is optional below Shop\n"
        "  not explained: F1, F2\n"
    )


def test_an_analysis_stopped_before_it_found_anything_says_nothing_of_the_model(
    capsys: pytest.CaptureFixture[str],
) -> None:
    nothing = Analysis(unanswered=("void", *KINDS))
    assert _printed(nothing, capsys, "2 s") == (
        "Stopped (2 s) before it was known whether the model has a product.\n"
    )
    assert (analysis_facts(MODEL, nothing)["status"], nothing.complete) == ("unknown", False)


@pytest.mark.parametrize("kind", ["dead", "false_optional", "redundant", "atomic_sets"])
def test_an_analysis_that_was_stopped_says_so_far_of_what_it_left_open_alone(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    order = ["dead", "false_optional", "", "redundant", "atomic_sets"]
    one: dict[str, tuple[Any, ...]] = {"redundant": (1,), "atomic_sets": ((1, 2),)}
    for found in ({}, {kind: one.get(kind, (Finding(1),))}):
        values: dict[str, Any] = dict(found)
        stopped = Analysis(**values, unanswered=(kind,))
        lines = [line for line in _printed(stopped, capsys, "2 s").splitlines() if not line.startswith(" ")]
        assert [line.startswith("So far: ") for line in lines[:5]] == [name == kind for name in order]
        assert lines[-1].startswith("stopped (2 s): what is listed is proved")
        assert analysis_facts(MODEL, stopped)["status"] == "feasible"
    assert "So far" not in _printed(Analysis(), capsys)


def test_counts_beyond_all_reading_are_powers_of_ten(capsys: pytest.CaptureFixture[str]) -> None:
    found = Analysis(n_products=2**100, products_with=(2**100, 2**99, *[2**98] * 19))
    printed = _printed(found, capsys)
    assert (
        "1.267e30 (1267650600228229401496703205376) products; the features that fewest of them have:\n"
        "   25.000 %  F1\n"
    ) in printed


@pytest.mark.parametrize(
    ("count", "text"),
    [
        ("14", "14"),
        ("123456789012345", "123,456,789,012,345"),
        ("1234567890123456", "1.234e15 (1234567890123456)"),
        ("9" * 61, "9.999e60"),
    ],
)
def test_counts_are_shown_by_their_length(count: str, text: str) -> None:
    assert count_text(count) == text


def test_counts_longer_than_python_shows_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    found = Analysis(n_products=10**5000, products_with=(10**5000, 10**4999))
    assert _printed(found, capsys).endswith(
        "1.000e5000 products; the features that fewest of them have:\n   10.000 %  F0\n  100.000 %  Shop\n"
    )


def test_a_void_model_that_was_not_explained_in_time_shows_some_rules(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = Analysis(void=Explanation(tuple(range(20)), smallest=False), unanswered=("void",))
    facts = analysis_facts(MODEL, found)
    assert (facts["status"], facts["complete"]) == ("infeasible", False)
    lines = _printed(found, capsys).splitlines()
    assert lines[0].endswith("contradict each other (20 rules, perhaps not the fewest):")
    assert (len(lines), lines[-1]) == (14, "  and 8 more; --json has all")


def test_a_comparison_that_was_stopped_says_what_the_edit_may_be(capsys: pytest.CaptureFixture[str]) -> None:
    found = ModelDifference(("A",), (), (), None, None, unsure=("lost",))
    facts = difference_facts(found) | {"limit": "2 s"}
    print_difference(facts, Path("a.uvl"), Path("b.uvl"))
    assert capsys.readouterr().out == (
        "Stopped (2 s) before it was known whether products were lost: refactoring or specialisation.\n"
    )
    assert (facts["status"], facts["edit"]) == ("feasible", None)
