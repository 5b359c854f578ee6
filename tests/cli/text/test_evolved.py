"""What `shortlist evolve` tells: what to do, the figures of the test, and what is proved."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from shortlist.cli.commands.evolve import MANY_MEMBERS, evolved_facts, evolved_notes, print_evolved
from shortlist.cli.text.output import LINES
from shortlist.cli.text.pruned import WrittenFiles
from shortlist.ensembles import EvolutionaryEnsembleClassifier
from shortlist.ensembles.holdout import EvolvedTable, evolve_table


@pytest.fixture(scope="module")
def evolved() -> EvolvedTable:
    X, y = load_iris(return_X_y=True)
    search = EvolutionaryEnsembleClassifier(population_size=10, n_generations=3, random_state=0)
    return evolve_table(X, y, search, seed=1)


def test_the_facts_claim_no_bound_and_hold_every_generation(evolved: EvolvedTable) -> None:
    facts = json.loads(json.dumps(evolved_facts(evolved, Path("e.joblib"))))
    assert (facts["command"], facts["status"], facts["bound"], facts["gap"]) == (
        "evolve",
        "feasible",
        None,
        None,
    )
    assert facts["value"] == 1 - evolved.classifier.result_.error
    assert facts["size"] == len(evolved.classifier.members_)
    assert [one["generation"] for one in facts["history"]] == [
        one.number for one in evolved.classifier.result_.history
    ]
    assert facts["rows"] == {"train": 135, "test": 15}
    assert facts["test"]["evolved"]["error"] == 1 - facts["test"]["evolved"]["accuracy"]
    assert facts["model"] == "e.joblib"


def test_an_exact_choice_has_one_bound_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    search = EvolutionaryEnsembleClassifier(
        population_size=10, n_generations=3, selection="exact", random_state=0
    )
    found = evolve_table(X, y, search, seed=1)
    facts = json.loads(json.dumps(evolved_facts(found, None)))
    assert facts["bound"] == facts["certified_bound"] == 1 - facts["selection"]["error_bound"]
    assert (facts["status"], facts["gap"]) == ("optimal", 0.0)
    assert facts["value"] == facts["bound"]
    print_evolved(found, facts, WrittenFiles())
    said = " ".join(capsys.readouterr().out.split())
    assert "Proof: among the choices from the candidates of the last step: accuracy " in said
    assert facts["proof"]["claim"].startswith("best of all selections (")
    assert f"{facts['proof']['claim']}." in said


def test_people_read_rows_generations_and_both_errors(
    evolved: EvolvedTable, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = evolved_facts(evolved, Path("e.joblib"))
    print_evolved(evolved, facts, WrittenFiles(model=Path("e.joblib")), details=True)
    said = capsys.readouterr().out
    assert said.startswith(facts["advice"]["sentence"])
    assert "\nNext: shortlist predict e.joblib NEW.csv --out ANSWERS.csv\n" in said
    said = " ".join(said.split())
    result = evolved.classifier.result_
    wrong = 1 - evolved.test["evolved"].accuracy
    assert "135 rows to evolve on, 15 to test; 3 classes." in said
    assert f"{evolved.classifier.mode}, linear: 3 of 3 generations of 10 (" in said
    assert f"error {result.error:.4f} on the rows it was evolved on, {wrong:.4f} on the test rows." in said
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
    assert "2" in note
    assert "every" in note
