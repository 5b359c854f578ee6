"""The command stage, and predict --explain, as a user runs them."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from shortlist import __version__
from shortlist.results.front import Front
from shortlist.saved_models import load_model
from shortlist.tables.fingerprints import table_fingerprint
from tests.cli.refusals import refusals, refuse
from tests.cli.running import done, facts_of, shortlist, unwrapped
from tests.stored import Stored

COSTS = {"age": 1.0, "income": 2.5, "history": 10.0, "region": 4.0}
NEEDS = "feature,cost,needs\nage,1,\nincome,2,form\nregion,4,form;age\nform,3,check\ncheck,1,\n"
QUICK = ["--target", "approved", "--workers", "1"]
CREDIT, NUMBERS = ["stage", "credit.csv", *QUICK], ["stage", "numbers.csv", *QUICK]
PRICED = [*CREDIT, "--costs", "costs.csv"]
SEEDED = [*CREDIT, "--seed", "5", "--confidence", "0.95"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with applications for credit: text, gaps, string labels, and prices."""
    folder = tmp_path_factory.mktemp("credit")
    X, y = make_classification(
        320, 3, n_informative=3, n_redundant=0, class_sep=0.8, flip_y=0.1, random_state=0
    )
    table = pd.DataFrame(X, columns=["age", "income", "history"])
    table["region"] = np.where(X[:, 1] + X[:, 2] > 0, "north", "south")
    table.loc[::9, "income"] = np.nan
    table["approved"] = np.where(y == 1, "yes", "no")
    table.to_csv(folder / "credit.csv", index=False)
    table.assign(approved=y).to_csv(folder / "numbers.csv", index=False)
    table.drop(columns="approved").head(60).to_csv(folder / "new.csv", index=False)
    pd.DataFrame({"feature": COSTS.keys(), "cost": COSTS.values()}).to_csv(folder / "costs.csv", index=False)
    (folder / "needs.csv").write_text(NEEDS)
    _write_bad_files(folder, table)
    return folder


def _write_bad_files(folder: Path, table: pd.DataFrame) -> None:
    table.assign(approved="yes").to_csv(folder / "one_class.csv", index=False)
    rare = table.assign(approved=np.where(table.index < 3, "rare", table["approved"]))
    rare.to_csv(folder / "rare.csv", index=False)
    (folder / "typo.csv").write_text("feature,cost\nage,1\nincome,1\nhistori,1\nregion,1\n")
    (folder / "few.csv").write_text("feature,cost\nage,1\nincome,1\n")
    (folder / "nan.csv").write_text("feature,cost\nage,\nincome,1\nhistory,1\nregion,1\n")
    (folder / "from.csv").write_text(NEEDS.replace("region,4,form", "region,4,from"))
    priced = pd.DataFrame({"feature": list(COSTS), "cost": 1, "hours": 2, "laboratory": "north"})
    priced.to_csv(folder / "attributes.csv", index=False)


@pytest.fixture(scope="module")
def priced(folder: Path) -> Any:
    """JSON on the table with its prices; `priced.parquet` and `priced.joblib` are written."""
    return facts_of(*PRICED, "--out", "priced.parquet", "--out", "priced.joblib", cwd=folder)


@pytest.fixture(scope="module")
def seeded(folder: Path) -> Any:
    """JSON on the table without prices; `seeded.parquet`, `.joblib` and `.html` are written."""
    files = ["--out", "seeded.parquet", "--out", "seeded.joblib", "--out", "seeded.html"]
    return facts_of(*SEEDED, *files, cwd=folder)


