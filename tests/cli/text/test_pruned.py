"""What `shortlist prune` tells: members, threshold, the line of proof, and what was asked of the members."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from shortlist import SelectiveClassifier
from shortlist.cli.text.pruned import (
    MANY_MEMBERS,
    evolved_facts,
    evolved_notes,
    print_evolved,
    print_pruned,
    pruned_facts,
)
from shortlist.ensembles import EvolutionaryEnsembleClassifier, ExactPruner, OrderedPruner, Pool
from shortlist.ensembles.committees.facts import exit_report
from shortlist.ensembles.holdout import EvolvedTable, PrunedTable, evolve_table, prune_table


@pytest.fixture(scope="module")
def exact() -> PrunedTable:
    X, y = load_breast_cancer(return_X_y=True)
    pruner = ExactPruner(objective="accuracy", node_limit=50, diversity="average", max_size=5, random_state=0)
    return prune_table(X, y, pruner, n_classifiers=6)


def test_exact_pruning_tells_value_bound_members_and_threshold(
    exact: PrunedTable, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = json.loads(json.dumps(pruned_facts(exact, "exact", "auto", Path("p.joblib"))))
    pruner = exact.pruner
    assert isinstance(pruner, ExactPruner)
    assert facts["value"] == pruner.objective_value_
    assert facts["bound"] == pruner.bound_
    assert facts["threshold"] == pruner.threshold_
    assert facts["selection"] == list(pruner.pool_.names)
    assert facts["diversity"] is not None
    assert (facts["pruning_rows"], facts["refit"]) == ("held-out", True)
    print_pruned(exact, facts, Path("p.joblib"))
    said = capsys.readouterr().out
    assert "358 rows to fit, 154 to prune, 57 to test; positive class 1." in said
    assert (
        f"Chosen: {facts['size']} of 6 classifiers; positive when more than {pruner.threshold_} of them"
        in said
    )
    assert facts["proof"]["sentence"] in said
    assert "Diversity: mean PFC" in said
    assert "The members were then fitted again on 512 rows" in said
    assert "(at least " in said
    exits = facts["early_exit"]
    assert "Asked in this order: " + ", ".join(exits["order"]) + "\n" in said
    assert sorted(exits["order"]) == sorted(facts["selection"])
    assert "A row is finished as soon as no missing answer can change its class. So a row takes " in said
    assert (
        f"{exits['test']['mean_calls']:.2f} calls on the 57 test rows; asking all members takes {facts['size']} calls."
        in said
    )
    assert f"Best single: {facts['best_single']}, by the rows that chose." in said


@pytest.mark.parametrize(
    ("measure", "title", "wanted", "extreme"),
    [
        ("disagreement", "disagreement", "at least", min),
        ("double-fault", "double fault", "at most", max),
        ("q", "Q", "at most", max),
    ],
)
def test_limits_on_another_measure_are_told_beside_what_was_reached(
    measure: str, title: str, wanted: str, extreme: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    pruner = ExactPruner(
        objective="accuracy", node_limit=50, diversity=f"{measure}-each", min_size=2, random_state=0
    )
    pruned = prune_table(X, y, pruner, n_classifiers=6)
    facts = json.loads(json.dumps(pruned_facts(pruned, "exact", "auto", None)))
    told = facts["diversity"][measure]
    assert list(told["members"]) == facts["selection"]
    worst = extreme(told["members"].values())
    better = worst - told["wanted_each"] if wanted == "at least" else told["wanted_each"] - worst
    assert better >= -1e-6
    assert (facts["diversity"]["wanted_mean"], facts["diversity"]["wanted_each"]) == (None, None)
    print_pruned(pruned, facts, None)
    said = capsys.readouterr().out
    assert (
        f"Limits are on {title}: mean {told['mean']:.4f} ({wanted} {told['wanted_mean']:.4f} wanted)" in said
    )
    assert f"of a member {worst:.4f} ({wanted} {told['wanted_each']:.4f} wanted)" in said


def test_answers_out_of_fold_are_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    folded = prune_table(X, y, ExactPruner(pruning_rows="out-of-fold", random_state=0), n_classifiers=3)
    facts = json.loads(json.dumps(pruned_facts(folded, "exact", "auto", None)))

    assert (facts["pruning_rows"], facts["refit"], facts["rows"]["folds"]) == ("out-of-fold", True, 5)
    print_pruned(folded, facts, None)
    said = capsys.readouterr().out
    assert "135 rows in 5 folds to fit and to prune, 15 to test; the mean decides." in said
    assert "on the out-of-fold answers of 135 rows, counted from the probabilities" in said
    assert "The members were then fitted again on 135 rows" in said


def test_a_rule_proves_nothing_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    ruled = prune_table(X, y, OrderedPruner(random_state=0), n_classifiers=5)
    facts = json.loads(json.dumps(pruned_facts(ruled, "reduced-error", "auto", None)))
    assert (facts["status"], facts["bound"], facts["gap"]) == ("feasible", None, None)
    assert facts["threshold"] is None
    print_pruned(ruled, facts, None)
    said = capsys.readouterr().out
    assert "plurality decides." in said
    assert "the class with most votes wins." in said
    assert facts["proof"]["sentence"] in said
    assert "Saved" not in said


@pytest.mark.parametrize("may_abstain", [True, False])
def test_a_rule_names_a_threshold_only_where_no_vote_may_be_missing(may_abstain: bool) -> None:
    truth = np.random.default_rng(0).permutation(np.resize(["no", "yes"], 60))
    turned = np.where(truth == "yes", "no", "yes")
    answers = pd.DataFrame({f"j{k}": np.where(np.arange(60) % (k + 3), truth, turned) for k in range(5)})
    judges = Pool.from_answers(answers, truth, may_abstain=may_abstain)
    ruled = prune_table(answers, truth, OrderedPruner(judges, rule="full", random_state=0))

    facts = pruned_facts(ruled, "full", "auto", None)

    assert (facts["positive"], facts["threshold"]) == ((None, None) if may_abstain else ("yes", 2))


def test_limits_that_nothing_meets_are_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    limits = ExactPruner(diversity={"mean": 0.999}, min_size=4, node_limit=50, random_state=0)
    none = prune_table(X, y, limits, n_classifiers=5)
    facts = json.loads(json.dumps(pruned_facts(none, "exact", "auto", None)))
    print_pruned(none, facts, None)
    said = capsys.readouterr().out
    assert facts["status"] == "infeasible"
    assert f"Status infeasible: {facts['reason']}. No model was written." in said
    assert facts["size"] == 0
    assert facts["test"] == {}


def test_where_something_is_promised_exits_wait_for_that_too(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    pruner = ExactPruner(node_limit=50, min_size=3, random_state=0)
    asked = SelectiveClassifier(pruner, answer_accuracy=0.7, random_state=0)
    sure = prune_table(X, y, asked, n_classifiers=5)
    facts = pruned_facts(sure, "exact", "auto", None)
    print_pruned(sure, facts, None)
    assert facts["guarantee"]["promised"]
    free = exit_report(sure.pruner.committee_)
    assert free is not None
    exits = facts["early_exit"]
    assert free.mean_calls <= exits["mean_calls"] <= facts["size"]
    assert exits["least_mean_calls"] == exits["mean_calls"]
    said = capsys.readouterr().out
    assert "no missing answer can change its class, or whether it is answered." in said
    assert (
        f" {exits['mean_calls']:.2f} is the fewest on the rows that chose for any lossless early exit" in said
    )
    early = sure.early
    assert early is not None
    assert early.order == exits["order"]
    assert exits["test"]["mean_calls"] == early.calls.mean()


def test_who_is_taken_several_times_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    pruner = ExactPruner(
        objective="log-loss", max_copies=4, min_size=6, max_size=6, node_limit=200, random_state=0
    )
    found = prune_table(X, y, pruner, n_classifiers=5)
    facts = pruned_facts(found, "exact", "auto", None)
    print_pruned(found, facts, None)
    said = capsys.readouterr().out
    assert sum(facts["copies"]) == 6 > facts["size"] == len(facts["selection"]) == len(facts["copies"])
    assert f"Chosen: {facts['size']} of 5 classifiers, with 6 copies in all; " in said
    assert facts["test"]["pruned"]["size"] == facts["size"]
    assert "times)" in said
    assert ", again" not in said


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
    print_evolved(found, None)
    said = capsys.readouterr().out
    assert f"Among the choices from the candidates of the last step: {facts['proof']['sentence']}." in said
    assert facts["proof"]["sentence"].endswith("so it is the best there is")


def test_people_read_rows_generations_and_both_errors(
    evolved: EvolvedTable, capsys: pytest.CaptureFixture[str]
) -> None:
    print_evolved(evolved, Path("e.joblib"))
    said = capsys.readouterr().out
    result = evolved.classifier.result_
    wrong = 1 - evolved.test["evolved"].accuracy
    assert "135 rows to evolve on, 15 to test; 3 classes." in said
    assert f"{evolved.classifier.mode}, linear: 3 of 3 generations of 10 (" in said
    assert f"error {result.error:.4f} on the rows it was evolved on, {wrong:.4f} on the test rows." in said
    assert said.endswith("use it with: shortlist predict e.joblib NEW.csv --out ANSWERS.csv\n")
    print_evolved(evolved, None)
    assert "Saved" not in capsys.readouterr().out


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
