"""Evolution on one table: figures by evolving again, and on rows that nothing has seen."""

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, confusion_matrix

from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier, best_alone
from shortlist.ensembles.estimators.rows import split_rows
from shortlist.ensembles.evolved_table import evolve_table
from shortlist.ensembles.verification.recheck_model import verify
from shortlist.errors import BadInputError
from shortlist.results.intervals import difference_of
from shortlist.results.measuring import Measuring, TableRows
from shortlist.results.repeated_choice import deal_parts
from shortlist.results.verdicts import Word
from shortlist.runs import Cancellation, Progress, Work, open_study
from shortlist.tables.splits import TEST_SHARE

X, Y = make_classification(200, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=1)
LABELS = np.array(["a", "b", "c"])[Y]
PAPER = Measuring("paper")


def search(mode: str = "offline", **more: Any) -> EvolutionaryEnsembleClassifier:
    return EvolutionaryEnsembleClassifier(
        mode, **{"population_size": 20, "n_generations": 5, "random_state": 0} | more
    )


def _test_rows(y: Any, seed: int) -> Any:
    return split_rows(np.arange(len(y)), y, TEST_SHARE, seed)[1]


def _best(fitted: EvolutionaryEnsembleClassifier, known: Any, truth: Any, asked: Any) -> Any:
    """Ask the individual that is right most often, by a plain loop."""
    own, new = (fitted.encoder_.transform(rows) for rows in (known, asked))
    rights = []
    for genome in fitted.result_.population:
        codes = fitted.space_.predict(genome[None], own)[:, 0]
        rights.append((fitted.classes_[codes] == truth).sum())
    best = fitted.result_.population[[rights.index(max(rights))]]
    return fitted.classes_[fitted.space_.predict(best, new)[:, 0]]


def test_decisions_on_the_test_rows_are_the_predictions() -> None:
    evolved = evolve_table(X, LABELS, search(), seed=4, measuring=PAPER)
    rows = _test_rows(LABELS, 4)
    predicted = evolved.classifier.predict(X[rows])
    measured = evolved.test["evolved"]
    assert measured.decisions[:, :-1].tolist() == confusion_matrix(LABELS[rows], predicted).tolist()
    assert not measured.decisions[:, -1].any(), "rows without an answer"
    assert measured.accuracy == (predicted == LABELS[rows]).mean()
    assert measured.balanced_accuracy == pytest.approx(balanced_accuracy_score(LABELS[rows], predicted))
    assert measured.confusion is None
    assert measured.as_dict()["confusion"]["b"]["c"] == ((LABELS[rows] == "b") & (predicted == "c")).sum()


@pytest.mark.parametrize("mode", ["offline", "online"])
def test_figures_of_repeated_choice_are_those_of_a_plain_loop(mode: str) -> None:
    evolved = evolve_table(X, LABELS, search(mode, random_state=4), seed=4)
    assert not evolved.is_alone
    right: dict[str, list[bool]] = {"evolved": [], "best_single": []}
    for part_of in deal_parts(LABELS, 4, n_parts=5, most=2):
        answers = {name: np.full(len(LABELS), "?") for name in right}
        for part in range(5):
            kept, held = part_of != part, part_of == part
            again = search(mode, random_state=4).fit(X[kept], LABELS[kept])
            answers["evolved"][held] = again.predict(X[held])
            answers["best_single"][held] = _best(again, X[kept], LABELS[kept], X[held])
        for name, own in answers.items():
            right[name] += (own == LABELS).tolist()
    for name, expected in right.items():
        assert evolved.test[name].right.tolist() == expected
        assert evolved.test[name].accuracy == pytest.approx(np.mean(expected))
    assert evolved.n_rows == {"train": 200, "test": 200, "parts": 5, "partitions": 2}
    assert evolved.advice is not None
    parts = deal_parts(LABELS, 4, n_parts=5, most=2).ravel()
    both = difference_of(*map(np.array, right.values()), times=2, parts=parts)
    assert evolved.advice.difference == both
    whole = search(mode, random_state=4).fit(X, LABELS)
    assert (evolved.classifier.members_ == whole.members_).all(), "all rows evolve the ensemble that is saved"