def test_stage_writes_a_front_and_a_model_that_explains_its_answers(folder: Path) -> None:
    facts = facts_of(
        *PRICED, "--confidence", "0.75", "--set",
        "max-stages=4", "--out", "front.parquet", "--out", "stages.joblib", cwd=folder,
    )  # fmt: skip
    assert [facts[key] for key in ("command", "method", "status", "proof")] == [
        "stage", "enumerate", "optimal", "complete",
    ]  # fmt: skip
    assert facts["objectives"] == [
        {"name": "coverage", "sense": "max"},
        {"name": "conclusive_accuracy", "sense": "max"},
        {"name": "acquisition_cost", "sense": "min"},
    ]
    assert facts["rows"] == {"train": 320, "validation": 320, "test": 320, "folds": 5, "parts": 2}
    assert (facts["costs"], facts["total_cost"], facts["n_fits"]) == (COSTS, sum(COSTS.values()), 5 * 15)
    chosen = facts["chosen"]
    assert {name for names in chosen["stages"] for name in names} < set(COSTS)
    assert all(name in chosen["stages"][stage] for name, stage in chosen["assignment"].items() if stage >= 0)
    assert facts["test"]["single_stage"]["coverage"] == 1
    assert facts["test"]["single_stage"]["cost"] == sum(COSTS.values())
    reached = facts["test"]["reached"]
    paid = sum(
        share * sum(COSTS[name] for name in names)
        for share, names in zip(reached, chosen["stages"], strict=True)
    )
    assert paid == pytest.approx(chosen["values"]["acquisition_cost"])
    assert facts["test"]["multi_stage"]["cost"] <= sum(COSTS.values())
    assert reached == sorted(reached, reverse=True)
    assert reached[0] == 1

    front = Front.load(folder / "front.parquet")
    assert len(front) == facts["n_points"] == len(facts["points"])
    assert front.values[chosen["index"]].tolist() == list(chosen["values"].values())
    assert front.decisions[chosen["index"]].tolist() == list(chosen["assignment"].values())

    predicted = done("predict", "stages.joblib", "new.csv", "--explain", cwd=folder)
    (folder / "answers.csv").write_text(predicted.stdout)
    answers = pd.read_csv(folder / "answers.csv")
    assert list(answers) == ["prediction", "stage", "confidence", "features", "cost", "needs", "unknown"]
    assert len(answers) == 60
    answers = answers[answers["needs"].isna()]  # the others have nothing of what their next stage buys
    assert set(answers["prediction"]) <= {"yes", "no", "REJECT"}
    rejected = answers["prediction"] == "REJECT"
    assert ((answers["confidence"] < 0.75) == rejected).all()
    assert (answers["stage"][rejected] == len(chosen["stages"])).all()
    for row in answers.itertuples():
        assert sum(COSTS[name] for name in row.features.split(", ")) == row.cost
        assert set(row.features.split(", ")) == {
            name for names in chosen["stages"][: row.stage] for name in names
        }


def test_predict_without_explain_gives_labels_and_counts_what_was_spent(folder: Path) -> None:
    done(*NUMBERS, *PRICED[-2:], "--confidence", "0.9", "--out", "numbers.joblib", cwd=folder)
    facts = facts_of("predict", "numbers.joblib", "new.csv", "--out", "labels.csv", cwd=folder)
    labels = pd.read_csv(folder / "labels.csv", dtype=str)
    assert list(labels) == ["prediction"]
    assert set(labels["prediction"]) <= {"0", "1", "REJECT"}
    assert facts["n_rejected"] + facts["n_waiting"] == (labels["prediction"] == "REJECT").sum() > 0
    assert facts["n_unknown"] == 0 < facts["n_rejected"]
    assert facts["mean_cost"] * 60 == pytest.approx(facts["total_cost"])


def test_rows_without_a_feature_wait_where_they_need_it(folder: Path) -> None:
    done(*PRICED, "--confidence", "0.9", "--out", "partial.joblib", cwd=folder)
    table = pd.read_csv(folder / "new.csv")
    name = load_model(folder / "partial.joblib").estimator.model_.stages[-1].bought[0]
    lacking = list(COSTS)[name]
    table.drop(columns=lacking).to_csv(folder / "narrow.csv", index=False)

    run = done(
        "predict", "partial.joblib", "narrow.csv", "--explain", "--out", "narrow-answers.csv", "--json",
        cwd=folder,
    )  # fmt: skip
    answers, facts = pd.read_csv(folder / "narrow-answers.csv"), json.loads(run.stdout)
    waiting = answers["needs"].notna()  # other rows lack the first stage's value
    assert (answers["needs"] == lacking).any()
    assert 0 < waiting.sum() == facts["n_waiting"] < 60
    assert (answers["prediction"][waiting] == "REJECT").all()
    assert f"the table has no {lacking}: rows that need them wait" in run.stderr
    assert f"{facts['n_waiting']} of 60 rows have no answer yet" in run.stderr
    cheap = ["stage", "use", "partial.joblib", "--limit", "acquisition_cost<=1", "--out", "cheap.joblib"]
    done(*cheap, cwd=folder)
    (only,) = {feature for stage in load_model(folder / "cheap.joblib").estimator.model_.stages
               for feature in stage.bought}  # fmt: skip
    table[[list(COSTS)[only]]].to_csv(folder / "enough.csv", index=False)
    enough = done("predict", "cheap.joblib", "enough.csv", cwd=folder)
    assert "the table has no" not in enough.stderr  # no row waits for what no stage buys


