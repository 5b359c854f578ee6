"""`shortlist verify`, as a user runs it."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from shortlist.ensembles.committees.chosen import Chosen
from shortlist.ensembles.committees.evidence import EnsembleSelection
from shortlist.ensembles.verification.recheck_vote_certificate import check_certificate
from shortlist.results.front import Front
from shortlist.saved_models import SavedModel, load_model, save_model
from tests.cli.refusals import refusals, refuse
from tests.cli.running import done, facts_of, shortlist, unwrapped

pytestmark = pytest.mark.slow

PAPER = ["--set", "protocol=paper", "--pick", "committee"]
"""A part of the rows selects members, and the committee is written, whatever the advice."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table and a model pruned on it, with cuts in its certificate."""
    folder = tmp_path_factory.mktemp("verify")
    X, y = make_classification(500, 6, n_informative=3, flip_y=0.25, random_state=1)
    table = pd.DataFrame(X, columns=list("abcdef")).assign(target=np.where(y == 1, "yes", "no"))
    table.to_csv(folder / "table.csv", index=False)
    run = done(
        "prune", "table.csv", *PAPER, "--objective", "accuracy", "--set", "refit=no", "--classifiers", "20", "--time-limit", "6", "--workers", "1", "--out", "model.joblib",
        "--details", cwd=folder,
    )  # fmt: skip
    (folder / "pruned.txt").write_text(run.stdout)
    return folder


def _for_other_weights(chosen: Chosen) -> EnsembleSelection:
    """Return the result with a certificate of weights for which every selection is worth the same."""
    result = chosen.result
    assert isinstance(result, EnsembleSelection)
    assert result.certificate is not None
    n_rows, right = len(chosen.record.labels), round(result.value * len(chosen.record.labels))
    positive = int(chosen.record.labels.sum())
    # n_rows * a row's worth is not the value: two worths, one for each class, add up to it
    one, other = next(
        (a, b)
        for a in range(-n_rows, n_rows)
        for b in range(-n_rows, n_rows)
        if a * positive + b * (n_rows - positive) == right
    )
    forged = result.certificate | {
        "weights": {"tp": one, "fn": one, "tn": other, "fp": other},
        "value": right,
        "bound": right,
        "cuts": [],
    }
    return dataclasses.replace(result, bound=result.value, certificate=forged)


def _for_fewer_members(chosen: Chosen) -> EnsembleSelection:
    """Return the result with a certificate for selections of the same size only."""
    result = chosen.result
    assert isinstance(result, EnsembleSelection)
    assert result.certificate is not None
    size = int(result.mask.sum())
    limits = result.certificate["limits"] | {"min_size": size, "max_size": size}
    return dataclasses.replace(result, certificate=result.certificate | {"limits": limits})


def test_a_model_stands_the_check_and_its_certificate_can_be_kept(folder: Path) -> None:
    run = done("verify", "model.joblib", "table.csv", "--certificate", "proof.json", cwd=folder)

    assert run.stdout.startswith("As claimed")
    sentence = unwrapped(run.stdout).splitlines()[1].removesuffix(".")
    assert sentence.startswith("accuracy 0.")
    assert sentence in unwrapped((folder / "pruned.txt").read_text())  # the same line of proof
    assert json.loads((folder / "proof.json").read_text())["format"] == "shortlist pruning certificate 1"


def test_facts_are_one_json_object(folder: Path) -> None:
    facts = facts_of("verify", "model.joblib", "table.csv", cwd=folder)

    assert facts["status"] == ("valid" if facts["bound"] <= facts["claimed_bound"] else "partly")
    assert facts["failures"] == []
    assert facts["value"] <= facts["claimed_bound"] <= facts["bound"]
    assert facts["proof"]["sentence"] in unwrapped((folder / "pruned.txt").read_text())


def test_a_table_in_another_order_is_said_to_be_one_and_stands_the_check(folder: Path) -> None:
    pd.read_csv(folder / "table.csv").sample(frac=1, random_state=0).to_csv(
        folder / "shuffled.csv", index=False
    )
    run = done("verify", "model.joblib", "shuffled.csv", cwd=folder)

    assert "note: the rows of the table are in another order" in run.stderr


def test_without_a_certificate_the_value_is_counted_and_the_exit_code_says_that_nothing_proves_the_bound(
    folder: Path,
) -> None:
    options = [*PAPER, "--classifiers", "5", "--time-limit", "20", "--workers", "1", "--out", "highs.joblib"]
    options += ["--set", "solver=highs", "--set", "refit=no"]
    run = done("prune", "table.csv", *options, cwd=folder)
    assert "Proof by HiGHS alone: no other " in unwrapped(run.stdout)

    run = shortlist("verify", "highs.joblib", "table.csv", "--certificate", "none.json", "--json", cwd=folder)

    facts = json.loads(run.stdout)
    assert (run.returncode, facts["status"], facts["bound"]) == (3, "counted", None)
    assert facts["value"] == facts["proof"]["value"]
    assert facts["notes"] == ["there is no certificate to write"]
    assert not (folder / "none.json").exists()


