"""Pruners inside scikit-learn's searches, folds, pipelines and other estimators."""

import gc
import pickle
from collections.abc import Callable
from typing import Any

import joblib
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
from shortlist.ensembles.estimators import base, shared_fits
from shortlist.ensembles.estimators.rows import own_pool
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
    with pytest.raises(BadInputError, match="in a parameter grid, which scikit-learn clones, wrap it in"):
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


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of rows of the pools that are fitted."""
    counted = list[int]()

    def fit(X: Any, y: Any, *given: Any, **how: Any) -> Any:
        counted.append(len(y))
        return own_pool(X, y, *given, **how)

    monkeypatch.setattr(base, "own_pool", fit)
    return counted


GRID = {"max_size": [1, 2, 3], "objective": ["log-loss", "brier"]}


@pytest.mark.parametrize("seed", [0, None])
def test_candidates_of_a_search_share_the_pool_of_each_fold(fits: list[int], seed: int | None) -> None:
    pruner = ExactPruner(n_classifiers=4, node_limit=50, random_state=seed)
    found = GridSearchCV(pruner, GRID, cv=2, error_score="raise").fit(X, Y)

    assert sorted(fits) == [37, 38, 75]  # both folds, and all rows for the best
    best = found.best_estimator_
    alone = ExactPruner(**(best.get_params(deep=False) | {"random_state": best._seed})).fit(X, Y)
    assert best.selection_.tolist() == alone.selection_.tolist()
    assert np.array_equal(best.predict_proba(X), alone.predict_proba(X))


def test_other_pools_rows_and_ways_of_pruning_are_fitted_anew(fits: list[int]) -> None:
    pruner = ExactPruner(n_classifiers=3, node_limit=50, random_state=0)
    for changed in (
        {},
        {"n_classifiers": 4},
        {"random_state": 1},
        {"pruning_rows": "held-out"},
        {"max_size": 1},
    ):
        clone(pruner).set_params(**changed).fit(X, Y)
    assert len(fits) == 4
    other = X.copy()
    other[0, 0] += 1
    clone(pruner).fit(other, Y)
    clone(pruner).fit(X, Y[::-1])
    assert len(fits) == 6
    ExactPruner(n_classifiers=3, node_limit=50, random_state=0).fit(X, Y)  # no clone of it
    assert len(fits) == 7


def test_clones_in_threads_and_from_pickles_share_too(fits: list[int]) -> None:
    pruner = ExactPruner(n_classifiers=3, node_limit=50, random_state=0)
    with joblib.parallel_config("threading"):
        GridSearchCV(pruner, {"max_size": [1, 2]}, cv=2, n_jobs=2, error_score="raise").fit(X, Y)
    assert len(fits) == 3
    again = pickle.loads(pickle.dumps(clone(pruner)))
    assert again.get_params() == pruner.get_params()
    again.fit(X, Y)
    assert len(fits) == 3


def test_pools_are_let_go_with_the_pruner_and_beyond_a_dozen() -> None:
    pool, n_fits = as_pool(_models()), 0
    pruner = ExactPruner()
    twin = clone(pruner)
    names = {key[0] for key in shared_fits._kept}

    def fitted(how: int, **limits: int) -> int:
        def fit() -> Pool:
            nonlocal n_fits
            n_fits += 1
            return pool

        assert shared_fits.shared_fit(twin, (X, Y), (how,), fit, **limits) is pool
        return n_fits

    assert [fitted(how, most_pools=2) for how in (0, 1, 0, 1, 2, 1, 0)] == [1, 2, 2, 2, 3, 3, 4]
    assert [fitted(9, most_rows=10), fitted(9, most_rows=10), fitted(9), fitted(9)] == [5, 6, 7, 7]
    assert {key[0] for key in shared_fits._kept} - names
    del pruner
    gc.collect()
    assert not {key[0] for key in shared_fits._kept} - names
