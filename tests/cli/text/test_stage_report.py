"""What `shortlist stage` tells: the front, the point that predicts, and what each stage buys."""

import copy
import dataclasses
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification

from shortlist.cli.text.stage_report import (
    kept_text,
    print_chosen,
    print_staged,
    saved_text,
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
    print_staged(staged.classifier, staged, 1.5, None)
    said = capsys.readouterr().out
    rows = staged.n_rows
    assert (rows["train"] + rows["test"], rows["validation"], rows["folds"]) == (150, rows["train"], 5)
    counts = f"{rows['train']} rows in 5 folds to fit and to choose, {rows['test']} to test"
    assert f"{counts}; 3 classes, 4 features." in said
    assert said.startswith(f"Held out: {rows['test']} test rows, on which nothing was fitted")
    assert f"Chosen by one-se: point {staged.classifier.point_}.\n" in said
    assert said.count("On the rows that chose") == 1
    prices = [stage.price / staged.classifier.costs_.scale for stage in staged.classifier.model_.stages]
    for number, (price, before) in enumerate(zip(prices, [0, *prices], strict=False), start=1):
        assert f"  stage {number}, {price - before:g} more: x" in said
    assert said.count("; answers from 0.8 on\n") == len(prices)
    low, high = staged.test.coverage_interval
    assert f"multi-stage   {staged.test.coverage:.4f} ({low:.3f} to {high:.3f})  " in said
    print_staged(staged.classifier, None, 1.5, None)
    assert "Held out" not in capsys.readouterr().out


def test_a_stage_that_costs_nothing_is_called_free(capsys: pytest.CaptureFixture[str]) -> None:
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
    print_chosen(stages.use(first_is_free[0]), "norm")
    said = capsys.readouterr().out
    assert "  stage 1, free: age" in said or "  stage 1, free: sex" in said
    assert said.count("free") == 1


def test_of_many_features_of_a_stage_twenty_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = make_classification(60, 30, random_state=0)
    options = EmscoOptions(population=2, generations=0)
    stages = MultiStageClassifier(method="emsco", emsco_options=options, max_stages=1, random_state=0)
    print_chosen(stages.fit(X, y), "norm")
    named = ", ".join(map(str, range(20)))
    assert (
        f"  stage 1, 30 more: {named} and 10 more, which --json names; answers from "
        in capsys.readouterr().out
    )


def test_a_stage_that_cannot_answer_is_told_so_in_text_page_and_protocol(
    staged: StagedTable, capsys: pytest.CaptureFixture[str]
) -> None:
    stages = copy.copy(staged.classifier)
    first, *others = stages.model_.stages
    stages.model_ = dataclasses.replace(
        stages.model_, stages=(dataclasses.replace(first, least=1.5), *others)
    )
    print_chosen(stages, "norm")
    assert "; only buys, and never answers\n" in capsys.readouterr().out
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


def test_files_are_named_with_what_one_does_with_them() -> None:
    front, model = Path("f.parquet"), Path("m.joblib")
    assert saved_text(front, None) == (
        "Front saved to f.parquet; look at it with: shortlist front show f.parquet\n"
    )
    assert "shortlist predict m.joblib NEW.csv --explain" in saved_text(None, model)
    assert saved_text(None, None) == ""
    assert kept_text(front, model, picked=True) == " The front is in f.parquet. The model is in m.joblib."
    assert "shortlist stage use m.joblib --pick NUMBER" in kept_text(None, model, picked=False)


def test_a_limit_out_of_reach_is_an_answer_without_points() -> None:
    facts = unreachable("no point has coverage above 0.9", "enumerate", 0.5)
    assert (facts["status"], facts["n_points"], facts["chosen"]) == ("infeasible", 0, None)
    assert facts["reason"] == "No point has coverage above 0.9"