def test_evolution_claims_nothing_and_finds_the_same_with_the_same_seed(folder: Path) -> None:
    command = [*CREDIT, "--method", "emsco", "--set", "generations=5", "--set", "population=20", "--json",
               "--seed", "3"]  # fmt: skip
    first, second = (json.loads(shortlist(*command, cwd=folder).stdout) for _ in range(2))
    assert (first["method"], first["status"], first["proof"]) == ("emsco", "feasible", "approximate")
    assert first["points"] == second["points"]
    assert first["chosen"] == second["chosen"]


def test_the_budget_decides_what_auto_does(folder: Path) -> None:
    facts = facts_of(*CREDIT, "--set", "budget=10", cwd=folder)
    assert (facts["method"], facts["evolution"]) == ("windows", None)
    assert facts["windows"]["n_windows"] == 1


def test_objectives_limits_and_picks_are_the_users(folder: Path) -> None:
    facts = facts_of(
        *PRICED, "--objectives",
        "coverage,conclusive-accuracy,stages", "--confidence", "yes=0.9,no=0.6", "--pick", "lexicographic",
        "--limit", "stages<3", "--set", "penalty=yes=0.5", "--set", "removal=yes", cwd=folder,
    )  # fmt: skip
    assert facts["confidence"] == {"no": 0.6, "yes": 0.9}
    assert len(facts["chosen"]["stages"]) == facts["chosen"]["values"]["stages"] <= 2
    within = [point for point in facts["points"] if point[2] <= 2]
    assert facts["chosen"]["values"]["coverage"] == max(point[0] for point in within)


def test_groups_share_a_first_price(folder: Path) -> None:
    (folder / "groups.csv").write_text(
        "feature,cost,discount_cost,group\nage,1,1,\nincome,5,3,blood\nhistory,12,10,blood\nregion,4,4,\n"
    )
    facts = facts_of(*CREDIT, "--costs", "groups.csv", cwd=folder)
    assert facts["costs"] == {"age": 1, "income": 5, "history": 12, "region": 4}
    assert facts["total_cost"] == 1 + 3 + 10 + 2 + 4


def test_recall_compares_evolution_with_the_complete_front(folder: Path) -> None:
    command = [*PRICED, "--set", "recall=2", "--set", "generations=20", "--set", "population=40"]
    facts = facts_of(*command, cwd=folder)
    recall = facts["recall"]
    assert recall["n_seeds"] == 2
    assert len(recall["points"]) == len(recall["assignments"]) == 21
    assert recall["points"][0] < recall["points"][-1] <= 1
    assert recall["points"] == sorted(recall["points"])


def test_a_preset_prices_the_columns_of_its_table(folder: Path) -> None:
    rng = np.random.default_rng(0)
    names = ["times_pregnant", "plasma_glucose", "diastolic_bp", "triceps_skin", "serum_insulin", "bmi", "pedigree",
             "age"]  # fmt: skip
    pima = pd.DataFrame(rng.normal(size=(80, 8)), columns=names)
    pima.assign(target=(pima["bmi"] > 0).astype(int)).to_csv(folder / "pima.csv", index=False)
    command = ["stage", "pima.csv", "--preset", "pima", "--set", "max-stages=2", "--workers", "1"]
    facts = facts_of(*command, cwd=folder)
    assert facts["costs"]["serum_insulin"] == 300
    assert facts["confidence"] == {"0": 0.65, "1": 0.65}
    scaled = facts_of(*command, "--set", "scaling=10^T", "--confidence", "0.7", cwd=folder)
    assert scaled["costs"]["serum_insulin"] == 1000
    assert scaled["confidence"] == {"0": 0.7, "1": 0.7}


