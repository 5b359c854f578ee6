"""The estimator."""

import dataclasses
import pickle
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.tree import DecisionTreeClassifier

from shortlist import BadInputError, ShortlistError, Status
from shortlist.ensembles import ExactPruner, make_pool
from shortlist.ensembles.estimators.front_pruner import FrontPruner
from shortlist.ensembles.pools.answers import class_answers
from shortlist.runs import open_study
from shortlist.runs.budget import Budget, seconds_now
from tests.contract import keeps_contract

X, Y = make_classification(240, 6, n_informative=4, flip_y=0.15, random_state=3)


@pytest.mark.slow
@keeps_contract(ExactPruner(n_classifiers=5, node_limit=200, random_state=0, pruning_rows="held-out"))
def test_the_pruner_keeps_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@keeps_contract(ExactPruner(n_classifiers=2, node_limit=2000, random_state=0), tables=False)
def test_with_answers_out_of_fold_it_keeps_it_too(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def pool() -> Any:
    return make_pool(X[:120], Y[:120], n_classifiers=10, random_state=0)


def test_fitted_attributes_agree_with_a_count_of_the_votes(pool: Any) -> None:
    pruned = ExactPruner(pool, objective="balanced_accuracy").fit(X[120:], Y[120:])

    predicted = pruned.predict(X[120:])
    recall = [(predicted[Y[120:] == label] == label).mean() for label in (0, 1)]
    assert pruned.status_ is Status.OPTIMAL
    assert pruned.gap_ == 0
    assert pruned.bound_ == pruned.objective_value_ == pytest.approx(np.mean(recall))
    assert pruned.selection_.shape == (10,)
    assert len(pruned.pool_) == pruned.selection_.sum()


class _Counting(ClassifierMixin, BaseEstimator):
    """Votes by one column, and counts its calls."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> "_Counting":
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        self.calls_ = 0
        return self

    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        self.calls_ += 1
        positive = (np.asarray(X)[:, self.column] > 0).astype(float)
        return np.column_stack([1 - positive, positive])

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


@pytest.mark.parametrize(
    ("pruner", "prover"),
    [
        (ExactPruner(voting="soft", objective="brier", random_state=0), "exact_pruner.prune_soft"),
        (ExactPruner(voting="hard", objective="accuracy", random_state=0), "exact_pruner.prune_for"),
        (FrontPruner(random_state=0), "front_pruner.committee_front"),
    ],
)
def test_the_time_limit_begins_when_the_classifiers_have_answered(pruner: ExactPruner, prover: str) -> None:
    answered: list[float] = []

    class Telling(_Counting):
        def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
            answered.append(seconds_now())
            return super().predict_proba(X)

    pool = [Telling(column).fit(X, Y) for column in range(3)]
    module, name = prover.split(".")
    room = import_module(f"shortlist.ensembles.estimators.{module}")
    with patch.object(room, name, wraps=getattr(room, name)) as proving:
        clone(pruner).set_params(pool=pool).fit(X, Y)

    budget = next(one for one in proving.call_args.args if isinstance(one, Budget))
    assert len(answered) >= 3
    assert budget.start >= answered[2]


def test_a_saved_pruner_without_its_pool_still_predicts(pool: Any) -> None:
    pruned = ExactPruner(pool, max_size=3).fit(X[120:], Y[120:])
    whole = len(pickle.dumps(pruned))
    expected = pruned.predict(X)
    pruned.pool = None
    assert len(pickle.dumps(pruned)) < whole
    assert np.array_equal(pickle.loads(pickle.dumps(pruned)).predict(X), expected)


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (-1, 1), ("1", "0"), (2.0, 1.0)])
def test_any_two_labels_work_and_either_may_be_positive(labels: tuple[Any, Any]) -> None:
    y = np.array(labels)[Y]
    for positive in labels:
        pruned = ExactPruner(n_classifiers=5, positive=positive, random_state=0, objective="recall").fit(X, y)
        assert pruned.positive_ == positive
        assert list(pruned.classes_) == sorted(labels)
        assert set(pruned.predict(X)) <= set(labels)
        assert (pruned.classes_[pruned.predict_proba(X).argmax(axis=1)] == pruned.predict(X)).all()


@pytest.mark.slow
def test_frames_with_text_and_gaps_work_and_keep_their_names() -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["town"] = np.where(Y == 1, "Rome", np.where(X[:, 0] > 0, "Oslo", "Bern"))
    frame.loc[::5, "town"] = None
    frame.loc[::7, "b"] = np.nan
    pruned = ExactPruner(n_classifiers=5, random_state=0).fit(frame, Y)

    assert pruned.feature_names_in_.tolist() == [*"abcdef", "town"]
    assert (pruned.predict(frame) == Y).mean() > 0.9
    with pytest.raises(ValueError, match="feature names"):
        pruned.predict(frame.rename(columns={"town": "city"}))


def test_the_same_seed_gives_the_same_answer() -> None:
    first, second = (
        ExactPruner(n_classifiers=4, node_limit=2000, time_limit_s=None, random_state=5).fit(X, Y)
        for _ in range(2)
    )
    assert np.array_equal(first.selection_, second.selection_)
    assert first.threshold_ == second.threshold_


def test_limits_that_nothing_keeps_are_a_status_with_a_reason(pool: Any) -> None:
    pruned = ExactPruner(pool, min_size=5, max_size=3).fit(X[120:], Y[120:])

    assert pruned.status_ is Status.INFEASIBLE
    assert not pruned.selection_.any()
    with pytest.raises(
        ShortlistError, match="at least 5 members must vote, but `max_size` and the pool allow 3"
    ):
        pruned.predict(X)


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        pytest.param({}, np.zeros(240), "one class only", id="one class"),
        pytest.param({}, np.arange(240) % 3, "use a pool fitted on these classes", id="three classes"),
        pytest.param({"positive": 1}, np.arange(240) % 3, "left out with 3 classes", id="one positive of three classes"),
        pytest.param({"objective": "recall"}, np.arange(240) % 3, "with 3 classes, or weights, got 'recall'", id="recall of three classes"),
        pytest.param({}, np.arange(239) % 2, "240 and 239 rows", id="lengths differ"),
        pytest.param({}, np.where(Y == 1, "a", "b"), "use a pool fitted on these classes", id="classes differ"),
        pytest.param({"positive": 7}, Y, "positive must be one of the classes 0 or 1", id="unknown positive"),
        pytest.param({"time_limit_s": 0}, Y, "time_limit_s must be a number of seconds above 0", id="no time"),
        pytest.param({"max_cost": 3}, Y, "`max_cost` needs the cost of every member", id="a budget without costs"),
        pytest.param({"n_jobs": 0}, Y, "n_jobs must be a number of workers", id="no workers"),
        pytest.param({"random_state": -1}, Y, "random_state must be at least 0", id="a negative seed"),
        pytest.param({"member_costs": [1.0], "max_cost": 3}, Y, "one cost per classifier, 10, got 1", id="few costs"),
        pytest.param({"min_size": -1}, Y, "min_size must be at least 0", id="a negative size"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(pool: Any, options: dict[str, Any], y: NDArray[Any], message: str) -> None:
    pruner = ExactPruner(**{"pool": pool, **options})
    with pytest.raises(BadInputError, match=f"(?i){message}"):
        pruner.fit(X, y)


def test_the_empty_selection_answers_negative_everywhere() -> None:
    rows = np.arange(8.0)[:, None]
    labels = np.array([1, 0] * 4)
    always = DecisionTreeClassifier().fit(rows, labels)
    always.tree_.value[:] = [[[0.0, 1.0]]]
    pruned = ExactPruner([always], objective="specificity", min_size=0).fit(rows, labels)

    assert pruned.status_ is Status.OPTIMAL
    assert not pruned.selection_.any()
    assert pruned.predict(rows).tolist() == [0] * 8


@pytest.mark.slow
def test_several_classes_vote_by_plurality() -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    pruned = ExactPruner(
        n_classifiers=12, objective="accuracy", voting="hard", random_state=0, time_limit_s=None, max_size=5
    ).fit(X, names)

    assert pruned.threshold_ is None
    assert pruned.positive_ is None
    assert 1 <= len(pruned.pool_) <= 5
    assert str(pruned.status_) == "optimal"
    codes = class_answers(pruned.pool_, X)
    counts = (codes[:, :, None] == np.arange(3)).sum(axis=1)
    assert (pruned.predict(X) == pruned.classes_[counts.argmax(axis=1)]).all()
    assert pruned.calibration_ is not None
    shares = (counts + 1) / (len(pruned.pool_) + 3)
    assert np.allclose(pruned.predict_proba(X), pruned.calibration_.of(shares))


def test_a_study_belongs_to_the_pools_own_costs(pool: Any, tmp_path: Path) -> None:
    cheap, dear = (dataclasses.replace(pool, costs=np.arange(10) * price) for price in (1.0, 7.0))
    pruner = ExactPruner(cheap, objective="accuracy", max_cost=9, random_state=0)
    with open_study(tmp_path / "s.db") as study:
        pruner.fit(X, Y, study=study)
        with pytest.raises(BadInputError, match="another question: the cost of members was"):
            pruner.set_params(pool=dear).fit(X, Y, study=study)
