"""`shortlist measure`: every saved model on new rows, equal to what `predict` answers counted by hand."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from tests.cli.running import done, shortlist

COMMANDS = {
    "prune": ["prune", "old.csv", "--classifiers", "4"],
    "single": ["prune", "old.csv", "--classifiers", "4", "--pick", "best-single"],
    "promise": ["prune", "old.csv", "--classifiers", "4", "--answer-accuracy", "0.6"],
    "evolve": ["evolve", "old.csv", "--set", "population=10", "--set", "generations=3"],
    "stage": ["stage", "old.csv", "--set", "max-stages=2"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measure")
    X, y = make_classification(500, 4, n_redundant=0, flip_y=0.1, random_state=3)
    table = pd.DataFrame(X, columns=list("abcd")).round(3).assign(target=np.where(y, "ill", "well"))
    table[:300].to_csv(folder / "old.csv", index=False)
    table[300:].to_csv(folder / "new.csv", index=False)
    return folder


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_saved_model_is_measured_as_its_answers_are_counted(folder: Path, kind: str) -> None:
    done(*COMMANDS[kind], "--out", f"{kind}.joblib", cwd=folder)
    found = json.loads(done("measure", f"{kind}.joblib", "new.csv", "--json", cwd=folder).stdout)
    done("predict", f"{kind}.joblib", "new.csv", "--out", "answers.csv", cwd=folder)
    answers = pd.read_csv(folder / "answers.csv")["prediction"].to_numpy()
    truth = pd.read_csv(folder / "new.csv")["target"].to_numpy()
    figures = found["figures"]
    assert figures["right of all rows"]["value"] == (answers == truth).mean()
    assert figures["recall of ill"]["value"] == (answers == truth)[truth == "ill"].mean()
    if "answered" in figures:
        assert figures["answered"]["value"] == np.isin(answers, ["ill", "well"]).mean()
    assert figures["right of all rows"]["reported"] is not None
    assert (found["promised"] is not None) == (kind == "promise")
    said = done("measure", f"{kind}.joblib", "new.csv", cwd=folder).stdout
    assert said.startswith(found["sentence"])


def test_rows_without_a_known_class_are_refused_in_one_sentence(folder: Path) -> None:
    done(*COMMANDS["prune"], "--out", "prune.joblib", cwd=folder)
    rows = pd.read_csv(folder / "new.csv")
    rows.drop(columns="target").to_csv(folder / "unknown.csv", index=False)
    rows.assign(target="dead").to_csv(folder / "other.csv", index=False)
    for name, message in (("unknown.csv", "must have the column 'target'"), ("other.csv", "got 'dead'")):
        run = shortlist("measure", "prune.joblib", name, cwd=folder)
        assert (run.returncode, run.stdout) == (2, "")
        assert message in run.stderr
