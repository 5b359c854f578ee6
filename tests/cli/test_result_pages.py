"""From a file to its page: every kind is known, and others are refused in a sentence."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from shortlist.cli.options.points import taken_point, usual_rule
from shortlist.cli.result_pages import estimator_parts, result_page
from shortlist.errors import BadFileError, BadInputError
from shortlist.results.front import Front
from shortlist.results.objective import Objective, Sense
from shortlist.results.proof import Proof, ProofKind
from tests.report.made import sphere


def test_a_front_becomes_a_page_and_other_files_do_not(tmp_path: Path) -> None:
    sphere(20).save(tmp_path / "f.parquet")
    text = result_page(tmp_path / "f.parquet")
    assert "<h1>Products: f.parquet</h1>" in text
    (tmp_path / "x.txt").write_text("x")
    with pytest.raises(BadFileError, match=r"must be a model"):
        result_page(tmp_path / "x.txt")
    (tmp_path / "y.parquet").write_text("x")
    with pytest.raises(BadFileError):
        result_page(tmp_path / "y.parquet")


def test_the_page_of_a_front_of_stages_marks_the_point_that_commands_take(tmp_path: Path) -> None:
    goals = [
        Objective("coverage", Sense.MAX, scale=100),
        Objective("conclusive_accuracy", Sense.MAX, scale=None),
    ]
    goals.append(Objective("acquisition_cost"))
    values = np.array([[1.0, 0.9, 10.0], [0.98, 0.9, 4.0], [0.2, 1.0, 1.0]])
    front = Front.from_values(
        goals, values, np.array([[0, 1], [0, -1], [-1, 0]]), ["age", "scan"], Proof(ProofKind.COMPLETE),
        method="enumerate",
    )  # fmt: skip
    front.save(tmp_path / "front.parquet")

    html = result_page(tmp_path / "front.parquet")
    (data,) = re.findall(r'<script type="application/json" id="part-\d+">(\{"objectives".*?)</script>', html)
    marked = {one["rule"]: one["index"] for one in json.loads(data)["picks"]}
    assert next(iter(marked)) == "one-se"
    assert marked["one-se"] == 1 == taken_point(front, usual_rule(front), ()).index
    assert marked["ideal"] == front.pick("ideal").index


def test_an_estimator_without_a_result_is_refused() -> None:
    with pytest.raises(BadInputError, match="needs a fitted estimator of Shortlist, got a dict"):
        estimator_parts({})
