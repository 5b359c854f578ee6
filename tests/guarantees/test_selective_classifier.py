"""A classifier that answers only where its answers keep a promise."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from shortlist import SelectiveClassifier
from shortlist.errors import BadInputError
from shortlist_papers import OrderedPruner
from tests.contract import keeps_contract


@pytest.mark.slow
@keeps_contract(SelectiveClassifier(OrderedPruner(n_classifiers=2, random_state=0), answer_accuracy=0.5))
def test_it_keeps_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def test_it_answers_where_the_classifier_gives_its_answer_enough() -> None:
    X, y = make_classification(2000, 5, flip_y=0.2, random_state=0)
    selective = SelectiveClassifier(GaussianNB(), answer_accuracy=0.85, random_state=0).fit(X, y)
    probability = selective.classifier_.predict_proba(X).max(axis=1)
    answered = probability >= selective.guarantee_.threshold
    assert selective.guarantee_.promised
    assert np.count_nonzero(~answered) > 0
    assert np.array_equal(selective.answers(X), answered)
    assert np.array_equal(
        selective.predict(X), np.where(answered, selective.classifier_.predict(X), selective.reject_label_)
    )


def test_several_classes_of_words_have_a_word_for_no_answer() -> None:
    X, codes = load_iris(return_X_y=True)
    y = np.array(["setosa", "versicolor", "virginica"])[codes]
    pruner = OrderedPruner(n_classifiers=6, random_state=0)
    selective = SelectiveClassifier(pruner, answer_accuracy=0.8, random_state=0).fit(X, y)
    assert set(selective.predict(X)) <= {"setosa", "versicolor", "virginica", "REJECT"}
    assert selective.guarantee_.n_rows == round(0.25 * len(y))  # the rows that pruned plan the tests


def test_rows_that_chose_plan_the_tests_and_all_calibration_rows_take_part() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    fitted = GaussianNB().fit(X[:200], y[:200])
    own = SelectiveClassifier(fitted, random_state=0).calibrate(X[300:], y[300:])
    given = SelectiveClassifier(fitted).calibrate(X[300:], y[300:], chose=(X[200:300], y[200:300]))
    assert own.guarantee_.n_rows == 269 - round(269 / 4)
    assert given.guarantee_.n_rows == 269
    assert given.classifier_ is fitted


def test_asked_one_after_the_other_a_committee_keeps_its_promise() -> None:
    """60 draws of calibration rows at 90 %, judged on 2,000 rows that stand for all new ones."""
    X, y = make_classification(2_400, 6, n_informative=4, flip_y=0.1, random_state=6)
    trees = [
        DecisionTreeClassifier(max_depth=4, max_features=2, random_state=seed).fit(X[:200], y[:200])
        for seed in range(7)
    ]
    committee = OrderedPruner(trees, rule="full").fit(X[200:400], y[200:400])
    rows, new, truth = (X[200:400], y[200:400]), X[400:], y[400:]
    rng, broken, promised = np.random.default_rng(7), 0, 0
    known: dict[float, bool] = {}
    for _ in range(60):
        drawn = rng.choice(len(new), 150, replace=True)
        selective = SelectiveClassifier(committee, answer_accuracy=0.8, confidence_level=0.9)
        selective.calibrate(new[drawn], truth[drawn], chose=rows)
        found = selective.guarantee_
        if found.threshold not in known:
            early = selective.predict_early(new)
            assert early.answered is not None
            assert (early.labels == selective.predict(new)).all()
            assert (early.labels == -1).tolist() == (~early.answered).tolist()
            assert early.calls.mean() < (7 if found.promised else 1)
            right = (early.labels == truth)[early.answered]
            known[found.threshold] = bool(len(right) and right.mean() < 0.8)
        broken += known[found.threshold]
        promised += found.promised
    assert broken <= binom.ppf(0.999, 60, 0.1)
    assert promised > 10  # a rule that never answers would pass the rest


def test_only_committees_can_be_asked_one_after_the_other() -> None:
    assert hasattr(SelectiveClassifier(OrderedPruner()), "predict_early")
    assert not hasattr(SelectiveClassifier(GaussianNB()), "predict_early")


def test_nothing_is_answered_where_nothing_can_be_promised() -> None:
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame({"a": rng.random(400)}), rng.integers(0, 2, 400)
    selective = SelectiveClassifier(GaussianNB(), random_state=0).fit(X, y)
    assert not selective.guarantee_.promised
    assert selective.guarantee_.as_dict()["threshold"] is None
    assert "Nothing can be promised" in selective.guarantee_.sentence()
    assert set(selective.predict(X)) == {-1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"answer_accuracy": 1.0}, "answer_accuracy must be above 0 and below 1, got 1.0"),
        ({"confidence_level": 0}, "confidence_level must be above 0 and below 1, got 0"),
        ({"calibration_share": 1}, r"calibration_share must be in \(0, 1\), got 1"),
        ({"reject_label": 1}, "reject_label must not be one of the classes"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, Any], message: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(BadInputError, match=message):
        SelectiveClassifier(GaussianNB(), **options).fit(X, y)


def test_too_few_rows_to_split_are_refused() -> None:
    with pytest.raises(BadInputError, match="rows of two classes to fit"):
        SelectiveClassifier(GaussianNB(), calibration_share=0.9).fit([[0.0], [1.0], [2.0]], [0, 1, 1])


@pytest.mark.parametrize("seed", [-1, 2**32, True])
def test_a_seed_that_is_none_is_refused_also_where_nothing_is_fitted(seed: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    fitted = GaussianNB().fit(X[:200], y[:200])
    with pytest.raises(BadInputError, match="random_state"):
        SelectiveClassifier(fitted, random_state=seed).calibrate(X[300:], y[300:])
