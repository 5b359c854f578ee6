"""The command evolve, as a user runs it."""

import dataclasses
import io
import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification

from shortlist.cli.commands.evolve import (
    MANY_MEMBERS,
    evolved_facts,
    evolved_notes,
    print_evolved,
)
from shortlist.cli.text.output import LINES
from shortlist.cli.text.pruned import WrittenFiles
from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
from shortlist.ensembles.evolution.scored_spaces import LinearClassifiers
from shortlist.ensembles.evolved_table import EvolvedTable, evolve_table
from tests.cli.running import done, facts_of

QUICK = ["--target", "method", "--set", "generations=6", "--set", "population=30", "--workers", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of three classes: words, gaps and an identifier."""
    folder = tmp_path_factory.mktemp("choices")
    X, y = make_classification(300, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    table = pd.DataFrame(X, columns=list("abcde"))
    table.insert(0, "number", np.arange(len(table)))
    table["town"] = np.where(X[:, 1] > 0, "Oslo", "Rome")
    table.loc[::9, "c"] = np.nan
    table.loc[::11, "town"] = None
    table["method"] = np.array(["none", "short", "long"])[y]
    table.to_csv(folder / "cmc.csv", index=False)
    table.drop(columns=["method", "number"]).head(20).assign(town=["Bonn", "Oslo"] * 10).to_csv(
        folder / "new.csv", index=False
    )
    return folder


@pytest.mark.parametrize("mode", ["offline", "online", "single"])
def test_evolve_and_predict_work_together(folder: Path, mode: str) -> None:
    asked = ["--method", mode, "--drop", "number", "--out", "model.joblib"]
    facts = facts_of("evolve", "cmc.csv", *asked, *QUICK, cwd=folder)
    assert (facts["command"], facts["method"], facts["status"]) == ("evolve", mode, "feasible")
    assert facts["bound"] is facts["gap"] is None
    assert facts["rows"] == {"train": 300, "test": 300, "parts": 5, "partitions": 2}
    assert facts["held_out"] is None
    assert facts["classes"] == ["long", "none", "short"]
    assert facts["generations"] == len(facts["history"]) == 6
    assert facts["value"] > 0.34
    assert facts["test"]["evolved"]["size"] == facts["size"] >= 1
    assert facts["test"]["best_single"]["size"] == 1
    for measured in facts["test"].values():
        decided = measured["confusion"]
        assert sum(sum(row.values()) for row in decided.values()) == pytest.approx(300, abs=5)
        right = sum(decided[name][name] for name in decided)
        assert measured["error"] == pytest.approx(1 - right / 300, abs=0.01)  # means, rounded
    if mode == "single":
        assert facts["size"] == 1
        assert facts["test"]["evolved"]["confusion"] == facts["test"]["best_single"]["confusion"]

    predicted = done("predict", "model.joblib", "new.csv", cwd=folder)
    answers = pd.read_csv(io.StringIO(predicted.stdout), keep_default_na=False)
    assert len(answers) == 20
    assert "10 cells with words that no fitted row had count as missing: 'Bonn' of" in predicted.stderr
    shares = answers[["score_long", "score_none", "score_short"]].to_numpy(float)
    assert (np.array(facts["classes"])[shares.argmax(axis=1)] == answers["prediction"]).all()


@pytest.mark.parametrize("space", ["networks", "rules", "genetic-programs"])
def test_every_space_evolves_by_name(folder: Path, space: str) -> None:
    run = done("evolve", "cmc.csv", "--set", f"space={space}", *QUICK, "--details", cwd=folder)
    for words in (f"offline, {space}: 6 of 6 generations", "evolved", "best single", "3 classes"):
        assert words in run.stdout


def test_the_same_seed_gives_the_same_answer(folder: Path) -> None:
    def told(seed: int) -> object:
        facts = facts_of("evolve", "cmc.csv", "--seed", str(seed), *QUICK, cwd=folder)
        return facts["history"], facts["test"]["evolved"]["confusion"]

    assert told(1) == told(1) != told(2)


def test_patience_stops_evolution(folder: Path) -> None:
    patient = ["--set", "generations=500", "--set", "patience=1"]
    facts = facts_of("evolve", "cmc.csv", *QUICK, *patient, cwd=folder)
    assert facts["limit"] == "patience"
    assert facts["generations"] < 500


def test_an_interrupt_keeps_the_ensemble_so_far(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate, calls = LinearClassifiers.mutate, []

    def interrupted(*args: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return mutate(*args)

    monkeypatch.setattr(LinearClassifiers, "mutate", interrupted)
    endless = ["--set", "generations=1000000", "--out", "stopped.joblib"]
    facts = facts_of("evolve", "cmc.csv", *QUICK, *endless, cwd=folder)
    assert facts["limit"] == "interrupted"
    assert facts["rows"] == {"train": 270, "test": 30}
    assert 1 <= facts["generations"] == len(facts["history"]) < 1_000_000
    done("predict", "stopped.joblib", "cmc.csv", cwd=folder)


@pytest.fixture(scope="module")
def evolved() -> EvolvedTable:
    X, y = load_iris(return_X_y=True)
    search = EvolutionaryEnsembleClassifier(population_size=10, n_generations=3, random_state=0)
    return evolve_table(X, y, search, seed=1)


def test_the_facts_claim_no_bound_and_hold_every_generation(evolved: EvolvedTable) -> None:
    facts = json.loads(json.dumps(evolved_facts(evolved, Path("e.joblib"))))
    assert facts["status"] == "feasible"
    assert facts["bound"] is facts["gap"] is None
    assert facts["value"] == 1 - evolved.classifier.result_.error
    assert facts["size"] == len(evolved.classifier.members_)
    assert [one["generation"] for one in facts["history"]] == [
        one.number for one in evolved.classifier.result_.history
    ]
    assert facts["rows"] == {"train": 150, "test": 150, "parts": 5, "partitions": 2}
    assert facts["test"]["evolved"]["error"] == 1 - facts["test"]["evolved"]["accuracy"]
    assert facts["model"] == "e.joblib"


def test_people_read_rows_generations_and_both_errors(
    evolved: EvolvedTable, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = evolved_facts(evolved, Path("e.joblib"))
    print_evolved(evolved, facts, WrittenFiles(model=Path("e.joblib")), details=True)
    said = capsys.readouterr().out
    assert " ".join(said.split()).startswith(facts["advice"]["sentence"])
    assert f"\nSaved {evolved.names[evolved.rule_saved]} to e.joblib.\n" in said
    assert "\nUse the file with: shortlist predict e.joblib NEW.csv --out ANSWERS.csv\n" in said
    other = {"evolved": "best-single", "best_single": "ensemble"}[evolved.rule_saved]
    assert f": the same command with --pick {other}.\n" in said
    said = " ".join(said.split())
    result = evolved.classifier.result_
    assert "150 rows to evolve on, and in 5 parts, dealt 2 times, to measure; 3 classes." in said
    assert f"{evolved.classifier.mode}, linear: 3 of 3 generations of 10 (" in said
    assert f"error {result.error:.4f} on the rows it was evolved on." in said
    print_evolved(evolved, facts, WrittenFiles())
    first = capsys.readouterr().out
    assert "Saved" not in first
    assert first.count("\n") <= LINES


def test_many_members_and_one_answer_are_worth_a_note(evolved: EvolvedTable) -> None:
    assert evolved_notes(evolved) == []
    many = EvolutionaryEnsembleClassifier()
    many.members_ = np.arange(MANY_MEMBERS)
    (note,) = evolved_notes(dataclasses.replace(evolved, classifier=many))
    assert note.startswith(f"the ensemble has {MANY_MEMBERS} members")
    assert "--set max-members=N" in note
    (note,) = evolved_notes(dataclasses.replace(evolved, only_answer="2"))
    assert "no other answer than '2'" in note


def test_rows_of_a_file_measure_and_all_of_the_table_evolves(folder: Path) -> None:
    table = pd.read_csv(folder / "cmc.csv").drop(columns="number")
    table.head(220).to_csv(folder / "known.csv", index=False)
    table.tail(80).to_csv(folder / "later.csv", index=False)
    files = ["--test", "later.csv", "--margin", "0.5", "--pick", "ensemble", "--out", "tested.joblib"]
    facts = facts_of("evolve", "known.csv", *files, *QUICK, cwd=folder)
    assert facts["rows"] == {"train": 220, "test": 80}
    answers = done("predict", "tested.joblib", "later.csv", cwd=folder).stdout
    right = (pd.read_csv(io.StringIO(answers))["prediction"] == table["method"].tail(80).to_numpy()).mean()
    assert facts["test"]["evolved"]["accuracy"] == pytest.approx(right)


@pytest.mark.parametrize("n_calls", [3, 9], ids=["in the evolution", "in one of the parts"])
def test_an_interrupt_before_the_figures_are_known_keeps_the_ensemble_and_says_so(
    n_calls: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate, calls = LinearClassifiers.mutate, []

    def interrupted(*args: Any) -> Any:
        calls.append(1)
        if len(calls) == n_calls:
            os.kill(os.getpid(), signal.SIGINT)
        return mutate(*args)

    monkeypatch.setattr(LinearClassifiers, "mutate", interrupted)
    run = done("evolve", "cmc.csv", *QUICK, "--out", "early.joblib", "--out", "early.html", cwd=folder)
    assert run.stdout.startswith("Interrupted: the ensemble was not measured.\n")
    assert ("of 6 generations: interrupted" in run.stdout) == (n_calls == 3)
    done("predict", "early.joblib", "new.csv", cwd=folder)
    told = facts_of("measure", "early.joblib", "cmc.csv", cwd=folder)
    assert all(one["reported"] is None for one in told["figures"].values())


def test_the_protocol_of_the_paper_holds_a_tenth_out_and_says_what_it_tells(folder: Path) -> None:
    paper = ["--set", "protocol=paper", "--pick", "ensemble", "--out", "paper.joblib"]
    facts = facts_of("evolve", "cmc.csv", *QUICK, *paper, cwd=folder)
    assert facts["rows"] == {"train": 270, "test": 30}
    low, high = facts["advice"]["difference_interval"]
    tells = f"The 30 held-out rows tell differences from {50 * (high - low):.2g} points on"
    assert facts["held_out"].startswith(tells)
    printed = done("evolve", "cmc.csv", *QUICK, *paper, "--out", "paper.html", cwd=folder).stdout
    assert tells in " ".join(printed.split())
    assert tells in (folder / "paper.html").read_text()


@pytest.mark.parametrize("pick", ["ensemble", "best-single"])
@pytest.mark.parametrize("mode", ["offline", "online"])
def test_the_model_that_is_picked_is_written_measured_and_verified(
    pick: str, mode: str, folder: Path
) -> None:
    model = f"{pick}-{mode}.joblib"
    asked = ["--method", mode, "--drop", "number", "--pick", pick, "--out", model, *QUICK]
    facts = facts_of("evolve", "cmc.csv", *asked, cwd=folder)
    rule = {"ensemble": "evolved", "best-single": "best_single"}[pick]
    told = facts_of("measure", model, "cmc.csv", cwd=folder)["figures"]["right of all rows"]["reported"]
    assert told == [facts["test"][rule]["accuracy"], *facts["test"][rule]["accuracy_interval"]]
    verified = facts_of("verify", model, "cmc.csv", cwd=folder)
    assert verified["status"] in {"valid", "counted"}
    done("report", model, "--out", "picked.html", cwd=folder)
    alone = "the most accurate individual of the last generation" in (folder / "picked.html").read_text()
    assert alone == (pick == "best-single")