def test_another_table_does_not_pass(folder: Path) -> None:
    table = pd.read_csv(folder / "table.csv")
    table.assign(target=table["target"].map({"yes": "no", "no": "yes"})).to_csv(
        folder / "turned.csv", index=False
    )
    run = shortlist("verify", "model.joblib", "turned.csv", cwd=folder)

    assert run.returncode == 1
    first, second = unwrapped(run.stdout).splitlines()
    assert "these are not the rows that the model was made from: 135 of the 135" in first
    assert "another class" in second

    table.assign(a=-table["a"], b=-table["b"], c=-table["c"]).to_csv(folder / "moved.csv", index=False)
    run = shortlist("verify", "model.joblib", "moved.csv", cwd=folder)
    assert run.returncode == 1
    first, second = unwrapped(run.stdout).splitlines()
    assert "these are not the rows" in first
    assert "the classifiers vote otherwise" in second


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ({"value": 1.0}, "the model claims the value 1"),
        ({"bound": 2.0}, "the model claims the bound 2"),
        ({"bound": 0.1}, "below its own value"),
        ({"bound": float("nan")}, "below its own value"),
    ],
)
def test_a_model_that_claims_more_does_not_pass(folder: Path, claim: dict[str, float], sentence: str) -> None:
    saved = load_model(folder / "model.joblib")
    chosen: Chosen = saved.estimator
    assert chosen.result is not None
    claimed: Any = dataclasses.replace(chosen.result, **cast("Any", claim))
    chosen = dataclasses.replace(chosen, result=claimed)
    save_model(SavedModel(chosen, saved.features, saved.target), folder / "claims.joblib")

    run = shortlist("verify", "claims.joblib", "table.csv", cwd=folder)

    assert run.returncode == 1
    assert sentence in unwrapped(run.stdout)


@pytest.mark.parametrize(
    ("forge", "sentence"),
    [
        pytest.param(_for_other_weights, "other weights than", id="weights"),
        pytest.param(_for_fewer_members, "other limits than", id="limits"),
    ],
)
def test_a_proof_of_another_problem_does_not_pass(
    folder: Path, forge: Callable[[Chosen], EnsembleSelection], sentence: str
) -> None:
    saved = load_model(folder / "model.joblib")
    chosen: Chosen = saved.estimator
    forged, record = forge(chosen), chosen.record
    certificate = forged.certificate
    assert certificate is not None
    assert record.packed_votes is not None
    votes = np.unpackbits(record.packed_votes, axis=1, count=20)
    # the certificate alone stands: only what it is about is wrong
    assert check_certificate(certificate, votes.tolist(), record.labels.tolist()).valid
    chosen = dataclasses.replace(chosen, result=forged)
    save_model(SavedModel(chosen, saved.features, saved.target), folder / "forged.joblib")

    run = shortlist("verify", "forged.joblib", "table.csv", cwd=folder)

    assert run.returncode == 1
    assert sentence in unwrapped(run.stdout)


def test_limits_on_size_and_cost_are_said_and_need_no_pool(folder: Path) -> None:
    classifiers = load_model(folder / "model.joblib").estimator.committee.members
    priced = dataclasses.replace(classifiers, costs=np.arange(1.0, len(classifiers) + 1))
    joblib.dump(priced, folder / "priced.joblib")
    run = done(
        "prune", "table.csv", *PAPER, "--pool", "priced.joblib", "--trust", "--set", "max-cost=3", "--set", "max-size=2", "--workers", "1",
        "--time-limit", "5", "--out", "cheap.joblib", cwd=folder,
    )  # fmt: skip

    run = done("verify", "cheap.joblib", "table.csv", cwd=folder)

    assert "A selection has 1 to 2 of the" in unwrapped(run.stdout)


@pytest.mark.parametrize("field", ["cuts", "members", "threshold", "limits"])
def test_a_certificate_without_a_field_is_not_as_claimed(folder: Path, field: str) -> None:
    saved = load_model(folder / "model.joblib")
    saved.estimator.result.certificate.pop(field)
    save_model(SavedModel(saved.estimator, saved.features, saved.target), folder / "less.joblib")
    run = shortlist("verify", "less.joblib", "table.csv", cwd=folder)
    assert run.returncode == 1
    assert "NOT AS CLAIMED: the certificate is not readable" in unwrapped(run.stdout)


