"""The command export, as a user runs it."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.refusals import refusals, refuse
from tests.cli.running import done, facts_of, unwrapped


@pytest.fixture(scope="module")
def folder(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(made, tmp_path_factory.mktemp("export"), dirs_exist_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["exact.joblib", "stages.joblib"])
def test_a_policy_and_its_reader_answer_as_predict_does(folder: Path, model: str) -> None:
    facts = facts_of("export", model, "table.csv", "--out", "policy.json", "--out", "reader.py", cwd=folder)
    assert (facts["command"], facts["n_rows"], facts["guarantee"]) == ("export", 60, None)
    read = subprocess.run(
        [sys.executable, "-I", "-S", "reader.py", "policy.json", "table.csv"],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    done("predict", model, "table.csv", "--out", "answers.csv", cwd=folder)
    labels = [json.loads(line)["label"] for line in read.stdout.splitlines()]
    assert labels == pd.read_csv(folder / "answers.csv")["prediction"].tolist()


@refusals("export")
def test_models_without_a_policy_and_bad_endings_are_refused(
    folder: Path, refused: Callable[[Path], None]
) -> None:
    refused(folder)


def test_onnx_answers_as_predict_does(folder: Path) -> None:
    run = done("export", "exact.joblib", "table.csv", "--out", "model.onnx", "--json", cwd=folder)
    assert (json.loads(run.stdout)["method"], json.loads(run.stdout)["n_rows"]) == ("onnx", 60)
    assert (folder / "model.onnx").stat().st_size > 0


def test_the_advice_names_a_table_that_the_reader_answers_and_quotes_it(folder: Path) -> None:
    table = pd.read_csv(folder / "table.csv")
    table.to_csv(folder / "my rows.csv.gz", index=False)
    table.to_parquet(folder / "rows.parquet")
    for given, advised in (("my rows.csv.gz", "'my rows.csv.gz'"), ("rows.parquet", "NEW.csv")):
        words = ["export", "exact.joblib", given, "--out", "policy.json", "--out", "reader.py"]
        run = done(*words, cwd=folder)
        assert f"use it with: python reader.py policy.json {advised}\n" in run.stdout


def test_a_committee_of_judges_is_exported_by_the_columns_of_its_members(folder: Path) -> None:
    truth = ["no", "yes"] * 30
    said = {
        f"j{n}": [truth[i + (i % (n + 3) == 1)] if i < 59 else label for i, label in enumerate(truth)]
        for n in range(6)
    }
    answers = pd.DataFrame(said)
    answers.assign(target=truth).to_csv(folder / "answers.csv", index=False)
    prune = ["prune", "answers.csv", "--answers", "--set", "max-size=3", "--out", "judges.joblib"]
    done(*prune, cwd=folder)
    done("export", "judges.joblib", "answers.csv", "--out", "judges.json", "--out", "ask.py", cwd=folder)
    policy = json.loads((folder / "judges.json").read_text())
    assert (policy["kind"], len(policy["judges"])) == ("judges", len(policy["order"]))
    answers[[judge["name"] for judge in policy["judges"]]].to_csv(folder / "few.csv", index=False)
    read = subprocess.run(
        [sys.executable, "-I", "-S", "ask.py", "judges.json", "few.csv"],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    done("predict", "judges.joblib", "few.csv", "--out", "told.csv", cwd=folder)
    labels = [json.loads(line)["label"] for line in read.stdout.splitlines()]
    assert labels == pd.read_csv(folder / "told.csv")["prediction"].tolist()
    told = "an ONNX file is made of classifiers, got a committee of judges"
    refuse("export", "judges.joblib", "few.csv", "--out", "judges.onnx", message=told, cwd=folder)


@pytest.mark.parametrize("name", ["protocol.html", "protocol.md", "protocol.svg"])
def test_stages_are_written_as_a_protocol(folder: Path, name: str) -> None:
    facts = facts_of("export", "stages.joblib", "table.csv", "--out", name, cwd=folder)
    assert (facts["method"], facts["n_rows"], facts["n_changed"]) == ("protocol", 60, 0)
    text = (folder / name).read_text(encoding="utf-8")
    assert text.count("A person decides") >= 1
    assert f"Step {facts['n_steps']}" in text
    assert f"Step {facts['n_steps'] + 1}" not in text


def test_a_protocol_needs_no_table(folder: Path) -> None:
    alone = done("export", "stages.joblib", "--out", "alone.html", cwd=folder)
    assert "were not compared with the model on any rows" in unwrapped(alone.stdout)