@refusals("stage")
def test_bad_input_is_one_sentence_and_writes_nothing(folder: Path, refused: Callable[[Path], None]) -> None:
    refused(folder)


def test_one_line_says_which_engine_answered_and_why(folder: Path, seeded: Any) -> None:
    assert seeded["why"] == "all subsets can be fitted and searched within seconds"
    why = f"(enumerate: {seeded['why']}; "
    text = done(*SEEDED, cwd=folder).stdout
    assert why in unwrapped(text)
    assert why in unwrapped(done("front", "show", "seeded.parquet", "--details", cwd=folder).stdout)
    seconds = Front.load(folder / "seeded.parquet").seconds
    page = (folder / "seeded.html").read_text(encoding="utf-8")
    assert f"Found by enumerate in {seconds:.2f} s: {seeded['why']}." in page


def test_an_unmeetable_choice_keeps_the_front_and_a_model_that_takes_another(folder: Path) -> None:
    files = ["--out", "u.parquet", "--out", "u.joblib"]
    kept = "The front is in u.parquet. The model is in u.joblib; "
    for unmet, code, status in (("--limit=coverage>0.999", 0, "infeasible"), ("--pick=9999", 2, "optimal")):
        run = shortlist(*PRICED, unmet, *files, "--json", cwd=folder)
        facts = json.loads(run.stdout)
        assert (run.returncode, facts["status"]) == (code, status)
        assert (facts["chosen"], facts["test"]) == (None, None)
        assert len(Front.load(folder / "u.parquet")) == facts["n_points"]
    assert f"there is no point 9999: the front has {facts['n_points']}, numbered from 0" in run.stderr
    assert kept in run.stderr
    people = shortlist(*PRICED, "--limit", "coverage>0.999", *files, cwd=folder)
    assert "No point has coverage > 0.999: the best is " in people.stdout
    assert kept in people.stdout

    refuse("predict", "u.joblib", "new.csv", message="shortlist stage use", cwd=folder)
    used = facts_of("stage", "use", "u.joblib", "--pick", "3", "--out", "three.joblib", cwd=folder)
    direct = facts_of(*PRICED, "--pick", "3", "--out", "direct.joblib", cwd=folder)
    assert used["chosen"] == direct["chosen"]
    three, taken = (
        done("predict", name, "new.csv", "--explain", cwd=folder).stdout
        for name in ("three.joblib", "direct.joblib")
    )
    assert three == taken != ""


def test_another_point_of_a_saved_front_is_shown(folder: Path, priced: Any) -> None:
    points = priced["points"]
    assert [point[0] < points[0][0] for point in points].index(True) == 1  # the next by coverage
    below = ["--pick", "lexicographic", "--limit", f"coverage<{points[0][0]}"]
    cheap = done("stage", "use", "priced.joblib", *below, cwd=folder).stdout
    assert cheap.startswith(f"Buy in this order, point 1 of {len(points)}, by lexicographic:\n")
    assert "stage 1, " in cheap


@pytest.mark.usefixtures("priced")
@refusals("stage-use")
def test_another_point_is_refused_in_words(folder: Path, refused: Callable[[Path], None]) -> None:
    refused(folder)


def test_stage_use_and_front_pick_take_the_same_point_of_the_same_front(folder: Path, priced: Any) -> None:
    taken = {}
    for rule in ([], ["--pick", "one-se"], ["--pick", "norm"], ["--pick", "knee"], ["--pick", "1"]):
        used = facts_of("stage", "use", "priced.joblib", *rule, cwd=folder)
        picked = facts_of("front", "pick", "priced.parquet", *rule, cwd=folder)
        assert used["chosen"]["index"] == picked["index"]
        taken[" ".join(rule)] = picked["index"]
    front = Front.load(folder / "priced.parquet")
    assert taken[""] == taken["--pick one-se"] != front.pick("ideal").index
    shown = done("front", "show", "priced.parquet", "--pick", "one-se", cwd=folder).stdout
    n_points = priced["n_points"]
    assert shown.startswith(f"Point {taken['']} of {n_points}, the cheapest within one standard error ")


