"""Text of `shortlist prune`: members, threshold, the line of proof, and the calls of the members."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification

from shortlist import SelectiveClassifier
from shortlist.cli.text.output import LINES, WIDTH
from shortlist.cli.text.pruned import WrittenFiles, _best_line, print_pruned, pruned_facts
from shortlist.ensembles import ExactPruner, GreedyMeansPruner, Pool
from shortlist.ensembles.committees.facts import exit_report
from shortlist.ensembles.pools.racing import RaceSettings
from shortlist.ensembles.pruned_table import PrunedTable, prune_table
from shortlist.report.ensembles import pruned_parts
from shortlist.report.page import Table
from shortlist.results.measuring import PAPER, Measuring
from shortlist_papers import OrderedPruner


def printed(
    pruned: PrunedTable, facts: dict[str, Any], capsys: pytest.CaptureFixture[str], *, details: bool = True
) -> str:
    """Printed text, in one line each with details; the first screen keeps its lines."""
    print_pruned(pruned, facts, WrittenFiles(), details=details)
    said = capsys.readouterr().out
    return " ".join(said.split()) if details else said


@pytest.fixture(scope="module")
def exact() -> PrunedTable:
    X, y = load_breast_cancer(return_X_y=True)
    pruner = ExactPruner(objective="accuracy", node_limit=50, diversity="average", max_size=5, random_state=0)
    return prune_table(X, y, pruner, n_classifiers=6, measuring=Measuring(PAPER))


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
    assert (facts["pruning_rows"], facts["refit"]) == ("held-out", False)
    first = printed(exact, facts, capsys, details=False)
    assert " ".join(first.split()).startswith(facts["advice"]["sentence"])
    assert first.count("\n") <= LINES
    assert max(map(len, first.splitlines())) <= WIDTH
    size = facts["size"]
    uneven = printed(exact, facts | {"threshold": size - 1}, capsys, details=False)
    assert f"\nA row is 1 when at least {size} of {size} vote 1.\n" in uneven
    assert "at least" not in printed(exact, facts | {"threshold": size // 2}, capsys, details=False)
    said = printed(exact, facts, capsys)
    assert pruner.threshold_ is not None
    assert f"{size} of 6 classifiers; 1 when at least {pruner.threshold_ + 1} of {size} vote 1." in said
    assert facts["proof"]["sentence"] in said
    exits = facts["early_exit"]
    assert ", ".join(exits["order"]) in said
    assert sorted(exits["order"]) == sorted(facts["selection"])
    assert f"{exits['test']['mean_calls']:.2f} calls on the 57 test rows" in said
    assert f"Best single: {facts['best_single']}, " in said


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
    said = printed(pruned, facts, capsys)
    assert (
        f"({title}, with limits): mean {told['mean']:.4f} ({wanted} {told['wanted_mean']:.4f} wanted)" in said
    )
    assert f"member {worst:.4f} ({wanted} {told['wanted_each']:.4f} wanted)" in said


def test_answers_out_of_fold_are_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    folded = prune_table(X, y, ExactPruner(pruning_rows="out-of-fold", random_state=0), n_classifiers=3)
    facts = json.loads(json.dumps(pruned_facts(folded, "exact", "auto", None)))

    assert (facts["pruning_rows"], facts["refit"], facts["rows"]["folds"]) == ("out-of-fold", True, 5)
    size = facts["size"]
    first = " ".join(printed(folded, facts, capsys, details=False).split())
    assert f"no other {size} of the 3 have a smaller log loss ({facts['value']:.4g}, on 150 rows " in first
    said = printed(folded, facts, capsys)
    assert "on the out-of-fold answers of 150 rows" in said
    assert "fitted again on 150 rows." in said


def test_one_member_has_one_row_on_the_screen_and_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    found = prune_table(X, y, ExactPruner(max_size=1, random_state=0), n_classifiers=3)
    facts = pruned_facts(found, "exact", "auto", None)
    name = f"{facts['selection'][0]} alone"
    assert facts["test"]["best_single"]["against_pruned"]["p_value"] == 1
    assert printed(found, facts, capsys, details=False).count(f"\n{name} ") == 1
    assert found.chosen is not None
    parts = pruned_parts(found.chosen, found.test, advice=found.advice, n_parts=10)
    table = next(part for part in parts if isinstance(part, Table) and part.columns[0] == "150 rows")
    assert [row[0] for row in table.rows] == [name, "backfitting's 2", "all 3"]


def test_a_rule_proves_nothing_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    ruled = prune_table(X, y, OrderedPruner(random_state=0), n_classifiers=5)
    facts = json.loads(json.dumps(pruned_facts(ruled, "reduced-error", "auto", None)))
    assert (facts["status"], facts["bound"], facts["gap"]) == ("feasible", None, None)
    assert facts["threshold"] is None
    said = printed(ruled, facts, capsys)
    assert facts["proof"]["sentence"] in said
    assert "Saved" not in said
    assert "Proof: none" in said


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
    said = printed(none, facts, capsys)
    assert facts["status"] == "infeasible"
    assert f"Status infeasible: {facts['reason']}. No model was written." in said
    assert facts["size"] == 0
    assert facts["test"] == {}


def test_where_something_is_promised_exits_wait_for_that_too(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    pruner = ExactPruner(node_limit=50, min_size=3, random_state=0)
    asked = SelectiveClassifier(pruner, answer_accuracy=0.8, random_state=0)
    sure = prune_table(X, y, asked, n_classifiers=5)
    facts = pruned_facts(sure, "exact", "auto", None)
    said = printed(sure, facts, capsys)
    assert facts["guarantee"]["promised"]
    free = exit_report(sure.pruner.committee_)
    assert free is not None
    exits = facts["early_exit"]
    assert free.mean_calls <= exits["mean_calls"] <= facts["size"]
    assert "no missing answer can change its class, or whether it is answered." in said
    early = sure.early
    assert early is not None
    assert early.order == exits["order"]
    assert exits["test"]["mean_calls"] == early.calls.mean()


def test_who_is_taken_several_times_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    pruner = GreedyMeansPruner(n_steps=10, n_bags=4, random_state=0)
    found = prune_table(X, y, pruner, n_classifiers=5)
    facts = pruned_facts(found, "greedy-means", "auto", None)
    said = printed(found, facts, capsys)
    assert sum(facts["copies"]) == facts["n_copies"] > facts["size"]
    assert facts["size"] == len(facts["selection"]) == len(facts["copies"])
    assert f"{facts['size']} of 5 classifiers, with {facts['n_copies']} copies in all; " in said
    assert facts["test"]["pruned"]["size"] == facts["size"]
    assert "times)" in said
    assert ", again" not in said


@pytest.mark.parametrize("take", ["auto", "pruned", "best_single"])
def test_the_file_holds_what_was_named_and_the_other_is_one_option_away(
    take: str, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    pruner = ExactPruner(objective="accuracy", node_limit=50, min_size=3, random_state=0)
    found = prune_table(X, y, pruner, n_classifiers=6, measuring=Measuring(take=take))
    facts = pruned_facts(found, "exact", "auto", Path("p.joblib"))
    print_pruned(found, facts, WrittenFiles(model=Path("p.joblib"), rule=take))
    said, names = capsys.readouterr().out, facts["advice"]["names"]
    rule = facts["advice"]["take"] if take == "auto" else take
    other = "pruned" if rule == "best_single" else "best_single"
    options = {"pruned": "committee", "best_single": "best-single"}
    assert f"Saved {names[rule]} to p.joblib." in said
    assert f"For {names[other]}: the same command with --pick {options[other]}." in said
    assert found.saved is not None
    assert len(found.saved.committee.names) == facts["test"][rule]["size"]


def test_many_members_with_long_names_stay_on_one_screen(
    exact: PrunedTable, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = pruned_facts(exact, "exact", "auto", None)
    names = [f"a model of the user's own that has a name of many letters, number {n}" for n in range(200)]
    facts |= {"selection": names, "copies": [1] * 200, "early_exit": None}
    said = printed(exact, facts, capsys, details=False)
    assert said.count("\n") <= LINES
    assert max(map(len, said.splitlines())) <= WIDTH
    assert "more with --details" in said


@pytest.mark.parametrize(
    ("claim", "certified", "begin"),
    [
        ("best of all selections (CP-SAT); the certificate alone proves it within 2 %", 0.91, "Proof by CP-SAT: no"),
        ("best of all selections (HiGHS); no certificate, because HiGHS alone writes none", None, "Proof by HiGHS alone: no"),
        ("best of all selections (branch and bound); the certificate alone proves it within 2 %", 0.91, "Proof: no"),
        ("best of all selections (CP-SAT)", 0.9, "Proof: no"),
    ],
)  # fmt: skip
def test_a_solver_whose_word_goes_beyond_the_certificate_is_named(
    claim: str, certified: float | None, begin: str
) -> None:
    proof = {
        "among": "", "sense": "max", "objective": "accuracy", "value": 0.9, "rows": "selection rows",
        "claim": claim, "certified_bound": certified,
    }  # fmt: skip
    assert _best_line({"proof": proof, "rows": {}, "error_costs": None}, 9).startswith(
        f"{begin} other selection has a larger accuracy"
    )


@pytest.mark.parametrize("least_rows", [150, 5_000])
def test_a_race_that_filled_the_pool_is_told_beside_the_figures(
    capsys: pytest.CaptureFixture[str], least_rows: int
) -> None:
    X, y = make_classification(200, 6, random_state=1)
    race = RaceSettings(least_rows=least_rows, n_fitted=60, n_asked=60, n_kept=2, n_boosting=1)
    pruned = prune_table(X, y, ExactPruner(random_state=0), n_classifiers=12, race=race)
    facts = json.loads(json.dumps(pruned_facts(pruned, "exact", "auto", None)))
    print_pruned(pruned, facts, WrittenFiles(), details=False)
    assert ("a race of 12 classifiers" in capsys.readouterr().out) == (least_rows == 150)
