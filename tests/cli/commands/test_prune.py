"""The commands prune and predict, as a user runs them."""

import functools
import importlib
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from shortlist import __version__ as shortlist_version
from shortlist.datasets.registry import judged_messages
from tests.cli.refusals import is_refused, refuse
from tests.cli.running import done, facts_of, shortlist

PATIENTS = ["prune", "patients.csv", "--target", "outcome"]
NAMED = [*PATIENTS, "--drop", "id_patient"]
QUICK = ["--classifiers", "10", "--time-limit", "20", "--workers", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of patients: text, gaps and string labels."""
    folder = tmp_path_factory.mktemp("patients")
    X, y = make_classification(400, 5, n_informative=3, flip_y=0.1, random_state=0)
    table = pd.DataFrame(X, columns=list("abcde"))
    table.insert(0, "id_patient", np.arange(len(table)))
    table["ward"] = np.where(X[:, 1] > 0, "north", "south")
    table.loc[::9, "c"] = np.nan
    table["outcome"] = np.where(y == 1, "ill", "well")
    table.to_csv(folder / "patients.csv", index=False)
    table.assign(outcome=np.arange(len(table)) % 3).to_csv(folder / "three.csv", index=False)
    table.drop(columns="outcome").head(20).to_csv(folder / "new.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def by_rule(folder: Path) -> Callable[[str], Any]:
    """JSON of a rule, which runs once; `RULE.joblib` has its committee of ten classifiers."""

    @functools.cache
    def told(rule: str) -> Any:
        few = ["--classifiers", "10", "--workers", "1"]
        return facts_of(*NAMED, "--method", rule, "--out", f"{rule}.joblib", *few, cwd=folder)

    return told


@pytest.mark.slow
def test_prune_and_predict_work_together(folder: Path) -> None:
    facts = facts_of(
        *NAMED, "--objective", "balanced-accuracy",
        "--set", "positive=ill", "--set", "protocol=paper", "--pick", "committee", "--out", "model.joblib", *QUICK,
        cwd=folder,
    )  # fmt: skip
    assert facts["command"] == "prune"
    assert facts["method"] == "exact-auto"
    assert facts["status"] == "optimal"
    assert facts["gap"] == 0
    assert facts["value"] == facts["bound"] > 0.5
    assert facts["positive"] == "ill"
    assert facts["size"] == len(facts["selection"]) > 0
    assert facts["certified_bound"] >= facts["bound"] >= facts["value"]
    assert facts["rows"] == {"train": 252, "validation": 108, "test": 40}
    assert set(facts["test"]) == {"pruned", "full", "best_single"}
    assert sum(facts["test"]["full"]["confusion"].values()) == 40
    assert facts["test"]["full"]["size"] == 10
    assert (facts["seed"], facts["version"], facts["notes"]) == (0, shortlist_version, [])
    assert facts["options"]["objective"] == "balanced-accuracy"
    assert (facts["options"]["table"], facts["options"]["max-size"]) == ("patients.csv", None)
    assert (facts["data"]["rows"], facts["guarantee"]) == (400, None)
    assert facts["only_answer"] == {"validation": None, "test": None}
    for measured in facts["test"].values():
        for name in ("accuracy", "balanced_accuracy"):
            low, high = measured[f"{name}_interval"]
            assert 0 <= low <= measured[name] <= high <= 1

    done("predict", "model.joblib", "new.csv", "--out", "answers.csv", cwd=folder)
    answers = pd.read_csv(folder / "answers.csv")
    assert len(answers) == 20
    assert set(answers["prediction"]) <= {"ill", "well"}
    assert ((answers["score_ill"] > 0.5) == (answers["prediction"] == "ill")).all()


@pytest.mark.parametrize(
    "words",
    [
        ["example:wine"],
        ["example:wine", "--objective", "balanced-accuracy", "--set", "min-size=3"],
        NAMED[1:],
        [*NAMED[1:], "--set", "voting=soft", "--objective", "recall+auto"],
        [*NAMED[1:], "--pick", "0", "--objectives", "max accuracy, min size"],
        [*NAMED[1:], "--method", "full"],
    ],
)
def test_the_single_classifier_is_saved_and_has_the_figure_that_was_told(
    folder: Path, words: list[str]
) -> None:
    few = ["--classifiers", "8", "--workers", "1"]
    told = facts_of("prune", *words, *few, cwd=folder)
    rest = words[: words.index("--pick")] if "--pick" in words else words
    alone = facts_of(
        "prune", *rest, *few, "--pick", "best-single", "--out", "one.joblib", "--json", cwd=folder
    )
    assert alone["model"] == "one.joblib"
    if rest == words:
        assert alone["test"]["best_single"]["confusion"] == told["test"]["best_single"]["confusion"]
    table = "example:wine" if "example:wine" in words else "patients.csv"
    target = [] if "example:wine" in words else PATIENTS[2:]
    checked = facts_of("verify", "one.joblib", table, cwd=folder)
    assert (checked["failures"], checked["n_classifiers"]) == ([], 1)
    measured = facts_of("measure", "one.joblib", table, *target, cwd=folder)
    assert (
        measured["figures"]["right of all rows"]["reported"][0] == (alone["test"]["best_single"]["accuracy"])
    )


def test_of_one_member_that_the_loss_chose_the_verdict_and_the_table_name_it(folder: Path) -> None:
    words = ["prune", "example:wine", "--classifiers", "8", "--workers", "1", "--set", "max-size=1"]
    facts = facts_of(*words, cwd=folder)
    (member,) = facts["selection"]
    said = done(*words, cwd=folder).stdout
    assert said.startswith(f"Use {member} alone: no other member was chosen.\n")
    assert said.count(f"\n{member} alone ") == 1
    assert "Next: for" not in said


@pytest.mark.slow
def test_a_pool_from_a_file_needs_trust(folder: Path) -> None:
    table = pd.read_csv(folder / "patients.csv")
    X, y = table[["a", "b"]], table["outcome"]
    pool = [
        LogisticRegression().fit(X, y),
        *(DecisionTreeClassifier(max_depth=d).fit(X, y) for d in (1, 2, 3)),
    ]
    joblib.dump(pool, folder / "pool.joblib")
    table[["a", "b", "outcome"]].to_csv(folder / "two.csv", index=False)
    command = ["prune", "two.csv", "--target", "outcome", "--pool", "pool.joblib"]

    is_refused(shortlist(*command, cwd=folder), "--trust")
    assert facts_of(*command, "--trust", "--set", "diversity=each", cwd=folder)["n_classifiers"] == 4

    names = ["LogisticRegression", *(f"DecisionTreeClassifier-{i}" for i in (1, 2, 3)), "elsewhere"]
    costs = dict(zip(names, (0.1, 0.2, 0.4, 5, 1), strict=True))
    lines = "".join(f"{name},{cost}\n" for name, cost in costs.items())
    (folder / "costs.csv").write_text(f"name,cost\n{lines}")
    within = ["--costs", "costs.csv", "--set", "max-cost=0.7", "--set", "min-size=2", "--json"]
    priced = done(*command, "--trust", *within, cwd=folder)
    facts = json.loads(priced.stdout)
    spent = sum(round(10 * costs[name]) for name in facts["selection"]) / 10
    assert facts["cost"] == {"total": spent, "max": 0.7}
    assert facts["notes"] == ["costs.csv also prices elsewhere, not in the pool: passed over."]
    assert "shortlist: note: costs.csv also prices elsewhere" in priced.stderr
    diversity = facts["diversity"]
    assert list(diversity["pfc"]) == facts["selection"]
    assert diversity["mean_pfc"] == pytest.approx(np.mean(list(diversity["pfc"].values())))
    assert diversity["least_pfc"] == min(diversity["pfc"].values())


@pytest.mark.slow
def test_infeasible_limits_are_a_status_and_write_nothing(folder: Path) -> None:
    facts = facts_of(
        *PATIENTS, "--set", "min-size=9", "--set", "diversity=each=1", "--out", "never.joblib", *QUICK, cwd=folder,
    )  # fmt: skip
    assert (facts["status"], facts["value"], facts["selection"]) == ("infeasible", None, [])
    assert facts["reason"]
    assert facts["cost"] is facts["diversity"] is None
    assert not (folder / "never.joblib").exists()


@pytest.mark.slow
def test_predict_says_what_is_wrong(folder: Path, by_rule: Callable[[str], Any]) -> None:
    by_rule("full")
    (folder / "few.csv").write_text("a,b\n1,2\n")
    joblib.dump([1], folder / "list.joblib")
    for arguments, message in [
        (["full.joblib", "few.csv"], "missing: 'c', 'd', 'e'"),
        (["list.joblib", "new.csv"], "--trust"),
        (["list.joblib", "new.csv", "--trust"], "must be a model file"),
        (["full.joblib", "new.csv", "--json"], "Pass --out"),
    ]:
        refuse("predict", *arguments, message=message, cwd=folder)


@pytest.mark.slow
def test_an_interrupt_keeps_the_best_selection_found(folder: Path) -> None:
    rng = np.random.default_rng(0)
    noisy = pd.DataFrame(rng.normal(size=(1500, 8)))
    noisy["target"] = (noisy.sum(axis=1) + rng.normal(scale=6, size=1500) > 0).astype(int)
    noisy.to_csv(folder / "noisy.csv", index=False)
    process = subprocess.Popen(
        [sys.executable, "-m", "shortlist", "prune", "noisy.csv", "--classifiers", "40", "--time-limit", "300",
         "--objective", "accuracy", "--workers", "1", "--json", "--out", "stopped.joblib"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(("bounding", "cutting")):
            break
    os.kill(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=600)
    assert process.returncode == 0, stderr
    facts = json.loads(stdout)
    assert (facts["status"], facts["limit"]) == ("feasible", "interrupted")
    assert facts["gap"] > 0
    (folder / "stopped.joblib").unlink()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["best-single", "backfitting", "greedy-means"])
def test_a_rule_has_the_same_contract_and_proves_nothing(
    folder: Path, by_rule: Callable[[str], Any], method: str
) -> None:
    facts = by_rule(method)
    assert (facts["command"], facts["method"], facts["status"]) == ("prune", method, "feasible")
    assert facts["bound"] is facts["gap"] is None
    assert 0.5 < facts["value"] <= 1
    assert facts["size"] == len(facts["selection"]) == facts["test"]["pruned"]["size"]
    assert facts["threshold"] == (None if method == "greedy-means" else facts["size"] // 2)
    assert (facts["rows"]["validation"], facts["rows"]["test"]) == (400, 400)
    assert sum(facts["test"]["full"]["confusion"].values()) == pytest.approx(400, abs=2)  # means, rounded

    predicted = done("predict", f"{method}.joblib", "new.csv", cwd=folder)
    answers = pd.read_csv(io.StringIO(predicted.stdout))
    assert ((answers["score_well"] > 0.5) == (answers["prediction"] == "well")).all()


@pytest.mark.slow
def test_the_rules_own_baselines_are_the_rules_full_and_best_single(by_rule: Callable[[str], Any]) -> None:
    reported = {
        method: {
            name: {key: value for key, value in measured.items() if not key.startswith(("ms", "against"))}
            for name, measured in by_rule(method)["test"].items()
        }
        for method in ("full", "best-single")
    }
    assert reported["full"]["pruned"] == reported["full"]["full"] == reported["best-single"]["full"]
    assert reported["best-single"]["pruned"] == reported["full"]["best_single"]


OWN = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

class NearestMean(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([np.asarray(X)[np.asarray(y) == c].mean(axis=0) for c in self.classes_])
        return self

    def predict(self, X):
        apart = ((np.asarray(X)[:, None] - self.means_) ** 2).sum(axis=2)
        return self.classes_[apart.argmin(axis=1)]
"""


@pytest.mark.slow
def test_a_class_of_the_users_own_predicts_is_verified_and_known_not_to_be_exportable(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_mean.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("own_mean")
    table = pd.read_csv(folder / "patients.csv")[["a", "b", "outcome"]]
    X, y = table[["a", "b"]], table["outcome"]
    table.to_csv(tmp_path / "two.csv", index=False)
    pool = {
        "our own": module.NearestMean().fit(X, y),
        "process, scaled": make_pipeline(StandardScaler(), GaussianProcessClassifier()).fit(X, y),
        "logistic": LogisticRegression().fit(X, y),
        **{f"tree {depth}": DecisionTreeClassifier(max_depth=depth).fit(X, y) for depth in (1, 2, 3)},
    }
    joblib.dump(pool, tmp_path / "pool.joblib")
    told = ["prune", "two.csv", "--target", "outcome", "--pool", "pool.joblib", "--trust"]
    whole = done(*told, "--method", "full", "--pick", "committee", "--out", "full.joblib", cwd=tmp_path)
    left = "process, scaled (GaussianProcessClassifier after StandardScaler)"
    assert f"our own (NearestMean) and {left}. --set exportable=yes " in whole.stderr
    done("verify", "full.joblib", "two.csv", cwd=tmp_path)
    done("predict", "full.joblib", "two.csv", "--out", "a.csv", cwd=tmp_path)
    refuse("export", "full.joblib", "two.csv", "--out", "p.json", message=left, cwd=tmp_path)
    some = ["--set", "exportable=yes", "--method", "full", "--out", "some.joblib"]
    assert facts_of(*told, *some, cwd=tmp_path)["selection"] == ["logistic", "tree 1", "tree 2", "tree 3"]
    done("export", "some.joblib", "two.csv", "--out", "p.json", cwd=tmp_path)


@pytest.mark.slow
def test_advice_on_models_that_cannot_be_exported_leads_somewhere(folder: Path, tmp_path: Path) -> None:
    """Each sentence is followed: none of them leads back to another one."""
    table = pd.read_csv(folder / "patients.csv")[["a", "b", "outcome"]]
    table.to_csv(tmp_path / "two.csv", index=False)
    models = [GaussianProcessClassifier(length * RBF()) for length in (1, 2, 5)]
    joblib.dump([one.fit(table[["a", "b"]], table["outcome"]) for one in models], tmp_path / "pool.joblib")
    told = ["prune", "two.csv", "--target", "outcome", "--pool", "pool.joblib", "--trust", "--method", "full"]

    refused = shortlist(*told, "--set", "exportable=yes", cwd=tmp_path)
    assert "Leave out --set exportable=yes, and answer by the model file" in refused.stderr
    whole = done(*told, "--out", "model.joblib", cwd=tmp_path)
    assert "exportable=yes" not in whole.stderr
    said = refuse(
        "export", "model.joblib", "two.csv", "--out", "p.json", message="shortlist predict", cwd=tmp_path
    )
    assert "exportable=yes" not in said
    done("predict", "model.joblib", "two.csv", "--out", "answers.csv", cwd=tmp_path)


@pytest.mark.slow
def test_several_classes_are_pruned_by_plurality(folder: Path) -> None:
    command = [
        "prune", "three.csv", "--target", "outcome", "--method", "backfitting", "--classifiers", "5", "--workers", "1",
    ]  # fmt: skip
    facts = facts_of(*command, cwd=folder)
    assert facts["threshold"] is facts["positive"] is None
    by_class = facts["test"]["pruned"]["confusion"]
    assert set(by_class) == {"0", "1", "2"}
    assert sum(sum(row.values()) for row in by_class.values()) == facts["rows"]["test"]
    assert "TP" not in shortlist(*command, "--details", cwd=folder).stdout


COMPARISON = [
    "--target", "outcome", "--methods", "pruning", "--set", "folds=2", "--set", "classifiers=4", "--time-limit", "5", "--workers", "1",
]  # fmt: skip


@pytest.mark.slow
def test_all_methods_are_ranked_and_the_study_is_resumed(folder: Path) -> None:
    (folder / "folds.db").unlink(missing_ok=True)
    command = ["compare", "patients.csv", *COMPARISON, "--study", "folds.db"]
    facts = facts_of(*command, "--out", "folds.parquet", cwd=folder)
    assert (facts["status"], facts["n_folds"], facts["limit"]) == ("feasible", 2, "")
    assert "ranks over them show no significant difference" in facts["ranks"]
    ranks = [row["rank"] for row in facts["methods"]]
    assert len(ranks) == 16
    assert ranks == sorted(ranks)
    assert sum(ranks) == pytest.approx(16 * 17 / 2)
    assert len(pd.read_parquet(folder / "folds.parquet")) == 32

    assert facts_of(*command, cwd=folder)["folds"] == facts["folds"]  # seconds too: nothing ran again


@pytest.mark.slow
def test_all_methods_take_three_classes(folder: Path) -> None:
    run = done("compare", "three.csv", *COMPARISON, "--details", cwd=folder)
    assert {"exact", "drep"} <= set(run.stdout.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--set", "voting=soft", "--objective", "log-loss"], "log-loss"),
        (["--set", "voting=averaged"], "counted from the votes"),
        (["--set", "voting=averaged", "--method", "backfitting"], "counted from the probabilities"),
    ],
    ids=["soft", "averaged", "averaged rule"],
)
def test_a_committee_that_averages_is_saved_verified_and_predicts(
    options: list[str], said: str, folder: Path
) -> None:
    quick = ["--out", "mean.joblib", "--classifiers", "10", "--workers", "1"]
    facts = facts_of(*NAMED, *quick, *options, cwd=folder)
    assert (facts["voting"], facts["threshold"]) == (options[1].removeprefix("voting="), None)

    found = facts_of("verify", "mean.joblib", "patients.csv", cwd=folder)
    assert found["status"] in {"valid", "partly", "counted"}
    assert said in found["proof"]["sentence"]
    assert found["value"] == facts["value"]

    done("predict", "mean.joblib", "new.csv", "--out", "mean.csv", cwd=folder)
    answers = pd.read_csv(folder / "mean.csv")
    scores = answers.filter(like="score")
    assert len(answers) == 20
    assert np.allclose(scores.sum(axis=1), 1)


def test_what_is_promised_is_said_saved_and_kept(folder: Path) -> None:
    how = ["--method", "full", "--classifiers", "10", "--set", "voting=averaged", "--seed", "1"]
    asked = ["--answer-accuracy", "0.7", "--set", "confidence-level=0.9"]
    files = ["--out", "sure.joblib", "--out", "sure.html"]
    facts = facts_of(*NAMED, *how, *asked, *files, cwd=folder)
    found = facts["guarantee"]
    assert facts["rows"] == {"train": 270, "validation": 270, "folds": 5, "calibration": 90, "test": 40}
    assert (found["promised"], found["accuracy"], found["confidence_level"]) == (True, 0.7, 0.9)
    assert found["n_right"] <= found["n_answered"] <= found["n_rows"] == 90
    assert found["test"]["n_right"] <= found["test"]["n_answered"] <= found["test"]["n_rows"] == 40
    page = (folder / "sure.html").read_text()
    assert "What is promised" in page
    told = "With the promise {n_answered} of the 40 test rows are answered, {n_right} of"
    assert told.format(**found["test"]) in page

    predicted = done("predict", "sure.joblib", "new.csv", "--out", "sure.csv", "--json", cwd=folder)
    told = json.loads(predicted.stdout)
    answers = pd.read_csv(folder / "sure.csv")
    assert told["n_rejected"] == int((answers["prediction"] == "REJECT").sum())
    assert told["guarantee"]["threshold"] == found["threshold"]
    assert "Promised with confidence 90 %: at least 70 % of the answers" in predicted.stderr
    scores = answers[["score_ill", "score_well"]].max(axis=1)
    assert (scores[answers["prediction"] != "REJECT"] >= found["threshold"] - 1e-6).all()

    verified = shortlist("verify", "sure.joblib", "patients.csv", cwd=folder)
    assert "As claimed" in verified.stdout
    sooner = facts_of("predict", "sure.joblib", "new.csv", "--early-exit", "--out", "early.csv", cwd=folder)
    assert (pd.read_csv(folder / "early.csv")["prediction"] == answers["prediction"]).all()
    assert (sooner["n_rejected"], sooner["guarantee"]) == (told["n_rejected"], told["guarantee"])
    assert sooner["early_exit"]["mean_calls"] <= len(sooner["early_exit"]["order"]) == facts["size"]


def test_a_model_that_would_answer_nobody_is_written_only_on_request(folder: Path) -> None:
    few = ["--method", "full", "--classifiers", "3"]
    asked = [*NAMED, *few, "--answer-accuracy", "0.99", "--out", "nobody.joblib"]
    nothing = shortlist(*asked, cwd=folder)
    assert "Nothing can be promised with confidence 95 % about 99 % right answers" in nothing.stdout
    assert " % can be promised, for answers to " in nothing.stdout
    assert "No model was written, since it would answer no row; --set anyway=yes writes it." in nothing.stderr
    assert not (folder / "nobody.joblib").exists()

    assert facts_of(*asked, "--set", "anyway=yes", cwd=folder)["model"] == "nobody.joblib"
    assert (folder / "nobody.joblib").exists()


def test_answers_of_judges_make_a_committee_that_says_whom_to_ask(tmp_path: Path) -> None:
    command = "prune --answers example:judges --costs example:judges-prices --objective accuracy --workers 1"
    three = ["--set", "max-cost=3", "--set", "min-size=3", "--set", "max-size=3", "--pick", "committee"]
    files = ["--out", "model.joblib", "--out", "page.html"]
    facts = facts_of(*command.split(), *three, *files, cwd=tmp_path)
    assert facts["rows"] == {"test": 600, "parts": 2, "partitions": 10, "train": 0, "validation": 600}
    assert facts["threshold"] is None
    assert facts["ask"]["cost"] <= 3
    assert facts["ask"]["columns"] == facts["selection"]
    assert len(facts["selection"]) == 3

    checked = facts_of("verify", "model.joblib", "example:judges", cwd=tmp_path)
    assert checked["failures"] == []
    assert checked["all_votes"]
    assert checked["value"] == facts["value"]

    table = judged_messages()
    table[facts["selection"][::-1]].to_csv(tmp_path / "new.csv", index=False)
    told = facts_of("predict", "model.joblib", "new.csv", "--out", "a.csv", cwd=tmp_path)
    assert told["ask"] == facts["ask"]
    early = shortlist(
        "predict", "model.joblib", "new.csv", "--early-exit", "--out", "e.csv", "--json", cwd=tmp_path
    )
    saved = json.loads(early.stdout)["early_exit"]
    answers = pd.read_csv(tmp_path / "e.csv")
    assert (answers["prediction"] == pd.read_csv(tmp_path / "a.csv")["prediction"]).all()
    assert saved["mean_calls"] == answers["calls"].mean() < 3
    assert f"{saved['mean_calls']:.2f} of 3 members were asked on average" in early.stderr
    assert facts["early_exit"]["mean_calls"] == pytest.approx(saved["mean_calls"], rel=0.1)

    table[facts["selection"][1:]].to_csv(tmp_path / "few.csv", index=False)
    ran = shortlist("predict", "model.joblib", "few.csv", "--out", "f.csv", cwd=tmp_path)
    assert f"the table has no {facts['selection'][0]}: rows that need them wait." in ran.stderr
    some = pd.read_csv(tmp_path / "f.csv")
    waits = some["needs"].notna()
    assert some["needs"][waits].unique().tolist() == facts["selection"][:1]
    assert (some["prediction"] == pd.read_csv(tmp_path / "a.csv")["prediction"].where(~waits, "REJECT")).all()
    table[["target"]].to_csv(tmp_path / "none.csv", index=False)
    ran = shortlist("predict", "model.joblib", "none.csv", cwd=tmp_path)
    assert ran.returncode == 2
    assert "must have the columns" in ran.stderr


@pytest.mark.parametrize("how", ["--method greedy-means --answer-accuracy 0.6"], ids=["promise"])
def test_judges_who_are_taken_several_times_answer_and_are_asked_once(tmp_path: Path, how: str) -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 200)
    shares = np.clip(0.5 + (truth[:, None] - 0.5) * rng.normal(0.5, 0.7, (200, 5)), 0.05, 0.95).round(2)
    table = pd.DataFrame({f"j{k}:yes": shares[:, k] for k in range(5)})
    table = table.join((1 - table).rename(columns=lambda name: name.replace("yes", "no")))
    table.assign(truth=np.where(truth, "yes", "no")).to_csv(tmp_path / "ans.csv", index=False)
    prices = pd.DataFrame({"name": [f"j{k}" for k in range(5)], "cost": [5, 4, 3, 2, 1]})
    prices.to_csv(tmp_path / "prices.csv", index=False)
    given = ["ans.csv", "--answers", "--target", "truth", "--costs", "prices.csv", "--seed", "1"]

    facts = facts_of("prune", *given, *how.split(), "--out", "m.joblib", cwd=tmp_path)
    assert max(facts["copies"]) > 1
    assert len(facts["ask"]["columns"]) == len(set(facts["ask"]["columns"])) == 2 * facts["size"]
    assert facts["ask"]["cost"] == sum(5 - int(name[1:]) for name in facts["selection"])

    for out, more in (("a.csv", []), ("e.csv", ["--early-exit"])):
        ran = done("predict", "m.joblib", "ans.csv", *more, "--out", out, "--json", cwd=tmp_path)
    answers = pd.read_csv(tmp_path / "e.csv")
    assert (answers["prediction"] == pd.read_csv(tmp_path / "a.csv")["prediction"]).all()
    early = json.loads(ran.stdout)["early_exit"]
    assert sorted(early["order"]) == sorted(facts["selection"])
    costs = np.cumsum([0, *(5 - int(name[1:]) for name in early["order"])])
    assert early["mean_cost"] == pytest.approx(costs[answers["calls"]].mean())
    assert early["cost_of_all"] == facts["ask"]["cost"]
    assert f" of {facts['size']} members were asked on average" in ran.stderr

    done("export", "m.joblib", "ans.csv", "--out", "policy.json", cwd=tmp_path)


