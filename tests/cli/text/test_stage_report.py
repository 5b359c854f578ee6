"""Text of `shortlist stage`: the front, the point that predicts, and the features of each stage."""

import copy
import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification

from shortlist.cli.text.output import LINES, WIDTH
from shortlist.cli.text.stage_report import (
    chosen_lines,
    kept_text,
    print_staged,
    saved_lines,
    stage_facts,
    unreachable,
)
from shortlist.export.protocol_text import markdown
from shortlist.export.protocols import protocol_of
from shortlist.multistage import MultiStageClassifier
from shortlist.multistage.holdout import StagedTable, stage_table
from shortlist.multistage.recall import Recall
from shortlist.multistage.search.emsco import EmscoOptions
from shortlist.report.stages import NEVER, staged_parts
from shortlist.saved_models import SavedModel
from tests.stored import Stored


@pytest.fixture(scope="module")
def staged() -> StagedTable:
    X, y = load_iris(return_X_y=True)
    prices = {f"x{i}": price for i, price in enumerate((1, 2.5, 5, 5))}
    frame = pd.DataFrame(X, columns=list(prices))
    return stage_table(
        frame, y, MultiStageClassifier(feature_costs=prices, confidence=0.8, max_stages=2, random_state=0)
    )


def test_the_facts_hold_every_point_and_the_chosen_one(staged: StagedTable) -> None:
    facts = json.loads(json.dumps(stage_facts(staged, 1.5, None)))
    classifier = staged.classifier
    assert (facts["method"], facts["status"], facts["seconds"]) == ("enumerate", "optimal", 1.5)
    assert facts["points"] == classifier.front_.values.tolist()
    assert facts["costs"] == {"x0": 1, "x1": 2.5, "x2": 5, "x3": 5}
    assert facts["total_cost"] == 13.5
    chosen = facts["chosen"]
    assert chosen["index"] == classifier.point_
    bought = [name for stage in chosen["stages"] for name in stage]
    assert sorted(bought) == sorted(name for name, stage in chosen["assignment"].items() if stage >= 0)
    assert facts["n_assignments"] == sum(classifier.front_.extras["n_tied"])
    assert "recall" not in facts


def test_people_read_what_each_stage_adds_and_what_it_does_on_new_rows(
    staged: StagedTable, capsys: pytest.CaptureFixture[str]
) -> None:
    print_staged(staged.classifier, staged, 1.5, None, details=True)
    said = capsys.readouterr().out
    rows = staged.n_rows
    assert rows == {"train": 150, "validation": 150, "test": 150, "folds": 5, "parts": 2}
    point, n = staged.classifier.point_, len(staged.classifier.front_)
    assert said.startswith(staged.sentence[:80])
    assert f"point {point} of {n}, " in said
    prices = [stage.price / staged.classifier.costs_.scale for stage in staged.classifier.model_.stages]
    shares = ["", *(f"for {100 * share:.3g} % of the rows, " for share in staged.reached[1:])]
    for number, (price, before, who) in enumerate(zip(prices, [0, *prices], shares, strict=False), start=1):
        assert f"  stage {number}, cost {price - before:g}, {who}".removesuffix(", ") + ": x" in said
    low, high = staged.test.coverage_interval
    assert f"these stages  {staged.test.coverage:.4f} ({low:.3f} to {high:.3f})  " in said
    lost = staged.test.coverage * staged.test.accuracy - staged.single_stage.accuracy
    assert lost <= staged.difference.gain <= lost + 1 - staged.test.coverage
    print_staged(staged.classifier, staged, 1.5, None)
    brief = capsys.readouterr().out.splitlines()
    assert len(brief) <= LINES
    assert max(map(len, brief)) <= WIDTH
    print_staged(staged.classifier, None, 1.5, None)
    assert "Repeated choice" not in capsys.readouterr().out


