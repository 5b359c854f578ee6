"""Pruners inside scikit-learn's searches, folds, pipelines and other estimators."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from shortlist import BadInputError, ExactPruner, FrontPruner, Pool, SelectiveClassifier
from shortlist.ensembles import make_pool
from shortlist.ensembles.estimators.rule_pruners import BaselinePruner
from shortlist.ensembles.pools.fitting import cross_fit
from shortlist.ensembles.pools.members import as_pool

XA, X, YA, Y = train_test_split(
    *load_iris(return_X_y=True), test_size=0.5, random_state=0, stratify=load_iris().target
)


def _models() -> dict[str, Any]:
    models = {
        "tree": DecisionTreeClassifier(max_depth=2),
        "line": LogisticRegression(max_iter=500),
        "bayes": GaussianNB(),
    }
    return {name: model.fit(XA, YA) for name, model in models.items()}


POOLS: dict[str, Callable[[], Any]] = {
    "dict": _models,
    "list": lambda: list(_models().values()),
    "pairs": lambda: list(_models().items()),
    "Pool": lambda: as_pool(_models()),
    "fitted here": lambda: make_pool(XA, YA, n_classifiers=4),
    "forest": lambda: RandomForestClassifier(4, random_state=0).fit(XA, YA),
    "pipeline of a forest": lambda: make_pipeline(
        StandardScaler(), RandomForestClassifier(4, random_state=0)
    ).fit(XA, YA),
    "frozen": lambda: [FrozenEstimator(model) for model in _models().values()],
}


@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)
def test_models_of_a_pool_stay_fitted_in_folds(pool: Callable[[], Any]) -> None:
    given = pool()

    scores = cross_val_score(
        ExactPruner(given, objective="accuracy", voting="hard"), X, Y, cv=3, error_score="raise"
    )

    assert clone(ExactPruner(given)).pool is given
    assert scores.min() > 0.8


@pytest.mark.parametrize(
    "around",
    [
        lambda pruner: make_pipeline(StandardScaler(with_mean=False, with_std=False), pruner),
        lambda pruner: BaggingClassifier(pruner, n_estimators=2, random_state=0),
        lambda pruner: SelectiveClassifier(pruner, answer_accuracy=0.5, random_state=0),
        lambda pruner: GridSearchCV(pruner, {"max_size": [1, 2]}, cv=2),
    ],
    ids=["pipeline", "bagging", "promise", "search"],
)
def test_so_they_do_inside_other_estimators(around: Callable[[Any], Any]) -> None:
    whole = around(ExactPruner(_models(), objective="accuracy", voting="hard"))

    assert cross_val_score(whole, X, Y, cv=2, error_score="raise").max() > 0.5


@pytest.mark.parametrize("pruner", [FrontPruner(), BaselinePruner()], ids=["front", "rule"])
def test_so_they_do_in_every_pruner(pruner: Any) -> None:
    given = _models()
    again = clone(pruner.set_params(pool=given))

    assert again.pool is given
    assert type(again) is type(pruner)
    assert not hasattr(again.fit(X, Y) and clone(again), "committee_")


def test_a_clone_has_the_parameters_and_nothing_that_was_fitted() -> None:
    pool = cross_fit(make_pool(X, Y, n_classifiers=3), X, Y, folds=3)
    fitted = ExactPruner(pool, objective="balanced-accuracy", max_size=2)
    fitted.fit(X, Y)
    with config_context(enable_metadata_routing=True):
        fitted.set_fit_request(study=True)

    again = clone(fitted)

    ours = fitted.get_params(deep=False)
    assert {name: again.get_params(deep=False)[name] for name in ours} == ours
    assert again.pool is pool
    assert again.get_metadata_routing().fit.requests["study"]
    assert not vars(again).keys() - ours.keys() - {"_metadata_request"}


def test_a_grid_of_pools_takes_pools_and_frozen_models_and_says_so_of_others() -> None:
    models = _models()
    frozen = {name: FrozenEstimator(model) for name, model in models.items()}
    pruner = ExactPruner(objective="accuracy", voting="hard")

    for pools in ([as_pool(models), as_pool([models["tree"]])], [frozen, {"tree": frozen["tree"]}]):
        found = GridSearchCV(pruner, {"pool": pools}, cv=2, error_score="raise").fit(X, Y)
        assert np.isfinite(found.cv_results_["mean_test_score"]).all()
    with pytest.raises(
        BadInputError, match="in a parameter grid, which scikit-learn clones, wrap it in Frozen"
    ):
        GridSearchCV(pruner, {"pool": [models]}, cv=2, error_score="raise").fit(X, Y)


def test_frozen_models_are_named_by_what_they_are() -> None:
    models = _models()
    forest = FrozenEstimator(RandomForestClassifier(2, random_state=0).fit(XA, YA))

    assert as_pool([FrozenEstimator(models["tree"]), models["line"]]).names == (
        "DecisionTreeClassifier",
        "LogisticRegression",
    )
    assert as_pool(forest).names == ("DecisionTreeClassifier-1", "DecisionTreeClassifier-2")
    assert isinstance(as_pool(forest), Pool)