def test_a_limit_that_a_saved_front_cannot_meet_is_an_answer(folder: Path) -> None:
    shortlist(*CREDIT, "--method", "emsco", "--set", "generations=2", "--out", "e.joblib", cwd=folder)
    command = ["stage", "use", "e.joblib", "--limit", "coverage>=0.999", "--out", "never.joblib"]
    facts = facts_of(*command, cwd=folder)
    run = shortlist(*command, cwd=folder)
    assert (run.returncode, facts["status"], facts["chosen"]) == (0, "infeasible", None)
    assert run.stdout == f"Status infeasible: {facts['reason']}\n"
    assert "The front is not complete" in facts["reason"]
    assert not (folder / "never.joblib").exists()


def test_prices_of_dropped_columns_are_passed_over(folder: Path) -> None:
    facts = facts_of(*PRICED, "--drop", "history", "--drop", "age", cwd=folder)
    assert facts["costs"] == {"income": 2.5, "region": 4}
    assert "costs.csv also prices age and history, which are dropped: passed over." in facts["notes"]


def test_the_json_says_what_was_run_on_what(folder: Path, seeded: Any) -> None:
    table = pd.read_csv(folder / "credit.csv")
    data = table_fingerprint(table.drop(columns="approved"), table["approved"])
    assert (seeded["seed"], seeded["version"]) == (5, __version__)
    assert seeded["data"] == data.as_dict()
    assert seeded["options"]["confidence"] == "0.95"
    assert seeded["options"]["pick"] == "one-se"
    assert any("% of the selection rows" in note for note in seeded["notes"])


def test_a_run_whose_elite_fills_the_population_says_so(folder: Path) -> None:
    command = [*CREDIT, "--set", "population=4", "--confidence", "0.5", "--set", "removal=no", "--details"]
    literal = shortlist(*command, "--set", "rules=paper", cwd=folder).stdout
    facts = facts_of(*command, "--set", "rules=distinct", cwd=folder)

    assert "ended by: elite fills the population." in literal
    assert "Use --set rules=distinct, or a larger --set population" in unwrapped(literal)
    assert facts["evolution"]["stopped"] in {"generations", "patience"}
    assert facts["evolution"]["n_evaluations"] >= 4


@pytest.mark.usefixtures("seeded")
def test_predict_says_what_is_wrong_with_new_rows(folder: Path) -> None:
    new = pd.read_csv(folder / "new.csv")
    for table, message in (
        (new.assign(age=np.inf), "'age' must be finite, got infinity"),
        (new.assign(age="old"), "'age' must hold numbers"),
        (new.rename(columns=str.upper), "missing: 'age', 'income', 'history', 'region'"),
    ):
        table.to_csv(folder / "wrong.csv", index=False)
        refuse("predict", "seeded.joblib", "wrong.csv", "--explain", message=message, cwd=folder)


@pytest.mark.usefixtures("seeded")
def test_an_unseen_category_and_a_gap_where_gaps_were_seen_are_answered(folder: Path) -> None:
    new = pd.read_csv(folder / "new.csv")
    new.assign(region="east", income=np.nan).to_csv(folder / "east.csv", index=False)
    assert len(done("predict", "seeded.joblib", "east.csv", cwd=folder).stdout.splitlines()) == 61


@pytest.mark.parametrize(
    ("limit", "reach"),
    [
        ("coverage>=3", "coverage >= 3: it is between 0 and 1"),
        ("acquisition_cost<1", "acquisition_cost < 1: it is between 1 and 4"),
    ],
)
def test_a_limit_out_of_any_reach_is_an_answer_before_anything_is_fitted(
    limit: str, reach: str, folder: Path
) -> None:
    command = [*CREDIT, "--limit", limit, "--out", "r.parquet", "--out", "r.joblib"]
    run, facts = done(*command, cwd=folder), facts_of(*command, cwd=folder)
    assert run.stdout == f"Status infeasible: No stage assignment can have {reach}. Relax the limit.\n"
    assert (facts["status"], facts["n_points"], facts["chosen"]) == ("infeasible", 0, None)
    assert f"Status infeasible: {facts['reason']}\n" == run.stdout
    assert not list(folder.glob("r.*"))