def test_a_stage_that_costs_nothing_is_called_free() -> None:
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=["age", "sex", "blood", "scan"])
    prices = {"age": 0, "sex": 0, "blood": 5, "scan": 20}
    stages = MultiStageClassifier(feature_costs=prices, confidence=0.9, max_stages=3, random_state=0)
    stages.fit(frame, y)
    first_is_free = [
        point for point, assigned in enumerate(stages.front_.decisions.tolist())
        if {name for name, stage in zip(prices, assigned, strict=True) if stage == 0} <= {"age", "sex"}
    ]  # fmt: skip
    assert first_is_free
    said = "\n".join(chosen_lines(stages.use(first_is_free[0]), "norm"))
    assert re.search(r"  stage 1, free: (age|sex)", said)
    assert said.count("free") == 1


def test_of_many_features_of_a_stage_those_are_named_that_fit_in_two_lines() -> None:
    X, y = make_classification(60, 90, random_state=0)
    options = EmscoOptions(population=2, generations=0)
    stages = MultiStageClassifier(
        method="emsco", emsco_options=options, max_stages=1, removal=False, random_state=0
    )
    _, first, *_ = chosen_lines(stages.fit(X, y), "norm")
    assert re.fullmatch(r"  stage 1, cost 90: 0, 1, .*, and \d+ more with --details", first)
    _, whole, *_ = chosen_lines(stages, "norm", details=True)
    assert whole.endswith(", 88, 89")


def test_what_is_never_bought_is_told(staged: StagedTable) -> None:
    stages = copy.copy(staged.classifier)
    first = stages.model_.stages[0]
    kept = [dataclasses.replace(first, bought=first.bought[:1])]
    stages.model_ = dataclasses.replace(stages.model_, stages=tuple(kept))
    told = [line for line in chosen_lines(stages, "norm") if line.startswith("  never bought, ")]
    names = [name for i, name in enumerate(stages.costs_.names) if i != first.bought[0]]
    assert told == [f"  never bought, 3 of 4: {', '.join(names)}"]


def test_a_stage_that_cannot_answer_is_told_so_in_text_page_and_protocol(staged: StagedTable) -> None:
    stages = copy.copy(staged.classifier)
    first, *others = stages.model_.stages
    stages.model_ = dataclasses.replace(
        stages.model_, stages=(dataclasses.replace(first, least=1.5), *others)
    )
    assert ", only buys, and never answers: " in "\n".join(chosen_lines(stages, "norm"))
    page = "\n".join(line for part in staged_parts(stages) for line in getattr(part, "lines", list)())
    assert NEVER in page
    told = markdown(protocol_of(SavedModel(stages, tuple(stages.costs_.names), "kind")))
    assert told.count("This step never answers: it orders for the next.") == 1


def test_recall_is_told_by_generation_and_without_a_run_that_ended_in_a_sentence(
    staged: StagedTable, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Recall(
        np.array([[0.0, 0.5, 1.0], [0.5, 0.5, 0.5]]), np.array([[0.0, 0.25, 0.5], [0.0, 0.0, 0.5]])
    )
    assert stage_facts(staged, 1.0, found)["recall"] == {
        "n_seeds": 2, "points": [0.25, 0.5, 0.75], "assignments": [0.0, 0.125, 0.5],
    }  # fmt: skip
    print_staged(staged.classifier, staged, 1.0, found)
    said = capsys.readouterr().out
    assert "mean of 2 seeds" in said
    assert said.splitlines()[-1].split() == ["2", "0.750", "0.5"]
    print_staged(staged.classifier, staged, 1.0, Recall(np.empty((0, 3)), np.empty((0, 3))))
    assert capsys.readouterr().out.endswith("Recall: stopped before a run of emsco ended.\n")


def test_files_are_named_with_what_one_does_with_them(stored: Stored) -> None:
    front, model = Path("f.parquet"), Path("m.joblib")
    saved = [
        saved_lines(front, None), saved_lines(None, model), saved_lines(None, None), saved_lines(None, None, details=True),
    ]  # fmt: skip
    stored(
        *("\n".join([*lines, ""]) for lines in saved),
        kept_text(front, model, picked=True), kept_text(None, model, picked=False),
    )  # fmt: skip


def test_a_limit_out_of_reach_is_an_answer_without_points() -> None:
    facts = unreachable("no point has coverage above 0.9", "enumerate", 0.5)
    assert (facts["status"], facts["n_points"], facts["chosen"]) == ("infeasible", 0, None)
    assert facts["reason"] == "No point has coverage above 0.9"
