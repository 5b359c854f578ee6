"""What is told of multi-stage classifiers side by side, and of one opponent."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from shortlist.cli.commands.compare_staged import MARGINS, STAGES_TOLD
from shortlist.cli.commands.stage_opponent import SUM, opponent_facts, print_opponent
from shortlist.cli.text.compared import TableComparison
from shortlist.multistage.holdout import measure_on
from shortlist.papers.opponents.budgeted_classifier import SingleStage

NAN = float("nan")
MEANS = pd.DataFrame(
    {
        "method": ["emsco", "single"], "aggregate": [2.6184, 1.8], "aggregate_margin": [0.02, NAN],
        "coverage": [0.97, 1.0], "accuracy": [0.8, 0.82], "cost": [267.4, 1600.0], "cost_margin": [45.1, NAN],
        "seconds": [1.5, 0.02], "n_seeds": [3, 3],
    }
)  # fmt: skip
RESULTS = pd.DataFrame({"method": ["emsco"], "seed": [0], "accuracy": [NAN]})


def test_a_comparison_has_no_nan_and_people_read_margins_where_there_are_some(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = TableComparison("t.csv", RESULTS, MEANS, 5, 9.0, STAGES_TOLD)
    facts = json.loads(json.dumps(found.facts(None, Path("s.db")), allow_nan=False))
    assert (facts["limit"], facts["n_seeds"], facts["study"]) == ("interrupted", 3, "s.db")
    assert facts["methods"][1]["cost_margin"] is None
    found.print(Path("o.parquet"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Stopped after 3 of 5 splits."
    assert lines[4].split() == ["emsco", "2.618", "0.020", "0.9700", "0.8000", "267.4", "45.10", "1.500"]
    assert lines[5].split() == ["single", "1.800", "1.0000", "0.8200", "1600", "0.020"]
    assert f"Sum: {SUM}." in lines
    assert f"±: {MARGINS}." in lines
    assert lines[-1] == "Every split in o.parquet."


def test_one_opponent_tells_settings_and_measures(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    rows = np.arange(len(y))
    single = SingleStage(feature_costs=[1, 2, 3, 4], random_state=0)
    single.fit(X[rows % 3 == 0], y[rows % 3 == 0], validation=(X[rows % 3 == 1], y[rows % 3 == 1]))
    test = measure_on(single, X[rows % 3 == 2], y[rows % 3 == 2])
    counts = {"train": 50, "validation": 50, "test": 50}
    facts = json.loads(json.dumps(opponent_facts("single", single, test, counts, 0.5)))
    assert (facts["status"], facts["total_cost"]) == ("feasible", 10)
    assert facts["costs"] == dict(zip(single.costs_.names, [1, 2, 3, 4], strict=True))
    assert facts["test"]["single"]["coverage"] == test.coverage
    print_opponent(facts, None)
    said = capsys.readouterr().out
    assert "50 rows to fit, 50 to choose settings, 50 to test." in said
    assert f"single: {len(single.tuning_)} settings tried" in said
    assert f"{test.accuracy:.4f}" in said