def test_what_is_promised_of_stages_is_said_saved_and_kept(folder: Path) -> None:
    asked = ["--answer-accuracy", "0.5", "--set", "confidence-level=0.8", "--confidence", "0.6"]
    asked += ["--set", "max-stages=2"]
    facts = facts_of(*NUMBERS, *asked, "--out", "sure.joblib", cwd=folder)
    found = facts["chosen"]["guarantee"]
    assert facts["rows"] == {"train": 180, "validation": 180, "folds": 5, "test": 60, "calibration": 80}
    assert (found["promised"], found["accuracy"], found["n_rows"]) == (True, 0.5, 80)
    assert 0 < found["n_right"] <= found["n_answered"] <= 80

    told = shortlist("predict", "sure.joblib", "new.csv", "--out", "sure.csv", "--json", cwd=folder)
    assert json.loads(told.stdout)["guarantee"]["sentence"] in told.stderr
    assert facts["promised"][facts["chosen"]["index"]]
    assert facts["chosen"]["held_out"] == facts["held_out"][facts["chosen"]["index"]]
    measured = facts["test"]["multi_stage"]
    assert {name: measured[name] for name in facts["chosen"]["held_out"]} == facts["chosen"]["held_out"]


def test_held_out_figures_are_told_for_whichever_point_is_taken(folder: Path) -> None:
    table = pd.read_csv(folder / "credit.csv")
    table[:80].to_csv(folder / "tested.csv", index=False)
    table[80:].to_csv(folder / "others.csv", index=False)
    command = [*PRICED, "--test", "tested.csv", "--out", "apart.parquet", "--out", "apart.joblib"]
    command[command.index("credit.csv")] = "others.csv"
    assert "selection rows" not in done(*command, cwd=folder).stdout
    extras = Front.load(folder / "apart.parquet").extras["held_out"]
    for point in ("0", "3"):
        low, high = extras[int(point)]["coverage_interval"]
        line = f"point {point}       {extras[int(point)]['coverage']:.4f} ({low:.3f} to {high:.3f})"
        for told in (["stage", "use", "apart.joblib"], ["front", "pick", "apart.parquet"]):
            said = shortlist(*told, "--pick", point, cwd=folder).stdout
            assert said.index("\nHeld out: 80 test rows") < said.index("on the selection rows")
            assert line in said
            facts = facts_of(*told, "--pick", point, cwd=folder)
            assert facts.get("chosen", facts)["held_out"] == extras[int(point)]
    done("front", "export", "apart.parquet", "--out", "held.csv", cwd=folder)
    exported = pd.read_csv(folder / "held.csv")
    assert exported["held out: coverage"].tolist() == [one["coverage"] for one in extras]


@pytest.mark.usefixtures("priced")
def test_all_rows_measure_by_repeated_choice_and_the_first_line_decides(folder: Path) -> None:
    made, facts = done(*PRICED, cwd=folder), facts_of(*PRICED, cwd=folder)
    told = facts["advice"]
    assert made.stdout.splitlines()[0].startswith(told["sentence"][:60])
    assert told["verdict"] in {"better", "as-good", "undecided"}
    single, stages = facts["test"]["single_stage"], facts["test"]["multi_stage"]
    unanswered = 1 - stages["coverage"]
    lost = (stages["n_right"] - single["n_right"]) / 320
    assert lost <= told["difference"] <= lost + unanswered
    assert f" {100 * stages['coverage']:.3g} % of rows" in told["sentence"]
    measured = facts_of("measure", "priced.joblib", "credit.csv", cwd=folder)
    assert measured["figures"]["right of all rows"]["reported"][0] == pytest.approx(stages["n_right"] / 320)
    refuse("stage", *PRICED[1:], "--margin", "-1", message="margin", cwd=folder)


