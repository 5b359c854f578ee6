"""Opponents of multi-stage classifiers as a user asks them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from shortlist.cli.options.stage_options import OPPONENTS
from shortlist.saved_models import SavedModel, save_model
from shortlist_papers.opponents.budgeted_classifier import CostOrderedStages
from shortlist_papers.stage_comparison import OPPONENTS as ASKED
from tests.cli.refusals import refuse
from tests.cli.running import shortlist

QUICK = ["credit.csv", "--target", "approved", "--costs", "costs.csv", "--workers", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, prices, and new rows."""
    folder = tmp_path_factory.mktemp("credit")
    X, y = make_classification(200, 3, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0)
    table = pd.DataFrame(X, columns=["age", "income", "history"])
    table["approved"] = np.where(y == 1, "yes", "no")
    table.to_csv(folder / "credit.csv", index=False)
    table.drop(columns="approved").head(20).to_csv(folder / "new.csv", index=False)
    costs = {"feature": ["age", "income", "history"], "cost": [1, 2.5, 10]}
    pd.DataFrame(costs).to_csv(folder / "costs.csv", index=False)
    return folder


def test_a_saved_opponent_explains_its_answers_and_has_no_front(folder: Path) -> None:
    table = pd.read_csv(folder / "credit.csv")
    X, y = table.drop(columns="approved"), table["approved"]
    opponent = CostOrderedStages(
        feature_costs={"age": 1, "income": 2.5, "history": 10}, reject_label="REJECT"
    )
    save_model(SavedModel(opponent.fit(X, y), tuple(X), "approved"), folder / "co-t.joblib")

    predicted = shortlist("predict", "co-t.joblib", "new.csv", "--explain", cwd=folder)
    assert predicted.returncode == 0, predicted.stderr
    (folder / "answers.csv").write_text(predicted.stdout)
    answers = pd.read_csv(folder / "answers.csv")
    assert list(answers) == ["prediction", "confidence", "features", "cost"]
    assert set(answers["cost"]) <= {1.0, 3.5, 13.5}

    used = shortlist("stage", "use", "co-t.joblib", cwd=folder)
    assert used.returncode == 2
    assert "stage use needs a model of shortlist stage, got one of CostOrderedStages." in used.stderr


def test_a_comparison_goes_on_from_its_study_and_gives_the_same(folder: Path) -> None:
    words = ["compare", *QUICK, "--methods", "co-t,single,l1-path", "--json", "--set"]
    first = shortlist(*words, "seeds=1", "--study", "study.db", cwd=folder)
    assert first.returncode == 0, first.stderr
    second = shortlist(*words, "seeds=2", "--study", "study.db", "--out", "every.parquet", cwd=folder)
    assert second.returncode == 0, second.stderr
    facts = json.loads(second.stdout)
    assert facts["n_seeds"] == facts["n_seeds_wanted"] == 2
    assert {each["method"] for each in facts["methods"]} == {"co-t", "single", "l1-path"}
    sums = [each["aggregate"] for each in facts["methods"]]
    assert sums == sorted(sums, reverse=True)
    assert facts["splits"][:3] == json.loads(first.stdout)["splits"]  # to the second: they were not run again
    fresh = json.loads(shortlist(*words, "seeds=2", cwd=folder).stdout)
    assert _without_seconds(facts["splits"]) == _without_seconds(fresh["splits"])
    assert len(pd.read_parquet(folder / "every.parquet")) == 6
    other = shortlist(*words, "seeds=2", "--study", "study.db", "--set", "confidence=0.6", cwd=folder)
    assert other.returncode == 2


def _without_seconds(splits: list[dict[str, float]]) -> list[dict[str, float]]:
    return [{name: value for name, value in each.items() if name != "seconds"} for each in splits]


def test_people_get_a_table(folder: Path) -> None:
    run = shortlist("compare", *QUICK, "--methods", "single,emsco", "--set", "seeds=2", cwd=folder)
    assert run.returncode == 0, run.stderr
    assert "credit.csv: 2 splits 50 : 25 : 25" in run.stdout
    assert "95 % margin over the splits" in run.stdout


def test_stage_has_no_opponents_and_says_who_asks_them(folder: Path) -> None:
    for name in OPPONENTS:
        refuse(
            "stage",
            *QUICK,
            "--method",
            name,
            message=f"got {name!r}. It is an opponent",
            cwd=folder,
        )
    assert set(OPPONENTS) == set(ASKED)


def test_prices_of_columns_that_are_not_there_are_refused(folder: Path) -> None:
    pd.DataFrame({"feature": ["age", "height"], "cost": [1, 2]}).to_csv(folder / "wrong.csv", index=False)
    run = shortlist(
        "compare",
        "credit.csv",
        "--target",
        "approved",
        "--costs",
        "wrong.csv",
        "--methods",
        "cstc",
        cwd=folder,
    )
    assert run.returncode == 2
    assert "must name columns of the table, got 'height'" in run.stderr