def test_rules_are_compared_on_answers_of_judges(tmp_path: Path) -> None:
    judged_messages().iloc[:240, ::3].to_csv(
        tmp_path / "said.csv", index=False
    )  # the last column is the truth
    for methods in ("uwa,full", "pruning"):
        facts = facts_of(
            "compare", "said.csv", "--set", "answers=yes", "--methods", methods, "--set", "folds=2", "--workers", "1",
            *(["--time-limit", "0.2"] if methods == "pruning" else []), cwd=tmp_path,
        )  # fmt: skip
        sizes = {row["method"]: row["size"] for row in facts["folds"]}
        assert sizes["full"] == 10
        assert "greedy-means" not in sizes
        left_out = (
            "greedy-means is left out: it needs probabilities of every judge, and some give classes alone."
        )
        assert facts["notes"] == ([left_out] if methods == "pruning" else [])


def test_prices_of_judges_who_are_dropped_are_passed_over_with_a_note(tmp_path: Path) -> None:
    truth = np.random.default_rng(0).integers(0, 2, 40)
    table = pd.DataFrame({f"j{k}": np.where(np.arange(40) % (k + 3), truth, 1 - truth) for k in range(3)})
    table = table.assign(**{"p:q:0": 0.5 * truth, "p:q:1": 1 - 0.5 * truth, "target": truth})
    table.to_csv(tmp_path / "ans.csv", index=False)
    (tmp_path / "prices.csv").write_text("name,cost\nj0,1\nj1,1\nj2,1\np:q,1\n")
    drop = ["--drop", "j1", "--drop", "p:q:0", "--drop", "p:q:1"]
    told = ["ans.csv", "--answers", "--costs", "prices.csv"]

    run = done("prune", *told, *drop, "--objective", "accuracy", "--set", "max-cost=1e18", cwd=tmp_path)

    assert "note: prices.csv also prices j1 and p:q, which are dropped: passed over." in run.stderr
    assert run.stdout.startswith("Ask ")
    compared = shortlist(
        "compare", "ans.csv", "--set", "answers=yes", "--costs", "prices.csv",
        "--methods", "uwa,full", "--set", "folds=2", cwd=tmp_path,
    )  # fmt: skip
    assert "2 folds, 4 judges; the same rows choose for every method of a fold." in compared.stdout