def test_what_cannot_be_checked_is_refused_in_a_sentence(folder: Path) -> None:
    pd.read_csv(folder / "table.csv").head(20).to_csv(folder / "short.csv", index=False)
    run = shortlist("verify", "model.joblib", "short.csv", cwd=folder)
    assert run.returncode == 1
    assert "the table has 20 rows in place of 500" in unwrapped(run.stdout)
    assert len(unwrapped(run.stdout).splitlines()) == 1
    save_model(SavedModel(LogisticRegression(), tuple("abcdef"), "target"), folder / "other.joblib")
    needed = "needs a model of shortlist prune, evolve or stage, got one of LogisticRegression"
    refuse("verify", "other.joblib", "table.csv", message=needed, cwd=folder)
    joblib.dump(load_model(folder / "model.joblib").estimator.committee.members, folder / "few.joblib")
    pool = ["--pool", "few.joblib", "--trust"]
    refuse("verify", "model.joblib", "table.csv", *pool, message="must hold the 20 classifiers", cwd=folder)


def test_other_rows_of_judges_are_said_to_be_others_whatever_they_answer_there(tmp_path: Path) -> None:
    truth = np.random.default_rng(0).permutation(np.resize([0, 1], 60))
    table = pd.DataFrame({f"j{k}": np.where(np.arange(60) % (k + 3), truth, 1 - truth) for k in range(3)})
    table.assign(target=truth).to_csv(tmp_path / "answers.csv", index=False)
    few = table.assign(target=truth)[truth == 1].iloc[:2]
    few.assign(j0=None).to_csv(tmp_path / "few.csv", index=False)
    told = ["--answers", "--objective", "accuracy", "--out", "judges.joblib"]
    done("prune", "answers.csv", *told, *PAPER, cwd=tmp_path)

    same = shortlist("verify", "judges.joblib", "answers.csv", cwd=tmp_path)
    other = shortlist("verify", "judges.joblib", "few.csv", cwd=tmp_path)

    assert same.returncode == 0, same.stderr
    assert (other.returncode, other.stderr) == (1, "")
    assert other.stdout.startswith("NOT AS CLAIMED: these are not the rows that the model was made from: ")


def test_a_label_that_is_no_class_is_named_with_its_row_of_the_table(tmp_path: Path) -> None:
    truth = np.random.default_rng(0).permutation(np.resize(["no", "yes"], 60))
    others = np.where(truth == "no", "yes", "no")
    table = pd.DataFrame({f"j{k}": np.where(np.arange(60) % (k + 3), truth, others) for k in range(3)})
    table = table.assign(target=truth)
    table.to_csv(tmp_path / "answers.csv", index=False)
    told = [*PAPER, "--answers", "--objective", "accuracy", "--out", "judges.joblib"]
    done("prune", "answers.csv", *told, cwd=tmp_path)
    pruned_on = load_model(tmp_path / "judges.joblib").estimator.record.rows
    place = int(pruned_on[-1])
    assert place != len(pruned_on) - 1, "the record has its rows in another order"
    table.loc[place, "j0"] = "maybe"
    table.to_csv(tmp_path / "maybe.csv", index=False)

    run = shortlist("verify", "judges.joblib", "maybe.csv", cwd=tmp_path)

    assert (run.returncode, run.stderr) == (1, "")
    rows, answer = unwrapped(run.stdout).splitlines()
    assert rows.startswith("NOT AS CLAIMED: these are not the rows that the model was made from: 1 of the ")
    assert f"(row {place + 1}, counted from 1)" in rows
    assert answer == f"NOT AS CLAIMED: judge 'j0' must answer no or yes, got 'maybe' in row {place + 1}."