def test_answers_that_know_nothing_are_not_told_better_than_chance() -> None:
    rng = np.random.default_rng(0)
    told = []
    for seed in range(20):
        rows, truth = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
        found = evolve_table(rows, truth, search(population_size=15, n_generations=3), seed=seed)
        low, high = found.test["evolved"].accuracy_interval
        told.append(low <= max(truth.mean(), 1 - truth.mean()) <= high or low < 0.5)
    assert sum(told) >= 18


def test_workers_change_nothing() -> None:
    here = evolve_table(X, LABELS, search(), work=Work(1))
    with parallel_config("threading"):
        there = evolve_table(X, LABELS, search(), work=Work(2), long_s=0.0)
    assert there.test["evolved"].right.tolist() == here.test["evolved"].right.tolist()
    assert there.test["best_single"].right.tolist() == here.test["best_single"].right.tolist()
    assert there.advice == here.advice
    assert (there.classifier.members_ == here.classifier.members_).all()


def test_a_tenth_is_held_out_where_evolution_takes_too_long_to_be_repeated() -> None:
    held = evolve_table(X, LABELS, search(), seed=4, most_answers=5 * 200 * 20 * 5 - 1)
    once, twice = (
        evolve_table(X, LABELS, search(), seed=4, most_answers=deals * 5 * 200 * 20 * 5) for deals in (1, 2)
    )
    paper = evolve_table(X, LABELS, search(), seed=4, measuring=PAPER)
    assert held.n_rows == paper.n_rows == {"train": 180, "test": 20}
    assert held.test["evolved"].right.tolist() == paper.test["evolved"].right.tolist()
    low, high = held.advice.difference.interval if held.advice else (0, 0)
    assert held.limits_of_measuring.startswith(
        f"The 20 held-out rows tell differences from {50 * (high - low):.2g} points on"
    )
    assert [one.n_rows["partitions"] for one in (once, twice)] == [1, 2]
    assert not once.limits_of_measuring
    first = twice.test["evolved"].right[:200]
    assert once.test["evolved"].right.tolist() == first.tolist()


def test_rows_without_values_are_wrong_in_every_deal_and_evolve_nothing() -> None:
    table = pd.DataFrame(X.copy())  # pandas 2 shares memory
    blank = [3, 50, 120]
    table.iloc[blank] = np.nan
    found = evolve_table(table, LABELS, search(), seed=1)
    for measured in found.test.values():
        assert not measured.right.reshape(2, 200)[:, blank].any()
        assert measured.unanswered == 3
    without = np.setdiff1d(np.arange(200), blank)
    alone = evolve_table(X[without], LABELS[without], search(), seed=1)
    right = found.test["evolved"].right.reshape(2, 200)[:, without]
    assert right.tolist() == alone.test["evolved"].right.reshape(2, -1).tolist()


def test_a_class_with_one_row_evolves_always_and_is_not_measured() -> None:
    labels = LABELS.astype("U4")
    labels[7] = "rare"
    found = evolve_table(X, labels, search(), seed=1)
    assert found.n_rows["test"] == 199
    assert found.classifier.classes_.tolist() == ["a", "b", "c", "rare"]
    assert found.test["evolved"].decisions[3].sum() == 0


def test_all_rows_of_a_case_are_in_one_part() -> None:
    cases = np.arange(200) // 2
    twice = np.repeat(X[:100], 2, axis=0)  # a row that is known from its twin would be answered too well
    labels = np.random.default_rng(1).permutation(np.repeat(["a", "b"], 50)).repeat(2)
    found = evolve_table(twice, labels, search(), seed=2, cases=cases)
    right = found.test["evolved"].right.reshape(2, 100, 2)
    assert (right[:, :, 0] == right[:, :, 1]).all(), "both rows are answered by one ensemble"


def test_a_study_that_was_stopped_in_the_parts_ends_with_the_figures_of_an_undisturbed_run(
    tmp_path: Any,
) -> None:
    whole = evolve_table(X, LABELS, search(), seed=4)
    stop = Cancellation()

    def after_three(progress: Progress) -> None:
        if progress.stage == "evolving again" and progress.done == 3:
            stop.cancel()

    with open_study(tmp_path / "evolved.db") as study:
        stopped = evolve_table(
            X, LABELS, search(), seed=4, work=Work(1, study, after_three, cancellation=stop)
        )
        assert not stopped.test
        assert stopped.advice is None
        assert (stopped.saved.members_ == whole.classifier.members_).all()
        assert len(study.part("parts").results()) == 3
    with open_study(tmp_path / "evolved.db") as study:
        again = evolve_table(X, LABELS, search(), seed=4, work=Work(1, study))
        assert again.advice == whole.advice
    with open_study(tmp_path / "evolved.db") as study, pytest.raises(ValueError, match="the parts was"):
        evolve_table(X, LABELS, search(), seed=5, work=Work(1, study))


