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
from tests.stored import Stored

NAMES = ["Shop", *(f"F{i}" for i in range(20))]
MODEL = make_model(NAMES, root=0, groups=[make_group(0, [i], "optional") for i in range(1, 21)])


def _printed(found: Analysis, capsys: pytest.CaptureFixture[str], limit: str = "") -> str:
    print_analysis(analysis_facts(MODEL, found) | {"limit": limit})
    return capsys.readouterr().out


def test_long_lists_are_cut_and_say_so(capsys: pytest.CaptureFixture[str], stored: Stored) -> None:
    sets = tuple((i, i + 1) for i in range(1, 15))
    found = Analysis(redundant=tuple(range(1, 15)), atomic_sets=sets, uncounted="no nodes to count with")
    stored(_printed(found, capsys))


def test_an_explanation_that_may_not_be_the_smallest_says_so(
    capsys: pytest.CaptureFixture[str], stored: Stored
) -> None:
    dead = (Finding(1, Explanation((0, 1), smallest=False)), Finding(2), Finding(3))
    stored(_printed(Analysis(dead=dead), capsys))


def test_an_analysis_stopped_before_it_found_anything_says_nothing_of_the_model(
    capsys: pytest.CaptureFixture[str], stored: Stored
) -> None:
    nothing = Analysis(unanswered=("void", *KINDS))
    stored(_printed(nothing, capsys, "2 s"))
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


@pytest.mark.parametrize("shares", [(2**100, 2**99, *[2**98] * 19), (10**5000, 10**4999)], ids=["30", "5000"])
def test_counts_beyond_all_reading_are_powers_of_ten(
    shares: tuple[int, ...], capsys: pytest.CaptureFixture[str], stored: Stored
) -> None:
    stored(_printed(Analysis(n_products=shares[0], products_with=shares), capsys))


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


def test_a_void_model_that_was_not_explained_in_time_shows_some_rules(
    capsys: pytest.CaptureFixture[str], stored: Stored
) -> None:
    found = Analysis(void=Explanation(tuple(range(20)), smallest=False), unanswered=("void",))
    facts = analysis_facts(MODEL, found)
    assert (facts["status"], facts["complete"]) == ("infeasible", False)
    stored(_printed(found, capsys))


def test_a_comparison_that_was_stopped_says_what_the_edit_may_be(
    capsys: pytest.CaptureFixture[str], stored: Stored
) -> None:
    found = ModelDifference(("A",), (), (), None, None, unsure=("lost",))
    facts = difference_facts(found) | {"limit": "2 s"}
    print_difference(facts, Path("a.uvl"), Path("b.uvl"))
    stored(capsys.readouterr().out)
    assert (facts["status"], facts["edit"]) == ("feasible", None)