def test_a_page_leaves_out_rows_that_no_member_answers(tmp_path: Path) -> None:
    says = ["a" if row % 3 else "b" for row in range(60)]
    frame = pd.DataFrame({"one": says, "two": [*says[1:], "a"], "target": says})
    frame.loc[frame.index % 10 == 4, ["one", "two"]] = None
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    run = done("prune", "gaps.csv", "--answers", "--json", "--out", "page.html", cwd=tmp_path)
    page = (tmp_path / "page.html").read_text()
    left_out = [int(n) for n in re.findall(r"no member answers are left out: (\d+)", page)]
    shown = [int(n) for n in re.findall(r"of (\d+) rows are right, those on the diagonal", page)]
    n_rows = json.loads(run.stdout)["rows"]["validation"]
    assert min(left_out) > 0
    assert [n_rows - n for n in left_out] == shown[-2:], "before and after"


def test_many_columns_of_judges_leave_no_warning_of_pandas(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.resize([0, 1], 60))
    shares = np.clip(0.5 + 0.4 * (truth[:, None] - 0.5) + rng.normal(0, 0.2, (60, 110)), 0.05, 0.95).round(2)
    table = pd.DataFrame({f"j{k}:yes": shares[:, k] for k in range(110)})
    table = table.join((1 - table).round(2).rename(columns=lambda name: name.replace("yes", "no")))
    table.assign(target=np.where(truth, "yes", "no")).to_csv(tmp_path / "said.csv", index=False)
    run = done("prune", "said.csv", "--answers", "--method", "full", cwd=tmp_path)
    assert "fragmented" not in run.stderr