@pytest.mark.parametrize("mode", ["offline", "online", "single"])
def test_the_best_individual_answers_alone_and_is_verified(mode: str) -> None:
    fitted = search(mode).fit(X, LABELS)
    alone = best_alone(fitted, X, LABELS)
    assert (alone.predict(X) == _best(fitted, X, LABELS, X)).all()
    assert alone.result_.error == pytest.approx((alone.predict(X) != LABELS).mean())
    assert not fitted.is_alone_
    assert len(alone.members_) == 1
    assert verify(alone, X, LABELS).valid
    other = clone(fitted).fit(X, LABELS)
    other.is_alone_ = len(fitted.members_) > 1
    assert (verify(other, X, LABELS).status == "valid") == (not other.is_alone_), "it is not the individual"
    alone.result_ = dataclasses.replace(alone.result_, error=alone.result_.error + 0.1)
    assert not verify(alone, X, LABELS).valid
    assert not alone.fit(X, LABELS).is_alone_


@pytest.mark.parametrize("take", ["auto", "evolved", "best_single"])
def test_the_model_that_is_saved_is_the_one_asked_for(take: str) -> None:
    found = evolve_table(X, LABELS, search(), seed=4, measuring=Measuring(take=take))
    assert found.advice is not None
    named = found.advice.take if take == "auto" else take
    assert found.rule_saved == named
    assert found.advice.verdict.word is not Word.UNDECIDED or found.advice.take == "evolved"
    assert found.saved.is_alone_ == (named == "best_single")


def test_an_ensemble_that_is_its_best_individual_has_no_rival() -> None:
    found = evolve_table(X, LABELS, search("single"), seed=4)
    assert found.is_alone
    assert found.advice is not None
    assert found.advice.sentence == "Use its best individual alone: no other member was chosen."
    assert found.advice.is_alone
    assert found.test["best_single"] is found.test["evolved"]


ILL = np.where(np.random.default_rng(0).random(300) < 0.2, "ill", "healthy")
TESTS = (np.random.default_rng(1).normal(size=(300, 3)) + 1.2 * (ILL == "ill")[:, None]).round(2)


@pytest.mark.parametrize("how", [None, PAPER, Measuring(test=TableRows(TESTS[:60], ILL[:60]))])
def test_what_errors_cost_decides_the_choice_the_figures_and_the_verdict(how: Measuring | None) -> None:
    counted = evolve_table(TESTS, ILL, search(), measuring=how)
    priced = evolve_table(TESTS, ILL, search(error_costs={"ill": 10}), measuring=how)
    assert counted.test["evolved"].error_cost is None
    recalls = [one.test["evolved"].shares[1].right[0] for one in (counted, priced)]
    assert recalls[1] > recalls[0], "a miss costs ten, so fewer are missed"
    for measured in priced.test.values():
        (_, false_alarms), (misses, _) = (measured.decisions[:, :-1] / measured.times).tolist()
        by_hand = (10 * misses + false_alarms) / measured.n_rows
        assert measured.error_cost is not None
        assert measured.error_cost[0] == pytest.approx(by_hand)
    advice = priced.advice
    assert advice is not None
    costs = [priced.test[name].error_cost for name in ("best_single", "evolved")]
    assert costs[0] is not None
    assert costs[1] is not None
    assert advice.difference.gain == pytest.approx(costs[0][0] - costs[1][0])
    assert advice.objective == "error_cost"
    assert "in the cost of errors" in advice.sentence or advice.is_alone

    found = verify(priced.saved, TESTS, ILL)
    assert (found.valid, found.evidence is not None) == (True, True)
    priced.saved.error_costs = {"ill": 9}
    assert not verify(priced.saved, TESTS, ILL).valid


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"sick": 10}, "error_costs must name classes, healthy, ill, got 'sick'"),
        ({"ill": 0}, "error_costs must be at least 1 for every error"),
        ({"ill": 2.5}, "error_costs must be whole numbers"),
    ],
)
def test_costs_that_mean_nothing_are_refused_before_any_work(costs: Any, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        evolve_table(TESTS, ILL, search(error_costs=costs))
