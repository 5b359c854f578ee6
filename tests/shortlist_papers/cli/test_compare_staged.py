"""Text on multi-stage classifiers side by side."""

import json
from pathlib import Path

import pandas as pd
import pytest

from shortlist_papers.cli.compare_staged import MARGINS, STAGES_TOLD, SUM
from shortlist_papers.cli.compared import TableComparison

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
    found.print(Path("o.parquet"), details=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(
        "First of 2 methods by coverage + accuracy + 1 - cost / full price: emsco, 2.618"
    )
    rows = {line.split()[0]: line.split() for line in lines if line}
    assert rows["emsco"] == ["emsco", "2.618", "0.020", "0.9700", "0.8000", "267.4", "45.10", "1.500"]
    assert rows["single"] == ["single", "1.800", "1.0000", "0.8200", "1600", "0.020"]
    said = " ".join(" ".join(lines).split())
    assert f"Sum: {SUM}." in said
    assert f"±: {MARGINS}." in said
    assert lines[-2:] == ["Stopped after 3 of 5 splits.", "Every split in o.parquet."]