@pytest.mark.parametrize("group", [(), ("--group", "patient")], ids=["rows", "cases"])
def test_the_front_of_stages_is_found_and_counted_again(tmp_path: Path, group: tuple[str, ...]) -> None:
    X, y = make_classification(160, 4, random_state=1)
    rows = pd.DataFrame(X, columns=list("abcd")).assign(
        target=np.where(y == 1, "yes", "no"), **({"patient": np.arange(160) // 2} if group else {})
    )
    rows.to_csv(tmp_path / "table.csv", index=False)
    done("stage", "table.csv", *group, "--out", "s.joblib", cwd=tmp_path)
    again = done("verify", "s.joblib", "table.csv", cwd=tmp_path)
    assert again.stdout.splitlines()[-1].startswith("Rechecked: as claimed")
    facts = facts_of("verify", "s.joblib", "table.csv", cwd=tmp_path)
    assert (facts["status"], facts["claim"], facts["failures"]) == ("rechecked", "complete", [])
    rows.assign(target=rows["target"].to_numpy()[::-1]).to_csv(tmp_path / "other.csv", index=False)
    other = shortlist("verify", "s.joblib", "other.csv", cwd=tmp_path)
    assert (other.returncode, other.stdout[:16]) == (1, "NOT AS CLAIMED: ")
    refuse(
        "verify", "s.joblib", "table.csv", "--certificate", "c.json", message="--certificate", cwd=tmp_path
    )


def test_the_front_of_committees_of_judges_is_counted_again_with_the_model_beside_it(tmp_path: Path) -> None:
    truth = np.random.default_rng(0).permutation(np.resize(["no", "yes"], 60))
    others = np.where(truth == "no", "yes", "no")
    table = pd.DataFrame({f"j{k}": np.where(np.arange(60) % (k + 3), truth, others) for k in range(4)})
    table.assign(target=truth).to_csv(tmp_path / "answers.csv", index=False)
    (tmp_path / "costs.csv").write_text("name,cost\nj0,0.1\nj1,0.2\nj2,0.7\nj3,2.5\n")
    options = ["--answers", "--objectives", "max accuracy, min cost, min size", "--costs", "costs.csv"]
    written = ["--out", "front.parquet", "--out", "model.joblib"]
    done("prune", "answers.csv", *options, *written, cwd=tmp_path)
    asked = "verify", "front.parquet", "answers.csv"

    found = shortlist(*asked, "--pruned", "model.joblib", cwd=tmp_path)
    facts = facts_of(*asked, "--pruned", "model.joblib", cwd=tmp_path)
    (tmp_path / "one.lp").write_text("max\n x\nsubject to\n c: x <= 1\nbinary\n x\nend\n")
    refuse(*asked, message="--pruned MODEL.joblib", cwd=tmp_path)
    refuse("verify", "front.parquet", "one.lp", message="TABLE must be the table", cwd=tmp_path)
    certified = ["--pruned", "model.joblib", "--certificate", "c.json"]
    refuse(*asked, *certified, message="--certificate belongs to a model", cwd=tmp_path)
    model = shortlist("verify", "model.joblib", "answers.csv", cwd=tmp_path)

    assert found.returncode == 0, found.stderr + found.stdout
    assert "All 15 committees were counted" in unwrapped(found.stdout)
    assert found.stdout.splitlines()[-1] == "Rechecked: the front is complete."
    assert (facts["status"], facts["committees_counted"], facts["failures"]) == ("rechecked", 15, [])
    assert model.returncode == 3, model.stderr  # a walk leaves no certificate, and prices are no budget


def test_a_front_of_committees_without_its_best_point_is_not_as_claimed(tmp_path: Path) -> None:
    X, y = make_classification(150, 4, random_state=1)
    table = pd.DataFrame(X, columns=list("abcd")).assign(target=np.where(y == 1, "yes", "no"))
    table.to_csv(tmp_path / "table.csv", index=False)
    written = ["--out", "front.parquet", "--out", "model.joblib"]
    objectives = ["--objectives", "max recall, max specificity", "--classifiers", "6", "--workers", "1"]
    done("prune", "table.csv", *objectives, *written, cwd=tmp_path)
    front = Front.load(tmp_path / "front.parquet")
    shorter = {name: front.extras[name][1:] for name in ("thresholds", "proved", "calls")}
    extras = {**front.extras, **shorter, "final_to": {}}
    less = dataclasses.replace(front, values=front.values[1:], decisions=front.decisions[1:], extras=extras)
    less.save(tmp_path / "less.parquet")

    found = shortlist("verify", "less.parquet", "table.csv", "--pruned", "model.joblib", cwd=tmp_path)

    assert found.returncode == 1
    assert found.stdout.startswith("NOT AS CLAIMED: the committee of ")


def test_points_compared_by_cases_are_not_called_rechecked(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 3))
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(patient=np.repeat(np.arange(60), 2))
    table["target"] = np.where(X[:, 0] + X[:, 1] + rng.normal(size=120) > 0, "yes", "no")
    table.to_csv(tmp_path / "visits.csv", index=False)
    asked = ["visits.csv", "--objectives", "max accuracy, min size", "--pick", "as-good"]
    files = ["--out", "front.parquet", "--out", "model.joblib"]
    done("prune", *asked, "--group", "patient", "--classifiers", "3", *files, cwd=tmp_path)
    run = shortlist("verify", "front.parquet", "visits.csv", "--pruned", "model.joblib", cwd=tmp_path)
    assert run.returncode == 3, run.stdout + run.stderr
    assert "compared with the best single classifier by cases" in " ".join(run.stdout.split())


@refusals("verify")
def test_files_that_hold_no_proof_and_a_proof_of_completeness_are_refused(
    tmp_path: Path, refused: Callable[[Path], None]
) -> None:
    for name in ("front.csv", "program.lp", "other.lp"):
        (tmp_path / name).write_text("cost,value\n1,2\n")
    refused(tmp_path)
