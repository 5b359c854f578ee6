"""One table, split, and what rules do on rows that nothing has seen."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, confusion_matrix

from shortlist import BadInputError
from shortlist.ensembles import holdout
from shortlist.ensembles.estimators.evolved_ensemble import EvolutionaryEnsembleClassifier
from shortlist.ensembles.estimators.exact_pruner import ExactPruner
from shortlist.ensembles.estimators.rows import split_rows
from shortlist.ensembles.holdout import evolve_table, prune_table
from shortlist.ensembles.measured import TEST_SHARE, measure
from shortlist.ensembles.pools.pool import Pool
from shortlist.runs import Cancellation, Progress, Work
from shortlist_papers import OrderedPruner
from tests.ensembles.pools.test_judges import made

X, Y = make_classification(200, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=1)
LABELS = np.array(["a", "b", "c"])[Y]


def _test_rows(y: Any, seed: int) -> Any:
    return split_rows(np.arange(len(y)), y, TEST_SHARE, seed)[1]


def test_decisions_on_the_test_rows_are_the_predictions() -> None:
    evolved = evolve_table(
        X, LABELS, EvolutionaryEnsembleClassifier(population_size=20, n_generations=5, random_state=0), seed=4
    )
    rows = _test_rows(LABELS, 4)
    predicted = evolved.classifier.predict(X[rows])
    measured = evolved.test["evolved"]
    assert measured.decisions.tolist() == confusion_matrix(LABELS[rows], predicted).tolist()
    assert measured.accuracy == (predicted == LABELS[rows]).mean()
    assert measured.balanced_accuracy == pytest.approx(balanced_accuracy_score(LABELS[rows], predicted))
    assert measured.confusion is None
    assert measured.as_dict()["confusion"]["b"]["c"] == ((LABELS[rows] == "b") & (predicted == "c")).sum()


@pytest.mark.parametrize("positive", ["no", "yes"])
def test_exact_pruning_counts_its_positive_class(positive: str) -> None:
    y = np.where(Y > 0, "yes", "no")
    pruned = prune_table(X, y, ExactPruner(positive=positive, random_state=0), n_classifiers=4, seed=2)
    rows = _test_rows(y, 2)
    assert isinstance(pruned.pruner, ExactPruner)
    predicted = pruned.pruner.predict(X[rows])
    counts = pruned.test["pruned"].confusion
    assert counts is not None
    assert counts.true_positive == ((predicted == positive) & (y[rows] == positive)).sum()
    assert counts.false_positive == ((predicted == positive) & (y[rows] != positive)).sum()
    assert counts.accuracy == pruned.test["pruned"].accuracy


def test_after_an_interruption_nothing_is_asked_more_often_than_the_answer_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    y = np.where(Y > 0, "yes", "no")
    cancellation = Cancellation()
    asked: list[int] = []

    def counted(ask: Any, *arguments: Any, **options: Any) -> Any:
        def noted(rows: Any) -> Any:
            asked.append(len(rows))
            return ask(rows)

        return measure(noted, *arguments, **options)

    monkeypatch.setattr(holdout, "measure", counted)

    def stop(event: Progress) -> None:
        if (
            event.stage == "fitting fold 5 of 5" and event.done == event.total
        ):  # the last classifier was fitted
            cancellation.cancel()

    pruned = prune_table(
        X,
        y,
        ExactPruner(time_limit_s=None),
        n_classifiers=5,
        work=Work(report=stop, cancellation=cancellation),
    )

    assert cancellation.cancelled
    assert asked == [20] * len(pruned.test)  # without it also three times 1,000 rows each
    assert all(measured.ms_per_1000_rows > 0 for measured in pruned.test.values())


def test_a_class_too_small_to_split_is_refused() -> None:
    lonely = np.append(LABELS[:-1], "d")
    with pytest.raises(BadInputError, match="every class needs rows in each part of the split, got 1 of"):
        prune_table(X, lonely, OrderedPruner(), n_classifiers=2)


JUDGES: list[tuple[Any, str]] = [
    (ExactPruner(voting="hard", objective="accuracy", min_size=3, node_limit=50, random_state=0), "a"),
    (ExactPruner(voting="soft", objective="log-loss", min_size=3, node_limit=50, random_state=0), "shares"),
    (OrderedPruner(rule="full"), "a"),
]


@pytest.mark.parametrize(("pruner", "said"), JUDGES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_that_chose_are_counted_and_the_best_single_judge_has_a_name(
    pruner: Any, said: str, n_classes: int
) -> None:
    answers, truth = made(80, 5, n_classes, absent=0, seed=4)
    table = answers
    if said == "shares":
        table = pd.concat(
            {f"{name}:{label}": (column == label) * 0.6 + 0.4 / n_classes
             for name, column in answers.items() for label in sorted(set(truth))}, axis=1,
        )  # fmt: skip
    prices = {name: 1.0 + place for place, name in enumerate(answers)}
    pool = Pool.from_answers(table, truth, costs=prices)
    pruned = prune_table(table, np.asarray(truth), clone(pruner).set_params(pool=pool), seed=1)

    test = _test_rows(np.asarray(truth), 1)
    chose = np.setdiff1d(np.arange(len(truth)), test)
    right = answers.to_numpy() == np.asarray(truth)[:, None]
    assert pruned.best_single in answers.columns
    assert pruned.right_where_chosen["best_single"] == right[chose].sum(axis=0).max()
    predicted = pruned.pruner.predict(table.iloc[chose])
    assert pruned.right_where_chosen["pruned"] == (predicted == np.asarray(truth)[chose]).sum()
    assert pruned.early is not None
    early = pruned.pruner.predict_early(table.iloc[test])
    assert pruned.early.calls.tolist() == early.calls.tolist()
    assert pruned.early.costs is not None
    assert early.costs is not None
    assert pruned.early.costs.tolist() == early.costs.tolist()


def test_of_rows_out_of_fold_the_shares_are_of_answers_out_of_fold() -> None:
    pruned = prune_table(X, LABELS, ExactPruner(node_limit=20, random_state=0), n_classifiers=6, seed=3)
    assert pruned.n_rows["folds"] == 5
    record = pruned.pruner.validation_
    assert record.shares is not None
    mean = record.shares.astype(int).sum(axis=1)
    assert pruned.right_where_chosen["full"] == (mean.argmax(axis=1) == record.labels).sum()
    chosen: Any = pruned.chosen
    own = np.repeat(record.shares.astype(int), chosen.copies, axis=1)
    own = own.sum(axis=1) * chosen.committee.ballot.gains
    assert pruned.right_where_chosen["pruned"] == (own.argmax(axis=1) == record.labels).sum()