def test_a_front_of_judges_says_whom_to_ask(tmp_path: Path) -> None:
    table = judged_messages().iloc[:200]
    table[[*table.columns[:4], "target"]].to_csv(tmp_path / "ans.csv", index=False)
    objectives = ["--objectives", "max accuracy, min size", "--pick", "0"]

    run = done("prune", "ans.csv", "--answers", *objectives, cwd=tmp_path)

    assert ": ask " in run.stdout.splitlines()[0]
    assert "Members, in the order to ask them: " in run.stdout
    assert "Front: " in run.stdout


def test_a_front_is_found_shown_and_one_committee_of_it_predicts(folder: Path) -> None:
    facts = facts_of(
        *NAMED, "--classifiers", "4", "--workers", "1",
        "--objectives", "max accuracy, min size", "--pick", "lexicographic", "--out", "committees.parquet",
        "--out", "committee.joblib", "--out", "committees.html", cwd=folder,
    )  # fmt: skip
    assert (facts["command"], facts["method"], facts["status"], facts["proof"]) == (
        "prune", "committees", "optimal", "complete",
    )  # fmt: skip
    assert facts["proved"] == [True] * facts["n_points"]
    assert facts["pick"]["index"] == 0
    assert facts["pick"]["values"]["size"] == facts["size"] == len(facts["selection"])
    assert facts_of("front", "show", "committees.parquet", cwd=folder)["points"] == facts["points"]
    done("predict", "committee.joblib", "new.csv", cwd=folder)
    done("report", "committees.parquet", "--out", "again.html", cwd=folder)


