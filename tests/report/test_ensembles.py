"""Pictures of ensembles show what is counted from the votes, the slow way."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from shortlist.cli.result_pages import estimator_parts
from shortlist.ensembles import EvolutionaryEnsembleClassifier, ExactPruner
from shortlist.ensembles.committees.evidence import EnsembleSelection
from shortlist.ensembles.committees.facts import exit_report
from shortlist.ensembles.pruned_table import prune_table
from shortlist.guarantees.selective_classifier import SelectiveClassifier
from shortlist.report.ensembles import pruned_parts
from shortlist.report.page import Chart, Facts, Heading, Parts, Table, Text
from shortlist_papers import OrderedPruner


def charts(parts: Parts) -> dict[str, Any]:
    return {part.title: part.data for part in parts if isinstance(part, Chart)}


@pytest.fixture(scope="module")
def binary() -> ExactPruner:
    X, y = load_breast_cancer(return_X_y=True)
    return ExactPruner(objective="accuracy", n_classifiers=8, random_state=0, node_limit=50).fit(
        X[:300], y[:300]
    )


def test_confusion_votes_and_agreement_are_those_of_the_recorded_rows(binary: ExactPruner) -> None:
    found = charts(pruned_parts(binary.chosen_))
    record = binary.validation_
    assert record.packed_votes is not None
    assert binary.threshold_ is not None
    votes = np.unpackbits(record.packed_votes, axis=1, count=len(binary.selection_))
    after = [[0, 0], [0, 0]]
    before = [[0, 0], [0, 0]]
    tally = {0: [0] * (len(binary.pool_) + 1), 1: [0] * (len(binary.pool_) + 1)}
    for row, label in zip(votes.tolist(), record.labels.tolist(), strict=True):
        chosen = sum(vote for vote, own in zip(row, binary.selection_, strict=True) if own)
        after[label][chosen > binary.threshold_] += 1
        before[label][sum(row) > len(row) / 2] += 1
        tally[label][chosen] += 1
    assert found["Confusion after: the selection"]["values"] == after
    assert found["Confusion before: the whole pool"]["values"] == before
    series = found["Votes and threshold"]["series"]
    assert [[n for _, n in one["points"]] for one in series] == [tally[0], tally[1]]
    assert found["Votes and threshold"]["marks"][0]["at"] == binary.threshold_ + 0.5
    members = votes[:, binary.selection_]
    alike = found["How members agree"]["values"]
    assert alike[0][1] == pytest.approx(100 * (members[:, 0] == members[:, 1]).mean(), abs=0.06)


def test_a_page_begins_with_whom_to_ask_and_how_often_that_is_right_beside_all_and_the_best_single_one() -> (
    None
):
    X, y = load_breast_cancer(return_X_y=True)
    pruner = ExactPruner(objective="accuracy", n_classifiers=6, random_state=0, node_limit=50)
    found = prune_table(X[:300], y[:300], pruner, n_classifiers=6)
    heading, verdict, table, confusion, _, asked, *_ = pruned_parts(
        found.pruner.chosen_, found.test, advice=found.advice
    )
    assert isinstance(confusion, Chart)
    assert found.advice is not None
    assert found.advice.names[found.advice.take] in confusion.title
    assert isinstance(asked, Facts)
    assert verdict == Text(found.advice.sentence)
    assert isinstance(table, Table)
    assert heading == Heading("What to do")
    assert all(str(name) in asked.facts[0][1] for name in found.pruner.pool_.names)
    size = int(found.pruner.selection_.sum())
    others = [f"{found.best_single} alone", found.advice.names["backfitting"], "all 6"]
    assert [row[0] for row in table.rows] == [f"the committee of {size}", *others]


def test_what_is_promised_follows_whom_to_ask(binary: ExactPruner) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    promising = SelectiveClassifier(binary, answer_accuracy=0.9).calibrate(X[300:], y[300:])
    title, parts = estimator_parts(promising)
    assert title == "Pruned ensemble"
    headings = [part.text for part in parts if isinstance(part, Heading)]
    assert headings[:3] == ["What to do", "What is promised", "How it was chosen"]
    assert Text(promising.guarantee_.sentence()) in parts


def test_accuracy_against_size_ends_at_the_whole_pool_and_marks_the_selection(binary: ExactPruner) -> None:
    series = {
        one["name"]: one["points"]
        for one in charts(pruned_parts(binary.chosen_))["Accuracy against size"]["series"]
    }
    assert [point[0] for point in series["most accurate alone first"]] == list(range(1, 9))
    (chosen,) = series["the selection"]
    assert chosen[0] == len(binary.pool_)
    assert isinstance(binary.result_, EnsembleSelection)
    assert chosen[1] == pytest.approx(binary.result_.confusion.accuracy)
    assert series["one by one, most right next"][-1][1] == series["most accurate alone first"][-1][1]


def test_value_and_bound_go_to_the_end_of_the_run(binary: ExactPruner) -> None:
    series = {
        one["name"]: one["points"]
        for one in charts(pruned_parts(binary.chosen_))["Value and bound over time"]["series"]
    }
    assert series["value"][-1][1] == pytest.approx(binary.objective_value_)
    assert series["bound"][-1][1] == pytest.approx(binary.bound_)
    assert series["value"][-1][0] == series["bound"][-1][0]


def test_a_rule_shows_its_order_and_says_what_is_missing() -> None:
    X, y = load_iris(return_X_y=True)
    pruner = OrderedPruner(n_classifiers=6, random_state=0).fit(X, y)
    parts = pruned_parts(pruner.chosen_)
    (size,) = charts(parts).values()
    assert size["series"][1]["points"] == [[len(pruner.members_), pruner.accuracy_]]
    assert any("a rule keeps no votes" in part.text for part in parts if isinstance(part, Text))


@pytest.mark.parametrize("mode", ["offline", "online"])
def test_evolution_shows_every_generation(mode: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = EvolutionaryEnsembleClassifier(mode, population_size=10, n_generations=3, random_state=0).fit(
        X, y
    )
    title, parts = estimator_parts(model)
    assert title == "Evolved ensemble"
    found = charts(parts)
    errors = found["Errors by generation"]["series"]
    history = model.result_.history
    assert errors[0]["points"] == [[one.number, one.best_error] for one in history]
    # an offline ensemble is chosen after the last generation, and has nothing to show before
    assert ("Members by generation" in found) == (len(errors) == 3) == (mode == "online")
    if mode == "online":
        assert errors[2]["points"] == [[one.number, one.ensemble_error] for one in history]


def test_the_page_says_whom_to_ask_in_which_order_and_what_that_takes(binary: ExactPruner) -> None:
    report = exit_report(binary.committee_)
    assert report is not None
    facts = dict(
        fact for part in pruned_parts(binary.chosen_) if isinstance(part, Facts) for fact in part.facts
    )
    assert facts["members, in the order to ask them"] == ", ".join(report.order)
    assert facts["with early exit, selection rows"] == f"{report.mean_calls:.4g} calls a row"
    assert facts["asking all"] == f"{len(report.order)} calls a row"
