"""The command export, as a user runs it."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.made import fill
from tests.cli.running import shortlist


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    fill(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("model", ["exact.joblib", "stages.joblib"])
def test_a_policy_and_its_reader_answer_as_predict_does(folder: Path, model: str) -> None:
    run = shortlist(
        "export", model, "table.csv", "--out", "policy.json", "--reader", "reader.py", "--json", cwd=folder
    )
    assert run.returncode == 0, run.stderr
    facts = json.loads(run.stdout)
    assert (facts["command"], facts["n_rows"], facts["guarantee"]) == ("export", 60, None)
    read = subprocess.run(
        [sys.executable, "-I", "-S", "reader.py", "policy.json", "table.csv"],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert shortlist("predict", model, "table.csv", "--out", "answers.csv", cwd=folder).returncode == 0
    labels = [json.loads(line)["label"] for line in read.stdout.splitlines()]
    assert labels == pd.read_csv(folder / "answers.csv")["target"].tolist()


def test_models_without_a_policy_and_bad_endings_are_refused(folder: Path) -> None:
    wrong = shortlist("export", "exact.joblib", "table.csv", "--out", "policy.txt", cwd=folder)
    assert wrong.returncode == 2
    assert "--out must end in .json" in wrong.stderr
    wrong = shortlist("export", "front.parquet", "table.csv", "--out", "policy.json", cwd=folder)
    assert wrong.returncode == 2
    assert not (folder / "policy.txt").exists()


def test_onnx_answers_as_predict_does(folder: Path) -> None:
    run = shortlist("export", "exact.joblib", "table.csv", "--out", "model.onnx", "--json", cwd=folder)
    assert run.returncode == 0, run.stderr
    assert (json.loads(run.stdout)["method"], json.loads(run.stdout)["n_rows"]) == ("onnx", 60)
    assert (folder / "model.onnx").stat().st_size > 0
    wrong = shortlist(
        "export", "exact.joblib", "table.csv", "--out", "m.onnx", "--reader", "r.py", cwd=folder
    )
    assert wrong.returncode == 2
    assert "--reader belongs to a policy" in wrong.stderr