def test_where_nothing_can_be_promised_no_model_is_written_that_answers_nobody(folder: Path) -> None:
    asked = [*NUMBERS, "--answer-accuracy", "0.99", "--confidence", "0.6", "--set", "max-stages=2"]
    files = ["--out", "none.parquet", "--out", "none.joblib"]
    run = shortlist(*asked, *files, "--json", cwd=folder)
    facts = json.loads(run.stdout)
    assert (run.returncode, facts["status"], facts["chosen"], facts["model"]) == (0, "infeasible", None, None)
    assert re.search(r"^99 % .*\. \d\d % .* \d+ of 80 calibration rows\..*anyway=yes", facts["reason"])
    assert not any(facts["promised"])
    assert not (folder / "none.joblib").exists()
    front = Front.load(folder / "none.parquet")
    assert len(front) == facts["n_points"]
    shown = shortlist("front", "show", "none.parquet", "--pick", "0", cwd=folder)
    assert "Nothing can be promised" in shown.stdout
    picked = shortlist("front", "pick", "none.parquet", cwd=folder)
    assert (picked.returncode, picked.stdout.startswith("Status infeasible: 99 % right")) == (0, True)
    for page in ("none.html", "none.svg"):
        done("front", "plot", "none.parquet", "--out", page, cwd=folder)

    anyway = shortlist(*asked, *files, "--set", "anyway=yes", "--json", cwd=folder)
    facts = json.loads(anyway.stdout)
    assert (anyway.returncode, facts["model"], facts["reason"]) == (0, "none.joblib", "")
    assert facts["test"]["multi_stage"]["coverage"] == 0
    assert facts["chosen"]["guarantee"]["promised"] is False
    answers = shortlist("predict", "none.joblib", "new.csv", cwd=folder).stdout.splitlines()
    assert set(answers[1:]) == {"REJECT"}
    limited = ["--limit", "coverage>=1", "--set", "anyway=yes", "--out", "limited.joblib", "--json"]
    facts = json.loads(shortlist(*asked, *limited, cwd=folder).stdout)
    assert (facts["status"], facts["model"]) == ("infeasible", "limited.joblib")
    assert "No point has coverage >= 1: " in facts["reason"]
    assert "anyway" not in facts["reason"]
    assert (folder / "limited.joblib").exists()
    done("stage", "use", "none.joblib", "--out", "again.joblib", cwd=folder)
    assert (folder / "again.joblib").exists()


def test_what_columns_need_is_paid_once_and_may_be_no_column(folder: Path) -> None:
    facts = facts_of(
        *CREDIT, "--drop", "history", "--costs", "needs.csv", "--set", "max-stages=2",
        cwd=folder,
    )  # fmt: skip
    assert facts["costs"] == {"age": 1, "income": 6, "region": 9}
    assert (facts["total_cost"], facts["proof"]) == (11, "complete")


@pytest.mark.parametrize(
    "shared", [[], ["--set", "share-fits=yes"]], ids=["each set its own", "one for the search"]
)
def test_the_classifier_of_every_stage_is_chosen_by_name(folder: Path, shared: list[str]) -> None:
    common = [
        *CREDIT, "--drop", "history", "--set", "max-stages=2", "--subclassifier", "forest",
        "--set", "ensemble-size=4", "--objectives", "coverage,conclusive_accuracy,evaluation_cost", *shared,
    ]  # fmt: skip
    facts = facts_of(*common, "--out", "forest.joblib", cwd=folder)

    assert (facts["method"], facts["n_fits"] == 6 * 7) == ("enumerate", not shared)
    assert facts["status"] == ("feasible" if shared else "optimal")
    assert facts["chosen"]["asked"] == [1] * len(facts["chosen"]["stages"])
    saved = load_model(folder / "forest.joblib").estimator
    assert {type(stage.model.estimator).__name__ for stage in saved.model_.stages} == {
        "RandomForestClassifier"
    }
    done("predict", "forest.joblib", "new.csv", cwd=folder)
    done("export", "forest.joblib", "credit.csv", "--out", "forest.json", cwd=folder)


