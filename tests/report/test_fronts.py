"""Fronts as data of a page: nothing is lost, and what is left out is told."""

import base64
import zlib
from typing import Any

import numpy as np
import pytest

from shortlist.errors import BadInputError
from shortlist.report import fronts
from shortlist.report.fronts import explorer_data, frequency_chart, front_page_parts, front_parts
from shortlist.report.page import Explorer, Table, Text
from shortlist.results.front import Front
from shortlist.results.objective import Objective
from shortlist.results.proof import Proof, ProofKind
from tests.report.made import GOALS, front_of, sphere


def choices(data: dict[str, Any], n_points: int) -> list[set[str]]:
    """Unpack what is chosen at every point, the slow way."""
    own = data["choices"]
    plain = zlib.decompress(base64.b64decode(own["packed"]))
    stride = -(-len(own["names"]) // 8)
    rows = []
    for point in range(n_points):
        bits = "".join(f"{byte:08b}" for byte in plain[point * stride : (point + 1) * stride])
        picked = {name for name, bit in zip(own["names"], bits, strict=False) if bit == "1"}
        rows.append(picked | set(own["always"]))
    return rows


def test_values_and_choices_come_back_as_they_were() -> None:
    first, second = sphere(40, 4), sphere(25, 4, seed=1, method="solrep")
    data = explorer_data({"a": first, "b": second})

    values = np.array(data["values"]).T
    np.testing.assert_array_equal(values, np.vstack([first.values, second.values]))
    wanted = [
        {name for name, bit in zip(front.candidates, row, strict=True) if bit}
        for front in (first, second)
        for row in front.decisions.tolist()
    ]
    assert choices(data, 65) == wanted
    assert [one["better"] for one in data["objectives"]] == ["less", "more", "less", "less"]
    assert [one["n"] for one in data["groups"]] == [40, 25]


def test_candidates_at_every_point_are_told_once_and_those_at_none_are_counted() -> None:
    values = [[1.0, 3, 1], [2, 4, 1], [3, 5, 1]]
    decisions = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [1, 0, 1, 1]])
    front = Front.from_values(GOALS[:3], np.array(values), decisions, list("abcd"), Proof(ProofKind.COMPLETE))
    own = explorer_data({"one": front})["choices"]
    assert (own["always"], own["never"], own["names"]) == (["a"], 1, ["c", "d"])
    assert choices(explorer_data({"one": front}), 3) == [{"a", "c"}, {"a", "d"}, {"a", "c", "d"}]
    chart = frequency_chart(front)
    assert chart is not None
    assert chart.data["names"] == ["c", "d"]
    assert chart.data["series"][0]["values"] == pytest.approx([66.67, 66.67])
    assert chart.text.startswith("1 candidate at every point, 1 at none, 2 at some")


def test_stages_are_bytes_and_have_no_frequencies() -> None:
    front = Front.from_values(
        GOALS[:2], np.array([[1.0, 2], [2, 3]]), np.array([[0, 2, -1], [1, 0, 0]]), list("abc"),
        Proof(ProofKind.COMPLETE), method="emsco",
    )  # fmt: skip
    own = explorer_data({"one": front})["choices"]
    stages = np.frombuffer(zlib.decompress(base64.b64decode(own["packed"])), np.int8).reshape(2, 3)
    assert own["kind"] == "stages"
    np.testing.assert_array_equal(stages, front.decisions)
    assert frequency_chart(front) is None


def test_choices_that_are_too_large_are_left_out_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fronts, "MOST_CHOICE_BYTES", 10)
    own = explorer_data({"one": sphere(50)})["choices"]
    assert own["packed"] == ""
    assert "left out" in own["why"]


def test_picks_are_the_usual_rules_and_the_one_that_was_asked_for() -> None:
    front = sphere(60)
    parts = front_page_parts(front, pick=front.point(7))
    (explorer,) = [part for part in parts if isinstance(part, Explorer)]
    picks = [(one["rule"], one["index"]) for one in explorer.data["picks"]]
    assert picks == [
        ("number", 7),
        ("ideal", front.pick("ideal").index),
        ("knee", front.pick("knee").index),
    ]


def test_where_methods_coincide_is_counted() -> None:
    first = front_of([[1, 1, 1], [2, 2, 2], [3, 3, 3]])
    second = front_of([[2, 2, 2], [3, 3, 3], [4, 4, 4]])
    shared = explorer_data({"a": first, "b": second})["shared"]
    assert shared.startswith("4 different places; at 2 of them several methods coincide")


def test_the_table_of_objectives_says_which_end_is_better() -> None:
    parts = front_parts({"one": front_of([[1, 2, 3], [4, 5, 6]])})
    (table,) = [part for part in parts if isinstance(part, Table)]
    assert table.rows == (
        ("cost", "less is better", "1 EUR", "4 EUR"),
        ("quality", "more is better", "5", "2"),
        ("defects", "less is better", "3", "6"),
    )


def test_infinite_values_are_told_and_drawn_nowhere() -> None:
    front = front_of([[1, 2, 3], [np.inf, 5, 6]])
    parts = front_parts({"one": front})
    assert "1 point with an infinite value" in " ".join(part.text for part in parts if isinstance(part, Text))
    (explorer,) = [part for part in parts if isinstance(part, Explorer)]
    assert explorer.data["values"][0] == [1, None]
    assert explorer.data["picks"] == []


def test_an_empty_front_says_so_and_other_objectives_are_refused() -> None:
    none = front_of([])
    assert [part.text for part in front_parts({"one": none}) if isinstance(part, Text)] == [
        "There are no points to show."
    ]
    assert front_parts({})[-1] == Text("There are no points to show.")
    other = front_of([[1.0]], goals=[Objective("else")])
    with pytest.raises(BadInputError, match="the same objectives"):
        front_parts({"a": none, "b": other})