def test_scores_are_means_or_shares_as_asked_and_files_carry_which(folder: Path) -> None:
    named = [*NAMED, "--method", "full", "--classifiers", "3", "--workers", "1", "--out", "m.joblib"]
    named += ["--pick", "committee"]
    for source in ("mean", "shares"):
        voted = ["--set", "voting=hard", "--set", f"probabilities={source}"]
        told = facts_of(*named, *voted, cwd=folder)
        assert (told["probabilities"], told["voting"]) == (source, "hard")
        shortlist("predict", "m.joblib", "new.csv", "--out", "m.csv", cwd=folder)
        scores = pd.read_csv(folder / "m.csv")["score_ill"]
        shares = {round((n + 1) / 5, 6) for n in range(4)}
        assert (set(scores) <= shares) == (source == "shares")
        done("export", "m.joblib", "new.csv", "--out", "m.json", cwd=folder)  # checks every row
        assert json.loads((folder / "m.json").read_text())["probabilities"] == source


def test_a_comparison_within_a_cost_ranks_nobody_who_costs_more(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=120)
    said = {"dear": np.where(rng.random(120) < 0.98, truth, 1 - truth)}
    said |= {f"cheap{k}": np.where(rng.random(120) < 0.7 + k / 50, truth, 1 - truth) for k in range(4)}
    pd.DataFrame(said).assign(target=truth).replace({0: "no", 1: "yes"}).to_csv(
        tmp_path / "said.csv", index=False
    )
    (tmp_path / "prices.csv").write_text("name,cost\ndear,10\n" + "".join(f"cheap{k},1\n" for k in range(4)))
    run = done(
        "compare", "said.csv", "--set", "answers=yes", "--costs", "prices.csv", "--set", "max-cost=3", "--set", "folds=3",
        "--methods", "best-single,full,exact", "--workers", "1", "--out", "folds.parquet", "--json", cwd=tmp_path,
    )  # fmt: skip
    facts = json.loads(run.stdout)
    rows = {row["method"]: row for row in facts["methods"]}
    assert [row["method"] for row in facts["methods"]][-1] == "full"
    assert (rows["full"]["rank"], rows["full"]["cost"]) == (None, 14)
    assert rows["best-single"]["cost"] == 1
    assert rows["best-single"]["accuracy"] < 0.9  # not the dear one
    assert rows["exact"]["cost"] <= 3
    assert rows["best-single"]["rank"] + rows["exact"]["rank"] == pytest.approx(1 + 2)
    told = "full cost more than --set max-cost in some fold: they have no rank, and stand last."
    assert told in run.stderr
    assert any(told in note for note in facts["notes"])
    folds = pd.read_parquet(tmp_path / "folds.parquet")
    assert folds.groupby("method")["within_limit"].all().to_dict() == {
        "best-single": True, "exact": True, "full": False,
    }  # fmt: skip