def test_people_read_how_many_classifiers_were_fitted(folder: Path) -> None:
    run = shortlist(
        *CREDIT, "--subclassifier", "forest", "--set", "ensemble-size=3", "--set", "max-stages=2",
        "--details", cwd=folder,
    )  # fmt: skip
    assert "90 classifiers of type RandomForestClassifier fitted." in run.stdout
    assert "asks" not in run.stdout  # a forest is one classifier


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of five columns, two of which say nothing."""
    folder = tmp_path_factory.mktemp("narrow")
    X, y = make_classification(160, 5, n_informative=3, n_redundant=0, random_state=0)
    pd.DataFrame(X, columns=list("abcde")).assign(y=y).to_csv(folder / "narrow.csv", index=False)
    return folder


SEARCHED = {
    "windows": ([], "windows", ["n_windows", "n_rounds"]),
    "emsco": (
        ["--set", "population=8", "--set", "generations=2"], "evolution",
        ["n_generations", "n_evaluations", "n_chromosomes", "stopped"],
    ),
}  # fmt: skip
MEASURED_ANEW = {
    "sampled": ["--set", "sample-rows=40"],
    "shared": ["--set", "share-fits=yes", "--subclassifier", "forest", "--set", "ensemble-size=1"],
}


@pytest.mark.parametrize("how", MEASURED_ANEW)
@pytest.mark.parametrize("method", SEARCHED)
def test_a_front_that_is_measured_anew_tells_how_it_was_searched(narrow: Path, method: str, how: str) -> None:
    given, key, names = SEARCHED[method]
    common = [
        "stage", "narrow.csv", "--target", "y", "--workers", "1", "--method", method, *given, "--set", "max-stages=2",
        "--objectives", "coverage,conclusive_accuracy", *MEASURED_ANEW[how],
    ]  # fmt: skip
    facts = facts_of(*common, cwd=narrow)
    assert (facts["method"], facts["proof"], list(facts[key])) == (method, "approximate", names)
    people = done(*common, "--details", cwd=narrow)
    counted = {"windows": "of features searched", "emsco": "2 generations, "}[method]
    assert counted in people.stdout
    assert people.stderr.count("the search saw ") == (how == "sampled")


def test_hours_beside_the_prices_are_an_objective_and_a_limit(folder: Path) -> None:
    hours = {"age": 0.0, "income": 2.0, "history": 24.0, "region": 5.0}
    table = pd.DataFrame({"feature": COSTS, "cost": COSTS, "hours": hours}).assign(feature=list(COSTS))
    table.assign(laboratory="north").to_csv(folder / "hours.csv", index=False)
    goals = ["--objectives", "coverage, conclusive_accuracy, hours", "--limit", "hours<=20"]
    run = done(
        *CREDIT, "--costs", "hours.csv", *goals, "--set", "max-stages=3", "--json",
        cwd=folder,
    )  # fmt: skip
    chosen = json.loads(run.stdout)["chosen"]
    assert chosen["values"]["hours"] <= 20
    assert chosen["attributes"] == [
        {"hours": max(hours[name] for name in bought)} for bought in chosen["stages"]
    ]


def test_rows_that_wait_are_told_of_once(folder: Path, stored: Stored) -> None:
    """The defects: "0 of 60 rows are not answered", and a marker that was called a wrong word."""
    done(
        *NUMBERS, "--answer-accuracy", "0.5", "--set", "confidence-level=0.8",
        "--confidence", "0.6", "--set", "max-stages=1", "--out", "waiting.joblib", cwd=folder,
    )  # fmt: skip
    table = pd.read_csv(folder / "new.csv", dtype=str)
    table.assign(age=table["age"].mask(table.index % 2 == 0, "?")).to_csv(folder / "some.csv", index=False)
    asked = done("predict", "waiting.joblib", "some.csv", "--not-asked", "?", cwd=folder)
    assert "30 of 60 rows have no answer yet" in asked.stderr
    table.drop(columns="age").to_csv(folder / "no-age.csv", index=False)
    waiting = shortlist("predict", "waiting.joblib", "no-age.csv", cwd=folder)
    stored(waiting)
